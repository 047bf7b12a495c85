//! Values become zeros and stars as configured, and nothing else changes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking"
)]

use format::redaction::{FieldPatterns, Redacted as Word, Redaction};
use proptest::prelude::*;
use reader::{check, Budget, CheckOptions};
use reader::{redact, RedactError, Redacted};
use sample::*;

fn redaction(word: &str, keep: &str, drop: &str) -> Redaction {
    let patterns = |text: &str| FieldPatterns::parse(text).unwrap_or_default();
    Redaction {
        what: Word::parse(word).unwrap_or_default(),
        keep: patterns(keep),
        drop: patterns(drop),
    }
}

fn try_redact(dump: &[u8], redaction: &Redaction) -> Result<(Vec<u8>, Redacted), RedactError> {
    let mut out = Vec::new();
    let mut open = || reader::unpacked(dump);
    let told = redact(&mut open, redaction, Budget::default(), &mut out)?;
    let mark = format!("hprof-rs/facts 1\nredacted={}\n", redaction.name());
    // Between the header and the first record: tag, time, length and id come before the text.
    let (start, end) = (31, 31 + 9 + usize::from(out[22]) + mark.len());
    assert_eq!(&out[end - mark.len()..end], mark.as_bytes());
    out.drain(start..end);
    Ok((out, told))
}

/// The copy, and the bytes of the dump that were replaced.
fn redacted(dump: &[u8], redaction: &Redaction) -> (Vec<u8>, Vec<u8>) {
    let (copy, _) = try_redact(dump, redaction).unwrap();
    assert_eq!(copy.len(), dump.len());
    let changed = dump.iter().zip(&copy).filter(|(old, new)| old != new);
    (copy.clone(), changed.map(|(old, _)| *old).collect())
}

/// The replaced bytes of the sample, in order.
fn gone(word: &str, keep: &str, drop: &str) -> Vec<u8> {
    redacted(&Dump::small().bytes(), &redaction(word, keep, drop)).1
}

/// The static field and the two of the leaf, in file order; the array of flags; the letters.
const STATIC: &[u8] = &[1];
const LEAF_FIELDS: &[u8] = &[42, 1];
const FLAG_BYTES: &[u8] = &[1, 1];
const LETTERS: &[u8] = b"main";

/// Whether `check` finds nothing.
fn is_sound(dump: &[u8]) -> bool {
    let options = CheckOptions {
        most: 100,
        strict: true,
        budget: Budget::default(),
    };
    let report = check(&mut || Ok(Box::new(dump)), options).unwrap();
    report.faults.is_empty()
}

#[test]
fn the_host_goes_and_the_sizes_stay() {
    let mut sample = Dump::small();
    let facts = b"hprof-rs/facts 1\nhost=there\njvm=a VM\nheader_bytes=12\n";
    for text in [
        &facts[..],
        b"hprof-rs/sizes 1\n1\n2/14",
        b"hprof-rs/sizes 1\n1\nsecret",
    ] {
        sample
            .records
            .insert(0, string(0x7000 + sample.records.len() as u64, text));
    }
    let dump = sample.bytes();
    let gone = |word| redacted(&dump, &redaction(word, "", "")).1;
    let count = |gone: &[u8], what: &[u8]| {
        gone.windows(what.len())
            .filter(|place| *place == what)
            .count()
    };
    for word in ["strings", "all"] {
        let gone = gone(word);
        assert_eq!(
            (count(&gone, b"=there"), count(&gone, b"a VM")),
            (1, 0),
            "{word}"
        );
        assert_eq!(
            (count(&gone, b"=12"), count(&gone, b"2/14")),
            (0, 0),
            "{word}"
        );
    }
    // A text that only looks like sizes is redacted like others.
    assert_eq!(
        (
            count(&gone("strings"), b"secret"),
            count(&gone("all"), b"secret")
        ),
        (0, 1)
    );
}

#[test]
fn each_word_takes_what_it_says() {
    assert_eq!(gone("strings", "", ""), LETTERS);
    assert_eq!(gone("arrays", "", ""), [FLAG_BYTES, LETTERS].concat());
    let values = [STATIC, LEAF_FIELDS, FLAG_BYTES, LETTERS].concat();
    assert_eq!(gone("values", "", ""), values);
    assert_eq!(gone("all", "", ""), [b"Leaf.java", &*values].concat());
}

#[test]
fn fields_are_kept_and_dropped_by_name() {
    let kept = gone("values", "app.Leaf#*;java.lang.Thread#name", "");
    // The field of the superclass is its own.
    assert_eq!(kept, [&[1], FLAG_BYTES].concat());
    assert_eq!(
        gone("", "", "app.Base#flag;java.lang.String#value"),
        [&[1], LETTERS].concat()
    );
    assert_eq!(gone("all", "*#*", "*#*"), gone("all", "", ""));
    let dump = Dump::small().bytes();
    let (_, told) = try_redact(&dump, &redaction("values", "app.Leaf#v", "app.Leaf#w")).unwrap();
    assert_eq!(told.unmatched, ["app.Leaf#w"]);
    let statics = redaction("values", "app.Leaf#shared;app.Base#on", "app.Leaf#on");
    let (_, told_of_statics) = try_redact(&dump, &statics).unwrap();
    assert_eq!(told_of_statics.unmatched, ["app.Base#on"]);
    assert_eq!((told.arrays, told.objects, told.texts), (2, 3, 0));
}

#[test]
fn the_copy_is_as_sound_as_the_dump() {
    for word in ["strings", "arrays", "values", "all"] {
        let (copy, _) = redacted(&Dump::small().bytes(), &redaction(word, "", ""));
        assert!(is_sound(&copy), "{word}");
    }
}

#[test]
fn constants_and_values_of_unknown_classes_become_zeros() {
    let mut sample = Dump::small();
    let mut leaf = sample.leaf();
    leaf.constants = vec![(7, INT, vec![0, 0, 9, 9])];
    sample.replace_class(&leaf);
    sample.heap(1).push(instance(0x3000, 1, 0x9999, &[8; 3]));
    let (_, changed) = redacted(&sample.bytes(), &redaction("values", "", ""));
    let expected = [&[9, 9], STATIC, LEAF_FIELDS, FLAG_BYTES, LETTERS, &[8; 3]].concat();
    assert_eq!(changed, expected);
    assert_eq!(
        redacted(&sample.bytes(), &redaction("strings", "", "")).1,
        LETTERS
    );
}

/// A dump with short ids: a class with a number and a reference to an array.
#[test]
fn ids_may_have_four_bytes() {
    let mut dump = Dump::empty(4);
    dump.class_of(0x10, "a.B", (0, 0), &[("count", INT), ("data", REF)], &[]);
    dump.string("secret");
    dump.instance_with(0x20, 0x10, &[(4, 7), (4, 0x28)]);
    let elements = bytes().u4(5).u4(6).0;
    dump.add(dump.to().primitive_array(0x28, INT, 2, &elements));
    let dump = dump.bytes();
    let changed = |word, keep| redacted(&dump, &redaction(word, keep, "")).1;
    assert_eq!(changed("all", ""), [&b"secret"[..], &[7, 5, 6]].concat());
    assert_eq!(changed("all", "a.B#data"), [&b"secret"[..], &[7]].concat());
    let refused = try_redact(&dump, &redaction("strings", "", ""));
    assert!(matches!(refused, Err(RedactError::NoStrings)));
}

#[test]
fn what_is_not_whole_is_refused() {
    let dump = Dump::small().bytes();
    let all = redaction("all", "", "");
    let mut head = Dump::small();
    head.records.truncate(head.at(0x1C, 0));
    // Before the heap starts, a file may end after any record.
    for end in head.bytes().len() + 1..dump.len() {
        let refused = try_redact(&dump[..end], &all);
        let is_refused = matches!(
            refused,
            Err(RedactError::Damaged(_) | RedactError::NotEnded)
        );
        assert!(is_refused, "{end}: {refused:?}");
    }
    let mut sample = Dump::small();
    sample
        .records
        .insert(0, record(0x77, bytes().all(b"secret")));
    let refused = try_redact(&sample.bytes(), &all).unwrap_err();
    assert!(refused.to_string().contains("0x1f"), "{refused}");
}

proptest! {
    #[test]
    fn whatever_the_bytes_there_is_an_end(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        word in prop_oneof![Just("strings"), Just("arrays"), Just("values"), Just("all")],
        keep in prop_oneof![Just(""), Just("*#*"), Just("app.Leaf#v")],
    ) {
        let mut dump = Dump::small().bytes();
        for (at, byte) in changes {
            let at = at.index(dump.len());
            dump[at] = byte;
        }
        if let Ok((copy, _)) = try_redact(&dump, &redaction(word, keep, "")) {
            prop_assert_eq!(copy.len(), dump.len());
        }
    }
}
