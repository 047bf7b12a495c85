//! A sink that sends a dump to its reader while it is made, through a local socket or another
//! stream.

use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::net::Shutdown;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::stream::Stream;
use crate::tail::Tail;
use crate::{GzipLevel, Outlet, Patience, Sink, WriteError, Written};

/// The reader of a stream. Dropping it, while the stream is still open, signals that the bytes so
/// far are no dump.
pub trait Reader: fmt::Debug + Send {
    /// Called when everything was sent and this process has closed the stream. Returns when the
    /// reader is done, within its limits.
    fn finish(self: Box<Self>) -> Result<(), WriteError>;
}

/// Connects to a reader.
pub trait Way: fmt::Debug + Send + Sync {
    /// Opens a stream and returns its non-blocking end. Errors: `Refused`.
    fn reach(&self) -> Result<(OwnedFd, Box<dyn Reader>), WriteError>;

    /// Whether a new stream may be opened after a reader got part of a dump.
    fn can_begin_anew(&self) -> bool;

    /// The reader's name, as the start of a sentence.
    fn reader(&self) -> String;

    /// The name in dumps and messages.
    fn name(&self) -> PathBuf;

    /// The path beside which HotSpot's own dumper may write its file; `None` for the system's
    /// folder for temporary files.
    fn spool_path(&self) -> Option<PathBuf> {
        None
    }
}

/// A stream that was opened for one dump.
#[derive(Debug)]
struct Reached {
    /// Declared first, so that it is dropped before the stream is closed.
    reader: Box<dyn Reader>,
    end: OwnedFd,
    stream: Stream,
    /// Whether anything was sent.
    has_begun: bool,
}

type Shared = Arc<Mutex<Option<Reached>>>;

/// Sends one dump to a reader while it is made. All attempts share a stream as long as nothing was
/// sent.
#[derive(Debug)]
pub struct StreamOutlet {
    way: Box<dyn Way>,
    patience: Patience,
    gzip: Option<GzipLevel>,
    reached: Shared,
}

impl StreamOutlet {
    /// An outlet for the reader that `way` connects to. `gzip` is the compression level.
    pub fn new(way: Box<dyn Way>, patience: Patience, gzip: Option<GzipLevel>) -> Self {
        Self {
            way,
            patience,
            gzip,
            reached: Shared::default(),
        }
    }

    /// An outlet for the process that listens on the socket at this path. Other users may write to
    /// its folder, so `is_ours` checks the socket; its error is the end of a sentence.
    pub fn to_socket(path: PathBuf, is_ours: IsOurs, patience: Patience) -> Self {
        Self::new(Box::new(Socket { path, is_ours }), patience, None)
    }
}

impl Outlet for StreamOutlet {
    fn gzip(&self) -> Option<GzipLevel> {
        self.gzip
    }

    fn sink(&self) -> Result<Box<dyn Sink>, WriteError> {
        let mut reached = lock(&self.reached);
        if reached.as_ref().is_some_and(|it| it.has_begun) {
            if !self.way.can_begin_anew() {
                return Err(WriteError::Refused(format!(
                    "{} received a part of a dump that must be sent again; restart the reader, then the dump",
                    self.way.reader()
                )));
            }
            // The old stream is closed before the new one is opened.
            *reached = None;
        }
        let opened = match &*reached {
            Some(opened) => opened,
            None => {
                let (end, reader) = self.way.reach()?;
                let stream = Stream::new(&self.way.reader(), self.patience);
                reached.insert(Reached {
                    reader,
                    end,
                    stream,
                    has_begun: false,
                })
            }
        };
        let end = opened.end.try_clone().map_err(|error| {
            WriteError::Refused(format!(
                "{} cannot be written to: {error}",
                self.way.reader()
            ))
        })?;
        let path = self.way.name();
        let peer = Tail::of_stream(File::from(end), opened.stream.clone(), &path, self.gzip);
        Ok(Box::new(StreamSink {
            peer,
            bytes: 0,
            reached: Arc::clone(&self.reached),
        }))
    }

    fn spool_path(&self) -> PathBuf {
        self.way
            .spool_path()
            .unwrap_or_else(crate::outlet::temporary)
    }
}

impl fmt::Display for StreamOutlet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.way.name().display().fmt(out)
    }
}

/// Sends bytes immediately, and stores nothing.
#[derive(Debug)]
struct StreamSink {
    peer: Tail,
    bytes: u64,
    reached: Shared,
}

impl Sink for StreamSink {
    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        if self.bytes == 0 {
            if let Some(reached) = &mut *lock(&self.reached) {
                reached.has_begun = true;
            }
        }
        self.peer.append(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn tail(&self) -> Result<Tail, WriteError> {
        self.peer.duplicate()
    }

    fn commit(self: Box<Self>, tail_bytes: u64) -> Result<Written, WriteError> {
        let written = Written {
            path: PathBuf::from(self.peer.path()),
            bytes: self.bytes.saturating_add(tail_bytes),
        };
        let Self { peer, reached, .. } = *self;
        drop(peer);
        let reached = lock(&reached).take();
        if let Some(Reached { reader, end, .. }) = reached {
            drop(end);
            reader.finish()?;
        }
        Ok(written)
    }
}

fn lock(reached: &Shared) -> MutexGuard<'_, Option<Reached>> {
    reached.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks by the path and the metadata of an open file whether it belongs to the user. The error is
/// the end of a sentence.
pub type IsOurs = fn(&Path, &Metadata) -> io::Result<()>;

/// Connects to the process that listens on the socket at this path.
#[derive(Debug)]
struct Socket {
    path: PathBuf,
    is_ours: IsOurs,
}

impl Socket {
    /// Connects to the file that was checked, even if its name now belongs to another file.
    fn connect(&self) -> io::Result<UnixStream> {
        let mut options = OpenOptions::new();
        let flags = libc::O_PATH | libc::O_NOFOLLOW;
        let held = options.read(true).custom_flags(flags).open(&self.path)?;
        let facts = held.metadata()?;
        if !facts.file_type().is_socket() {
            return Err(io::Error::other("it is no socket"));
        }
        (self.is_ours)(&self.path, &facts)?;
        let stream = UnixStream::connect(format!("/proc/self/fd/{}", held.as_raw_fd()))?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    }
}

impl Way for Socket {
    fn reach(&self) -> Result<(OwnedFd, Box<dyn Reader>), WriteError> {
        let connected = self
            .connect()
            .and_then(|stream| Ok((stream.try_clone()?, stream)));
        let (end, stream) = connected.map_err(|error| {
            WriteError::Refused(format!(
                "{} does not listen at {}: {error}",
                self.reader(),
                self.path.display()
            ))
        })?;
        Ok((end.into(), Box::new(Listener(stream))))
    }

    fn can_begin_anew(&self) -> bool {
        true
    }

    fn reader(&self) -> String {
        "the command that asked for it".to_owned()
    }

    fn name(&self) -> PathBuf {
        self.path.clone()
    }

    /// Beside the socket.
    fn spool_path(&self) -> Option<PathBuf> {
        Some(self.path.clone())
    }
}

/// The process at the other end of a socket.
#[derive(Debug)]
struct Listener(UnixStream);

impl Reader for Listener {
    fn finish(self: Box<Self>) -> Result<(), WriteError> {
        Ok(())
    }
}

impl Drop for Listener {
    /// Ends the stream, complete or not, even while a forked child still holds the descriptor.
    fn drop(&mut self) {
        // Fails if the peer has ended it already.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{start_worker, Deliver, DumpFile, TailWriter};
    use std::io::Read;
    use std::os::unix::net::UnixListener;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;
    use std::time::Duration;

    fn patience(silence: Duration, total: Duration) -> Patience {
        Patience {
            silence,
            total,
            wait: |_, _| thread::yield_now(),
        }
    }

    fn patient() -> Patience {
        patience(Duration::from_secs(60), Duration::from_secs(60))
    }

    const OURS: IsOurs = |_, _| Ok(());

    #[test]
    fn what_somebody_else_listens_at_gets_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _listener = UnixListener::bind(&path).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let theirs: IsOurs = |_, _| Err(io::Error::other("theirs"));
        for (path, is_ours, why) in [(&path, theirs, "theirs"), (&link, OURS, "it is no socket")] {
            let outlet = StreamOutlet::to_socket(path.clone(), is_ours, patient());
            let refused = DumpFile::create(&outlet).unwrap_err().to_string();
            assert!(refused.ends_with(&format!(": {why}")), "{refused}");
        }
    }

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
        let dump = DumpFile::create(&StreamOutlet::to_socket(path, OURS, patient())).unwrap();
        dump.head(b"head".to_vec()).unwrap();
        dump.flush().unwrap();
        let tail = TailWriter::start(dump.tail().unwrap(), 1, start_worker).unwrap();
        // Zeros do not become holes here.
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
        let outlet = StreamOutlet::to_socket(path.clone(), OURS, patient());
        let dump = DumpFile::create(&outlet).unwrap();
        drop(listener);
        dump.head(vec![1; 4 << 20]).unwrap();
        let error = dump.flush().unwrap_err();
        assert!(matches!(error, WriteError::Refused(_)), "{error}");
        assert!(DumpFile::create(&StreamOutlet::to_socket(path, OURS, patient())).is_err());
    }

    /// A way to a reader that counts how its readers end.
    #[derive(Debug, Default)]
    struct Counted {
        peers: Arc<Mutex<Vec<UnixStream>>>,
        left: Arc<AtomicU32>,
        done: Arc<AtomicU32>,
        can_begin_anew: bool,
    }

    #[derive(Debug)]
    struct CountedReader {
        left: Arc<AtomicU32>,
        done: Arc<AtomicU32>,
    }

    impl Reader for CountedReader {
        fn finish(self: Box<Self>) -> Result<(), WriteError> {
            self.done.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    }

    impl Drop for CountedReader {
        fn drop(&mut self) {
            self.left.fetch_add(1, Ordering::SeqCst);
        }
    }

    impl Way for Counted {
        fn reach(&self) -> Result<(OwnedFd, Box<dyn Reader>), WriteError> {
            let (ours, theirs) = UnixStream::pair().unwrap();
            ours.set_nonblocking(true).unwrap();
            self.peers.lock().unwrap().push(theirs);
            let reader = CountedReader {
                left: Arc::clone(&self.left),
                done: Arc::clone(&self.done),
            };
            Ok((ours.into(), Box::new(reader)))
        }

        fn can_begin_anew(&self) -> bool {
            self.can_begin_anew
        }

        fn reader(&self) -> String {
            "the reader".to_owned()
        }

        fn name(&self) -> PathBuf {
            "reader".into()
        }
    }

    #[test]
    fn attempts_share_a_stream_until_one_has_begun() {
        for can_begin_anew in [false, true] {
            let way = Counted {
                can_begin_anew,
                ..Counted::default()
            };
            let (peers, left, done) = (
                Arc::clone(&way.peers),
                Arc::clone(&way.left),
                Arc::clone(&way.done),
            );
            let outlet = StreamOutlet::new(Box::new(way), patient(), None);
            drop(outlet.sink().unwrap());
            outlet.sink().unwrap().write(b"part").unwrap();
            assert_eq!(peers.lock().unwrap().len(), 1);
            match outlet.sink() {
                Ok(mut sink) if can_begin_anew => {
                    sink.write(b"whole").unwrap();
                    assert_eq!(sink.commit(0).unwrap().bytes, 5);
                    let mut all = String::new();
                    peers.lock().unwrap()[1].read_to_string(&mut all).unwrap();
                    assert_eq!((all.as_str(), done.load(Ordering::SeqCst)), ("whole", 1));
                }
                Err(WriteError::Refused(why)) if !can_begin_anew => {
                    assert!(why.contains("must be sent again"), "{why}");
                    assert_eq!(left.load(Ordering::SeqCst), 0, "the stream is still open");
                    drop(outlet);
                    assert_eq!(
                        (left.load(Ordering::SeqCst), done.load(Ordering::SeqCst)),
                        (1, 0)
                    );
                }
                other => panic!("{:?}", other.map(drop)),
            }
        }
    }

    #[test]
    fn a_reader_that_stalls_or_drips_is_given_up() {
        let (second, long) = (Duration::from_millis(300), Duration::from_secs(60));
        for (patience, drips, reason) in [
            (patience(second, long), false, "has taken nothing for"),
            (
                patience(long, second),
                true,
                "has not taken the whole dump in",
            ),
        ] {
            let way = Counted::default();
            let peers = Arc::clone(&way.peers);
            let outlet = StreamOutlet::new(Box::new(way), patience, None);
            let mut sink = outlet.sink().unwrap();
            let mut peer = peers.lock().unwrap().pop().unwrap();
            let reader = thread::spawn(move || {
                while drips && peer.read(&mut [0; 64]).unwrap() > 0 {}
                peer
            });
            let error = (0..1000).find_map(|_| sink.write(&[1; 1 << 20]).err());
            drop((sink, outlet));
            reader.join().unwrap();
            let error = error.unwrap().to_string();
            assert!(
                error.starts_with("the reader ") && error.contains(reason),
                "{error}"
            );
        }
    }

    #[test]
    fn a_stream_may_be_compressed() {
        let way = Counted::default();
        let peers = Arc::clone(&way.peers);
        let outlet = StreamOutlet::new(Box::new(way), patient(), GzipLevel::new(1));
        let dump = DumpFile::create(&outlet).unwrap();
        dump.head(b"head".to_vec()).unwrap();
        dump.flush().unwrap();
        let tail = TailWriter::start(dump.tail().unwrap(), 1, start_worker).unwrap();
        assert!(tail.is_compressed());
        tail.sender().deliver(vec![7; 1 << 20]).unwrap();
        let bytes = tail.finish().unwrap();
        dump.finish_with_tail(bytes).unwrap();
        let mut all = Vec::new();
        peers.lock().unwrap()[0].read_to_end(&mut all).unwrap();
        let (blocks, _) = crate::gzip::tests::members(&all);
        let plain = blocks.concat();
        assert!(plain.starts_with(b"head\x07") && plain.len() == 4 + (1 << 20) + 9);
    }
}
