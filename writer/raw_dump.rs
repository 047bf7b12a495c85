//! The file written by the JVM's own dumper, of which our dump is a copy.
//!
//! It loses its name as soon as the dumper is done. Where others may write to the folder, they
//! could exchange it before: the open file must be the JVM's own user's, with one name.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{fallocate, FallocateFlags};

use crate::error::failed;
use crate::floor::free_bytes;
use crate::part_file::{forget_unfinished, note_unfinished};
use crate::sink::directory;
use crate::{Outlet, WriteError};

/// More pieces than the parallel dumper writes before it joins them.
const MOST_PIECES: u32 = 1024;
/// Bytes of the file that are given back at a time.
const GIVEN_BACK_BYTES: u64 = 64 << 20;

/// A path beside a dump, at which the JVM's dumper creates a file. Dropping it removes that file
/// and its pieces.
#[derive(Debug)]
pub struct RawDump {
    folder: File,
    path: PathBuf,
}

impl RawDump {
    /// A path in the folder of the dump, or in the system's folder for temporary files if the dump
    /// becomes no file. No other process may use `name`. Creates nothing.
    ///
    /// Errors: `Io` if the folder cannot be opened.
    pub fn beside(outlet: &dyn Outlet, name: &str) -> Result<Self, WriteError> {
        let folder_path = directory(&outlet.spool_path()).to_owned();
        let mut options = OpenOptions::new();
        options
            .read(true)
            .custom_flags(libc::O_PATH | libc::O_DIRECTORY);
        let folder = options.open(&folder_path);
        let folder = folder.map_err(|error| failed(&folder_path, "being opened", &error))?;
        let path = folder_path.join(name);
        note_unfinished(&path, None);
        Ok(Self { folder, path })
    }

    /// The folder, opened only to resolve names in it.
    pub fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    /// Bytes that this user can still write there; `None` if the system does not report them.
    pub fn free_bytes(&self) -> Option<u64> {
        free_bytes(&self.folder)
    }

    /// The path, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The current size of the file, including its pieces; 0 if there is none yet.
    pub fn bytes(&self) -> u64 {
        let bytes = |path: &Path| fs::symlink_metadata(path).ok().map(|meta| meta.len());
        let pieces = (0..MOST_PIECES).map_while(|number| bytes(&self.piece(number)));
        bytes(&self.path).unwrap_or(0) + pieces.sum::<u64>()
    }

    /// Opens the file and removes its name: the system frees it when the process ends. Other users
    /// may write to the folder and replace the file, so `is_ours` checks it; its error is the end
    /// of a sentence.
    ///
    /// Errors: `Io`; `NotARegularFile`; `Refused`.
    pub fn open(
        &self,
        is_ours: impl FnOnce(&Path, &Metadata) -> io::Result<()>,
    ) -> Result<RawFile, WriteError> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = options.open(&self.path);
        let file = file.map_err(|error| failed(&self.path, "being opened", &error))?;
        let facts = file
            .metadata()
            .map_err(|error| failed(&self.path, "being measured", &error))?;
        if !facts.is_file() {
            return Err(WriteError::NotARegularFile {
                path: self.path.clone(),
            });
        }
        is_ours(&self.path, &facts).map_err(|error| self.exchanged(&error))?;
        fs::remove_file(&self.path)
            .map_err(|error| failed(&self.path, "having its name removed", &error))?;
        Ok(RawFile {
            file,
            read: 0,
            given_back: 0,
        })
    }

    fn exchanged(&self, error: &io::Error) -> WriteError {
        WriteError::Refused(format!(
            "another process exchanged {}, which HotSpot wrote: {error}; dump to a folder where no other user writes",
            self.path.display()
        ))
    }

    fn piece(&self, number: u32) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".p{number}"));
        name.into()
    }
}

/// The file, without a name, read once from front to back: the disk gets back the blocks behind
/// what was read.
#[derive(Debug)]
pub struct RawFile {
    file: File,
    read: u64,
    given_back: u64,
}

impl Read for RawFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read >= self.given_back + GIVEN_BACK_BYTES {
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            // Nothing happens on a file system that cannot.
            let _ = fallocate(&self.file, hole, self.given_back, GIVEN_BACK_BYTES);
            self.given_back += GIVEN_BACK_BYTES;
        }
        let count = self.file.read(buffer)?;
        self.read += count as u64;
        Ok(count)
    }
}

impl Drop for RawDump {
    fn drop(&mut self) {
        // Usually there is nothing left.
        let _ = fs::remove_file(&self.path);
        for number in 0..MOST_PIECES {
            if fs::remove_file(self.piece(number)).is_err() {
                break;
            }
        }
        forget_unfinished(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;

    fn ours(_: &Path, _: &Metadata) -> io::Result<()> {
        Ok(())
    }

    #[test]
    fn the_file_is_gone_when_it_is_open_and_pieces_when_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let outlet = Target::new(folder.path().join("a.hprof"));
        let raw = RawDump::beside(&outlet, "raw").unwrap();
        assert_eq!(raw.bytes(), 0);
        assert!(raw.open(ours).is_err());
        fs::write(folder.path().join("raw"), "whole").unwrap();
        fs::write(folder.path().join("raw.p0"), "piece").unwrap();
        fs::write(folder.path().join("raw.p1"), "another").unwrap();
        assert_eq!(raw.bytes(), 17);
        let mut text = String::new();
        raw.open(ours).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "whole");
        assert!(!folder.path().join("raw").exists());
        assert!(raw.free_bytes().is_some_and(|bytes| bytes > 0));
        drop(raw);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_was_read_is_given_back() {
        use std::os::unix::fs::FileExt;
        let folder = tempfile::tempdir().unwrap();
        let outlet = Target::new(folder.path().join("a.hprof"));
        let raw = RawDump::beside(&outlet, "raw").unwrap();
        fs::write(raw.path(), "start").unwrap();
        let mut opened = raw.open(ours).unwrap();
        opened.file.set_len(GIVEN_BACK_BYTES + 1).unwrap();
        let end = opened.file.write_at(b"!", GIVEN_BACK_BYTES);
        assert_eq!(end.unwrap(), 1);
        let mut all = Vec::new();
        opened.read_to_end(&mut all).unwrap();
        assert!(all.starts_with(b"start\0") && all.ends_with(b"\0!"));
        assert_eq!(opened.given_back, GIVEN_BACK_BYTES);
        let mut start = [1; 5];
        opened.file.read_exact_at(&mut start, 0).unwrap();
        // Some file systems cannot.
        assert!(start == [0; 5] || start == *b"start");
    }

    #[test]
    fn what_somebody_else_has_put_there_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let outlet = Target::new(folder.path().join("a.hprof"));
        let raw = RawDump::beside(&outlet, "raw").unwrap();
        std::os::unix::fs::symlink("/dev/null", folder.path().join("raw")).unwrap();
        assert!(raw.open(ours).is_err());
        fs::remove_file(folder.path().join("raw")).unwrap();
        fs::write(folder.path().join("raw"), "theirs").unwrap();
        let theirs = |path: &Path, facts: &Metadata| {
            assert_eq!((path, facts.len()), (raw.path(), 6));
            Err(io::Error::other("it belongs to user 7"))
        };
        let why = raw.open(theirs).unwrap_err().to_string();
        assert!(
            why.contains("/raw, which HotSpot wrote: it belongs to user 7; "),
            "{why}"
        );
        drop(raw);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
