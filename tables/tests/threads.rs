//! Many threads fill tables at once: ids stay dense, and equal rows stay one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::collections::{HashMap, HashSet};
use std::sync::Barrier;

use tables::{ClassId, Frame, FrameId, Line, StringId, Tables, Trace, TraceId};

const THREADS: u32 = 8;
// A power of two, so that steps of any odd width visit every key once.
const KEYS: u32 = 2_048;

/// One thread's ids for all keys.
#[derive(Default)]
struct Ids {
    strings: HashMap<u32, StringId>,
    frames: HashMap<u32, FrameId>,
    traces: HashMap<u32, TraceId>,
}

/// Interns all keys, each thread in its own order, so that threads meet in all tables.
fn fill(tables: &Tables, thread: u32) -> Ids {
    let mut ids = Ids::default();
    for step in 0..KEYS {
        let key = (step * (2 * thread + 1) * 7 + 31 * thread) % KEYS;
        let string = tables.strings.intern(format!("name {key}").as_bytes());
        let frame = tables.frames.intern(&Frame {
            class: ClassId::new(1).unwrap(),
            method: StringId::new(1).unwrap(),
            signature: StringId::new(1).unwrap(),
            source: StringId::new(1).unwrap(),
            line: Line::Number(key + 1),
        });
        // Depth 0 is the empty trace, which exists already.
        let depth = key as usize % 40;
        let frames = (0..depth).filter_map(FrameId::from_index).collect();
        let trace = tables.traces.intern(&Trace {
            thread: None,
            frames,
        });
        assert!(ids
            .strings
            .insert(key, string)
            .is_none_or(|before| before == string));
        assert!(ids
            .frames
            .insert(key, frame)
            .is_none_or(|before| before == frame));
        assert!(ids
            .traces
            .insert(key, trace)
            .is_none_or(|before| before == trace));
    }
    ids
}

#[test]
fn eight_threads_agree_on_dense_ids() {
    let tables = Tables::default();
    let start = Barrier::new(THREADS as usize);
    let results: Vec<Ids> = std::thread::scope(|scope| {
        let run = |thread| {
            let (tables, start) = (&tables, &start);
            scope.spawn(move || {
                start.wait();
                fill(tables, thread)
            })
        };
        let threads: Vec<_> = (0..THREADS).map(run).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(tables.strings.len(), KEYS as usize);
    assert_eq!(tables.frames.len(), KEYS as usize);
    assert_eq!(tables.traces.len(), 40);
    let mut seen_strings = HashMap::new();
    for ids in &results {
        for (&key, &id) in &ids.strings {
            assert_eq!(*seen_strings.entry(key).or_insert(id), id);
            let text = tables.strings.get(id).unwrap();
            assert_eq!(&*text, format!("name {key}").as_bytes());
        }
        for (&key, &id) in &ids.frames {
            assert_eq!(tables.frames.get(id).unwrap().line, Line::Number(key + 1));
        }
        for (&key, &id) in &ids.traces {
            assert_eq!(
                tables.traces.get(id).unwrap().frames.len(),
                key as usize % 40
            );
        }
    }
}

#[test]
fn rows_are_visited_in_the_order_of_ids_without_gaps() {
    let tables = Tables::default();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let tables = &tables;
            scope.spawn(move || fill(tables, thread));
        }
    });
    let mut next = 1;
    let mut texts = HashSet::new();
    tables.strings.for_each(|id, text| {
        assert_eq!(id.get(), next);
        assert!(texts.insert(text.to_vec()), "a string twice");
        next += 1;
    });
    assert_eq!(tables.strings.len(), texts.len());
}
