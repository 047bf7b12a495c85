//! Methods: names, source and lines of the methods on stacks, each asked of the JVM once a dump.

use super::catalogue::Catalogue;
use super::error::DumpError;
use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::jvmti::method::{LineStart, MethodId};
use crate::jvmti::stack::StackFrame;
use std::collections::HashMap;
use tables::{ClassId, Frame, FrameId, Line, ObjectTable, StringId, Tables};

/// Name of a frame's method that neither the JVM nor the walk told.
const UNKNOWN_METHOD: &[u8] = b"<unknown>";
/// Source of a class compiled without one; readers want a real string.
const UNKNOWN_SOURCE: &[u8] = b"Unknown Source";

#[derive(Debug)]
struct Method {
    class: ClassId,
    name: StringId,
    signature: StringId,
    source: StringId,
    is_native: bool,
    line_starts: Vec<LineStart>,
}

/// The methods of one dump.
#[derive(Debug)]
pub(super) struct Methods<'f> {
    env: &'f Env,
    jni: &'f Jni<'f>,
    line_numbers: bool,
    known: HashMap<MethodId, Option<Method>>,
}

impl<'f> Methods<'f> {
    /// No methods yet. Without `line_numbers` every line is unknown.
    pub(super) fn new(env: &'f Env, jni: &'f Jni<'f>, line_numbers: bool) -> Self {
        Self {
            env,
            jni,
            line_numbers,
            known: HashMap::new(),
        }
    }

    /// The row of a frame; a frame that nobody knows gets a row that says so.
    pub(super) fn frame(
        &mut self,
        frame: Option<StackFrame>,
        catalogue: &mut Catalogue<'f>,
        tables: &Tables,
        objects: &mut ObjectTable,
    ) -> Result<FrameId, DumpError> {
        let Some(frame) = frame else {
            return Ok(unknown_frame(catalogue, tables));
        };
        if !self.known.contains_key(&frame.method) {
            let method = self.ask(frame.method, catalogue, tables, objects)?;
            self.known.insert(frame.method, method);
        }
        let Some(Some(method)) = self.known.get(&frame.method) else {
            return Ok(unknown_frame(catalogue, tables));
        };
        Ok(tables.frames.intern(Frame {
            class: method.class,
            method: method.name,
            signature: method.signature,
            source: method.source,
            line: method.line(frame.location),
        }))
    }

    /// What the JVM tells of a method; `None` if its class is gone.
    fn ask(
        &self,
        method: MethodId,
        catalogue: &mut Catalogue<'f>,
        tables: &Tables,
        objects: &mut ObjectTable,
    ) -> Result<Option<Method>, DumpError> {
        let Ok(class) = self.env.declaring_class(self.jni, method) else {
            return Ok(None);
        };
        let Ok((name, signature)) = self.env.method_name(method) else {
            return Ok(None);
        };
        let source = self
            .env
            .source_file_name(&class)
            .unwrap_or_else(|_| UNKNOWN_SOURCE.to_vec());
        // An error means that the class file has no lines, or that the JVM does not tell: both are "unknown".
        let line_starts = if self.line_numbers {
            self.env.line_starts(method).unwrap_or_default()
        } else {
            Vec::new()
        };
        Ok(Some(Method {
            class: catalogue.admit(class, tables, objects)?,
            name: tables.strings.intern(&name),
            signature: tables.strings.intern(&signature),
            source: tables.strings.intern(&source),
            is_native: self.env.is_native(method).unwrap_or(false),
            line_starts,
        }))
    }
}

impl Method {
    /// The line that the bytecode belongs to: the last one that starts at or before it.
    fn line(&self, location: i64) -> Line {
        if self.is_native {
            return Line::Native;
        }
        line_of(&self.line_starts, location)
    }
}

fn line_of(line_starts: &[LineStart], location: i64) -> Line {
    let last = line_starts
        .iter()
        .filter(|start| start.location <= location)
        .max_by_key(|start| start.location);
    last.map_or(Line::Unknown, |start| Line::Number(start.line))
}

fn unknown_frame(catalogue: &Catalogue<'_>, tables: &Tables) -> FrameId {
    tables.frames.intern(Frame {
        class: catalogue.object_class(),
        method: tables.strings.intern(UNKNOWN_METHOD),
        signature: tables.strings.intern(b"()V"),
        source: tables.strings.intern(UNKNOWN_SOURCE),
        line: Line::Unknown,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bytecode_belongs_to_the_last_line_that_starts_before_it() {
        // A loop's condition is compiled behind its body: lines are not in order of bytecodes.
        let starts =
            [(0, 10), (20, 11), (5, 12)].map(|(location, line)| LineStart { location, line });
        assert_eq!(line_of(&starts, 0), Line::Number(10));
        assert_eq!(line_of(&starts, 19), Line::Number(12));
        assert_eq!(line_of(&starts, 400), Line::Number(11));
        assert_eq!(line_of(&starts, -1), Line::Unknown);
        assert_eq!(line_of(&[], 0), Line::Unknown);
    }
}
