//! The end of a stream to which a dump is written as it is made. Every wait for who reads it has a limit.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::WriteError;

/// How long one call waits before the limits are checked.
const ONE_WAIT: Duration = Duration::from_secs(1);

/// Returns when a descriptor takes bytes, has lost its reader, or when this time is over.
pub type AwaitRoom = fn(BorrowedFd<'_>, Duration);

/// How long who reads may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// The longest time in which nothing is taken.
    pub silence: Duration,
    /// The longest time for a whole dump, from its first byte's way on.
    pub total: Duration,
    /// How to wait.
    pub wait: AwaitRoom,
}

/// Writes to a descriptor that does not block, and gives up who takes too long. For any thread and process.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    /// Who reads, as the start of a sentence.
    reader: Arc<str>,
    patience: Patience,
    /// When all must have been taken.
    deadline: Instant,
}

impl Stream {
    /// For a dump that begins now.
    pub(crate) fn new(reader: &str, patience: Patience) -> Self {
        let now = Instant::now();
        Self {
            reader: reader.into(),
            patience,
            deadline: now.checked_add(patience.total).unwrap_or(now),
        }
    }

    /// Writes all bytes, and tells how many at a time. Errors: `Refused`.
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

    /// An error if who reads has taken nothing since this moment for too long, or has had all the time there is.
    fn check(&self, taken: Instant) -> Result<(), WriteError> {
        let Patience { silence, total, .. } = self.patience;
        if Instant::now() >= self.deadline {
            let seconds = total.as_secs();
            return Err(self.refused(&format!(
                "has not taken the whole dump in {seconds} s; give it more time with within="
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
