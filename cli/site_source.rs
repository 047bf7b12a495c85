//! Which of a file's two tales of allocation sites to tell.

use reader::{Allocations, SiteTable};

/// Where sites can come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SiteSource {
    /// What the profiler counted: ALLOC SITES records, or SITES in a text profile
    Sites,
    /// The objects of the heap dump that carry the stack where they were allocated
    Dump,
}

/// How to get a file with sites.
pub(crate) const ADVICE: &str = "Record them with the agent's option heap=sites or heap=all";

impl SiteSource {
    /// The sites from here.
    fn table(self, found: &Allocations) -> Option<&SiteTable> {
        match self {
            Self::Sites => found.recorded.as_ref(),
            Self::Dump => found.dumped.as_ref(),
        }
    }

    /// What is not there if they are not here.
    fn missing(self, found: &Allocations) -> &'static str {
        match self {
            Self::Sites => "none were recorded",
            Self::Dump if found.has_heap => {
                "no object of the heap dump carries the stack where it was allocated"
            }
            Self::Dump => "there is no heap dump",
        }
    }
}

/// The sites that were asked for; unasked what the profiler counted, else what the heap dump tells. Errors: one sentence.
pub(crate) fn choose(
    found: &Allocations,
    asked: Option<SiteSource>,
) -> Result<(SiteSource, &SiteTable), String> {
    let (first, second) = (SiteSource::Sites, SiteSource::Dump);
    let sources = asked.map_or(vec![first, second], |source| vec![source]);
    let mut tables = sources
        .iter()
        .filter_map(|source| Some((*source, source.table(found)?)));
    if let Some(chosen) = tables.next() {
        return Ok(chosen);
    }
    let missing: Vec<&str> = sources.iter().map(|source| source.missing(found)).collect();
    let missing = missing.join(", and ");
    let other = [first, second]
        .into_iter()
        .find(|source| source.table(found).is_some());
    Err(match other {
        Some(SiteSource::Sites) => format!("{missing}; there are recorded sites: --from sites"),
        Some(SiteSource::Dump) => format!("{missing}; the heap dump tells of some: --from dump"),
        None => format!("no allocation sites: {missing}. {ADVICE}"),
    })
}
