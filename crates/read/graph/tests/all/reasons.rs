//! Which field holds elements, on heaps of known shape.

use graph::{Leaks, Suspect};
use sample::Dump;

use crate::trial::read;

const APP: u64 = 0x2000;
const HOLDER: u64 = 0x2100;
const MAP: u64 = 0x2200;
const NODE: u64 = 0x2300;
const ELEMENT: u64 = 0x2500;
const PART: u64 = 0x2600;
const COUNT: u64 = 5_000;

/// A class whose static field `IT` has a holder with a map in its field `users`, and a second field.
fn held(second: &str) -> Dump {
    let mut dump = Dump::new(8);
    let object = Dump::OBJECT;
    dump.class(APP, "shop/App", object, 0, &[], &[("IT", 0x3000)]);
    dump.class(HOLDER, "shop/Users", object, 0, &["users", second], &[]);
    dump.class(MAP, "java/util/HashMap", object, 0, &["table"], &[]);
    let fields = ["key", "value", "next"];
    dump.class(NODE, "java/util/HashMap$Node", object, 0, &fields, &[]);
    dump.root(APP);
    dump
}

/// The place of a node; what belongs to it follows in steps of 0x100.
fn node(number: u64) -> u64 {
    0x100_0000 + number * 0x1000
}

/// Adds a map at an id with these entries.
fn map(dump: &mut Dump, id: u64, entries: &[(u64, u64, u64)]) {
    dump.instance(id, MAP, &[id + 0x10]);
    let nodes: Vec<u64> = entries.iter().map(|(node, ..)| *node).collect();
    dump.object_array(id + 0x10, &nodes);
    for (node, key, value) in entries {
        dump.instance(*node, NODE, &[*key, *value, 0]);
    }
}

/// Many entries: of each, `add` adds the key and the value at the ids that it gives.
fn many(dump: &mut Dump, add: impl Fn(&mut Dump, u64) -> (u64, u64)) {
    let entry = |number: u64| {
        let (key, value) = add(dump, number);
        (node(number), key, value)
    };
    let entries: Vec<(u64, u64, u64)> = (0..COUNT).map(entry).collect();
    map(dump, 0x3100, &entries);
}

fn first<T>(dump: &Dump, ask: impl FnOnce(&graph::Heap<'_>, &Suspect) -> T) -> T {
    read(dump, |heap, retained| {
        let leaks = Leaks::find(heap, retained, 10).unwrap();
        ask(heap, &leaks.suspects[0])
    })
}

/// The last field of the program before the elements.
fn owner(dump: &Dump) -> String {
    first(dump, |heap, suspect| {
        let (class, field) = suspect.way.owner.unwrap();
        let field = heap.directory().strings.text(field).unwrap();
        format!("{}.{field}", heap.class_name(class))
    })
}

#[test]
fn a_registry_of_one_server_does_not_hold_what_the_server_has() {
    let mut dump = held("other");
    let server = ["sessions"];
    dump.class(ELEMENT, "shop/Server", Dump::OBJECT, 0, &server, &[]);
    dump.class(PART, "shop/Session", Dump::OBJECT, 0, &["bytes"], &[]);
    dump.instance(0x3000, HOLDER, &[0x4000, 0]);
    map(&mut dump, 0x4000, &[(0x4200, 0, 0x4300)]);
    dump.instance(0x4300, ELEMENT, &[0x3100]);
    many(&mut dump, |dump, number| {
        let at = |step: u64| node(number) + step * 0x100;
        dump.instance(at(1), PART, &[at(2)]);
        dump.byte_array(at(2), &[0; 300]);
        (0, at(1))
    });
    assert_eq!(owner(&dump), "shop.Server.sessions");
}

#[test]
fn what_holds_a_long_list_is_known_though_its_nodes_are_left_out() {
    let mut dump = held("hooks");
    let list = "java/util/LinkedList";
    dump.class(ELEMENT, list, Dump::OBJECT, 0, &["first"], &[]);
    let nodes = ["item", "next"];
    dump.class(
        PART,
        "java/util/LinkedList$Node",
        Dump::OBJECT,
        0,
        &nodes,
        &[],
    );
    dump.class(0x2700, "shop/Hook", Dump::OBJECT, 0, &["bytes"], &[]);
    let first = 0x3300;
    dump.class(0x2800, "shop/Client", Dump::OBJECT, 0, &["users"], &[]);
    // Five objects of the program before the list.
    let chain = [0x3000, 0x3010, 0x3020, 0x3030, 0x3040, 0x3050, first];
    for two in chain.windows(2) {
        let class = if two[0] == 0x3050 { HOLDER } else { 0x2800 };
        let fields = if class == HOLDER {
            vec![0, two[1]]
        } else {
            vec![two[1]]
        };
        dump.instance(two[0], class, &fields);
    }
    dump.instance(first, ELEMENT, &[node(0)]);
    for number in 0..COUNT {
        let at = |step: u64| node(number) + step * 0x100;
        let next = if number + 1 < COUNT {
            node(number + 1)
        } else {
            0
        };
        dump.instance(at(0), PART, &[at(1), next]);
        dump.instance(at(1), 0x2700, &[at(2)]);
        // The largest is far behind.
        dump.byte_array(at(2), &vec![0; 300 + usize::from(number == 900)]);
    }
    assert_eq!(owner(&dump), "shop.Users.hooks");
}
