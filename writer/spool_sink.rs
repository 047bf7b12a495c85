//! A sink that stores a dump until it is complete, and then passes it on: to a connection, or to
//! the conversion to text.

use std::fmt;
use std::path::Path;

use crate::spool::{Spool, StoredDump};
use crate::{GzipLevel, Sink, Tail, WriteError, Written};

/// Receives a complete dump.
pub type HandOn = Box<dyn FnOnce(StoredDump<'_>) -> Result<Written, WriteError> + Send>;

/// Stores the dump in a file without a name, and passes it on at the commit.
///
/// So neither a pause nor a forked child waits for a peer or for the conversion to text: only the
/// thread that requested the dump does.
pub struct SpoolSink {
    dump: Spool,
    gzip: Option<GzipLevel>,
    bytes: u64,
    hand_on: HandOn,
}

impl SpoolSink {
    /// Creates the file beside this path. `gzip` is the compression level of the data. Errors:
    /// those of a file.
    pub fn create(
        path: &Path,
        gzip: Option<GzipLevel>,
        hand_on: HandOn,
    ) -> Result<Self, WriteError> {
        Ok(Self {
            dump: Spool::create(path)?,
            gzip,
            bytes: 0,
            hand_on,
        })
    }
}

impl fmt::Debug for SpoolSink {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SpoolSink")
            .field("dump", &self.dump)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl Sink for SpoolSink {
    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.dump.append(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn tail(&self) -> Result<Tail, WriteError> {
        self.dump.tail(self.gzip)
    }

    fn commit(self: Box<Self>, tail_bytes: u64) -> Result<Written, WriteError> {
        let bytes = self.bytes.saturating_add(tail_bytes);
        (self.hand_on)(self.dump.read_back(bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{start_worker, Deliver, DumpFile, TailWriter};
    use std::io::Read;
    use std::sync::mpsc::channel;

    /// The bytes passed on of the dump that `write` makes; `None` if it is not passed on.
    fn handed_on(write: impl FnOnce(DumpFile)) -> Option<Vec<u8>> {
        let directory = tempfile::tempdir().unwrap();
        let (tell, told) = channel();
        let hand_on = move |dump: StoredDump<'_>| {
            // Twice, as the conversion to text reads it.
            for _ in 0..2 {
                let mut all = Vec::new();
                dump.open().unwrap().read_to_end(&mut all).unwrap();
                assert_eq!(all.len() as u64, dump.bytes);
                tell.send(all).unwrap();
            }
            let path = dump.path.to_owned();
            let bytes = dump.bytes;
            Ok(Written { path, bytes })
        };
        let path = directory.path().join("a");
        let sink = SpoolSink::create(&path, None, Box::new(hand_on)).unwrap();
        write(DumpFile::with_sink(Box::new(sink), start_worker).unwrap());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        let all = told.recv().ok()?;
        assert_eq!(told.recv(), Ok(all.clone()));
        Some(all)
    }

    #[test]
    fn what_is_handed_on_is_whole() {
        let all = handed_on(|file| {
            file.head(b"head ".to_vec()).unwrap();
            file.objects_sender().deliver(b"objects".to_vec()).unwrap();
            let written = file.finish().unwrap();
            assert!(written.path.ends_with("a.spool"));
        });
        assert_eq!(all.unwrap(), b"head objects\x2C\0\0\0\0\0\0\0\0");
    }

    #[test]
    fn others_may_write_the_tail() {
        let all = handed_on(|file| {
            file.head(b"head ".to_vec()).unwrap();
            file.flush().unwrap();
            let tail = TailWriter::start(file.tail().unwrap(), 1, start_worker).unwrap();
            tail.sender().deliver(b"tail".to_vec()).unwrap();
            let bytes = tail.finish().unwrap();
            file.finish_with_tail(bytes).unwrap();
        });
        assert_eq!(all.unwrap(), b"head tail\x2C\0\0\0\0\0\0\0\0");
    }

    #[test]
    fn what_is_given_up_or_has_another_size_is_not_handed_on() {
        assert_eq!(handed_on(drop), None);
        let all = handed_on(|file| {
            file.head(b"head".to_vec()).unwrap();
            let error = file.finish_with_tail(1).unwrap_err();
            assert!(matches!(error, WriteError::WrongSize { .. }));
        });
        assert_eq!(all, None);
    }
}
