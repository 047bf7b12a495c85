//! The tail of a dump: what a forked child writes after the head that its parent wrote.
//!
//! Everything here is created after the fork: threads, channel, locks of the standard library. The
//! child uses nothing of the parent's [`DumpFile`] except the [`Tail`]. The parent syncs and
//! renames the file.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use crossbeam_channel::{bounded, Receiver, Sender};

use crate::gzip_sink::GzipSink;
use crate::{Deliver, DumpFile, ObjectsSender, Sink, StartWorker, Tail, WriteError, Written};

/// The turn that one sender has at a time: its message is the only one in the channel.
type Turn = (Sender<()>, Receiver<()>);

/// The tail that is being written.
///
/// Any thread may hold it and its senders. Dropping it waits for its thread and leaves a tail
/// without an end.
#[derive(Debug)]
pub struct TailWriter {
    // A dump whose sink appends to a file that the parent began.
    dump: DumpFile,
    turn: Turn,
    bytes: Arc<AtomicU64>,
    is_compressed: bool,
}

impl TailWriter {
    /// Starts the writer thread and, for a compressed dump, `threads` compressing threads.
    /// `start_worker` starts threads the way a forked child must.
    ///
    /// Errors: `NoThread`, `NoMemory`.
    pub fn start(
        tail: Tail,
        compress_threads: usize,
        start_worker: StartWorker,
    ) -> Result<Self, WriteError> {
        let bytes = Arc::default();
        let level = tail.gzip();
        let sink = TailSink {
            tail,
            bytes: Arc::clone(&bytes),
        };
        let sink: Box<dyn Sink> = match level {
            Some(level) => Box::new(GzipSink::start(
                Box::new(sink),
                level,
                compress_threads,
                start_worker,
                false,
            )?),
            None => Box::new(sink),
        };
        Ok(Self {
            dump: DumpFile::with_sink(sink, start_worker)?,
            turn: bounded(1),
            bytes,
            is_compressed: level.is_some(),
        })
    }

    /// A handle through which a walker delivers its segments; may be cloned and moved.
    pub fn sender(&self) -> TailSender {
        TailSender {
            objects: self.dump.objects_sender(),
            turn: self.turn.clone(),
            holds: false,
        }
    }

    /// Whether delivered bytes are compressed. Then it matters which records are neighbours.
    pub fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    /// Bytes written to the file so far, up to a megabyte ahead of it; compressed bytes if it is
    /// compressed. For progress reports.
    pub fn bytes_written(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns when all delivered bytes are in the file, or accepted by the reader of the stream.
    /// The error is the thread's first one.
    pub fn flush(&self) -> Result<(), WriteError> {
        self.dump.flush()
    }

    /// Writes everything in progress and the end record, and waits until all is in the file.
    ///
    /// Returns the bytes of the tail, for [`DumpFile::finish_with_tail`]. The error is the thread's
    /// first one. Senders get an error afterwards.
    pub fn finish(self) -> Result<u64, WriteError> {
        Ok(self.dump.finish()?.bytes)
    }
}

/// Delivers segments to a [`TailWriter`]'s thread. For any thread; each walker has its own.
///
/// Blocks while the channel is full, and while another clone holds the turn. Returns the writer's
/// first error once there is one. Buffers delivered between [`Deliver::hold`] and
/// [`Deliver::release`] are contiguous in the file.
#[derive(Debug)]
pub struct TailSender {
    objects: ObjectsSender,
    turn: Turn,
    holds: bool,
}

impl Clone for TailSender {
    /// A sender that does not hold the turn.
    fn clone(&self) -> Self {
        Self {
            objects: self.objects.clone(),
            turn: self.turn.clone(),
            holds: false,
        }
    }
}

impl Deliver for TailSender {
    fn buffer(&mut self, bytes: usize) -> Result<Vec<u8>, WriteError> {
        self.objects.buffer(bytes)
    }

    fn deliver(&mut self, bytes: Vec<u8>) -> Result<(), WriteError> {
        if self.holds {
            return self.objects.deliver(bytes);
        }
        self.hold();
        let delivered = self.objects.deliver(bytes);
        self.release();
        delivered
    }

    fn hold(&mut self) {
        if !self.holds {
            // Waits while another sender has the turn.
            let _ = self.turn.0.send(());
            self.holds = true;
        }
    }

    fn release(&mut self) {
        if self.holds {
            self.holds = false;
            let _ = self.turn.1.try_recv();
        }
    }
}

impl Drop for TailSender {
    fn drop(&mut self) {
        // A walker that panicked between two pieces must not block the others.
        self.release();
    }
}

/// Appends all bytes to the tail.
struct TailSink {
    tail: Tail,
    bytes: Arc<AtomicU64>,
}

impl Sink for TailSink {
    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let total = &self.bytes;
        self.tail.append_telling(bytes, &mut |taken| {
            total.fetch_add(taken as u64, Ordering::Relaxed);
        })
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.tail.flush()
    }

    fn tail(&self) -> Result<Tail, WriteError> {
        self.tail.duplicate()
    }

    fn commit(mut self: Box<Self>, tail_bytes: u64) -> Result<Written, WriteError> {
        self.tail.flush()?;
        Ok(Written {
            path: self.tail.path().to_owned(),
            bytes: self.bytes.load(Ordering::Relaxed) + tail_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GzipLevel;
    use std::fs::{self, File};
    use std::io::{Seek, SeekFrom};
    use std::path::Path;
    use std::thread;

    fn tail_of(path: &Path, gzip: Option<GzipLevel>) -> Tail {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path);
        let mut file = file.unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        Tail::of(&file, path, gzip).unwrap()
    }

    /// The tail that `write` makes, without the end record.
    fn written(write: impl FnOnce(&TailWriter)) -> Vec<u8> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.hprof.part");
        let writer = TailWriter::start(tail_of(&path, None), 1, crate::start_worker).unwrap();
        write(&writer);
        let bytes = writer.finish().unwrap();
        let mut file = fs::read(&path).unwrap();
        assert_eq!(file.len() as u64, bytes);
        let end = file.split_off(file.len() - 9);
        assert_eq!(end, [0x2C, 0, 0, 0, 0, 0, 0, 0, 0]);
        file
    }

    #[test]
    fn what_is_held_stands_together() {
        const WALKERS: u8 = 4;
        const ROUNDS: usize = 300;
        let file = written(|writer| {
            let deliver = |mut sender: TailSender, walker: u8| {
                for _ in 0..ROUNDS {
                    sender.deliver(vec![walker]).unwrap();
                    sender.hold();
                    for piece in 0..3 {
                        sender.deliver(vec![walker, piece]).unwrap();
                        thread::yield_now();
                    }
                    sender.release();
                }
            };
            thread::scope(|scope| {
                // Numbers that the pieces do not use.
                for walker in 10..10 + WALKERS {
                    let sender = writer.sender();
                    scope.spawn(move || deliver(sender, walker));
                }
            });
        });
        assert_eq!(file.len(), usize::from(WALKERS) * ROUNDS * 7);
        let mut rest = &file[..];
        while let Some(&walker) = rest.first() {
            let together = [walker, 0, walker, 1, walker, 2];
            rest = rest.strip_prefix(&together).unwrap_or(&rest[1..]);
            assert!(rest.first().is_none_or(|&byte| byte >= 10), "torn apart");
        }
    }

    #[test]
    fn a_holder_that_is_gone_holds_nobody_up() {
        let file = written(|writer| {
            let mut sender = writer.sender();
            sender.hold();
            // A second hold has no effect, nor has one through a clone.
            sender.hold();
            let mut other = sender.clone();
            sender.deliver(b"one ".to_vec()).unwrap();
            drop(sender);
            other.release();
            other.deliver(b"two".to_vec()).unwrap();
        });
        assert_eq!(file, b"one two");
    }

    #[test]
    fn the_counter_tells_what_is_in_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.hprof.part");
        let writer = TailWriter::start(tail_of(&path, None), 1, crate::start_worker).unwrap();
        assert_eq!(writer.bytes_written(), 0);
        writer.sender().deliver(vec![1; 100]).unwrap();
        writer.dump.flush().unwrap();
        assert_eq!(writer.bytes_written(), 100);
        assert_eq!(writer.finish(), Ok(109));
    }

    #[test]
    fn a_buffer_that_was_written_is_given_out_again() {
        let mut place = std::ptr::null();
        let file = written(|writer| {
            let mut sender = writer.sender();
            let mut bytes = sender.buffer(1000).unwrap();
            bytes.extend(b"one ");
            place = bytes.as_ptr();
            sender.deliver(bytes).unwrap();
            // The writer returns the buffer before it handles this.
            writer.dump.flush().unwrap();
            let mut again = sender.clone().buffer(900).unwrap();
            assert!(again.is_empty() && again.capacity() >= 900);
            assert_eq!(again.as_ptr(), place);
            again.extend(b"two");
            sender.deliver(again).unwrap();
            let larger = sender.buffer(5000).unwrap();
            assert!(larger.is_empty() && larger.capacity() >= 5000);
        });
        assert_eq!(file, b"one two");
    }

    #[test]
    fn a_full_disk_is_told_to_every_walker() {
        for gzip in [None, GzipLevel::new(1)] {
            let full = Path::new("/dev/full");
            let writer = TailWriter::start(tail_of(full, gzip), 2, crate::start_worker).unwrap();
            let mut senders = [writer.sender(), writer.sender()];
            let errors = senders.each_mut().map(|sender| {
                let mut tries = (0..100).map(|_| sender.deliver(vec![1; 1 << 20]));
                tries.find_map(Result::err).unwrap()
            });
            assert!(
                matches!(&errors[0], WriteError::Io { reason, .. } if reason.contains("No space"))
            );
            assert_eq!(errors[0], errors[1]);
            assert_eq!(writer.bytes_written(), 0);
            assert_eq!(writer.finish().as_ref(), Err(&errors[0]));
        }
    }
}
