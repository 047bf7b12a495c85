//! Rewrites the code of one method.

use std::ops::Range;

use crate::additions::Additions;
use crate::annotation::type_annotations;
use crate::bytes::Bytes;
use crate::class_file::{ClassFile, Method};
use crate::code::Code;
use crate::debug_table::{line_numbers, local_variables};
use crate::emit::Emitter;
use crate::error::Reason;
use crate::frame::FrameWriter;
use crate::handler;
use crate::layout::{narrow, Layout};
use crate::names;
use crate::opcode::{self, RETURN};
use crate::plan::{Plan, Route};
use crate::program::Instruction;
use crate::snippet::Snippets;

/// The first version whose code has frames.
const FIRST_WITH_FRAMES: u16 = 50;
const STACK_MAP_TABLE: &[u8] = b"StackMapTable";

/// A JDK method that reports something special.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    /// Every object creation calls it.
    ObjectInit,
    /// Every OutOfMemoryError calls one of them.
    ErrorInit,
    /// Forwards calls to the tracker.
    Gate,
    /// Mounts a virtual thread on its carrier.
    Mount,
    /// Unmounts it.
    Unmount,
}

/// Rewrites methods one after the other, reusing its memory.
#[derive(Debug)]
pub(crate) struct MethodRewriter<'a> {
    class: &'a ClassFile<'a>,
    plan: &'a Plan,
    layout: Layout,
    snippets: Snippets,
    /// The runs of instructions that the handler covers.
    covered: Vec<Range<usize>>,
    /// Number of methods that report their start and end, but not when they throw.
    pub(crate) without_handler: usize,
}

impl<'a> MethodRewriter<'a> {
    pub(crate) fn new(class: &'a ClassFile<'a>, plan: &'a Plan) -> Self {
        Self {
            class,
            plan,
            layout: Layout::default(),
            snippets: Snippets::default(),
            covered: Vec::new(),
            without_handler: 0,
        }
    }

    /// Writes a new body of the method's `Code`; false if it can stay unchanged.
    ///
    /// After an error, the caller must undo the changes of `out` and `additions`.
    pub(crate) fn rewrite(
        &mut self,
        method: Method<'a>,
        number: &mut impl FnMut(Method<'_>) -> Option<u32>,
        body: &'a [u8],
        additions: &mut Additions,
        out: &mut Vec<u8>,
    ) -> Result<bool, Reason> {
        let code = Code::read(body)?;
        let reports_calls = self.plan.calls && !is_empty_finalize(method, code);
        let number = if reports_calls { number(method) } else { None };
        if !self.wants(method, number, code) {
            return Ok(false);
        }
        self.layout.program.read(code.bytes)?;
        self.prepare(method, number, code, additions)?;
        if self.snippets.is_empty() && !self.plan.every_method {
            return Ok(false);
        }
        let clear = self.prepare_handler(method, code)?;
        self.layout.place(code.bytes, &self.snippets)?;
        let new_length = self.layout.length(&self.snippets);
        let is_compiled = |most| code.bytes.len() <= most && new_length > most;
        if self.plan.longest_compiled.is_some_and(is_compiled) {
            return Err(Reason::NotCompiled);
        }
        self.write(code, additions, out)?;
        self.without_handler += usize::from(!clear);
        Ok(true)
    }

    /// A cheap first check whether anything may be inserted into the method.
    fn wants(&self, method: Method<'_>, number: Option<u32>, code: Code<'_>) -> bool {
        // A byte that looks like such an instruction may be an operand.
        let is_array = |byte: &u8| opcode::kind(*byte) == opcode::Kind::Array;
        self.plan.every_method
            || self.special(method).is_some()
            || number.is_some()
            || self.plan.arrays && code.bytes.iter().any(is_array)
    }

    /// The special role of a JDK method.
    fn special(&self, method: Method<'_>) -> Option<Special> {
        let name = (self.class.name, method.name, method.descriptor);
        let (special, is_wanted) = match name {
            (b"java/lang/Object", b"<init>", _) => (Special::ObjectInit, self.plan.object_init),
            (b"java/lang/OutOfMemoryError", b"<init>", _) => {
                (Special::ErrorInit, self.plan.error_init)
            }
            (b"java/lang/Object", b"wait", b"(JI)V") => (Special::Gate, self.plan.gate),
            (b"java/lang/VirtualThread", b"mount", b"()V") => (Special::Mount, self.plan.switches),
            (b"java/lang/VirtualThread", b"unmount", b"()V") => {
                (Special::Unmount, self.plan.switches)
            }
            _ => return None,
        };
        is_wanted.then_some(special)
    }

    /// Makes the snippets, with a handler if calls are reported.
    fn prepare(
        &mut self,
        method: Method<'_>,
        number: Option<u32>,
        code: Code<'_>,
        additions: &mut Additions,
    ) -> Result<(), Reason> {
        self.snippets.clear();
        match self.special(method) {
            Some(Special::ObjectInit) => {
                self.snippets.add_init(additions, names::OBJECT_INIT)?;
            }
            Some(Special::ErrorInit) => self.snippets.add_init(additions, names::ERROR_INIT)?,
            Some(Special::Gate) => self.snippets.add_gate(additions)?,
            Some(Special::Mount) => self.snippets.add_mount(additions)?,
            Some(Special::Unmount) => self.snippets.add_unmount(additions)?,
            None => {}
        }
        if self.plan.arrays {
            self.prepare_arrays(code, additions)?;
        }
        if let Some(number) = number {
            self.snippets.add_calls(self.plan, additions, number)?;
        }
        Ok(())
    }

    fn prepare_arrays(&mut self, code: Code<'_>, additions: &mut Additions) -> Result<(), Reason> {
        let is_array = |instruction: &Instruction| instruction.kind == opcode::Kind::Array;
        if !self.layout.program.instructions().iter().any(is_array) {
            return Ok(());
        }
        self.snippets.add_arrays(self.plan, additions)?;
        if self.plan.route != Route::Arrays {
            return Ok(());
        }
        for (index, instruction) in self.layout.program.instructions().iter().enumerate() {
            if is_array(instruction) {
                let (at, next) = (
                    self.layout.program.at(index),
                    self.layout.program.at(index + 1),
                );
                let bytes = code.bytes.get(at..next).unwrap_or(&[]);
                self.snippets
                    .add_target(&self.class.pool, bytes, additions)?;
            }
        }
        Ok(())
    }

    /// Finds the code for the handler to cover, and drops the handler if there is none. False if it
    /// is dropped because the code is unclear.
    fn prepare_handler(&mut self, method: Method<'a>, code: Code<'a>) -> Result<bool, Reason> {
        self.covered.clear();
        if self.snippets.handler.is_empty() {
            return Ok(true);
        }
        let frames = self.attribute(code, STACK_MAP_TABLE);
        let covered = handler::covered(self.class, method, code, &self.layout.program, frames)?;
        let clear = covered.is_some();
        self.covered = covered.unwrap_or_default();
        if self.covered.is_empty() {
            self.snippets.handler.clear();
        }
        Ok(clear)
    }

    pub(crate) fn is_code(&self, name: u16) -> bool {
        self.class.pool.utf8(name) == Some(b"Code")
    }

    fn attribute(&self, code: Code<'a>, name: &[u8]) -> Option<&'a [u8]> {
        code.attributes()
            .find(|(index, _)| self.class.pool.utf8(*index) == Some(name))
            .map(|(_, body)| body)
    }

    fn write(
        &self,
        code: Code<'_>,
        additions: &mut Additions,
        out: &mut Vec<u8>,
    ) -> Result<(), Reason> {
        let more = self.snippets.more_stack;
        let max_stack = code.max_stack.checked_add(more).ok_or(Reason::TooBig)?;
        // The stack at the handler also has the exception.
        let least = match self.covered.is_empty() {
            true => 0,
            false => self.snippets.handler_stack + 1,
        };
        out.put_u2(max_stack.max(least));
        out.put_u2(code.max_locals);
        let emitter = Emitter {
            code: code.bytes,
            layout: &self.layout,
            snippets: &self.snippets,
        };
        out.sized(|out| emitter.emit(out))?;
        self.write_handlers(code, out)?;
        self.write_attributes(code, additions, out)
    }

    /// Writes the exception table. The first matching entry is used, so added ones come last.
    fn write_handlers(&self, code: Code<'_>, out: &mut Vec<u8>) -> Result<(), Reason> {
        out.put_u2(narrow(code.handlers.len() / 8 + self.covered.len())?);
        for [start, end, handler, kind] in code.handlers() {
            for place in [start, end, handler] {
                out.put_u2(self.layout.moved(place)?);
            }
            out.put_u2(kind);
        }
        for run in &self.covered {
            out.put_u2(self.layout.start(run.start)?);
            out.put_u2(self.layout.start(run.end)?);
            out.put_u2(self.layout.end());
            out.put_u2(0);
        }
        Ok(())
    }

    fn write_attributes(
        &self,
        code: Code<'_>,
        additions: &mut Additions,
        out: &mut Vec<u8>,
    ) -> Result<(), Reason> {
        let has_more = !self.covered.is_empty() || !self.snippets.entry_frames.is_empty();
        let needs_frame = has_more && self.class.major_version >= FIRST_WITH_FRAMES;
        let has_frames = self.attribute(code, STACK_MAP_TABLE).is_some();
        let added = u16::from(needs_frame && !has_frames);
        let count = code.attribute_count.checked_add(added);
        out.put_u2(count.ok_or(Reason::TooBig)?);
        for (name, body) in code.attributes() {
            out.put_u2(name);
            let name = self.class.pool.utf8(name).unwrap_or(b"");
            out.sized(|out| match name {
                STACK_MAP_TABLE => self.write_frames(Some(body), additions, out),
                b"LineNumberTable" => line_numbers(&self.layout, body, out),
                b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                    local_variables(&self.layout, body, out)
                }
                b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                    type_annotations(&self.layout, body, out)
                }
                _ => {
                    out.put(body);
                    Ok(())
                }
            })?;
        }
        if added > 0 {
            out.put_u2(additions.utf8(STACK_MAP_TABLE)?);
            out.sized(|out| self.write_frames(None, additions, out))?;
        }
        Ok(())
    }

    fn write_frames(
        &self,
        old: Option<&[u8]>,
        additions: &mut Additions,
        out: &mut Vec<u8>,
    ) -> Result<(), Reason> {
        let mut frames = FrameWriter::new(out);
        for &at in self.snippets.entry_frames {
            frames.same(at)?;
        }
        if let Some(body) = old {
            frames.copy(&self.layout, body)?;
        }
        if !self.covered.is_empty() && self.class.major_version >= FIRST_WITH_FRAMES {
            let throwable = additions.class(b"java/lang/Throwable")?;
            frames.handler(self.layout.end(), throwable)?;
        }
        frames.finish();
        Ok(())
    }
}

/// An empty `finalize` does not report calls. The JVM does not register objects for finalization if
/// their `finalize` is just a `return`, like the one of `java/lang/Object`.
fn is_empty_finalize(method: Method<'_>, code: Code<'_>) -> bool {
    code.bytes == [RETURN] && method.name == b"finalize" && method.descriptor == b"()V"
}

#[cfg(test)]
mod tests;
