//! Whether the user has interrupted a command that waits for a JVM.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGINT, SIGTERM};

/// The message when the user interrupts the wait for a JVM.
pub(crate) const INTERRUPTED: &str = "interrupted; a dump that has begun goes on";

/// Whether SIGINT or SIGTERM has arrived. The command then removes its files before it ends.
#[derive(Debug)]
pub(crate) struct Ended(Arc<AtomicBool>);

/// Exit code of a command that such a signal ends while it has nothing to remove.
const INTERRUPTED_CODE: i32 = 130;

impl Ended {
    /// From now on a signal does not end the command at once, until this is dropped.
    pub(crate) fn new() -> Self {
        let flag = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(ends_at_once());
        ends.store(false, Ordering::Relaxed);
        for signal in [SIGINT, SIGTERM] {
            // Without it the signal ends the command at once, as it does by default.
            let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
            let ends = Arc::clone(&ends);
            let _ =
                signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED_CODE, ends);
        }
        Self(flag)
    }

    /// Whether one has arrived.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        ends_at_once().store(true, Ordering::Relaxed);
    }
}

/// Whether the signals end the command: while nobody waits for a JVM.
fn ends_at_once() -> &'static Arc<AtomicBool> {
    static ENDS: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    ENDS.get_or_init(Arc::default)
}
