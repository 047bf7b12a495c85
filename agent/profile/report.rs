//! The report of what a session measures, into a file of its own.

use super::cpu_times::CallRow;
use super::monitors::MonitorFigures;
use super::{report_binary, report_monitors, report_text, CpuCounts, CpuRow, Profiles, SiteRow};
use crate::file_name::USED_NAMES;
use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::message::say;
use crate::options::{Format, Options};
use writer::text::TextStream;
use writer::{DumpFile, Target, WriteError, Written};

/// What a report says, all of it taken at one moment.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// Allocation sites; `None` if allocations are not kept.
    pub(super) sites: Option<Vec<SiteRow>>,
    /// CPU samples since the last report; `None` if there are none.
    pub(super) cpu: Option<Vec<CpuRow>>,
    /// The same, to be given back if the report cannot be written.
    cpu_counts: Option<CpuCounts>,
    /// What calls cost since the last report; `None` if methods are not timed.
    pub(super) calls: Option<Vec<CallRow>>,
    /// Monitors; `None` if nobody looks at them.
    pub(super) monitors: Option<MonitorFigures>,
}

impl Figures {
    fn take(options: &Options, profiles: &Profiles, env: &Env, jni: &mut Jni<'_>) -> Self {
        // A command that asks for sites alone does not take the samples away from the next report.
        let cpu = profiles.cpu_samples.as_ref();
        let cpu = cpu.filter(|_| options.cpu.is_some());
        let sites = profiles.allocations.as_ref();
        // Those are in the heap dump.
        let sites = sites.filter(|_| !options.heap_dump);
        let cpu_counts = cpu.map(|it| it.take_counts(env, jni));
        Self {
            monitors: profiles.monitors.as_ref().map(|it| it.take(env, jni)),
            sites: sites.map(|it| it.sites(jni)),
            cpu: cpu_counts.as_ref().map(|it| it.rows(&profiles.traces)),
            cpu_counts,
            calls: profiles.cpu_times.as_ref().map(|it| it.take()),
        }
    }

    /// The report could not be written: what was counted is there for the next.
    fn give_back(self, profiles: &Profiles) {
        if let (Some(counts), Some(cpu)) = (self.cpu_counts, &profiles.cpu_samples) {
            cpu.give_back(counts);
        }
        if let (Some(figures), Some(monitors)) = (self.monitors, &profiles.monitors) {
            monitors.give_back(figures.counted);
        }
    }

    /// What is in the report, for the line that tells the user of it.
    fn summary(&self, profiles: &Profiles) -> String {
        let mut parts = Vec::new();
        parts.extend(self.monitors.as_ref().map(report_monitors::summary));
        if let (Some(sites), Some(allocations)) = (&self.sites, &profiles.allocations) {
            parts.push(format!(
                "{} allocation sites, {}",
                sites.len(),
                allocations.manner()
            ));
        }
        if let (Some(counts), Some(cpu)) = (&self.cpu_counts, &profiles.cpu_samples) {
            parts.push(format!("{}, {}", counts.summary(), cpu.manner()));
        }
        if let Some(calls) = &self.calls {
            let count: u64 = calls.iter().map(|row| row.calls).sum();
            parts.push(format!("{count} calls of methods timed"));
        }
        if let Some((classes, methods)) = profiles.left_alone() {
            parts.push(format!(
                "{classes} classes and {methods} methods could not be rewritten"
            ));
        }
        parts.join("; ")
    }
}

/// Writes the report into the next file, and says how it went on stderr. `true`: the file is there.
///
/// On any thread attached to the JVM, in the live phase. The application runs on meanwhile.
pub(crate) fn report(env: &Env, jni: &mut Jni<'_>, options: &Options, profiles: &Profiles) -> bool {
    let path = options.file.choose(&mut USED_NAMES.lock(), options.force);
    let figures = Figures::take(options, profiles, env, jni);
    match write(options.target(path), options, profiles, &figures) {
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
            figures.give_back(profiles);
            say(&format!("no report: {error}"));
            false
        }
    }
}

fn write(
    target: Target,
    options: &Options,
    profiles: &Profiles,
    figures: &Figures,
) -> Result<Written, WriteError> {
    let file = DumpFile::create(target)?;
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
