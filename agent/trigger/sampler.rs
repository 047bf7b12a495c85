//! `do=histo`: samples of what the classes have, as lines of a file.
//!
//! The thread that watches takes them and writes them, or that of a command. Should a disk never
//! answer, that thread waits, and no other.

use super::sample::{Sample, Taken};
use super::written_files::{LinesFile, READABLE};
use crate::heap;
use crate::message::say;
use crate::order::Order;
use jvm::env::Vm;
use jvm::jni::Jni;
use jvm::os::host::unix_millis;
use options::{Does, Options};

/// Classes of each sample that a condition causes.
pub(super) const LARGEST: usize = 50;

/// Takes samples and writes them.
#[derive(Debug)]
pub(super) struct Sampler<'o> {
    vm: Vm,
    options: &'o Options,
    lines: LinesFile,
    /// Most classes listed.
    most: usize,
    /// Whether the last one failed, which was reported.
    fails: bool,
}

/// Takes one sample for a command and writes it. Returns `false`, after printing why, if there is
/// none.
pub(crate) fn sample_once(vm: Vm, jni: &mut Jni<'_>, order: &Order<'_>) -> bool {
    let cause = order.because.unwrap_or_default();
    Sampler::of(vm, order.options, usize::MAX).is_some_and(|mut sampler| sampler.sample(jni, cause))
}

impl<'o> Sampler<'o> {
    /// Samples of so many classes; `None` if the options ask for something else.
    pub(super) fn of(vm: Vm, options: &'o Options, most: usize) -> Option<Self> {
        let Does::Histo(file) = &options.does else {
            return None;
        };
        let lines = LinesFile {
            path: file.first(),
            floor: options.floor(),
            mode: READABLE,
            said: options.mode,
        };
        Some(Self {
            vm,
            options,
            lines,
            most,
            fails: false,
        })
    }

    /// Takes a sample for this cause. Returns `false` if there is none, after printing why if the
    /// one before was taken.
    pub(super) fn sample(&mut self, jni: &mut Jni<'_>, cause: &str) -> bool {
        let taken = heap::count(self.vm, jni, self.options);
        let written = taken.and_then(|counts| {
            let taken = Taken {
                time_ms: unix_millis(),
                process: std::process::id(),
                cause: cause.to_owned(),
                pause: counts.pause,
                used: counts.used,
            };
            let sample = Sample::of(taken, counts.classes, self.most);
            self.lines.add(&sample.json_line())
        });
        let failed = std::mem::replace(&mut self.fails, written.is_err());
        match written {
            Err(why) if !failed => say(&format!("no sample of the heap: {why}")),
            _ => {}
        }
        !self.fails
    }
}
