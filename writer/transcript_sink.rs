//! A sink that takes the records of a heap dump and makes text of them for the sink behind it.

use std::path::PathBuf;

use crate::sink::Spool;
use crate::transcript::{transcribe, ObjectSizes};
use crate::{Sink, Tail, WriteError, Written};

/// Keeps records until the last one is there, then writes them as text.
///
/// The first line of a text heap dump counts its objects, and classes stand last in it, first in the records:
/// so nothing can be written before all is known. Nobody waits for it but the thread that asked for the dump.
pub(crate) struct TranscriptSink {
    text: Box<dyn Sink>,
    target: PathBuf,
    sizes: ObjectSizes,
    utc_offset_seconds: i32,
    /// The records in the order of a binary file.
    records: Spool,
    /// Opened for the first objects.
    objects: Option<Spool>,
    bytes: u64,
}

impl TranscriptSink {
    /// Opens the file of the records beside `target`, which `text` writes.
    pub(crate) fn create(
        text: Box<dyn Sink>,
        target: PathBuf,
        sizes: ObjectSizes,
        utc_offset_seconds: i32,
    ) -> Result<Self, WriteError> {
        let records = Spool::create(&target)?;
        Ok(Self {
            text,
            target,
            sizes,
            utc_offset_seconds,
            records,
            objects: None,
            bytes: 0,
        })
    }
}

impl Sink for TranscriptSink {
    fn write_head(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.records.append(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn write_objects(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        Spool::append_to(&mut self.objects, &self.target, bytes)
    }

    fn append_objects(&mut self) -> Result<(), WriteError> {
        // Taken, so that its blocks are free before the text needs room.
        if let Some(mut objects) = self.objects.take() {
            self.bytes += self.records.append_all_of(&mut objects)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        // Nothing is kept back.
        Ok(())
    }

    fn tail(&self) -> Result<Tail, WriteError> {
        self.records.tail(None)
    }

    fn commit(mut self: Box<Self>, tail_bytes: u64) -> Result<Written, WriteError> {
        let bytes = self.bytes.saturating_add(tail_bytes);
        let (records, path) = self.records.read_back(bytes)?;
        let text = &mut self.text;
        let deliver = |bytes: Vec<u8>| text.write_head(&bytes);
        transcribe(records, path, &self.sizes, self.utc_offset_seconds, deliver)?;
        self.text.commit(0)
    }
}
