//! `do=histo`: samples of what the classes have, as lines of one file and as the metrics of
//! another.
//!
//! The thread that watches takes them and writes them, or that of a command. Should a disk never
//! answer, that thread waits, and no other.

use super::written_files::{replace, LinesFile, READABLE};
use crate::heap;
use crate::message::say;
use crate::order::Order;
use jvm::env::Vm;
use jvm::jni::Jni;
use jvm::os::host::unix_millis;
use options::file_name::FileName;
use options::{Does, Options};
use std::path::PathBuf;
use trigger::{Sample, Taken};

/// Takes samples and writes them.
#[derive(Debug)]
pub(super) struct Sampler<'o> {
    vm: Vm,
    options: &'o Options,
    files: Files,
    top: usize,
    taken: u64,
    /// Whether the last one failed, which was reported.
    fails: bool,
}

/// Where samples go.
#[derive(Debug)]
struct Files {
    lines: LinesFile,
    /// Where the newest one is as OpenMetrics text.
    metrics: Option<PathBuf>,
}

/// Takes one sample for a command and writes it. Returns `false`, after printing why, if there is
/// none.
pub(crate) fn sample_once(vm: Vm, jni: &mut Jni<'_>, order: &Order<'_>) -> bool {
    let cause = order.because.unwrap_or_default();
    Sampler::of(vm, order.options).is_some_and(|mut sampler| sampler.sample(jni, cause))
}

impl<'o> Sampler<'o> {
    /// `None` if the options ask for something else.
    pub(super) fn of(vm: Vm, options: &'o Options) -> Option<Self> {
        let Does::Histo(samples) = &options.does else {
            return None;
        };
        let files = Files {
            lines: LinesFile {
                path: samples.lines.first(),
                floor: options.floor(),
                mode: READABLE,
                said: options.mode,
            },
            metrics: samples.metrics.as_ref().map(FileName::first),
        };
        Some(Self {
            vm,
            options,
            files,
            top: samples.top,
            taken: 0,
            fails: false,
        })
    }

    /// Takes a sample for this cause. Returns `false` if there is none, after printing why if the
    /// one before was taken.
    pub(super) fn sample(&mut self, jni: &mut Jni<'_>, cause: &str) -> bool {
        let taken = heap::count(self.vm, jni, self.options);
        let written = taken.and_then(|counts| {
            self.taken += 1;
            let taken = Taken {
                time_ms: unix_millis(),
                process: std::process::id(),
                number: self.taken,
                cause: cause.to_owned(),
                pause: counts.pause,
                used: counts.used,
            };
            let sample = Sample::of(taken, counts.classes, self.top);
            self.files.take(&sample)
        });
        let failed = std::mem::replace(&mut self.fails, written.is_err());
        match written {
            Err(why) if !failed => say(&format!("no sample of the heap: {why}")),
            _ => {}
        }
        !self.fails
    }
}

impl Files {
    fn take(&self, sample: &Sample) -> Result<(), String> {
        self.lines.add(&sample.json_line())?;
        let Some(path) = &self.metrics else {
            return Ok(());
        };
        let LinesFile { floor, said, .. } = self.lines;
        replace(path, &sample.open_metrics(), floor, said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trigger::written_files::MOST_BYTES;
    use format::CountedClass;
    use std::fs::{self, File};
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;
    use writer::{FileMode, Floor};

    fn sample(class: &str) -> Sample {
        let counted = CountedClass {
            class: class.to_owned(),
            loader: 0,
            instances: 1,
            bytes: 16,
        };
        Sample::of(Taken::default(), [counted], 1)
    }

    fn files(folder: &Path, floor: Option<Floor>) -> Files {
        Files {
            lines: LinesFile {
                path: folder.join("lines"),
                floor,
                mode: READABLE,
                said: FileMode::parse("0606"),
            },
            metrics: Some(folder.join("metrics")),
        }
    }

    #[test]
    fn lines_are_added_and_metrics_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = files(folder.path(), None);
        for class in ["a.First", "a.Second"] {
            files.take(&sample(class)).expect("written");
        }
        let lines = fs::read_to_string(&files.lines.path).expect("lines");
        let expected = sample("a.First").json_line() + &sample("a.Second").json_line();
        assert_eq!(lines, expected);
        let metrics = fs::read_to_string(folder.path().join("metrics")).expect("metrics");
        assert_eq!(metrics, sample("a.Second").open_metrics());
        for name in ["lines", "metrics"] {
            let facts = fs::metadata(folder.path().join(name)).expect("a file");
            assert_eq!(facts.mode() & 0o777, 0o606, "{name}");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
    }

    #[test]
    fn a_long_file_is_put_aside() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = files(folder.path(), None);
        let long = File::create(&files.lines.path).expect("a file");
        long.set_len(MOST_BYTES - 1).expect("long");
        files.take(&sample("a.First")).expect("written");
        let aside = fs::metadata(folder.path().join("lines.1")).expect("aside");
        assert_eq!(aside.len(), MOST_BYTES - 1);
        let lines = fs::read_to_string(&files.lines.path).expect("lines");
        assert_eq!(lines, sample("a.First").json_line());
    }

    #[test]
    fn what_cannot_be_written_is_named_and_leaves_no_half_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let full = files(folder.path(), Some(Floor(u64::MAX)));
        let error = full.take(&sample("a.First")).expect_err("no room");
        assert!(error.contains("must stay free"), "{error}");
        assert_eq!(fs::metadata(&full.lines.path).expect("a file").len(), 0);
        let folder = tempfile::tempdir().expect("a folder");
        let files = files(folder.path(), None);
        fs::create_dir_all(folder.path().join("metrics/taken")).expect("a folder");
        let error = files.take(&sample("a.First")).expect_err("no file");
        assert!(error.contains("metrics cannot be written: "), "{error}");
        assert!(!folder.path().join("metrics.part").exists());
        fs::remove_file(&files.lines.path).expect("removed");
        fs::create_dir(&files.lines.path).expect("a folder");
        let error = files.take(&sample("a.First")).expect_err("no file");
        assert!(error.contains("lines cannot be written: "), "{error}");
    }
}
