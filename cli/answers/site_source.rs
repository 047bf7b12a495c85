//! Which of a file's two kinds of allocation sites to use.

use reader::{Profiles, SiteTable};

/// The source of allocation sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SiteSource {
    /// The profiler's counts: ALLOC SITES records, or SITES in a text profile
    Sites,
    /// The objects of the heap dump that have an allocation stack
    Dump,
}

/// How to get a file with sites.
pub(crate) const ADVICE: &str = "Record them with the agent's option heap=sites or heap=all";

impl SiteSource {
    /// The sites from this source.
    fn table(self, found: &Profiles) -> Option<&SiteTable> {
        match self {
            Self::Sites => found.recorded.as_ref(),
            Self::Dump => found.dumped.as_ref(),
        }
    }

    /// The missing part if this source has no sites.
    fn missing(self, found: &Profiles) -> &'static str {
        match self {
            Self::Sites => "none were recorded",
            Self::Dump if found.has_heap => {
                "no object of the heap dump carries the stack where it was allocated"
            }
            Self::Dump => "there is no heap dump",
        }
    }
}

/// The requested sites; by default the profiler's counts, otherwise those of the heap dump. The
/// error is one sentence.
pub(crate) fn choose(
    found: &Profiles,
    asked: Option<SiteSource>,
) -> Result<(SiteSource, &SiteTable), String> {
    const ALL: &[SiteSource] = &[SiteSource::Sites, SiteSource::Dump];
    let sources = asked.as_ref().map_or(ALL, std::slice::from_ref);
    let having = |source: &SiteSource| Some((*source, source.table(found)?));
    if let Some(chosen) = sources.iter().find_map(having) {
        return Ok(chosen);
    }
    let missing: Vec<&str> = sources.iter().map(|source| source.missing(found)).collect();
    let missing = missing.join(", and ");
    Err(match ALL.iter().find_map(having) {
        Some((SiteSource::Sites, _)) => {
            format!("{missing}; there are recorded sites: --from sites")
        }
        Some((SiteSource::Dump, _)) => format!("{missing}; the heap dump has some: --from dump"),
        None => format!("no allocation sites: {missing}. {ADVICE}"),
    })
}
