//! Whether the addresses at which a stack's frames go on may stand for the stack, and for how long they do.
//!
//! Compiled code has addresses and numbers of its own for good. Bytecode is freed with its class, or when a class gets another
//! one, and other bytecode may come to lie in its place.

use crate::hotspot::{ClassCounters, JavaCode};
use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;
use crate::message::say;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::OnceLock;

/// What a session knows of it, for all threads.
#[derive(Debug, Default)]
pub(crate) struct StackAddresses {
    /// How to walk stacks; nothing before `VMInit`.
    code: OnceLock<Option<JavaCode>>,
    /// Nothing where the JVM does not tell.
    class_counters: OnceLock<ClassCounters>,
    /// Class files that have come, where somebody is told of them: not for the sake of samples.
    class_files: AtomicU32,
    /// One of them was that of a class that had bytecode before, which is freed at some time.
    is_redefined: AtomicBool,
    is_distrusted: AtomicBool,
    /// They begin anew after 4 billion.
    collections: AtomicU32,
}

impl StackAddresses {
    /// `VMInit`, on this platform thread.
    pub(crate) fn start(&self, jni: &Jni<'_>, thread: &Object<'_>) {
        let _ = self.code.set(JavaCode::find(jni, thread));
        if let Some(counters) = ClassCounters::find() {
            let _ = self.class_counters.set(counters);
        }
    }

    /// `GarbageCollectionFinish`: only after one objects may be gone.
    pub(crate) fn note_collection(&self) {
        self.collections.fetch_add(1, Ordering::Relaxed);
    }

    /// How many collections there were.
    pub(crate) fn collections(&self) -> u32 {
        self.collections.load(Ordering::Relaxed)
    }

    /// `ClassFileLoadHook`, but for the classes that the session itself sends through it: takes no lock. `is_redefined` is
    /// whether the class had another file so far.
    pub(crate) fn note_class_file(&self, is_redefined: bool) {
        self.class_files.fetch_add(1, Ordering::Relaxed);
        if is_redefined {
            self.is_redefined.store(true, Ordering::Relaxed);
        }
    }

    /// While it is the same, an address of bytecode means the same: none was freed, or none has come since. (But for what the
    /// session itself has replaced at `VMInit`, of which some threads may still run the last; and where class files are not told
    /// of, for classes that somebody else redefines.)
    pub(crate) fn age(&self) -> BytecodeAge {
        let counters = self.class_counters.get();
        if let Some(counters) = counters.filter(|_| !self.is_redefined.load(Ordering::Relaxed)) {
            return BytecodeAge::of_unloaded(counters.unloaded());
        }
        // Hidden classes have no file; where they are not counted, their bytecode comes where it was freed at a collection.
        let others = counters.map_or_else(|| u64::from(self.collections()), ClassCounters::loaded);
        BytecodeAge::of_new(others + u64::from(self.class_files.load(Ordering::Relaxed)))
    }

    /// How to walk stacks; `None` where there is none, or it was wrong once.
    pub(crate) fn code(&self) -> Option<&JavaCode> {
        let code = self.code.get()?.as_ref();
        code.filter(|_| !self.is_distrusted.load(Ordering::Relaxed))
    }

    /// Addresses stood for another stack than the JVM's: never again.
    pub(crate) fn distrust(&self) {
        if !self.is_distrusted.swap(true, Ordering::Relaxed) {
            say("this JVM's frames are not read rightly: some allocations were counted at a wrong stack; from now on the agent asks the JVM for each stack, which is slower");
        }
    }
}

/// A time in which an address of bytecode means the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BytecodeAge(u32);

#[allow(clippy::cast_possible_truncation)] // they begin anew after 1 billion
impl BytecodeAge {
    /// For what holds in each of them: it is none of them.
    pub(crate) const FOR_GOOD: Self = Self(u32::MAX);

    /// No bytecode was freed since so many classes had been unloaded.
    fn of_unloaded(classes: u64) -> Self {
        Self((classes as u32) << 2)
    }

    /// No bytecode came into being since it had done so, or may have, so many times.
    fn of_new(times: u64) -> Self {
        Self(((times as u32) << 2) | 1)
    }

    /// Whether what was learned at this age holds at the age that it is now.
    pub(crate) fn holds(self, now: Self) -> bool {
        self.is_for_good() || self == now
    }

    /// Whether it always does.
    pub(crate) fn is_for_good(self) -> bool {
        self == Self::FOR_GOOD
    }
}

/// Whether it is time to ask the JVM, what was met so often included: more and more seldom. Many stacks are met a few times only,
/// and to ask costs as much as some twenty objects.
pub(crate) fn is_due(met: &mut u32) -> bool {
    const DOUBLINGS: u32 = 4;
    *met = met.saturating_add(1);
    *met > 1 && met.is_power_of_two() && met.trailing_zeros() % DOUBLINGS == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jvm_is_asked_more_and_more_seldom() {
        let mut met = 0;
        let asked: Vec<u32> = (1..=1000).filter(|_| is_due(&mut met)).collect();
        assert_eq!(asked, [16, 256]);
        let mut met = u32::MAX;
        assert!(!is_due(&mut met));
    }

    #[test]
    fn what_was_interpreted_is_known_while_its_bytecode_is_there() {
        let learned = BytecodeAge::of_unloaded(7);
        assert!(learned.holds(BytecodeAge::of_unloaded(7)));
        assert!(!learned.holds(BytecodeAge::of_unloaded(8)));
        // What is the same number means something else once a class was redefined.
        assert!(!learned.holds(BytecodeAge::of_new(7)));
        assert!(BytecodeAge::FOR_GOOD.holds(BytecodeAge::of_new(u64::MAX)));
        for last in [
            BytecodeAge::of_unloaded(u64::MAX),
            BytecodeAge::of_new(u64::MAX),
        ] {
            assert!(!last.is_for_good());
        }
    }
}
