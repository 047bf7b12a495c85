//! The result of a heap dump, for the summary line.

use crate::message::counted;
use crate::order::{Order, Recipient};
use format::answer;
use options::Product;
use std::path::PathBuf;
use std::time::Duration;

/// The contents of the summary line.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The engine's name, and why it was not the first choice.
    pub(super) engine: String,
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    /// Objects and classes; `None` for HotSpot's own file, which nobody has read.
    pub(super) counts: Option<(u64, usize)>,
    /// What the dump lacks, as the end of the line; empty if nothing.
    pub(super) lacks: String,
    pub(super) pause: Duration,
}

impl Outcome {
    /// The summary line for the user, by where the dump went; `total` is the time since the
    /// request.
    pub(super) fn end_line(&self, order: &Order<'_>, total: Duration) -> String {
        let path = self.path.display();
        let done = match (&order.recipient, sent_what(order)) {
            (Recipient::Leaks(asked), _) if asked.question == "leaks" => {
                format!("appended the leak report to {path}")
            }
            (Recipient::Leaks(asked), _) => {
                format!("appended the {} report to {path}", asked.question)
            }
            (Recipient::Pipe(_), _) => format!("sent the heap dump to {path}"),
            (Recipient::Command(_), _) => {
                format!("sent the heap dump to {path}, which ended with exit code 0")
            }
            (_, Some(what)) => format!("sent {what}"),
            (_, None) => format!("dumped {path}"),
        };
        let because = order
            .because
            .map_or_else(String::new, |why| format!(" because of {why}"));
        let counts = self.counts.map_or_else(String::new, |(objects, classes)| {
            format!(", {objects} objects, {classes} classes")
        });
        let own = match self.counts {
            Some(_) => "",
            None => "; HotSpot's own file, with the agent's own objects",
        };
        format!(
            "{done}{because}: {} bytes{counts}; application paused for {} ms, total {} ms, engine {}{own}{}",
            self.bytes,
            self.pause.as_millis(),
            total.as_millis(),
            self.engine,
            self.lacks,
        )
    }

    /// The same for the command that asked.
    pub(super) fn for_programs(&self) -> answer::Outcome {
        answer::Outcome::Made {
            pause_ms: u64::try_from(self.pause.as_millis()).unwrap_or(u64::MAX),
            bytes: self.bytes,
            objects: self.counts.map(|(objects, _)| objects),
        }
    }
}

/// What a dump of a copy lacks: the ends of arrays, and of stacks that could not be read.
pub(super) fn missing(cut_arrays: u64, unread_stacks: u64) -> String {
    let cut = match cut_arrays {
        0 => String::new(),
        arrays => format!(
            "; {} cut, as no record may pass 4 GiB",
            counted(arrays, "array", "arrays")
        ),
    };
    let unread = match unread_stacks {
        0 => String::new(),
        stacks => format!(
            "; {} not read to the end, so what only compiled frames hold there may be missing",
            counted(stacks, "stack", "stacks")
        ),
    };
    cut + &unread
}

/// The thing that a command gets through a socket; `None` for output that has a place of its own.
pub(super) fn sent_what(order: &Order<'_>) -> Option<&'static str> {
    let is_sent = matches!(order.recipient, Recipient::Socket(_));
    is_sent.then_some(match order.product {
        Product::Graph => "the graph of the heap",
        Product::Counts => "the counts of the heap",
        Product::Dump => "the heap dump",
    })
}
