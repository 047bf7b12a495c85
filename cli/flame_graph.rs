//! A flame graph: stacks as boxes as wide as their weight, in an SVG file for a browser.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use inferno::flamegraph::color::{BasicPalette, Palette};
use inferno::flamegraph::{self, Options};
use reader::{Allocations, CpuKind, CpuTable, SiteTable, Stacks};

use crate::dump_file::DumpFile;
use crate::folded::Folded;
use crate::number::{counted, grouped};
use crate::outcome::Failure;
use crate::plain::plain;
use crate::target;

/// The file name for standard output.
const STDOUT: &str = "-";

/// Most bytes of folded stacks for which a picture is drawn: drawing takes several times as much
/// memory.
const PICTURE_BYTES_MAX: u64 = 128 << 20;

/// Folded stacks, with the words and colours for their picture.
#[derive(Debug)]
pub(crate) struct FlameGraph {
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
    pub(crate) fn of_sites(
        found: &Allocations,
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
            folded.add(&found.stacks, site.trace, Some(&site.class), amount.bytes)?;
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
    pub(crate) fn of_cpu(stacks: &Stacks, table: &CpuTable, kind: CpuKind) -> Result<Self, String> {
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

    /// Whether all stacks have weight 0, so that there is nothing to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.folded.total == 0
    }

    /// Writes this file's folded stacks to a file or to stdout.
    pub(crate) fn collapse(&self, file: &DumpFile, path: Option<&Path>) -> Result<(), Failure> {
        let Some(path) = path.filter(|path| path.as_os_str() != STDOUT) else {
            let mut to = BufWriter::new(io::stdout().lock());
            self.folded.print(&mut to)?;
            to.flush()?;
            return Ok(());
        };
        target::write(path, file, |to| self.folded.print(to))?;
        self.tell(path)
    }

    /// Writes this file's picture to a file or to stdout.
    pub(crate) fn draw(&self, file: &DumpFile, path: Option<&Path>) -> Result<(), Failure> {
        if self.folded.line_bytes() > PICTURE_BYTES_MAX {
            return Err(file
                .refuse("it has too many stacks for a picture; --collapsed prints them as text"));
        }
        let svg = self.svg(&file.short_name())?;
        let Some(path) = path.filter(|path| path.as_os_str() != STDOUT) else {
            io::stdout().lock().write_all(&svg)?;
            return Ok(());
        };
        target::write(path, file, |to| to.write_all(&svg))?;
        self.tell(path)
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

    /// Reports in one line what was written.
    fn tell(&self, path: &Path) -> Result<(), Failure> {
        let stacks = counted(self.folded.len(), "stack");
        let total = grouped(self.folded.total);
        let name = plain(&path.display().to_string());
        writeln!(io::stdout(), "{name}: {stacks}, {total} {}", self.unit)?;
        Ok(())
    }
}
