//! Snapshots of heaps that tests invent.

use crate::classes::{ClassMap, Shape};
use crate::layout::{
    ArrayLayout, ClassWords, Linear, MirrorInKlass, ObjectLayout, Oops, StaticIds,
};
use crate::mappings::Mappings;
use crate::memory::{BufferMemory, Memory};
use crate::walk::Marks;
use crate::{Snapshot, Values};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::Mutex;

impl<'w> Snapshot<BufferMemory<'w>> {
    /// A heap of these words, without compression: mark, class word, then fields, or length and
    /// elements. The class words are 1, 2 and so on.
    pub fn of_words(words: &'w [u64], shapes: Vec<Shape>) -> Self {
        let start = words.as_ptr() as u64;
        let heap = start..start + size_of_val(words) as u64;
        Snapshot::invented(BufferMemory::of_words(words), heap, shapes)
    }
}

impl<M: Memory> Snapshot<M> {
    /// Like [`Snapshot::of_words`], but read through `memory`, for objects in this range.
    #[allow(clippy::expect_used)] // a test without memory has failed
    pub fn invented(memory: M, heap: Range<u64>, shapes: Vec<Shape>) -> Self {
        Self {
            memory,
            mappings: Mappings::default(),
            layout: ObjectLayout {
                oops: Oops::Wide,
                class_words: ClassWords::Wide,
                klasses: Linear::PLAIN,
                klass_in_mirror: 0,
                mirror_in_klass: MirrorInKlass {
                    offset: 0,
                    through_slot: false,
                },
                arrays: ArrayLayout {
                    length: 16,
                    elements: [24; 12],
                },
                static_ids: StaticIds {
                    holder: 0,
                    offset: 0,
                },
            },
            classes: ClassMap::of_shapes(shapes),
            allocated: Vec::new(),
            left_out: Vec::new(),
            marks: Marks::new(heap).expect("memory"),
            values: Values::all(),
            reached: AtomicU64::new(0),
            encoded_bytes: AtomicU64::new(0),
            rest: crate::Rest(Box::new(|| ())),
            unlinked: Mutex::default(),
            virtual_thread_class: None,
            virtual_threads: Mutex::default(),
            stack_chunk_class: None,
            stack_chunks: Mutex::default(),
        }
    }
}
