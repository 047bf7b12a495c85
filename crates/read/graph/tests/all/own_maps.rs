//! Hash tables of libraries that nobody here has seen.

use graph::Reason;
use sample::Dump;

use crate::trial::{leaks_of, read};

const CACHE: u64 = 0x2000;
const MAP: u64 = 0x2100;
const SEGMENT: u64 = 0x2200;
const NODE: u64 = 0x2300;
const SPECIAL: u64 = 0x2400;
const PLAN: u64 = 0x2500;
const COUNT: u64 = 3_000;
const SEGMENTS: u64 = 4;

/// A cache with a map of segments, whose tables have chains of three nodes of a nested class.
fn dump(fields: &[&str]) -> Dump {
    let mut dump = Dump::new(8);
    let statics = [("IT", 0x3000)];
    dump.class(CACHE, "lib/Cache", Dump::OBJECT, 0, &["plans"], &statics);
    dump.root(CACHE);
    dump.class(MAP, "lib/OwnMap", Dump::OBJECT, 0, &["segments"], &[]);
    let table = ["table"];
    dump.class(SEGMENT, "lib/OwnMap$Part", Dump::OBJECT, 0, &table, &[]);
    dump.class(NODE, "lib/OwnMap$Link", Dump::OBJECT, 0, fields, &[]);
    dump.class(SPECIAL, "lib/OwnMap$LongLink", NODE, 0, &["age"], &[]);
    dump.class(PLAN, "lib/Plan", Dump::OBJECT, 0, &["a", "b"], &[]);
    let array = |dump: &mut Dump, class: u64, name: &str| {
        dump.class(class, name, Dump::OBJECT, 0, &[], &[]);
    };
    array(&mut dump, 0x2600, "[Llib/OwnMap$Link;");
    array(&mut dump, 0x2700, "[Llib/OwnMap$Part;");
    dump.instance(0x3000, CACHE, &[0x3100]);
    dump.instance(0x3100, MAP, &[0x3200]);
    let parts: Vec<u64> = (0..SEGMENTS).map(|part| 0x4000 + part * 0x100).collect();
    dump.add(dump.to().object_array(0x3200, 0x2700, &parts));
    for part in parts {
        dump.instance(part, SEGMENT, &[part + 0x80]);
        let nodes = (0..COUNT / SEGMENTS).map(|node| (part << 16) + node * 0x40);
        let nodes: Vec<u64> = nodes.collect();
        let heads: Vec<u64> = nodes.iter().copied().step_by(3).collect();
        dump.add(dump.to().object_array(part + 0x80, 0x2600, &heads));
        for (place, node) in nodes.iter().enumerate() {
            let next = nodes.get(place + 1).filter(|_| place % 3 < 2);
            let next = next.copied().unwrap_or(0);
            dump.instance(*node, SPECIAL, &[0, 0, node + 0x20, next]);
            dump.instance(node + 0x20, PLAN, &[0; 2]);
        }
    }
    dump
}

/// The elements, and the class of the object whose field leads to them.
fn found(dump: &Dump) -> (String, u64, String) {
    read(dump, |heap, retained| {
        let leaks = leaks_of(heap, retained, 10);
        let first = &leaks.suspects[0];
        let elements = first.held.elements.unwrap();
        let owner = first.way.owner.map(|(class, _)| heap.class_name(class));
        let class = heap.class_name(elements.class);
        (class, elements.objects, owner.unwrap_or_default())
    })
}

#[test]
fn all_values_count_and_who_has_the_map_holds_them() {
    let dump = dump(&["key", "value", "next"]);
    let expected = ("lib.Plan".to_owned(), COUNT, "lib.Cache".to_owned());
    assert_eq!(found(&dump), expected);
}

#[test]
fn what_has_no_key_is_no_node() {
    let dump = dump(&["order", "value", "next"]);
    assert_ne!(found(&dump).2, "lib.Cache");
}

/// Something else refers to the values, too, so that no entry holds one alone.
#[test]
fn a_shared_value_has_the_key_of_its_entry() {
    let mut dump = Dump::new(8);
    let statics = [("IT", 0x3000), ("ALL", 0x3100)];
    dump.class(CACHE, "lib/Cache", Dump::OBJECT, 0, &[], &statics);
    dump.root(CACHE);
    let text = ["value"];
    dump.class(MAP, "java/lang/String", Dump::OBJECT, 0, &text, &[]);
    let fields = ["key", "value", "next"];
    let node = "java/util/HashMap$Node";
    dump.class(NODE, node, Dump::OBJECT, 0, &fields, &[]);
    dump.class(PLAN, "lib/Plan", Dump::OBJECT, 0, &["a"; 128], &[]);
    let nodes: Vec<u64> = (0..COUNT).map(|it| 0x10_0000 + it * 0x100).collect();
    for node in &nodes {
        dump.instance(*node, NODE, &[node + 0x40, node + 0x80, 0]);
        dump.instance(node + 0x40, MAP, &[node + 0x60]);
        dump.char_array(node + 0x60, &format!("client-{node}"));
        dump.instance(node + 0x80, PLAN, &[0; 128]);
    }
    let plans: Vec<u64> = nodes.iter().map(|node| node + 0x80).collect();
    dump.object_array(0x3000, &nodes);
    // The way over the entries is the shorter one.
    dump.object_array(0x3100, &[0x3180]);
    dump.object_array(0x3180, &[0x3200]);
    dump.object_array(0x3200, &plans);
    read(&dump, |heap, retained| {
        let leaks = leaks_of(heap, retained, 10);
        let mut some = leaks.suspects.iter();
        let numbered = Reason::Numbered(None);
        assert!(
            some.any(|suspect| suspect.reasons.contains(&numbered)),
            "{leaks:?}"
        );
    });
}
