//! Frames of HotSpot's interpreter (frame_x86.hpp, constMethod.hpp).
//!
//! Words are counted from the frame pointer: at 0 the caller's frame pointer, above it the address that it returns to, below
//! it the caller's stack pointer, and further down the method and the bytecode that runs.

use super::memory::{Address, WORD_BYTES};
use super::vm_structs::Table;
use std::ops::Range;

const CALLER_STACK_POINTER_WORDS: u64 = 1;
const METHOD_WORDS: u64 = 3;
/// Where the address of the bytecode is: from 9 on, and on 8. What stands there instead on the other is no address of a
/// bytecode of the method.
const BYTECODE_WORDS: [u64; 2] = [8, 7];
/// Words below the frame pointer that are read.
const WORDS: u64 = 8;

/// The interpreter's code, and where a method has its bytecodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interpreter {
    low: u64,
    high: u64,
    constant_part: u64,
    code_size: u64,
    constant_part_size: u64,
}

/// A frame of the interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InterpretedFrame {
    /// The address of the bytecode that runs, which is the method's own.
    pub(super) bytecode: u64,
    /// The stack pointer of the caller.
    pub(super) caller_stack_pointer: u64,
    /// Its frame pointer.
    pub(super) caller_frame_pointer: u64,
    /// Where it goes on.
    pub(super) caller_pc: u64,
}

impl Interpreter {
    /// Looks everything up; `None` if this JVM does not export it.
    pub(super) fn find(table: Table) -> Option<Self> {
        let code = table.static_address("AbstractInterpreter", "_code")?;
        let buffer = table.offset("StubQueue", "_stub_buffer")?;
        let limit = table.offset("StubQueue", "_buffer_limit")?;
        // SAFETY: the variable with the address of the queue that the interpreter's code lies in, which does not change.
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

    /// Whether a frame that goes on at `pc` is the interpreter's.
    pub(super) fn contains(&self, pc: u64) -> bool {
        (self.low..self.high).contains(&pc)
    }

    /// The frame with this frame pointer; `None` if it is not one, or if it lies outside of the stack.
    ///
    /// # Safety
    /// `stack` is the calling thread's own, and `frame_pointer`, if it is inside, that of a frame of the
    /// interpreter's.
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
        // SAFETY: words of the own stack, as just seen; the method runs, so it lives.
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
