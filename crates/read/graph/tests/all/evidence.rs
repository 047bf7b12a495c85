//! What is evidence of a leak and what may be data, and what is named as the element, on known
//! heaps.

use graph::{Held, Reason};
use sample::Dump;

use crate::reasons::{
    first, held, many, map, node, reasons, text, with_keys, COUNT, ELEMENT, HOLDER, INT, MAP, PART,
};

const AROUND: u64 = 0x2700;
const ENTRY: u64 = 0x2800;

/// Whether the first suspect is left open.
fn is_open(dump: &Dump) -> bool {
    first(dump, |_, suspect| suspect.is_open)
}

/// Number and class of the elements, and of what each is in.
fn named(dump: &Dump) -> (String, Option<String>) {
    first(dump, |heap, suspect| {
        let words = |it: &graph::Elements| format!("{} {}", it.objects, heap.class_name(it.class));
        let Held {
            elements, holders, ..
        } = &suspect.held;
        (
            elements.as_ref().map_or_else(String::new, words),
            holders.last().map(words),
        )
    })
}

/// Calls in this state, of a class around which these constants are.
fn with_state(state: u64, constants: &[(&str, u32)]) -> Dump {
    let mut dump = held("other");
    dump.instance(0x3000, HOLDER, &[0x3100, 0]);
    dump.constants(AROUND, "shop/Queue", constants);
    let fields = [("state", INT)];
    dump.class_of(PART, "shop/Queue$Base", (Dump::OBJECT, 0), &fields, &[]);
    dump.class(ELEMENT, "shop/Call", PART, 0, &["bytes"], &[]);
    many(&mut dump, |dump, number| {
        let at = |step: u64| node(number) + step * 0x100;
        dump.instance_with(at(1), ELEMENT, &[(8, at(2)), (4, state)]);
        dump.byte_array(at(2), &[number as u8; 1_000]);
        (0, at(1))
    });
    dump
}

#[test]
fn a_state_has_the_name_of_the_constant_beside_it() {
    let both = [("ST_WAITING", 0), ("ST_CANCELLED", 1)];
    let cancelled = || vec![Reason::State("cancelled", true, None)];
    for (state, constants, expected) in [
        (1, &both[..], cancelled()),
        (0, &both, vec![]),
        (1, &[("CANCELLED", 1)], cancelled()),
        // Not one of several, and no constant.
        (1, &[("NOT_CANCELLED", 1)], vec![]),
        (1, &[("cancelled", 1)], vec![]),
    ] {
        let dump = with_state(state, constants);
        assert_eq!(reasons(&dump), expected, "{state} {constants:?}");
        assert_eq!(is_open(&dump), expected.is_empty());
    }
}

#[test]
fn texts_with_numbers_may_be_data() {
    assert!(is_open(&with_keys(0, |number| format!("session {number}"))));
    assert!(!is_open(&with_keys(0, |_| "session".to_owned())));
}

#[test]
fn what_listeners_carry_is_named_and_not_their_parts() {
    for (class, expected) in [
        (
            "shop/CartListener",
            ("5000 shop.Cart", Some("5000 shop.CartListener")),
        ),
        ("shop/CartView", ("5000 shop.CartView", None)),
    ] {
        let mut dump = held("other");
        dump.instance(0x3000, HOLDER, &[0x3100, 0]);
        dump.class(PART, class, Dump::OBJECT, 0, &["cart"], &[]);
        dump.class(ELEMENT, "shop/Cart", Dump::OBJECT, 0, &["bytes"], &[]);
        many(&mut dump, |dump, number| {
            let at = |step: u64| node(number) + step * 0x100;
            dump.instance(at(1), PART, &[at(2)]);
            dump.instance(at(2), ELEMENT, &[at(3)]);
            dump.byte_array(at(3), &[0; 300]);
            (0, at(1))
        });
        let (elements, holder) = named(&dump);
        assert_eq!((&*elements, holder.as_deref()), expected);
    }
}

#[test]
fn maps_of_little_in_a_map_are_named() {
    let of = |class: &str| {
        let mut dump = held("other");
        dump.instance(0x3000, HOLDER, &[0x3100, 0]);
        dump.class(PART, class, Dump::OBJECT, 0, &[], &[]);
        many(&mut dump, |dump, number| {
            let at = |step: u64| node(number) + step * 0x100;
            dump.instance(at(1), MAP, &[at(2)]);
            dump.object_array(at(2), &[[at(3)].as_slice(), &[0; 60]].concat());
            dump.instance(at(3), PART, &[]);
            (0, at(1))
        });
        named(&dump)
    };
    let maps = "5000 java.util.HashMap".to_owned();
    assert_eq!(of("java/lang/Long"), (maps.clone(), None));
    assert_eq!(of("shop/Mark"), ("5000 shop.Mark".to_owned(), Some(maps)));
}

/// A weak map whose values lead to their keys over so many objects, or to none.
fn weak(between: Option<u64>) -> Dump {
    let mut dump = held("other");
    let reference = "java/lang/ref/Reference";
    dump.class(AROUND, reference, Dump::OBJECT, 0, &["referent"], &[]);
    let entry = "java/util/WeakHashMap$Entry";
    dump.class(ENTRY, entry, AROUND, 0, &["value"], &[]);
    dump.class(
        ELEMENT,
        "shop/Pair",
        Dump::OBJECT,
        0,
        &["first", "bytes"],
        &[],
    );
    dump.class(PART, "shop/Step", Dump::OBJECT, 0, &["next"], &[]);
    dump.instance(0x3000, HOLDER, &[0x3100, 0]);
    dump.instance(0x3100, MAP, &[0x3200]);
    for number in 0..COUNT {
        let at = |step: u64| node(number) + step * 0x100;
        dump.instance(at(0), ENTRY, &[at(2), at(1)]);
        text(&mut dump, at(1), &format!("{number}"));
        dump.instance(
            at(2),
            ELEMENT,
            &[if between.is_some() { at(4) } else { 0 }, at(3)],
        );
        dump.byte_array(at(3), &[0; 1_000]);
        let steps = between.unwrap_or_default();
        for step in 0..steps {
            let next = if step + 1 == steps {
                at(1)
            } else {
                at(5 + step)
            };
            dump.instance(at(4 + step), PART, &[next]);
        }
    }
    let nodes: Vec<u64> = (0..COUNT).map(node).collect();
    dump.object_array(0x3200, &nodes);
    dump
}

#[test]
fn a_value_may_lead_to_its_key_over_several_objects() {
    for (between, expected) in [(Some(1), true), (Some(5), true), (None, false)] {
        let dump = weak(between);
        let keeps = first(&dump, |_, suspect| suspect.keeps_its_key);
        assert_eq!(keeps, expected, "{between:?}");
        assert!(!(keeps && is_open(&dump)));
    }
}

#[test]
fn of_two_maps_of_one_object_the_one_on_the_path_is_named() {
    let mut dump = held("byName");
    dump.instance(0x3000, HOLDER, &[0x3100, 0x4000]);
    dump.class(ELEMENT, "shop/Cart", Dump::OBJECT, 0, &["bytes"], &[]);
    many(&mut dump, |dump, number| {
        let at = |step: u64| node(number) + step * 0x100;
        dump.instance(at(1), ELEMENT, &[at(2)]);
        dump.byte_array(at(2), &[0; 300]);
        (0, at(1))
    });
    let others: Vec<(u64, u64, u64)> = (0..COUNT)
        .map(|number| (node(number) + 0x800, 0, node(number) + 0x100))
        .collect();
    map(&mut dump, 0x4000, &others);
    let owner = first(&dump, |heap, suspect| {
        suspect.way.owner.map(|(class, _)| heap.class_name(class))
    });
    assert_eq!(owner.as_deref(), Some("shop.Users"));
}
