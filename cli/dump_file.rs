//! A dump on disk, opened once a pass, with a progress bar when it is large and somebody watches.

use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use reader::{DumpReader, ReadError};

use crate::outcome::{reason, Failure};

/// Files up to this size are read before a bar could be looked at.
const QUIET_BYTES: u64 = 64 << 20;

/// A file, its size, and how far it has been read.
#[derive(Debug)]
pub(crate) struct DumpFile {
    path: PathBuf,
    /// Bytes on disk; of the packed file if it is packed.
    pub(crate) bytes: u64,
    bar: ProgressBar,
}

impl DumpFile {
    /// Looks at the file without reading it.
    pub(crate) fn new(path: &Path) -> Result<Self, Failure> {
        let facts = std::fs::metadata(path).map_err(|fault| Failure::reading(path, fault))?;
        if facts.is_dir() {
            return Err(Failure::reading(path, "is a directory"));
        }
        let bytes = facts.len();
        Ok(Self {
            path: path.to_owned(),
            bytes,
            bar: bar(bytes),
        })
    }

    /// Opens the file for another pass over its uncompressed bytes.
    pub(crate) fn open(&self) -> io::Result<Box<dyn Read>> {
        self.bar.set_position(0);
        reader::unpacked(self.bar.wrap_read(File::open(&self.path)?))
    }

    /// Opens the file and reads its header.
    pub(crate) fn reader(&self) -> Result<DumpReader<'static>, Failure> {
        let opened = self
            .open()
            .map_err(|fault| Failure::reading(&self.path, fault))?;
        DumpReader::new(opened).map_err(|fault| self.failure(&fault))
    }

    /// Opens the file and reads all of it.
    pub(crate) fn whole<T>(
        &self,
        read: impl FnOnce(Box<dyn Read>) -> Result<T, ReadError>,
    ) -> Result<T, Failure> {
        let opened = self
            .open()
            .map_err(|fault| Failure::reading(&self.path, fault))?;
        let found = read(opened).map_err(|fault| self.failure(&fault))?;
        self.done();
        Ok(found)
    }

    /// A failure of the reader, with the file's name.
    pub(crate) fn failure(&self, fault: &ReadError) -> Failure {
        self.done();
        Failure::reading(&self.path, reason(fault))
    }

    /// A failure because of what the file holds, with the file's name.
    pub(crate) fn refuse(&self, reason: impl fmt::Display) -> Failure {
        Failure::reading(&self.path, reason)
    }

    /// Takes the bar off the screen, before anything is printed.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }

    /// The file's name without its folders.
    pub(crate) fn short_name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// The file's path as the user gave it.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }
}

fn bar(bytes: u64) -> ProgressBar {
    if bytes <= QUIET_BYTES || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
    let bar = ProgressBar::new(bytes);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
