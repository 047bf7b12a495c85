//! Translates HotSpot's file into ours.

use crate::objects::Objects;
use crate::records::{write_classes, write_roots};
use crate::rows::{Rows, Source};
use crate::survey::Survey;
use crate::{KnownByReference, Settings, Surroundings, TranslateError};
use tables::{ObjectId, ObjectTable, Tables};
use writer::{emit, start_worker, DumpFile, Segments, TailWriter, Written};

/// The contents of our file.
#[derive(Debug)]
pub struct Translated {
    /// The file.
    pub written: Written,
    /// Number of objects, including classes.
    pub objects: u64,
    /// Number of classes.
    pub classes: usize,
    /// Number of arrays that were cut because their records would exceed 4 GiB.
    pub cut_arrays: u64,
}

/// The facts about the heap that are not in HotSpot's file.
#[derive(Debug)]
pub struct Knowledge<'d> {
    /// The classes, strings and traces known so far; those of the file are added.
    pub tables: &'d Tables,
    /// The objects that rows of `tables` refer to; threads are added.
    pub objects: &'d mut ObjectTable,
    /// The facts about objects, by the agent's references.
    pub known: &'d KnownByReference,
    /// The records of allocation sites and CPU samples, or empty.
    pub site_records: &'d [u8],
}

/// Writes our file. Reads HotSpot's file twice, and once more if it has threads whose names are
/// unknown.
///
/// Errors: `Unreadable` for a file that is damaged, truncated or lacks names; `LittleMemory`,
/// `TableFull`; those of our file. After an error there is no file.
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
        // Includes classes, as for a forked copy.
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
    /// The agent's references in HotSpot's file.
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

    /// A file as HotSpot writes it: ids of strings are addresses, a class has two numbers, roots
    /// come last.
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
            let mut file = Self::with_classes(&[
                (1, OBJECT_CLASS, OBJECT),
                (2, THREAD_CLASS, JAVA_THREAD),
                // While a class is loaded, it has no class object.
                (5, 0, UNLINKED),
                (3, UNLINKED_CLASS, UNLINKED),
                (4, OBJECT_CLASS, OBJECT),
            ]);
            let line = 12_u32.to_be_bytes();
            let frame: [&[u8]; 6] = [
                &1_u64.to_be_bytes(),
                &string(RUN),
                &string(RUN_SIGNATURE),
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

        /// The start of a file: the names, and classes by serial number, id and name.
        fn with_classes(classes: &[(u32, u64, u64)]) -> Self {
            let mut file = Self(b"JAVA PROFILE 1.0.2\0\0\0\0\x08".to_vec());
            file.0.extend(77_u64.to_be_bytes());
            for (number, name) in (0_u64..).zip(NAMES) {
                file.record(record::UTF8, &[&string(number), name.as_bytes()]);
            }
            for (serial, class, name) in classes {
                let body: [&[u8]; 4] = [
                    &serial.to_be_bytes(),
                    &class.to_be_bytes(),
                    &[0, 0, 0, 1],
                    &string(*name),
                ];
                file.record(record::LOAD_CLASS, &body);
            }
            file
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

    /// Names, by the number of their string.
    const NAMES: [&str; 10] = [
        "java/lang/Object",
        "java/lang/Thread",
        "Unlinked",
        "field",
        "run",
        "()V",
        "java/lang/String",
        "name",
        "value",
        "coder",
    ];
    const OBJECT: u64 = 0;
    const JAVA_THREAD: u64 = 1;
    const UNLINKED: u64 = 2;
    const FIELD: u64 = 3;
    const RUN: u64 = 4;
    const RUN_SIGNATURE: u64 = 5;
    const JAVA_STRING: u64 = 6;
    const NAME: u64 = 7;
    const VALUE: u64 = 8;
    const CODER: u64 = 9;

    /// The values of a static int, of static references to a class without a record and to the
    /// thread, and of a long number that is that class's id, with their types.
    const STATICS: [(u8, &[u8]); 4] = [
        (10, &[0, 0, 0, 7]),
        (2, &[0, 0, 0, 0, 0, 0, 0x10, 0x10]),
        (2, &[0, 0, 0, 0, 0, 0, 0x20, 0]),
        (11, &[0, 0, 0, 0, 0, 0, 0x10, 0x10]),
    ];

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

    /// A class with these values of static fields and these types of fields; all fields have the
    /// same name.
    fn class(class: u64, above: u64, statics: &[(u8, &[u8])], fields: &[u8]) -> Vec<u8> {
        let fields: Vec<_> = fields.iter().map(|&kind| (FIELD, kind)).collect();
        class_with(class, above, statics, &fields)
    }

    /// A class with these values of static fields and these names and types of fields.
    fn class_with(
        class: u64,
        above: u64,
        statics: &[(u8, &[u8])],
        fields: &[(u64, u8)],
    ) -> Vec<u8> {
        let few = |count: usize| u16::try_from(count).expect("few").to_be_bytes();
        let mut bytes = vec![heap::CLASS_DUMP];
        bytes.extend(id(class));
        bytes.extend([0, 0, 0, 1]);
        bytes.extend(id(above));
        bytes.extend([0; 8 * 5]);
        bytes.extend([0, 0, 0, 12, 0, 0]);
        bytes.extend(few(statics.len()));
        for (kind, value) in statics {
            bytes.extend(string(FIELD));
            bytes.push(*kind);
            bytes.extend(*value);
        }
        bytes.extend(few(fields.len()));
        for (name, kind) in fields {
            bytes.extend(string(*name));
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
            [&[heap::ROOT_STICKY_CLASS][..], &id(OBJECT_CLASS)].concat(),
            [&[heap::ROOT_MONITOR_USED][..], &id(INTS)].concat(),
            global(ARRAY, 0x9000),
            global(THREAD, TO_THREAD),
            global(THREAD, TO_OWN),
            global(ARRAY, TO_ARRAY),
            of_thread(heap::ROOT_NATIVE_STACK, BYTES, &[]),
            local(u32::MAX),
            local(1),
            [&[heap::ROOT_STICKY_CLASS][..], &id(UNLINKED_CLASS)].concat(),
            of_thread(heap::ROOT_JAVA_FRAME, BYTES, &[0; 4]),
            of_thread(heap::ROOT_JAVA_FRAME, INTS, &[0, 0, 0, 1]),
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

    /// The result for HotSpot's file: counts, our file, and its contents.
    fn translation(
        surroundings: &dyn Surroundings,
        tables: &Tables,
        known: &KnownByReference,
        settings: &Settings,
    ) -> Result<(Translated, Vec<u8>, Summary), TranslateError> {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.hprof");
        let outlet = Target::new(&target);
        let trace = tables.traces.intern(Trace {
            thread: None,
            frames: Vec::new(),
        });
        assert_eq!(trace, TraceId::EMPTY);
        let knowledge = Knowledge {
            tables,
            objects: &mut ObjectTable::new(),
            known,
            site_records: &[],
        };
        let file = DumpFile::create(&outlet).expect("a file");
        let made = translate(surroundings, knowledge, settings, file)?;
        let bytes = fs::read(&target).expect("our file");
        let summary = summarize(&mut DumpReader::new(Box::new(bytes.as_slice())).expect("a dump"))
            .expect("a summary");
        Ok((made, bytes, summary))
    }

    /// Our file, in which one of the agent's traces allocated the array.
    fn translated(settings: &Settings) -> (Vec<u8>, Summary) {
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
        let known = known.into_iter().collect();
        let file = InMemory(HotSpot::file());
        let (made, bytes, summary) =
            translation(&file, &Tables::new(), &known, settings).expect("a dump");
        assert_eq!((made.objects, made.classes, made.cut_arrays), (6, 2, 0));
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
        let objects = records.iter().map(crate::survey::object_id);
        let objects: Vec<u64> = objects.filter(|&object| object != 0).collect();
        assert_eq!(objects, [THREAD, ARRAY, INTS, BYTES]);
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
        let numbers: Vec<u32> = loaded.iter().map(|class| class.serial).collect();
        assert_eq!(numbers, [1, 2, 3]);
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
        let serials = summary.threads.iter().map(|thread| thread.trace);
        let depths: Vec<_> = serials
            .map(|serial| summary.stacks.depth_frames(serial))
            .collect();
        assert_eq!(depths, [1]);
    }

    /// The types and values of the statics of the first class, and the values of both arrays, for
    /// these settings.
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
        let statics = |int, long| {
            let (reference, thread) = (BasicType::Object, THREAD);
            vec![
                (BasicType::Int, int),
                (reference, 0),
                (reference, thread),
                (BasicType::Long, long),
            ]
        };
        let wanted = vec![vec![1, 2, 3, 4, 5, 6, 7, 8], vec![7, 8, 9]];
        assert_eq!(values(&ALL), (statics(7, UNLINKED_CLASS), wanted.clone()));
        let no_fields = Settings {
            primitive_fields: false,
            ..ALL
        };
        assert_eq!(values(&no_fields), (statics(0, 0), wanted));
        let no_arrays = Settings {
            primitive_arrays: false,
            ..ALL
        };
        let zeros = vec![vec![0; 8], vec![0; 3]];
        assert_eq!(values(&no_arrays), (statics(7, UNLINKED_CLASS), zeros));
    }

    #[test]
    fn a_large_array_comes_through_piece_by_piece() {
        let values: Vec<u8> = (0..5_000_000_u32).flat_map(u32::to_be_bytes).collect();
        let length = u32::try_from(values.len() / 4).expect("short");
        let header = [&[heap::PRIM_ARRAY_DUMP][..], &id(INTS), &[0, 0, 0, 1]].concat();
        let mut file = HotSpot::with_classes(&[(1, OBJECT_CLASS, OBJECT)]);
        file.record(
            record::HEAP_DUMP_SEGMENT,
            &[
                &class(OBJECT_CLASS, 0, &[], &[]),
                &[&header[..], &length.to_be_bytes(), &[10]].concat(),
                &values,
            ],
        );
        let known = KnownByReference::default();
        let file = InMemory(file.0);
        let (_, bytes, _) = translation(&file, &Tables::new(), &known, &ALL).expect("a dump");
        assert!(data_of(&bytes, INTS) == values);
        assert_eq!(file.too_little_memory(), None);
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

    const STRING_CLASS: u64 = 0x1018;
    const LONG_STRING_CLASS: u64 = 0x1020;
    const STRING: u64 = 0x3000;
    const LETTERS: u64 = 0x3010;

    /// A file whose only thread has its name only in objects. The name is an instance of a subclass
    /// of `String`.
    fn named_by_objects() -> Vec<u8> {
        let mut file = HotSpot::with_classes(&[
            (1, OBJECT_CLASS, OBJECT),
            (2, THREAD_CLASS, JAVA_THREAD),
            (3, STRING_CLASS, JAVA_STRING),
            (4, LONG_STRING_CLASS, JAVA_STRING),
        ]);
        file.record(
            record::TRACE,
            &[&[0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 3], &[0; 24]],
        );
        let string_fields = [(VALUE, 2), (CODER, 8)];
        let instance = |object, class, data: &[u8]| {
            let length = u32::try_from(data.len()).expect("short").to_be_bytes();
            let parts = [&[heap::INSTANCE_DUMP][..], &id(object), &[0, 0, 0, 1]];
            [parts.concat(), [&id(class)[..], &length, data].concat()].concat()
        };
        let letters: [&[u8]; 5] = [
            &[heap::PRIM_ARRAY_DUMP],
            &id(LETTERS),
            &[0, 0, 0, 1],
            &[0, 0, 0, 2, 8],
            b"me",
        ];
        file.record(
            record::HEAP_DUMP_SEGMENT,
            &[
                &class(OBJECT_CLASS, 0, &[], &[]),
                &class_with(THREAD_CLASS, OBJECT_CLASS, &[], &[(NAME, 2)]),
                &class_with(STRING_CLASS, OBJECT_CLASS, &[], &string_fields),
                &class(LONG_STRING_CLASS, STRING_CLASS, &[], &[10]),
                &instance(THREAD, THREAD_CLASS, &id(STRING)),
                // The subclass's own field comes first.
                &instance(STRING, LONG_STRING_CLASS, &long_string([7; 4], LETTERS, 0)),
                &letters.concat(),
                &[heap::ROOT_THREAD_OBJ],
                &id(THREAD),
                &[0, 0, 0, 9, 0, 0, 0, 2],
            ],
        );
        file.record(record::HEAP_DUMP_END, &[]);
        file.0
    }

    fn long_string(own: [u8; 4], value: u64, coder: u8) -> Vec<u8> {
        [&own[..], &id(value), &[coder]].concat()
    }

    /// The data of this object of a file.
    fn data_of(bytes: &[u8], object: u64) -> Vec<u8> {
        let (records, mut data) = heap_records(bytes);
        let at = records
            .iter()
            .position(|record| crate::survey::object_id(record) == object);
        data.swap_remove(at.expect("a record"))
    }

    #[test]
    fn a_thread_that_is_not_known_has_the_name_that_its_objects_tell() {
        let file = InMemory(named_by_objects());
        let known = KnownByReference::default();
        let (_, _, summary) = translation(&file, &Tables::new(), &known, &ALL).expect("a dump");
        let names: Vec<_> = summary.threads.iter().map(|one| one.name.clone()).collect();
        assert_eq!(names, [Some("me".into())]);
    }

    #[test]
    fn values_of_fields_are_zeros_above_and_below_a_reference() {
        let known = KnownByReference::default();
        let no_fields = Settings {
            primitive_fields: false,
            ..ALL
        };
        let mut file = named_by_objects();
        // A coder that is not zero.
        let value = [&id(LETTERS)[..], &[0]].concat();
        let at = file.windows(9).position(|part| part == value);
        file[at.expect("the string") + 8] = 5;
        for (settings, expected) in [
            (ALL, long_string([7; 4], LETTERS, 5)),
            (no_fields, long_string([0; 4], LETTERS, 0)),
        ] {
            let file = InMemory(file.clone());
            let (_, bytes, _) =
                translation(&file, &Tables::new(), &known, &settings).expect("a dump");
            assert_eq!(data_of(&bytes, STRING), expected);
        }
    }

    #[test]
    fn what_the_agent_knew_of_a_class_stays_and_its_own_objects_go() {
        let tables = Tables::new();
        let intern = |text: &str| tables.strings.intern(text.as_bytes());
        let class = tables.classes.add(tables::ClassRow {
            signature: intern("Ljava/lang/Object;"),
            name: intern("of the agent"),
            loader: None,
            super_class: None,
            fields: None,
        });
        let mut heap = Vec::new();
        // The last reference is unknown, and leads to an object that is removed.
        let references = [(OBJECT_CLASS, 0x7020), (INTS, 0x7028), (INTS, 0x7030)];
        for (object, reference) in references {
            heap.extend([&[heap::ROOT_JNI_GLOBAL][..], &id(object), &id(reference)].concat());
        }
        let mut file = HotSpot::with_classes(&[(1, OBJECT_CLASS, OBJECT)]);
        let objects = class_with(OBJECT_CLASS, 0, &[], &[]);
        file.record(record::HEAP_DUMP_SEGMENT, &[&objects, &VALUES, &heap]);
        let known = [(0x7020, Known::Class(class)), (0x7028, Known::Agents)];
        let known = known.into_iter().collect();
        let file = InMemory(file.0);
        let (made, bytes, _) = translation(&file, &tables, &known, &ALL).expect("a dump");
        // The class and the array of bytes.
        assert_eq!((made.objects, made.classes), (2, 1));
        let (records, _) = heap_records(&bytes);
        let objects: Vec<u64> = records.iter().map(crate::survey::object_id).collect();
        assert_eq!(objects, [0, BYTES]);
        let row = tables.classes.get(class).expect("a row");
        assert_eq!(tables.classes.len(), 1);
        assert_eq!(row.signature, intern("Ljava/lang/Object;"));
        assert_eq!(row.name, intern("java/lang/Object"));
    }

    #[test]
    fn a_stack_has_as_many_frames_as_are_wanted_and_lines_if_they_are() {
        for (depth_frames, line_numbers, lines) in [
            (None, true, &[12][..]),
            (Some(1), false, &[-1]),
            (Some(0), true, &[]),
        ] {
            let settings = Settings {
                depth_frames,
                line_numbers,
                ..ALL
            };
            let (bytes, _) = translated(&settings);
            let mut dump = DumpReader::new(Box::new(bytes.as_slice())).expect("a dump");
            let mut found = Vec::new();
            while let Some(event) = dump.next_event().expect("an event") {
                if let Event::Record(_, reader::Record::Frame(frame)) = event {
                    found.push(frame.line);
                }
            }
            assert_eq!(found, lines, "{settings:?}");
        }
    }

    /// A file that counts reports of progress, has other contents when it is read for the last
    /// time, and has this much memory left.
    struct Watched {
        file: Vec<u8>,
        finally: Vec<u8>,
        life: std::cell::Cell<u32>,
        left_bytes: Option<u64>,
    }

    impl Surroundings for Watched {
        fn open(&self) -> Box<dyn Read + '_> {
            Box::new(self.file.as_slice())
        }

        fn open_finally(&self) -> Box<dyn Read + '_> {
            Box::new(self.finally.as_slice())
        }

        fn show_life(&self) {
            self.life.set(self.life.get() + 1);
        }

        fn too_little_memory(&self) -> Option<u64> {
            self.left_bytes
        }
    }

    impl Watched {
        fn new(file: Vec<u8>) -> Self {
            Self {
                finally: file.clone(),
                file,
                life: std::cell::Cell::new(0),
                left_bytes: None,
            }
        }

        fn translation(&self) -> Result<Translated, TranslateError> {
            let known = KnownByReference::default();
            translation(self, &Tables::new(), &known, &ALL).map(|(made, ..)| made)
        }
    }

    /// A file with a class and `count` empty arrays.
    fn empty_arrays(count: u64) -> Vec<u8> {
        let mut file = HotSpot::with_classes(&[(1, OBJECT_CLASS, OBJECT)]);
        let mut arrays = class(OBJECT_CLASS, 0, &[], &[]);
        for number in 0..count {
            arrays.push(heap::PRIM_ARRAY_DUMP);
            arrays.extend(id(0x10_0000 + number * 16));
            arrays.extend([0, 0, 0, 1, 0, 0, 0, 0, 8]);
        }
        file.record(record::HEAP_DUMP_SEGMENT, &[&arrays]);
        file.0
    }

    #[test]
    fn a_long_translation_shows_life_and_looks_at_what_memory_is_left() {
        let few = Watched::new(empty_arrays(100));
        assert!(few.translation().is_ok());
        assert_eq!(few.life.get(), 0);
        let many = Watched::new(empty_arrays(1 << 17));
        assert!(many.translation().is_ok());
        // One report for every 65,536 objects written.
        assert_eq!(many.life.get(), 2);
        // The survey checks the memory after 2^20 objects.
        let mut many = Watched::new(empty_arrays(1 << 20));
        many.left_bytes = Some(99);
        let error = many.translation().map(|made| made.objects);
        assert_eq!(error, Err(TranslateError::LittleMemory { left_bytes: 99 }));
        assert_eq!(many.life.get(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_translated_is_refused_with_what_was_found() {
        let refused = |file: &Watched| file.translation().expect_err("a refusal").to_string();
        let mut changed = Watched::new(empty_arrays(3));
        changed.finally = empty_arrays(2);
        assert_eq!(refused(&changed), "it has changed");
        let mut no_classes = HotSpot::with_classes(&[]);
        no_classes.record(record::HEAP_DUMP_END, &[]);
        assert_eq!(refused(&Watched::new(no_classes.0)), "it names no classes");
        let mut nameless = HotSpot::with_classes(&[(1, OBJECT_CLASS, OBJECT)]);
        let object = class(0, 0, &[], &[]);
        nameless.record(record::HEAP_DUMP_SEGMENT, &[&object]);
        assert_eq!(refused(&Watched::new(nameless.0)), "an object has the id 0");
        let mut cut = empty_arrays(3);
        cut.pop();
        assert!(refused(&Watched::new(cut)).contains("ends"));
    }
}
