//! Starts worker threads; a forked child must start them in another way.

use std::fmt::Debug;
use std::io;
use std::thread::{self, JoinHandle};

use crate::WriteError;

/// A thread's stack: no writer thread recurses, and libdeflate keeps its tables elsewhere.
const STACK_BYTES: usize = 256 << 10;

/// A started thread.
pub trait Worker: Send + Sync + Debug {
    /// Waits until it has ended. `false` if it panicked.
    fn join(self: Box<Self>) -> bool;
}

/// The work of a thread.
pub type Work = Box<dyn FnOnce() + Send>;

/// Starts a thread with a name; the system shows 15 bytes of it.
pub type StartWorker = fn(&str, Work) -> io::Result<Box<dyn Worker>>;

/// Starts a thread of the standard library: right in every process except a forked child.
pub fn start_worker(name: &str, work: Work) -> io::Result<Box<dyn Worker>> {
    let builder = thread::Builder::new().name(name.to_owned());
    let thread = builder.stack_size(STACK_BYTES).spawn(work)?;
    Ok(Box::new(thread))
}

impl Worker for JoinHandle<()> {
    fn join(self: Box<Self>) -> bool {
        JoinHandle::join(*self).is_ok()
    }
}

/// Starts one, or returns the writer's error.
pub(crate) fn start(
    start_worker: StartWorker,
    name: &str,
    work: Work,
) -> Result<Box<dyn Worker>, WriteError> {
    start_worker(name, work).map_err(|error| WriteError::NoThread {
        reason: error.to_string(),
    })
}
