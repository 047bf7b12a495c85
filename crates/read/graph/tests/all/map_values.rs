//! The values of a map whose keys have its bytes, and constants that the JDK has in each program.

use sample::Dump;

use crate::trial::{leaks_of, read};

const HOLDER: u64 = 0x2000;
const MAP: u64 = 0x2100;
const NODE: u64 = 0x2200;
const TEXT: u64 = 0x2300;
const VALUE: u64 = 0x2400;
const CLASS: u64 = 0x2500;
const COUNT: u64 = 2_000;

/// A dump with a class of this name whose static field `IT` refers to an object.
fn held_by(class: &str, target: u64) -> Dump {
    let mut dump = Dump::new(8);
    let statics = [("IT", target)];
    dump.class(CLASS, "java/lang/Class", Dump::OBJECT, 0, &[], &[]);
    dump.class(HOLDER, class, Dump::OBJECT, 0, &[], &statics);
    dump.add(dump.to().root(0x05, HOLDER));
    dump
}

/// A map in the static field `IT` of a class: keys of 64 bytes, values of this class. Its entries
/// have the values unless `are_shared`.
fn map(holder: &str, value: &str, are_shared: bool, count: u64) -> Dump {
    let mut dump = held_by(holder, 0x3000);
    let object = Dump::OBJECT;
    dump.class(MAP, "java/util/HashMap", object, 0, &["table"], &[]);
    let fields = ["key", "value", "next"];
    dump.class(NODE, "java/util/HashMap$Node", object, 0, &fields, &[]);
    dump.class(TEXT, "java/lang/String", object, 0, &["value"], &[]);
    dump.class(VALUE, value, object, 0, &["a", "b"], &[]);
    dump.instance(0x3000, MAP, &[0x3100]);
    let id = |number: u64| 0x10_0000 + number * 0x100;
    for number in 0..count {
        let (node, of_value) = (id(number), if are_shared { 0 } else { number });
        dump.instance(node, NODE, &[node + 0x20, id(of_value) + 0xc0, 0]);
        dump.instance(node + 0x20, TEXT, &[node + 0x40]);
        dump.byte_array(node + 0x40, &[1; 24]);
        dump.instance(node + 0xc0, VALUE, &[0, 0]);
    }
    dump.object_array(0x3100, &(0..count).map(id).collect::<Vec<_>>());
    dump
}

/// The class, number and bytes of the values of the first suspect, if it is known that they are.
fn values(dump: &Dump) -> Option<(String, u64, u64)> {
    read(dump, |heap, retained| {
        let leaks = leaks_of(heap, retained, 10);
        let held = &leaks.suspects[0].held;
        let values = held.beside.filter(|_| held.are_entries)?;
        let class = heap.class_name(values.class);
        Some((class, values.objects, values.bytes))
    })
}

#[test]
fn the_values_of_a_map_are_known_whose_keys_have_the_bytes() {
    for class in ["shop.Basket", "java.util.concurrent.atomic.LongAdder"] {
        let name = class.replace('.', "/");
        let found = values(&map("shop/App", &name, false, COUNT));
        // A header of 12 bytes and two references.
        assert_eq!(found, Some((class.to_owned(), COUNT, COUNT * 24)));
    }
}

#[test]
fn a_value_that_many_entries_share_is_none() {
    let shared = map(
        "shop/App",
        "java/util/concurrent/atomic/LongAdder",
        true,
        COUNT,
    );
    assert_eq!(values(&shared), None);
}

#[test]
fn what_the_jdk_has_in_each_program_is_no_suspect() {
    let suspects = |holder: &str, count: u64| {
        let dump = map(holder, "java/lang/Object", false, count);
        read(&dump, |heap, retained| {
            let leaks = leaks_of(heap, retained, 10);
            let weights = leaks.weights.iter();
            let weights: u64 = weights.map(|weight| weight.bytes).sum();
            (leaks.suspects.len(), weights > 0)
        })
    };
    assert_eq!(suspects("jdk/internal/Names", COUNT / 4), (0, true));
    assert_eq!(suspects("shop/Names", COUNT / 4), (1, false));
    assert_eq!(suspects("jdk/internal/Names", COUNT * 4), (1, false));
}
