//! A run of nodes is one of the largest things.

use graph::{Heap, Input, Options, References, Retained};
use sample::Dump;

const APP: u64 = 0x2000;
const QUEUE: u64 = 0x2100;
const NODE: u64 = 0x2200;
const COUNT: u64 = 2_000;

#[test]
fn a_run_of_nodes_is_one_of_the_largest_things() {
    let mut dump = Dump::new(8);
    let statics = [("IT", 0x3000)];
    dump.class(APP, "shop/App", Dump::OBJECT, 0, &[], &statics);
    dump.root(APP);
    dump.class(QUEUE, "shop/Queue", Dump::OBJECT, 0, &["head"], &[]);
    dump.class(NODE, "shop/Node", Dump::OBJECT, 0, &["next", "item"], &[]);
    let id = |number: u64| 0x10_0000 + number * 0x1000;
    dump.instance(0x3000, QUEUE, &[id(0)]);
    for number in 0..COUNT {
        let (node, last) = (id(number), number + 1 == COUNT);
        let next = if last { 0 } else { id(number + 1) };
        dump.instance(node, NODE, &[next, node + 0x100]);
        dump.byte_array(node + 0x100, &[1; 100]);
    }
    let input = Input::new(dump.file(false), &|_| {}).unwrap();
    let heap = Heap::read(input, Options::default()).unwrap();
    let retained = Retained::of(&heap, References::All).unwrap();
    let largest = retained.largest_of(4, |object| !retained.goes_on(&heap, object));
    let ids: Vec<u64> = largest.iter().map(|object| heap.id(*object)).collect();
    // A tail whose nodes retain much less than the ones before is no run.
    assert_eq!(ids[..3], [APP, 0x3000, id(0)]);
    assert!(ids[3] >= id(COUNT - 4), "{ids:x?}");
    assert_eq!(retained.largest(4)[3], heap.object(id(1)).unwrap());
}
