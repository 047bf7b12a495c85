//! The result of a heap dump, for the summary line.

use std::path::PathBuf;
use std::time::Duration;

/// The contents of the summary line.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The engine's name, and why it was not the first choice.
    pub(super) engine: String,
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) objects: u64,
    pub(super) classes: usize,
    pub(super) cut_arrays: u64,
    pub(super) pause: Duration,
}

impl Outcome {
    /// As [`Self::end_line`], for a graph, which is never a file.
    pub(super) fn sent_line(&self, total: Duration) -> String {
        format!(
            "sent the graph of the heap: {} bytes, {} objects, {} classes; application paused for {} ms, total {} ms",
            self.bytes,
            self.objects,
            self.classes,
            self.pause.as_millis(),
            total.as_millis(),
        )
    }

    /// The summary line for the user; `total` is the time since the request.
    pub(super) fn end_line(&self, total: Duration) -> String {
        let cut = match self.cut_arrays {
            0 => String::new(),
            arrays => format!("; {arrays} arrays are cut, as their records would pass 4 GiB"),
        };
        format!(
        "dumped {}: {} bytes, {} objects, {} classes; application paused for {} ms, total {} ms, engine {}{cut}",
        self.path.display(),
        self.bytes,
        self.objects,
        self.classes,
        self.pause.as_millis(),
        total.as_millis(),
        self.engine,
    )
    }
}
