//! What each allocating stack keeps alive.

use std::io::{self, Write};

use graph::{Heap, Retained, SiteTotal};
use serde::Serialize;
use serde_json::Value;

use crate::dump_file::DumpFile;
use crate::frame::Frame;
use crate::number::{grouped, whole};
use crate::outcome::Failure;
use crate::plain::plain;
use crate::site_source::ADVICE;
use crate::table::{Side, Table, INDENT};

/// Number of frames printed of each stack.
pub(crate) const DEPTH_FRAMES: usize = 8;

/// The sites that retain most.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SitesAnswer {
    left_out: usize,
    rows: Vec<SiteRow>,
}

#[derive(Clone, Debug, Serialize)]
struct SiteRow {
    class: String,
    /// The standard error of the retained bytes.
    error: u64,
    frames: Vec<Frame>,
    objects: u64,
    retained: u64,
}

/// The sites, largest first. Errors: no object has a stack.
pub(crate) fn rows(
    heap: &Heap<'_>,
    retained: &Retained,
    file: &DumpFile,
) -> Result<Vec<SiteTotal>, Failure> {
    let stacks = heap.stacks();
    let mut rows = retained.sites(heap);
    rows.retain(|row| !stacks.is_empty(row.trace));
    if rows.is_empty() {
        let missing = "no object of the heap dump carries the stack where it was allocated";
        return Err(file.refuse(format!("no allocation sites: {missing}. {ADVICE}")));
    }
    Ok(rows)
}

impl SitesAnswer {
    /// The first `most` sites. Errors: no object has a stack.
    pub(super) fn of(
        (heap, retained): (&Heap<'_>, &Retained),
        file: &DumpFile,
        most: usize,
    ) -> Result<Self, Failure> {
        let (stacks, all) = (heap.stacks(), rows(heap, retained, file)?);
        let rows = all.iter().take(most).map(|row| SiteRow {
            class: heap.class_name(row.class),
            error: whole(row.error_bytes),
            frames: stacks.frames(row.trace).map(Frame::of).collect(),
            objects: whole(row.objects),
            retained: whole(row.retained_bytes),
        });
        Ok(Self {
            left_out: all.len().saturating_sub(most),
            rows: rows.collect(),
        })
    }

    /// As JSON.
    pub(super) fn in_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// As text.
    pub(super) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new([
            ("retained", Side::Right),
            ("error", Side::Right),
            ("objects", Side::Right),
            ("class", Side::Left),
        ]);
        for row in &self.rows {
            table.row([
                grouped(row.retained).into(),
                grouped(row.error).into(),
                grouped(row.objects).into(),
                row.class.clone().into(),
            ]);
        }
        table.print_with(to, |number, to| {
            let frames = self.rows.get(number).map_or(&[][..], |row| &row.frames);
            for frame in frames.iter().take(DEPTH_FRAMES) {
                writeln!(to, "{INDENT}at {}", plain(&frame.line()))?;
            }
            Ok(())
        })
    }
}
