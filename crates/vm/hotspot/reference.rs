//! References as HotSpot keeps them in registers, stacks and handles.

use snapshot::memory::Memory;
use snapshot::{Failure, Snapshot};

/// A reference as HotSpot has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// An address, which may be coloured.
    Wide(u64),
    /// An address in a frame that a chunk of a stack holds, and the word that is the chunk's colour
    /// under generational ZGC (`ZStackChunkGCData`).
    InChunk(u64, u64),
    /// A compressed reference.
    Narrow(u32),
}

impl Reference {
    /// The object to which it leads; `None` for a null. An error if there is none.
    pub fn object(self, snapshot: &Snapshot<impl Memory>) -> Result<Option<u64>, Failure> {
        let coding = snapshot.layout.oops.coding();
        let address = match self {
            Reference::Wide(address) => snapshot.memory.decoded(address),
            Reference::InChunk(address, colour) => match snapshot.memory.colours() {
                Some(colours) => snapshot.memory.decoded(colours.reference(address, colour)),
                None => address,
            },
            Reference::Narrow(code) => coding.address(code.into()),
        };
        // A null that was decompressed without a check is the base.
        if address == coding.base {
            return Ok(None);
        }
        // What lies before the length of an array. Parts of the heap may not be mapped. Beside a
        // heap without compressed references there may be stacks, with guard pages.
        let header_bytes = snapshot.layout.arrays.length;
        let is_there = || match self {
            Reference::Narrow(_) => snapshot.mappings.are_mapped(address, header_bytes),
            _ => snapshot.mappings.are_readable(address, header_bytes),
        };
        if !snapshot.marks.covers(address) || !is_there() {
            return Err(Failure::OopMaps);
        }
        match snapshot.class_of(address) {
            Ok(_) => Ok(Some(address)),
            Err(Failure::NoClass(_)) => Err(Failure::OopMaps),
            Err(other) => Err(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use snapshot::classes::Shape;
    use snapshot::mappings::Mappings;

    #[test]
    fn a_reference_leads_to_an_object() {
        let words = [1_u64, 1, 1, 7, 1, 1];
        let mut snapshot = Snapshot::of_words(&words, vec![Shape::ObjectArray]);
        let start = words.as_ptr() as u64;
        // Of the last object, only the first word is mapped.
        let mapped = format!("{start:x}-{:x} rw-p 0 0 0", start + 40);
        snapshot.mappings = Mappings::parse(mapped.as_bytes());
        let object = |address| Reference::Wide(address).object(&snapshot);
        assert_eq!(object(start), Ok(Some(start)));
        assert_eq!(object(0), Ok(None));
        // Not aligned, outside of the heap, without a class, and not mapped.
        for address in [start + 4, start + 4096, start + 16, start + 32] {
            assert_eq!(object(address), Err(Failure::OopMaps));
        }
    }
}
