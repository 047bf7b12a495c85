//! A sink that sends a dump to a process that waits for it on a socket of this machine, as it is made.

use std::fmt;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::tail::Tail;
use crate::{GzipLevel, Outlet, Sink, WriteError, Written};

/// A peer that takes nothing in this time is usually given up.
const SEND_LIMIT: Duration = Duration::from_secs(10);

/// The process that listens on a socket of this machine: takes a dump as it is made, never compressed.
#[derive(Clone, Debug)]
pub struct StreamOutlet {
    path: PathBuf,
    limit: Duration,
}

impl StreamOutlet {
    /// Gives the peer up only when it takes nothing for as long as this; 10 seconds otherwise.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Whoever listens on the socket at this path.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            limit: SEND_LIMIT,
        }
    }
}

impl Outlet for StreamOutlet {
    fn file(&self) -> Option<&Path> {
        None
    }

    fn gzip(&self) -> Option<GzipLevel> {
        None
    }

    fn sink(&self) -> Result<Box<dyn Sink>, WriteError> {
        Ok(Box::new(StreamSink::connect(&self.path, self.limit)?))
    }

    /// Beside the socket.
    fn spool_path(&self) -> PathBuf {
        self.path.clone()
    }
}

impl fmt::Display for StreamOutlet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(out)
    }
}

/// Sends what it gets at once, and keeps nothing. A peer that takes nothing for too long is given up.
#[derive(Debug)]
pub(crate) struct StreamSink {
    /// The same as `peer`, for its end.
    stream: UnixStream,
    peer: Tail,
    bytes: u64,
}

impl StreamSink {
    /// Connects to the socket at this path. Errors: `Refused`.
    pub(crate) fn connect(path: &Path, limit: Duration) -> Result<Self, WriteError> {
        let connected = UnixStream::connect(path).and_then(|stream| {
            stream.set_write_timeout(Some(limit))?;
            Ok((stream.try_clone()?, stream))
        });
        let (writing, stream) = connected.map_err(|error| {
            WriteError::Refused(format!(
                "the command that asked for it does not listen at {}: {error}",
                path.display()
            ))
        })?;
        Ok(Self {
            stream,
            peer: Tail::of_stream(writing.into(), path),
            bytes: 0,
        })
    }
}

impl Drop for StreamSink {
    /// Ends the stream, whole or not, though a forked child may hold it for as long as it takes to end.
    fn drop(&mut self) {
        // The peer may have ended it.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Sink for StreamSink {
    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.peer.append(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        Ok(())
    }

    fn tail(&self) -> Result<Tail, WriteError> {
        self.peer.duplicate()
    }

    fn commit(self: Box<Self>, tail_bytes: u64) -> Result<Written, WriteError> {
        Ok(Written {
            path: PathBuf::from(self.peer.path()),
            bytes: self.bytes.saturating_add(tail_bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{start_worker, Deliver, DumpFile, StreamOutlet, TailWriter, WriteError};
    use std::io::Read;
    use std::os::unix::net::UnixListener;
    use std::thread;

    #[test]
    fn the_peer_gets_head_and_tail() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let peer = thread::spawn(move || {
            let mut all = Vec::new();
            listener.accept().unwrap().0.read_to_end(&mut all).unwrap();
            all
        });
        let dump = DumpFile::create(&StreamOutlet::new(path)).unwrap();
        dump.head(b"head".to_vec()).unwrap();
        dump.flush().unwrap();
        let tail = TailWriter::start(dump.tail().unwrap(), 1, start_worker).unwrap();
        // Zeros are no holes here.
        tail.sender().deliver(vec![0; 1 << 20]).unwrap();
        let bytes = tail.finish().unwrap();
        assert_eq!(dump.finish_with_tail(bytes).unwrap().bytes, 4 + bytes);
        let all = peer.join().unwrap();
        assert_eq!(all.len() as u64, 4 + bytes);
        assert!(all.starts_with(b"head\0\0") && all.ends_with(&[0x2C, 0, 0, 0, 0, 0, 0, 0, 0]));
    }

    #[test]
    fn a_peer_that_is_gone_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let dump = DumpFile::create(&StreamOutlet::new(path.clone())).unwrap();
        drop(listener);
        dump.head(vec![1; 4 << 20]).unwrap();
        let error = dump.flush().unwrap_err();
        assert!(matches!(error, WriteError::Refused(_)), "{error}");
        assert!(DumpFile::create(&StreamOutlet::new(path)).is_err());
    }
}
