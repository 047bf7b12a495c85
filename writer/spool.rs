//! A file without a name: it goes with the process, however that ends.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::part_file::{create_new, not_created};
use crate::sink::{check_length, failed, file_name, sibling};
use crate::{GzipLevel, Tail, WriteError};

/// Bytes that are read back when all are there, in a file without a name.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    // The name that it had for a moment.
    path: PathBuf,
}

/// Attempts at a name that other processes have for a moment.
const TRIES: u32 = 100;

/// Removes a file, if it is there. Errors: `NotARegularFile`, `Io`.
fn remove(path: &Path) -> Result<(), WriteError> {
    match fs::symlink_metadata(path) {
        Err(_) => return Ok(()),
        Ok(meta) if !meta.is_file() => {
            return Err(WriteError::NotARegularFile {
                path: path.to_owned(),
            });
        }
        Ok(_) => {}
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(failed(path, "having its name removed", &error))
        }
        _ => Ok(()),
    }
}

impl Spool {
    /// Opens it beside the target.
    pub(crate) fn create(target: &Path) -> Result<Self, WriteError> {
        let path = sibling(target, &file_name(target)?, ".spool");
        for _ in 0..TRIES {
            match create_new(&path) {
                Ok(file) => {
                    remove(&path)?;
                    return Ok(Self { file, path });
                }
                // Another process has the name for a moment, or ended in it. Nobody needs it any more.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => remove(&path)?,
                Err(error) => return Err(not_created(&path, &error)),
            }
        }
        Err(WriteError::InUse { path })
    }

    /// Appends bytes.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.file
            .write_all(bytes)
            .map_err(|error| failed(&self.path, "being written", &error))
    }

    /// The position after everything written, from which another process continues.
    ///
    /// `gzip` is the compression level of the data.
    pub(crate) fn tail(&self, gzip: Option<GzipLevel>) -> Result<Tail, WriteError> {
        Tail::of(&self.file, &self.path, gzip)
    }

    /// All of it, if it has this many bytes.
    pub(crate) fn read_back(&self, expected_bytes: u64) -> Result<StoredDump<'_>, WriteError> {
        check_length(&self.file, &self.path, expected_bytes)?;
        Ok(StoredDump {
            file: &self.file,
            path: &self.path,
            bytes: expected_bytes,
        })
    }
}

/// A complete dump in a file without a name.
#[derive(Clone, Copy, Debug)]
pub struct StoredDump<'f> {
    file: &'f File,
    /// The path to name in messages.
    pub path: &'f Path,
    /// Its size.
    pub bytes: u64,
}

impl<'f> StoredDump<'f> {
    /// Starts to read it from its first byte. One reader at a time: all share one position.
    pub fn open(&self) -> io::Result<impl Read + use<'f>> {
        let mut file = self.file;
        file.rewind()?;
        Ok(file)
    }

    /// The error that it cannot be read back.
    pub fn unreadable(&self, reason: impl fmt::Display) -> WriteError {
        WriteError::Io {
            path: self.path.to_owned(),
            action: "being read back",
            reason: reason.to_string(),
        }
    }
}
