//! The compressor: several threads turn blocks into gzip members, which come back in order.
//!
//! The number of blocks in progress is limited, and so is memory. Each block brings the channel for
//! its member. A thread that ends early drops that channel, so nothing waits for ever.

use std::collections::VecDeque;

use crossbeam_channel::{bounded, Receiver, Sender, TryRecvError};

use crate::gzip::{GzipLevel, MemberEncoder, BLOCK_BYTES};
use crate::segment::emptied;
use crate::worker::{self, StartWorker, Worker};
use crate::WriteError;

/// The most blocks of one stream in progress per thread: enough work while the thread with the
/// oldest block waits for a processor.
const BLOCKS_PER_THREAD: usize = 8;

/// A compressed block, or an error.
type Member = Result<Vec<u8>, WriteError>;

/// The result: the member, and the buffer, which can be reused.
type Done = (Member, Vec<u8>);

struct Job {
    buffer: Vec<u8>,
    /// Index in the buffer at which the block starts.
    start: usize,
    commented: bool,
    done: Sender<Done>,
}

/// Threads that compress, each with its own encoder.
///
/// Dropping it waits for them.
#[derive(Debug)]
pub(crate) struct Compressor {
    // `None` only during the drop.
    jobs: Option<Sender<Job>>,
    threads: Vec<Box<dyn Worker>>,
    most_under_way: usize,
}

impl Compressor {
    /// Starts `threads` threads, at least one. The errors are `NoThread` and `NoMemory`.
    pub(crate) fn start(
        level: GzipLevel,
        threads: usize,
        start_worker: StartWorker,
    ) -> Result<Self, WriteError> {
        Self::start_with(threads, start_worker, || {
            let mut encoder = MemberEncoder::new(level)?;
            Ok(move |block: &[u8], commented| encoder.encode(block, commented))
        })
    }

    /// The same with other encoders, one for each thread.
    fn start_with<F>(
        threads: usize,
        start_worker: StartWorker,
        encoder: impl Fn() -> Result<F, WriteError>,
    ) -> Result<Self, WriteError>
    where
        F: FnMut(&[u8], bool) -> Member + Send + 'static,
    {
        let most_under_way = threads.max(1) * BLOCKS_PER_THREAD;
        let (jobs, inbox) = bounded(most_under_way);
        let mut compressor = Self {
            jobs: Some(jobs),
            threads: Vec::new(),
            most_under_way,
        };
        for _ in 0..threads.max(1) {
            let (encoder, inbox) = (encoder()?, inbox.clone());
            let body = Box::new(move || work(encoder, &inbox));
            let thread = worker::start(start_worker, "hprof gzip", body)?;
            compressor.threads.push(thread);
        }
        Ok(compressor)
    }

    /// Passes a block (the buffer from `start` on) to the threads. Its member comes through the
    /// receiver.
    fn compress(
        &self,
        buffer: Vec<u8>,
        start: usize,
        commented: bool,
    ) -> Result<Receiver<Done>, WriteError> {
        let (done, member) = bounded(1);
        let job = Job {
            buffer,
            start,
            commented,
            done,
        };
        let jobs = self.jobs.as_ref().ok_or(WriteError::CompressorFailed)?;
        jobs.send(job).map_err(|_| WriteError::CompressorFailed)?;
        Ok(member)
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // If it panicked, its block's receiver has reported it.
            let _ = thread.join();
        }
    }
}

/// A thread's main function.
fn work(mut encoder: impl FnMut(&[u8], bool) -> Member, inbox: &Receiver<Job>) {
    for job in inbox {
        // Fails if the stream was abandoned and nothing needs its members.
        let block = job.buffer.get(job.start..).unwrap_or_default();
        let member = encoder(block, job.commented);
        let _ = job.done.send((member, job.buffer));
    }
}

/// A sequence of bytes on its way through a [`Compressor`].
///
/// For one thread. `write` receives the members, complete and in order.
#[derive(Debug)]
pub(crate) struct GzipStream {
    commented: bool,
    // Shorter than a block.
    block: Vec<u8>,
    under_way: VecDeque<Receiver<Done>>,
    // Buffers of finished blocks, because new ones cost a page fault for every 4 KiB.
    free: Vec<Vec<u8>>,
}

impl GzipStream {
    /// A stream; `commented` if it begins a file.
    pub(crate) fn new(commented: bool) -> Self {
        Self {
            commented,
            block: Vec::new(),
            under_way: VecDeque::new(),
            free: Vec::new(),
        }
    }

    /// Appends a buffer from `start` on. If it is not longer than a block, it becomes one without a
    /// copy. Then returns another buffer, if one is free.
    pub(crate) fn put_buffer(
        &mut self,
        buffer: Vec<u8>,
        start: usize,
        compressor: &Compressor,
        mut write: impl FnMut(&[u8]) -> Result<(), WriteError>,
    ) -> Result<Option<Vec<u8>>, WriteError> {
        self.end_block(compressor)?;
        let bytes = buffer.get(start..).unwrap_or_default();
        if bytes.is_empty() || bytes.len() > BLOCK_BYTES {
            self.put(bytes, compressor, write)?;
            return Ok(Some(buffer));
        }
        self.compress(buffer, start, compressor)?;
        self.write_until(compressor.most_under_way, &mut write)?;
        Ok(self.free.pop())
    }

    /// Appends bytes. Compresses full blocks.
    pub(crate) fn put(
        &mut self,
        mut bytes: &[u8],
        compressor: &Compressor,
        mut write: impl FnMut(&[u8]) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        while !bytes.is_empty() {
            if self.block.capacity() == 0 {
                let free = self.free.pop();
                self.block = emptied(free.unwrap_or_default(), BLOCK_BYTES)?;
            }
            let room = BLOCK_BYTES - self.block.len();
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.block.extend_from_slice(now);
            bytes = later;
            if self.block.len() == BLOCK_BYTES {
                self.end_block(compressor)?;
                self.write_until(compressor.most_under_way, &mut write)?;
            }
        }
        Ok(())
    }

    /// Compresses the rest as a shorter block, and waits until everything is written.
    pub(crate) fn end(
        &mut self,
        compressor: &Compressor,
        mut write: impl FnMut(&[u8]) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        self.end_block(compressor)?;
        self.write_until(0, &mut write)
    }

    /// Compresses the bytes that were put but not yet compressed.
    fn end_block(&mut self, compressor: &Compressor) -> Result<(), WriteError> {
        // A reader may take an empty member for the end of the file.
        if self.block.is_empty() {
            return Ok(());
        }
        let block = std::mem::take(&mut self.block);
        self.compress(block, 0, compressor)
    }

    fn compress(
        &mut self,
        buffer: Vec<u8>,
        start: usize,
        compressor: &Compressor,
    ) -> Result<(), WriteError> {
        let commented = std::mem::take(&mut self.commented);
        let member = compressor.compress(buffer, start, commented)?;
        self.under_way.push_back(member);
        Ok(())
    }

    /// Writes the oldest members until at most `most` are in progress, then all others that are
    /// ready.
    fn write_until(
        &mut self,
        most: usize,
        write: &mut impl FnMut(&[u8]) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        while let Some(oldest) = self.under_way.front() {
            let done = if self.under_way.len() > most {
                oldest.recv().map_err(|_| WriteError::CompressorFailed)?
            } else {
                match oldest.try_recv() {
                    Ok(done) => done,
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return Err(WriteError::CompressorFailed),
                }
            };
            self.under_way.pop_front();
            let (member, buffer) = done;
            write(&member?)?;
            self.free.push(buffer);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gzip::tests::{members, some_bytes};
    use crate::start_worker;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::Arc;
    use std::thread;

    fn level_1() -> GzipLevel {
        GzipLevel::new(1).unwrap()
    }

    /// The file made from the bytes that `put` adds to a stream.
    fn file_of(
        compressor: &Compressor,
        put: impl FnOnce(
            &mut GzipStream,
            &mut dyn FnMut(&[u8]) -> Result<(), WriteError>,
        ) -> Result<(), WriteError>,
    ) -> Result<Vec<u8>, WriteError> {
        let mut file = Vec::new();
        let mut write = |member: &[u8]| {
            file.extend_from_slice(member);
            Ok(())
        };
        let mut stream = GzipStream::new(true);
        put(&mut stream, &mut write)?;
        stream.end(compressor, &mut write)?;
        Ok(file)
    }

    /// The file made from copied buffers.
    fn compressed<'a>(
        compressor: &Compressor,
        mut buffers: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Vec<u8>, WriteError> {
        file_of(compressor, |stream, write| {
            buffers.try_for_each(|buffer| stream.put(buffer, compressor, &mut *write))
        })
    }

    /// The file made from buffers that are passed without a copy.
    fn compressed_as_they_are<'a>(
        compressor: &Compressor,
        mut buffers: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Vec<u8>, WriteError> {
        file_of(compressor, |stream, write| {
            buffers.try_for_each(|buffer| {
                let free = stream.put_buffer(buffer.to_vec(), 0, compressor, &mut *write);
                free.map(drop)
            })
        })
    }

    #[test]
    fn a_buffer_becomes_a_block_and_comes_back() {
        let compressor = Compressor::start(level_1(), 1, start_worker).unwrap();
        let mut stream = GzipStream::new(false);
        let mut file = Vec::new();
        let mut write = |member: &[u8]| {
            file.extend_from_slice(member);
            Ok(())
        };
        let bytes = some_bytes(3 * BLOCK_BYTES);
        let first = bytes[..100].to_vec();
        let its_memory = first.as_ptr();
        // Neither bytes that were put nor a buffer that is too long become blocks of their own.
        stream.put(b"put", &compressor, &mut write).unwrap();
        let mut free = Vec::new();
        for (buffer, start) in [(bytes.clone(), 1), (Vec::new(), 0), (first, 40)] {
            free.extend(
                stream
                    .put_buffer(buffer, start, &compressor, &mut write)
                    .unwrap(),
            );
        }
        for number in 0..30 {
            let buffer = vec![number; 10];
            free.extend(
                stream
                    .put_buffer(buffer, 9, &compressor, &mut write)
                    .unwrap(),
            );
        }
        stream.end(&compressor, &mut write).unwrap();
        let mut free = free.iter().chain(&stream.free);
        assert!(free.any(|buffer| buffer.as_ptr() == its_memory));
        let (blocks, _) = members(&file);
        assert_eq!(blocks[0], b"put");
        assert_eq!(blocks[1].len(), BLOCK_BYTES);
        assert!(blocks[1..4].concat() == bytes[1..]);
        assert_eq!(blocks[4], bytes[40..100]);
        let last: Vec<u8> = (0..30).collect();
        assert_eq!(blocks[5..].concat(), last);
        assert_eq!(blocks.len(), 35);
    }

    #[test]
    fn nothing_becomes_nothing() {
        let compressor = Compressor::start(level_1(), 1, start_worker).unwrap();
        assert_eq!(
            compressed(&compressor, [&b""[..]].into_iter()),
            Ok(Vec::new())
        );
        let whole = some_bytes(BLOCK_BYTES);
        let file = compressed(&compressor, [&whole[..]].into_iter()).unwrap();
        assert_eq!(members(&file).0.len(), 1);
    }

    #[test]
    fn the_order_is_kept_and_the_blocks_under_way_are_limited() {
        let begun = Arc::new(AtomicUsize::new(0));
        let written = AtomicUsize::new(0);
        let compressor = Compressor::start_with(3, start_worker, || {
            let begun = Arc::clone(&begun);
            Ok(move |block: &[u8], _| {
                // Blocks with even numbers take longer than the others.
                if begun.fetch_add(1, Ordering::Relaxed) % 2 == 0 {
                    (0..100).for_each(|_| thread::yield_now());
                }
                Ok(vec![block[0]])
            })
        })
        .unwrap();
        let mut stream = GzipStream::new(false);
        let mut order = Vec::new();
        for number in 0..200 {
            let write = |member: &[u8]| {
                order.push(member[0]);
                written.fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            let block = vec![number; BLOCK_BYTES];
            stream.put(&block, &compressor, write).unwrap();
            let begun = begun.load(Ordering::Relaxed);
            assert!(begun - written.load(Ordering::Relaxed) <= 3 * BLOCKS_PER_THREAD);
        }
        let write = |member: &[u8]| {
            order.push(member[0]);
            Ok(())
        };
        stream.end(&compressor, write).unwrap();
        assert_eq!(order, (0..200).collect::<Vec<u8>>());
    }

    #[test]
    fn a_threads_panic_and_its_error_come_back() {
        let bytes = some_bytes(40 * BLOCK_BYTES);
        let panicking = || {
            Ok(|block: &[u8], _: bool| -> Member {
                assert!(block.is_empty(), "a fault of the encoder");
                Ok(Vec::new())
            })
        };
        let compressor = Compressor::start_with(2, start_worker, panicking).unwrap();
        let error = compressed(&compressor, [&bytes[..]].into_iter());
        assert_eq!(error, Err(WriteError::CompressorFailed));
        let failing = || Ok(|_: &[u8], _: bool| Err(WriteError::NoMemory { bytes: 7 }));
        let compressor = Compressor::start_with(2, start_worker, failing).unwrap();
        let error = compressed(&compressor, [&bytes[..]].into_iter());
        assert_eq!(error, Err(WriteError::NoMemory { bytes: 7 }));
    }

    #[test]
    fn no_memory_for_an_encoder_ends_the_start() {
        let made = AtomicUsize::new(0);
        let second_fails = || match made.fetch_add(1, Ordering::Relaxed) {
            0 => Ok(|_: &[u8], _: bool| Ok(Vec::new())),
            _ => Err(WriteError::NoMemory { bytes: 7 }),
        };
        let error = Compressor::start_with(2, start_worker, second_fails).unwrap_err();
        assert_eq!(error, WriteError::NoMemory { bytes: 7 });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn whatever_goes_in_comes_out(
            lengths in prop::collection::vec(0..2 * BLOCK_BYTES, 0..5),
            threads in 0_usize..4,
            level in 1_u8..=9,
        ) {
            let level = GzipLevel::new(level).unwrap();
            let compressor = Compressor::start(level, threads, start_worker).unwrap();
            let bytes = some_bytes(lengths.iter().sum());
            let mut rest = &bytes[..];
            let buffers = lengths.iter().map(|&length| {
                let (buffer, after) = rest.split_at(length);
                rest = after;
                buffer
            });
            let buffers: Vec<&[u8]> = buffers.collect();
            let file = compressed(&compressor, buffers.iter().copied()).unwrap();
            let (blocks, _) = members(&file);
            prop_assert!(blocks.concat() == bytes);
            let full = blocks.iter().rev().skip(1).all(|block| block.len() == BLOCK_BYTES);
            prop_assert!(full);
            let file = compressed_as_they_are(&compressor, buffers.into_iter()).unwrap();
            prop_assert!(members(&file).0.concat() == bytes);
        }
    }
}
