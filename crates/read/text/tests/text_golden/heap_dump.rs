//! The classic text of a heap dump.

use super::*;
use format::{BasicType, NO_FRAME};
use reader::{ClassDump, Instance, ObjectArray, PrimitiveArray, Root, RootKind};
use text::heap_line;

const OBJECT: u64 = 0x7_c000_0010;

fn put_roots(out: &mut Vec<u8>) -> io::Result<()> {
    let of = |kind, thread_serial, frame_number| Root {
        kind,
        object: 0x7_c000_0008,
        thread_serial,
        trace: (kind == RootKind::ThreadObject).then_some(2),
        frame_number,
        reference: (kind == RootKind::JniGlobal).then_some(0xa),
    };
    for root in [
        of(RootKind::ThreadObject, Some(1), None),
        of(RootKind::ThreadBlock, Some(1), None),
        of(RootKind::NativeStack, Some(1), None),
        of(RootKind::JavaFrame, Some(1), Some(1)),
        of(RootKind::JavaFrame, Some(0), Some(NO_FRAME)),
        of(RootKind::JniLocal, Some(1), Some(0)),
        of(RootKind::JniGlobal, None, None),
        of(RootKind::StickyClass, None, None),
        of(RootKind::MonitorUsed, None, None),
        of(RootKind::Unknown, None, None),
    ] {
        heap_line::root(&root, class(STRING), out)?;
    }
    Ok(())
}

fn put_instance(out: &mut Vec<u8>) -> io::Result<()> {
    let instance = Instance {
        object: OBJECT,
        trace: 3,
        class: 0x7_c000_0100,
        data_bytes: 0,
    };
    heap_line::instance(&instance, 40, class(MAIN), out)?;
    let value = 0x7_c000_0018;
    for (name, value) in [
        (&b"name"[..], value),
        (b"seven77", value),
        (b"eight888", value),
        (b"nothing", 0),
        (b"cacheKeyOfAll", value),
    ] {
        heap_line::field(name, value, out)?;
    }
    Ok(())
}

fn put_arrays(out: &mut Vec<u8>) -> io::Result<()> {
    let object = 0x7_c000_0020;
    let array = ObjectArray {
        object,
        trace: 3,
        length: 60,
        class: 0x7_c000_0108,
    };
    heap_line::object_array(&array, 272, class(b"[Ldemo/Main;"), out)?;
    for (index, value) in [(0, 0), (6, OBJECT), (59, 0)] {
        heap_line::element(index, value, out)?;
    }
    let array = PrimitiveArray {
        object,
        trace: 3,
        length: 41,
        kind: BasicType::Char,
    };
    heap_line::primitive_array(&array, 82, out)
}

fn put_class(out: &mut Vec<u8>) -> io::Result<()> {
    let dump = ClassDump {
        class: 0x7_c000_0100,
        trace: 1,
        super_class: 0x7_c000_0200,
        loader: 0x7_c000_0030,
        protection_domain: 0x7_c000_0038,
        ..ClassDump::default()
    };
    heap_line::class(&dump, class(MAIN), out)?;
    heap_line::static_field(b"SEP", OBJECT, out)?;
    heap_line::static_field(b"NULL", 0, out)?;
    heap_line::constant(85, OBJECT, out)
}

#[test]
fn heap_dump() {
    check("heap_dump", |out| {
        heap_line::begin(4_494, 6_163_280_000, AT, out)?;
        put_roots(out)?;
        put_instance(out)?;
        put_arrays(out)?;
        put_class(out)?;
        heap_line::end(out)
    });
}
