//! Recognises a dump whose primitive arrays have lost their elements: KOOM for Android cuts them
//! out and leaves the lengths, so that readers lose their way.

use crate::dump::{DumpReader, Event};
use crate::error::ReadError;
use format::sub_record::HeapRecord;

/// Sub-records that are examined.
const RECORDS_MAX: u64 = 100_000;

/// Whether the elements of this dump's primitive arrays were cut out. The reader must be at the
/// start of a dump that has damaged places. Errors: I/O.
pub fn is_stripped(dump: DumpReader<'_>) -> Result<bool, ReadError> {
    let mut dump = dump.stripped();
    let (mut records, mut arrays) = (0, 0);
    while let Some(event) = dump.next_event()? {
        match event {
            Event::Damage(_) => return Ok(false),
            Event::Heap(_, record) => {
                records += 1;
                if let HeapRecord::PrimitiveArray(array) | HeapRecord::NoData(array) = record {
                    arrays += u64::from(array.length > 0);
                }
            }
            _ => {}
        }
        if records == RECORDS_MAX {
            break;
        }
    }
    Ok(arrays > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sample::Dump;

    /// A dump with two arrays of 100 bytes, of which `elements` are there.
    fn dump(elements: usize) -> Vec<u8> {
        let mut dump = Dump::new(4);
        for id in [0x4000_u32, 0x5000] {
            let head = [
                &[0x23][..],
                &id.to_be_bytes(),
                &[0, 0, 0, 1, 0, 0, 0, 100, 8],
            ]
            .concat();
            dump.sub_record(&[head, vec![0; elements]].concat());
        }
        dump.bytes()
    }

    #[test]
    fn only_arrays_without_elements_are_stripped() {
        for (elements, expected) in [(0, true), (100, false), (50, false)] {
            let bytes = dump(elements);
            let reader = DumpReader::new(Box::new(bytes.as_slice())).unwrap();
            assert_eq!(is_stripped(reader).unwrap(), expected, "{elements}");
        }
        let empty = Dump::new(4).bytes();
        assert!(!is_stripped(DumpReader::new(Box::new(empty.as_slice())).unwrap()).unwrap());
    }
}
