//! Whole dumps as text: a golden, every kind of record, and truncated files.

use super::*;
use format::BasicType;
use proptest::prelude::*;
use reader::Budget;
use std::fs;
use std::io::Read;
use std::path::Path;
use tables::profile::{Site, SiteOrder, SiteTotals, Sites};
use tables::{
    ClassId, ClassRow, Frame as FrameRow, FrameId, Line, ObjectId, ObjectIndex, ObjectTable,
    StringId, Tables, ThreadId, ThreadRow, Trace as TraceRow, TraceId,
};
use writer::heap_record::{
    ClassDump, InstanceHeader, ObjectArrayHeader, PrimitiveArrayHeader, RootRecord, StaticField,
    Value,
};
use writer::profile_record::AllocSites;
use writer::record::HeapDumpEnd;
use writer::{emit, Segments, WriteError};

fn id(address: u64) -> ObjectId {
    ObjectId::new(address).unwrap()
}

/// The records before the segments, the sub-records before the objects, and the objects.
struct Dump {
    head: Vec<u8>,
    classes: Vec<u8>,
    objects: Vec<u8>,
}

impl Dump {
    /// A list of two nodes and a leaf, an array of them, an array of bytes; a thread that created
    /// them.
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

    /// The records in file order.
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
        name: ClassName::from_signature(b"[B"),
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

/// Greenwich, and the usual sizes.
const SETTINGS: Settings = Settings {
    sizes: None,
    utc_offset_seconds: 0,
    budget: Budget::new(1 << 20),
};

fn opened<'f>(file: &'f [u8]) -> impl FnMut() -> io::Result<Box<dyn Read + 'f>> {
    move || Ok(Box::new(file) as Box<dyn Read + 'f>)
}

/// The text of a complete file.
fn text(file: &[u8]) -> String {
    text_at(0, file)
}

fn text_at(utc_offset_seconds: i32, file: &[u8]) -> String {
    let mut text = Vec::new();
    let settings = Settings {
        utc_offset_seconds,
        ..SETTINGS
    };
    let told = transcribe(&mut opened(file), &settings, &mut text).unwrap();
    assert_eq!((told.damaged, told.is_ended), (0, true));
    String::from_utf8(text).unwrap()
}

/// `BLESS=1 cargo test -p hprof-text --lib dump` rewrites the golden; review the difference.
#[test]
fn a_dump_is_what_a_person_expects_to_read() {
    let text = text(&Dump::sample().file());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/transcribed_heap_dump.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&path).unwrap());
}

#[test]
fn the_first_line_counts_the_others() {
    let text = text(&Dump::sample().file());
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
    let [there, here] = [0, 19_800].map(|offset| text_at(offset, &Dump::sample().file()));
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

#[test]
fn the_targets_error_is_told() {
    let file = Dump::sample().file();
    let mut full: &mut [u8] = &mut [0; 100];
    let told = transcribe(&mut opened(&file), &SETTINGS, &mut full);
    assert!(matches!(told, Err(TextError::Write(_))));
}

#[test]
fn a_file_cut_anywhere_is_not_whole() {
    let file = Dump::sample().file();
    for length in 0..file.len() {
        let told = transcribe(&mut opened(&file[..length]), &SETTINGS, &mut Vec::new());
        let is_whole = told.is_ok_and(|told| told.damaged == 0 && told.is_ended);
        assert!(!is_whole, "{length}");
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
        // Returns text or an error, and terminates.
        let _ = transcribe(&mut opened(&file), &SETTINGS, &mut Vec::new());
    }
}
