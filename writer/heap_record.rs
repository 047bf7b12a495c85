//! The encoders of sub-records of a heap dump: roots, classes, instances, arrays.
//!
//! Stateless: any thread, including the VM thread, may encode into its own buffer. A sub-record has
//! no length field, so after a failed `encode` its buffer must be truncated to its earlier length;
//! [`crate::Segments::record`] does that.

use format::codec::{FieldCodec, Output};
use format::sub_record::HeapRecord;

use crate::encoder::Head;
use crate::WriteError;

/// Appends a sub-record, without its data. The only error is [`WriteError::TooLarge`]: a class has
/// more than 65,535 fields of a kind.
pub fn encode(record: &HeapRecord, out: &mut Vec<u8>) -> Result<(), WriteError> {
    out.push(record.tag());
    Ok(record.put(out)?)
}

/// Appends the tag and the fields of an object in one step; the caller appends its data.
#[inline]
pub fn encode_head<H: FieldCodec<Value = H>>(tag: u8, head: &H, out: &mut Vec<u8>) {
    let mut bytes = Head::new();
    bytes.put(&[tag]);
    // No object's head has a list, which might be too long.
    let _ = H::put(head, "", &mut bytes);
    bytes.append(out);
}

/// The number of elements in `bytes`; an error if it is not a whole number. `element_bytes` is a
/// power of 2.
#[inline]
pub(crate) fn count_elements(bytes: usize, element_bytes: u32) -> Result<usize, WriteError> {
    // No division, which would take longer than everything else for a small array.
    let elements = bytes >> element_bytes.trailing_zeros();
    if elements * element_bytes as usize == bytes {
        Ok(elements)
    } else {
        Err(WriteError::BrokenArray {
            bytes: bytes as u64,
            element_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::sub_record::{ClassDump, Field};
    use format::BasicType;

    #[test]
    fn too_many_fields_are_refused() {
        let field = Field {
            name: 1,
            kind: BasicType::Int,
        };
        let class = ClassDump {
            fields: vec![field; 65_536],
            ..ClassDump::default()
        };
        let error = encode(&HeapRecord::Class(Box::new(class)), &mut Vec::new());
        assert_eq!(
            error,
            Err(WriteError::TooLarge {
                what: "the number of fields",
                value: 65_536
            })
        );
    }
}
