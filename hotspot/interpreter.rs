//! Frames of HotSpot's interpreter (frame_x86.hpp, constMethod.hpp).
//!
//! Words are counted from the frame pointer: the caller's frame pointer is at 0, the return address
//! above it, the caller's stack pointer below it, and further down the method and the bytecode that
//! runs.

use super::memory::{Address, WORD_BYTES};
use super::vm_structs::Table;
use std::ops::Range;

const CALLER_STACK_POINTER_WORDS: u64 = 1;
const METHOD_WORDS: u64 = 3;
/// Where the address of the bytecode is: since JDK 9, and on 8. The word at the other place is
/// never the address of one of the method's bytecodes.
const BYTECODE_WORDS: [u64; 2] = [8, 7];
/// Words to read below the frame pointer.
const WORDS: u64 = 8;

/// The interpreter's code, and where methods have their bytecodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interpreter {
    low: u64,
    high: u64,
    constant_part: u64,
    code_size: u64,
    constant_part_size: u64,
}

/// An interpreted frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InterpretedFrame {
    /// The address of the bytecode that runs.
    pub(super) bytecode: u64,
    /// The stack pointer of the caller.
    pub(super) caller_stack_pointer: u64,
    /// The caller's frame pointer.
    pub(super) caller_frame_pointer: u64,
    /// The return address.
    pub(super) caller_pc: u64,
}

impl Interpreter {
    /// Looks up the structures; `None` if this JVM does not export them.
    pub(super) fn find(table: Table) -> Option<Self> {
        let code = table.static_address("AbstractInterpreter", "_code")?;
        let buffer = table.offset("StubQueue", "_stub_buffer")?;
        let limit = table.offset("StubQueue", "_buffer_limit")?;
        // SAFETY: a variable with the address of the queue that contains the interpreter's code; it
        // never changes.
        let (low, size) = unsafe {
            let queue = Address::new(Address::new(code).read());
            (
                queue.add(buffer).read::<u64>(),
                queue.add(limit).read::<u32>(),
            )
        };
        Some(Self {
            low,
            high: low.checked_add(u64::from(size))?,
            constant_part: table.offset("Method", "_constMethod")?,
            code_size: table.offset("ConstMethod", "_code_size")?,
            constant_part_size: Table::size_bytes("ConstMethod")?,
        })
    }

    #[cfg(test)]
    pub(super) fn fake(low: u64, high: u64) -> Self {
        Self {
            low,
            high,
            constant_part: 8,
            code_size: 2,
            constant_part_size: 16,
        }
    }

    /// Whether a frame that continues at `pc` is interpreted.
    pub(super) fn contains(&self, pc: u64) -> bool {
        (self.low..self.high).contains(&pc)
    }

    /// The frame with this frame pointer; `None` if it is no interpreted frame, or not within the
    /// stack.
    ///
    /// # Safety
    /// `stack` is the calling thread's own. If `frame_pointer` lies within it, it belongs to an
    /// interpreted frame.
    pub(super) unsafe fn frame(
        &self,
        frame_pointer: u64,
        stack: Range<u64>,
    ) -> Option<InterpretedFrame> {
        let bottom = frame_pointer.checked_sub(WORDS * WORD_BYTES)?;
        if bottom < stack.start || frame_pointer.checked_add(2 * WORD_BYTES)? > stack.end {
            return None;
        }
        let at = Address::new(frame_pointer);
        // SAFETY: words of this thread's stack, as just checked; the method runs, so it is not
        // freed.
        unsafe {
            let method = Address::new(at.before(METHOD_WORDS * WORD_BYTES).read());
            let constant = Address::new(method.add(self.constant_part).read());
            let size: u16 = constant.add(self.code_size).read();
            let code = constant.add(self.constant_part_size).bits();
            let codes = code..code.checked_add(u64::from(size))?;
            let bytecode = BYTECODE_WORDS
                .iter()
                .map(|words| at.before(words * WORD_BYTES).read())
                .find(|bytecode| codes.contains(bytecode))?;
            Some(InterpretedFrame {
                bytecode,
                caller_stack_pointer: at.before(CALLER_STACK_POINTER_WORDS * WORD_BYTES).read(),
                caller_frame_pointer: at.read(),
                caller_pc: at.add(WORD_BYTES).read(),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A method whose constant part has 16 bytes and then 3 bytecodes.
    fn interpreter() -> Interpreter {
        Interpreter::fake(0x1000, 0x2000)
    }

    #[test]
    fn the_bytecode_is_the_one_of_the_method() {
        let constant = [0x0003_0000_u64, 0, 0];
        let code = constant.as_ptr() as u64 + 16;
        let method = [0_u64, constant.as_ptr() as u64];
        for (place, bytecode) in [(1, code + 2), (2, code)] {
            let mut stack = [0_u64; 11];
            stack[place] = bytecode;
            stack[6] = method.as_ptr() as u64;
            stack[8] = 70;
            stack[9] = 80;
            stack[10] = 90;
            let low = stack.as_ptr() as u64;
            // SAFETY: the array is the stack.
            let frame = unsafe { interpreter().frame(low + 9 * 8, low..low + 11 * 8) };
            let expected = InterpretedFrame {
                bytecode,
                caller_stack_pointer: 70,
                caller_frame_pointer: 80,
                caller_pc: 90,
            };
            assert_eq!(frame, Some(expected));
        }
    }

    #[test]
    fn frames_elsewhere_are_none() {
        let stack = [0_u64; 11];
        let low = stack.as_ptr() as u64;
        for at in [0, low, low + 7 * 8, low + 10 * 8] {
            // SAFETY: the array is the stack; none of these is read.
            let frame = unsafe { interpreter().frame(at, low..low + 11 * 8) };
            assert_eq!(frame, None, "{at:x}");
        }
    }
}
