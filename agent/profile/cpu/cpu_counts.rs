//! CPU samples by stack, and samples without a stack. A report takes them, and counting starts
//! again.

use crate::message::counted;
use crate::profile::stacks::{NamedFrame, StackTraces};
use hotspot::call_trace::StackFault;
use std::collections::BTreeMap;
use tables::profile::{Cost, Costs};
use tables::TraceId;
use writer::profile_record::cpu_samples;
use writer::record::encode;
use writer::WriteError;

/// Samples since the last report. Each stands for one interval of CPU time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuCounts {
    /// Samples by stack.
    pub(crate) by_trace: BTreeMap<TraceId, u64>,
    /// Samples of threads that were not running Java code.
    outside_of_java: u64,
    /// Samples without a known stack, by reason.
    lost: BTreeMap<StackFault, u64>,
    /// Threads that could not be sampled.
    unsampled_threads: u64,
}

/// A stack with its samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CpuRow {
    /// The stack.
    pub(crate) trace: TraceId,
    /// Its samples.
    pub(crate) samples: u64,
    /// The frame on top; `None` if it was not requested.
    pub(crate) top: Option<NamedFrame>,
}

impl CpuCounts {
    /// Counts samples of a stack.
    pub(crate) fn add(&mut self, trace: TraceId, samples: u64) {
        if samples > 0 {
            *self.by_trace.entry(trace).or_default() += samples;
        }
    }

    /// Counts samples without a stack.
    pub(crate) fn add_fault(&mut self, fault: StackFault, samples: u64) {
        if fault.is_outside_of_java() {
            self.outside_of_java += samples;
        } else if samples > 0 {
            *self.lost.entry(fault).or_default() += samples;
        }
    }

    /// Counts threads that could not be sampled.
    pub(crate) fn add_unsampled_threads(&mut self, threads: u64) {
        self.unsampled_threads += threads;
    }

    /// Adds counts that were taken before but not reported.
    pub(crate) fn merge(&mut self, before: Self) {
        for (trace, samples) in before.by_trace {
            self.add(trace, samples);
        }
        for (fault, samples) in before.lost {
            self.add_fault(fault, samples);
        }
        self.outside_of_java += before.outside_of_java;
        self.unsampled_threads += before.unsampled_threads;
    }

    /// The stacks in numerical order, with the names of their top methods.
    pub(crate) fn rows(&self, traces: &StackTraces) -> Vec<CpuRow> {
        let row = |(&trace, &samples)| CpuRow {
            trace,
            samples,
            top: traces.top_frame(trace),
        };
        self.by_trace.iter().map(row).collect()
    }

    /// Numbers of samples and of samples without a stack, with the reasons, for the report's
    /// summary line.
    pub(crate) fn summary(&self) -> String {
        let samples: u64 = self.by_trace.values().sum();
        let stacks = self.by_trace.len() as u64;
        let mut text = format!(
            "{} of {}",
            counted(samples, "CPU sample", "CPU samples"),
            counted(stacks, "stack", "stacks")
        );
        if self.outside_of_java > 0 {
            text.push_str(&format!(", {} outside of Java", self.outside_of_java));
        }
        if !self.lost.is_empty() {
            let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
            for (fault, samples) in &self.lost {
                *reasons.entry(fault.reason()).or_default() += samples;
            }
            let all: u64 = reasons.values().sum();
            let reasons = reasons.iter().map(|(why, count)| format!("{count} {why}"));
            let reasons: Vec<String> = reasons.collect();
            text.push_str(&format!(", {all} lost ({})", reasons.join(", ")));
        }
        if self.unsampled_threads > 0 {
            text.push_str(&format!(
                ", {} missing: the system has no more timers (ulimit -i)",
                counted(self.unsampled_threads, "thread", "threads")
            ));
        }
        text
    }
}

/// The rows in the writer's form.
pub(crate) fn costs(rows: &[CpuRow]) -> Vec<Cost<'_>> {
    let costs = rows.iter().map(|row| Cost {
        trace: row.trace,
        top: row.top.as_ref().map(NamedFrame::named_method),
        count: row.samples,
        own: row.samples,
    });
    costs.collect()
}

/// The record of these samples, down to the cutoff.
pub(crate) fn cpu_samples_record(rows: &[CpuRow], cutoff: f64) -> Result<Vec<u8>, WriteError> {
    let costs = costs(rows);
    let ranked = Costs::new(&costs, cutoff);
    let mut out = Vec::new();
    encode(&cpu_samples(&ranked), &mut out)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_what_is_missing_and_why() {
        let mut counts = CpuCounts::default();
        assert_eq!(counts.summary(), "0 CPU samples of 0 stacks");
        counts.add(TraceId::new(7).unwrap(), 3);
        counts.add(TraceId::new(8).unwrap(), 1);
        counts.add_fault(StackFault::of_count(0), 9);
        counts.add_fault(StackFault::of_count(-3), 2);
        counts.add_fault(StackFault::of_count(-5), 2);
        counts.add_fault(StackFault::of_count(-2), 1);
        counts.add_fault(StackFault::of_count(-10), 0);
        counts.add_unsampled_threads(1);
        assert_eq!(
            counts.summary(),
            "4 CPU samples of 2 stacks, 9 outside of Java, 5 lost (1 during a collection, \
             4 in code without a readable stack), 1 thread missing: the system has no more timers (ulimit -i)"
        );
    }

    #[test]
    fn what_could_not_be_told_is_told_next_time() {
        let trace = TraceId::new(7).unwrap();
        let mut before = CpuCounts::default();
        before.add(trace, 3);
        before.add_fault(StackFault::of_count(0), 1);
        let mut counts = CpuCounts::default();
        counts.add(trace, 2);
        counts.merge(before);
        assert_eq!(counts.by_trace.get(&trace), Some(&5));
        assert_eq!(
            counts.summary(),
            "5 CPU samples of 1 stack, 1 outside of Java"
        );
    }
}
