//! The encoder of records, and the header of the file.
//!
//! Stateless: any thread may encode into its own buffer. The time of every record is 0.

use format::record::Record;
use format::{ObjectSizes, HEADER_1_0_2, HEADER_GRAPH, ID_SIZE_BYTES};

use crate::encoder::{self, put_u4, u4};
use crate::WriteError;

/// The first bytes of the file: name and version, size of ids, time of the dump in milliseconds
/// since 1 January 1970, UTC.
pub fn header(millis_since_epoch: u64) -> Vec<u8> {
    // "High word, low word" is one big-endian u8.
    let millis = millis_since_epoch.to_be_bytes();
    [HEADER_1_0_2, &[0], &ID_SIZE_BYTES.to_be_bytes(), &millis].concat()
}

/// The first bytes of a graph stream: those of a file, and the sizes of the JVM's objects. The
/// error is [`WriteError::TooLarge`].
pub fn graph_header(millis_since_epoch: u64, sizes: ObjectSizes) -> Result<Vec<u8>, WriteError> {
    let millis = millis_since_epoch.to_be_bytes();
    let mut header = [HEADER_GRAPH, &[0], &ID_SIZE_BYTES.to_be_bytes(), &millis].concat();
    for bytes in [
        sizes.header_bytes,
        sizes.array_header_bytes,
        sizes.reference_bytes,
        sizes.alignment_bytes,
    ] {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        put_u4(&mut header, u4("a size of objects", bytes)?);
    }
    Ok(header)
}

/// Appends a record, or nothing if it returns an error, which can only be
/// [`WriteError::TooLarge`].
pub fn encode(record: &Record, out: &mut Vec<u8>) -> Result<(), WriteError> {
    encoder::record(out, record.tag(), |out| Ok(record.put(out)?))
}
