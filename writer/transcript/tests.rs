//! Whole dumps as text: a golden to read, every way that records take, and files that are not whole.

use super::*;
use crate::heap_record::{
    ClassDump, InstanceHeader, ObjectArrayHeader, PrimitiveArrayHeader, RootRecord, StaticField,
    Value,
};
use crate::profile::{Site, SiteOrder, SiteTotals, Sites};
use crate::profile_record::AllocSites;
use crate::record::HeapDumpEnd;
use crate::{emit, DumpFile, GzipLevel, Segments, TailWriter, Target};
use format::BasicType;
use proptest::prelude::*;
use std::fs;
use std::io::Cursor;
use tables::{
    ClassId, ClassRow, Frame as FrameRow, FrameId, Line, ObjectId, ObjectIndex, ObjectTable,
    StringId, Tables, ThreadId, ThreadRow, Trace as TraceRow, TraceId,
};

fn id(address: u64) -> ObjectId {
    ObjectId::new(address).unwrap()
}

/// What stands before the segments, what stands in those before the objects, and the objects.
struct Dump {
    head: Vec<u8>,
    classes: Vec<u8>,
    objects: Vec<u8>,
}

impl Dump {
    /// A list of two nodes and a leaf, an array of them, an array of bytes; a thread that made them.
    fn sample() -> Self {
        let tables = Tables::new();
        let name = |text: &str| tables.strings.intern(text.as_bytes());
        let names = [
            "java/lang/Object",
            "demo/Node",
            "demo/Leaf",
            "[Ldemo/Node;",
            "[B",
        ];
        let classes: Vec<ClassId> = names.iter().map(|text| add_class(&tables, text)).collect();
        let mut objects = ObjectTable::new();
        let own = objects.push_at(0x900).unwrap();
        let (thread, traces) = add_thread(&tables, classes[1], own);
        let [trace, allocating] = traces;
        let fields = Fields::new(name);
        let mut head = Vec::new();
        let mut deliver = |bytes: Vec<u8>| {
            head.extend(bytes);
            Ok(())
        };
        // Tue Jul 24 17:50:46 2018, UTC.
        let millis = 1_532_454_646_999;
        let mirror = |class: ClassId| ObjectId::new(u64::from(class.get()) * 0x100);
        emit::head(&tables, &objects, mirror, millis, &mut deliver).unwrap();
        head.extend(site_record(classes[4], allocating));
        let roots = [
            RootRecord::ThreadObject(id(0x900), thread, trace),
            RootRecord::ThreadBlock(id(0x7c8), thread),
            RootRecord::JavaFrame(id(0x7c8), thread, Some(1)),
            RootRecord::JniLocal(id(0x7d0), thread, None),
            RootRecord::JniGlobal(id(0x7d0), 0x1f),
            RootRecord::MonitorUsed(id(0x7c8)),
            RootRecord::StickyClass(id(0x200)),
        ];
        Self {
            head,
            classes: segments(|segments| {
                class_records(&fields)
                    .iter()
                    .for_each(|class| segments.record(|out| class.encode(out)).unwrap());
                roots
                    .iter()
                    .for_each(|root| segments.record(|out| root.encode(out)).unwrap());
            }),
            objects: segments(|segments| object_records(allocating, segments)),
        }
    }

    /// The records in the order of a file.
    fn file(&self) -> Vec<u8> {
        let mut file = [&self.head[..], &self.classes, &self.objects].concat();
        HeapDumpEnd.encode(&mut file).unwrap();
        file
    }
}

/// A thread, its stack, and the stack of an allocation.
fn add_thread(tables: &Tables, class: ClassId, object: ObjectIndex) -> (ThreadId, [TraceId; 2]) {
    let name = |text: &str| tables.strings.intern(text.as_bytes());
    let frames = [("work", Line::Number(79)), ("main", Line::Unknown)].map(|(method, line)| {
        tables.frames.intern(FrameRow {
            class,
            method: name(method),
            signature: name("()V"),
            source: name("Node.java"),
            line,
        })
    });
    let row = ThreadRow {
        object,
        name: name("say \"hi\""),
        group: name("main"),
        parent_group: name("system"),
        trace: TraceId::EMPTY,
    };
    let thread = tables.threads.add(row.clone());
    let of = |thread, frames: &[FrameId]| {
        let frames = frames.to_vec();
        tables.traces.intern(TraceRow { thread, frames })
    };
    let trace = of(Some(thread), &frames);
    tables.threads.replace(thread, ThreadRow { trace, ..row });
    (thread, [trace, of(None, &frames[..1])])
}

fn add_class(tables: &Tables, text: &str) -> ClassId {
    let name = tables.strings.intern(text.as_bytes());
    tables.classes.add(ClassRow {
        signature: name,
        name,
        loader: None,
        super_class: None,
        interfaces: Vec::new(),
        fields: Some(Vec::new()),
    })
}

/// The fields of the sample's classes.
struct Fields {
    node: [(StringId, BasicType); 3],
    leaf: [(StringId, BasicType); 1],
    statics: [StaticField; 3],
}

impl Fields {
    fn new(name: impl Fn(&str) -> StringId) -> Self {
        let field = |text, value| StaticField {
            name: name(text),
            value,
        };
        Self {
            node: [
                (name("number"), BasicType::Int),
                (name("next"), BasicType::Object),
                (name("descendants"), BasicType::Object),
            ],
            leaf: [(name("label"), BasicType::Object)],
            statics: [
                field("COUNT", Value::Long(3)),
                field("FIRST", Value::Object(ObjectId::new(0x7c8))),
                field("LAST", Value::Object(None)),
            ],
        }
    }
}

fn class_records(fields: &Fields) -> [ClassDump<'_>; 5] {
    let object = ClassDump {
        class: id(0x100),
        super_class: None,
        loader: None,
        signers: None,
        protection_domain: None,
        instance_size_bytes: 0,
        statics: &[],
        fields: &[],
    };
    let node = ClassDump {
        class: id(0x200),
        super_class: Some(id(0x100)),
        loader: Some(id(0x910)),
        signers: Some(id(0x918)),
        protection_domain: Some(id(0x920)),
        instance_size_bytes: 20,
        statics: &fields.statics,
        fields: &fields.node,
    };
    let leaf = ClassDump {
        class: id(0x300),
        super_class: Some(id(0x200)),
        loader: Some(id(0x910)),
        instance_size_bytes: 28,
        fields: &fields.leaf,
        ..object
    };
    let array = |class| ClassDump {
        class: id(class),
        super_class: Some(id(0x100)),
        ..object
    };
    [object, node, leaf, array(0x400), array(0x500)]
}

fn object_records(
    trace: TraceId,
    segments: &mut Segments<&mut dyn FnMut(Vec<u8>) -> Result<(), WriteError>>,
) {
    let mut instance = |object, class, values: &[u8]| {
        let header = InstanceHeader {
            object: id(object),
            trace,
            class: id(class),
        };
        let length = u32::try_from(values.len()).unwrap();
        segments
            .record(|out| {
                header.encode(length, out);
                out.extend_from_slice(values);
                Ok(())
            })
            .unwrap();
    };
    let node = |next: u64, descendants: u64| {
        let number = 7_i32.to_be_bytes();
        [&number[..], &next.to_be_bytes(), &descendants.to_be_bytes()].concat()
    };
    instance(0x7c8, 0x200, &node(0x7d0, 0x7e0));
    let label = 0x7f0_u64.to_be_bytes();
    instance(0x7d0, 0x300, &[&label[..], &node(0, 0)].concat());
    instance(0x900, 0x100, &[]);
    let header = ObjectArrayHeader {
        object: id(0x7e0),
        trace: TraceId::EMPTY,
        class: id(0x400),
    };
    let elements = [0_u64, 0x7d0, 0].map(u64::to_be_bytes).concat();
    segments.object_array(&header, &elements).unwrap();
    let header = PrimitiveArrayHeader {
        object: id(0x7f0),
        trace,
        element_type: BasicType::Byte,
    };
    segments.primitive_array(&header, b"a leaf").unwrap();
}

/// The delivered bytes of these sub-records.
fn segments(
    fill: impl FnOnce(&mut Segments<&mut dyn FnMut(Vec<u8>) -> Result<(), WriteError>>),
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut receive = |piece: Vec<u8>| {
        bytes.extend(piece);
        Ok(())
    };
    let mut segments = Segments::new(&mut receive as &mut dyn FnMut(_) -> _);
    fill(&mut segments);
    segments.finish().unwrap();
    bytes
}

fn site_record(class: ClassId, trace: TraceId) -> Vec<u8> {
    let totals = |bytes| SiteTotals { bytes, objects: 1 };
    let site = Site {
        class,
        signature: b"[B",
        trace,
        live: totals(24),
        allocated: totals(48),
    };
    let sites = [site];
    let mut out = Vec::new();
    let sites = Sites::new(&sites, SiteOrder::LiveBytes, 0.0001);
    AllocSites { sites: &sites }.encode(&mut out).unwrap();
    out
}

/// The text of a file of records, at Greenwich.
fn text(file: &[u8]) -> Result<String, WriteError> {
    text_at(0, file)
}

fn text_at(utc_offset_seconds: i32, file: &[u8]) -> Result<String, WriteError> {
    let mut text = Vec::new();
    let deliver = |bytes: Vec<u8>| {
        text.extend(bytes);
        Ok(())
    };
    let path = Path::new("a.txt.spool");
    let sizes = ObjectSizes::default();
    transcribe(Cursor::new(file), path, &sizes, utc_offset_seconds, deliver)?;
    Ok(String::from_utf8(text).unwrap())
}

/// `BLESS=1 cargo test -p hprof-writer --lib transcript` rewrites the golden; review the difference.
#[test]
fn a_dump_is_what_a_person_expects_to_read() {
    let text = text(&Dump::sample().file()).unwrap();
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/text/transcribed_heap_dump.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&path).unwrap());
}

#[test]
fn the_first_line_counts_the_others() {
    let text = text(&Dump::sample().file()).unwrap();
    let lines = |start: &str| {
        let start = start.to_owned();
        text.lines().filter(move |line| line.starts_with(&start))
    };
    let count = ["OBJ ", "ARR ", "CLS "].map(|start| lines(start).count());
    assert_eq!(count, [3, 2, 5]);
    let size = |line: &str| -> u64 {
        let (_, rest) = line.split_once("(sz=").unwrap();
        rest.split_once(',').unwrap().0.parse().unwrap()
    };
    let bytes: u64 = lines("OBJ ").chain(lines("ARR ")).map(size).sum();
    let first = format!("HEAP DUMP BEGIN (10 objects, {bytes} bytes) ");
    assert_eq!(lines(&first).count(), 1, "{text}");
}

#[test]
fn dates_are_those_of_local_time() {
    // The sample is of Tue Jul 24 17:50:46 2018, UTC.
    let [there, here] = [0, 19_800].map(|offset| text_at(offset, &Dump::sample().file()).unwrap());
    assert!(here.starts_with("JAVA PROFILE 1.0.1, created Tue Jul 24 23:20:46 2018\n"));
    assert!(here.contains(" bytes) Tue Jul 24 23:20:46 2018\n"));
    // Nothing else is different.
    assert_eq!(there.replace("17:50:46", "23:20:46"), here);
}

#[test]
fn the_order_of_the_records_is_not_the_order_of_the_lines() {
    let dump = Dump::sample();
    let mut turned = [&dump.head[..], &dump.objects, &dump.classes].concat();
    HeapDumpEnd.encode(&mut turned).unwrap();
    assert_eq!(text(&turned), text(&dump.file()));
}

/// The file of a text dump whose records `send` sends, with nothing left beside it.
fn written(name: &str, gzip: Option<GzipLevel>, send: impl FnOnce(DumpFile) -> u64) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    let target = Target {
        gzip,
        ..Target::new(&path)
    };
    let bytes = send(DumpFile::create_text(target, ObjectSizes::default(), 0).unwrap());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    let file = fs::read(&path).unwrap();
    assert_eq!(file.len() as u64, bytes);
    file
}

#[test]
fn walks_and_forked_children_write_the_same() {
    let dump = Dump::sample();
    let expected = text(&dump.file()).unwrap();
    let walked = |file: DumpFile| {
        // Objects first, as a walk meets them before the head is known.
        let mut objects = file.objects_sender();
        objects.deliver(dump.objects.clone()).unwrap();
        file.head(dump.head.clone()).unwrap();
        file.head(dump.classes.clone()).unwrap();
        file.finish().unwrap().bytes
    };
    let forked = |file: DumpFile| {
        file.head(dump.head.clone()).unwrap();
        file.flush().unwrap();
        let tail = TailWriter::start(file.tail().unwrap(), 1, crate::start_worker).unwrap();
        tail.sender().deliver(dump.classes.clone()).unwrap();
        tail.sender().deliver(dump.objects.clone()).unwrap();
        let bytes = tail.finish().unwrap();
        file.finish_with_tail(bytes).unwrap().bytes
    };
    for gzip in [None, GzipLevel::new(1)] {
        let files = [
            written("a.txt", gzip, walked),
            written("a.txt", gzip, forked),
        ];
        for file in files {
            let mut found = String::new();
            match gzip {
                Some(_) => flate2::read::MultiGzDecoder::new(&file[..])
                    .read_to_string(&mut found)
                    .unwrap(),
                None => (&file[..]).read_to_string(&mut found).unwrap(),
            };
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn what_is_given_up_or_has_another_size_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let target = Target::new(directory.path().join("a.txt"));
    let create = || {
        let file = DumpFile::create_text(target.clone(), ObjectSizes::default(), 0).unwrap();
        file.head(Dump::sample().file()).unwrap();
        file
    };
    create().abandon();
    assert!(matches!(
        create().finish_with_tail(1),
        Err(WriteError::WrongSize { .. })
    ));
    let file = create();
    file.head(vec![1]).unwrap();
    assert!(matches!(file.finish(), Err(WriteError::Io { .. })));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn the_receivers_error_is_told() {
    let file = Dump::sample().file();
    let path = Path::new("a.txt.spool");
    let sizes = ObjectSizes::default();
    let told = transcribe(Cursor::new(&file), path, &sizes, 0, |_| {
        Err(WriteError::Closed)
    });
    assert_eq!(told, Err(WriteError::Closed));
}

#[test]
fn a_file_cut_anywhere_is_an_error_that_names_the_file() {
    let file = Dump::sample().file();
    for length in 0..file.len() {
        let error = text(&file[..length]).unwrap_err().to_string();
        assert!(error.contains("a.txt.spool"), "{length}: {error}");
    }
}

proptest! {
    #[test]
    fn no_byte_that_a_disk_forgot_is_a_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut file = Dump::sample().file();
        for (place, byte) in changes {
            let length = file.len();
            file[place.index(length)] = byte;
        }
        // Text or an error, but an end.
        let _ = text(&file);
    }
}
