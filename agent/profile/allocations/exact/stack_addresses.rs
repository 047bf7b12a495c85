//! Whether the return addresses of a stack's frames may stand for the stack, and for how long.
//!
//! Each compilation has a number that is never used again. Bytecode is freed when its class is
//! unloaded or redefined, and other bytecode may take its address.

use crate::message::say;
use hotspot::JavaCode;
use jvm::jni::Jni;
use jvm::object::Object;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::OnceLock;

/// A session's facts about it, for all threads.
#[derive(Debug, Default)]
pub(crate) struct StackAddresses {
    /// How to walk stacks; empty before `VMInit`.
    code: OnceLock<Option<JavaCode>>,
    is_distrusted: AtomicBool,
    age: AtomicU32,
}

impl StackAddresses {
    /// Finds out how to walk stacks. For `VMInit`, on this platform thread.
    pub(crate) fn start(&self, jni: &Jni<'_>, thread: &Object<'_>) {
        let _ = self.code.set(JavaCode::find(jni, thread));
    }

    /// Notes that bytecode may have come or gone: at each class file, and at the end of each
    /// collection. A collection may unload classes, and hidden classes, which post no class file,
    /// may take their place. Takes no lock.
    pub(crate) fn note_bytecode(&self) {
        self.age.fetch_add(1, Ordering::Relaxed);
    }

    /// As long as the age stays the same, an address of bytecode means the same. Wraps around after
    /// 4 billion changes. (Classes that the session itself replaces at `VMInit` do not count; some
    /// threads may still run their old code.)
    pub(crate) fn bytecode_age(&self) -> u32 {
        self.age.load(Ordering::Relaxed)
    }

    /// How to walk stacks; `None` if that is impossible, or if a walk was wrong once.
    pub(crate) fn code(&self) -> Option<&JavaCode> {
        let code = self.code.get()?.as_ref();
        code.filter(|_| !self.is_distrusted.load(Ordering::Relaxed))
    }

    /// Stops using addresses for good, because they stood for another stack than the JVM's.
    pub(crate) fn distrust(&self) {
        if !self.is_distrusted.swap(true, Ordering::Relaxed) {
            say("this JVM's frames are not read rightly: some allocations were counted at a wrong stack; from now on the agent asks the JVM for each stack, which is slower");
        }
    }
}

/// Counts one more occurrence. Returns whether to verify it with the JVM: at the 16th, 256th, …
/// occurrence. Many stacks occur only a few times, and a check costs as much as some twenty
/// objects.
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
}
