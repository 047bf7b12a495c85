//! Checks a whole file: whether it follows the format, and whether it contains what readers need.

mod citations;
mod class_rules;
pub(crate) mod fault;
mod framing;
mod judge;
mod object_rules;
pub(crate) mod origin;
mod profile_rules;
mod references;
pub(crate) mod rule;
mod serials;
mod string_rules;
mod thread_rules;
mod trace_rules;

use crate::budget::Budget;
use crate::dump::{DumpReader, Open};
use crate::error::ReadError;
use fault::{Faults, Report};
use judge::Judge;
use origin::Origin;
use references::References;

/// How to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// How many faults are described; the others are only counted.
    pub most: usize,
    /// Whether faults typical of the file's writer are errors, too, instead of notes.
    pub strict: bool,
    /// Memory that the tables may take.
    pub budget: Budget,
}

/// Reads a file twice, once for definitions and once for references, and reports every broken rule.
/// Before, its first records show who wrote it.
///
/// `open` must return the same uncompressed bytes each time, see [`crate::unpacked`]. Memory is
/// used for strings, classes and the ids of objects, not for their data. Errors: `open` or reading
/// fails, the file has no HPROF header, or it exceeds the budget. Everything else is in the report.
pub fn check(open: &mut Open<'_, '_>, options: CheckOptions) -> Result<Report, ReadError> {
    let origin = Origin::of(&mut DumpReader::open(open, options.budget)?)?;
    let mut first = DumpReader::open(open, options.budget)?;
    let header = first.header();
    let mut faults = Faults::new(options.most, origin, options.strict);
    let mut judge = Judge::new(&header, &mut faults);
    while let Some(event) = first.next_event()? {
        judge.event(event);
        options.budget.allow(judge.held_bytes())?;
    }
    let contents = judge.finish(header.id_bytes);
    let bytes = first.offset();
    drop(first);
    if !contents.incomplete {
        let mut references = References {
            classes: &contents.classes,
            strings: &contents.strings,
            ids: &contents.ids,
            faults: &mut faults,
            data: Vec::new(),
            open: Vec::new(),
        };
        references.judge(&mut DumpReader::open(open, options.budget)?)?;
    }
    let (faults, totals) = faults.finish();
    Ok(Report {
        header,
        origin,
        bytes,
        objects: contents.ids.len(),
        faults,
        totals,
        incomplete: contents.incomplete,
    })
}
