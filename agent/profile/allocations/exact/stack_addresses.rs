//! Whether the addresses at which a stack's frames go on may stand for the stack, and for how long they do.
//!
//! Compiled code has addresses and numbers of its own for good. Bytecode is freed with its class, or when a class gets another
//! one, and other bytecode may come to lie in its place.

use crate::hotspot::JavaCode;
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
    is_distrusted: AtomicBool,
    age: AtomicU32,
}

impl StackAddresses {
    /// `VMInit`, on this platform thread.
    pub(crate) fn start(&self, jni: &Jni<'_>, thread: &Object<'_>) {
        let _ = self.code.set(JavaCode::find(jni, thread));
    }

    /// Notes that bytecode may have come or gone: a class file has come, or a collection has ended, which may have
    /// unloaded classes and makes room for hidden ones, whose files nobody is told of. Takes no lock.
    pub(crate) fn note_bytecode(&self) {
        self.age.fetch_add(1, Ordering::Relaxed);
    }

    /// While it is the same, an address of bytecode means the same. Begins anew after 4 billion changes. (What the session
    /// itself replaced at `VMInit` is not counted; some threads may still run it.)
    pub(crate) fn bytecode_age(&self) -> u32 {
        self.age.load(Ordering::Relaxed)
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
}
