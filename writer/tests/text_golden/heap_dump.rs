//! The classic text of a heap dump.

use super::*;
use writer::text::*;

fn put_roots(out: &mut Vec<u8>) -> io::Result<()> {
    let (held, of) = (object(0x7_c000_0008), Some(thread(1)));
    for root in [
        RootLine::Thread(held, of, trace(2)),
        RootLine::ThreadBlock(held, of),
        RootLine::NativeStack(held, of),
        RootLine::JavaStack(held, of, Some(1)),
        RootLine::JavaStack(held, None, None),
        RootLine::JniLocal(held, of, Some(0)),
        RootLine::JniGlobal(held, 0xa, trace(1)),
        RootLine::SystemClass(held, class(STRING)),
        RootLine::BusyMonitor(held),
        RootLine::Unknown(held),
    ] {
        root.encode(out)?;
    }
    Ok(())
}

fn put_instance(out: &mut Vec<u8>) -> io::Result<()> {
    InstanceLine {
        object: object(0x7_c000_0010),
        size_bytes: 40,
        trace: trace(3),
        class: class(MAIN),
        class_object: object(0x7_c000_0100),
    }
    .encode(out)?;
    let value = Some(object(0x7_c000_0018));
    for (name, value) in [
        (&b"name"[..], value),
        (b"seven77", value),
        (b"eight888", value),
        (b"nothing", None),
        (b"cacheKeyOfAll", value),
    ] {
        FieldLine { name, value }.encode(out)?;
    }
    Ok(())
}

fn put_arrays(out: &mut Vec<u8>) -> io::Result<()> {
    let array = ArrayLine {
        object: object(0x7_c000_0020),
        size_bytes: 272,
        trace: trace(3),
        elements: 60,
        class: class(b"[Ldemo/Main;"),
        class_object: Some(object(0x7_c000_0108)),
    };
    array.encode(out)?;
    for (index, value) in [(0, None), (6, Some(object(0x7_c000_0010))), (59, None)] {
        ElementLine { index, value }.encode(out)?;
    }
    ArrayLine {
        size_bytes: 82,
        elements: 41,
        class: class(b"[C"),
        class_object: None,
        ..array
    }
    .encode(out)
}

fn put_class(out: &mut Vec<u8>) -> io::Result<()> {
    ClassLine {
        object: object(0x7_c000_0100),
        name: class(MAIN),
        trace: TraceId::EMPTY,
        super_class: Some(object(0x7_c000_0200)),
        loader: Some(object(0x7_c000_0030)),
        signers: None,
        protection_domain: Some(object(0x7_c000_0038)),
    }
    .encode(out)?;
    let value = Some(object(0x7_c000_0010));
    StaticLine {
        name: b"SEP",
        value,
    }
    .encode(out)?;
    let name = b"NULL";
    StaticLine { name, value: None }.encode(out)?;
    ConstantLine { index: 85, value }.encode(out)
}

#[test]
fn heap_dump() {
    check("heap_dump", |out| {
        HeapDumpBegin {
            objects: 4_494,
            bytes: 6_163_280_000,
            at: AT,
        }
        .encode(out)?;
        put_roots(out)?;
        put_instance(out)?;
        put_arrays(out)?;
        put_class(out)?;
        HeapDumpEnd.encode(out)
    });
}
