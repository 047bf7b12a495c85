//! Reads a whole dump once: the caller's thread reads the records outside of the heap, other
//! threads the heap's segments.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use format::{JvmFacts, RECORD_HEADER_BYTES};

use crate::budget::{bytes_of, entries, Budget};
use crate::directory::Directory;
use crate::dump::{DumpReader, Event};
use crate::error::ReadError;
use crate::heap_totals::{HeapTotals, KindTotal};
use crate::object_sums::Sizing;
use crate::record::RecordHead;
use format::record::{Record, StartThread};

/// The data that every caller needs.
#[derive(Debug)]
pub(crate) struct Gathered {
    /// The records outside of the heap, and all classes.
    pub(crate) directory: Directory,
    /// The heap; its classes are in the directory.
    pub(crate) heap: HeapTotals,
    pub(crate) totals: BTreeMap<&'static str, KindTotal>,
    /// The START THREADs by serial.
    pub(crate) started: HashMap<u32, StartThread>,
}

impl Gathered {
    fn head(&mut self, head: &RecordHead) {
        let name = Record::name_of(head.tag).unwrap_or("unknown");
        let bytes = RECORD_HEADER_BYTES as u64 + u64::from(head.length);
        self.totals.entry(name).or_default().add(bytes);
    }

    /// Bytes of memory that the tables outside of the heap take.
    fn held_bytes(&self) -> u64 {
        let started = entries(2 * self.started.len());
        self.directory.held_bytes().saturating_add(started)
    }

    fn record(&mut self, record: Record) {
        match &record {
            Record::LoadClass(load) => {
                let strings = &self.directory.strings;
                self.heap.class_instances.load(load, strings);
            }
            Record::StartThread(start) => {
                self.started.insert(start.serial, *start);
            }
            _ => {}
        }
        self.directory.add(record);
    }
}

/// A segment for another thread.
struct Segment {
    /// Offsets of its record.
    record: Range<u64>,
    /// The layout of objects, as far as the records before the segment define it.
    sizing: Sizing,
    /// Id of `java.lang.Class`, if a record before the segment names it.
    class_of_classes: Option<u64>,
}

/// The memory of one thread, counted towards the limit of all.
struct Share<'a> {
    budget: Budget,
    all_bytes: &'a AtomicU64,
    own_bytes: u64,
}

impl Share<'_> {
    /// Checks the memory of all threads, if this one holds `bytes`. Errors: [`ReadError::TooMuch`].
    fn allow(&mut self, bytes: u64) -> Result<(), ReadError> {
        if bytes == self.own_bytes {
            return Ok(());
        }
        let change = bytes.wrapping_sub(self.own_bytes);
        self.own_bytes = bytes;
        let before = self.all_bytes.fetch_add(change, Ordering::Relaxed);
        self.budget.allow(before.wrapping_add(change))
    }
}

/// Reads the dump, with several threads if its file allows it. The result does not depend on their
/// number. Errors: I/O, or too many names or classes.
pub(crate) fn gather(dump: &mut DumpReader<'_>) -> Result<Gathered, ReadError> {
    let (budget, all_bytes) = (dump.budget(), AtomicU64::new(0));
    let share = || Share {
        budget,
        all_bytes: &all_bytes,
        own_bytes: 0,
    };
    let (mut all, segments) = read_records(dump, share())?;
    if let Some(file) = dump.shared_file() {
        let (header, next) = (dump.header(), AtomicUsize::new(0));
        let read = || {
            let reader = DumpReader::of_segments(file.clone(), header);
            read_segments(reader, &segments, &next, share())
        };
        thread::scope(|scope| {
            let threads = 0..file.threads().min(segments.len());
            let readers: Vec<_> = threads.map(|_| scope.spawn(read)).collect();
            readers.into_iter().try_for_each(|reader| {
                let found = reader.join().unwrap_or_else(|panic| resume_unwind(panic));
                all.heap.merge(found?);
                Ok::<(), ReadError>(())
            })
        })?;
    }
    let classes = std::mem::take(&mut all.heap.classes);
    all.directory.classes.merge(classes);
    all.heap.join_twins(&all.directory.classes);
    let classes = &mut all.directory.classes;
    classes.resolve_within(dump.header().id_bytes, budget)?;
    Ok(all)
}

/// Reads all but the segments that other threads can read, which it returns.
fn read_records(
    dump: &mut DumpReader<'_>,
    mut share: Share<'_>,
) -> Result<(Gathered, Vec<Segment>), ReadError> {
    let mut segments = Vec::new();
    let mut all = Gathered {
        directory: Directory::default(),
        heap: HeapTotals::new(dump.header().id_bytes),
        totals: BTreeMap::new(),
        started: HashMap::new(),
    };
    while let Some(event) = dump.next_event()? {
        let tables_bytes = all.held_bytes() + bytes_of::<Segment>(segments.len());
        match event {
            Event::Record(head, record) => {
                all.head(&head);
                all.record(record);
            }
            Event::HeapStart(head) => {
                all.head(&head);
                let facts = all.directory.strings.facts();
                all.heap.begin_heap(head.offset, facts);
                match dump.pass_heap() {
                    Some(record) => segments.push(Segment {
                        record,
                        sizing: all.heap.sizing.clone(),
                        class_of_classes: all.heap.class_instances.class(),
                    }),
                    None => read_heap(dump, &mut all.heap, &mut share, tables_bytes)?,
                }
            }
            Event::Damage(damage) => all.heap.damage(damage),
            Event::Heap(..) | Event::HeapEnd => {}
        }
        share.allow(tables_bytes.saturating_add(all.heap.held_bytes()))?;
    }
    Ok((all, segments))
}

/// Reads one segment after the other that no other thread has begun.
fn read_segments(
    mut reader: DumpReader<'_>,
    segments: &[Segment],
    next: &AtomicUsize,
    mut share: Share<'_>,
) -> Result<HeapTotals, ReadError> {
    let mut heap = HeapTotals::new(reader.header().id_bytes);
    while let Some(segment) = segments.get(next.fetch_add(1, Ordering::Relaxed)) {
        heap.sizing.take_layout(&segment.sizing);
        heap.class_instances.take_class(segment.class_of_classes);
        reader.aim(segment.record.clone())?;
        while let Some(event) = reader.next_event()? {
            match event {
                Event::HeapStart(head) => {
                    heap.begin_heap(head.offset, &JvmFacts::default());
                    read_heap(&mut reader, &mut heap, &mut share, 0)?;
                }
                Event::Damage(damage) => heap.damage(damage),
                _ => {}
            }
        }
    }
    Ok(heap)
}

/// Reads the rest of the heap that has just started. The caller's other tables take `tables_bytes`.
fn read_heap(
    dump: &mut DumpReader<'_>,
    heap: &mut HeapTotals,
    share: &mut Share<'_>,
    tables_bytes: u64,
) -> Result<(), ReadError> {
    while let Some(event) = dump.next_event()? {
        match event {
            Event::Heap(offset, record) => heap.record(offset, &record, dump.offset()),
            Event::Damage(damage) => heap.damage(damage),
            _ => break,
        }
        share.allow(tables_bytes.saturating_add(heap.held_bytes()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_share_one_limit() {
        let all_bytes = AtomicU64::new(0);
        let [mut one, mut other] = [(); 2].map(|()| Share {
            budget: Budget::new(100),
            all_bytes: &all_bytes,
            own_bytes: 0,
        });
        assert!(one.allow(60).is_ok());
        assert!(one.allow(60).is_ok(), "the same bytes count once");
        assert!(other.allow(41).is_err());
        assert!(one.allow(40).is_ok(), "what is freed counts no more");
        assert!(other.allow(60).is_ok());
    }
}
