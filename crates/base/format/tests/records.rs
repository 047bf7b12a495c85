//! The tables of records: lengths by the format's text, and what is encoded is decoded.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use format::codec::Bytes;
use format::record::{self, CpuSample, CpuSamples, Frame, Record, Trace, Utf8};
use format::sub_record::{
    self, head_bytes, ClassDump, Field, HeapInfo, HeapRecord, Instance, ObjectArray,
    PrimitiveArray, Static,
};
use format::{BasicType, Root, RootKind};

#[test]
fn lengths_of_sub_records_are_those_of_the_format() {
    let of = |id_bytes| {
        [
            head_bytes::<Instance>(id_bytes),
            head_bytes::<ObjectArray>(id_bytes),
            head_bytes::<PrimitiveArray>(id_bytes),
            head_bytes::<HeapInfo>(id_bytes),
            // With the counts of constants, static fields and fields.
            head_bytes::<ClassDump>(id_bytes),
        ]
    };
    assert_eq!(of(4), [17, 17, 14, 9, 43]);
    assert_eq!(of(8), [25, 25, 18, 13, 71]);
}

#[test]
fn lengths_of_records_are_those_of_the_format() {
    for (tag, head, row) in [
        (record::LOAD_CLASS, 24, 0),
        (record::UNLOAD_CLASS, 4, 0),
        (record::FRAME, 40, 0),
        (record::TRACE, 12, 8),
        (record::ALLOC_SITES, 34, 25),
        (record::HEAP_SUMMARY, 24, 0),
        (record::START_THREAD, 40, 0),
        (record::END_THREAD, 4, 0),
        (record::CPU_SAMPLES, 8, 8),
        (record::CONTROL_SETTINGS, 6, 0),
        (record::HEAP_DUMP_END, 0, 0),
    ] {
        assert_eq!(Record::bytes_of(tag, 8), Some((head, row)), "{tag:#x}");
    }
    assert_eq!(Record::bytes_of(record::TRACE, 4), Some((12, 4)));
    assert_eq!(Record::bytes_of(record::HEAP_DUMP, 8), None);
}

#[test]
fn each_tag_has_one_name() {
    let names = (0..=u8::MAX).filter_map(Record::name_of);
    assert_eq!(names.count(), 14);
    let names = (0..=u8::MAX).filter_map(HeapRecord::name_of);
    assert_eq!(names.count(), 6 + RootKind::ALL.len());
    assert_eq!(Record::name_of(0x1C), Some("HEAP DUMP SEGMENT"));
    assert_eq!(HeapRecord::name_of(0xC3), Some("PRIMITIVE ARRAY NODATA"));
    assert_eq!(HeapRecord::name_of(sub_record::GRAPH_OBJECTS), None);
}

#[test]
fn a_record_is_decoded_as_it_was_encoded() {
    let records = [
        Record::Utf8(Utf8::new(7, b"main".to_vec())),
        Record::Frame(Frame {
            id: 1,
            method: 2,
            signature: 3,
            source: 0,
            class_serial: 5,
            line: -3,
        }),
        Record::Trace(Trace {
            serial: 2,
            thread_serial: 1,
            frames: vec![1, 2, 3],
        }),
        Record::CpuSamples(CpuSamples {
            total: 3,
            rows: vec![CpuSample {
                samples: 3,
                trace: 2,
            }],
        }),
    ];
    for record in records {
        let mut bytes = Vec::new();
        record.put(&mut bytes).unwrap();
        assert_eq!(
            read(&bytes, |from| Record::read(record.tag(), from)),
            Some(record)
        );
    }
}

#[test]
fn a_sub_record_is_decoded_as_it_was_encoded() {
    let value = |kind, value| Static {
        name: 3,
        kind,
        value,
    };
    let field = |kind| Field { name: 4, kind };
    let class = ClassDump {
        class: 8,
        trace: 1,
        super_class: 16,
        instance_bytes: 12,
        constants: vec![value(BasicType::Object, 24)],
        statics: vec![
            value(BasicType::Char, 0x263A),
            value(BasicType::Long, u64::MAX),
        ],
        fields: vec![field(BasicType::Int), field(BasicType::Object)],
        ..ClassDump::default()
    };
    let root = Root {
        thread_serial: Some(1),
        frame_number: Some(0),
        ..Root::new(RootKind::JavaFrame, 8)
    };
    let info = HeapInfo { heap: 1, name: 2 };
    for record in [
        HeapRecord::Class(Box::new(class)),
        HeapRecord::Root(root),
        HeapRecord::HeapInfo(info),
    ] {
        let mut bytes = Vec::new();
        record.put(&mut bytes).unwrap();
        let found = read(&bytes, |from| HeapRecord::read(record.tag(), from));
        assert_eq!(found.as_ref(), Some(&record));
        // A part of it is nothing.
        for end in 0..bytes.len() {
            let mut from = Bytes {
                bytes: &bytes[..end],
                id_bytes: 8,
            };
            assert!(HeapRecord::read(record.tag(), &mut from).is_err(), "{end}");
        }
    }
}

#[test]
fn a_count_is_not_believed() {
    let bytes = [0, 0, 0, 2, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3];
    let mut from = Bytes {
        bytes: &bytes,
        id_bytes: 4,
    };
    assert!(Record::read(record::TRACE, &mut from).is_err());
}

#[test]
fn an_array_of_references_is_not_primitive() {
    let bytes = [0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, 2];
    let mut from = Bytes {
        bytes: &bytes,
        id_bytes: 4,
    };
    assert!(HeapRecord::read(sub_record::PRIM_ARRAY_DUMP, &mut from).is_err());
}

/// What is decoded of these bytes, all of them.
fn read<'b, R, E: std::fmt::Debug>(
    bytes: &'b [u8],
    decode: impl FnOnce(&mut Bytes<'b>) -> Result<Option<R>, E>,
) -> Option<R> {
    let mut from = Bytes { bytes, id_bytes: 8 };
    let found = decode(&mut from).unwrap();
    assert!(from.bytes.is_empty());
    found
}
