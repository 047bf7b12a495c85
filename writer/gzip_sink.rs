//! A sink that compresses for another sink.

use crate::compressor::{Compressor, GzipStream};
use crate::gzip::GzipLevel;
use crate::{Sink, StartWorker, Tail, WriteError, Written};

/// Compresses the head and the objects, each as a separate stream, and passes them to the other sink.
pub(crate) struct GzipSink {
    sink: Box<dyn Sink>,
    compressor: Compressor,
    head: GzipStream,
    objects: GzipStream,
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
            head: GzipStream::new(begins_file),
            objects: GzipStream::new(false),
        })
    }

    fn end_head(&mut self) -> Result<(), WriteError> {
        let sink = &mut self.sink;
        let write = |member: &[u8]| sink.write_head(member);
        self.head.end(&self.compressor, write)
    }
}

impl Sink for GzipSink {
    fn write_head(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let sink = &mut self.sink;
        let write = |member: &[u8]| sink.write_head(member);
        self.head.put(bytes, &self.compressor, write)
    }

    fn write_objects(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let sink = &mut self.sink;
        let write = |member: &[u8]| sink.write_objects(member);
        self.objects.put(bytes, &self.compressor, write)
    }

    fn take_objects(
        &mut self,
        buffer: Vec<u8>,
        start: usize,
    ) -> Result<Option<Vec<u8>>, WriteError> {
        let sink = &mut self.sink;
        let write = |member: &[u8]| sink.write_objects(member);
        self.objects
            .put_buffer(buffer, start, &self.compressor, write)
    }

    fn append_objects(&mut self) -> Result<(), WriteError> {
        self.end_head()?;
        let sink = &mut self.sink;
        let write = |member: &[u8]| sink.write_objects(member);
        self.objects.end(&self.compressor, write)?;
        self.sink.append_objects()
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.end_head()?;
        self.sink.flush()
    }

    fn tail(&self) -> Result<Tail, WriteError> {
        self.sink.tail()
    }

    fn commit(mut self: Box<Self>, tail_bytes: u64) -> Result<Written, WriteError> {
        self.end_head()?;
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
        spool: Vec<u8>,
        file: Arc<Mutex<Vec<u8>>>,
    }

    impl SmallDisk {
        fn take(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
            let left = self.room_bytes.checked_sub(bytes.len());
            self.room_bytes = left.ok_or(WriteError::Closed)?;
            Ok(())
        }
    }

    impl Sink for SmallDisk {
        fn write_head(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
            self.take(bytes)?;
            self.file.lock().unwrap().extend_from_slice(bytes);
            Ok(())
        }

        fn write_objects(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
            self.take(bytes)?;
            self.spool.extend_from_slice(bytes);
            Ok(())
        }

        fn append_objects(&mut self) -> Result<(), WriteError> {
            self.file.lock().unwrap().append(&mut self.spool);
            Ok(())
        }

        fn flush(&mut self) -> Result<(), WriteError> {
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

    /// Writes a head, more objects than fit into a block, and something after them; returns the file,
    /// if it fitted.
    fn file_on(room_bytes: usize, objects: &[u8]) -> Result<Vec<u8>, WriteError> {
        let file = Arc::default();
        let disk = SmallDisk {
            room_bytes,
            spool: Vec::new(),
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
        sink.write_objects(copied)?;
        sink.take_objects([b"no more", taken].concat(), 7)?;
        sink.write_head(b"head ")?;
        sink.append_objects()?;
        sink.write_head(b"end")?;
        let written = sink.commit(0)?;
        let file = std::mem::take(&mut *file.lock().unwrap());
        assert_eq!(written.bytes, file.len() as u64);
        Ok(file)
    }

    #[test]
    fn the_streams_are_compressed_apart_and_joined() {
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
