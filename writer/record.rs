//! The encoder of records, and the header of the file.
//!
//! Stateless: any thread may encode into its own buffer. The time of every record is 0.

use format::record::Record;
use format::{ObjectSizes, HEADER_1_0_2, HEADER_GRAPH, ID_SIZE_BYTES};

use crate::encoder::{self, put_u4, put_u8, u4};
use crate::WriteError;

/// The first bytes of the file: name and version, size of ids, time.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Milliseconds since 1 January 1970, UTC, at the dump.
    pub millis_since_epoch: u64,
}

impl Header {
    /// Appends the header. Never an error.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        out.extend_from_slice(HEADER_1_0_2);
        out.push(0);
        put_u4(out, ID_SIZE_BYTES);
        // "High word, low word" is one big-endian u8.
        put_u8(out, self.millis_since_epoch);
        Ok(())
    }
}

/// The first bytes of a graph stream: those of a file, and the sizes of the JVM's objects.
#[derive(Clone, Copy, Debug)]
pub struct GraphHeader {
    /// Milliseconds since 1 January 1970, UTC, at the dump.
    pub millis_since_epoch: u64,
    /// The sizes of objects in the heap.
    pub sizes: ObjectSizes,
}

impl GraphHeader {
    /// Appends the header. The error is [`WriteError::TooLarge`].
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let ObjectSizes {
            header_bytes,
            array_header_bytes,
            reference_bytes,
            alignment_bytes,
            value_header_bytes: _,
        } = self.sizes;
        out.extend_from_slice(HEADER_GRAPH);
        out.push(0);
        put_u4(out, ID_SIZE_BYTES);
        put_u8(out, self.millis_since_epoch);
        for bytes in [
            header_bytes,
            array_header_bytes,
            reference_bytes,
            alignment_bytes,
        ] {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            put_u4(out, u4("a size of objects", bytes)?);
        }
        Ok(())
    }
}

/// Appends a record, or nothing if it returns an error, which can only be
/// [`WriteError::TooLarge`].
pub fn encode(record: &Record, out: &mut Vec<u8>) -> Result<(), WriteError> {
    encoder::record(out, record.tag(), |out| Ok(record.put(out)?))
}
