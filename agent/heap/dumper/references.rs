//! References that the agent holds while HotSpot dumps. HotSpot writes a root for each, which
//! contains the address of the object: no other source in the JVM gives addresses that are valid at
//! that moment.

use crate::heap::error::DumpError;
use jvm::global::Global;
use jvm::jni::Jni;
use jvm::object::Object;
use std::collections::HashMap;
use translation::{Known, KnownByReference};

/// Low bits of a reference, in which HotSpot marks its kind.
const MARKS: u64 = 7;

/// The references, 8 bytes each in the JVM and 17 in HotSpot's file.
#[derive(Debug)]
pub(super) struct References<'f> {
    jni: &'f Jni<'f>,
    held: Vec<(Global, Known)>,
}

impl<'f> References<'f> {
    /// None yet.
    pub(super) fn new(jni: &'f Jni<'f>) -> Self {
        Self {
            jni,
            held: Vec::new(),
        }
    }

    /// Holds an object.
    pub(super) fn hold(&mut self, object: &Object<'_>, known: Known) -> Result<(), DumpError> {
        let reference = self.jni.keep(object);
        let reference = reference.ok_or(DumpError::Missing("memory for global references"))?;
        self.held.push((reference, known));
        Ok(())
    }

    /// Gives all references back, and returns the facts about them.
    pub(super) fn release(mut self) -> KnownByReference {
        let mut known = HashMap::with_capacity(self.held.len());
        for (reference, what) in self.held.drain(..) {
            known.insert(reference.handle().bits() & !MARKS, what);
            self.jni.forget_global(reference);
        }
        known
    }
}

impl Drop for References<'_> {
    fn drop(&mut self) {
        for (reference, _) in self.held.drain(..) {
            self.jni.forget_global(reference);
        }
    }
}
