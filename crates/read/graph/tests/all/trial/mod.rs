//! The graph of a dump, and everything that commands do with one, on arbitrary bytes.
#![allow(dead_code, unreachable_pub)]

mod agreement;

use std::fs::File;

use graph::{FieldTable, GraphError, Heap, Input, Leaks, Options, References, Retained, Waste};
use sample::Dump;

use agreement::must_agree;

/// Gives what is asked of a dump's graph.
pub fn read<T>(dump: &Dump, ask: impl FnOnce(&Heap<'_>, &Retained) -> T) -> T {
    let input = Input::new(dump.file(false), &|_| {}).unwrap();
    let heap = Heap::read(input, Options::default()).unwrap();
    let retained = Retained::of(&heap, References::All).unwrap();
    ask(&heap, &retained)
}

/// The leaks of a heap, of which all is true that must be.
pub fn leaks_of(heap: &Heap<'_>, retained: &Retained, percent: u64) -> Leaks {
    let leaks = Leaks::find(heap, retained, percent).unwrap();
    must_agree(heap, retained, &leaks);
    leaks
}

/// Does everything that the commands do, with both rules.
pub fn analyse(file: File) -> Result<(), GraphError> {
    let input = Input::new(file, &|_| {})?;
    let heap = Heap::read(
        input,
        Options {
            threads: 2,
            by_rule: false,
        },
    )?;
    for rule in [References::All, References::Strong] {
        let retained = Retained::of(&heap, rule)?;
        let leaks = Leaks::find(&heap, &retained, 1)?;
        let all = leaks.total_bytes;
        must_agree(&heap, &retained, &leaks);
        let objects = retained.largest(1000);
        heap.paths(&objects, graph::PATH_STEPS)?;
        heap.paths(&objects, usize::MAX)?;
        heap.strings(&objects, 100)?;
        heap.thread_names(&objects)?;
        let totals = retained.totals(&heap, heap.classes(), |object| heap.class(object));
        let sum: u64 = totals.iter().map(|total| total.shallow_bytes).sum();
        assert!(sum <= all);
        assert_eq!(retained.depths().len(), heap.objects() as usize);
        heap.string_rows(&retained, rule == References::All)?;
        assert!(Waste::find(&heap, &retained)?.lost_bytes() <= all);
    }
    let mut objects = 0;
    heap.rows(&FieldTable::new(&heap)?, |rows| {
        objects += rows.kinds.len();
        Ok(())
    })?;
    assert_eq!(objects, heap.objects() as usize);
    Ok(())
}
