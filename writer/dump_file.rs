//! A dump on its way to disk, and the only thread that writes it.
//!
//! The thread is an ordinary thread of the operating system. It is never attached to the JVM and
//! takes no lock of a table, so it may run while every Java thread is stopped at a safepoint.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crossbeam_channel::{bounded, Receiver, RecvTimeoutError, Sender};

use crate::joined_segments::JoinedSegments;
use crate::message::{Message, Reply};
use crate::record;
use crate::segment::{buffer_of, emptied};
use crate::worker::{self, StartWorker, Worker};
use crate::{start_worker, Deliver, Outlet, Sink, Tail, WriteError, Written};
use format::record::{HeapDumpEnd, Record};

/// The most buffers in transit: 2 MiB of segments. Enough that the writer need not wait for the
/// threads that fill them, and few enough that a returned buffer is still in the caches (unless it
/// was compressed).
const CHANNEL_BUFFERS: usize = 8;

/// Interval at which a waiting caller checks whether the writer thread has ended.
const LOOK: Duration = Duration::from_millis(20);

/// The writer thread's first error, for all later senders.
type FirstError = Arc<OnceLock<WriteError>>;

/// One dump file that is being written.
///
/// Any thread may hold it and its senders. Dropping it is like [`DumpFile::abandon`].
#[derive(Debug)]
pub struct DumpFile {
    messages: Sender<Message>,
    first_error: FirstError,
    written: Receiver<Vec<u8>>,
    thread: Option<Box<dyn Worker>>,
    result: Receiver<Result<Written, WriteError>>,
}

/// Records that the writer thread has ended, in whatever way, for callers that wait for its answer.
struct Ending(FirstError);

impl Drop for Ending {
    fn drop(&mut self) {
        // An earlier error stays.
        let _ = self.0.set(WriteError::Closed);
    }
}

impl DumpFile {
    /// Opens the file and starts its writer thread and, for a compressed dump, one compressing
    /// thread per processor.
    ///
    /// Errors: those of [`Outlet::open`]; after an error nothing is left
    /// behind.
    pub fn create(outlet: &(impl Outlet + ?Sized)) -> Result<Self, WriteError> {
        Self::with_sink(outlet.open()?, start_worker)
    }

    /// The same for another sink; `start_worker` starts its thread.
    pub fn with_sink(sink: Box<dyn Sink>, start_worker: StartWorker) -> Result<Self, WriteError> {
        let (messages, inbox) = bounded(CHANNEL_BUFFERS);
        let (give_back, written) = bounded(CHANNEL_BUFFERS);
        let first_error = FirstError::default();
        let told = Arc::clone(&first_error);
        let (tell, result) = bounded(1);
        let work = move || {
            // Set even after a panic.
            let _ending = Ending(Arc::clone(&told));
            let result = write_all(sink, &inbox, &give_back);
            if let Err(error) = &result {
                // Before the inbox closes, so that a sender that finds it closed also finds the
                // reason.
                let _ = told.set(error.clone());
            }
            drop(inbox);
            // Fails only if nothing waits for the answer.
            let _ = tell.send(result);
        };
        let thread = worker::start(start_worker, "hprof writer", Box::new(work))?;
        Ok(Self {
            messages,
            first_error,
            written,
            thread: Some(thread),
            result,
        })
    }

    /// Sends the head: strings, classes, frames, traces, threads, and the segments with class
    /// records and roots.
    ///
    /// The order of the calls is the order in the file. Blocks while the channel is full. Returns
    /// the writer's first error once there is one.
    pub fn head(&self, bytes: Vec<u8>) -> Result<(), WriteError> {
        send(&self.messages, &self.first_error, Message::Head(bytes))
    }

    /// A handle through which a walk delivers segments of objects; may be cloned and moved.
    pub fn objects_sender(&self) -> ObjectsSender {
        ObjectsSender {
            messages: self.messages.clone(),
            first_error: Arc::clone(&self.first_error),
            written: self.written.clone(),
        }
    }

    /// Returns when everything sent so far with [`DumpFile::head`] is in the file.
    ///
    /// A compressed head ends its block there, so that the rest is compressed separately. An error
    /// ends the dump.
    pub fn flush(&self) -> Result<(), WriteError> {
        self.ask(Message::Flush)
    }

    /// What a forked child writes behind the head, which this process may go on writing until the
    /// child begins. Call [`DumpFile::flush`] before that.
    ///
    /// The child must use only the tail: there this `DumpFile` has no thread, and dropping it would
    /// wait for ever.
    pub fn tail(&self) -> Result<Tail, WriteError> {
        self.ask(Message::Tail)
    }

    /// Writes the end record, syncs and renames.
    ///
    /// Waits until everything is done. After an error there is neither a file nor a `.part` file.
    /// Senders get an error afterwards.
    pub fn finish(mut self) -> Result<Written, WriteError> {
        // If the thread is already gone, joining it returns the reason.
        let _ = self.messages.send(Message::Finish);
        self.join()
    }

    /// Finishes a file whose end was written through [`DumpFile::tail`]: syncs, renames.
    ///
    /// Nothing is appended. `tail_bytes` is the result of [`crate::TailWriter::finish`], or 0 if
    /// the head is everything. If the file has another size, the error is `WrongSize`. Otherwise as
    /// [`DumpFile::finish`].
    pub fn finish_with_tail(mut self, tail_bytes: u64) -> Result<Written, WriteError> {
        let _ = self.messages.send(Message::FinishWithTail(tail_bytes));
        self.join()
    }

    /// Sends the thread a question and waits for the answer.
    fn ask<T>(&self, question: impl FnOnce(Reply<T>) -> Message) -> Result<T, WriteError> {
        let (reply, answer) = bounded(1);
        send(&self.messages, &self.first_error, question(reply))?;
        loop {
            match answer.recv_timeout(LOOK) {
                Ok(answer) => return answer,
                // Without an answer, the thread ended before it read the question, which may still
                // be in the channel.
                Err(RecvTimeoutError::Timeout) if self.first_error.get().is_none() => {}
                Err(_) => return Err(why_closed(&self.first_error)),
            }
        }
    }

    fn join(&mut self) -> Result<Written, WriteError> {
        let Some(thread) = self.thread.take() else {
            return Err(WriteError::WriterGone);
        };
        // A panic ends only this thread; unwinding cleaned up its sink.
        thread.join();
        self.result
            .try_recv()
            .unwrap_or(Err(WriteError::WriterGone))
    }
}

impl Drop for DumpFile {
    fn drop(&mut self) {
        if self.thread.is_some() {
            // Sent explicitly, because senders may outlive this value, so that the channel stays
            // open.
            let _ = self.messages.send(Message::Abandon);
            let _ = self.join();
        }
    }
}

/// Delivers segments of objects to a [`DumpFile`]'s thread.
///
/// Only for threads that nothing but the dump waits for: `deliver` blocks while the channel is
/// full, without a limit of its own. A stream's limit is [`crate::Patience`]; for a disk, the
/// parent process limits the time of the dump.
#[derive(Clone, Debug)]
pub struct ObjectsSender {
    messages: Sender<Message>,
    first_error: FirstError,
    /// Free buffers.
    written: Receiver<Vec<u8>>,
}

impl Deliver for ObjectsSender {
    fn buffer(&mut self, bytes: usize) -> Result<Vec<u8>, WriteError> {
        match self.written.try_recv() {
            Ok(buffer) => emptied(buffer, bytes),
            Err(_) => buffer_of(bytes),
        }
    }

    fn deliver(&mut self, bytes: Vec<u8>) -> Result<(), WriteError> {
        send(&self.messages, &self.first_error, Message::Objects(bytes))
    }
}

fn send(
    messages: &Sender<Message>,
    first_error: &FirstError,
    message: Message,
) -> Result<(), WriteError> {
    messages.send(message).map_err(|_| why_closed(first_error))
}

fn why_closed(first_error: &FirstError) -> WriteError {
    first_error.get().cloned().unwrap_or(WriteError::Closed)
}

/// The thread's main function. Written buffers go back to the threads that fill them.
fn write_all(
    mut sink: Box<dyn Sink>,
    inbox: &Receiver<Message>,
    give_back: &Sender<Vec<u8>>,
) -> Result<Written, WriteError> {
    let mut segments = JoinedSegments::new(inbox, give_back);
    let mut next = None;
    loop {
        match next.take().map_or_else(|| inbox.recv(), Ok) {
            Ok(Message::Head(bytes)) => sink.write(&bytes)?,
            Ok(Message::Objects(bytes)) => {
                next = segments.write(&mut |buffer, start| sink.take(buffer, start), bytes)?;
            }
            Ok(Message::Flush(reply)) => {
                let flushed = sink.flush();
                let _ = reply.send(flushed.clone());
                flushed?;
            }
            Ok(Message::Tail(reply)) => {
                let _ = reply.send(sink.tail());
            }
            Ok(Message::Finish) => return finish(sink),
            Ok(Message::FinishWithTail(bytes)) => return sink.commit(bytes),
            // Returning drops the sink, which removes its files.
            Ok(Message::Abandon) | Err(_) => return Err(WriteError::Closed),
        }
    }
}

fn finish(mut sink: Box<dyn Sink>) -> Result<Written, WriteError> {
    let mut end = Vec::new();
    record::encode(&Record::HeapDumpEnd(HeapDumpEnd {}), &mut end)?;
    sink.write(&end)?;
    sink.commit(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GzipLevel;

    /// Fails in a chosen way at the first byte.
    struct BrokenSink {
        panics: bool,
    }

    impl Sink for BrokenSink {
        fn write(&mut self, _: &[u8]) -> Result<(), WriteError> {
            assert!(!self.panics, "a fault of the sink");
            Err(WriteError::NoMemory { bytes: 7 })
        }

        fn flush(&mut self) -> Result<(), WriteError> {
            self.write(&[])
        }

        fn tail(&self) -> Result<Tail, WriteError> {
            Err(WriteError::Closed)
        }

        fn commit(self: Box<Self>, _: u64) -> Result<Written, WriteError> {
            Err(WriteError::WriterGone)
        }
    }

    #[test]
    fn the_first_error_reaches_every_sender_and_the_end() {
        let dump =
            DumpFile::with_sink(Box::new(BrokenSink { panics: false }), start_worker).unwrap();
        let mut objects = dump.objects_sender();
        let first = WriteError::NoMemory { bytes: 7 };
        // More than fits in the channel: a full channel must not hide the error.
        let error = (0..100).find_map(|_| objects.deliver(vec![0]).err());
        assert_eq!(error, Some(first.clone()));
        assert_eq!(dump.head(vec![0]), Err(first.clone()));
        assert_eq!(dump.flush(), Err(first.clone()));
        assert_eq!(dump.tail().err(), Some(first.clone()));
        assert_eq!(dump.finish(), Err(first));
    }

    #[test]
    fn each_buffer_of_objects_becomes_a_member() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.hprof");
        let dump = DumpFile::create(&crate::Target {
            gzip: GzipLevel::new(1),
            ..crate::Target::new(&path)
        });
        let dump = dump.unwrap();
        dump.head(b"head".to_vec()).unwrap();
        let lengths = [100_001, 50_000, 262_144, 7];
        for length in lengths {
            let mut sender = dump.objects_sender();
            sender.deliver(vec![1; length]).unwrap();
        }
        dump.finish().unwrap();
        let (blocks, _) = crate::gzip::tests::members(&std::fs::read(&path).unwrap());
        // The last block is the end record.
        let found: Vec<usize> = blocks.iter().map(Vec::len).collect();
        assert_eq!(found, [&[4][..], &lengths, &[9]].concat());
    }

    #[test]
    fn a_flush_that_fails_says_why_and_ends_the_dump() {
        let dump =
            DumpFile::with_sink(Box::new(BrokenSink { panics: false }), start_worker).unwrap();
        let first = WriteError::NoMemory { bytes: 7 };
        assert_eq!(dump.flush(), Err(first.clone()));
        assert_eq!(dump.finish_with_tail(0), Err(first));
        let dump =
            DumpFile::with_sink(Box::new(BrokenSink { panics: true }), start_worker).unwrap();
        assert!(dump.flush().is_err());
        assert_eq!(dump.finish_with_tail(0), Err(WriteError::WriterGone));
    }

    #[test]
    fn a_panic_of_the_writer_is_an_error() {
        let dump =
            DumpFile::with_sink(Box::new(BrokenSink { panics: true }), start_worker).unwrap();
        let error = (0..100).find_map(|_| dump.head(vec![0]).err());
        assert_eq!(error, Some(WriteError::Closed));
        assert_eq!(dump.finish(), Err(WriteError::WriterGone));
    }
}
