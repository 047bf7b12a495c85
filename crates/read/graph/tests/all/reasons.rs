//! Why elements stay, why a suspect is no leak, and which field holds them, on known heaps.

use graph::{Calm, Reason, Suspect};
use sample::Dump;

use crate::trial::{leaks_of, read};

const APP: u64 = 0x2000;
pub(crate) const HOLDER: u64 = 0x2100;
pub(crate) const MAP: u64 = 0x2200;
const NODE: u64 = 0x2300;
const TEXT: u64 = 0x2400;
pub(crate) const ELEMENT: u64 = 0x2500;
pub(crate) const PART: u64 = 0x2600;
pub(crate) const COUNT: u64 = 5_000;
const BOOLEAN: u8 = 4;
pub(crate) const INT: u8 = 10;

/// A class whose static field `IT` has a holder with a map in its field `users`, and another field.
pub(crate) fn held(second: &str) -> Dump {
    let mut dump = Dump::new(8);
    let object = Dump::OBJECT;
    dump.class(APP, "shop/App", object, 0, &[], &[("IT", 0x3000)]);
    dump.class(HOLDER, "shop/Users", object, 0, &["users", second], &[]);
    dump.class(MAP, "java/util/HashMap", object, 0, &["table"], &[]);
    let fields = ["key", "value", "next"];
    dump.class(NODE, "java/util/HashMap$Node", object, 0, &fields, &[]);
    dump.class(TEXT, "java/lang/String", object, 0, &["value"], &[]);
    dump.root(APP);
    dump
}

pub(crate) fn text(dump: &mut Dump, id: u64, text: &str) {
    dump.instance(id, TEXT, &[id + 0x20]);
    dump.char_array(id + 0x20, text);
}

/// The place of a node; what belongs to it follows in steps of 0x100.
pub(crate) fn node(number: u64) -> u64 {
    0x100_0000 + number * 0x1000
}

/// Adds a map at an id with these entries.
pub(crate) fn map(dump: &mut Dump, id: u64, entries: &[(u64, u64, u64)]) {
    dump.instance(id, MAP, &[id + 0x10]);
    let nodes: Vec<u64> = entries.iter().map(|(node, ..)| *node).collect();
    dump.object_array(id + 0x10, &nodes);
    for (node, key, value) in entries {
        dump.instance(*node, NODE, &[*key, *value, 0]);
    }
}

/// Many entries: of each, `add` adds the key and the value at the ids that it gives.
pub(crate) fn many(dump: &mut Dump, add: impl Fn(&mut Dump, u64) -> (u64, u64)) {
    let entry = |number: u64| {
        let (key, value) = add(dump, number);
        (node(number), key, value)
    };
    let entries: Vec<(u64, u64, u64)> = (0..COUNT).map(entry).collect();
    map(dump, 0x3100, &entries);
}

pub(crate) fn first<T>(dump: &Dump, ask: impl FnOnce(&graph::Heap<'_>, &Suspect) -> T) -> T {
    read(dump, |heap, retained| {
        let leaks = leaks_of(heap, retained, 10);
        ask(heap, &leaks.suspects[0])
    })
}

pub(crate) fn reasons(dump: &Dump) -> Vec<Reason> {
    first(dump, |_, suspect| suspect.reasons.clone())
}

fn calm(dump: &Dump) -> Option<Calm> {
    first(dump, |_, suspect| suspect.calm.clone())
}

/// The last field of the program before the elements.
fn owner(dump: &Dump) -> String {
    first(dump, |heap, suspect| {
        let (class, field) = suspect.way.owner.unwrap();
        let field = heap.directory().strings.text(field).unwrap();
        format!("{}.{field}", heap.class_name(class))
    })
}

/// Elements of 300 bytes with keys that have these texts; `count` objects lie between an entry and
/// its element.
pub(crate) fn with_keys(between: u64, key: impl Fn(u64) -> String) -> Dump {
    let mut dump = held("other");
    let object = Dump::OBJECT;
    dump.instance(0x3000, HOLDER, &[0x3100, 0]);
    dump.class(ELEMENT, "shop/Session", object, 0, &["bytes"], &[]);
    dump.class(PART, "javax/shop/Named", object, 0, &["object"], &[]);
    many(&mut dump, |dump, number| {
        let at = |step: u64| node(number) + step * 0x100;
        text(dump, at(1), &key(number));
        for step in 0..between {
            dump.instance(at(2 + step), PART, &[at(3 + step)]);
        }
        dump.instance(at(2 + between), ELEMENT, &[at(8)]);
        dump.byte_array(at(8), &[number as u8; 300]);
        (at(1), at(2))
    });
    dump
}

#[test]
fn keys_differ_in_numbers_alone_also_through_a_wrapper() {
    for (between, key) in [
        (0, "10.0.N.7"),
        (0, "session N"),
        (1, "client=N,type=one"),
        (0, "id-0a9bN-11"),
    ] {
        let dump = with_keys(between, |number| key.replace('N', &number.to_string()));
        assert_eq!(reasons(&dump), [Reason::Numbered(None)], "{key}");
    }
    let dump = with_keys(0, |number| {
        format!("{}x", char::from(b'a' + (number % 26) as u8)).repeat(1 + number as usize / 26)
    });
    assert_eq!(reasons(&dump), []);
    let random = with_keys(0, |number| format!("0a9b{number}-11"));
    assert_eq!(reasons(&random), []);
}

#[test]
fn an_element_that_is_its_own_key_says_its_state() {
    let mut dump = held("other");
    dump.instance(0x3000, HOLDER, &[0x3100, 0]);
    let fields = ["group", "bytes"];
    dump.class(ELEMENT, "shop/Client", Dump::OBJECT, 0, &fields, &[]);
    let fields = [("closed", BOOLEAN)];
    dump.class_of(PART, "shop/Group", (Dump::OBJECT, 0), &fields, &[]);
    many(&mut dump, |dump, number| {
        let at = |step: u64| node(number) + step * 0x100;
        dump.instance(at(1), ELEMENT, &[at(2), at(3)]);
        dump.instance_with(at(2), PART, &[(1, 1)]);
        dump.byte_array(at(3), &[0; 300]);
        (at(1), 0)
    });
    let closed = Reason::State("closed", true, Some("group".to_owned()));
    assert_eq!(reasons(&dump), [closed]);
}

/// Meters with the tags `method` and `uri`; there are so many different methods.
fn with_tags(methods: u64) -> Dump {
    let mut dump = held("other");
    let object = Dump::OBJECT;
    dump.instance(0x3000, HOLDER, &[0x3100, 0]);
    dump.class(ELEMENT, "shop/Meter", object, 0, &["tags", "bytes"], &[]);
    dump.class(PART, "shop/Tag", object, 0, &["key", "value"], &[]);
    text(&mut dump, 0x4000, "method");
    text(&mut dump, 0x4100, "uri");
    many(&mut dump, |dump, number| {
        let at = |step: u64| node(number) + step * 0x100;
        dump.instance(at(1), ELEMENT, &[at(2), at(7)]);
        dump.object_array(at(2), &[at(3), at(4)]);
        dump.instance(at(3), PART, &[0x4000, at(5)]);
        dump.instance(at(4), PART, &[0x4100, at(6)]);
        text(dump, at(5), &format!("M{}", number % methods));
        text(dump, at(6), &format!("/users/{number}"));
        dump.byte_array(at(7), &[0; 300]);
        (at(1), 0)
    });
    dump
}

#[test]
fn the_one_tag_with_many_values_is_named() {
    let uri = Reason::Tag("uri".to_owned());
    assert_eq!(reasons(&with_tags(1)), [uri]);
    let is_tag = |reason: &Reason| matches!(reason, Reason::Tag(_));
    assert!(!reasons(&with_tags(COUNT)).iter().any(is_tag));
}

/// Counters whose keys are a path and a user; the holder has these names of its labels.
fn with_labels(names: &[&str]) -> Dump {
    let mut dump = held("labelNames");
    dump.instance(0x3000, HOLDER, &[0x3100, 0x3800]);
    dump.class(ELEMENT, "shop/Counter", Dump::OBJECT, 0, &["bytes"], &[]);
    let ids: Vec<u64> = (0..names.len() as u64)
        .map(|it| 0x4000 + it * 0x100)
        .collect();
    dump.object_array(0x3800, &ids);
    for (id, name) in ids.iter().zip(names) {
        text(&mut dump, *id, name);
    }
    text(&mut dump, 0x4800, "/orders");
    many(&mut dump, |dump, number| {
        let at = |step: u64| node(number) + step * 0x100;
        dump.object_array(at(1), &[0x4800, at(2)]);
        text(dump, at(2), &format!("user-{number}"));
        dump.instance(at(3), ELEMENT, &[at(4)]);
        dump.byte_array(at(4), &[0; 300]);
        (at(1), at(3))
    });
    dump
}

#[test]
fn the_one_label_that_differs_has_the_name_that_the_holder_gives() {
    let user = Reason::OneOf(2, Some("user".to_owned()));
    assert_eq!(reasons(&with_labels(&["path", "user"])), [user]);
    let none = Reason::OneOf(2, None);
    assert_eq!(reasons(&with_labels(&["path"])), [none]);
}

/// Elements of this class, which has a number in this field, and a text.
fn with_number(class: &str, above: &str, field: &str, number: u64) -> Dump {
    let mut dump = held("other");
    let fields = [(field, INT)];
    dump.class_of(PART, above, (Dump::OBJECT, 0), &fields, &[]);
    dump.class(ELEMENT, class, PART, 0, &["name", "bytes"], &[]);
    text(&mut dump, 0x4000, "worker");
    many(&mut dump, |dump, place| {
        let at = |step: u64| node(place) + step * 0x100;
        dump.instance_with(at(1), ELEMENT, &[(8, 0x4000), (8, at(2)), (4, number)]);
        dump.byte_array(at(2), &[place as u8; 700]);
        (0, at(1))
    });
    dump
}

#[test]
fn the_state_of_what_extends_a_class_of_the_jdk_is_known() {
    let of = |above: &str, state: u64| {
        let mut dump = with_number("shop/Task", above, "state", state);
        dump.instance(0x3000, HOLDER, &[0x3100, 0]);
        reasons(&dump)
    };
    let cancelled = Reason::State("cancelled", true, None);
    assert_eq!(of("java/util/concurrent/FutureTask", 4), [cancelled]);
    assert_eq!(of("java/util/TimerTask", 1), [Reason::SameValues]);
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

/// An array of 5,000,000 bytes whose holder has this number in this field.
fn with_array(field: &str, number: u64) -> Dump {
    let mut dump = Dump::new(8);
    dump.class(APP, "shop/App", Dump::OBJECT, 0, &[], &[("IT", 0x3000)]);
    let fields = [("bytes", 2), (field, INT)];
    dump.class_of(HOLDER, "shop/Log", (Dump::OBJECT, 0), &fields, &[]);
    dump.root(APP);
    dump.instance_with(0x3000, HOLDER, &[(8, 0x4000), (4, number)]);
    dump.byte_array(0x4000, &vec![0; 5_000_000]);
    dump
}

#[test]
fn an_array_of_which_a_field_counts_a_part_may_grow() {
    let filled = with_array("count", 3_300_000);
    assert_eq!(calm(&filled), None);
    let reason = Reason::Filled(3_300_000, 5_000_000, "count".to_owned());
    assert_eq!(reasons(&filled), [reason]);
    for (field, number) in [("count", 5_000_000), ("count", 17), ("port", 3_300_000)] {
        assert_eq!(calm(&with_array(field, number)), Some(Calm::Array));
    }
}

#[test]
fn a_collection_is_full_at_a_number_that_a_person_may_have_chosen() {
    let calm = |number: u64| {
        let mut dump = with_number("shop/Task", "shop/Work", "rank", 0);
        let fields = [("users", 2), ("maxUsers", INT)];
        dump.class_of(0x2700, "shop/Cache", (Dump::OBJECT, 0), &fields, &[]);
        dump.instance_with(0x3000, 0x2700, &[(8, 0x3100), (4, number)]);
        first(&dump, |_, suspect| suspect.calm.clone())
    };
    let full = Calm::Full(5_000, Some("maxUsers".to_owned()));
    assert_eq!(calm(5_000), Some(full));
    assert_eq!(calm(5_003), None);
}

/// A weak map whose keys are gone, or are not.
fn weak(are_gone: bool) -> Dump {
    let mut dump = held("other");
    let fields = ["referent"];
    dump.class(
        0x2700,
        "java/lang/ref/Reference",
        Dump::OBJECT,
        0,
        &fields,
        &[],
    );
    let name = "java/util/WeakHashMap$Entry";
    dump.class(0x2800, name, 0x2700, 0, &["value"], &[]);
    dump.class(ELEMENT, "shop/Facts", Dump::OBJECT, 0, &["bytes"], &[]);
    dump.instance(0x3000, HOLDER, &[0x3100, 0]);
    dump.instance(0x3100, MAP, &[0x3200]);
    let at = |number: u64, step: u64| node(number) + step * 0x100;
    for number in 0..COUNT {
        let key = if are_gone { 0 } else { at(number, 3) };
        dump.instance(at(number, 0), 0x2800, &[at(number, 1), key]);
        dump.instance(at(number, 1), ELEMENT, &[at(number, 2)]);
        dump.byte_array(at(number, 2), &[0; 300]);
        dump.instance(at(number, 3), Dump::OBJECT, &[]);
        dump.root(at(number, 3));
    }
    let nodes: Vec<u64> = (0..COUNT).map(node).collect();
    dump.object_array(0x3200, &nodes);
    dump
}

#[test]
fn a_weak_map_whose_keys_are_gone_is_no_leak() {
    assert_eq!(calm(&weak(true)), Some(Calm::Stale));
    assert_eq!(calm(&weak(false)), Some(Calm::Small));
}

/// A map of texts of 200 characters, which `texts` begins.
fn texts(start: impl Fn(u64) -> String) -> Dump {
    let mut dump = held("other");
    dump.instance(0x3000, HOLDER, &[0x3100, 0]);
    many(&mut dump, |dump, number| {
        let at = node(number) + 0x100;
        text(dump, at, &format!("{}{}", start(number), "x".repeat(200)));
        (0, at)
    });
    dump
}

#[test]
fn a_small_table_of_texts_is_no_leak_unless_they_are_equal() {
    let dump = texts(|number| format!("city {number}"));
    assert_eq!(calm(&dump), Some(Calm::Small));
    let dump = texts(|_| "city".to_owned());
    assert_eq!((calm(&dump), reasons(&dump)), (None, vec![Reason::Equal]));
}

#[test]
fn small_objects_are_a_leak_if_they_differ_in_a_number_or_are_listeners() {
    let dump = with_keys(0, |number| format!("session {number}"));
    assert_eq!(calm(&dump), None);
    let key = |number: u64| char::from(b'a' + (number % 26) as u8).to_string();
    let key = |number: u64| key(number).repeat(1 + number as usize / 26);
    assert_eq!(calm(&with_keys(0, key)), Some(Calm::Small));
}

/// Elements whose field `subscription` has one object of this class, which a static field of that
/// class has, too.
fn with_shared(class: &str, constant: &str) -> Dump {
    let mut dump = held("other");
    dump.instance(0x3000, HOLDER, &[0x3100, 0]);
    let constants = [(constant, 0x4000)];
    dump.class(PART, class, Dump::OBJECT, 0, &[], &constants);
    let fields = ["subscription", "bytes"];
    dump.class(ELEMENT, "shop/Inner", Dump::OBJECT, 0, &fields, &[]);
    dump.instance(0x4000, PART, &[]);
    many(&mut dump, |dump, number| {
        let at = |step: u64| node(number) + step * 0x100;
        dump.instance(at(1), ELEMENT, &[0x4000, at(2)]);
        dump.byte_array(at(2), &[number as u8; 700]);
        (0, at(1))
    });
    dump
}

#[test]
fn an_object_that_all_share_tells_their_end_by_its_class_or_constant() {
    let is = |word| vec![Reason::State(word, true, None)];
    for (class, constant, expected) in [
        ("shop/Bus$CancelledSubscription", "IT", is("cancelled")),
        ("shop/Bus$Closed", "IT", is("closed")),
        ("shop/Mark", "DISPOSED", is("disposed")),
        ("shop/Mark", "IT", vec![]),
        ("shop/ClosedListener", "IT", vec![]),
    ] {
        assert_eq!(reasons(&with_shared(class, constant)), expected, "{class}");
    }
}

#[test]
fn buffers_of_which_little_is_used_are_told() {
    let of = |count: u64| {
        let mut dump = held("other");
        dump.instance(0x3000, HOLDER, &[0x3100, 0]);
        let fields = [("bytes", 2), ("count", INT)];
        dump.class_of(ELEMENT, "shop/Buffer", (Dump::OBJECT, 0), &fields, &[]);
        many(&mut dump, |dump, number| {
            let at = |step: u64| node(number) + step * 0x100;
            dump.instance_with(at(1), ELEMENT, &[(8, at(2)), (4, count)]);
            dump.byte_array(at(2), &[0; 2_000]);
            (0, at(1))
        });
        reasons(&dump)
    };
    assert_eq!(of(7), [Reason::Unused(7, 2_000, "count".to_owned())]);
    assert_eq!(of(1_500), []);
}

#[test]
fn values_that_hold_their_own_weak_keys_are_told() {
    let of = |holds: bool| {
        let mut dump = held("other");
        dump.instance(0x3000, HOLDER, &[0x3100, 0]);
        let above = (0x2700, "java/lang/ref/Reference");
        dump.class(above.0, above.1, Dump::OBJECT, 0, &["referent"], &[]);
        dump.class(PART, "shop/WeakKey", above.0, 0, &[], &[]);
        let fields = ["mock", "bytes"];
        dump.class(ELEMENT, "shop/Handler", Dump::OBJECT, 0, &fields, &[]);
        many(&mut dump, |dump, number| {
            let at = |step: u64| node(number) + step * 0x100;
            dump.instance(at(1), PART, &[at(2)]);
            dump.instance(at(2), Dump::OBJECT, &[]);
            let mock = if holds { at(2) } else { 0 };
            dump.instance(at(3), ELEMENT, &[mock, at(4)]);
            dump.byte_array(at(4), &[number as u8; 700]);
            (at(1), at(3))
        });
        reasons(&dump)
    };
    assert_eq!(of(true), [Reason::OwnWeakKey]);
    assert_eq!(of(false), []);
}

#[test]
fn keys_are_alike_if_they_differ_only_in_a_hash_or_in_what_they_do_not_say() {
    let mut dump = held("other");
    dump.instance(0x3000, HOLDER, &[0x3100, 0]);
    let fields = [("name", 2), ("owner", 2), ("hashCode", INT)];
    dump.class_of(PART, "shop/Key", (Dump::OBJECT, 0), &fields, &[]);
    dump.class(ELEMENT, "shop/Entity", Dump::OBJECT, 0, &["bytes"], &[]);
    text(&mut dump, 0x4000, "Page<Address>");
    many(&mut dump, |dump, number| {
        let at = |step: u64| node(number) + step * 0x100;
        dump.instance_with(at(1), PART, &[(8, 0x4000), (8, at(2)), (4, number)]);
        dump.byte_array(at(2), &[number as u8; 700]);
        dump.instance(at(3), ELEMENT, &[at(4)]);
        dump.byte_array(at(4), &[0; 300]);
        (at(1), at(3))
    });
    assert_eq!(reasons(&dump), [Reason::AlikeKeys]);
}

#[test]
fn two_fields_at_places_of_one_chain_hold_all_of_it() {
    let mut dump = Dump::new(8);
    let object = Dump::OBJECT;
    let ends = [("HEAD", node(0)), ("MIDDLE", node(COUNT / 2))];
    dump.class(APP, "shop/App", object, 0, &[], &ends);
    dump.class(
        NODE,
        "java/util/Links$Node",
        object,
        0,
        &["next", "prev", "item"],
        &[],
    );
    dump.class(ELEMENT, "shop/Order", object, 0, &[], &[]);
    dump.root(APP);
    for number in 0..COUNT {
        let next = if number + 1 < COUNT {
            node(number + 1)
        } else {
            0
        };
        let before = number.checked_sub(1).map_or(0, node);
        let item = node(number) + 0x100;
        dump.instance(node(number), NODE, &[next, before, item]);
        dump.instance(item, ELEMENT, &[]);
    }
    let elements = first(&dump, |_, suspect| {
        suspect.held.elements.map(|it| it.objects)
    });
    assert_eq!(elements, Some(COUNT));
}
