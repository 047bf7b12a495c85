//! What a suspect holds as the program knows it, and who holds it for long.

use graph::{Heap, Leaks, Reason, Suspect};
use sample::Dump;

use crate::trial::{leaks_of, read};

const APP: u64 = 0x2000;
const QUEUE: u64 = 0x2100;
const NODE: u64 = 0x2200;
const ORDER: u64 = 0x2300;
const COUNT: u64 = 5_000;

fn find<T>(dump: Dump, ask: impl FnOnce(&Heap<'_>, &Leaks) -> T) -> T {
    read(&dump, |heap, retained| {
        ask(heap, &leaks_of(heap, retained, 10))
    })
}

/// A dump with a class whose static field `IT` refers to an object.
fn with_static(target: u64) -> Dump {
    let mut dump = Dump::new(8);
    dump.class(APP, "shop/App", Dump::OBJECT, 0, &[], &[("IT", target)]);
    dump.root(APP);
    dump
}

/// The same, with a class of loaders.
fn with_loaders(target: u64) -> Dump {
    let mut dump = with_static(target);
    let name = "java/lang/ClassLoader";
    dump.class(QUEUE, name, Dump::OBJECT, 0, &["classes"], &[]);
    dump.class(NODE, "shop/WebLoader", QUEUE, 0, &[], &[]);
    dump
}

fn ids(first: u64, count: u64) -> Vec<u64> {
    (0..count).map(|number| first + number * 0x100).collect()
}

/// The elements as class and number.
fn elements(heap: &Heap<'_>, suspect: &Suspect) -> (String, u64) {
    let elements = suspect.held.elements.unwrap();
    (heap.class_name(elements.class), elements.objects)
}

fn field(heap: &Heap<'_>, id: u64) -> String {
    heap.directory().strings.text(id).unwrap().into_owned()
}

/// A chain of nodes, each with `fields` that `values` gives beside the next node.
fn chain(dump: &mut Dump, class: u64, first: u64, values: impl Fn(usize) -> Vec<u64>) {
    let nodes = ids(first, COUNT);
    for (place, id) in nodes.iter().enumerate() {
        let next = nodes.get(place + 1).copied().unwrap_or(0);
        let all: Vec<u64> = [next].into_iter().chain(values(place)).collect();
        dump.instance(*id, class, &all);
    }
}

#[test]
fn a_collection_of_an_object_of_the_jdk_is_not_the_program_s() {
    const LIST: u64 = 0x2400;
    const LINK: u64 = 0x2500;
    let mut dump = with_static(0x3000);
    for (class, name, field) in [
        (NODE, "sun/nio/ch/Selector", "keys"),
        (LIST, "java/util/LinkedList", "first"),
        (LINK, "java/util/LinkedList$Node", "item"),
        (QUEUE, "shop/Bus", "listeners"),
    ] {
        dump.class(class, name, Dump::OBJECT, 0, &[field], &[]);
    }
    dump.class(ORDER, "shop/Order", Dump::OBJECT, 0, &["text"], &[]);
    dump.instance(0x3000, NODE, &[0x3100]);
    dump.instance(0x3100, LIST, &[0x3200]);
    dump.instance(0x3200, LINK, &[0x3300]);
    dump.instance(0x3300, QUEUE, &[0x3400]);
    dump.instance(0x3400, LIST, &[0x3500]);
    let orders = ids(0x10_0000, COUNT);
    dump.object_array(0x3500, &orders);
    for order in orders {
        dump.instance(order, ORDER, &[0]);
    }
    find(dump, |heap, leaks| {
        let (owner, name) = leaks.suspects[0].way.owner.unwrap();
        let owner = format!("{}.{}", heap.class_name(owner), field(heap, name));
        assert_eq!(owner, "shop.Bus.listeners");
    });
}

#[test]
fn two_classes_that_alternate_are_a_chain() {
    let mut dump = with_static(0x10_0000);
    dump.class(NODE, "shop/Stage", Dump::OBJECT, 0, &["next"], &[]);
    dump.class(ORDER, "shop/Handler", Dump::OBJECT, 0, &["next"], &[]);
    let nodes = ids(0x10_0000, COUNT);
    for (place, id) in nodes.iter().enumerate() {
        let next = nodes.get(place + 1).copied().unwrap_or(0);
        let class = if place % 2 == 0 { NODE } else { ORDER };
        dump.instance(*id, class, &[next]);
    }
    find(dump, |heap, leaks| {
        let (class, objects) = elements(heap, &leaks.suspects[0]);
        assert!(["shop.Stage", "shop.Handler"].contains(&&*class), "{class}");
        assert_eq!(objects, COUNT / 2);
    });
}

/// Adds sessions that refer to nothing.
fn sessions(dump: &mut Dump) -> Vec<u64> {
    let fields = ["a", "b", "c", "d"];
    dump.class(ORDER, "shop/Session", Dump::OBJECT, 0, &fields, &[]);
    let sessions = ids(0x10_0000, COUNT);
    for id in &sessions {
        dump.instance(*id, ORDER, &[0; 4]);
    }
    sessions
}

/// The class of each instance holds its loader, but the static field holds all instances.
#[test]
fn loaders_that_instances_keep_have_the_holder_of_the_instances() {
    let mut dump = with_static(0x3000);
    let loader_class = "java/lang/ClassLoader";
    dump.class(QUEUE, loader_class, Dump::OBJECT, 0, &["classes"], &[]);
    dump.class(NODE, "shop/WebLoader", QUEUE, 0, &[], &[]);
    dump.class(ORDER, "shop/Order", Dump::OBJECT, 0, &["a", "b"], &[]);
    let mut held = Vec::new();
    for number in 0..4 {
        let loader = 0x50_0000 + number * 0x1000;
        let (plugin, instance, list) = (loader + 0x100, loader + 0x200, loader + 0x300);
        let statics = [("ORDERS", list)];
        dump.class(plugin, "shop/Plugin", Dump::OBJECT, loader, &[], &statics);
        dump.instance(loader, NODE, &[0]);
        dump.instance(instance, plugin, &[]);
        let orders = ids(0x1000_0000 * (number + 1), COUNT);
        for order in &orders {
            dump.instance(*order, ORDER, &[0; 2]);
        }
        dump.object_array(list, &orders);
        held.push(instance);
    }
    dump.object_array(0x3000, &held);
    find(dump, |_, leaks| {
        let mut all = leaks.suspects.iter();
        let loaders = all.find(|suspect| suspect.copied_classes == 1).unwrap();
        assert_eq!(loaders.alike.percent, 100);
    });
}

/// A loader with classes of these names, ids from the loader's on. Gives the class objects.
fn loader(dump: &mut Dump, id: u64, names: &[String]) -> Vec<u64> {
    let classes = ids(id + 0x100, names.len() as u64);
    for (class, name) in classes.iter().zip(names) {
        dump.class(*class, name, Dump::OBJECT, id, &[], &[]);
    }
    dump.instance(id, NODE, &[id + 0x80]);
    dump.object_array(id + 0x80, &classes);
    classes
}

/// Two loaders with classes of these names, of which roots hold the first `held`.
fn two_loaders(names: [&[String]; 2], held: usize) -> Dump {
    let all = [0x50_0000, 0x60_0000];
    let mut dump = with_loaders(0x3000);
    for (id, names) in all.iter().zip(names) {
        loader(&mut dump, *id, names);
    }
    dump.object_array(0x3000, &all[..held]);
    dump
}

fn copied_classes(dump: Dump) -> u64 {
    find(dump, |_, leaks| {
        let all = leaks.suspects.iter().map(|suspect| suspect.copied_classes);
        all.max().unwrap_or(0)
    })
}

/// Threads of a class that each loader defines hold the loaders, which have a part that is closed.
#[test]
fn closed_loaders_are_held_by_threads_of_one_name() {
    let mut dump = with_static(0);
    let loader_class = "java/lang/ClassLoader";
    dump.class(QUEUE, loader_class, Dump::OBJECT, 0, &["classes"], &[]);
    dump.class(NODE, "shop/WebLoader", QUEUE, 0, &["path"], &[]);
    let closed = [("closed", 4)];
    dump.class_of(ORDER, "shop/Path", (Dump::OBJECT, 0), &closed, &[]);
    for number in 0..10 {
        let loader = 0x50_0000 + number * 0x1000;
        let at = |step: u64| loader + step * 0x100;
        let statics = [("BYTES", at(3))];
        let thread = Dump::THREAD_CLASS;
        dump.class(at(1), "shop/Reaper", thread, loader, &[], &statics);
        dump.instance(at(2), at(1), &[]);
        dump.add(dump.to().root(0x08, at(2)).u4(number as u32 + 2).u4(1));
        dump.byte_array(at(3), &[0; 100_000]);
        dump.instance(loader, NODE, &[at(4), at(5)]);
        dump.instance_with(at(4), ORDER, &[(1, 1)]);
        dump.object_array(at(5), &[at(1)]);
    }
    find(dump, |_, leaks| {
        let loaders = &leaks.suspects[0];
        assert_eq!((loaders.copied_classes, loaders.alike.percent), (1, 100));
        assert_eq!(loaders.alike.roots, 10);
        let closed = Reason::State("closed", true, Some("path".to_owned()));
        assert_eq!(loaders.reasons, [closed]);
    });
}

#[test]
fn loaders_are_copies_only_if_they_are_alive_and_define_mostly_the_same() {
    let names = |count: usize| -> Vec<String> {
        (0..count).map(|number| format!("shop/C{number}")).collect()
    };
    let (many, other) = (names(40), vec!["shop/C0".to_owned(), "plugin/P".to_owned()]);
    assert_eq!(copied_classes(two_loaders([&many, &many], 2)), 40);
    assert_eq!(copied_classes(two_loaders([&many, &many], 1)), 0, "garbage");
    assert_eq!(copied_classes(two_loaders([&many, &other], 2)), 0, "few");
    assert_eq!(copied_classes(two_loaders([&many, &many[..12]], 2)), 12);
}

/// Four fields hold half of the sessions each, every session by two of them.
#[test]
fn a_holder_of_a_part_is_given_with_its_share() {
    let mut dump = Dump::new(8);
    let sessions = sessions(&mut dump);
    let half = sessions.len() / 2;
    let parts = [&sessions[..half], &sessions[half..]];
    for (number, part) in (0..4_u64).zip(parts.into_iter().cycle()) {
        let (class, array) = (0x2800 + number * 0x40, 0x3000 + number * 0x100_0000);
        let name = format!("shop/Holder{number}");
        dump.class(class, &name, Dump::OBJECT, 0, &[], &[("IT", array)]);
        dump.root(class);
        dump.object_array(array, part);
    }
    find(dump, |heap, leaks| {
        let first = &leaks.suspects[0];
        assert_eq!(elements(heap, first), ("shop.Session".to_owned(), COUNT));
        assert_eq!(first.alike.percent, 50);
    });
}

#[test]
fn a_chain_of_lambdas_has_each_byte_once() {
    let mut dump = with_static(0x10_0000);
    let lambda = "shop/App$$Lambda";
    dump.class(NODE, lambda, Dump::OBJECT, 0, &["inner", "rule"], &[]);
    dump.class(ORDER, "shop/Rule", Dump::OBJECT, 0, &["a", "b"], &[]);
    let rules = ids(0x4000_0000, COUNT);
    rules
        .iter()
        .for_each(|id| dump.instance(*id, ORDER, &[0; 2]));
    chain(&mut dump, NODE, 0x10_0000, |place| vec![rules[place]]);
    find(dump, |heap, leaks| {
        let first = &leaks.suspects[0];
        assert_eq!(elements(heap, first), ("shop.Rule".to_owned(), COUNT));
        let mut below = first.held.below.iter();
        assert!(below.all(|it| it.bytes <= leaks.total_bytes), "{first:?}");
    });
}

#[test]
fn what_collections_share_is_known_though_none_retains_it() {
    let mut dump = Dump::new(8);
    dump.class(QUEUE, "java/util/ArrayList", Dump::OBJECT, 0, &["all"], &[]);
    dump.class(ORDER, "shop/Order", Dump::OBJECT, 0, &["a"], &[]);
    let orders = ids(0x4000_0000, COUNT);
    orders.iter().for_each(|id| dump.instance(*id, ORDER, &[0]));
    for list in ids(0x3000, 20) {
        dump.instance(list, QUEUE, &[list + 0x80]);
        dump.object_array(list + 0x80, &orders);
        dump.root(list);
    }
    find(dump, |heap, leaks| {
        let shared = leaks.suspects[0].held.shared.unwrap();
        assert_eq!(heap.class_name(shared.class), "shop.Order");
        assert_eq!(shared.objects, COUNT);
    });
}

#[test]
fn a_class_without_a_name_is_named_after_what_it_holds() {
    let mut dump = with_static(0x3000);
    dump.class(NODE, "shop/Cart$1", Dump::OBJECT, 0, &["this$0"], &[]);
    let sessions = sessions(&mut dump);
    let callbacks = ids(0x4000_0000, COUNT);
    for (callback, session) in callbacks.iter().zip(&sessions) {
        dump.instance(*callback, NODE, &[*session]);
    }
    dump.object_array(0x3000, &callbacks);
    find(dump, |heap, leaks| {
        let first = &leaks.suspects[0];
        assert_eq!(elements(heap, first), ("shop.Session".to_owned(), COUNT));
        assert_eq!(heap.class_name(first.held.holders[0].class), "shop.Cart$1");
    });
}

#[test]
fn work_of_the_jdk_is_an_element_unless_it_carries_one() {
    const FUTURE: u64 = 0x2400;
    let task = "java/util/concurrent/FutureTask";
    let future = "java/util/concurrent/CompletableFuture";
    for (result, expected) in [
        ("java/time/Instant", "java.util.concurrent.FutureTask"),
        ("shop/Order", "shop.Order"),
    ] {
        let mut dump = with_static(0x3000);
        dump.class(NODE, task, Dump::OBJECT, 0, &["callable"], &[]);
        dump.class(FUTURE, future, Dump::OBJECT, 0, &["result"], &[]);
        // Less than a megabyte has no reasons.
        dump.class(ORDER, result, Dump::OBJECT, 0, &["a"; 64], &[]);
        let tasks = ids(0x4000_0000, COUNT);
        for task in &tasks {
            dump.instance(*task, NODE, &[task + 0x40]);
            dump.instance(task + 0x40, FUTURE, &[task + 0x80]);
            dump.instance(task + 0x80, ORDER, &[0; 64]);
        }
        dump.object_array(0x3000, &tasks);
        find(dump, |heap, leaks| {
            let first = &leaks.suspects[0];
            assert_eq!(elements(heap, first), (expected.to_owned(), COUNT));
            let completed = first.reasons.contains(&Reason::Futures(true));
            assert_eq!(completed, result != "shop/Order");
        });
    }
}

#[test]
fn as_many_of_two_classes_are_no_chain() {
    let mut dump = with_static(0x3000);
    dump.class(NODE, "shop/Stream", Dump::OBJECT, 0, &["source"], &[]);
    dump.class(ORDER, "shop/Source", Dump::OBJECT, 0, &["stream", "a"], &[]);
    let streams = ids(0x10_0000, 300);
    for stream in &streams {
        dump.instance(*stream, NODE, &[stream + 0x40]);
        dump.instance(stream + 0x40, ORDER, &[stream + 0x80, 0]);
        dump.instance(stream + 0x80, NODE, &[stream + 0xc0]);
        dump.instance(stream + 0xc0, ORDER, &[0; 2]);
    }
    dump.object_array(0x3000, &streams);
    find(dump, |heap, leaks| {
        let found = elements(heap, &leaks.suspects[0]);
        assert_eq!(found, ("shop.Stream".to_owned(), 300));
    });
}
