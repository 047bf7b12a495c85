//! What no root leads to is counted.

use graph::{Heap, Input, Options, References, Retained, Unreachable};
use sample::Dump;

#[test]
fn what_no_root_leads_to_is_counted() {
    let unreachable = |is_held: bool| {
        let mut dump = Dump::new(8);
        dump.object_array(0x3000, &[0x4000; 4]);
        dump.object_array(0x4000, &[]);
        dump.byte_array(0x5000, &[0; 100]);
        for root in [0x3000, 0x5000].into_iter().filter(|_| is_held) {
            dump.root(root);
        }
        let input = Input::new(dump.file(false), &|_| ()).unwrap();
        let heap = Heap::read(input, Options::default()).unwrap();
        let retained = Retained::of(&heap, References::All).unwrap();
        let objects = retained.unreachable_objects(&heap);
        let ids: Vec<u64> = objects.map(|object| heap.id(object)).collect();
        (retained.unreachable(&heap), ids)
    };
    assert_eq!(unreachable(true), (Unreachable::default(), vec![]));
    let found = Unreachable {
        objects: 3,
        bytes: 32 + 16 + 120,
    };
    assert_eq!(unreachable(false), (found, vec![0x3000, 0x4000, 0x5000]));
}
