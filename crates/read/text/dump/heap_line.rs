//! The lines of a heap dump in text: one for each root, object and class, and one for each
//! reference in them.
//!
//! An object is a line of its own, followed by a line for each reference that is not null; so an
//! array of millions of elements needs no buffer. This layout has no primitive values.

use std::fmt;
use std::io::{self, Write};

use format::name::Word;
use format::{ClassName, EMPTY_TRACE_SERIAL, NO_FRAME};
use reader::{ClassDump, Instance, ObjectArray, PrimitiveArray, Root, RootKind};

use crate::Moment;

/// The first line. Roots follow, then instances and arrays, then classes.
///
/// `objects` includes arrays and classes; `bytes` is the sum of all sizes below.
pub fn begin(objects: u64, bytes: u64, at: Moment, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "HEAP DUMP BEGIN ({objects} objects, {bytes} bytes) {at}"
    )
}

/// The last line.
pub fn end(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "HEAP DUMP END")
}

/// A root; `name` is the name of the class if the root is a class, otherwise
/// [`ClassName::UNKNOWN`].
///
/// An unknown thread is written as 0, an unknown frame as -1. Android's kinds are written as
/// unknown.
pub fn root(root: &Root, name: ClassName<'_>, out: &mut impl Write) -> io::Result<()> {
    let thread = root.thread_serial.unwrap_or(0);
    // The record of a global reference does not contain its creator.
    let trace = root.trace.unwrap_or(EMPTY_TRACE_SERIAL);
    let frame = root.frame_number.filter(|&frame| frame != NO_FRAME);
    let frame = frame.map_or(-1, i64::from);
    write!(out, "ROOT {:x} (kind=<", root.object)?;
    match root.kind {
        RootKind::ThreadObject => write!(out, "thread>, id={thread}, trace={trace}"),
        RootKind::ThreadBlock => write!(out, "thread block>, thread={thread}"),
        RootKind::NativeStack => write!(out, "native stack>, thread={thread}"),
        RootKind::JavaFrame => write!(out, "Java stack>, thread={thread}, frame={frame}"),
        RootKind::JniLocal => write!(out, "JNI local ref>, thread={thread}, frame={frame}"),
        RootKind::JniGlobal => {
            let reference = root.reference.unwrap_or(0);
            write!(out, "JNI global ref>, id={reference:x}, trace={trace}")
        }
        RootKind::StickyClass => write!(out, "system class>, name={name}"),
        RootKind::MonitorUsed | RootKind::JniMonitor => write!(out, "busy monitor>"),
        _ => write!(out, "unknown>"),
    }?;
    writeln!(out, ")")
}

/// An object that is not an array or a class, its size in the heap and the name of its class; its
/// [`field`]s follow.
pub fn instance(
    instance: &Instance,
    size_bytes: u64,
    class: ClassName<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(
        out,
        "OBJ {:x} (sz={size_bytes}, trace={}, class={class}@{:x})",
        instance.object, instance.trace, instance.class
    )
}

/// A field of an instance, inherited ones first; null has no line.
pub fn field(name: &[u8], value: u64, out: &mut impl Write) -> io::Result<()> {
    let second_tab = if name.len() < 8 { "\t" } else { "" };
    reference(format_args!("{}{second_tab}", Word(name)), value, out)
}

/// What an object refers to, and by what; null has no line.
fn reference(by: fmt::Arguments<'_>, value: u64, out: &mut impl Write) -> io::Result<()> {
    match value {
        0 => Ok(()),
        value => writeln!(out, "\t{by}\t{value:x}"),
    }
}

/// An array of references, its size in the heap and the name of its class, `java.lang.String[]`;
/// its [`element`]s follow.
pub fn object_array(
    array: &ObjectArray,
    size_bytes: u64,
    class: ClassName<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(
        out,
        "ARR {:x} (sz={size_bytes}, trace={}, nelems={}, elem type={class}@{:x})",
        array.object, array.trace, array.length, array.class
    )
}

/// An array of primitive values and the size of its elements alone: the old agent left out the
/// header, too.
pub fn primitive_array(
    array: &PrimitiveArray,
    size_bytes: u64,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(
        out,
        "ARR {:x} (sz={size_bytes}, trace={}, nelems={}, elem type={})",
        array.object,
        array.trace,
        array.length,
        ClassName::array_of(array.kind)
    )
}

/// An element of an array of references, from 0; null has no line.
pub fn element(index: u32, value: u64, out: &mut impl Write) -> io::Result<()> {
    reference(format_args!("[{index}]\t"), value, out)
}

/// A class and its loader, signers and so on; those that are null have no line. Its
/// [`static_field`]s follow, then its [`constant`]s.
pub fn class(class: &ClassDump, name: ClassName<'_>, out: &mut impl Write) -> io::Result<()> {
    let (object, trace) = (class.class, class.trace);
    writeln!(out, "CLS {object:x} (name={name}, trace={trace})")?;
    for (link, target) in [
        ("super", class.super_class),
        ("loader", class.loader),
        ("signers", class.signers),
        ("domain", class.protection_domain),
    ] {
        reference(format_args!("{link}\t"), target, out)?;
    }
    Ok(())
}

/// A static field of a class that is a reference; null has no line.
pub fn static_field(name: &[u8], value: u64, out: &mut impl Write) -> io::Result<()> {
    reference(format_args!("static {}", Word(name)), value, out)
}

/// A constant of a class that is an object, by its index in the constant pool; null has no line.
pub fn constant(index: u64, value: u64, out: &mut impl Write) -> io::Result<()> {
    reference(format_args!("constant pool entry {index}"), value, out)
}
