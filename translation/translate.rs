//! From HotSpot's file to ours.

use crate::objects::Objects;
use crate::records::{write_classes, write_roots};
use crate::rows::{Rows, Source};
use crate::survey::Survey;
use crate::{KnownByReference, Surroundings, TranslateError};
use tables::{ObjectId, ObjectTable, Tables};
use writer::{emit, start_worker, DumpFile, Segments, TailWriter, Written};

/// What the user wants of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether fields of primitive types have their values; zeros otherwise.
    pub primitive_fields: bool,
    /// Whether arrays of primitive types have their values; zeros otherwise.
    pub primitive_arrays: bool,
    /// Whether frames have line numbers.
    pub line_numbers: bool,
    /// Most frames of a thread's stack; `None` for all.
    pub depth_frames: Option<u32>,
    /// Threads that compress objects, at least 1.
    pub threads: usize,
}

/// What our file holds.
#[derive(Debug)]
pub struct Translated {
    /// The file.
    pub written: Written,
    /// Objects in it, classes included.
    pub objects: u64,
    /// Classes in it.
    pub classes: usize,
    /// Arrays without their end, because their records would pass 4 GiB.
    pub cut_arrays: u64,
}

/// What is known of the heap beside HotSpot's file.
#[derive(Debug)]
pub struct Knowledge<'d> {
    /// The classes, strings and traces known so far; what the file names is added.
    pub tables: &'d Tables,
    /// The objects that rows of `tables` refer to; threads are added.
    pub objects: &'d mut ObjectTable,
    /// What references of the agent's led to.
    pub known: &'d KnownByReference,
    /// The records of allocation sites and CPU samples, or nothing.
    pub site_records: &'d [u8],
}

/// Writes our file. Reads HotSpot's once, once more if it has threads whose names are unknown, and then finally.
///
/// Errors: `Unreadable` for a file that is damaged, ends early or lacks names; `LittleMemory`, `TableFull`; those of the
/// file that is written. After an error there is no file.
pub fn translate(
    surroundings: &dyn Surroundings,
    knowledge: Knowledge<'_>,
    settings: &Settings,
    file: DumpFile,
) -> Result<Translated, TranslateError> {
    let mut survey = Survey::of(surroundings)?;
    let tables = knowledge.tables;
    let source = Source {
        survey: &mut survey,
        tables,
        objects: &mut *knowledge.objects,
        settings,
    };
    let rows = Rows::fill(source, knowledge.known, surroundings)?;
    emit::head(
        tables,
        knowledge.objects,
        |class| ObjectId::new(rows.class_object(class)?),
        survey.millis_since_epoch,
        &mut |bytes| file.head(bytes),
    )?;
    file.head(knowledge.site_records.to_vec())?;
    file.flush()?;
    let tail = TailWriter::start(file.tail()?, settings.threads, start_worker)?;
    let mut segments = Segments::new(tail.sender());
    write_classes(&survey, &rows, settings.primitive_fields, &mut segments)?;
    write_roots(&survey, &rows, &mut segments)?;
    let objects = Objects::new(&survey, &rows, settings, segments);
    let cut_arrays = objects.write(surroundings)?;
    let written = file.finish_with_tail(tail.finish()?)?;
    Ok(Translated {
        written,
        // As with a fork, classes count, too.
        objects: survey.objects + survey.classes.len() as u64 - rows.agents.len() as u64,
        classes: survey.classes.len(),
        cut_arrays,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Known, ThreadNames};
    use format::{heap, record, BasicType};
    use reader::{summarize, DumpReader, Event, HeapRecord, Root, RootKind, Summary};
    use std::fs;
    use std::io::Read;
    use tables::{Trace, TraceId};
    use writer::Target;

    const OBJECT_CLASS: u64 = 0x1000;
    const THREAD_CLASS: u64 = 0x1008;
    const UNLINKED_CLASS: u64 = 0x1010;
    const THREAD: u64 = 0x2000;
    const ARRAY: u64 = 0x2010;
    const INTS: u64 = 0x2020;
    const BYTES: u64 = 0x2040;
    const NOWHERE: u64 = 0x2F00;
    /// Where HotSpot has the agent's references.
    const TO_THREAD: u64 = 0x7000;
    const TO_OWN: u64 = 0x7008;
    const TO_ARRAY: u64 = 0x7010;

    const ALL: Settings = Settings {
        primitive_fields: true,
        primitive_arrays: true,
        line_numbers: true,
        depth_frames: None,
        threads: 1,
    };

    struct InMemory(Vec<u8>);

    impl Surroundings for InMemory {
        fn open(&self) -> Box<dyn Read + '_> {
            Box::new(self.0.as_slice())
        }
    }

    /// A file as HotSpot writes it: strings have addresses, a class has two numbers, roots come last.
    #[derive(Default)]
    struct HotSpot(Vec<u8>);

    impl HotSpot {
        fn record(&mut self, tag: u8, body: &[&[u8]]) {
            let body = body.concat();
            self.0.push(tag);
            self.0.extend([0; 4]);
            self.0
                .extend(u32::try_from(body.len()).expect("short").to_be_bytes());
            self.0.extend(body);
        }

        fn file() -> Vec<u8> {
            let mut file = Self(b"JAVA PROFILE 1.0.2\0\0\0\0\x08".to_vec());
            file.0.extend(77_u64.to_be_bytes());
            let names = [
                "java/lang/Object",
                "java/lang/Thread",
                "Unlinked",
                "field",
                "run",
                "()V",
            ];
            for (number, name) in (0_u64..).zip(names) {
                file.record(record::UTF8, &[&string(number), name.as_bytes()]);
            }
            for (serial, class, name) in [
                (1_u32, OBJECT_CLASS, 0),
                (2, THREAD_CLASS, 1),
                (3, UNLINKED_CLASS, 2),
                (4, OBJECT_CLASS, 0),
            ] {
                let body: [&[u8]; 4] = [
                    &serial.to_be_bytes(),
                    &class.to_be_bytes(),
                    &[0, 0, 0, 1],
                    &string(name),
                ];
                file.record(record::LOAD_CLASS, &body);
            }
            let line = 12_u32.to_be_bytes();
            let frame: [&[u8]; 6] = [
                &1_u64.to_be_bytes(),
                &string(4),
                &string(5),
                &[0; 8],
                &[0, 0, 0, 4],
                &line,
            ];
            file.record(record::FRAME, &frame);
            file.record(record::TRACE, &[&[0, 0, 0, 1], &[0; 8]]);
            file.record(
                record::TRACE,
                &[&[0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 1], &1_u64.to_be_bytes()],
            );
            file.heap();
            file.record(record::HEAP_DUMP_END, &[]);
            file.0
        }

        fn heap(&mut self) {
            self.record(
                record::HEAP_DUMP_SEGMENT,
                &[
                    &class(OBJECT_CLASS, 0, &STATICS, &[]),
                    &class(THREAD_CLASS, OBJECT_CLASS, &[], &[10, 2]),
                ],
            );
            let thread: [&[u8]; 7] = [
                &[heap::INSTANCE_DUMP],
                &id(THREAD),
                &[0, 0, 0, 1],
                &id(THREAD_CLASS),
                &[0, 0, 0, 12],
                &[9; 4],
                &id(UNLINKED_CLASS),
            ];
            let array: [&[u8]; 7] = [
                &[heap::OBJ_ARRAY_DUMP],
                &id(ARRAY),
                &[0, 0, 0, 1],
                &[0, 0, 0, 2],
                &id(OBJECT_CLASS),
                &id(THREAD),
                &id(NOWHERE),
            ];
            self.record(
                record::HEAP_DUMP_SEGMENT,
                &[&thread.concat(), &array.concat(), &VALUES, &roots()],
            );
        }
    }

    /// The values of a static int and of a static reference to a class without a record, with their types.
    const STATICS: [(u8, &[u8]); 2] = [(10, &[0, 0, 0, 7]), (2, &[0, 0, 0, 0, 0, 0, 0x10, 0x10])];

    /// Arrays of two ints and of three bytes.
    const VALUES: [u8; 47] = [
        heap::PRIM_ARRAY_DUMP,
        0,
        0,
        0,
        0,
        0,
        0,
        0x20,
        0x20,
        0,
        0,
        0,
        1,
        0,
        0,
        0,
        2,
        10,
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        heap::PRIM_ARRAY_DUMP,
        0,
        0,
        0,
        0,
        0,
        0,
        0x20,
        0x40,
        0,
        0,
        0,
        1,
        0,
        0,
        0,
        3,
        8,
        7,
        8,
        9,
    ];

    fn id(id: u64) -> [u8; 8] {
        id.to_be_bytes()
    }

    fn string(number: u64) -> [u8; 8] {
        id(0x7F00_0000_0000 + 8 * number)
    }

    /// A class whose statics have these values, and whose fields these types; all have one name.
    fn class(class: u64, above: u64, statics: &[(u8, &[u8])], fields: &[u8]) -> Vec<u8> {
        let few = |count: usize| u16::try_from(count).expect("few").to_be_bytes();
        let mut bytes = vec![heap::CLASS_DUMP];
        bytes.extend(id(class));
        bytes.extend([0, 0, 0, 1]);
        bytes.extend(id(above));
        bytes.extend([0; 8 * 5]);
        bytes.extend([0, 0, 0, 12, 0, 0]);
        bytes.extend(few(statics.len()));
        for (kind, value) in statics {
            bytes.extend(string(3));
            bytes.push(*kind);
            bytes.extend(*value);
        }
        bytes.extend(few(fields.len()));
        for kind in fields {
            bytes.extend(string(3));
            bytes.push(*kind);
        }
        bytes
    }

    fn roots() -> Vec<u8> {
        let global = |object, reference| {
            [&[heap::ROOT_JNI_GLOBAL][..], &id(object), &id(reference)].concat()
        };
        let of_thread =
            |tag, object, frame: &[u8]| [&[tag][..], &id(object), &[0, 0, 0, 9], frame].concat();
        let local = |frame: u32| of_thread(heap::ROOT_JNI_LOCAL, ARRAY, &frame.to_be_bytes());
        [
            global(ARRAY, 0x9000),
            global(THREAD, TO_THREAD),
            global(THREAD, TO_OWN),
            global(ARRAY, TO_ARRAY),
            local(u32::MAX),
            local(3),
            [&[heap::ROOT_STICKY_CLASS][..], &id(UNLINKED_CLASS)].concat(),
            [&[heap::ROOT_STICKY_CLASS][..], &id(OBJECT_CLASS)].concat(),
            [&[heap::ROOT_MONITOR_USED][..], &id(INTS)].concat(),
            of_thread(heap::ROOT_NATIVE_STACK, BYTES, &[]),
            of_thread(heap::ROOT_JAVA_FRAME, BYTES, &[0; 4]),
            of_thread(heap::ROOT_JAVA_FRAME, INTS, &[0, 0, 0, 3]),
            of_thread(heap::ROOT_THREAD_BLOCK, ARRAY, &[]),
            [
                &[heap::ROOT_THREAD_OBJ][..],
                &id(THREAD),
                &[0, 0, 0, 9, 0, 0, 0, 2],
            ]
            .concat(),
        ]
        .concat()
    }

    /// Our file, where the array was allocated by a trace of the agent's.
    fn translated(settings: &Settings) -> (Vec<u8>, Summary) {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.hprof");
        let outlet = Target::new(&target);
        let tables = Tables::new();
        let trace = tables.traces.intern(Trace {
            thread: None,
            frames: Vec::new(),
        });
        assert_eq!(trace, TraceId::EMPTY);
        let names = ThreadNames {
            name: b"the thread".to_vec(),
            ..ThreadNames::default()
        };
        let other = TraceId::new(5).expect("a number");
        let known = [
            (TO_THREAD, Known::Thread(names)),
            (TO_OWN, Known::OwnThread),
            (TO_ARRAY, Known::Allocated(other)),
        ];
        let knowledge = Knowledge {
            tables: &tables,
            objects: &mut ObjectTable::new(),
            known: &known.into_iter().collect(),
            site_records: &[],
        };
        let file = DumpFile::create(&outlet).expect("a file");
        let made =
            translate(&InMemory(HotSpot::file()), knowledge, settings, file).expect("a dump");
        assert_eq!((made.objects, made.classes, made.cut_arrays), (6, 2, 0));
        let bytes = fs::read(&target).expect("our file");
        let summary = summarize(&mut DumpReader::new(Box::new(bytes.as_slice())).expect("a dump"))
            .expect("a summary");
        (bytes, summary)
    }

    fn heap_records(bytes: &[u8]) -> (Vec<HeapRecord>, Vec<Vec<u8>>) {
        let mut dump = DumpReader::new(Box::new(bytes)).expect("a dump");
        let (mut records, mut data) = (Vec::new(), Vec::new());
        while let Some(event) = dump.next_event().expect("an event") {
            match event {
                Event::Heap(_, record) => {
                    records.push(record);
                    data.push(Vec::new());
                    dump.read_data(data.last_mut().expect("a place"))
                        .expect("data");
                }
                Event::Damage(damage) => panic!("{damage:?}"),
                _ => {}
            }
        }
        (records, data)
    }

    #[test]
    fn what_the_agent_holds_is_known_again_and_left_out() {
        let (bytes, _) = translated(&ALL);
        let (records, data) = heap_records(&bytes);
        let roots: Vec<&Root> = records
            .iter()
            .filter_map(|record| match record {
                HeapRecord::Root(root) => Some(root),
                _ => None,
            })
            .collect();
        let found: Vec<_> = roots
            .iter()
            .map(|root| (root.kind, root.object, root.frame_number))
            .collect();
        let beyond_the_stack = Some(u32::MAX);
        assert_eq!(
            found,
            [
                (RootKind::ThreadObject, THREAD, None),
                (RootKind::ThreadBlock, ARRAY, None),
                (RootKind::JavaFrame, BYTES, Some(0)),
                (RootKind::JavaFrame, INTS, beyond_the_stack),
                (RootKind::JniLocal, ARRAY, beyond_the_stack),
                // Some readers refuse roots of native stacks.
                (RootKind::JniGlobal, BYTES, None),
                (RootKind::JniGlobal, ARRAY, None),
                (RootKind::MonitorUsed, INTS, None),
                (RootKind::StickyClass, OBJECT_CLASS, None),
            ]
        );
        let references: Vec<_> = roots.iter().filter_map(|root| root.reference).collect();
        assert_eq!(references, [0, 0x9000]);
        for (record, data) in records.iter().zip(&data) {
            match record {
                HeapRecord::ObjectArray(array) => {
                    assert_eq!((array.object, array.trace), (ARRAY, 5));
                    assert_eq!(
                        data[..],
                        [id(THREAD), [0; 8]].concat(),
                        "what is nowhere is null"
                    );
                }
                HeapRecord::Instance(instance) => {
                    assert_eq!((instance.object, instance.trace), (THREAD, 1));
                    assert_eq!(
                        data[..],
                        [9, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0],
                        "a class without a record is null"
                    );
                }
                _ => {}
            }
        }
    }

    #[test]
    fn threads_have_names_and_stacks_and_classes_one_number() {
        let (bytes, summary) = translated(&ALL);
        let mut dump = DumpReader::new(Box::new(bytes.as_slice())).expect("a dump");
        let (mut loaded, mut frames) = (Vec::new(), Vec::new());
        let mut strings = std::collections::HashMap::new();
        while let Some(event) = dump.next_event().expect("an event") {
            match event {
                Event::Record(_, reader::Record::Utf8(string)) => {
                    strings.insert(string.id, string.text);
                }
                Event::Record(_, reader::Record::LoadClass(class)) => loaded.push(class),
                Event::Record(_, reader::Record::Frame(frame)) => frames.push(frame),
                _ => {}
            }
        }
        let objects: Vec<u64> = loaded.iter().map(|class| class.class).collect();
        assert_eq!(objects, [OBJECT_CLASS, THREAD_CLASS, UNLINKED_CLASS]);
        let names: Vec<_> = loaded
            .iter()
            .map(|class| strings.get(&class.name).map(Vec::as_slice))
            .collect();
        let expected = ["java/lang/Object", "java/lang/Thread", "Unlinked"];
        assert_eq!(names, expected.map(|name| Some(name.as_bytes())));
        let [frame] = frames.as_slice() else {
            panic!("{frames:?}");
        };
        assert_eq!(frame.line, 12);
        assert_eq!(
            Some(frame.class_serial),
            loaded.first().map(|class| class.serial)
        );
        let names: Vec<_> = summary
            .threads
            .iter()
            .map(|thread| thread.name.clone())
            .collect();
        assert_eq!(names, [Some("the thread".into())]);
    }

    /// The types and values of the statics of the first class, and the values of both arrays, for these settings.
    fn values(settings: &Settings) -> (Vec<(BasicType, u64)>, Vec<Vec<u8>>) {
        let (records, data) = heap_records(&translated(settings).0);
        let (mut statics, mut arrays) = (Vec::new(), Vec::new());
        for (record, data) in records.into_iter().zip(data) {
            match record {
                HeapRecord::Class(class) if class.class == OBJECT_CLASS => {
                    statics.extend(class.statics.iter().map(|field| (field.kind, field.value)));
                }
                HeapRecord::PrimitiveArray(array) => {
                    assert_eq!(
                        array.length as usize * array.kind.size_bytes(8) as usize,
                        data.len()
                    );
                    arrays.push(data);
                }
                _ => {}
            }
        }
        (statics, arrays)
    }

    #[test]
    fn values_come_through_if_they_are_wanted() {
        let (int, reference) = (BasicType::Int, BasicType::Object);
        let wanted = vec![vec![1, 2, 3, 4, 5, 6, 7, 8], vec![7, 8, 9]];
        assert_eq!(
            values(&ALL),
            (vec![(int, 7), (reference, 0)], wanted.clone())
        );
        let no_fields = Settings {
            primitive_fields: false,
            ..ALL
        };
        assert_eq!(values(&no_fields), (vec![(int, 0), (reference, 0)], wanted));
        let no_arrays = Settings {
            primitive_arrays: false,
            ..ALL
        };
        let zeros = vec![vec![0; 8], vec![0; 3]];
        assert_eq!(values(&no_arrays), (vec![(int, 7), (reference, 0)], zeros));
    }

    #[test]
    fn the_time_is_that_of_hotspots_file() {
        let bytes = translated(&ALL).0;
        let dump = DumpReader::new(Box::new(bytes.as_slice())).expect("a dump");
        assert_eq!(dump.header().time_millis, 77);
    }

    #[test]
    fn values_that_are_not_wanted_are_zeros() {
        let settings = Settings {
            primitive_fields: false,
            line_numbers: false,
            ..ALL
        };
        let (records, data) = heap_records(&translated(&settings).0);
        let instance = records
            .iter()
            .position(|record| matches!(record, HeapRecord::Instance(_)));
        assert_eq!(data[instance.expect("an instance")], [0; 12]);
    }
}
