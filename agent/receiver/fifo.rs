//! A named pipe that another process reads.

use std::fs::{metadata, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use writer::{Reader, Way, WriteError};

/// How long a dump waits for a reader.
const READER_LIMIT: Duration = Duration::from_secs(10);
/// Time between two looks for one.
const LOOK: Duration = Duration::from_millis(20);

/// Whether there is a named pipe at this path.
pub(crate) fn is_fifo(path: &Path) -> bool {
    metadata(path).is_ok_and(|meta| meta.file_type().is_fifo())
}

/// The pipe at this path.
#[derive(Debug)]
pub(super) struct Fifo(pub(super) PathBuf);

impl Fifo {
    /// Opens it once somebody reads it; without a reader, opening it would block.
    fn open(&self) -> io::Result<OwnedFd> {
        let began = Instant::now();
        let mut options = OpenOptions::new();
        options.write(true).custom_flags(libc::O_NONBLOCK);
        loop {
            match options.open(&self.0) {
                Ok(file) if file.metadata()?.file_type().is_fifo() => return Ok(file.into()),
                Ok(_) => return Err(io::Error::other("it is no pipe any more")),
                Err(error) if error.raw_os_error() != Some(libc::ENXIO) => return Err(error),
                Err(_) if began.elapsed() >= READER_LIMIT => {
                    let seconds = READER_LIMIT.as_secs();
                    return Err(io::Error::other(format!(
                        "nobody has opened it to read for {seconds} s"
                    )));
                }
                Err(_) => sleep(LOOK),
            }
        }
    }
}

impl Way for Fifo {
    fn reach(&self) -> Result<(OwnedFd, Box<dyn Reader>), WriteError> {
        let opened = self.open().map_err(|error| {
            WriteError::Refused(format!(
                "the pipe {} cannot be written to: {error}; start its reader, then the dump",
                self.0.display()
            ))
        })?;
        Ok((opened, Box::new(FifoReader)))
    }

    /// A reader sees the end of the first part as the end of all.
    fn can_begin_anew(&self) -> bool {
        false
    }

    fn reader(&self) -> String {
        format!("the reader of the pipe {}", self.0.display())
    }

    fn name(&self) -> PathBuf {
        self.0.clone()
    }

    fn spool_path(&self) -> Option<PathBuf> {
        None
    }
}

/// A reader that tells nothing, and that can be told nothing but the end.
#[derive(Debug)]
struct FifoReader;

impl Reader for FifoReader {
    fn finish(self: Box<Self>) -> Result<(), WriteError> {
        Ok(())
    }
}
