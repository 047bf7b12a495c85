//! A flame graph: stacks as boxes as wide as their weight, in an SVG file for a browser.

use std::io::{self, Write};

use inferno::flamegraph::color::{BasicPalette, Palette};
use inferno::flamegraph::{self, Options};
use reader::{CpuKind, CpuTable, SiteTable, Stacks};

use crate::files::dump_file::DumpFile;
use crate::output::number::{counted, grouped};
use crate::output::outcome::Failure;
use crate::output::plain::plain;

use super::folded::Folded;

/// Most bytes of folded stacks for which a picture is drawn: drawing takes several times as much
/// memory.
const PICTURE_BYTES_MAX: u64 = 128 << 20;

/// Folded stacks, with the words and colours for their picture.
#[derive(Debug)]
pub(super) struct FlameGraph {
    title: String,
    /// Unit of the weights: `bytes`, `samples`, `ms`.
    unit: &'static str,
    colors: BasicPalette,
    folded: Folded,
    /// The file's total, with or without stacks.
    whole: u64,
}

impl FlameGraph {
    /// The bytes of each class on the lines that allocated it: live ones, or all ever allocated.
    pub(super) fn of_sites(
        stacks: &Stacks,
        table: &SiteTable,
        allocated: bool,
    ) -> Result<Self, String> {
        let mut folded = Folded::by_line();
        for site in &table.rows {
            let amount = if allocated {
                site.allocated.unwrap_or_default()
            } else {
                site.live
            };
            folded.add(stacks, site.trace, Some(&site.class), amount.bytes)?;
        }
        let (what, whole) = if allocated {
            ("Allocated", table.allocated.unwrap_or_default().bytes)
        } else {
            let stackless = table.stackless.bytes;
            ("Live", table.live.bytes.saturating_add(stackless))
        };
        Ok(Self {
            title: format!("{what} bytes by allocation site"),
            unit: "bytes",
            colors: BasicPalette::Mem,
            folded,
            whole,
        })
    }

    /// Samples, or milliseconds, by stack.
    pub(super) fn of_cpu(stacks: &Stacks, table: &CpuTable, kind: CpuKind) -> Result<Self, String> {
        let mut folded = Folded::default();
        for row in &table.rows {
            folded.add(stacks, row.trace, None, row.cost)?;
        }
        let (title, unit) = match kind {
            CpuKind::Samples => ("CPU samples", "samples"),
            CpuKind::Times => ("CPU time by method", "ms"),
        };
        Ok(Self {
            title: title.to_owned(),
            unit,
            colors: BasicPalette::Hot,
            folded,
            whole: table.total,
        })
    }

    /// Writes the folded stacks.
    pub(super) fn collapse(&self, to: &mut dyn Write) -> io::Result<()> {
        self.folded.print(to)
    }

    /// Writes this file's picture.
    pub(super) fn draw(&self, file: &DumpFile, to: &mut dyn Write) -> Result<(), Failure> {
        if self.folded.total == 0 {
            return Err(file.refuse("all its numbers are 0, so there is nothing to draw"));
        }
        if self.folded.line_bytes() > PICTURE_BYTES_MAX {
            let why = "it has too many stacks for a picture; --to collapsed writes them as text";
            return Err(file.refuse(why));
        }
        Ok(to.write_all(&self.svg(&file.short_name())?)?)
    }

    fn svg(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut options = Options::default();
        options.title = format!("{}: {}", self.title, plain(name));
        options.subtitle = Some(self.subtitle());
        options.count_name = self.unit.to_owned();
        options.name_type = "Method:".to_owned();
        options.colors = Palette::Basic(self.colors);
        options.deterministic = true;
        let lines: Vec<String> = self.folded.lines().collect();
        let mut svg = Vec::new();
        let lines = lines.iter().map(String::as_str);
        flamegraph::from_lines(&mut options, lines, &mut svg)?;
        Ok(svg)
    }

    /// How much is drawn, and how much is not, because it has no stack or was too little for the
    /// profiler to list.
    fn subtitle(&self) -> String {
        let drawn = grouped(self.folded.total);
        match self.whole.saturating_sub(self.folded.total) {
            0 => format!("{drawn} {}", self.unit),
            rest => format!(
                "{drawn} {}; {} more have no stack in the file",
                self.unit,
                grouped(rest)
            ),
        }
    }

    /// How much was written.
    pub(super) fn told(&self) -> String {
        let stacks = counted(self.folded.len(), "stack");
        format!("{stacks}, {} {}", grouped(self.folded.total), self.unit)
    }
}
