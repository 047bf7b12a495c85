//! The caller's frame when a signal interrupts a thread where HotSpot finds no frame: in a stub,
//! which has none or a small one, or in a compiled method that has not yet built its frame, or has
//! already removed it.
//!
//! For signal handlers: it only reads memory.

use super::code_cache::{CodeCache, Standing};
use super::memory::{Address, WORD_BYTES};

/// How far above the stack pointer a stub's frame pointer may be: stubs use little stack. Above a
/// Java frame the thread's stack always has at least this much.
const MOST_STUB_BYTES: u64 = 512;

/// The registers that determine a thread's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// The program counter.
    pub pc: u64,
    /// The stack pointer.
    pub stack_pointer: u64,
    /// The frame pointer, or any other value that compiled code keeps in its register.
    pub frame_pointer: u64,
}

/// Finds the callers of code that has no frame.
#[derive(Debug)]
pub struct Interrupted(CodeCache);

impl Interrupted {
    /// `None` if this JVM does not export the needed structures, or runs on another processor.
    pub fn find() -> Option<Self> {
        cfg!(target_arch = "x86_64")
            .then(CodeCache::find)?
            .map(Self)
    }

    /// If a thread runs a compiled method at `pc`, reads the layout of compiled methods. Before
    /// that, no callers are found.
    pub fn learn(&self, pc: u64) {
        if !self.0.has_met_method() {
            let _ = self.0.standing(pc);
        }
    }

    /// The registers as they will be when the interrupted code has returned; `None` if that is
    /// unknown. The thread with these registers must be running Java code.
    ///
    /// # Safety
    /// They are the calling thread's registers, from a signal's context.
    pub unsafe fn caller(&self, at: Registers) -> Option<Registers> {
        let top = Address::new(at.stack_pointer);
        // SAFETY: the two top words of the thread's own stack; older frames lie above them.
        let words = unsafe { [top.read::<u64>(), top.add(WORD_BYTES).read::<u64>()] };
        match self.0.standing(at.pc)? {
            Standing::InFrame => None,
            Standing::Returning => self.popped(at, words[0], 1),
            // The frame pointer is already pushed, or not yet.
            Standing::Entering => self
                .popped(at, words[0], 1)
                .or_else(|| self.popped(at, words[1], 2)),
            Standing::InStub => self.popped(at, words[0], 1).or_else(|| self.left_frame(at)),
        }
    }

    /// The registers without the `words` top words of the stack, if the last of these leads to Java
    /// code.
    fn popped(&self, at: Registers, pc: u64, words: u64) -> Option<Registers> {
        self.0.is_java(pc).then_some(Registers {
            pc,
            stack_pointer: at.stack_pointer.wrapping_add(words * WORD_BYTES),
            frame_pointer: at.frame_pointer,
        })
    }

    /// The registers without the frame that the frame pointer points to.
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
    use crate::code_cache::tests::FakeCode;

    /// The caller found from code at `pc` with this stack. The frame pointer points to the word
    /// with index `frame`.
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
        // The frame pointer is already pushed.
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
        // A method with a complete frame is left to HotSpot.
        let (pc, back) = (code.pc(0, 20), code.pc(0, 30));
        assert_eq!(caller(code, pc, &[back; 4], 2), None);
    }
}
