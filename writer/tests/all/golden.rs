//! Goldens: each record as a list of its fields, for a person to compare with the format text.
//!
//! `BLESS=1 cargo test -p hprof-writer --test golden` rewrites the files; review the difference.

use std::fmt::Write;
use std::path::Path;

use format::record::{EndThread, Frame, HeapDumpEnd, LoadClass, Record, StartThread, Trace, Utf8};
use format::sub_record::{
    ClassDump, Field, HeapRecord, Instance, ObjectArray, PrimitiveArray, Static,
};
use format::{
    sub_record, BasicType, ClassName, Root, RootKind, LINE_NATIVE, LINE_UNKNOWN, NO_FRAME,
};
use tables::profile::{Cost, Costs, Site, SiteOrder, SiteTotals, Sites};
use tables::{ClassId, TraceId};
use writer::heap_record::{self, encode_head};
use writer::profile_record::{alloc_sites, control_settings, cpu_samples, heap_summary};
use writer::record::{encode, header};
use writer::WriteError;

/// The fields before the body of every top-level record.
const RECORD: &str = "1 tag, 4 time, 4 length";

/// Compares the bytes with the golden of this name, one line for each field.
///
/// `fields` is the layout by the format text: "bytes name, bytes name, ...".
fn check(name: &str, fields: &str, encode: impl FnOnce(&mut Vec<u8>) -> Result<(), WriteError>) {
    let mut bytes = Vec::new();
    encode(&mut bytes).unwrap();
    let mut text = String::new();
    let mut rest = &bytes[..];
    for field in fields.split(", ") {
        let (width, label) = field.split_once(' ').unwrap();
        let (field_bytes, after) = rest.split_at(width.parse().unwrap());
        let hex: Vec<String> = field_bytes
            .iter()
            .map(|byte| format!("{byte:02X}"))
            .collect();
        writeln!(text, "{:<24}# {label}", hex.join(" ")).unwrap();
        rest = after;
    }
    assert!(
        rest.is_empty(),
        "{name}: {} bytes more than the layout has",
        rest.len()
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; run with BLESS=1", path.display()));
    assert_eq!(text, golden, "{} differs", path.display());
}

/// Compares a record, of whose body these are the fields; none if it is empty.
fn check_record(name: &str, fields: &str, record: &Record) {
    let fields = match fields {
        "" => RECORD.to_owned(),
        fields => format!("{RECORD}, {fields}"),
    };
    check(name, &fields, |out| encode(record, out));
}

#[test]
fn a_header() {
    let bytes = header(0x0123_4567_89AB);
    let fields = "8 JAVA PRO, 8 FILE 1.0, 2 .2, 1 NUL, 4 size of identifiers, \
                  4 high word of milliseconds, 4 low word of milliseconds";
    check("header", fields, |out| {
        out.extend(bytes);
        Ok(())
    });
}

#[test]
fn utf8() {
    let text = Record::Utf8(Utf8::new(0x0102, b"Main".to_vec()));
    check_record("utf8", "8 string id, 4 text", &text);
}

#[test]
fn load_class() {
    let class = Record::LoadClass(LoadClass {
        serial: 7,
        class: 0x1_0008,
        trace: 1,
        name: 9,
    });
    let fields = "4 class serial, 8 class object, 4 trace serial, 8 name";
    check_record("load_class", fields, &class);
}

#[test]
fn frame() {
    for (name, line) in [
        ("frame_line_300", 300),
        ("frame_line_unknown", LINE_UNKNOWN),
        ("frame_native", LINE_NATIVE),
    ] {
        let frame = Record::Frame(Frame {
            id: 5,
            method: 1,
            signature: 2,
            source: 3,
            class_serial: 4,
            line,
        });
        let fields = "8 frame id, 8 method, 8 signature, 8 source, 4 class serial, 4 line";
        check_record(name, fields, &frame);
    }
}

#[test]
fn traces() {
    let trace = |serial, thread_serial, frames| {
        Record::Trace(Trace {
            serial,
            thread_serial,
            frames,
        })
    };
    let head = "4 trace serial, 4 thread serial, 4 number of frames";
    let fields = format!("{head}, 8 top frame, 8 its caller");
    check_record("trace", &fields, &trace(3, 2, vec![5, 6]));
    check_record("trace_empty", head, &trace(1, 0, vec![]));
}

#[test]
fn start_thread() {
    let start = Record::StartThread(StartThread {
        serial: 2,
        object: 0x1_0010,
        trace: 3,
        name: 1,
        group: 2,
        parent_group: 3,
    });
    let fields = "4 thread serial, 8 thread object, 4 trace serial, 8 name, 8 group, \
                  8 parent group";
    check_record("start_thread", fields, &start);
}

#[test]
fn end_thread() {
    let end = Record::EndThread(EndThread { serial: 2 });
    check_record("end_thread", "4 thread serial", &end);
}

const TOTALS: &str = "4 live bytes, 4 live objects, 8 allocated bytes, 8 allocated objects";

fn totals(bytes: u64, objects: u64) -> SiteTotals {
    SiteTotals { bytes, objects }
}

#[test]
fn sites() {
    let site = |class, signature, live, allocated| Site {
        class: ClassId::new(class).unwrap(),
        name: ClassName::from_signature(signature),
        trace: TraceId::new(3).unwrap(),
        live,
        allocated,
    };
    let strings = b"Ljava/lang/String;";
    let sites = [
        site(7, strings, totals(0x18, 1), totals(0x30, 2)),
        site(8, b"[I", totals(0x1_0000_0000, 3), totals(0x2_0000_0000, 6)),
        site(9, strings, totals(0, 0), totals(0x48, 3)),
    ];
    let sites = Sites::new(&sites, SiteOrder::LiveBytes, 0.0);
    let mut fields = format!("2 flags, 4 cutoff, {TOTALS}, 4 number of sites");
    for rank in 1..=3 {
        write!(
            fields,
            ", 1 array kind of site {rank}, 4 class serial, 4 trace serial, 4 live bytes, \
             4 live objects, 4 allocated bytes, 4 allocated objects"
        )
        .unwrap();
    }
    check_record("alloc_sites", &fields, &alloc_sites(&sites));
}

#[test]
fn sites_cut_off() {
    let sites = Sites::new(&[], SiteOrder::AllocatedBytes, 0.25);
    let fields = format!("2 flags, 4 cutoff, {TOTALS}, 4 number of sites");
    check_record("alloc_sites_none", &fields, &alloc_sites(&sites));
}

#[test]
fn summary() {
    let summary = heap_summary(totals(0x10_0000, 0x100), totals(0x1_0000_0000, 0x2000));
    check_record("heap_summary", TOTALS, &Record::HeapSummary(summary));
}

#[test]
fn samples() {
    let cost = |serial, samples| Cost {
        trace: TraceId::new(serial).unwrap(),
        top: None,
        count: samples,
        own: samples,
    };
    let costs = [cost(2, 1), cost(3, 0x10), cost(4, 0)];
    let samples = Costs::new(&costs, 0.0);
    let fields = "4 samples in all, 4 number of traces, 4 samples, 4 trace serial, \
                  4 samples, 4 trace serial";
    check_record("cpu_samples", fields, &cpu_samples(&samples));
}

#[test]
fn settings() {
    let settings = control_settings(true, true, 16);
    check_record("control_settings", "4 flags, 2 depth", &settings);
}

#[test]
fn heap_dump_end() {
    let end = Record::HeapDumpEnd(HeapDumpEnd {});
    check_record("heap_dump_end", "", &end);
}

#[test]
fn roots() {
    let held = |kind| Root::new(kind, 0x1_0018);
    let by_thread = |kind| Root {
        thread_serial: Some(2),
        ..held(kind)
    };
    let by_frame = |kind, frame| Root {
        frame_number: Some(frame),
        ..by_thread(kind)
    };
    let frame = "1 tag, 8 object, 4 thread serial, 4 frame number";
    for (name, fields, root) in [
        (
            "root_jni_global",
            "1 tag, 8 object, 8 reference",
            Root {
                reference: Some(0xABCD),
                ..held(RootKind::JniGlobal)
            },
        ),
        ("root_jni_local", frame, by_frame(RootKind::JniLocal, 1)),
        ("root_java_frame", frame, by_frame(RootKind::JavaFrame, 0)),
        (
            "root_java_frame_none",
            frame,
            by_frame(RootKind::JavaFrame, NO_FRAME),
        ),
        (
            "root_sticky_class",
            "1 tag, 8 object",
            held(RootKind::StickyClass),
        ),
        (
            "root_monitor_used",
            "1 tag, 8 object",
            held(RootKind::MonitorUsed),
        ),
        (
            "root_thread_object",
            "1 tag, 8 object, 4 thread serial, 4 trace serial",
            Root {
                trace: Some(3),
                ..by_thread(RootKind::ThreadObject)
            },
        ),
        (
            "root_thread_block",
            "1 tag, 8 object, 4 thread serial",
            by_thread(RootKind::ThreadBlock),
        ),
    ] {
        let root = HeapRecord::Root(root);
        check(name, fields, |out| heap_record::encode(&root, out));
    }
}

const CLASS: &str = "1 tag, 8 class, 4 trace serial, 8 super, 8 loader, 8 signers, \
                     8 protection domain, 8 reserved, 8 reserved, 4 instance size, \
                     2 constants, 2 static fields";

#[test]
fn class_dump() {
    let statics = [
        (BasicType::Object, 0x1_0020),
        (BasicType::Object, 0),
        (BasicType::Boolean, 1),
        (BasicType::Char, 0x263A),
        (BasicType::Float, 1.5_f32.to_bits().into()),
        (BasicType::Double, (-2.0_f64).to_bits()),
        (BasicType::Byte, 0xFF),
        (BasicType::Short, 0xFFFE),
        (BasicType::Int, 0xFFFF_FFFD),
        (BasicType::Long, u64::MAX - 3),
    ];
    let statics = statics.map(|(kind, value)| Static {
        name: 0x11,
        kind,
        value,
    });
    let field = |name, kind| Field { name, kind };
    let class = class(ClassDump {
        super_class: 0x1_0008,
        loader: 0x1_0010,
        signers: 0x1_0018,
        protection_domain: 0x1_0028,
        instance_bytes: 12,
        statics: statics.into(),
        fields: vec![field(0x21, BasicType::Object), field(0x22, BasicType::Int)],
        ..empty_class()
    });
    let mut fields = CLASS.to_owned();
    for (width, type_name) in [
        (8, "object"),
        (8, "object, null"),
        (1, "boolean"),
        (2, "char"),
        (4, "float"),
        (8, "double"),
        (1, "byte"),
        (2, "short"),
        (4, "int"),
        (8, "long"),
    ] {
        let type_name = type_name.replace(", ", " ");
        write!(fields, ", 8 static name, 1 type {type_name}, {width} value").unwrap();
    }
    fields.push_str(", 2 instance fields, 8 name, 1 type object, 8 name, 1 type int");
    check("class_dump", &fields, |out| {
        heap_record::encode(&class, out)
    });
}

fn class(dump: ClassDump) -> HeapRecord {
    HeapRecord::Class(Box::new(dump))
}

fn empty_class() -> ClassDump {
    ClassDump {
        class: 0x1_0000,
        trace: 1,
        ..ClassDump::default()
    }
}

#[test]
fn class_dump_of_object() {
    check(
        "class_dump_object",
        &format!("{CLASS}, 2 instance fields"),
        |out| heap_record::encode(&class(empty_class()), out),
    );
}

#[test]
fn objects() {
    let instance = Instance {
        object: 0x1_0030,
        trace: 3,
        class: 0x1_0000,
        data_bytes: 4,
    };
    let fields = "1 tag, 8 object, 4 trace serial, 8 class, 4 bytes of data, 4 data";
    check("instance_dump", fields, |out| {
        encode_head(sub_record::INSTANCE_DUMP, &instance, out);
        out.extend([0, 0, 0, 5]);
        Ok(())
    });

    let array = ObjectArray {
        object: 0x1_0038,
        trace: 1,
        length: 2,
        class: 0x1_0000,
    };
    let ids = [0x1_0030_u64.to_be_bytes(), 0_u64.to_be_bytes()].concat();
    let fields = "1 tag, 8 array, 4 trace serial, 4 elements, 8 array class, 8 element 0, \
                  8 element 1 null";
    check("object_array_dump", fields, |out| {
        encode_head(sub_record::OBJ_ARRAY_DUMP, &array, out);
        out.extend(ids);
        Ok(())
    });

    let array = PrimitiveArray {
        object: 0x1_0040,
        trace: 1,
        length: 2,
        kind: BasicType::Char,
    };
    let fields = "1 tag, 8 array, 4 trace serial, 4 elements, 1 element type";
    check("primitive_array_header", fields, |out| {
        encode_head(sub_record::PRIM_ARRAY_DUMP, &array, out);
        Ok(())
    });
}
