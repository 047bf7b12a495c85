//! By Eclipse MAT's rules, a class keeps neither its signers nor its protection domain.

use graph::{Heap, Input, Options};
use sample::{file_of, Dump, ARRAY, FLAGS, LEAF, NAME};

#[test]
fn a_class_keeps_its_protection_domain_by_our_rules_alone() {
    let mut dump = Dump::small();
    let mut class = dump.leaf();
    class.slots = [ARRAY, FLAGS, NAME];
    dump.replace_class(&class);
    let bytes = dump.bytes();
    for (by_rule, expected) in [(false, [true, true, true]), (true, [true, false, false])] {
        let input = Input::new(file_of(&bytes), &|_| {}).unwrap();
        let heap = Heap::read(
            input,
            Options {
                threads: 1,
                by_rule,
            },
        )
        .unwrap();
        let targets = heap.targets(heap.object(LEAF).unwrap());
        let has = |id: u64| targets.contains(&heap.object(id).unwrap());
        assert_eq!([ARRAY, FLAGS, NAME].map(has), expected, "{by_rule}");
    }
}
