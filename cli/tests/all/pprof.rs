//! Profiles for pprof, decoded again.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use flate2::read::GzDecoder;
use sample::Dump;
use tempfile::TempDir;

use crate::run::profile;

/// A field of a message: a number, or bytes.
enum Value {
    Number(u64),
    Bytes(Vec<u8>),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for place in 0.. {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        number |= u64::from(byte & 0x7F) << (7 * place);
        if byte < 0x80 {
            break;
        }
    }
    number
}

fn message(mut bytes: &[u8]) -> Vec<(u64, Value)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = match key & 7 {
            0 => Value::Number(varint(&mut bytes)),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (own, rest) = bytes.split_at(length);
                bytes = rest;
                Value::Bytes(own.to_vec())
            }
            kind => panic!("field of type {kind}"),
        };
        fields.push((key >> 3, value));
    }
    fields
}

/// The messages in this field.
fn inner(fields: &[(u64, Value)], number: u64) -> Vec<Vec<u8>> {
    let bytes = |(field, value): &(u64, Value)| match value {
        Value::Bytes(bytes) if *field == number => Some(bytes.clone()),
        _ => None,
    };
    fields.iter().filter_map(bytes).collect()
}

/// The number in this field, 0 if it is left out.
fn number(fields: &[(u64, Value)], wanted: u64) -> u64 {
    let number = |(field, value): &(u64, Value)| match value {
        Value::Number(number) if *field == wanted => Some(*number),
        _ => None,
    };
    fields.iter().find_map(number).unwrap_or(0)
}

fn packed(mut bytes: &[u8]) -> Vec<u64> {
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        numbers.push(varint(&mut bytes));
    }
    numbers
}

/// A profile in words: the kinds of values, then each sample: values, frames from the top, labels.
fn lines(file: &Path) -> Vec<String> {
    let mut bytes = Vec::new();
    let packed_file = std::fs::File::open(file).unwrap();
    GzDecoder::new(packed_file).read_to_end(&mut bytes).unwrap();
    let profile = message(&bytes);
    let strings: Vec<String> = inner(&profile, 6)
        .into_iter()
        .map(|text| String::from_utf8(text).unwrap())
        .collect();
    assert_eq!(strings[0], "");
    let text = |at: u64| strings[at as usize].as_str();
    let by_id = |field: u64| -> HashMap<u64, Vec<(u64, Value)>> {
        let all = inner(&profile, field).into_iter();
        let all = all.map(|bytes| message(&bytes));
        all.map(|fields| (number(&fields, 1), fields)).collect()
    };
    let (locations, functions) = (by_id(4), by_id(5));
    let frame = |location: u64| {
        let line = message(&inner(&locations[&location], 4)[0]);
        let function = &functions[&number(&line, 1)];
        let (name, file) = (text(number(function, 2)), text(number(function, 4)));
        format!("{name}({file}:{})", number(&line, 2))
    };
    let kinds = inner(&profile, 1).into_iter().map(|kind| {
        let kind = message(&kind);
        format!("{}/{}", text(number(&kind, 1)), text(number(&kind, 2)))
    });
    let shown = text(number(&profile, 14));
    let mut lines = vec![format!("{} {shown}", kinds.collect::<Vec<_>>().join(" "))];
    for sample in inner(&profile, 2) {
        let sample = message(&sample);
        let frames = packed(&inner(&sample, 1)[0]).into_iter().map(frame);
        let frames = frames.collect::<Vec<_>>().join(" ");
        let labels = inner(&sample, 3).into_iter().map(|label| {
            let label = message(&label);
            format!("{}={}", text(number(&label, 1)), text(number(&label, 2)))
        });
        let labels = labels.collect::<Vec<_>>().join(" ");
        let values = packed(&inner(&sample, 2)[0]);
        lines.push(format!("{values:?} {frames} {labels}").trim().to_owned());
    }
    lines
}

/// The lines that a command makes of this dump.
fn made(arguments: &[&str], sample: &Dump) -> Vec<String> {
    let folder = TempDir::new().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out.pb.gz"));
    std::fs::write(&input, sample.bytes()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    let command = command.arg("convert").args(arguments).arg(&input);
    let done = command.arg("-o").arg(&output).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    lines(&output)
}

#[test]
fn sites_have_four_values() {
    let expected = [
        "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes inuse_space",
        "[5, 30000, 2, 48] [no stack](:0) class=int[]",
        "[225, 9000, 1, 32] app.Leaf.run(Leaf.java:0) app.Leaf.run(Leaf.java:0) class=app.Leaf",
    ];
    assert_eq!(made(&["--from", "sites"], &profile()), expected);
}

#[test]
fn a_heap_dump_tells_two_of_them() {
    let lines = made(&["--from", "dump"], &profile());
    assert_eq!(
        lines[0],
        "inuse_objects/count inuse_space/bytes inuse_space"
    );
    assert!(lines[1].starts_with("[1, "), "{lines:?}");
}

#[test]
fn cpu_samples_have_one() {
    let lines = made(&[], &profile());
    let expected = [
        "samples/count ",
        "[6] app.Leaf.run(Leaf.java:7) app.Leaf.run(Leaf.java:0)",
        "[3] app.Leaf.run(Leaf.java:0) app.Leaf.run(Leaf.java:0)",
    ];
    assert_eq!(lines, expected);
}
