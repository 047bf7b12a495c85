//! Finds the code of a constructor that runs after `super(…)` or `this(…)` has returned.
//!
//! Before that, `this` is uninitialized, and the verifier allows no handler without local variables
//! there (4.10.1.6: the flag `flagThisUninit`).

use std::ops::Range;

use crate::class_file::{ClassFile, Method};
use crate::code::Code;
use crate::error::Reason;
use crate::frame::{Frames, Locals, Types, UNINITIALIZED, UNINITIALIZED_THIS};
use crate::opcode::{Kind, INVOKESPECIAL, JSR, JSR_W, NEW, RET};
use crate::program::{Instruction, Program};

/// A constructor being analysed.
#[derive(Debug)]
pub(crate) struct Constructor<'a> {
    pub(crate) class: &'a ClassFile<'a>,
    pub(crate) method: Method<'a>,
    pub(crate) code: Code<'a>,
    pub(crate) program: &'a Program,
    /// The body of its `StackMapTable`.
    pub(crate) frames: Option<&'a [u8]>,
}

/// The verifier's state at an instruction.
#[derive(Clone, Copy, Debug)]
struct State {
    this_is_uninitialized: bool,
    /// Number of other objects that were created by `new` and are not yet initialized.
    uninitialized: usize,
}

const AT_START: State = State {
    this_is_uninitialized: true,
    uninitialized: 0,
};

impl Constructor<'_> {
    /// The runs of instructions in which `this` is initialized; `None` if that is unclear.
    pub(crate) fn initialized(&self) -> Result<Option<Vec<Range<usize>>>, Reason> {
        // Version 50 may lack frames; the JVM then verifies the class like older ones.
        let jumps = self.program.instructions().iter();
        let has_jumps = jumps.into_iter().any(|i| is_jump(*i));
        let version = self.class.major_version;
        if version > 50 || version == 50 && (self.frames.is_some() || !has_jumps) {
            self.by_frames().map(Some)
        } else {
            self.without_frames()
        }
    }

    /// The type checker goes through the code once from start to end, and trusts the frames. So
    /// does this function.
    fn by_frames(&self) -> Result<Vec<Range<usize>>, Reason> {
        let empty: &[u8] = &[0, 0];
        let mut frames = Frames::read(self.frames.unwrap_or(empty))?.peekable();
        let mut locals = vec![(UNINITIALIZED_THIS, 0)];
        locals.resize(1 + argument_count(self.method.descriptor), (0, 0));
        let mut state = AT_START;
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (index, instruction) in self.program.instructions().iter().enumerate() {
            let at = usize::from(instruction.at);
            if let Some(frame) = frames.next_if(|f| f.as_ref().map_or(true, |f| f.at == at)) {
                let frame = frame?;
                match frame.effect() {
                    Locals::Chop(count) => locals.truncate(locals.len().saturating_sub(count)),
                    Locals::Append => locals.extend(frame.locals.iter()),
                    Locals::Replace => locals = frame.locals.iter().collect(),
                }
                state = state_of(&locals, frame.stack);
            }
            if !state.this_is_uninitialized {
                match runs.last_mut().filter(|run| run.end == index) {
                    Some(run) => run.end = index + 1,
                    None => runs.push(index..index + 1),
                }
            }
            self.step(*instruction, &mut state);
        }
        Ok(runs)
    }

    /// The old verifier follows jumps. All code after the call counts, unless code before the call
    /// jumps past it.
    fn without_frames(&self) -> Result<Option<Vec<Range<usize>>>, Reason> {
        let instructions = self.program.instructions();
        if instructions
            .iter()
            .any(|i| matches!(i.opcode, JSR | JSR_W | RET))
        {
            return Ok(None);
        }
        let mut state = AT_START;
        let mut farthest = 0;
        for (index, instruction) in instructions.iter().enumerate() {
            let note = |target: usize| farthest = farthest.max(target);
            self.program
                .each_target(self.code.bytes, *instruction, note)?;
            self.step(*instruction, &mut state);
            if !state.this_is_uninitialized {
                let call = usize::from(instruction.at);
                let caught_later = self.code.handlers().any(|[start, _, handler, _]| {
                    usize::from(start) <= call && usize::from(handler) > call
                });
                let clear = farthest <= index && !caught_later;
                let after = index + 1..instructions.len();
                return Ok(clear.then(|| std::iter::once(after).collect()));
            }
        }
        Ok(Some(Vec::new()))
    }

    /// The position of the call of `super(…)` or `this(…)` in the code order of Java compilers;
    /// `None` if there is none.
    pub(crate) fn initializing_call(&self) -> Option<u16> {
        let mut state = AT_START;
        let mut instructions = self.program.instructions().iter();
        let call = instructions.find(|instruction| {
            self.step(**instruction, &mut state);
            !state.this_is_uninitialized
        });
        call.map(|instruction| instruction.at)
    }

    fn step(&self, instruction: Instruction, state: &mut State) {
        match instruction.opcode {
            NEW => state.uninitialized += 1,
            INVOKESPECIAL if self.initializes(instruction) => {
                match state.uninitialized.checked_sub(1) {
                    Some(fewer) => state.uninitialized = fewer,
                    None => state.this_is_uninitialized = false,
                }
            }
            _ => {}
        }
    }

    /// Whether an `invokespecial` calls a constructor, and not a private or a superclass method.
    fn initializes(&self, call: Instruction) -> bool {
        let operand = usize::from(call.at) + 1;
        let index = self.code.bytes.get(operand..);
        let index = index.and_then(|bytes| bytes.first_chunk().map(|b| u16::from_be_bytes(*b)));
        let method = index.and_then(|index| self.class.pool.method(index));
        method.is_some_and(|(_, name)| name == b"<init>")
    }
}

fn is_jump(instruction: Instruction) -> bool {
    matches!(instruction.kind, Kind::Jump | Kind::FarJump | Kind::Switch)
}

fn state_of(locals: &[(u8, u16)], stack: Types<'_>) -> State {
    let all = || locals.iter().copied().chain(stack.iter());
    // Copies of one object refer to the same `new`.
    let mut news: Vec<u16> = all()
        .filter(|(tag, _)| *tag == UNINITIALIZED)
        .map(|(_, at)| at)
        .collect();
    news.sort_unstable();
    news.dedup();
    State {
        this_is_uninitialized: all().any(|(tag, _)| tag == UNINITIALIZED_THIS),
        uninitialized: news.len(),
    }
}

/// The number of a method's arguments, not counting `this` (4.3.3).
fn argument_count(descriptor: &[u8]) -> usize {
    let mut count = 0;
    let mut bytes = descriptor.iter().skip(1);
    while let Some(byte) = bytes.next() {
        match byte {
            b')' => break,
            // The dimensions of an array belong to the type that follows them.
            b'[' => continue,
            b'L' => {
                bytes.find(|b| **b == b';');
            }
            _ => {}
        }
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests;
