//! Reads a whole dump once: the caller's thread reads the records outside of the heap, other
//! threads the heap's segments.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use format::{JvmFacts, RECORD_HEADER_BYTES};

use crate::budget::{entries, Budget};
use crate::dump::{DumpReader, Event};
use crate::error::ReadError;
use crate::heap_totals::{HeapTotals, KindTotal};
use crate::object_sums::Sizing;
use crate::plain_file::PlainFile;
use crate::record::RecordHead;
use crate::stacks::StackRecords;
use crate::strings::StringTable;
use format::record::{Record, StartThread};

/// Segments that may wait, per thread.
const SEGMENTS_AHEAD: usize = 4;

/// The data that every caller needs.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) strings: StringTable,
    pub(crate) heap: HeapTotals,
    pub(crate) records: Records,
}

/// The records outside of the heap, except strings and classes.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(crate) totals: BTreeMap<&'static str, KindTotal>,
    pub(crate) stacks: StackRecords,
    pub(crate) started: HashMap<u32, StartThread>,
}

impl Records {
    fn head(&mut self, head: &RecordHead) {
        let name = Record::name_of(head.tag).unwrap_or("unknown");
        let bytes = RECORD_HEADER_BYTES as u64 + u64::from(head.length);
        self.totals.entry(name).or_default().add(bytes);
    }
}

impl Gathered {
    /// Bytes of memory that the tables outside of the heap take.
    fn held_bytes(&self) -> u64 {
        let strings = self.strings.held_bytes();
        strings
            .saturating_add(self.records.stacks.held_bytes())
            .saturating_add(entries(2 * self.records.started.len()))
    }

    fn record(&mut self, mut record: Record) {
        self.records.stacks.add(&mut record);
        match record {
            Record::Utf8(string) => {
                self.strings.insert(string);
            }
            Record::LoadClass(load) => {
                self.heap.class_instances.load(&load, &self.strings);
                self.heap.classes.add_load(&load);
            }
            Record::StartThread(start) => {
                self.records.started.insert(start.serial, start);
            }
            _ => {}
        }
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
    let (file, header) = (dump.shared_file().cloned(), dump.header());
    let threads = file.as_ref().map_or(0, PlainFile::threads);
    let (budget, all_bytes) = (dump.budget(), AtomicU64::new(0));
    let share = || Share {
        budget,
        all_bytes: &all_bytes,
        own_bytes: 0,
    };
    let (to, from) = sync_channel(SEGMENTS_AHEAD * threads);
    // Only the threads own this end: if all of them have failed, sending fails, too.
    let from = Arc::new(Mutex::new(from));
    thread::scope(|scope| {
        let mut readers = Vec::with_capacity(threads);
        for file in file.iter().cycle().take(threads).cloned() {
            let (from, share) = (Arc::clone(&from), share());
            readers.push(scope.spawn(move || {
                let reader = DumpReader::of_segments(file, header);
                read_segments(reader, &from, share)
            }));
        }
        drop(from);
        let mut gathered = read_records(dump, &to, share());
        drop(to);
        for reader in readers {
            let found = reader.join().unwrap_or_else(|panic| resume_unwind(panic));
            gathered = gathered.and_then(|mut gathered| {
                gathered.heap.merge(found?);
                Ok(gathered)
            });
        }
        let mut gathered = gathered?;
        gathered.heap.join_twins();
        Ok(gathered)
    })
}

/// Reads all records except the segments that it passes on.
fn read_records(
    dump: &mut DumpReader<'_>,
    to: &SyncSender<Segment>,
    mut share: Share<'_>,
) -> Result<Gathered, ReadError> {
    let mut all = Gathered {
        strings: StringTable::default(),
        heap: HeapTotals::new(dump.header().id_bytes),
        records: Records::default(),
    };
    while let Some(event) = dump.next_event()? {
        match event {
            Event::Record(head, record) => {
                all.records.head(&head);
                all.record(record);
            }
            Event::HeapStart(head) => {
                all.records.head(&head);
                all.heap.begin_heap(head.offset, all.strings.facts());
                if let Some(record) = dump.pass_heap() {
                    let segment = Segment {
                        record,
                        sizing: all.heap.sizing.clone(),
                        class_of_classes: all.heap.class_instances.class(),
                    };
                    if to.send(segment).is_err() {
                        // All threads have failed; the caller returns the fault.
                        break;
                    }
                } else {
                    let tables_bytes = all.held_bytes();
                    read_heap(dump, &mut all.heap, &mut share, tables_bytes)?;
                }
            }
            Event::Damage(damage) => all.heap.damage(damage),
            Event::Heap(..) | Event::HeapEnd => {}
        }
        share.allow(all.held_bytes().saturating_add(all.heap.held_bytes()))?;
    }
    Ok(all)
}

/// Reads segments, one after the other, until there are no more.
fn read_segments(
    mut reader: DumpReader<'_>,
    from: &Mutex<Receiver<Segment>>,
    mut share: Share<'_>,
) -> Result<HeapTotals, ReadError> {
    let mut heap = HeapTotals::new(reader.header().id_bytes);
    while let Some(segment) = next_of(from) {
        heap.sizing.take_layout(&segment.sizing);
        heap.class_instances.take_class(segment.class_of_classes);
        reader.aim(segment.record)?;
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

fn next_of(from: &Mutex<Receiver<Segment>>) -> Option<Segment> {
    let from = from.lock().unwrap_or_else(PoisonError::into_inner);
    from.recv().ok()
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
