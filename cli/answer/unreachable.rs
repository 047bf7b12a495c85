//! What no root leads to, in answers about what is reachable.

use std::io::{self, Write};

use graph::{Heap, Retained};
use serde::Serialize;

use crate::number::{counted, grouped};

/// Bytes and number of the objects that no root leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Unreachable {
    bytes: u64,
    objects: u64,
}

impl Unreachable {
    pub(super) fn of(heap: &Heap<'_>, retained: &Retained) -> Self {
        let unreachable = retained.unreachable(heap);
        Self {
            bytes: unreachable.bytes,
            objects: unreachable.objects,
        }
    }

    pub(super) fn is_none(self) -> bool {
        self.objects == 0
    }

    /// A line of text; nothing if there are none.
    pub(super) fn print(self, to: &mut dyn Write) -> io::Result<()> {
        if self.is_none() {
            return Ok(());
        }
        let (bytes, objects) = (grouped(self.bytes), counted(self.objects, "object"));
        writeln!(
            to,
            "No root leads to {bytes} bytes in {objects} more; hprof histo --unreachable lists them"
        )
    }
}
