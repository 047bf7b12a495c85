//! A heap is the same graph whether it is read from a dump or from a graph stream.

use std::collections::BTreeMap;

use graph::{Heap, Input, Link, NativeMemory, Options, References, Retained};
use proptest::prelude::*;
use sample::{file_of, Dump};
use writer::{GraphClass, GraphObjects};

/// Id of the first class; others follow.
const CLASSES: u64 = 0x2000;

/// Address of the first object.
const START: u64 = 0x1_0000;

/// An object: an array, or an instance of the class with this many fields.
#[derive(Clone, Debug)]
struct Object {
    is_array: bool,
    targets: Vec<Option<usize>>,
    trace: u32,
    /// Words that are free before it.
    gap: u64,
}

impl Object {
    fn heap_bytes(&self) -> u64 {
        let header = if self.is_array { 16 } else { 12 };
        (header + 4 * self.targets.len() as u64).next_multiple_of(8)
    }
}

fn objects() -> impl Strategy<Value = Vec<Object>> {
    (1..60_usize).prop_flat_map(|count| {
        let target = proptest::option::of(0..count);
        let object = (
            any::<bool>(),
            proptest::collection::vec(target, 0..6),
            1..4_u32,
            0..3_u64,
        );
        let object = object.prop_map(|(is_array, targets, trace, gap)| Object {
            is_array,
            targets,
            trace,
            gap,
        });
        proptest::collection::vec(object, count)
    })
}

/// The objects' addresses.
fn places(objects: &[Object]) -> Vec<u64> {
    let mut at = START;
    let place = |object: &Object| {
        let place = at + object.gap * 8;
        at = place + object.heap_bytes();
        place
    };
    objects.iter().map(place).collect()
}

/// A dump with the classes, and every seventh object as root.
fn begun(places: &[u64]) -> Dump {
    let mut dump = Dump::new(8);
    for fields in 0..6_usize {
        let names: Vec<String> = (0..fields).map(|field| format!("f{field}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let class = CLASSES + fields as u64 * 8;
        dump.class(
            class,
            &format!("app/C{fields}"),
            Dump::OBJECT,
            0,
            &names,
            &[],
        );
    }
    // Neighbours that only narrow references allow.
    dump.object_array(START - 64, &[0; 4]);
    dump.object_array(START - 32, &[0; 4]);
    places.iter().step_by(7).for_each(|place| dump.root(*place));
    dump
}

fn targets(object: &Object, places: &[u64]) -> Vec<u64> {
    let target = |target: &Option<usize>| target.map_or(0, |target| places[target]);
    object.targets.iter().map(target).collect()
}

fn dumped(objects: &[Object]) -> Vec<u8> {
    let places = places(objects);
    let mut dump = begun(&places);
    for (object, place) in objects.iter().zip(&places) {
        let targets = targets(object, &places);
        match object.is_array {
            true => dump.object_array(*place, &targets),
            false => {
                let class = CLASSES + targets.len() as u64 * 8;
                dump.instance_of(*place, class, &targets, object.trace);
            }
        }
    }
    dump.bytes()
}

fn streamed(objects: &[Object], per_block: usize) -> Vec<u8> {
    let places = places(objects);
    let mut dump = begun(&places);
    let mut graph = GraphObjects::new(8);
    let all: Vec<(&Object, &u64)> = objects.iter().zip(&places).collect();
    for block in all.chunks(per_block) {
        let mut codes = BTreeMap::new();
        for (object, place) in block {
            let targets = targets(object, &places);
            // Arrays of the dump have no trace.
            let trace = if object.is_array { 1 } else { object.trace };
            let key = (
                object.is_array,
                trace,
                if object.is_array { 0 } else { targets.len() },
            );
            let class = if object.is_array {
                GraphClass::References {
                    class: Dump::ARRAY,
                    header_bytes: 16,
                    width_bytes: 4,
                }
            } else {
                GraphClass::Instance {
                    class: CLASSES + targets.len() as u64 * 8,
                    heap_bytes: object.heap_bytes(),
                    data_bytes: targets.len() as u32 * 8,
                    references: (0..targets.len() as u32).map(|field| field * 8).collect(),
                    numbers: Vec::new(),
                }
            };
            let code = codes.entry(key).or_insert(0);
            *code = graph.object(*code, &class, trace, **place);
            if object.is_array {
                graph.length(targets.len() as u32, object.heap_bytes());
            }
            targets.iter().for_each(|target| graph.reference(*target));
        }
        let mut bytes = Vec::new();
        graph.take(&mut bytes).unwrap();
        dump.sub_record(&bytes);
    }
    dump.stream()
}

/// Everything that commands need of a heap, by the objects' ids.
fn told(bytes: &[u8]) -> Vec<String> {
    let input = Input::new(file_of(bytes), &|_| {}).unwrap();
    let heap = Heap::read(
        input,
        Options {
            threads: 2,
            by_rule: false,
        },
    )
    .unwrap();
    assert_eq!((heap.damaged(), heap.dangling()), (0, 0));
    let retained = Retained::of(&heap, References::All).unwrap();
    let traces: BTreeMap<u32, u32> = heap.traced().iter().copied().collect();
    let mut pairs = Vec::new();
    let mut lines: Vec<String> = (0..heap.objects())
        .map(|object| {
            let targets: Vec<u64> = heap.targets(object).iter().map(|to| heap.id(*to)).collect();
            pairs.extend(heap.targets(object).iter().map(|to| (object, *to)));
            format!(
                "{:#x} {} {} {} {:?} {:x?}",
                heap.id(object),
                heap.class_name(heap.class(object)),
                heap.shallow_bytes(object),
                retained.bytes(object),
                traces.get(&object),
                targets,
            )
        })
        .collect();
    // The field of a reference is read from the file once more.
    let links = heap.links(pairs.iter().copied()).unwrap();
    lines.extend(pairs.iter().map(|pair| match links.get(pair.0, pair.1) {
        Some(link @ (Link::Field(_) | Link::Element(_))) => {
            let link = heap.link_text(link);
            format!("{:#x} {link} {:#x}", heap.id(pair.0), heap.id(pair.1))
        }
        other => format!("{pair:?} {other:?}"),
    }));
    lines.sort();
    lines
}

proptest! {
    #[test]
    fn a_stream_tells_what_a_dump_does(objects in objects(), per_block in 1..30_usize) {
        prop_assert_eq!(told(&streamed(&objects, per_block)), told(&dumped(&objects)));
    }
}

/// Blocks whose ends differ from the checkpoints by which objects are found again.
#[test]
fn objects_are_found_again_in_large_blocks() {
    let object = |number: usize| Object {
        is_array: false,
        targets: vec![Some((number + 1) % 5000), Some(number / 2)],
        trace: 1,
        gap: 0,
    };
    let objects: Vec<Object> = (0..5000).map(object).collect();
    let expected = told(&dumped(&objects));
    for per_block in [600, 1500, 5000] {
        assert!(
            told(&streamed(&objects, per_block)) == expected,
            "{per_block}"
        );
    }
}

/// Neighbours that refer to each other take three bytes each: a code and two references.
#[test]
fn neighbours_take_few_bytes() {
    let object = |number: usize| Object {
        is_array: false,
        targets: vec![Some((number + 1) % 5000), Some(number)],
        trace: 1,
        gap: 0,
    };
    let objects: Vec<Object> = (0..5000).map(object).collect();
    let (none, all) = (streamed(&objects[..0], 1), streamed(&objects, 5000));
    let per_object = (all.len() - none.len()) as f64 / 5000.0;
    assert!(per_object < 5.5, "{per_object}");
}

#[test]
fn the_numbers_of_buffers_arrive() {
    const BUFFER: u64 = 0x2000;
    let mut dump = Dump::new(8);
    let fields = [("fd", 2), ("capacity", 10), ("att", 2), ("address", 11)];
    let (above, name) = (Dump::OBJECT, "java/nio/Buffer");
    dump.class_of(BUFFER, name, (above, 0), &fields, &[]);
    let direct = "java/nio/DirectByteBuffer";
    dump.class_of(BUFFER + 8, direct, (BUFFER, 0), &[], &[]);
    dump.root(0x9000);
    let mut graph = GraphObjects::new(8);
    let class = GraphClass::Instance {
        class: BUFFER + 8,
        heap_bytes: 32,
        data_bytes: 28,
        references: vec![0, 12],
        numbers: vec![(8, 4), (20, 8)],
    };
    graph.object(0, &class, 1, 0x9000);
    graph.reference(Dump::OBJECT);
    graph.reference(0);
    graph.number(0x8000_0001);
    graph.number(u64::MAX - 7);
    let mut bytes = Vec::new();
    graph.take(&mut bytes).unwrap();
    dump.sub_record(&bytes);
    let input = Input::new(file_of(&dump.stream()), &|_| {}).unwrap();
    let heap = Heap::read(input, Options::default()).unwrap();
    let object = heap.object(0x9000).unwrap();
    let contents = heap.contents(&[object], 0).unwrap();
    let fields = heap.fields(&contents[&object]);
    let values: Vec<u64> = fields.iter().map(|field| field.value).collect();
    assert_eq!(values, [Dump::OBJECT, 0x8000_0001, 0, u64::MAX - 7]);
    assert_eq!(NativeMemory::find(&heap).unwrap().blocks.len(), 1);
}
