//! A dump with known waste.

use crate::Dump;

const STRING: u64 = 0x2000;
const BOX: u64 = 0x2100;
const LIST: u64 = 0x2200;
const MAP: u64 = 0x2300;
const SET: u64 = 0x2400;
const OWNER: u64 = 0x2500;
const BYTE_ARRAY: u64 = 0x2600;

/// The text of three strings.
pub const SECRET: &str = "hunter2";

/// Three equal strings, two of which share an array; a string of the same bytes in another
/// encoding; two equal arrays; an empty list with capacity, a list with one element, a sparse map;
/// an empty set; two boxed numbers. Sizes are those with compressed references.
pub fn dump(id_bytes: u32) -> Dump {
    let mut dump = Dump::new(id_bytes);
    let (reference, int, byte) = (2, 10, 8);
    let object = (Dump::OBJECT, 0);
    let text = [("value", reference), ("coder", byte)];
    dump.class_of(STRING, "java/lang/String", object, &text, &[]);
    dump.class_of(BOX, "java/lang/Integer", object, &[("value", int)], &[]);
    let list = [("elementData", reference), ("size", int)];
    dump.class_of(LIST, "java/util/ArrayList", object, &list, &[]);
    let map = [("table", reference), ("size", int)];
    dump.class_of(MAP, "java/util/HashMap", object, &map, &[]);
    dump.class_of(SET, "java/util/HashSet", object, &[("map", reference)], &[]);
    let fields = ["names", "tags", "all", "seen", "count"].map(|name| (name, reference));
    dump.class_of(OWNER, "app/Owner", object, &fields, &[("LAST", 0x9100)]);
    dump.class(BYTE_ARRAY, "[B", Dump::OBJECT, 0, &[], &[]);
    for class in [STRING, BOX, LIST, MAP, SET, OWNER, BYTE_ARRAY] {
        dump.root(class);
    }
    texts(&mut dump, id_bytes);
    for id in [0x9000, 0x9100] {
        dump.instance_with(id, BOX, &[(4, 7)]);
    }
    collections(&mut dump, id_bytes);
    let held = [0x8000, 0x8100, 0x8200, 0x8300, 0x9000];
    dump.instance(0x7000, OWNER, &held);
    dump.root(0x7000);
    dump
}

fn texts(dump: &mut Dump, id_bytes: u32) {
    dump.byte_array(0x3000, SECRET.as_bytes());
    dump.byte_array(0x3100, SECRET.as_bytes());
    dump.byte_array(0x3200, b"other");
    dump.byte_array(0x3300, SECRET.as_bytes());
    let texts = [
        (0x4000, 0x3000, 0),
        (0x4100, 0x3000, 0),
        (0x4200, 0x3100, 0),
        (0x4300, 0x3200, 0),
        // The same bytes in another encoding.
        (0x4400, 0x3300, 1),
    ];
    for (id, array, coder) in texts {
        dump.instance_with(id, STRING, &[(id_bytes, array), (1, coder)]);
        dump.root(id);
    }
    // An unreachable string that would be a fourth copy.
    dump.instance_with(0x4500, STRING, &[(id_bytes, 0x3000), (1, 0)]);
    for id in [0x5000, 0x5100] {
        dump.byte_array(id, &[1; 100]);
        dump.root(id);
    }
}

fn collections(dump: &mut Dump, id_bytes: u32) {
    dump.object_array(0x6000, &[0; 10]);
    dump.instance_with(0x8000, LIST, &[(id_bytes, 0x6000), (4, 0)]);
    dump.object_array(0x6100, &[0x4000, 0]);
    dump.instance_with(0x8100, LIST, &[(id_bytes, 0x6100), (4, 1)]);
    let mut table = [0; 64];
    table[..2].copy_from_slice(&[0x4000, 0x4100]);
    dump.object_array(0x6200, &table);
    dump.instance_with(0x8200, MAP, &[(id_bytes, 0x6200), (4, 2)]);
    dump.instance_with(0x8310, MAP, &[(id_bytes, 0), (4, 0)]);
    dump.instance_with(0x8300, SET, &[(id_bytes, 0x8310)]);
}
