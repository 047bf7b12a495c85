//! A flame graph: stacks as boxes, as wide as their weight, in an SVG file that a browser opens.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use inferno::flamegraph::color::{BasicPalette, Palette};
use inferno::flamegraph::{self, Options};
use reader::{Allocations, CpuKind, CpuTable, SiteTable, Stacks};

use crate::folded::Folded;
use crate::number::{counted, grouped};
use crate::outcome::{Failure, Verdict};

/// Folded stacks with the words and the colours of their picture.
#[derive(Debug)]
pub(crate) struct FlameGraph {
    title: String,
    /// Noun of the weights: `bytes`, `samples`, `ms`.
    unit: &'static str,
    colors: BasicPalette,
    folded: Folded,
    /// What the file counts in all, stacks or not.
    whole: u64,
}

impl FlameGraph {
    /// The bytes of each class on the stacks that allocated them: those alive, or all ever allocated.
    pub(crate) fn of_sites(found: &Allocations, table: &SiteTable, allocated: bool) -> Self {
        let mut folded = Folded::default();
        for site in &table.rows {
            let amount = if allocated {
                site.allocated.unwrap_or_default()
            } else {
                site.live
            };
            folded.add(&found.stacks, site.trace, Some(&site.class), amount.bytes);
        }
        let (what, whole) = if allocated {
            ("Allocated", table.allocated.unwrap_or_default().bytes)
        } else {
            let stackless = table.stackless.bytes;
            ("Live", table.live.bytes.saturating_add(stackless))
        };
        Self {
            title: format!("{what} bytes by allocation site"),
            unit: "bytes",
            colors: BasicPalette::Mem,
            folded,
            whole,
        }
    }

    /// Samples, or milliseconds, on their stacks.
    pub(crate) fn of_cpu(stacks: &Stacks, table: &CpuTable, kind: CpuKind) -> Self {
        let mut folded = Folded::default();
        for row in &table.rows {
            folded.add(stacks, row.trace, None, row.cost);
        }
        let (title, unit) = match kind {
            CpuKind::Samples => ("CPU samples", "samples"),
            CpuKind::Times => ("CPU time by method", "ms"),
        };
        Self {
            title: title.to_owned(),
            unit,
            colors: BasicPalette::Hot,
            folded,
            whole: table.total,
        }
    }

    /// Whether no stack has any weight, so that there is nothing to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.folded.total == 0
    }

    /// Prints the folded stacks to a file, or to stdout.
    pub(crate) fn collapse(&self, path: Option<&Path>) -> Result<Verdict, Failure> {
        let Some(path) = path else {
            let mut to = BufWriter::new(io::stdout().lock());
            self.folded.print(&mut to)?;
            to.flush()?;
            return Ok(Verdict::Sound);
        };
        let mut lines = Vec::new();
        self.folded.print(&mut lines)?;
        self.save(path, &lines)
    }

    /// Draws the picture of a file of this name, to a file or to stdout.
    pub(crate) fn draw(&self, name: &str, path: Option<&Path>) -> Result<Verdict, Failure> {
        let svg = self.svg(name)?;
        let Some(path) = path else {
            io::stdout().lock().write_all(&svg)?;
            return Ok(Verdict::Sound);
        };
        self.save(path, &svg)
    }

    fn svg(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut options = Options::default();
        options.title = format!("{}: {}", self.title, crate::plain::plain(name));
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

    /// How much is drawn, and how much is not: without a stack, or too little for the profiler to list.
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

    /// Writes the file and says so in one line.
    fn save(&self, path: &Path, bytes: &[u8]) -> Result<Verdict, Failure> {
        std::fs::write(path, bytes).map_err(|fault| Failure::writing(path, fault))?;
        let stacks = counted(self.folded.len(), "stack");
        let total = grouped(self.folded.total);
        let name = path.display();
        writeln!(io::stdout(), "{name}: {stacks}, {total} {}", self.unit)?;
        Ok(Verdict::Sound)
    }
}
