//! A habit of one writer is an error in the files of another.

use super::insert_frame;
use reader::Severity;
use sample::*;

use super::checked;

/// A writer, and how to make the sample look like its file.
type Sign = (&'static str, fn(&mut Dump));

const SIGNS: [Sign; 6] = [
    ("hprof-rs", |_| {}),
    ("HotSpot", |dump| {
        let symbol = string(0x7F00_0000_1000, b"symbol");
        dump.records.insert(0, symbol);
    }),
    ("the JDK's HPROF agent", |dump| {
        let settings = record(0x0E, bytes().u4(1).u2(4));
        dump.records.insert(0, settings);
    }),
    ("Android", |dump| dump.version = "JAVA PROFILE 1.0.3"),
    ("unknown", |dump| {
        dump.records.insert(0, string(1 << 22, b"first"))
    }),
    ("a GraalVM native image", |dump| {
        let at = dump.at(0x01, 0);
        dump.records[at] = string(1, b"java.lang.Object");
    }),
];

/// The writers in whose files this fault is an error, as letters: `o`urs, `h`otSpot's, the JDK's
/// `a`gent's, an`d`roid's, `u`nknown, `n`ative images'.
fn errors(rule: &str, change: impl Fn(&mut Dump)) -> String {
    let is_error = |(writer, sign): &Sign| {
        let mut sample = Dump::small();
        change(&mut sample);
        sign(&mut sample);
        let report = checked(&sample.bytes(), true);
        assert_eq!(report.origin.name(), *writer);
        let total = report.totals.iter().find(|total| total.rule.id() == rule);
        total
            .unwrap_or_else(|| panic!("{writer}: no {rule}"))
            .severity
            == Severity::Error
    };
    let letters = "ohadun".chars().zip(&SIGNS);
    letters
        .filter(|(_, sign)| is_error(sign))
        .map(|(letter, _)| letter)
        .collect()
}

#[test]
fn texts_of_an_agent_hide_no_file_of_hotspots() {
    let mut dump = Dump::small();
    assert_eq!(dump.at(0x01, 0), 0);
    let symbol = string(0x7F00_0000_1000, b"symbol");
    dump.records.insert(1, symbol);
    assert_eq!(checked(&dump.bytes(), false).origin.name(), "HotSpot");
}

#[test]
fn a_habit_excuses_only_its_writer() {
    let root_late = |dump: &mut Dump| dump.heap(1).push(root(0x05, CLASS));
    assert_eq!(errors("root-late", root_late), "oa");
    let no_super = |dump: &mut Dump| {
        let mut base = dump.base();
        base.super_class = 0;
        dump.replace_class(&base);
    };
    assert_eq!(errors("super-zero", no_super), "oh");
    let size = |dump: &mut Dump| {
        let mut leaf = dump.leaf();
        leaf.size += 16;
        dump.replace_class(&leaf);
    };
    assert_eq!(errors("instance-size", size), "oh");
    let null = |dump: &mut Dump| dump.heap(0).push(root(0x05, 0));
    assert_eq!(errors("root-zero", null), "o");
    let dangling = |dump: &mut Dump| dump.heap(0).push(root(0x05, 0x7000));
    assert_eq!(errors("root-dangling", dangling), "o");
    let line_zero = |dump: &mut Dump| insert_frame(dump, 4, 0);
    assert_eq!(errors("line-number", line_zero), "oha");
    let nowhere = |dump: &mut Dump| {
        let at = dump.at(0x02, 17);
        dump.records[at] = record(0x02, bytes().u4(18).u8(LEAF).u4(300_000).u8(18));
    };
    assert_eq!(errors("trace-missing", nowhere), "oh");
}

#[test]
fn a_converted_dump_is_still_androids() {
    let mut sample = Dump::small();
    let at = sample.at(0x02, 0);
    sample.records[at] = record(0x02, bytes().u4(1).u8(OBJECT).u4(0).u8(1));
    sample
        .records
        .insert(0, string(0x7F00_0000_1000, b"symbol"));
    let report = checked(&sample.bytes(), true);
    assert_eq!(report.origin.name(), "Android");
    let trace = report
        .totals
        .iter()
        .find(|total| total.rule.id() == "trace-zero");
    assert_eq!(trace.unwrap().severity, Severity::Note);
}

#[test]
fn a_native_image_may_describe_a_class_twice() {
    let mirror = |dump: &mut Dump| dump.heap(1).push(instance(BASE, 1, CLASS, &[]));
    assert_eq!(errors("class-mirror-instance", mirror), "oha");
}

#[test]
fn what_nobody_is_known_for_is_an_error_in_all_files() {
    let twice = |dump: &mut Dump| {
        let again = dump.heap(1)[0].clone();
        dump.heap(1).push(again);
    };
    assert_eq!(errors("duplicate-object", twice), "ohadun");
}

#[test]
fn what_many_do_is_a_note_in_all_files() {
    let odd = |dump: &mut Dump| dump.heap(1).push(instance(0x3001, 1, OBJECT, &[]));
    assert_eq!(errors("unaligned-id", odd), "");
}

#[test]
fn a_strict_judge_excuses_nobody() {
    for (writer, sign) in SIGNS {
        let mut sample = Dump::small();
        sample.heap(1).push(root(0x05, CLASS));
        sign(&mut sample);
        let report = checked(&sample.bytes(), false);
        let late = report
            .totals
            .iter()
            .find(|total| total.rule.id() == "root-late");
        assert_eq!(late.unwrap().severity, Severity::Error, "{writer}");
    }
}
