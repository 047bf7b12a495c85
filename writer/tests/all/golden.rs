//! Goldens: each record as a list of its fields, for a person to compare with the format text.
//!
//! `BLESS=1 cargo test -p hprof-writer --test golden` rewrites the files; review the difference.

use std::fmt::Write;
use std::path::Path;

use format::{BasicType, ClassName, LINE_NATIVE, LINE_UNKNOWN};
use tables::profile::{Cost, Costs, Site, SiteOrder, SiteTotals, Sites};
use tables::{ClassId, FrameId, ObjectId, StringId, ThreadId, TraceId};
use writer::heap_record::{
    ClassDump, InstanceHeader, ObjectArrayHeader, PrimitiveArrayHeader, RootRecord, StaticField,
    Value,
};
use writer::profile_record::{AllocSites, ControlSettings, CpuSamples, EndThread, HeapSummary};
use writer::record::{Frame, Header, HeapDumpEnd, LoadClass, StartThread, Trace, Utf8};
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

fn record(fields: &str) -> String {
    format!("{RECORD}, {fields}")
}

fn object(address: u64) -> ObjectId {
    ObjectId::new(address).unwrap()
}

fn string(number: u32) -> StringId {
    StringId::new(number).unwrap()
}

fn thread() -> ThreadId {
    ThreadId::new(2).unwrap()
}

fn trace() -> TraceId {
    TraceId::new(3).unwrap()
}

#[test]
fn header() {
    let header = Header {
        millis_since_epoch: 0x0123_4567_89AB,
    };
    let fields = "8 JAVA PRO, 8 FILE 1.0, 2 .2, 1 NUL, 4 size of identifiers, \
                  4 high word of milliseconds, 4 low word of milliseconds";
    check("header", fields, |out| header.encode(out));
}

#[test]
fn utf8() {
    let text = Utf8 {
        id: string(0x0102),
        text: b"Main",
    };
    check("utf8", &record("8 string id, 4 text"), |out| {
        text.encode(out)
    });
}

#[test]
fn load_class() {
    let class = LoadClass {
        serial: ClassId::new(7).unwrap(),
        object: object(0x1_0008),
        trace: TraceId::EMPTY,
        name: string(9),
    };
    let fields = "4 class serial, 8 class object, 4 trace serial, 8 name";
    check("load_class", &record(fields), |out| class.encode(out));
}

#[test]
fn frame() {
    let frame = |line| Frame {
        id: FrameId::new(5).unwrap(),
        method: string(1),
        signature: string(2),
        source: string(3),
        class: ClassId::new(4).unwrap(),
        line,
    };
    let fields = record("8 frame id, 8 method, 8 signature, 8 source, 4 class serial, 4 line");
    check("frame_line_300", &fields, |out| frame(300).encode(out));
    check("frame_line_unknown", &fields, |out| {
        frame(LINE_UNKNOWN).encode(out)
    });
    check("frame_native", &fields, |out| {
        frame(LINE_NATIVE).encode(out)
    });
}

#[test]
fn traces() {
    let frames = [FrameId::new(5).unwrap(), FrameId::new(6).unwrap()];
    let of_thread = Trace {
        serial: trace(),
        thread: Some(thread()),
        frames: &frames,
    };
    let head = "4 trace serial, 4 thread serial, 4 number of frames";
    check(
        "trace",
        &record(&format!("{head}, 8 top frame, 8 its caller")),
        |out| of_thread.encode(out),
    );
    let empty = Trace {
        serial: TraceId::EMPTY,
        thread: None,
        frames: &[],
    };
    check("trace_empty", &record(head), |out| empty.encode(out));
}

#[test]
fn start_thread() {
    let start = StartThread {
        thread: thread(),
        object: Some(object(0x1_0010)),
        trace: trace(),
        name: string(1),
        group: string(2),
        parent_group: string(3),
    };
    let fields = "4 thread serial, 8 thread object, 4 trace serial, 8 name, 8 group, \
                  8 parent group";
    check("start_thread", &record(fields), |out| start.encode(out));
}

#[test]
fn end_thread() {
    let end = EndThread { thread: thread() };
    check("end_thread", &record("4 thread serial"), |out| {
        end.encode(out)
    });
}

const TOTALS: &str = "4 live bytes, 4 live objects, 8 allocated bytes, 8 allocated objects";

fn totals(bytes: u64, objects: u64) -> SiteTotals {
    SiteTotals { bytes, objects }
}

#[test]
fn alloc_sites() {
    let site = |class, signature, live, allocated| Site {
        class: ClassId::new(class).unwrap(),
        name: ClassName::from_signature(signature),
        trace: trace(),
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
    check("alloc_sites", &record(&fields), |out| {
        AllocSites { sites: &sites }.encode(out)
    });
}

#[test]
fn alloc_sites_cut_off() {
    let sites = Sites::new(&[], SiteOrder::AllocatedBytes, 0.25);
    let fields = format!("2 flags, 4 cutoff, {TOTALS}, 4 number of sites");
    check("alloc_sites_none", &record(&fields), |out| {
        AllocSites { sites: &sites }.encode(out)
    });
}

#[test]
fn heap_summary() {
    let summary = HeapSummary {
        live: totals(0x10_0000, 0x100),
        allocated: totals(0x1_0000_0000, 0x2000),
    };
    check("heap_summary", &record(TOTALS), |out| summary.encode(out));
}

#[test]
fn cpu_samples() {
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
    check("cpu_samples", &record(fields), |out| {
        CpuSamples { samples: &samples }.encode(out)
    });
}

#[test]
fn control_settings() {
    let settings = ControlSettings {
        alloc_traces: true,
        cpu_sampling: true,
        depth_frames: 16,
    };
    check("control_settings", &record("4 flags, 2 depth"), |out| {
        settings.encode(out)
    });
}

#[test]
fn heap_dump_end() {
    check("heap_dump_end", RECORD, |out| HeapDumpEnd.encode(out));
}

#[test]
fn roots() {
    let held = object(0x1_0018);
    let frame = "1 tag, 8 object, 4 thread serial, 4 frame number";
    for (name, fields, root) in [
        (
            "root_jni_global",
            "1 tag, 8 object, 8 reference",
            RootRecord::JniGlobal(held, 0xABCD),
        ),
        (
            "root_jni_local",
            frame,
            RootRecord::JniLocal(held, thread(), Some(1)),
        ),
        (
            "root_java_frame",
            frame,
            RootRecord::JavaFrame(held, thread(), Some(0)),
        ),
        (
            "root_java_frame_none",
            frame,
            RootRecord::JavaFrame(held, thread(), None),
        ),
        (
            "root_sticky_class",
            "1 tag, 8 object",
            RootRecord::StickyClass(held),
        ),
        (
            "root_monitor_used",
            "1 tag, 8 object",
            RootRecord::MonitorUsed(held),
        ),
        (
            "root_thread_object",
            "1 tag, 8 object, 4 thread serial, 4 trace serial",
            RootRecord::ThreadObject(held, thread(), trace()),
        ),
        (
            "root_thread_block",
            "1 tag, 8 object, 4 thread serial",
            RootRecord::ThreadBlock(held, thread()),
        ),
    ] {
        check(name, fields, |out| root.encode(out));
    }
}

const CLASS: &str = "1 tag, 8 class, 4 trace serial, 8 super, 8 loader, 8 signers, \
                     8 protection domain, 8 reserved, 8 reserved, 4 instance size, \
                     2 constants, 2 static fields";

#[test]
fn class_dump() {
    let named = |value| StaticField {
        name: string(0x11),
        value,
    };
    let statics = [
        named(Value::Object(Some(object(0x1_0020)))),
        named(Value::Object(None)),
        named(Value::Boolean(true)),
        named(Value::Char(0x263A)),
        named(Value::Float(1.5)),
        named(Value::Double(-2.0)),
        named(Value::Byte(-1)),
        named(Value::Short(-2)),
        named(Value::Int(-3)),
        named(Value::Long(-4)),
    ];
    let class = ClassDump {
        class: object(0x1_0000),
        super_class: Some(object(0x1_0008)),
        loader: Some(object(0x1_0010)),
        signers: Some(object(0x1_0018)),
        protection_domain: Some(object(0x1_0028)),
        instance_size_bytes: 12,
        statics: &statics,
        fields: &[
            (string(0x21), BasicType::Object),
            (string(0x22), BasicType::Int),
        ],
    };
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
    check("class_dump", &fields, |out| class.encode(out));
}

#[test]
fn class_dump_of_object() {
    let class = ClassDump {
        class: object(0x1_0000),
        super_class: None,
        loader: None,
        signers: None,
        protection_domain: None,
        instance_size_bytes: 0,
        statics: &[],
        fields: &[],
    };
    check(
        "class_dump_object",
        &format!("{CLASS}, 2 instance fields"),
        |out| class.encode(out),
    );
}

#[test]
fn objects() {
    let instance = InstanceHeader {
        object: object(0x1_0030),
        trace: trace(),
        class: object(0x1_0000),
    };
    let fields = "1 tag, 8 object, 4 trace serial, 8 class, 4 bytes of data, 4 data";
    check("instance_dump", fields, |out| {
        instance.encode(4, out);
        out.extend([0, 0, 0, 5]);
        Ok(())
    });

    let header = ObjectArrayHeader {
        object: object(0x1_0038),
        trace: TraceId::EMPTY,
        class: object(0x1_0000),
    };
    let ids = [0x1_0030_u64.to_be_bytes(), 0_u64.to_be_bytes()].concat();
    let fields = "1 tag, 8 array, 4 trace serial, 4 elements, 8 array class, 8 element 0, \
                  8 element 1 null";
    check("object_array_dump", fields, |out| {
        header.encode(2, out);
        out.extend(ids);
        Ok(())
    });

    let header = PrimitiveArrayHeader {
        object: object(0x1_0040),
        trace: TraceId::EMPTY,
        element_type: BasicType::Char,
    };
    let fields = "1 tag, 8 array, 4 trace serial, 4 elements, 1 element type";
    check("primitive_array_header", fields, |out| {
        header.encode(2, out);
        Ok(())
    });
}
