//! Classes that a program makes while it runs.

use sample::Dump;

use crate::trial::{leaks_of, read};

/// The start of the names of classes that are a suspect, and how many they are.
fn found(names: impl Iterator<Item = String>) -> Option<(String, u64)> {
    let mut dump = Dump::new(8);
    dump.class(0x2000, "java/lang/Class", Dump::OBJECT, 0, &["a"], &[]);
    for (name, id) in names.zip((0x10_0000..).step_by(0x100)) {
        dump.class(id, &name, Dump::OBJECT, 0, &[], &[("code", id + 0x80)]);
        dump.byte_array(id + 0x80, &[0; 64]);
        dump.root(id);
    }
    read(&dump, |heap, retained| {
        let leaks = leaks_of(heap, retained, 10);
        let mut all = leaks.suspects.iter();
        let first = all.find(|suspect| suspect.pattern.is_some())?;
        let classes = match first.who {
            graph::Who::Class { objects, .. } => objects,
            graph::Who::Object(_) => 0,
        };
        Some((first.pattern.clone().unwrap(), classes))
    })
}

#[test]
fn many_classes_of_one_pattern_are_a_suspect() {
    let others = (0..50).map(|number| format!("lib/Page{}", "s".repeat(number)));
    let proxies = (0..600).map(|number| format!("lib/Cart$$Proxy$$b0{number:x}_{number}"));
    let expected = ("lib.Cart$$Proxy$$b".to_owned(), 600);
    assert_eq!(found(others.chain(proxies)), Some(expected));
}

#[test]
fn few_classes_and_those_of_the_jdk_are_none() {
    let few = (0..90).map(|number| format!("lib/Script{number}"));
    assert_eq!(found(few), None);
    let of_jdk = (0..600).map(|number| format!("java/lang/invoke/Form{number}"));
    assert_eq!(found(of_jdk), None);
}
