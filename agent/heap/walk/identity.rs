//! Identity: how the walk knows an object again, by a tag, or by its address where HotSpot tells it.
//!
//! A tag costs HotSpot a table entry and a weak handle an object, ten times the time of the walk itself. Inside the
//! pause no object moves, so its address serves as well. Objects that must be found again after the walk keep a tag.

use crate::heap::error::DumpError;
use crate::jvmti::heap::TagCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use tables::ObjectIndex;

/// How objects are known.
#[derive(Debug)]
pub(in crate::heap) enum Identity {
    /// By tags: what the JVMTI specification promises.
    Tags,
    /// By addresses: HotSpot alone.
    Addresses(Addresses),
}

/// Objects by address.
#[derive(Debug)]
pub(in crate::heap) struct Addresses {
    by_address: HashMap<u64, ObjectIndex, BuildHasherDefault<AddressHasher>>,
    /// Mirrors of the classes whose instances get a tag all the same.
    tagged: Vec<ObjectIndex>,
}

const ABSENT: DumpError = DumpError::Layout("an object's address");

impl Identity {
    /// By addresses; instances of `tagged` (mirrors) get tags, too, as do roots that the caller tags.
    pub(in crate::heap) fn by_address(tagged: Vec<ObjectIndex>) -> Self {
        Self::Addresses(Addresses {
            by_address: HashMap::default(),
            tagged,
        })
    }

    /// The index of an object that was met before; `None` at the first meeting.
    pub(super) fn known(
        &self,
        object: &TagCell,
        size_bytes: u64,
    ) -> Result<Option<ObjectIndex>, DumpError> {
        if let Some(index) = ObjectIndex::from_tag(object.get()) {
            return Ok(Some(index));
        }
        let Self::Addresses(addresses) = self else {
            return Ok(None);
        };
        let address = object.address(size_bytes).ok_or(ABSENT)?;
        Ok(addresses.by_address.get(&address).copied())
    }

    /// Bytes that the next object takes because the table grows; 0 for most objects.
    pub(super) fn growth_bytes(&self) -> u64 {
        /// An address, an index, and a byte of the table's own, for each place.
        const PLACE_BYTES: u64 = 17;
        match self {
            Self::Addresses(addresses)
                if addresses.by_address.len() == addresses.by_address.capacity() =>
            {
                // Twice the places, of which it leaves an eighth free; the old ones are given back later.
                let capacity = addresses.by_address.capacity() as u64;
                (capacity * 2).saturating_mul(PLACE_BYTES) / 7 * 8
            }
            _ => 0,
        }
    }

    /// Remembers an object at the first meeting.
    pub(super) fn remember(
        &mut self,
        object: &TagCell,
        size_bytes: u64,
        index: ObjectIndex,
        class: Option<ObjectIndex>,
    ) -> Result<(), DumpError> {
        match self {
            Self::Addresses(addresses)
                if !class.is_some_and(|class| addresses.tagged.contains(&class)) =>
            {
                let address = object.address(size_bytes).ok_or(ABSENT)?;
                addresses
                    .by_address
                    .try_reserve(1)
                    .map_err(|_| DumpError::TableFull)?;
                addresses.by_address.insert(address, index);
            }
            _ => object.set(index.tag()),
        }
        Ok(())
    }

    /// The index of the object that refers to `object`.
    pub(super) fn referrer(
        &self,
        referrer: &TagCell,
        object: &TagCell,
        index: ObjectIndex,
    ) -> Result<ObjectIndex, DumpError> {
        let unknown = DumpError::Layout("a reference from an object");
        if let Some(index) = ObjectIndex::from_tag(referrer.get()) {
            return Ok(index);
        }
        match self {
            // An object that refers to itself has one tag, and what stands before it is that object's.
            Self::Addresses(_) if referrer.is_same(object) => Ok(index),
            Self::Addresses(addresses) => {
                let known = addresses.by_address.get(&referrer.referrer_address());
                known.copied().ok_or(unknown)
            }
            Self::Tags => Err(unknown),
        }
    }

    /// The index of the object whose field or elements are told.
    pub(super) fn owner(&self, object: &TagCell) -> Result<ObjectIndex, DumpError> {
        let unknown = DumpError::Layout("a value of an object");
        if let Some(index) = ObjectIndex::from_tag(object.get()) {
            return Ok(index);
        }
        match self {
            Self::Addresses(addresses) => {
                let known = addresses.by_address.get(&object.owner_address());
                known.copied().ok_or(unknown)
            }
            Self::Tags => Err(unknown),
        }
    }
}

/// Spreads addresses, which differ in their middle bits most: one multiplication.
#[derive(Debug, Default)]
pub(in crate::heap) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The table takes places from the low bits and marks from the high ones.
        let product = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ (product >> 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_will_grow_says_by_how_much() {
        let mut identity = Identity::by_address(Vec::new());
        assert_eq!(identity.growth_bytes(), 0);
        let index = ObjectIndex::from_tag(1).expect("an index");
        let fill = |identity: &mut Identity| {
            let Identity::Addresses(addresses) = identity else {
                panic!("no addresses");
            };
            let known = &mut addresses.by_address;
            while known.len() < known.capacity() || known.len() < 1000 {
                known.insert(known.len() as u64 * 8, index);
            }
            known.len() as u64
        };
        // What the places take that are known by then is the least that another table with twice as many takes.
        let known = fill(&mut identity);
        assert!(identity.growth_bytes() >= known * 2 * 17);
        assert!(identity.growth_bytes() <= known * 4 * 17);
        assert_eq!(Identity::Tags.growth_bytes(), 0);
    }
}
