//! Where the time, or the memory, went: as a picture, folded stacks, or a profile for pprof.

use std::rc::Rc;

use reader::{CpuKind, CpuTable, Profiles, SiteTable, Stacks};

use crate::answers::site_source::{choose, SiteSource};
use crate::files::input_file::InputFile;
use crate::output::outcome::Failure;

use super::arguments::Source;
use super::folded::Folded;

/// Stacks with their weights.
#[derive(Debug)]
pub(super) struct Profile {
    pub(super) stacks: Stacks,
    pub(super) rows: Vec<Row>,
    /// The values of each row: what they count, and in which unit.
    pub(super) values: Vec<(&'static str, &'static str)>,
    /// The name of the value that is shown first, where there are several.
    pub(super) first_shown: Option<&'static str>,
    /// Which of them is drawn.
    pub(super) drawn: usize,
    pub(super) title: &'static str,
    /// Unit of what is drawn: `bytes`, `samples`, `ms`.
    pub(super) unit: &'static str,
    /// The file's total of what is drawn, with or without stacks.
    pub(super) whole: u64,
    /// Number of damaged places.
    pub(super) damaged: u64,
}

/// A stack.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) trace: u32,
    /// The class of the objects that it allocated; two lines of a method allocate differently.
    pub(super) class: Option<Rc<str>>,
    pub(super) values: Vec<u64>,
}

impl Profile {
    /// What this source has; by default the first that the file has.
    pub(super) fn read(file: &InputFile, from: Option<Source>) -> Result<Self, Failure> {
        let mut found = file.whole(Profiles::read)?;
        let (samples, times) = (found.samples.take(), found.times.take());
        let samples = samples.map(|table| (table, CpuKind::Samples));
        let times = times.map(|table| (table, CpuKind::Times));
        let (cpu, sites) = match from {
            None => (samples.or(times), None),
            Some(Source::Samples) => (Some(samples.ok_or_else(|| file.refuse(NO_SAMPLES))?), None),
            Some(Source::Times) => (Some(times.ok_or_else(|| file.refuse(NO_TIMES))?), None),
            Some(Source::Sites | Source::Allocated) => (None, Some(SiteSource::Sites)),
            // Holders are no profile of the file: see `holders`.
            Some(Source::Dump | Source::Holders) => (None, Some(SiteSource::Dump)),
        };
        if let Some((table, kind)) = cpu {
            return Ok(Self::of_cpu(found, &table, kind));
        }
        let chosen = choose(&found, sites).map_err(|why| match sites {
            Some(_) => file.refuse(why),
            None => file.refuse(NOTHING),
        });
        let table = chosen?.1.clone();
        Ok(Self::of_sites(
            found,
            &table,
            from == Some(Source::Allocated),
        ))
    }

    /// The bytes of each class on the lines that allocated it: live ones, or all ever allocated.
    fn of_sites(found: Profiles, table: &SiteTable, is_allocated: bool) -> Self {
        let (mut values, mut first) = (Vec::new(), 0);
        if table.allocated.is_some() {
            values = vec![("alloc_objects", "count"), ("alloc_space", "bytes")];
            first = 2;
        }
        values.extend([("inuse_objects", "count"), ("inuse_space", "bytes")]);
        let rows = table.rows.iter().map(|site| {
            let amounts = [site.allocated.unwrap_or_default(), site.live];
            let amounts = amounts.into_iter().skip(usize::from(first == 0));
            Row {
                trace: site.trace,
                class: Some(Rc::clone(&site.class)),
                values: amounts.flat_map(|it| [it.objects, it.bytes]).collect(),
            }
        });
        let (title, drawn, whole) = match (is_allocated, table.allocated) {
            (true, Some(all)) => (ALLOCATED, 1, all.bytes),
            (true, None) => (ALLOCATED, usize::MAX, 0),
            (false, _) => {
                let whole = table.live.bytes.saturating_add(table.stackless.bytes);
                ("Live bytes by allocation site", first + 1, whole)
            }
        };
        Self {
            rows: rows.collect(),
            values,
            first_shown: Some("inuse_space"),
            drawn,
            title,
            unit: "bytes",
            whole,
            damaged: found.damaged,
            stacks: found.stacks,
        }
    }

    /// Samples, or milliseconds, by stack.
    fn of_cpu(found: Profiles, table: &CpuTable, kind: CpuKind) -> Self {
        let (value, title, unit) = match kind {
            CpuKind::Samples => (("samples", "count"), "CPU samples", "samples"),
            CpuKind::Times => (("cpu", "milliseconds"), "CPU time by method", "ms"),
        };
        let rows = table.rows.iter().map(|row| Row {
            trace: row.trace,
            class: None,
            values: vec![row.cost],
        });
        Self {
            rows: rows.collect(),
            values: vec![value],
            first_shown: None,
            drawn: 0,
            title,
            unit,
            whole: table.total,
            damaged: found.damaged,
            stacks: found.stacks,
        }
    }

    /// The stacks with what is drawn. The error is a sentence: they would take too much memory.
    pub(super) fn folded(&self) -> Result<Folded, String> {
        let mut folded = Folded::default();
        for row in &self.rows {
            let weight = row.values.get(self.drawn).copied().unwrap_or(0);
            folded.add(&self.stacks, row.trace, row.class.as_deref(), weight)?;
        }
        Ok(folded)
    }
}

const ALLOCATED: &str = "Allocated bytes by allocation site";
const NOTHING: &str = "neither a CPU profile nor allocation sites. Record them with the agent's \
                       option cpu=samples, or heap=sites";
const NO_SAMPLES: &str = "no CPU samples. Record them with the agent's option cpu=samples";
const NO_TIMES: &str =
    "no CPU TIME section, which the agent's option cpu=times makes in text profiles";
