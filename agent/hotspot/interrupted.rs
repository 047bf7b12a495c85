//! The frame that a thread is about to go back to, when a signal has interrupted it where HotSpot finds no frame: in a
//! stub, which has none or a small one, or in a compiled method that has not built its frame yet, or not any more.
//!
//! For signal handlers: it reads memory, and that is all.

use super::code_cache::{CodeCache, Standing};
use super::memory::{Address, WORD_BYTES};

/// How far above the stack pointer the frame pointer of a stub may be: a stub keeps little. There is always more of a
/// thread's stack above a Java frame.
const MOST_STUB_BYTES: u64 = 512;

/// The registers that say where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Registers {
    /// The instruction that runs.
    pub(crate) pc: u64,
    /// The stack pointer.
    pub(crate) stack_pointer: u64,
    /// The frame pointer, or whatever else compiled code keeps there.
    pub(crate) frame_pointer: u64,
}

/// Finds callers of code that has no frame.
#[derive(Debug)]
pub(crate) struct Interrupted(CodeCache);

impl Interrupted {
    /// `None` if this JVM does not export what it takes, or runs on another processor.
    pub(crate) fn find() -> Option<Self> {
        cfg!(target_arch = "x86_64")
            .then(CodeCache::find)?
            .map(Self)
    }

    /// Notes what compiled methods look like, if a thread runs one at `pc`. Until then no callers are found.
    pub(crate) fn learn(&self, pc: u64) {
        if !self.0.has_met_method() {
            let _ = self.0.standing(pc);
        }
    }

    /// What the registers are when the code that was interrupted has returned; `None` if that is not known. For the
    /// thread with these registers, which runs Java code.
    ///
    /// # Safety
    /// They are those of the calling thread, from a signal's context.
    pub(crate) unsafe fn caller(&self, at: Registers) -> Option<Registers> {
        let top = Address::new(at.stack_pointer);
        // SAFETY: the two words on top of the thread's own stack, under which there are older frames.
        let words = unsafe { [top.read::<u64>(), top.add(WORD_BYTES).read::<u64>()] };
        match self.0.standing(at.pc)? {
            Standing::InFrame => None,
            Standing::Returning => self.popped(at, words[0], 1),
            // The frame pointer is pushed, or not yet.
            Standing::Entering => self
                .popped(at, words[0], 1)
                .or_else(|| self.popped(at, words[1], 2)),
            Standing::InStub => self.popped(at, words[0], 1).or_else(|| self.left_frame(at)),
        }
    }

    /// Without so many words on top of the stack, if the last of them leads to Java code.
    fn popped(&self, at: Registers, pc: u64, words: u64) -> Option<Registers> {
        self.0.is_java(pc).then_some(Registers {
            pc,
            stack_pointer: at.stack_pointer.wrapping_add(words * WORD_BYTES),
            frame_pointer: at.frame_pointer,
        })
    }

    /// Without the frame that the frame pointer points to.
    fn left_frame(&self, at: Registers) -> Option<Registers> {
        let size = at.frame_pointer.checked_sub(at.stack_pointer)?;
        if size > MOST_STUB_BYTES || at.frame_pointer % WORD_BYTES != 0 {
            return None;
        }
        let frame = Address::new(at.frame_pointer);
        // SAFETY: two words of the thread's own stack, a little above its top.
        let (caller, pc) = unsafe { (frame.read::<u64>(), frame.add(WORD_BYTES).read::<u64>()) };
        self.0.is_java(pc).then_some(Registers {
            pc,
            stack_pointer: at.frame_pointer.wrapping_add(2 * WORD_BYTES),
            frame_pointer: caller,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hotspot::code_cache::fake::FakeCode;

    /// The caller found from the code at `pc`, with this stack, whose frame pointer is at the word of that number.
    fn caller(code: FakeCode, pc: u64, stack: &[u64], frame: usize) -> Option<(u64, u64)> {
        let top = stack.as_ptr() as u64;
        let met = code.pc(0, 20);
        let interrupted = Interrupted(code.cache);
        interrupted.learn(met);
        let at = Registers {
            pc,
            stack_pointer: top,
            frame_pointer: top + frame as u64 * WORD_BYTES,
        };
        // SAFETY: the array is the stack.
        let found = unsafe { interrupted.caller(at) }?;
        Some((found.pc, (found.stack_pointer - top) / WORD_BYTES))
    }

    #[test]
    fn a_method_without_its_frame_returns_by_the_top_of_the_stack() {
        let mut code = FakeCode::new();
        code.put(0, 40, 0xC3);
        let (pc, back) = (code.pc(0, 40), code.pc(0, 20));
        assert_eq!(caller(code, pc, &[back, 0, 0, 0], 3), Some((back, 1)));
        let code = FakeCode::new();
        let (pc, back) = (code.pc(0, 1), code.pc(0, 20));
        // The frame pointer is pushed already.
        assert_eq!(caller(code, pc, &[7, back, 0, 0], 3), Some((back, 2)));
    }

    #[test]
    fn a_stub_returns_by_the_stack_or_by_its_frame() {
        let code = FakeCode::new();
        let pc = code.pc(1, 0);
        assert_eq!(caller(code, pc, &[0x1800, 0, 0, 0], 3), Some((0x1800, 1)));
        let code = FakeCode::new();
        let pc = code.pc(1, 0);
        let stack = [7, 8, 9, 0x1800];
        assert_eq!(caller(code, pc, &stack, 2), Some((0x1800, 4)));
    }

    #[test]
    fn what_leads_nowhere_is_left_alone() {
        for (block, offset) in [(0, 20), (1, 0), (2, 0)] {
            let code = FakeCode::new();
            let pc = code.pc(block, offset);
            assert_eq!(caller(code, pc, &[5, 6, 7, 8], 2), None);
        }
        let code = FakeCode::new();
        // A method that has its frame is HotSpot's own business.
        let (pc, back) = (code.pc(0, 20), code.pc(0, 30));
        assert_eq!(caller(code, pc, &[back; 4], 2), None);
    }
}
