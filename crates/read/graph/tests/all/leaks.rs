//! Suspects, their paths and the objects that they hold, on heaps of known shape.

use graph::{Dominator, Heap, Input, LeftOut, Options, Path, References, Retained, Who};
use reader::RootKind;
use sample::Dump;

use crate::trial::{leaks_of, read};

const CACHE: u64 = 0x2000;
const ENTRY: u64 = 0x2100;
const REFERENCE: u64 = 0x2200;
const LOADER: u64 = 0x2300;

fn entries(dump: &mut Dump, first: u64, count: u64) -> Vec<u64> {
    let ids: Vec<u64> = (0..count).map(|number| first + number * 64).collect();
    ids.iter().for_each(|id| dump.instance(*id, ENTRY, &[0]));
    ids
}

fn start() -> Dump {
    let mut dump = Dump::new(8);
    dump.class(ENTRY, "app/Entry", Dump::OBJECT, 0, &["next"], &[]);
    dump.root(ENTRY);
    dump
}

/// The shortest path to an object, with at most `most` steps.
fn path(heap: &Heap<'_>, object: u32, most: usize) -> Path {
    heap.paths(&[object], most).unwrap().remove(0).unwrap()
}

fn objects(path: &Path) -> Vec<u32> {
    path.steps.iter().map(|step| step.object).collect()
}

/// How the objects of a path refer to each other.
fn links(heap: &Heap<'_>, path: &Path) -> Vec<String> {
    let links = path.steps.iter().filter_map(|step| step.link);
    links.map(|link| heap.link_text(link)).collect()
}

#[test]
fn a_static_field_that_keeps_all_is_the_first_suspect() {
    let mut dump = start();
    dump.class(
        CACHE,
        "app/Cache",
        Dump::OBJECT,
        0,
        &[],
        &[("NONE", 0), ("ALL", 0x3000)],
    );
    dump.root(CACHE);
    let ids = entries(&mut dump, 0x10_0000, 1000);
    dump.object_array(0x3000, &ids);
    read(&dump, |heap, retained| {
        let leaks = leaks_of(heap, retained, 10);
        let first = &leaks.suspects[0];
        assert_eq!(first.who, Who::Object(heap.object(0x3000).unwrap()));
        assert_eq!(first.accumulation, heap.object(0x3000));
        let path = first.path.as_ref().unwrap();
        assert_eq!(links(heap, path), [".ALL (static)"]);
        assert_eq!(
            path.static_field.map(|(class, _)| class),
            heap.object(CACHE)
        );
        assert_eq!((path.root, path.is_weak), (RootKind::Unknown, false));
        let most = first.holds.iter().max_by_key(|group| group.bytes).unwrap();
        assert_eq!(
            (heap.class_name(most.class).as_str(), most.objects),
            ("app.Entry", 1000)
        );
        // 16 bytes each, and an array of 1,000 references below 32 GiB.
        assert_eq!(
            retained.bytes(heap.object(0x3000).unwrap()),
            1000 * 16 + 16 + 4000
        );
    });
}

#[test]
fn what_a_thread_holds_is_held_by_the_thread() {
    let mut dump = start();
    let ids = entries(&mut dump, 0x10_0000, 100);
    dump.object_array(0x3000, &ids);
    dump.local(0x3000);
    read(&dump, |heap, retained| {
        let array = heap.object(0x3000).unwrap();
        let thread = heap.object(Dump::THREAD).unwrap();
        assert_eq!(retained.dominator(array), Dominator::Object(thread));
        let path = path(heap, array, 36);
        assert_eq!(objects(&path), [thread, array]);
        assert_eq!(links(heap, &path), [" (local variable)"]);
    });
}

#[test]
fn many_objects_that_nothing_dominates_are_suspected_together() {
    let mut dump = start();
    let ids = entries(&mut dump, 0x10_0000, 500);
    // Two arrays hold each object, so no single one dominates it.
    dump.object_array(0x3000, &ids);
    dump.object_array(0x4000, &ids);
    dump.root(0x3000);
    dump.root(0x4000);
    read(&dump, |heap, retained| {
        let leaks = leaks_of(heap, retained, 30);
        let class = heap.class(heap.object(ids[0]).unwrap());
        assert_eq!(
            leaks.suspects[0].who,
            Who::Class {
                class,
                objects: 500
            }
        );
        assert!(leaks.suspects[0].accumulation.is_some());
    });
}

/// Each object has a path of a different length; the longer paths contain the shorter ones.
#[test]
fn what_two_long_lists_share_is_suspected_together() {
    const COUNT: u64 = 20_000;
    let mut dump = Dump::new(8);
    dump.class(CACHE, "app/Node", Dump::OBJECT, 0, &["next", "item"], &[]);
    dump.class(
        ENTRY,
        "app/Item",
        Dump::OBJECT,
        0,
        &["a", "b", "c", "d", "e", "f", "g", "h"],
        &[],
    );
    let item = |number: u64| 0x1000_0000 + number * 64;
    for list in [0x2000_0000, 0x3000_0000] {
        for number in 0..COUNT {
            let next = if number + 1 < COUNT {
                list + (number + 1) * 64
            } else {
                0
            };
            dump.instance(list + number * 64, CACHE, &[next, item(number)]);
        }
        dump.root(list);
    }
    (0..COUNT).for_each(|number| dump.instance(item(number), ENTRY, &[0; 8]));
    read(&dump, |heap, retained| {
        let leaks = leaks_of(heap, retained, 10);
        let class = heap.class(heap.object(item(0)).unwrap());
        let who = Who::Class {
            class,
            objects: COUNT,
        };
        let suspect = leaks.suspects.iter().find(|suspect| suspect.who == who);
        let suspect = suspect.unwrap();
        // More than eight tenths of the paths lead through a fifth of a list.
        let point = heap.object(0x2000_0000 + COUNT / 5 * 64);
        assert_eq!(suspect.accumulation, point);
        let path = suspect.path.as_ref().unwrap();
        let middle = path.left_out.unwrap();
        assert_eq!(middle.objects + path.steps.len() as u64, COUNT / 5 + 1);
    });
}

#[test]
fn a_weak_reference_holds_only_by_the_rule_of_all() {
    let mut dump = start();
    dump.class(
        REFERENCE,
        "java/lang/ref/Reference",
        Dump::OBJECT,
        0,
        &["referent"],
        &[],
    );
    dump.root(REFERENCE);
    entries(&mut dump, 0x10_0000, 1);
    dump.instance(0x3000, REFERENCE, &[0x10_0000]);
    dump.root(0x3000);
    let input = Input::new(dump.file(true), &|_| {}).unwrap();
    let heap = Heap::read(input, Options::default()).unwrap();
    let object = heap.object(0x10_0000).unwrap();
    let dominator = |rule| Retained::of(&heap, rule).unwrap().dominator(object);
    assert_eq!(
        dominator(References::All),
        Dominator::Object(heap.object(0x3000).unwrap())
    );
    assert_eq!(dominator(References::Strong), Dominator::Unreachable);
    let path = path(&heap, object, 36);
    assert!(path.is_weak);
    assert_eq!(links(&heap, &path), [".referent"]);
}

#[test]
fn each_element_of_an_array_has_its_own_place() {
    let mut dump = start();
    let ids = entries(&mut dump, 0x10_0000, 5);
    dump.object_array(0x3000, &ids);
    dump.root(0x3000);
    read(&dump, |heap, _| {
        let wanted = [4, 1, 3].map(|place: usize| heap.object(ids[place]).unwrap());
        let paths = heap.paths(&wanted, 36).unwrap().into_iter();
        let links: Vec<_> = paths.map(|path| links(heap, &path.unwrap())).collect();
        assert_eq!(links, [["[4]"], ["[1]"], ["[3]"]]);
    });
}

#[test]
fn objects_hold_their_class_and_it_its_loader() {
    let mut dump = start();
    dump.class(LOADER, "app/Loader", Dump::OBJECT, 0, &[], &[]);
    dump.root(LOADER);
    dump.instance(0x3000, LOADER, &[]);
    dump.class(CACHE, "app/Plugin", Dump::OBJECT, 0x3000, &[], &[]);
    dump.instance(0x3100, CACHE, &[]);
    dump.root(0x3100);
    read(&dump, |heap, retained| {
        let [class, loader, plugin] = [CACHE, 0x3000, 0x3100].map(|id| heap.object(id).unwrap());
        assert_eq!(retained.dominator(class), Dominator::Object(plugin));
        assert_eq!(retained.dominator(loader), Dominator::Object(class));
        let path = path(heap, loader, 36);
        assert_eq!(links(heap, &path), [" (its class)", " (of the class)"]);
    });
}

#[test]
fn a_dominator_comes_first_though_it_has_no_size() {
    const COUNT: u64 = 20_000;
    let mut dump = start();
    // Classes without static fields, each the only holder of its superclass. The last of them comes
    // first in the file.
    let id = |place: u64| 0x10_0000 + (COUNT - place) * 32;
    for place in (0..COUNT).rev() {
        let above = if place + 1 < COUNT { id(place + 1) } else { 0 };
        dump.class(id(place), "app/Empty", above, Dump::THREAD, &[], &[]);
    }
    dump.local(id(0));
    read(&dump, |heap, retained| {
        let chain: Vec<u32> = (0..COUNT)
            .map(|place| heap.object(id(place)).unwrap())
            .collect();
        assert_eq!(retained.bytes(chain[0]), 0);
        let numbers = chain[chain.len() - 1]..=chain[0];
        let largest = retained.largest(usize::MAX).into_iter();
        let found = largest.filter(|object| numbers.contains(object));
        assert!(found.eq(chain.iter().copied()), "the chain is not in order");
    });
}

#[test]
fn a_long_list_needs_no_recursion() {
    let mut dump = start();
    const COUNT: u64 = 300_000;
    for number in 0..COUNT {
        let next = if number + 1 < COUNT {
            0x10_0000 + (number + 1) * 32
        } else {
            0
        };
        dump.instance(0x10_0000 + number * 32, ENTRY, &[next]);
    }
    dump.root(0x10_0000);
    read(&dump, |heap, retained| {
        let first = heap.object(0x10_0000).unwrap();
        assert_eq!(retained.bytes(first), COUNT * 16);
        assert_eq!(retained.largest(2), [first, first + 1]);
        let last = heap.object(0x10_0000 + (COUNT - 1) * 32).unwrap();
        let whole = path(heap, last, usize::MAX);
        assert_eq!((whole.steps.len() as u64, whole.left_out), (COUNT, None));
        for most in [1, 2, 3, 36] {
            let path = path(heap, last, most);
            let (head, steps) = ((most / 3).max(1), most.max(2));
            let left_out = LeftOut {
                behind: head,
                objects: COUNT - steps as u64,
                class: heap.class(first),
                of_class: COUNT - steps as u64,
            };
            assert_eq!(path.left_out, Some(left_out), "{most}");
            assert_eq!(path.steps.len(), steps);
            let tail = whole.steps.len() - steps + head;
            let ends = [&whole.steps[..head], &whole.steps[tail..]].concat();
            assert_eq!(path.steps, ends, "{most}");
        }
        // A gap of one object would take as much space as the object.
        for (length, left_out) in [(36, 0), (37, 0), (38, 2)] {
            let path = path(heap, first + length - 1, 36);
            let of_all = path.left_out.map_or(0, |middle| middle.objects);
            assert_eq!(of_all, left_out, "{length}");
            assert_eq!(path.steps.len() as u64 + of_all, u64::from(length));
        }
    });
}

/// The holder of a list is reported although its step of the path is left out.
#[test]
fn a_static_field_is_found_in_the_middle_of_a_long_path() {
    let mut dump = start();
    let entry = |number: u64| 0x10_0000 + number * 32;
    for number in 0..200 {
        let next = if number == 100 {
            CACHE
        } else {
            entry(number + 1)
        };
        dump.instance(entry(number), ENTRY, &[next]);
    }
    dump.class(
        CACHE,
        "app/Cache",
        Dump::OBJECT,
        0,
        &[],
        &[("NONE", 0), ("ALL", entry(101))],
    );
    dump.instance(entry(200), ENTRY, &[0]);
    dump.root(entry(0));
    read(&dump, |heap, _| {
        let path = path(heap, heap.object(entry(200)).unwrap(), 36);
        let middle = path.left_out.unwrap();
        assert_eq!((middle.objects, middle.of_class), (202 - 36, 202 - 37));
        let (class, name) = path.static_field.unwrap();
        assert_eq!(heap.id(class), CACHE);
        assert_eq!(heap.directory().strings.text(name).unwrap(), "ALL");
    });
}

#[test]
fn sampled_objects_stand_for_others_of_their_class() {
    let mut dump = start();
    let list = |first: u64, number: u64| first + number * 64;
    let mut ids = Vec::new();
    for number in 0..100 {
        // Each entry holds another entry, which counts only towards the outer one.
        let (outer, inner) = (list(0x10_0000, number), list(0x20_0000, number));
        let trace = if number % 4 == 0 { 5 } else { 0 };
        dump.instance_of(outer, ENTRY, &[inner], trace);
        dump.instance_of(inner, ENTRY, &[0], trace);
        ids.push(outer);
    }
    dump.object_array(0x3000, &ids);
    dump.root(0x3000);
    read(&dump, |heap, retained| {
        let sites = retained.sites(heap);
        assert_eq!(sites.len(), 1);
        let site = sites[0];
        assert_eq!(
            (site.trace, heap.class_name(site.class).as_str()),
            (5, "app.Entry")
        );
        assert_eq!((site.objects, site.retained_bytes), (100.0, 3200.0));
        // Twenty-five objects of 32 bytes, each counted four times.
        assert!((site.error_bytes - (25.0_f64 * 4.0 * 3.0 * 32.0 * 32.0).sqrt()).abs() < 1e-6);
    });
}
