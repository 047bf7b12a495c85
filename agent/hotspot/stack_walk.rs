//! The calling thread's stack, by the addresses at which its frames go on, which are the same whenever the same calls are
//! under way. Some loads for each frame, where HotSpot's own walks take ten to a hundred times as long.
//!
//! From within a native method. On x86-64 a compiled frame has a fixed size; above it, towards
//! higher addresses, lie the frame pointer that it saved and the address that it returns to (frame_x86.cpp,
//! sender_for_compiled_frame). An interpreted frame has a frame pointer.

use super::code_cache::{CodeCache, CompiledFrame};
use super::memory::{own_stack_end, Address, WORD_BYTES};
use super::vm_structs::Table;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;

/// Words below an entry frame's frame pointer at which its link to older Java frames stands (frame_x86.hpp,
/// entry_frame_call_wrapper_offset).
const CALL_WRAPPER_WORDS: u64 = 6;
/// Frames whose code a thread remembers, 16 bytes each: a power of two.
const REMEMBERED: usize = 2048;
/// Frames that are walked at most.
const MOST_FRAMES: usize = 64;
/// Set in the numbers of interpreted frames; in those of compiled ones it is not, as a code cache has less than 2 GiB.
const INTERPRETED: u64 = 1 << 63;

/// What is the same for all threads.
#[derive(Debug)]
pub(crate) struct JavaCode {
    code: CodeCache,
    anchor: AnchorLayout,
    /// From a thread of HotSpot's to its JNI environment.
    jni_offset: u64,
}

/// Where a thread says which Java frame is its last, while it runs native code (javaFrameAnchor.hpp).
#[derive(Clone, Copy, Debug)]
struct AnchorLayout {
    in_thread: u64,
    in_call_wrapper: u64,
    stack_pointer: u64,
    frame_pointer: u64,
    pc: u64,
}

impl JavaCode {
    /// `None` if this JVM does not export what it takes, or runs on another processor. `thread` is the calling one, a
    /// platform thread.
    pub(crate) fn find(jni: &Jni<'_>, thread: &Object<'_>) -> Option<Self> {
        if !cfg!(target_arch = "x86_64") {
            return None;
        }
        let table = Table::find()?;
        Some(Self {
            code: CodeCache::find()?,
            anchor: AnchorLayout {
                in_thread: table.offset("JavaThread", "_anchor")?,
                in_call_wrapper: table.offset("JavaCallWrapper", "_anchor")?,
                stack_pointer: table.offset("JavaFrameAnchor", "_last_Java_sp")?,
                frame_pointer: table.offset("JavaFrameAnchor", "_last_Java_fp")?,
                pc: table.offset("JavaFrameAnchor", "_last_Java_pc")?,
            },
            jni_offset: jni.address().checked_sub(jni.native_thread(thread)?)?,
        })
    }
}

/// A thread's walk over its own stack; kept, as it remembers what it has met.
#[derive(Debug)]
pub(crate) struct StackWalk {
    known: Box<[CompiledFrame]>,
    stack_end: u64,
    first: Frame,
    at: Frame,
    is_whole: bool,
    has_interpreted: bool,
    frames: usize,
    fingerprint: Fingerprint,
}

/// A number for a sequence of numbers, made step by step: sequences that differ have the same one by a chance of 1 in 2^64.
/// A stack is looked up for each object, and its numbers themselves would be that many more bytes to fetch and compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fingerprint(u64);

impl Fingerprint {
    /// Of no number at all; as good as any. Digits of pi, in which nobody hides anything.
    const EMPTY: Self = Self(0x243F_6A88_85A3_08D3);
    /// More digits of pi, and odd.
    const MULTIPLIER: u64 = 0x1319_8A2E_0370_7345;

    /// Of the sequence with this number behind it. Both halves of a product of 128 bits depend on all bits of its factors.
    fn with(self, number: u64) -> Self {
        let product = u128::from(self.0 ^ number).wrapping_mul(u128::from(Self::MULTIPLIER));
        let (low, high) = (product & u128::from(u64::MAX), product >> 64);
        Self(u64::try_from(low ^ high).unwrap_or_default())
    }
}

/// A frame: its own stack pointer and where its code goes on; the frame pointer is one only for an interpreted frame and one
/// that native code entered Java by.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    stack_pointer: u64,
    frame_pointer: u64,
    pc: u64,
}

impl StackWalk {
    /// For the calling thread; `None` if the system does not tell where its stack ends.
    pub(crate) fn new() -> Option<Self> {
        Some(Self {
            known: vec![CompiledFrame::default(); REMEMBERED].into(),
            stack_end: own_stack_end()?,
            first: Frame::default(),
            at: Frame::default(),
            is_whole: false,
            has_interpreted: false,
            frames: 0,
            fingerprint: Fingerprint::EMPTY,
        })
    }

    /// Begins at the native method that runs. `false` if the thread is not in one.
    pub(crate) fn begin(&mut self, code: &JavaCode, jni: &Jni<'_>) -> bool {
        let here = std::ptr::from_ref(&self) as u64;
        let thread = Address::new(jni.address()).before(code.jni_offset);
        // SAFETY: the calling thread's own, which lives.
        let at = unsafe { self.anchored(code, thread.add(code.anchor.in_thread), here) };
        match at {
            Some(Some(at)) => {
                self.first = at;
                self.rewind();
                true
            }
            _ => false,
        }
    }

    /// Begins anew where it began last.
    pub(crate) fn rewind(&mut self) {
        self.at = self.first;
        self.frames = 0;
        self.fingerprint = Fingerprint::EMPTY;
        self.has_interpreted = false;
        self.is_whole = false;
    }

    /// Goes on for so many frames, each of which is at least one Java frame, or to the bottom of the stack. Answers a number
    /// for the frames so far: equal numbers mean equal Java frames, also where some of those were inlined; but see
    /// [`has_interpreted`](Self::has_interpreted). `None` if there is a frame of another kind.
    pub(crate) fn extend(&mut self, code: &JavaCode, frames: usize) -> Option<u64> {
        while self.frames < frames && !self.is_whole {
            self.step(code)?;
        }
        Some(self.fingerprint.0)
    }

    /// Whether one of the frames so far is the interpreter's. Its number is the address of a bytecode, and means the same
    /// only until classes are unloaded or redefined: another may come to lie in its place.
    pub(crate) fn has_interpreted(&self) -> bool {
        self.has_interpreted
    }

    fn step(&mut self, code: &JavaCode) -> Option<()> {
        if self.frames >= MOST_FRAMES {
            return None;
        }
        self.frames += 1;
        let before = self.at.stack_pointer;
        self.at = match code.code.interpreter.contains(self.at.pc) {
            true => self.pass_interpreted(code)?,
            false => self.pass_compiled(code)?,
        };
        if self.at.stack_pointer <= before || self.at.stack_pointer > self.stack_end {
            return None;
        }
        if self.at.pc == code.code.call_stub_return {
            self.pass_entry(code)?;
        }
        Some(())
    }

    fn pass_compiled(&mut self, code: &JavaCode) -> Option<Frame> {
        let frame = self.frame(code, self.at.pc)?;
        self.fingerprint = self.fingerprint.with(frame.key());
        self.caller(self.at, frame.size_bytes())
    }

    /// The caller of a frame of this size that has no frame pointer.
    fn caller(&self, of: Frame, size_bytes: u64) -> Option<Frame> {
        let caller = of.stack_pointer.checked_add(size_bytes)?;
        if caller > self.stack_end {
            return None;
        }
        let top = Address::new(caller);
        // SAFETY: inside of the own stack: above the frame before, and not beyond the end; a frame has two words at least.
        let (pc, frame_pointer) = unsafe {
            (
                top.before(WORD_BYTES).read(),
                top.before(2 * WORD_BYTES).read(),
            )
        };
        Some(Frame {
            stack_pointer: caller,
            frame_pointer,
            pc,
        })
    }

    fn pass_interpreted(&mut self, code: &JavaCode) -> Option<Frame> {
        let stack = self.at.stack_pointer..self.stack_end;
        // SAFETY: the own stack; who goes on in the interpreter has a frame of its.
        let frame = unsafe { code.code.interpreter.frame(self.at.frame_pointer, stack) }?;
        self.fingerprint = self.fingerprint.with(frame.bytecode | INTERPRETED);
        self.has_interpreted = true;
        Some(Frame {
            stack_pointer: frame.caller_stack_pointer,
            frame_pointer: frame.caller_frame_pointer,
            pc: frame.caller_pc,
        })
    }

    /// From Java code that native code called to the Java code that had called that.
    fn pass_entry(&mut self, code: &JavaCode) -> Option<()> {
        let Frame {
            stack_pointer,
            frame_pointer,
            ..
        } = self.at;
        let link = frame_pointer.checked_sub(CALL_WRAPPER_WORDS * WORD_BYTES)?;
        if link < stack_pointer || frame_pointer >= self.stack_end {
            return None;
        }
        // SAFETY: inside of the own stack, as just seen.
        let wrapper: u64 = unsafe { Address::new(link).read() };
        let anchor = wrapper.checked_add(code.anchor.in_call_wrapper)?;
        if anchor < stack_pointer || anchor.checked_add(3 * WORD_BYTES)? > self.stack_end {
            return None;
        }
        // SAFETY: an anchor that HotSpot keeps on the own stack while the call is under way.
        match unsafe { self.anchored(code, Address::new(anchor), stack_pointer) }? {
            Some(at) => self.at = at,
            None => self.is_whole = true,
        }
        Some(())
    }

    /// The frame that an anchor names, further up than `below`; `Some(None)` if it names none.
    ///
    /// # Safety
    /// There is an anchor there.
    unsafe fn anchored(
        &self,
        code: &JavaCode,
        anchor: Address,
        below: u64,
    ) -> Option<Option<Frame>> {
        let layout = &code.anchor;
        // SAFETY: the caller's promise.
        let (stack_pointer, frame_pointer, pc) = unsafe {
            (
                anchor.add(layout.stack_pointer).read::<u64>(),
                anchor.add(layout.frame_pointer).read::<u64>(),
                anchor.add(layout.pc).read::<u64>(),
            )
        };
        if stack_pointer == 0 {
            return Some(None);
        }
        if stack_pointer <= below || stack_pointer >= self.stack_end {
            return None;
        }
        let pc = match pc {
            // SAFETY: the word below the top of the last Java frame is the return address of what it called.
            0 => unsafe { Address::new(stack_pointer).before(WORD_BYTES).read() },
            pc => pc,
        };
        Some(Some(Frame {
            stack_pointer,
            frame_pointer,
            pc,
        }))
    }

    /// The code at an address that a frame returns to.
    fn frame(&mut self, code: &JavaCode, pc: u64) -> Option<CompiledFrame> {
        let distance = code.code.distance(pc)?;
        // Calls are five bytes and more: the lowest bits of their ends say little.
        let index = usize::try_from((distance >> 2) ^ (distance >> 13)).ok()?;
        let index = index & (self.known.len() - 1);
        let known = self.known.get_mut(index)?;
        if known.distance != distance || !code.code.is_current(known) {
            *known = code.code.frame(pc)?;
        }
        Some(*known)
    }
}
