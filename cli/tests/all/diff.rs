//! `hprof diff` as users see it.

use std::process::{Command, Output};

use sample::Dump;
use serde_json::Value;
use tempfile::TempDir;

const CACHE: u64 = 0x2000;
const ENTRY: u64 = 0x2100;
const NODE: u64 = 0x2200;

/// A class `app.Cache` whose static field `ALL` refers to an object.
fn cache_of(all: u64) -> Dump {
    let mut dump = Dump::new(8);
    dump.class(ENTRY, "app/Entry", Dump::OBJECT, 0, &["text"], &[]);
    dump.class(NODE, "app/Node", Dump::OBJECT, 0, &["value", "next"], &[]);
    dump.class(CACHE, "app/Cache", Dump::OBJECT, 0, &[], &[("ALL", all)]);
    dump.root(CACHE);
    dump
}

/// An array of entries, each with a text of this size.
fn table_of(dump: &mut Dump, id: u64, entries: u64, text_bytes: usize) {
    let ids: Vec<u64> = (1..=entries).map(|number| id + number * 0x1000).collect();
    for id in &ids {
        dump.instance(*id, ENTRY, &[id + 8]);
        dump.byte_array(id + 8, &vec![0; text_bytes]);
    }
    dump.object_array(id, &ids);
}

fn diff(before: Dump, after: Dump, arguments: &[&str]) -> Output {
    let folder = TempDir::new().unwrap();
    let paths = ["before", "after"].map(|name| folder.path().join(name));
    std::fs::write(&paths[0], before.bytes()).unwrap();
    std::fs::write(&paths[1], after.bytes()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    command
        .arg("diff")
        .args(arguments)
        .args(paths)
        .output()
        .unwrap()
}

fn text(output: Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(before: Dump, after: Dump) -> Value {
    serde_json::from_str(&text(diff(before, after, &["--json"]))).unwrap()
}

/// Grown and moved bytes of each place: its field, or its class if it has none.
fn places(answer: &Value) -> Vec<(&str, u64, u64)> {
    let rows = answer["places"].as_array().unwrap().iter();
    let name = |row: &'_ Value| row["field"].as_str().is_none();
    rows.map(|row| {
        let name = if name(row) {
            &row["class"]
        } else {
            &row["field"]
        };
        let number = |key: &str| row[key].as_u64().unwrap();
        (name.as_str().unwrap(), number("grown"), number("moved"))
    })
    .collect()
}

#[test]
fn the_holders_are_a_profile_with_all_bytes() {
    let folder = TempDir::new().unwrap();
    let [path, folded] = ["heap.hprof", "heap.folded"].map(|name| folder.path().join(name));
    let mut dump = cache_of(0x10_0000);
    table_of(&mut dump, 0x10_0000, 10, 184);
    std::fs::write(&path, dump.bytes()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    let output = command.args(["convert", "--from", "holders", "-o"]);
    text(output.args([&folded, &path]).output().unwrap());
    let lines = std::fs::read_to_string(folded).unwrap();
    let expected = "\
app.Cache.ALL  java.lang.Object[] 56
app.Cache.ALL  java.lang.Object[];app.Entry 160
app.Cache.ALL  java.lang.Object[];app.Entry;byte[] 2000
class app.Cache 8
java.lang.Thread 16
";
    assert_eq!(lines, expected);
}

#[test]
fn each_class_of_several_dumps_says_whether_it_grows() {
    let folder = TempDir::new().unwrap();
    let dumps = [10, 20, 30].map(|entries| {
        let mut dump = cache_of(0x10_0000);
        table_of(&mut dump, 0x10_0000, entries, 184);
        let path = folder.path().join(entries.to_string());
        std::fs::write(&path, dump.bytes()).unwrap();
        path
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    let answer = text(command.arg("diff").args(dumps).output().unwrap());
    let expected = "\
all reachable objects of 3 dumps: +2,200 bytes from one to the next, error 0: grows steadily

a dump  error  retained  over time       class
";
    assert_eq!(answer.get(..expected.len()), Some(expected), "{answer}");
    assert!(answer.contains("grows steadily  app.Entry\n"), "{answer}");
    assert!(answer.contains("\nall reachable objects: 6,"), "{answer}");
}

#[test]
fn the_total_comes_first_then_the_places_then_the_classes() {
    let mut after = cache_of(0x10_0000);
    table_of(&mut after, 0x10_0000, 10, 184);
    let lines = text(diff(cache_of(0), after, &[]));
    let expected = "\
all reachable objects: 2,240 bytes, 24 before (+2,216)

 grown  moved here  retained  objects  place
+2,216           0     2,216        1  app.Cache.ALL  java.lang.Object[]
+2,160           0     2,160       10    app.Entry
+2,000           0     2,000       10      byte[]

 grown  retained  more objects  objects  class
+2,216     2,224            +1        5  class not in the dump
+2,216     2,216            +1        1  java.lang.Object[]
+2,160     2,160           +10       10  app.Entry
+2,000     2,000           +10       10  byte[]
";
    assert_eq!(lines, expected);
}

#[test]
fn what_is_left_out_is_counted() {
    let mut after = cache_of(0x10_0000);
    table_of(&mut after, 0x10_0000, 10, 184);
    let lines = text(diff(cache_of(0), after, &["--top", "1"]));
    let rest: Vec<_> = lines
        .lines()
        .filter(|line| line.starts_with("..."))
        .collect();
    let expected = [
        "... and 2 more places; --top 0 prints all",
        "... and 3 more classes; --top 0 prints all",
    ];
    assert_eq!(rest, expected);
}

#[test]
fn what_only_moved_did_not_grow() {
    // A local variable holds the table before; a static field after, when it has one entry more.
    let mut before = cache_of(0);
    table_of(&mut before, 0x10_0000, 40, 984);
    before.local(0x10_0000);
    let mut after = cache_of(0x10_0000);
    table_of(&mut after, 0x10_0000, 41, 984);
    let answer = json(before, after);
    let grown = answer["total_bytes_after"].as_u64().unwrap()
        - answer["total_bytes_before"].as_u64().unwrap();
    let (name, new_bytes, moved_bytes) = places(&answer)[0];
    assert_eq!(name, "app.Cache.ALL");
    assert!(new_bytes <= grown && new_bytes >= 1_000, "{answer}");
    assert!(moved_bytes >= 40 * 1_000, "{answer}");
}

#[test]
fn a_single_array_that_moved_did_not_grow() {
    let mut before = cache_of(0);
    before.byte_array(0x10_0000, &[0; 5_000]);
    before.local(0x10_0000);
    let mut after = cache_of(0x10_0000);
    after.byte_array(0x10_0000, &[0; 5_000]);
    let answer = json(before, after);
    assert_eq!(places(&answer), [("app.Cache.ALL", 0, 5_016)]);
}

#[test]
fn what_is_below_new_objects_is_new_though_the_same_class_was_freed_elsewhere() {
    let mut before = cache_of(0);
    before.byte_array(0x5000, &[0; 10_000]);
    before.local(0x5000);
    let mut after = cache_of(0x10_0000);
    table_of(&mut after, 0x10_0000, 10, 984);
    let answer = json(before, after);
    assert_eq!(
        places(&answer)[0].1,
        10 * (16 + 1_000) + 16 + 10 * 4,
        "{answer}"
    );
}

#[test]
fn a_chain_of_equal_steps_is_one_place() {
    let chains = |lengths: &[u64]| {
        let mut dump = cache_of(0x9000);
        let mut heads = Vec::new();
        for (chain, length) in (1..).zip(lengths) {
            let node = |place: u64| 0x100_0000 * chain + place * 0x100;
            heads.push(node(1));
            for place in 1..=*length {
                let next = if place < *length { node(place + 1) } else { 0 };
                dump.instance(node(place), NODE, &[node(place) + 8, next]);
                dump.instance(node(place) + 8, ENTRY, &[0]);
            }
        }
        dump.object_array(0x9000, &heads);
        dump
    };
    let answer = json(chains(&[1, 1, 1]), chains(&[3, 20, 7]));
    let rows = answer["places"].as_array().unwrap();
    let objects: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row["class"].as_str().unwrap(),
                row["before"]["objects"].as_u64(),
                row["after"]["objects"].as_u64(),
            )
        })
        .collect();
    let expected = [
        ("java.lang.Object[]", Some(1), Some(1)),
        ("app.Node", Some(3), Some(30)),
    ];
    assert_eq!(objects, expected);
}

#[test]
fn a_place_of_a_thread_names_its_local_variable() {
    let mut after = cache_of(0);
    table_of(&mut after, 0x10_0000, 10, 184);
    after.local(0x10_0000);
    let answer = json(cache_of(0), after);
    let names: Vec<_> = places(&answer).iter().map(|row| row.0).collect();
    let expected = [
        "java.lang.Thread",
        "(local variable)",
        "app.Entry",
        "byte[]",
    ];
    assert_eq!(names, expected);
}

#[test]
fn growth_fails_on_request() {
    for (limit, code) in [("2215", 1), ("2216", 0)] {
        let mut after = cache_of(0x10_0000);
        table_of(&mut after, 0x10_0000, 10, 184);
        let output = diff(cache_of(0), after, &["--fail-if-grown", limit]);
        assert_eq!(output.status.code(), Some(code));
    }
}

#[test]
fn equal_dumps_have_no_rows() {
    let dump = || {
        let mut dump = cache_of(0x3000);
        table_of(&mut dump, 0x3000, 2, 8);
        dump
    };
    let found = text(diff(dump(), dump(), &[]));
    let (sum, rest) = found.split_once("\n\n").unwrap();
    assert!(sum.ends_with("before (0)"), "{found}");
    assert_eq!(rest, "No class has changed.\n");
    let answer = json(dump(), dump());
    let none = Value::Array(Vec::new());
    assert_eq!((&answer["places"], &answer["classes"]), (&none, &none));
}
