//! Reads text profiles, which the JDK's HPROF agent wrote with `format=a`: traces, sites, CPU
//! samples and times.
//!
//! Layout: `JAVA PROFILE 1.0.1, created <date>`, prose, and sections that start with a line in
//! capitals. Skips heap dumps, threads and monitors.

mod lines;
mod rows;

use std::io::Read;

use crate::budget::{Budget, ENTRY_BYTES};
use crate::cpu_table::{CpuKind, CpuTable};
use crate::error::ReadError;
use crate::sites::{Amount, SiteTable};
use crate::stacks::StackFrame;
use lines::Lines;

/// Most rows kept of one section, and frames kept of one trace; more than any JVM writes.
const ROWS_MAX: usize = 1 << 22;

/// The next item of a text profile.
#[derive(Clone, Debug, PartialEq)]
pub enum TextEvent {
    /// A TRACE: its serial and its frames, top first.
    Trace(u32, Vec<StackFrame>),
    /// A SITES section.
    Sites(SiteTable),
    /// A CPU SAMPLES or CPU TIME section.
    Cpu(CpuKind, CpuTable),
}

/// A line that starts something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    Trace(u32),
    Sites,
    /// A CPU section, with the total in the line.
    Cpu(CpuKind, u64),
}

/// Reads a text profile sequentially, a section at a time.
#[derive(Debug)]
pub struct TextReader<'r> {
    lines: Lines<'r>,
    damaged: u64,
    budget: Budget,
}

impl<'r> TextReader<'r> {
    /// A reader of text whose first line was recognised, see [`crate::Opened`].
    pub(crate) fn new(inner: Box<dyn Read + 'r>) -> Self {
        Self {
            lines: Lines::new(inner),
            damaged: 0,
            budget: Budget::default(),
        }
    }

    /// Sets the limit for one section.
    pub(crate) fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Number of lines so far that do not fit their section, and of sections without an end.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// The next trace or section, or `None` after the last. Errors: I/O only.
    pub fn next_event(&mut self) -> Result<Option<TextEvent>, ReadError> {
        while let Some(line) = self.lines.next_line()? {
            match head(line) {
                Some(Head::Trace(serial)) => return self.trace(serial).map(Some),
                Some(Head::Sites) => return self.sites().map(Some),
                Some(Head::Cpu(kind, total)) => return self.cpu(kind, total).map(Some),
                None => {}
            }
        }
        Ok(None)
    }

    fn trace(&mut self, serial: u32) -> Result<TextEvent, ReadError> {
        let mut frames = Vec::new();
        let mut held_bytes = 0;
        while let Some(line) = self.lines.next_line()? {
            let Some(frame) = line.strip_prefix('\t') else {
                self.lines.put_back();
                break;
            };
            if frame != "<empty>" && frames.len() < ROWS_MAX {
                held_bytes += frame.len() as u64 + ENTRY_BYTES;
                self.budget.allow(held_bytes)?;
                frames.push(rows::frame(frame));
            }
        }
        Ok(TextEvent::Trace(serial, frames))
    }

    fn sites(&mut self) -> Result<TextEvent, ReadError> {
        let rows = self.section("SITES END", rows::site)?;
        // The section has no totals; its rows have both amounts.
        let table = SiteTable::new(rows, Amount::default(), Some(Amount::default()));
        Ok(TextEvent::Sites(table))
    }

    fn cpu(&mut self, kind: CpuKind, total: u64) -> Result<TextEvent, ReadError> {
        let end = match kind {
            CpuKind::Samples => "CPU SAMPLES END",
            CpuKind::Times => "CPU TIME (ms) END",
        };
        let rows = self.section(end, |line| rows::cpu(line, kind, total))?;
        Ok(TextEvent::Cpu(kind, CpuTable::new(rows, total)))
    }

    /// The rows up to the line that ends the section; also stops before another section.
    fn section<T>(
        &mut self,
        end: &str,
        row: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, ReadError> {
        let mut found = Vec::new();
        let mut held_bytes = 0;
        while let Some(line) = self.lines.next_line()? {
            if line.starts_with(end) {
                return Ok(found);
            }
            if head(line).is_some() {
                self.lines.put_back();
                break;
            }
            let line_bytes = line.len() as u64;
            match row(line) {
                Some(row) if found.len() < ROWS_MAX => {
                    held_bytes += line_bytes + 2 * ENTRY_BYTES;
                    self.budget.allow(held_bytes)?;
                    found.push(row);
                }
                None if !rows::is_title(line) => self.damaged += 1,
                _ => {}
            }
        }
        self.damaged += 1;
        Ok(found)
    }
}

/// The kind of section that this line starts. The prose before the sections also mentions them, in
/// other words.
fn head(line: &str) -> Option<Head> {
    if let Some(rest) = line.strip_prefix("TRACE ") {
        let (serial, _) = rest.split_once(':')?;
        return serial.parse().ok().map(Head::Trace);
    }
    if line.starts_with("SITES BEGIN") {
        return Some(Head::Sites);
    }
    let (kind, rest) = if let Some(rest) = line.strip_prefix("CPU SAMPLES BEGIN") {
        (CpuKind::Samples, rest)
    } else {
        (CpuKind::Times, line.strip_prefix("CPU TIME (ms) BEGIN")?)
    };
    let total = rest.trim_start().strip_prefix("(total = ")?;
    let (total, _) = total.split_once(')')?;
    Some(Head::Cpu(kind, rows::unsigned(total)?))
}

#[cfg(test)]
mod tests;
