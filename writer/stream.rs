//! The end of a stream to which a dump is written while it is made. Every wait for the reader has a
//! limit.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::WriteError;

/// Longest wait of one call before the limits are checked.
const ONE_WAIT: Duration = Duration::from_secs(1);

/// Returns when a descriptor is writable, has lost its reader, or the time is over.
pub type AwaitRoom = fn(BorrowedFd<'_>, Duration);

/// The limits for the reader of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// The longest time without progress.
    pub silence: Duration,
    /// The longest time for a whole dump, counted from its start.
    pub total: Duration,
    /// Waits for the descriptor.
    pub wait: AwaitRoom,
}

/// Writes to a non-blocking descriptor, and gives up if the reader is too slow. For any thread and
/// process.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    /// The reader's name, as the start of a sentence.
    reader: Arc<str>,
    patience: Patience,
    /// When the reader must have accepted everything.
    deadline: Instant,
}

impl Stream {
    /// A stream for a dump that begins now.
    pub(crate) fn new(reader: &str, patience: Patience) -> Self {
        let now = Instant::now();
        Self {
            reader: reader.into(),
            patience,
            deadline: now.checked_add(patience.total).unwrap_or(now),
        }
    }

    /// Writes all bytes, and reports the size of each write. Errors: `Refused`.
    pub(crate) fn send(
        &self,
        file: &mut File,
        mut bytes: &[u8],
        sent: &mut dyn FnMut(usize),
    ) -> Result<(), WriteError> {
        let mut taken = Instant::now();
        while !bytes.is_empty() {
            match file.write(bytes) {
                Ok(0) => return Err(self.refused("takes no more")),
                Ok(count) => {
                    bytes = bytes.get(count..).unwrap_or_default();
                    sent(count);
                    taken = Instant::now();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    (self.patience.wait)(file.as_fd(), ONE_WAIT);
                }
                Err(error) => return Err(self.refused(&format!("takes no more: {error}"))),
            }
            self.check(taken)?;
        }
        Ok(())
    }

    /// An error if the reader has accepted nothing since `taken` for too long, or if the total time
    /// is over.
    fn check(&self, taken: Instant) -> Result<(), WriteError> {
        let Patience { silence, total, .. } = self.patience;
        if Instant::now() >= self.deadline {
            let seconds = total.as_secs();
            return Err(self.refused(&format!(
                "has not taken the whole dump in {seconds} s; give it more time with timeout="
            )));
        }
        if taken.elapsed() >= silence {
            let seconds = silence.as_secs();
            return Err(self.refused(&format!("has taken nothing for {seconds} s (timeout=)")));
        }
        Ok(())
    }

    fn refused(&self, what: &str) -> WriteError {
        WriteError::Refused(format!("{} {what}", self.reader))
    }
}
