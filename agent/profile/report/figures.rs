//! What a report contains, and the sentence about it.

use super::report_monitors;
use crate::message::counted;
use crate::order::Order;
use crate::profile::monitors::MonitorFigures;
use crate::profile::times::CallRow;
use crate::profile::{CpuCounts, CpuRow, Profiles, SiteRow};
use jvm::env::Env;
use jvm::jni::Jni;
use options::Format;
use tables::profile::SiteOrder;

/// The part of the profiles that a report contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Part {
    /// Everything.
    #[default]
    All,
    /// Allocation sites, in this order.
    Sites(SiteOrder),
    /// The totals of allocations. Has no text form.
    HeapSummary,
    /// CPU samples.
    CpuSamples,
    /// Every trace, without anything that refers to them.
    Traces,
}

/// A report's figures, all taken at one moment.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// The part of the profiles that they cover.
    pub(crate) part: Part,
    /// Allocation sites; `None` if allocations are not recorded.
    pub(crate) sites: Option<Vec<SiteRow>>,
    /// CPU samples since the last report; `None` if there are none.
    pub(crate) cpu: Option<Vec<CpuRow>>,
    /// The same counts, to be returned if the report cannot be written.
    cpu_counts: Option<CpuCounts>,
    /// Costs of calls since the last report; `None` if methods are not timed.
    pub(crate) calls: Option<Vec<CallRow>>,
    /// Monitors; `None` if they are not recorded.
    pub(crate) monitors: Option<MonitorFigures>,
}

impl Figures {
    pub(super) fn take(
        order: &Order<'_>,
        profiles: &Profiles,
        part: Part,
        env: &Env,
        jni: &mut Jni<'_>,
    ) -> Self {
        let none = Self {
            part,
            ..Self::default()
        };
        if order.format == Format::Text && part == Part::All {
            profiles.traces.threads.number_live(env, jni);
        }
        let sites = profiles.allocations.as_ref();
        match part {
            Part::All => Self::take_all(order, profiles, env, jni),
            Part::Sites(_) | Part::HeapSummary => Self {
                sites: sites.map(|it| it.sites(jni)),
                ..none
            },
            Part::CpuSamples => none.with_samples(profiles, env, jni),
            Part::Traces => none,
        }
    }

    fn take_all(order: &Order<'_>, profiles: &Profiles, env: &Env, jni: &mut Jni<'_>) -> Self {
        let sites = profiles.allocations.as_ref();
        // The heap dump contains the sites.
        let sites = sites.filter(|_| !order.options.heap_dump);
        // A command that only requests sites leaves everything else for the next report.
        let monitors = profiles
            .monitors
            .as_ref()
            .filter(|_| order.options.monitors);
        let times = profiles.cpu_times.as_ref();
        let times = times.filter(|_| order.options.cpu.is_some());
        let all = Self {
            part: Part::All,
            monitors: monitors.map(|it| it.take(env, jni)),
            sites: sites.map(|it| it.sites(jni)),
            calls: times.map(|it| it.take()),
            ..Self::default()
        };
        match order.options.cpu {
            Some(_) => all.with_samples(profiles, env, jni),
            None => all,
        }
    }

    fn with_samples(self, profiles: &Profiles, env: &Env, jni: &mut Jni<'_>) -> Self {
        let samples = profiles.cpu_samples.as_ref();
        let cpu_counts = samples.map(|it| it.take_counts(env, jni));
        Self {
            cpu: cpu_counts.as_ref().map(|it| it.rows(&profiles.traces)),
            cpu_counts,
            ..self
        }
    }

    /// The order of sites.
    pub(crate) fn site_order(&self) -> SiteOrder {
        match self.part {
            Part::Sites(order) => order,
            _ => SiteOrder::LiveBytes,
        }
    }

    /// Returns the counts for the next report, because this one could not be written.
    pub(super) fn give_back(self, profiles: &Profiles) {
        if let (Some(counts), Some(cpu)) = (self.cpu_counts, &profiles.cpu_samples) {
            cpu.give_back(counts);
        }
        if let (Some(calls), Some(times)) = (&self.calls, &profiles.cpu_times) {
            times.give_back(calls);
        }
        if let (Some(figures), Some(monitors)) = (self.monitors, &profiles.monitors) {
            monitors.give_back(figures.counted);
        }
    }

    /// The report's contents, for the summary line.
    pub(super) fn summary(&self, profiles: &Profiles) -> String {
        let mut parts = Vec::new();
        parts.extend(self.monitors.as_ref().map(report_monitors::summary));
        if let (Some(sites), Some(allocations)) = (&self.sites, &profiles.allocations) {
            parts.push(format!(
                "{}, {}",
                counted(sites.len() as u64, "allocation site", "allocation sites"),
                allocations.manner()
            ));
        }
        if let (Some(counts), Some(cpu)) = (&self.cpu_counts, &profiles.cpu_samples) {
            parts.push(format!("{}, {}", counts.summary(), cpu.manner()));
        }
        if let Some(calls) = &self.calls {
            let count: u64 = calls.iter().map(|row| row.cost.calls).sum();
            parts.push(format!(
                "{} of methods timed",
                counted(count, "call", "calls")
            ));
        }
        if self.part == Part::Traces {
            let traces = profiles.traces.tables.traces.len();
            parts.push(counted(traces as u64, "trace", "traces"));
        }
        if let Some((classes, methods)) = profiles.left_alone() {
            parts.push(format!(
                "{} and {} could not be rewritten",
                counted(classes, "class", "classes"),
                counted(methods, "method", "methods")
            ));
        }
        parts.join("; ")
    }
}
