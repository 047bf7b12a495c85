//! The head of a record.

use crate::error::ReadError;
use crate::stream::Source;

/// The head of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// Offset of the tag.
    pub offset: u64,
    /// Kind of the record (format text, "The following TAGs are supported").
    pub tag: u8,
    /// Microseconds since the header's time; 0 in most files.
    pub time_micros: u32,
    /// Length of the body, as the record claims.
    pub length: u32,
}

impl RecordHead {
    /// Reads the next one. Errors: bytes are missing.
    pub(crate) fn read(from: &mut Source<'_>) -> Result<Self, ReadError> {
        Ok(Self {
            offset: from.offset(),
            tag: from.u1()?,
            time_micros: from.u4()?,
            length: from.u4()?,
        })
    }
}
