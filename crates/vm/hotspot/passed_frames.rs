//! The frames of Java methods that a walk over a stack passes, by thread.

use super::code_cache::Returned;
use super::oop_maps::Entry;

/// What a return address shows about its frame.
#[derive(Debug)]
pub(super) enum Code {
    /// The interpreter.
    Interpreted,
    /// Code that native code has called; an entry frame follows.
    Entry,
    /// Such code of `java.lang.foreign`, with the place of the anchor, in bytes above the stack
    /// pointer.
    Upcall(u64),
    /// A compiled method that will be deoptimized. The right return address is this many bytes
    /// above the stack pointer.
    Deoptimized(u64),
    /// Compiled code.
    Compiled {
        frame_bytes: u64,
        entries: Vec<Entry>,
        is_native: bool,
        code: Returned,
    },
    /// The rest of a virtual thread's frames is in the heap.
    ReturnBarrier,
}

/// The address of no thread's object.
const NO_THREAD: u64 = 0;

/// A frame of a Java method.
#[derive(Clone, Copy, Debug)]
pub(super) enum Passed {
    /// An interpreted frame, by its frame pointer.
    Interpreted(u64),
    /// A compiled frame, by its code.
    Compiled(Returned),
}

/// The frames of Java methods of one thread.
#[derive(Debug, Default)]
pub(super) struct PassedStack {
    /// The address of the thread object.
    pub(super) thread: u64,
    /// The frames, the top first.
    pub(super) frames: Vec<Passed>,
    /// Whether these are all.
    pub(super) is_whole: bool,
}

/// The frames of one platform thread so far, and of the virtual thread that it carries.
#[derive(Debug, Default)]
pub(super) struct PassedFrames(Vec<PassedStack>);

impl PassedFrames {
    /// Begins anew, with frames of this thread.
    pub(super) fn begin(&mut self, thread: u64) {
        self.0.clear();
        self.begin_next(thread);
    }

    /// The next frames belong to the carrier of a virtual thread. That one `is_whole` if none of
    /// its frames are in the heap.
    ///
    /// While it is mounted or unmounted, HotSpot counts its frames as those of the carrier, which
    /// thus has others below them.
    pub(super) fn leave(&mut self, carrier: u64, is_whole: bool) {
        let mut next = carrier;
        if let Some(last) = self.0.last_mut() {
            last.is_whole = is_whole && last.thread != carrier;
            if last.thread == carrier {
                next = NO_THREAD;
            }
        }
        self.begin_next(next);
    }

    /// Notes the frame if it is one of a Java method.
    pub(super) fn push(&mut self, frame_pointer: u64, code: &Code) {
        let frame = match code {
            Code::Interpreted => Passed::Interpreted(frame_pointer),
            Code::Compiled { code, .. } if code.is_method => Passed::Compiled(*code),
            _ => return,
        };
        if let Some(last) = self.0.last_mut() {
            last.frames.push(frame);
        }
    }

    /// Hands on what it has.
    pub(super) fn take(&mut self) -> impl Iterator<Item = PassedStack> + '_ {
        self.0.drain(..)
    }

    fn begin_next(&mut self, thread: u64) {
        self.0.push(PassedStack {
            thread,
            frames: Vec::new(),
            is_whole: true,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_a_thread_that_is_being_mounted_are_not_all_of_its_carriers() {
        let stacks = |mounted: u64| {
            let mut passed = PassedFrames::default();
            passed.begin(mounted);
            passed.push(1, &Code::Interpreted);
            passed.leave(7, true);
            passed.push(2, &Code::Interpreted);
            let stacks = passed.take();
            let stacks = stacks.map(|it| (it.thread, it.frames.len(), it.is_whole));
            stacks.collect::<Vec<_>>()
        };
        assert_eq!(stacks(8), [(8, 1, true), (7, 1, true)]);
        assert_eq!(stacks(7), [(7, 1, false), (NO_THREAD, 1, true)]);
    }
}
