//! A file without a name: the system frees it when the process ends, in whatever way.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::failed;
use crate::part_file::{create_new, not_created};
use crate::sink::{check_length, file_name, sibling};
use crate::{GzipLevel, Tail, WriteError};

/// Stores bytes in a file without a name, to be read back when all are there.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    // The name that it had briefly.
    path: PathBuf,
}

/// Attempts at names that other processes use briefly.
const TRIES: u32 = 100;

/// Removes the file, if it exists. Errors: `NotARegularFile`, `Io`.
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
    /// Creates the file beside the target.
    pub(crate) fn create(target: &Path) -> Result<Self, WriteError> {
        let path = sibling(target, &file_name(target)?, ".spool");
        for _ in 0..TRIES {
            match create_new(&path) {
                Ok(file) => {
                    remove(&path)?;
                    return Ok(Self { file, path });
                }
                // Another process uses the name briefly, or died while it did. The file is not
                // needed.
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

    /// The whole dump, if the file has this many bytes.
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
    /// Reads it from its first byte. One reader at a time: all share one position.
    pub fn open(&self) -> io::Result<impl Read + use<'f>> {
        let mut file = self.file;
        file.rewind()?;
        Ok(file)
    }

    /// The error for data that cannot be read back.
    pub fn unreadable(&self, reason: impl fmt::Display) -> WriteError {
        WriteError::Io {
            path: self.path.to_owned(),
            action: "being read back",
            reason: reason.to_string(),
        }
    }
}
