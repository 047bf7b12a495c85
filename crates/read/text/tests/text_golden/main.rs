//! Goldens of text: each block of a report as a person sees it.
//!
//! `BLESS=1 cargo test -p hprof-text --test text_golden` rewrites the files; review the difference.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod heap_dump;
mod monitors;

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::Path;

use format::ClassName;
use tables::profile::{Cost, Costs, Method, Site, SiteOrder, SiteTotals, Sites};
use tables::{ClassId, Line, ThreadId, TraceId};
use text::{
    cpu_samples, cpu_time, old_profile, thread_end, thread_start, Call, Frame, Moment, OldMethod,
};

/// Compares a text with the golden of this name; returns the text.
fn check(name: &str, encode: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    encode(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; run with BLESS=1", path.display()));
    assert_eq!(text, golden, "{} differs", path.display());
    assert!(!text.contains("NaN") && text.ends_with('\n'));
    text
}

/// Tue Jul 24 17:50:46 2018, in a zone two hours ahead of UTC.
const AT: Moment = Moment {
    seconds_since_epoch: 1_532_447_446,
    utc_offset_seconds: 7200,
};

fn thread(serial: u32) -> ThreadId {
    ThreadId::new(serial).unwrap()
}

fn trace(serial: u32) -> TraceId {
    TraceId::new(serial).unwrap()
}

fn class(signature: &'static [u8]) -> ClassName<'static> {
    ClassName::from_signature(signature)
}

fn method(class: &'static [u8], name: &'static [u8]) -> Method<'static> {
    let class = ClassName::from_signature(class);
    Method { class, name }
}

const MAIN: &[u8] = b"Ldemo/Main;";
const STRING: &[u8] = b"Ljava/lang/String;";

fn frame(name: &'static [u8], line: Line) -> Frame<'static> {
    Frame {
        method: method(MAIN, name),
        source: b"Main.java",
        line,
    }
}

#[test]
fn header() {
    check("header", |out| text::header(AT, out));
}

#[test]
fn threads() {
    let object = |serial: u32| 0x7_c000_0000 + u64::from(serial) * 8;
    let third = "Gr\u{fc}\u{df}e \u{4e16}".as_bytes();
    check("threads", |out| {
        thread_start(1, object(1), b"main", b"main", out)?;
        thread_start(2, object(2), b"say \"hi\"\n", b"", out)?;
        thread_start(3, object(3), third, b"main", out)?;
        thread_end(2, out)
    });
}

#[test]
fn traces() {
    let frames = [
        frame(b"work", Line::Number(79)),
        frame(b"read0", Line::Native),
        Frame {
            source: b"",
            ..frame(b"lambda$0", Line::Unknown)
        },
        frame(b"it works", Line::Unknown),
        Frame {
            method: Method {
                class: ClassName::UNKNOWN,
                name: b"",
            },
            ..frame(b"", Line::Number(0))
        },
    ];
    check("traces", |out| {
        text::trace(1, None, [].into_iter(), out)?;
        text::trace(2, None, frames.into_iter(), out)?;
        text::trace(3, Some(thread(1)), frames.into_iter().take(1), out)
    });
}

fn sites() -> Vec<Site<'static>> {
    let total = |bytes, objects| SiteTotals { bytes, objects };
    let rows: [(&[u8], u32, SiteTotals, SiteTotals); 6] = [
        (b"[C", 2, total(273_264, 3016), total(273_264, 3016)),
        (MAIN, 3, total(8192, 256), total(9984, 312)),
        (b"[[I", 3, total(8192, 1), total(8192, 1)),
        (STRING, 4, total(0, 0), total(48_000_000, 2_000_000)),
        (
            b"[Ljava/lang/Object;",
            4,
            total(5_368_709_120, 12),
            total(5_368_709_120, 12),
        ),
        (b"Ldemo/Long$Name;", 12_345_678, total(24, 1), total(24, 1)),
    ];
    (1..)
        .zip(rows)
        .map(|(class, (signature, serial, live, allocated))| Site {
            class: ClassId::new(class).unwrap(),
            name: ClassName::from_signature(signature),
            trace: trace(serial),
            live,
            allocated,
        })
        .collect()
}

#[test]
fn allocation_sites() {
    let rows = sites();
    for (name, order, cutoff) in [
        ("sites", SiteOrder::LiveBytes, 0.0),
        ("sites_cut_off", SiteOrder::LiveBytes, 0.9),
        ("sites_allocated", SiteOrder::AllocatedBytes, 0.0),
    ] {
        let sites = Sites::new(&rows, order, cutoff);
        let text = check(name, |out| text::sites(&sites, AT, out));
        assert_eq!(text.lines().count(), sites.rows().len() + 4);
        // tradefed and others count the words of a row.
        let rows = text.lines().skip(3).take(sites.rows().len());
        assert!(rows
            .into_iter()
            .all(|row| row.split_whitespace().count() == 9));
    }
    let sites = Sites::new(&[], SiteOrder::LiveBytes, 0.0);
    check("sites_none", |out| text::sites(&sites, AT, out));
}

fn cost(serial: u32, top: Method<'static>, count: u64, own: u64) -> Cost<'static> {
    Cost {
        trace: trace(serial),
        top: Some(top),
        count,
        own,
    }
}

#[test]
fn samples() {
    let costs = [
        cost(4, method(MAIN, b"work"), 16, 16),
        cost(2, method(STRING, b"<init>"), 12, 12),
        cost(3, method(MAIN, b"it works"), 7, 7),
        cost(5, method(MAIN, b"idle"), 0, 0),
    ];
    let samples = Costs::new(&costs, 0.0);
    check("cpu_samples", |out| cpu_samples(&samples, AT, out));
    let none = Costs::new(&costs[3..], 0.0);
    check("cpu_samples_none", |out| cpu_samples(&none, AT, out));
}

#[test]
fn times() {
    let costs = [
        cost(4, method(MAIN, b"work"), 1_000, 61_400_000),
        cost(2, method(STRING, b"length"), 25_000_000, 38_600_000),
        Cost {
            top: None,
            ..cost(1, method(MAIN, b""), 1, 0)
        },
    ];
    let times = Costs::new(&costs, 0.0);
    check("cpu_time", |out| cpu_time(&times, AT, out));
    // Called, but without measured time: no division by zero.
    let nothing = Costs::new(&costs[2..], 0.0);
    check("cpu_time_nothing", |out| cpu_time(&nothing, AT, out));
}

#[test]
fn old_profiles() {
    let old = |name, descriptor| OldMethod {
        method: method(MAIN, name),
        descriptor,
    };
    let call = |callee, caller, count, nanos| Call {
        callee,
        caller,
        count,
        nanos,
    };
    let main = old(b"main", b"([Ljava/lang/String;)V");
    let calls = [
        call(Some(main), None, 1, 88_000_000),
        call(Some(old(b"work", b"(I)V")), Some(main), 574, 13_400_000),
        call(None, None, 2, 0),
        call(Some(old(b"never", b"()V")), Some(main), 0, 0),
    ];
    check("old_profile", |out| old_profile(&calls, out));
}

/// Stacks of the whole report: number, frames.
fn stacks() -> Vec<(u32, Vec<Frame<'static>>)> {
    let string = |name, line| Frame {
        method: method(STRING, name),
        source: b"String.java",
        line,
    };
    let main = frame(b"main", Line::Number(12));
    let work = frame(b"work", Line::Number(79));
    vec![
        (2, vec![string(b"<init>", Line::Number(200)), work, main]),
        (3, vec![frame(b"it works", Line::Number(5)), main]),
        (4, vec![work, main]),
        (5, vec![frame(b"read0", Line::Native), work, main]),
    ]
}

/// Two reports in one file, in the order that foreign parsers can follow: threads, traces, samples.
#[test]
fn a_whole_report() {
    let dumps = [
        [(4, 16), (2, 12), (3, 7), (5, 0)],
        [(5, 40), (4, 9), (2, 0), (3, 1)],
    ];
    let stacks: HashMap<u32, Vec<Frame<'_>>> = stacks().into_iter().collect();
    let mut written = HashSet::from([1]);
    let text = check("report", |out| {
        text::header(AT, out)?;
        thread_start(1, 0x7_c000_0008, b"main", b"main", out)?;
        for (number, dump) in dumps.into_iter().enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            let costs = dump
                .map(|(serial, samples)| cost(serial, stacks[&serial][0].method, samples, samples));
            let samples = Costs::new(&costs, 0.0001);
            for serial in samples.traces().map(TraceId::get) {
                if written.insert(serial) {
                    text::trace(serial, None, stacks[&serial].iter().copied(), out)?;
                }
            }
            cpu_samples(&samples, AT, out)?;
        }
        thread_end(1, out)
    });
    for serial in stacks.keys() {
        assert_eq!(text.matches(&format!("TRACE {serial}:")).count(), 1);
    }
    let (_, dumps) = text.split_once("\n--------\n\n").unwrap();
    dumps.split("\n\n").for_each(foreign_parsers_follow);
}

/// Checks what gprof2dot and stackcollapse-hprof require of a dump, according to their sources.
fn foreign_parsers_follow(dump: &str) {
    let is_trace = |line: &&str| line.starts_with("TRACE ") || line.starts_with('\t');
    let lines = dump.lines().skip_while(|line| !is_trace(line));
    let (traces, rest): (Vec<&str>, Vec<&str>) = lines.partition(is_trace);
    assert!(rest[0].starts_with("CPU SAMPLES BEGIN (total = "));
    for heading in traces.iter().filter(|line| !line.starts_with('\t')) {
        let number = heading.strip_prefix("TRACE ").unwrap().strip_suffix(':');
        assert!(number.unwrap().parse::<u32>().is_ok(), "{heading}");
    }
    for frame in traces.iter().filter(|line| line.starts_with('\t')) {
        let (_, place) = frame.split_once('(').unwrap();
        assert!(place.contains(':') && place.ends_with(')'), "{frame}");
    }
    let rows = rest[2..].iter().take_while(|line| !line.starts_with("CPU"));
    for row in rows {
        let fields: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(fields.len(), 6, "{row}");
        assert!(fields[3].parse::<u64>().is_ok() && fields[4].parse::<u32>().is_ok());
    }
}

/// A line whose names and numbers are `x`; a heading as it is.
fn shape(line: &str) -> String {
    if !line.contains(|each: char| each == '(' || each.is_ascii_digit()) {
        return line.to_owned();
    }
    let is_word = |each: char| each.is_alphanumeric() || "_.$<>[]/-@;".contains(each);
    let mut shape = String::new();
    for (place, part) in line.split('"').enumerate() {
        // What stands in quotation marks is a name.
        if place % 2 == 1 {
            shape.push_str("\"x\"");
            continue;
        }
        let mut rest = part;
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|each| !is_word(each)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end.max(1));
            let is_title = word.len() > 2 && word.chars().all(|each| each.is_ascii_uppercase());
            match first {
                _ if is_word(first) && is_title && !line.starts_with('\t') => shape.push_str(word),
                _ if is_word(first) => shape.push('x'),
                ' ' | '\t' if shape.ends_with(first) => {}
                _ => shape.push(first),
            }
            rest = after;
        }
    }
    loop {
        let shorter = shape
            .replace("()", "(x)")
            .replace("x x", "x")
            .replace("x, x", "x");
        if shorter == shape {
            return shape;
        }
        shape = shorter;
    }
}

/// `tests/real/README.md` describes the origin of the files.
#[test]
fn each_line_of_the_old_agent_is_like_one_of_ours() {
    let lines = |folder: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests")
            .join(folder);
        let files = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().path());
        let texts = files.filter(|file| file.extension().is_some_and(|name| name == "txt"));
        let texts = texts.map(|file| std::fs::read_to_string(file).unwrap());
        texts.collect::<Vec<_>>().join("\n")
    };
    let (ours, theirs) = (lines("golden"), lines("real"));
    let known: std::collections::HashSet<String> = ours.lines().map(shape).collect();
    let other: Vec<&str> = theirs
        .lines()
        .filter(|line| !known.contains(&shape(line)))
        .collect();
    assert!(theirs.lines().count() > 500, "{}", theirs.lines().count());
    assert_eq!(other, [""; 0]);
}
