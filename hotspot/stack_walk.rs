//! The calling thread's stack, by the return addresses of its frames: they are the same whenever
//! the same calls are active. Takes a few loads for each frame; HotSpot's own walks take ten to a
//! hundred times as long.
//!
//! The walk starts in a native method. On x86-64, a compiled frame has a fixed size. Its saved
//! frame pointer and its return address lie above it, towards higher addresses (frame_x86.cpp,
//! sender_for_compiled_frame). An interpreted frame has a frame pointer.

use super::code_cache::{CodeCache, CompiledFrame};
use super::memory::{own_stack_end, Address, WORD_BYTES};
use super::vm_structs::Table;
use jvm::jni::Jni;
use jvm::object::Object;

/// The place of an entry frame's link to older Java frames: this many words below its frame pointer
/// (frame_x86.hpp, entry_frame_call_wrapper_offset).
pub(super) const CALL_WRAPPER_WORDS: u64 = 6;
/// Frames whose code a thread remembers, 16 bytes each. A power of two.
const REMEMBERED: usize = 2048;
/// Most frames to walk.
const MOST_FRAMES: usize = 64;
/// Set in the numbers of interpreted frames. Compiled frames do not have it, because a code cache
/// is smaller than 2 GiB.
const INTERPRETED: u64 = 1 << 63;

/// What all threads share.
#[derive(Debug)]
pub struct JavaCode {
    code: CodeCache,
    anchor: AnchorLayout,
    /// Offset of the JNI environment in HotSpot's thread structure.
    jni_offset: u64,
}

/// Where a thread that runs native code names its last Java frame (javaFrameAnchor.hpp).
#[derive(Clone, Copy, Debug)]
pub(super) struct AnchorLayout {
    pub(super) in_thread: u64,
    pub(super) in_call_wrapper: u64,
    pub(super) stack_pointer: u64,
    pub(super) frame_pointer: u64,
    pub(super) pc: u64,
}

impl AnchorLayout {
    /// `None` if this JVM does not export all of it.
    pub(super) fn find(table: Table) -> Option<Self> {
        Some(Self {
            in_thread: table.offset("JavaThread", "_anchor")?,
            in_call_wrapper: table.offset("JavaCallWrapper", "_anchor")?,
            stack_pointer: table.offset("JavaFrameAnchor", "_last_Java_sp")?,
            frame_pointer: table.offset("JavaFrameAnchor", "_last_Java_fp")?,
            pc: table.offset("JavaFrameAnchor", "_last_Java_pc")?,
        })
    }
}

impl JavaCode {
    /// `None` if this JVM does not export the needed structures, or runs on another processor.
    /// `thread` is the calling thread, a platform thread.
    pub fn find(jni: &Jni<'_>, thread: &Object<'_>) -> Option<Self> {
        if !cfg!(target_arch = "x86_64") {
            return None;
        }
        let table = Table::find()?;
        Some(Self {
            code: CodeCache::find()?,
            anchor: AnchorLayout::find(table)?,
            jni_offset: jni.address().checked_sub(jni.native_thread(thread)?)?,
        })
    }
}

/// A thread's walk over its own stack. It is kept, because it remembers the code that it has met.
#[derive(Debug)]
pub struct StackWalk {
    known: Box<[CompiledFrame]>,
    stack_end: u64,
    first: Frame,
    at: Frame,
    is_whole: bool,
    has_interpreted: bool,
    frames: usize,
    fingerprint: Fingerprint,
}

/// A hash of a sequence of numbers, computed step by step. Two different sequences have the same
/// hash with a probability of 1 in 2^64. Each object's stack is looked up, and the numbers
/// themselves would be more bytes to fetch and compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fingerprint(u64);

impl Fingerprint {
    /// The hash of no number. Any value does; these are digits of pi.
    const EMPTY: Self = Self(0x243F_6A88_85A3_08D3);
    /// More digits of pi, and odd.
    const MULTIPLIER: u64 = 0x1319_8A2E_0370_7345;

    /// The hash with one more number. Both halves of a 128-bit product depend on all bits of its
    /// factors.
    fn with(self, number: u64) -> Self {
        let product = u128::from(self.0 ^ number).wrapping_mul(u128::from(Self::MULTIPLIER));
        let (low, high) = (product & u128::from(u64::MAX), product >> 64);
        Self(u64::try_from(low ^ high).unwrap_or_default())
    }
}

/// A frame: its stack pointer, and the address at which its code continues. The frame pointer is
/// valid only for an interpreted frame and for the frame by which native code entered Java.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    pub(super) stack_pointer: u64,
    pub(super) frame_pointer: u64,
    pub(super) pc: u64,
}

impl StackWalk {
    /// A walk for the calling thread; `None` if the system does not report where its stack ends.
    pub fn new() -> Option<Self> {
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

    /// Starts at the native method that runs. `false` if the thread runs none.
    pub fn begin(&mut self, code: &JavaCode, jni: &Jni<'_>) -> bool {
        let here = std::ptr::from_ref(&self) as u64;
        let thread = Address::new(jni.address()).before(code.jni_offset);
        // SAFETY: the calling thread's own structure, which lives as long as the thread.
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

    /// Goes back to where the last walk started.
    pub fn rewind(&mut self) {
        self.at = self.first;
        self.frames = 0;
        self.fingerprint = Fingerprint::EMPTY;
        self.has_interpreted = false;
        self.is_whole = false;
    }

    /// Walks until `frames` frames are passed, each of which is at least one Java frame, or to the
    /// bottom of the stack. Returns a hash of them: equal hashes mean equal Java frames, inlined
    /// ones included; but see [`has_interpreted`](Self::has_interpreted). `None` if there is a
    /// frame of an unknown kind.
    pub fn extend(&mut self, code: &JavaCode, frames: usize) -> Option<u64> {
        while self.frames < frames && !self.is_whole {
            self.step(code)?;
        }
        Some(self.fingerprint.0)
    }

    /// Whether one of the frames so far is interpreted. Its number is the address of a bytecode,
    /// which another bytecode may take when classes are unloaded or redefined.
    pub fn has_interpreted(&self) -> bool {
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

    /// The caller of a frame with this size and without a frame pointer.
    fn caller(&self, of: Frame, size_bytes: u64) -> Option<Frame> {
        let caller = of.stack_pointer.checked_add(size_bytes)?;
        if caller > self.stack_end {
            return None;
        }
        let top = Address::new(caller);
        // SAFETY: within this thread's stack: above the last frame, and not beyond the end; a frame
        // has at least two words.
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
        // SAFETY: this thread's stack; code that continues in the interpreter has an interpreted
        // frame.
        let frame = unsafe { code.code.interpreter.frame(self.at.frame_pointer, stack) }?;
        self.fingerprint = self.fingerprint.with(frame.bytecode | INTERPRETED);
        self.has_interpreted = true;
        Some(Frame {
            stack_pointer: frame.caller_stack_pointer,
            frame_pointer: frame.caller_frame_pointer,
            pc: frame.caller_pc,
        })
    }

    /// Skips from Java code that was called by native code to the Java code that called the native
    /// code.
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
        // SAFETY: within this thread's stack, as just checked.
        let wrapper: u64 = unsafe { Address::new(link).read() };
        let anchor = wrapper.checked_add(code.anchor.in_call_wrapper)?;
        if anchor < stack_pointer || anchor.checked_add(3 * WORD_BYTES)? > self.stack_end {
            return None;
        }
        // SAFETY: an anchor that HotSpot keeps on this thread's stack during the call.
        match unsafe { self.anchored(code, Address::new(anchor), stack_pointer) }? {
            Some(at) => self.at = at,
            None => self.is_whole = true,
        }
        Some(())
    }

    /// The frame that an anchor names, which must lie above `below`; `Some(None)` if it names none.
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
            // SAFETY: the word below the last Java frame's top is the return address of its callee.
            0 => unsafe { Address::new(stack_pointer).before(WORD_BYTES).read() },
            pc => pc,
        };
        Some(Some(Frame {
            stack_pointer,
            frame_pointer,
            pc,
        }))
    }

    /// The code at a return address.
    fn frame(&mut self, code: &JavaCode, pc: u64) -> Option<CompiledFrame> {
        let distance = code.code.distance(pc)?;
        // Calls have at least five bytes, so the lowest bits of return addresses differ little.
        let index = usize::try_from((distance >> 2) ^ (distance >> 13)).ok()?;
        let index = index & (self.known.len() - 1);
        let known = self.known.get_mut(index)?;
        if known.distance != distance || !code.code.is_current(known) {
            *known = code.code.frame(pc)?;
        }
        Some(*known)
    }
}
