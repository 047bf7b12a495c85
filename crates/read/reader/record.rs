//! The head of a record.

use format::codec::{FieldCodec, U1, U4};

use crate::error::ReadError;
use crate::source::Source;

/// The head of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// Offset of the tag.
    pub offset: u64,
    /// FieldCodec of the record (format text, "The following TAGs are supported").
    pub tag: u8,
    /// Microseconds since the header's time; 0 in most files.
    pub time_micros: u32,
    /// Length of the body, as the record claims.
    pub length: u32,
}

impl RecordHead {
    /// Reads the next one. Errors: I/O, or bytes are missing.
    pub fn read(from: &mut Source<'_>) -> Result<Self, ReadError> {
        Ok(Self {
            offset: from.offset(),
            tag: U1::read(from)?,
            time_micros: U4::read(from)?,
            length: U4::read(from)?,
        })
    }
}
