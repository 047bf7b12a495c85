//! Writes the tables' contents as records, in the order that every reader accepts.
//!
//! This is the crate's only file that reads rows. It runs on the dumping thread, takes the tables'
//! locks one at a time, and holds none while it delivers.

use tables::{
    ClassId, Line, ObjectId, ObjectIndex, ObjectTable, Root, StringId, Tables, ThreadId, TraceId,
};

use crate::heap_record;
use crate::record;
use crate::{Deliver, Segments, WriteError};
use format::record::{Frame, LoadClass, Record, StartThread, Trace, Utf8};
use format::redaction::stars;
use format::sub_record::HeapRecord;
use format::{mutf8, Root as RootRecord, RootKind, LINE_NATIVE, LINE_UNKNOWN};
use std::collections::HashSet;

/// Bytes of a delivered buffer.
const BUFFER_BYTES: usize = 1 << 20;

/// The texts that a head contains.
#[derive(Clone, Copy, Debug)]
pub enum Texts<'t> {
    /// All.
    All,
    /// The names of classes, fields and methods, and these. All others become stars, one per byte.
    Names(&'t [StringId]),
}

impl Texts<'_> {
    /// The texts that are kept; `None` for all.
    fn kept(self, tables: &Tables) -> Option<HashSet<StringId>> {
        let Self::Names(others) = self else {
            return None;
        };
        let mut kept: HashSet<StringId> = others.iter().copied().collect();
        tables.classes.for_each(|_, row| {
            kept.extend([row.name, row.signature]);
            kept.extend(row.own_fields().iter().map(|field| field.name));
        });
        tables.frames.for_each(|_, row| {
            kept.extend([row.method, row.signature]);
        });
        Some(kept)
    }
}

/// Everything before the first segment: the header (see [`record::header`] and
/// [`record::graph_header`]), strings, classes, frames, traces, threads.
///
/// A record follows all records to which it refers. `class_object` returns a class's mirror in the
/// file; a class without one is left out, as is a thread without a row in `objects`. Errors: the
/// receiver's, and `TooLarge`.
pub fn head(
    header: Vec<u8>,
    (tables, texts): (&Tables, Texts<'_>),
    objects: &ObjectTable,
    class_object: impl Fn(ClassId) -> Option<ObjectId>,
    deliver: &mut impl Deliver,
) -> Result<(), WriteError> {
    let mut head = HeadBuffer {
        deliver,
        buffer: header,
        result: Ok(()),
    };
    let kept = texts.kept(tables);
    tables.strings.for_each(|id, bytes| {
        let is_kept = kept.as_ref().is_none_or(|kept| kept.contains(&id));
        let text = match is_kept {
            true => mutf8::to_utf8(bytes).into_owned(),
            false => stars(bytes.len()),
        };
        head.record(&Record::Utf8(Utf8::new(id.into(), text)));
    });
    tables.classes.for_each(|serial, row| {
        if let Some(object) = class_object(serial) {
            head.record(&Record::LoadClass(LoadClass {
                serial: serial.get(),
                class: object.get(),
                trace: TraceId::EMPTY.get(),
                name: row.name.into(),
            }));
        }
    });
    tables.frames.for_each(|id, row| {
        head.record(&Record::Frame(Frame {
            id: id.into(),
            method: row.method.into(),
            signature: row.signature.into(),
            source: row.source.into(),
            class_serial: row.class.get(),
            line: line_number(row.line),
        }));
    });
    tables.traces.for_each(|serial, row| {
        head.record(&Record::Trace(Trace {
            serial: serial.get(),
            thread_serial: row.thread.map_or(0, ThreadId::get),
            frames: row.frames.iter().copied().map(u64::from).collect(),
        }));
    });
    tables.threads.for_each(|thread, row| {
        if let Some(object) = objects.id(row.object) {
            head.record(&Record::StartThread(StartThread {
                serial: thread.get(),
                object: object.get(),
                trace: row.trace.get(),
                name: row.name.into(),
                group: row.group.into(),
                parent_group: row.parent_group.into(),
            }));
        }
    });
    head.finish()
}

/// Readers know positive lines and three special numbers; one of the readers fails on 0.
fn line_number(line: Line) -> i32 {
    match line {
        Line::Number(0) | Line::Unknown => LINE_UNKNOWN,
        Line::Number(number) => i32::try_from(number).unwrap_or(LINE_UNKNOWN),
        Line::Native => LINE_NATIVE,
    }
}

/// A thread in the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveThread {
    /// Its serial number.
    pub id: ThreadId,
    /// The thread object.
    pub object: ObjectIndex,
    /// Its stack.
    pub trace: TraceId,
    /// Number of frames in its stack.
    pub depth_frames: usize,
}

/// The threads of a dump, in the order of their serial numbers, for [`roots`].
pub fn live_threads(tables: &Tables) -> Vec<LiveThread> {
    let mut threads = Vec::with_capacity(tables.threads.len());
    tables.threads.for_each(|id, row| {
        let trace = tables.traces.get(row.trace);
        threads.push(LiveThread {
            id,
            object: row.object,
            trace: row.trace,
            depth_frames: trace.map_or(0, |trace| trace.frames.len()),
        });
    });
    threads
}

/// All roots, each thread's own object before the other objects that the thread holds.
///
/// Readers need the thread first. So for each thread come the thread object, then thread blocks,
/// Java frames and JNI locals; at the end JNI globals, monitors, sticky classes. If no root reports
/// a thread object, it is taken from `threads`, which must be in id order from the first on. A root
/// whose object has no row is left out. A root of a thread that cannot be written becomes a JNI
/// global, so that the object stays alive and no reader sees an unknown thread. A frame beyond the
/// thread's trace becomes "no frame".
pub fn roots<D: Deliver>(
    roots: &[Root],
    objects: &ObjectTable,
    threads: &[LiveThread],
    segments: &mut Segments<D>,
) -> Result<(), WriteError> {
    let threads = ThreadRoots { objects, threads };
    let mut sorted: Vec<&Root> = roots.iter().collect();
    sorted.sort_by_key(|root| (root.thread().is_none(), root.thread(), rank(root)));
    let mut sorted = sorted.into_iter().peekable();
    for thread in threads.threads {
        if let Some(object) = objects.id(thread.object) {
            let own = RootRecord {
                trace: Some(thread.trace.get()),
                ..thread.root(RootKind::ThreadObject, object)
            };
            put(own, segments)?;
        }
        while let Some(root) = sorted.next_if(|root| root.thread() == Some(thread.id)) {
            put_root(root, objects, &threads, segments)?;
        }
    }
    sorted.try_for_each(|root| put_root(root, objects, &threads, segments))
}

fn put_root<D: Deliver>(
    root: &Root,
    objects: &ObjectTable,
    threads: &ThreadRoots<'_>,
    segments: &mut Segments<D>,
) -> Result<(), WriteError> {
    match objects
        .id(root.object())
        .and_then(|object| threads.record(root, object))
    {
        Some(record) => put(record, segments),
        None => Ok(()),
    }
}

fn put<D: Deliver>(root: RootRecord, segments: &mut Segments<D>) -> Result<(), WriteError> {
    segments.record(|out| heap_record::encode(&HeapRecord::Root(root), out))
}

/// A root by a global reference; 0 if it is unknown.
fn global(object: ObjectId, reference: u64) -> RootRecord {
    RootRecord {
        reference: Some(reference),
        ..RootRecord::new(RootKind::JniGlobal, object.get())
    }
}

/// Held by the JVM itself: a global whose reference is the object, which no reference can be.
fn of_jvm(object: ObjectId) -> RootRecord {
    global(object, object.get())
}

fn rank(root: &Root) -> u8 {
    match root {
        Root::ThreadObject { .. } => 0,
        Root::ThreadBlock { .. } => 1,
        Root::JavaFrame { .. } => 2,
        Root::JniLocal { .. } => 3,
        Root::JniGlobal { reference: 1.., .. } => 4,
        Root::MonitorUsed { .. } => 5,
        Root::StickyClass { .. } => 6,
        Root::JniGlobal { .. } => 7,
    }
}

struct ThreadRoots<'d> {
    objects: &'d ObjectTable,
    threads: &'d [LiveThread],
}

impl ThreadRoots<'_> {
    /// The thread with this id, if the dump contains it.
    fn written(&self, id: ThreadId) -> Option<&LiveThread> {
        self.threads
            .get(id.index())
            .filter(|thread| self.objects.id(thread.object).is_some())
    }

    /// The record for a root; `None` if it is already written.
    fn record(&self, root: &Root, object: ObjectId) -> Option<RootRecord> {
        if let Some(id) = root.thread() {
            let Some(thread) = self.written(id) else {
                return Some(of_jvm(object));
            };
            return thread.record(root, object);
        }
        Some(match *root {
            Root::MonitorUsed { .. } => RootRecord::new(RootKind::MonitorUsed, object.get()),
            Root::StickyClass { .. } => RootRecord::new(RootKind::StickyClass, object.get()),
            Root::JniGlobal {
                reference: reference @ 1..,
                ..
            } => global(object, reference),
            // All other kinds have a thread.
            _ => of_jvm(object),
        })
    }
}

impl LiveThread {
    fn record(&self, root: &Root, object: ObjectId) -> Option<RootRecord> {
        let (kind, frame) = match *root {
            Root::ThreadBlock { .. } => (RootKind::ThreadBlock, None),
            Root::JavaFrame { frame, .. } => (RootKind::JavaFrame, frame),
            Root::JniLocal { frame, .. } => (RootKind::JniLocal, frame),
            // Already written from the thread table, before the thread's other roots.
            _ => return None,
        };
        Some(RootRecord {
            frame_number: frame.filter(|&frame| (frame as usize) < self.depth_frames),
            ..self.root(kind, object)
        })
    }

    /// A root of this thread.
    fn root(&self, kind: RootKind, object: ObjectId) -> RootRecord {
        RootRecord {
            thread_serial: Some(self.id.get()),
            ..RootRecord::new(kind, object.get())
        }
    }
}

/// Collects records and delivers them by the megabyte; keeps the first error for the end.
struct HeadBuffer<'a, D> {
    deliver: &'a mut D,
    buffer: Vec<u8>,
    result: Result<(), WriteError>,
}

impl<D: Deliver> HeadBuffer<'_, D> {
    fn record(&mut self, record: &Record) {
        if self.result.is_ok() {
            self.result = record::encode(record, &mut self.buffer);
        }
        if self.result.is_ok() && self.buffer.len() >= BUFFER_BYTES {
            self.result = self.deliver.deliver(std::mem::take(&mut self.buffer));
        }
    }

    fn finish(self) -> Result<(), WriteError> {
        self.result?;
        if self.buffer.is_empty() {
            Ok(())
        } else {
            self.deliver.deliver(self.buffer)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::{record, RECORD_HEADER_BYTES};
    use tables::{ClassRow, Frame as FrameRow, ObjectIndex, ThreadRow, Trace as TraceRow};

    /// Tag and body of each top-level record after the header of the file.
    fn records(file: &[u8]) -> Vec<(u8, Vec<u8>)> {
        let mut rest = &file[31..];
        let mut records = Vec::new();
        while !rest.is_empty() {
            let length = u32::from_be_bytes(rest[5..9].try_into().unwrap()) as usize;
            let end = RECORD_HEADER_BYTES + length;
            records.push((rest[0], rest[RECORD_HEADER_BYTES..end].to_vec()));
            rest = &rest[end..];
        }
        records
    }

    fn written_head(tables: &Tables, objects: &ObjectTable) -> Vec<u8> {
        let mut file = Vec::new();
        let mut receive = |bytes: Vec<u8>| {
            file.extend(bytes);
            Ok(())
        };
        let class_object = |class: ClassId| ObjectId::new(u64::from(class.get()) * 8);
        let texts = (tables, Texts::All);
        head(
            crate::record::header(5),
            texts,
            objects,
            class_object,
            &mut receive,
        )
        .unwrap();
        file
    }

    /// One class, and one thread with one frame on its stack; the thread's object is the first.
    fn small_tables(objects: &mut ObjectTable) -> (Tables, ThreadId) {
        let tables = Tables::default();
        let name = tables.strings.intern(b"a\xC0\x80");
        let fields = Some(Vec::new());
        let (loader, super_class) = (None, None);
        let row = ClassRow {
            signature: name,
            name,
            loader,
            super_class,
            fields,
        };
        let class = tables.classes.add(row);
        let line = Line::Number(0);
        let frame = FrameRow {
            class,
            method: name,
            signature: name,
            source: name,
            line,
        };
        let frame = tables.frames.intern(&frame);
        let object = objects.push_at(0x1_0000).unwrap();
        let trace = TraceId::EMPTY;
        let row = ThreadRow {
            object,
            name,
            group: name,
            parent_group: name,
            trace,
        };
        let thread = tables.threads.add(row.clone());
        let trace = tables.traces.intern(&TraceRow {
            thread: Some(thread),
            frames: vec![frame],
        });
        tables.threads.replace(thread, ThreadRow { trace, ..row });
        (tables, thread)
    }

    #[test]
    fn texts_that_are_no_names_become_stars() {
        let mut objects = ObjectTable::default();
        let (tables, thread) = small_tables(&mut objects);
        let intern = |text: &[u8]| tables.strings.intern(text);
        let row = tables.threads.get(thread).unwrap();
        let name = intern(b"secret");
        let row = ThreadRow {
            name,
            ..ThreadRow::clone(&row)
        };
        tables.threads.replace(thread, row);
        let invented = intern(b"<invented>");
        let mut file = Vec::new();
        let mut receive = |bytes: Vec<u8>| {
            file.extend(bytes);
            Ok(())
        };
        let kept = [invented];
        let told = (&tables, Texts::Names(&kept));
        head(
            crate::record::header(5),
            told,
            &objects,
            |_| None,
            &mut receive,
        )
        .unwrap();
        let records = records(&file);
        let texts = records.iter().filter(|record| record.0 == record::UTF8);
        let texts: Vec<_> = texts.map(|record| &record.1[8..]).collect();
        let expected: [&[u8]; 3] = [b"a\0", b"******", b"<invented>"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_record_comes_after_what_it_names() {
        let mut objects = ObjectTable::default();
        let (tables, _) = small_tables(&mut objects);
        let records = records(&written_head(&tables, &objects));
        let tags: Vec<u8> = records.iter().map(|record| record.0).collect();
        assert_eq!(
            tags,
            [
                record::UTF8,
                record::LOAD_CLASS,
                record::FRAME,
                record::TRACE,
                record::TRACE,
                record::START_THREAD
            ]
        );
        assert_eq!(records[0].1, b"\0\0\0\0\0\0\0\x01a\0", "true UTF-8");
        assert_eq!(records[2].1[36..], LINE_UNKNOWN.to_be_bytes(), "no line 0");
        assert_eq!(
            records[3].1,
            [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
            "the empty trace"
        );
        assert_eq!(records[4].1[..12], [0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1]);
    }

    #[test]
    fn a_large_head_goes_in_buffers() {
        let tables = Tables::default();
        for number in 0..3_000 {
            tables.strings.intern(format!("{number:01000}").as_bytes());
        }
        let mut sizes = Vec::new();
        let mut receive = |bytes: Vec<u8>| {
            sizes.push(bytes.len());
            Ok(())
        };
        let (objects, texts) = (ObjectTable::default(), (&tables, Texts::All));
        head(
            crate::record::header(0),
            texts,
            &objects,
            |_| None,
            &mut receive,
        )
        .unwrap();
        assert_eq!(sizes.len(), 3);
        assert!(sizes.iter().all(|&size| size < BUFFER_BYTES + 2_000));
    }

    #[test]
    fn the_receivers_error_ends_the_head() {
        let mut receive = |_| Err(WriteError::Closed);
        let (tables, objects) = (Tables::default(), ObjectTable::default());
        let texts = (&tables, Texts::All);
        let written = head(
            crate::record::header(0),
            texts,
            &objects,
            |_| None,
            &mut receive,
        );
        assert_eq!(written, Err(WriteError::Closed));
    }

    /// Kind, object and the rest of each root record in the one segment written.
    fn written_roots(
        given: &[Root],
        objects: &ObjectTable,
        tables: &Tables,
    ) -> Vec<(RootKind, u64, Vec<u8>)> {
        let mut file = Vec::new();
        let mut segments = Segments::new(|bytes: Vec<u8>| {
            file.extend(bytes);
            Ok(())
        });
        roots(given, objects, &live_threads(tables), &mut segments).unwrap();
        segments.finish().unwrap();
        let mut rest = file.get(RECORD_HEADER_BYTES..).unwrap_or_default();
        let mut roots = Vec::new();
        while let Some(&tag) = rest.first() {
            let kind = RootKind::from_tag(tag).unwrap();
            let more = kind.bytes(8) as usize - 9;
            let object = u64::from_be_bytes(rest[1..9].try_into().unwrap());
            roots.push((kind, object, rest[9..9 + more].to_vec()));
            rest = &rest[9 + more..];
        }
        roots
    }

    #[test]
    fn the_thread_comes_before_what_it_holds() {
        let mut objects = ObjectTable::default();
        let (tables, thread) = small_tables(&mut objects);
        let own = objects.id(ObjectIndex::new(1).unwrap()).unwrap().get();
        let object = objects.push_at(0x1_0000).unwrap();
        let held = objects.id(object).unwrap().get();
        let missing = ObjectIndex::new(77).unwrap();
        let given = [
            Root::StickyClass { object },
            Root::JniGlobal {
                object,
                reference: 9,
            },
            Root::JniGlobal {
                object,
                reference: 0,
            },
            Root::MonitorUsed { object },
            Root::JniLocal {
                object,
                thread,
                frame: Some(1),
            },
            Root::JavaFrame {
                object,
                thread,
                frame: Some(0),
            },
            Root::JavaFrame {
                object: missing,
                thread,
                frame: Some(0),
            },
            Root::ThreadBlock { object, thread },
        ];
        let expected = [
            (RootKind::ThreadObject, own, vec![0, 0, 0, 1, 0, 0, 0, 2]),
            (RootKind::ThreadBlock, held, vec![0, 0, 0, 1]),
            (RootKind::JavaFrame, held, vec![0, 0, 0, 1, 0, 0, 0, 0]),
            (RootKind::JniLocal, held, [[0, 0, 0, 1], [255; 4]].concat()),
            (RootKind::JniGlobal, held, vec![0, 0, 0, 0, 0, 0, 0, 9]),
            (RootKind::MonitorUsed, held, vec![]),
            (RootKind::StickyClass, held, vec![]),
            (RootKind::JniGlobal, held, held.to_be_bytes().to_vec()),
        ];
        assert_eq!(written_roots(&given, &objects, &tables), expected);
        // A thread that is also reported by a root is still written only once.
        let trace = tables.threads.get(thread).unwrap().trace;
        let own_root = Root::ThreadObject {
            object: ObjectIndex::new(1).unwrap(),
            thread,
            trace,
        };
        let with_own = [&given[..], &[own_root]].concat();
        assert_eq!(written_roots(&with_own, &objects, &tables), expected);
    }

    #[test]
    fn no_reader_meets_a_thread_it_does_not_know() {
        let mut objects = ObjectTable::default();
        let object = objects.push_at(0x1_0000).unwrap();
        let held = objects.id(object).unwrap().get();
        let stranger = ThreadId::new(3).unwrap();
        let given = [Root::JavaFrame {
            object,
            thread: stranger,
            frame: Some(0),
        }];
        let expected = [(RootKind::JniGlobal, held, held.to_be_bytes().to_vec())];
        assert_eq!(
            written_roots(&given, &objects, &Tables::default()),
            expected
        );
    }
}
