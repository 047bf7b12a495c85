//! Heaps of many shapes, in which something is planted: the answer must name it, with its number,
//! its bytes and its holder.

mod case;
mod container;
mod yard;

use graph::{Heap, Suspect};

use crate::trial::{leaks_of, read};
use case::{Case, Holder, Kind, Nesting, Planted};
use container::Container;
use yard::{Judge, Yard};

/// What is said of a heap is not what was planted.
fn fault(case: &Case) -> Option<String> {
    let mut yard = Yard::new();
    let planted = case.plant(&mut yard);
    read(&yard.dump, |heap, retained| {
        let leaks = leaks_of(heap, retained, 10);
        let Some(suspect) = leaks.suspects.first() else {
            return Some("nothing".to_owned());
        };
        let judge = yard.judge(heap);
        let faults = planted.iter().map(|it| differs(heap, &judge, suspect, it));
        let faults: Option<Vec<String>> = faults.collect();
        faults.map(|it| it[0].clone())
    })
}

/// How an answer differs from what was planted.
fn differs(heap: &Heap<'_>, judge: &Judge, suspect: &Suspect, planted: &Planted) -> Option<String> {
    let held = &suspect.held;
    let Some(elements) = held.elements else {
        return Some(format!("no elements: {:?}", suspect.who));
    };
    let said: Vec<_> = [Some(elements), held.beside]
        .into_iter()
        .flatten()
        .collect();
    let is_named = said.iter().any(|it| {
        let name = heap.class_name(it.class);
        let all = planted.classes.iter();
        let mut all = all.filter(|(class, _)| java_name(class) == name);
        all.any(|(_, ids)| {
            let kept = judge.kept_by(ids);
            it.objects == ids.len() as u64 && it.bytes.abs_diff(kept) * 100 <= kept * 3
        })
    });
    let text = |it: &graph::Elements| {
        let name = heap.class_name(it.class);
        format!("{} {name} retain {}", it.objects, it.bytes)
    };
    if !is_named {
        let of = |(class, ids): &(String, Vec<u64>)| {
            let (number, bytes) = (ids.len(), judge.kept_by(ids));
            format!("{number} {class} retain {bytes}")
        };
        let wanted: Vec<String> = planted.classes.iter().map(of).collect();
        let said: Vec<String> = said.iter().map(text).collect();
        return Some(format!("{said:?} is not {wanted:?}"));
    }
    if let Some((from, to)) = planted.reference {
        let bytes = judge.freed(|a, b| (a, b) == (from, to));
        if suspect.bytes < bytes || suspect.bytes > bytes + bytes / 100 {
            return Some(format!("{} bytes, not {bytes}", suspect.bytes));
        }
    }
    holder_differs(heap, suspect, planted)
}

fn holder_differs(heap: &Heap<'_>, suspect: &Suspect, planted: &Planted) -> Option<String> {
    let field = |id: u64| heap.directory().strings.text(id).unwrap().into_owned();
    let path = suspect.main_path()?;
    let said = path.static_field.map(|(class, name)| {
        let class = heap.class_name(heap.class_of_object(class).unwrap());
        (class, field(name))
    });
    let wanted = |it: (&str, &str)| (java_name(it.0), it.1.to_owned());
    if said != planted.statics.map(wanted) {
        return Some(format!("held by {said:?}"));
    }
    let owner = suspect.way.owner;
    let owner = owner.map(|(class, name)| (heap.class_name(class), field(name)));
    let is_library =
        |owner: &(String, String)| owner.0.starts_with("lib.") || owner.0 == "shop.Node";
    let is_owner = owner == planted.owner.map(wanted) || owner.as_ref().is_some_and(is_library);
    if planted.owner.is_some() && !is_owner {
        return Some(format!("through {owner:?}"));
    }
    None
}

fn java_name(class: &str) -> String {
    match class.strip_prefix("[B") {
        Some(_) => "byte[]".to_owned(),
        None => class.replace('/', "."),
    }
}

/// Fails with all shapes of which the wrong is said.
fn must_be_named(cases: impl Iterator<Item = Case>) {
    let mut faults = Vec::new();
    for case in cases.filter(Case::is_possible) {
        if let Some(fault) = fault(&case) {
            faults.push(format!("{case:?}\n    {fault}"));
        }
    }
    assert!(
        faults.is_empty(),
        "{}:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn each_collection_is_seen_through() {
    let containers = container::ALL.into_iter();
    must_be_named(containers.flat_map(|container| {
        let of = Case {
            container,
            ..Case::default()
        };
        let inner = Nesting::Groups(container, 40);
        let outer = Case {
            nesting: Nesting::Groups(Container::ArrayList, 40),
            ..of
        };
        let owned = Nesting::Owners(container, 40);
        [inner, owned]
            .map(|nesting| Case {
                nesting,
                ..Case::default()
            })
            .into_iter()
            .chain([of, outer])
    }));
}

#[test]
fn each_kind_of_elements_is_named() {
    must_be_named(case::KINDS.into_iter().flat_map(|kind| {
        case::PARTS.into_iter().map(move |parts| Case {
            container: Container::HashMap,
            kind,
            parts,
            count: if kind == Kind::Boxes { 40_000 } else { 1_500 },
            ..Case::default()
        })
    }));
}

#[test]
fn each_holder_is_named() {
    must_be_named(case::HOLDERS.into_iter().flat_map(|holder| {
        [Container::HashMap, Container::Array, Container::Chain].map(|container| Case {
            container,
            holder,
            bytes: if holder == Holder::Halves {
                4_000_000
            } else {
                1_300_000
            },
            ..Case::default()
        })
    }));
}

#[test]
fn each_number_is_exact() {
    must_be_named(case::COUNTS.into_iter().flat_map(|count| {
        let flat = Case {
            count,
            ..Case::default()
        };
        let nested = case::GROUPS.into_iter().flat_map(move |groups| {
            [Nesting::Groups, Nesting::Owners].map(|nesting| Case {
                nesting: nesting(Container::ArrayList, groups),
                ..flat
            })
        });
        nested.chain([flat])
    }));
}

#[test]
fn whatever_comes_together_is_named() {
    must_be_named((0..200).map(Case::random));
}
