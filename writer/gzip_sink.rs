//! A sink that compresses for another sink.

use crate::compressor::{Compressor, GzipStream};
use crate::gzip::GzipLevel;
use crate::{Sink, StartWorker, Tail, WriteError, Written};

/// Compresses what it gets and passes it to the other sink.
pub(crate) struct GzipSink {
    sink: Box<dyn Sink>,
    compressor: Compressor,
    stream: GzipStream,
}

impl GzipSink {
    /// Starts the compressing threads; `begins_file` is false if another process has written the
    /// start of the file.
    ///
    /// The errors are `NoThread` and `NoMemory`.
    pub(crate) fn start(
        sink: Box<dyn Sink>,
        level: GzipLevel,
        threads: usize,
        start_worker: StartWorker,
        begins_file: bool,
    ) -> Result<Self, WriteError> {
        Ok(Self {
            sink,
            compressor: Compressor::start(level, threads, start_worker)?,
            stream: GzipStream::new(begins_file),
        })
    }

    fn end_stream(&mut self) -> Result<(), WriteError> {
        let sink = &mut self.sink;
        let write = |member: &[u8]| sink.write(member);
        self.stream.end(&self.compressor, write)
    }
}

impl Sink for GzipSink {
    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let sink = &mut self.sink;
        let write = |member: &[u8]| sink.write(member);
        self.stream.put(bytes, &self.compressor, write)
    }

    fn take(&mut self, buffer: Vec<u8>, start: usize) -> Result<Option<Vec<u8>>, WriteError> {
        let sink = &mut self.sink;
        let write = |member: &[u8]| sink.write(member);
        self.stream
            .put_buffer(buffer, start, &self.compressor, write)
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.end_stream()?;
        self.sink.flush()
    }

    fn tail(&self) -> Result<Tail, WriteError> {
        self.sink.tail()
    }

    fn commit(mut self: Box<Self>, tail_bytes: u64) -> Result<Written, WriteError> {
        self.end_stream()?;
        self.sink.commit(tail_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gzip::tests::{members, some_bytes};
    use std::sync::{Arc, Mutex};

    /// A disk with space for this many bytes, and what was written to it.
    struct SmallDisk {
        room_bytes: usize,
        file: Arc<Mutex<Vec<u8>>>,
    }

    impl Sink for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
            let left = self.room_bytes.checked_sub(bytes.len());
            self.room_bytes = left.ok_or(WriteError::Closed)?;
            self.file.lock().unwrap().extend_from_slice(bytes);
            Ok(())
        }

        fn tail(&self) -> Result<Tail, WriteError> {
            Err(WriteError::Closed)
        }

        fn commit(self: Box<Self>, _: u64) -> Result<Written, WriteError> {
            let bytes = self.file.lock().unwrap().len() as u64;
            let path = "a".into();
            Ok(Written { path, bytes })
        }
    }

    /// Writes a head, more objects than fit into a block, and something after them; returns the
    /// file, if it fitted.
    fn file_on(room_bytes: usize, objects: &[u8]) -> Result<Vec<u8>, WriteError> {
        let file = Arc::default();
        let disk = SmallDisk {
            room_bytes,
            file: Arc::clone(&file),
        };
        let level = GzipLevel::new(1).unwrap();
        let mut sink = Box::new(GzipSink::start(
            Box::new(disk),
            level,
            2,
            crate::start_worker,
            true,
        )?);
        let (copied, taken) = objects.split_at(objects.len() / 2);
        sink.write(b"head ")?;
        sink.flush()?;
        sink.write(copied)?;
        sink.take([b"no more", taken].concat(), 7)?;
        sink.write(b"end")?;
        let written = sink.commit(0)?;
        let file = std::mem::take(&mut *file.lock().unwrap());
        assert_eq!(written.bytes, file.len() as u64);
        Ok(file)
    }

    #[test]
    fn what_is_flushed_or_taken_is_a_member_of_its_own() {
        let objects = some_bytes(400_000);
        let file = file_on(usize::MAX, &objects).unwrap();
        let (blocks, comment) = members(&file);
        assert_eq!(comment.unwrap(), b"HPROF BLOCKSIZE=278528");
        assert_eq!(blocks.len(), 4, "the head, two halves, the end");
        assert_eq!(blocks[0], b"head ");
        assert!(blocks[1..3].concat() == objects);
        assert_eq!(blocks[3], b"end");
    }

    #[test]
    fn a_disk_that_fills_at_any_byte_is_an_error() {
        let objects = some_bytes(100);
        let whole = file_on(usize::MAX, &objects).unwrap().len();
        for room_bytes in 0..whole {
            assert_eq!(file_on(room_bytes, &objects), Err(WriteError::Closed));
        }
        assert!(file_on(whole, &objects).is_ok());
    }
}
