//! The report of what a session measures, into a file of its own.

use super::cpu_times::CallRow;
use super::{report_binary, report_text, Profiles, SiteRow};
use crate::jvmti::jni::Jni;
use crate::message::say;
use crate::options::{Format, Options};
use writer::profile::SiteOrder;
use writer::text::TextStream;
use writer::{DumpFile, Outlet, WriteError, Written};

/// What of the profiles a report says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Part {
    /// Everything.
    #[default]
    All,
    /// Allocation sites, ranked so.
    Sites(SiteOrder),
    /// The totals of allocations. Has no form as text.
    HeapSummary,
    /// Every trace there is, and nothing that refers to them.
    Traces,
}

/// What a report says, all of it taken at one moment.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// What of the profiles it says.
    pub(super) part: Part,
    /// Allocation sites; `None` if allocations are not kept.
    pub(super) sites: Option<Vec<SiteRow>>,
    /// What calls cost since the last report; `None` if methods are not timed.
    pub(super) calls: Option<Vec<CallRow>>,
}

impl Figures {
    fn take(profiles: &Profiles, part: Part, jni: &Jni<'_>) -> Self {
        let sites = || profiles.allocations.as_ref().map(|it| it.sites(jni));
        match part {
            Part::All => Self {
                part,
                sites: sites(),
                calls: profiles.cpu_times.as_ref().map(|it| it.take()),
            },
            Part::Sites(_) | Part::HeapSummary => Self {
                part,
                sites: sites(),
                ..Self::default()
            },
            Part::Traces => Self {
                part,
                ..Self::default()
            },
        }
    }

    /// What sites are ranked by.
    pub(super) fn site_order(&self) -> SiteOrder {
        match self.part {
            Part::Sites(order) => order,
            _ => SiteOrder::LiveBytes,
        }
    }

    /// What is in the report, for the line that tells the user of it.
    fn summary(&self, profiles: &Profiles) -> String {
        let mut parts = Vec::new();
        if let (Some(sites), Some(allocations)) = (&self.sites, &profiles.allocations) {
            parts.push(format!(
                "{} allocation sites, {}",
                sites.len(),
                allocations.manner()
            ));
        }
        if let Some(calls) = &self.calls {
            let count: u64 = calls.iter().map(|row| row.calls).sum();
            parts.push(format!("{count} calls of methods timed"));
        }
        if self.part == Part::Traces {
            parts.push(format!("{} traces", profiles.traces.tables().traces.len()));
        }
        if let Some((classes, methods)) = profiles.left_alone() {
            parts.push(format!(
                "{classes} classes and {methods} methods could not be rewritten"
            ));
        }
        parts.join("; ")
    }
}

/// Writes the report, or a part of it, and says how it went on stderr. `true`: the file is there, or the peer has it.
///
/// On any thread attached to the JVM, in the live phase. The application runs on meanwhile.
pub(crate) fn report(
    jni: &mut Jni<'_>,
    options: &Options,
    profiles: &Profiles,
    part: Part,
    outlet: Outlet,
) -> bool {
    let figures = Figures::take(profiles, part, jni);
    match write(outlet, options, profiles, &figures) {
        Ok(written) => {
            say(&format!(
                "wrote {}: {} bytes, {}",
                written.path.display(),
                written.bytes,
                figures.summary(profiles)
            ));
            true
        }
        Err(error) => {
            say(&format!("no report: {error}"));
            false
        }
    }
}

fn write(
    outlet: Outlet,
    options: &Options,
    profiles: &Profiles,
    figures: &Figures,
) -> Result<Written, WriteError> {
    let file = DumpFile::create(outlet)?;
    match options.format {
        Format::Text => {
            let mut out = TextStream::new(|bytes| file.head(bytes));
            // The stream keeps the first error and tells it at the end.
            let _ = report_text::write(figures, profiles, options, &mut out);
            out.finish()?;
        }
        Format::Binary => report_binary::write(figures, profiles, options, &file)?,
    }
    // No heap dump ends here, so no record says so.
    file.finish_with_tail(0)
}
