//! Progress of a walk inside the pause, told by a thread that the pause does not stop.

use crate::ending;
use crate::message::say;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Time between two lines.
const PROGRESS: Duration = Duration::from_secs(5);

/// How far the walk is. When it is dropped, no line comes any more.
#[derive(Debug, Default)]
pub(super) struct Progress {
    objects: Arc<AtomicU64>,
    /// Its end ends the thread.
    _end: Option<Sender<()>>,
}

impl Progress {
    /// Has a line said every few seconds from now on; without a thread there is none.
    pub(super) fn start() -> Self {
        Self::start_with(PROGRESS, |objects| say(&line(objects)))
    }

    fn start_with(every: Duration, tell: impl Fn(u64) + Send + 'static) -> Self {
        let objects = Arc::new(AtomicU64::new(0));
        let (end, ended) = channel::<()>();
        let found = Arc::clone(&objects);
        let body = move || {
            while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                tell(found.load(Ordering::Relaxed));
            }
        };
        let thread = thread::Builder::new().name("hprof progress".to_owned());
        Self {
            objects,
            _end: thread.spawn(body).ok().map(|_| end),
        }
    }

    /// So many objects were found. On the VM thread, for which it is one store.
    pub(super) fn note(&self, objects: u64) {
        self.objects.store(objects, Ordering::Relaxed);
        ending::show_life();
    }
}

/// What a user reads while the application stands still.
fn line(objects: u64) -> String {
    format!(
        "dumping inside the pause: {} million objects found",
        objects / 1_000_000
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_of_what_was_noted() {
        let (told, lines) = channel();
        let progress = Progress::start_with(Duration::from_millis(1), move |objects| {
            // The test may have heard enough.
            let _ = told.send(line(objects));
        });
        progress.note(7_900_000);
        let expected = "dumping inside the pause: 7 million objects found";
        assert!(lines.iter().any(|line| line == expected));
        drop(progress);
        // Ends, as the thread does and with it the sender.
        lines.iter().for_each(drop);
    }
}
