//! Methods: names, sources and lines of the methods on stacks. The JVM is asked about each method
//! once per dump.

use super::catalogue::Catalogue;
use crate::heap::error::DumpError;
use crate::method_facts::{MethodFacts, UNKNOWN_SOURCE};
use jvm::method::MethodId;
use jvm::stack::StackFrame;
use std::collections::HashMap;
use tables::{ClassId, Frame, FrameId, Line};

/// The method name of a frame that neither the JVM nor the walk could name.
const UNKNOWN_METHOD: &[u8] = b"<unknown>";

#[derive(Debug)]
struct Method {
    class: ClassId,
    facts: MethodFacts,
}

/// The methods of one dump.
#[derive(Debug)]
pub(in crate::heap) struct Methods {
    /// Whether frames get source lines.
    pub(in crate::heap) line_numbers: bool,
    known: HashMap<MethodId, Option<Method>>,
}

impl Methods {
    /// No methods yet. Without `line_numbers` every line is unknown.
    pub(in crate::heap) fn new(line_numbers: bool) -> Self {
        Self {
            line_numbers,
            known: HashMap::new(),
        }
    }

    /// The row of a frame. A frame without a known method gets a row that names it unknown.
    pub(in crate::heap) fn frame(
        &mut self,
        frame: Option<StackFrame>,
        catalogue: &mut Catalogue<'_>,
    ) -> Result<FrameId, DumpError> {
        let Some(frame) = frame else {
            return Ok(unknown_frame(catalogue));
        };
        let Some(method) = self.method(frame.method, catalogue)? else {
            return Ok(unknown_frame(catalogue));
        };
        let tables = catalogue.tables;
        let line = method.facts.line(frame.location);
        let mut source = method.facts.source;
        if line == Line::Native && tables.strings.get(source).as_deref() == Some(UNKNOWN_SOURCE) {
            // HotSpot names no source file here, and readers append "Native Method".
            source = tables.strings.intern(b"");
        }
        Ok(tables.frames.intern(&Frame {
            class: method.class,
            method: method.facts.name,
            signature: method.facts.signature,
            source,
            line,
        }))
    }

    /// Whether a method is known not to be native.
    pub(in crate::heap) fn is_java(
        &mut self,
        method: MethodId,
        catalogue: &mut Catalogue<'_>,
    ) -> Result<bool, DumpError> {
        let method = self.method(method, catalogue)?;
        Ok(method.is_some_and(|method| method.facts.line(0) != Line::Native))
    }

    /// The class of a method; `None` if it is unloaded.
    pub(in crate::heap) fn class(
        &mut self,
        method: MethodId,
        catalogue: &mut Catalogue<'_>,
    ) -> Result<Option<ClassId>, DumpError> {
        let method = self.method(method, catalogue)?;
        Ok(method.map(|method| method.class))
    }

    fn method(
        &mut self,
        id: MethodId,
        catalogue: &mut Catalogue<'_>,
    ) -> Result<Option<&Method>, DumpError> {
        let is_known = self.known.contains_key(&id);
        if !is_known {
            let method = self.ask(id, catalogue)?;
            self.known.insert(id, method);
        }
        Ok(self.known.get(&id).and_then(Option::as_ref))
    }

    /// The facts about a method; `None` if its class is unloaded.
    fn ask(
        &self,
        method: MethodId,
        catalogue: &mut Catalogue<'_>,
    ) -> Result<Option<Method>, DumpError> {
        let told = MethodFacts::ask(
            catalogue.env,
            catalogue.jni,
            method,
            self.line_numbers,
            &catalogue.tables.strings,
        );
        let Some((class, facts)) = told else {
            return Ok(None);
        };
        Ok(Some(Method {
            class: catalogue.admit(class)?,
            facts,
        }))
    }
}

fn unknown_frame(catalogue: &Catalogue<'_>) -> FrameId {
    let tables = catalogue.tables;
    tables.frames.intern(&Frame {
        class: catalogue.object_class,
        method: tables.strings.intern(UNKNOWN_METHOD),
        signature: tables.strings.intern(b"()V"),
        source: tables.strings.intern(UNKNOWN_SOURCE),
        line: Line::Unknown,
    })
}
