//! The objects of a heap dump in text: instances, arrays and classes, with the references they hold.
//!
//! An object is a line of its own, followed by a line for each reference that is not null; so an array
//! of millions of elements needs no buffer. Primitive values have no place in this layout.

use std::io::{self, Write};

use tables::{ObjectId, TraceId};

use super::name::Word;
use crate::ClassName;

/// An object that is no array and no class; its [`FieldLine`]s follow.
#[derive(Clone, Copy, Debug)]
pub struct InstanceLine<'a> {
    /// The object.
    pub object: ObjectId,
    /// Its size in the heap, header and padding included.
    pub size_bytes: u64,
    /// Where it was allocated; [`TraceId::EMPTY`] if that is not known.
    pub trace: TraceId,
    /// The name of its class.
    pub class: ClassName<'a>,
    /// Its class.
    pub class_object: ObjectId,
}

impl InstanceLine<'_> {
    /// Writes the line.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "OBJ {:x} (sz={}, trace={}, class={}@{:x})",
            self.object.get(),
            self.size_bytes,
            self.trace.get(),
            self.class,
            self.class_object.get()
        )
    }
}

/// A field of an instance; inherited ones come first.
#[derive(Clone, Copy, Debug)]
pub struct FieldLine<'a> {
    /// The field's name.
    pub name: &'a [u8],
    /// What it refers to; null has no line.
    pub value: Option<ObjectId>,
}

impl FieldLine<'_> {
    /// Writes the line, if there is one.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(value) = self.value else {
            return Ok(());
        };
        let second_tab = if self.name.len() < 8 { "\t" } else { "" };
        let (name, value) = (Word(self.name), value.get());
        writeln!(out, "\t{name}\t{second_tab}{value:x}")
    }
}

/// An array; the [`ElementLine`]s of an array of references follow.
#[derive(Clone, Copy, Debug)]
pub struct ArrayLine<'a> {
    /// The array.
    pub object: ObjectId,
    /// Its size in the heap; for primitive values only what the elements take, as it always was.
    pub size_bytes: u64,
    /// Where it was allocated; [`TraceId::EMPTY`] if that is not known.
    pub trace: TraceId,
    /// How many elements it has, nulls included.
    pub elements: u32,
    /// The name of the array's own class: `char[]`.
    pub class: ClassName<'a>,
    /// The array's class; `None` for primitive values.
    pub class_object: Option<ObjectId>,
}

impl ArrayLine<'_> {
    /// Writes the line.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        write!(
            out,
            "ARR {:x} (sz={}, trace={}, nelems={}, elem type={}",
            self.object.get(),
            self.size_bytes,
            self.trace.get(),
            self.elements,
            self.class
        )?;
        match self.class_object {
            Some(class) => writeln!(out, "@{:x})", class.get()),
            None => writeln!(out, ")"),
        }
    }
}

/// An element of an array of references.
#[derive(Clone, Copy, Debug)]
pub struct ElementLine {
    /// Its index, from 0.
    pub index: u32,
    /// What it refers to; null has no line.
    pub value: Option<ObjectId>,
}

impl ElementLine {
    /// Writes the line, if there is one.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        match self.value {
            Some(value) => writeln!(out, "\t[{}]\t\t{:x}", self.index, value.get()),
            None => Ok(()),
        }
    }
}

/// A class and what it belongs to; its [`StaticLine`]s follow, then its [`ConstantLine`]s.
#[derive(Clone, Copy, Debug)]
pub struct ClassLine<'a> {
    /// The class object.
    pub object: ObjectId,
    /// The class's name.
    pub name: ClassName<'a>,
    /// Where it was loaded; [`TraceId::EMPTY`] if that is not known.
    pub trace: TraceId,
    /// The superclass, if there is one.
    pub super_class: Option<ObjectId>,
    /// The loader; `None` for the bootstrap loader.
    pub loader: Option<ObjectId>,
    /// The signers, if there are any.
    pub signers: Option<ObjectId>,
    /// The protection domain, if there is one.
    pub protection_domain: Option<ObjectId>,
}

impl ClassLine<'_> {
    /// Writes the line, and one for each of the four that is there.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        let (object, trace) = (self.object.get(), self.trace.get());
        writeln!(out, "CLS {object:x} (name={}, trace={trace})", self.name)?;
        for (link, target) in [
            ("super", self.super_class),
            ("loader", self.loader),
            ("signers", self.signers),
            ("domain", self.protection_domain),
        ] {
            if let Some(target) = target {
                writeln!(out, "\t{link}\t\t{:x}", target.get())?;
            }
        }
        Ok(())
    }
}

/// A static field of a class.
#[derive(Clone, Copy, Debug)]
pub struct StaticLine<'a> {
    /// The field's name.
    pub name: &'a [u8],
    /// What it refers to; null has no line.
    pub value: Option<ObjectId>,
}

impl StaticLine<'_> {
    /// Writes the line, if there is one.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        match self.value {
            Some(value) => writeln!(out, "\tstatic {}\t{:x}", Word(self.name), value.get()),
            None => Ok(()),
        }
    }
}

/// A constant of a class that is an object.
#[derive(Clone, Copy, Debug)]
pub struct ConstantLine {
    /// Its index in the constant pool.
    pub index: u16,
    /// What it refers to; null has no line.
    pub value: Option<ObjectId>,
}

impl ConstantLine {
    /// Writes the line, if there is one.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        match self.value {
            Some(value) => {
                let (index, value) = (self.index, value.get());
                writeln!(out, "\tconstant pool entry {index}\t{value:x}")
            }
            None => Ok(()),
        }
    }
}
