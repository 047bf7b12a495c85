//! Where a file contains the objects of a heap: the range of ids in each segment.

use crate::budget::bytes_of;

/// The HEAP DUMP and HEAP DUMP SEGMENT records of a file. Most writers go through the memory in
/// order, so that few records can contain a given object.
#[derive(Debug, Default)]
pub struct HeapPlaces(Vec<Place>);

#[derive(Clone, Copy, Debug)]
struct Place {
    /// Offset of the record.
    record: u64,
    /// The range of the ids; empty if the first is above the last.
    first: u64,
    last: u64,
}

impl HeapPlaces {
    /// Starts a record at this offset.
    pub(crate) fn begin(&mut self, record: u64) {
        self.0.push(Place {
            record,
            first: u64::MAX,
            last: 0,
        });
    }

    /// Adds an object with this id to the last record.
    pub(crate) fn note(&mut self, id: u64) {
        if let Some(place) = self.0.last_mut() {
            place.first = place.first.min(id);
            place.last = place.last.max(id);
        }
    }

    /// Adds other records of the same file.
    pub(crate) fn merge(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
        self.0.sort_unstable_by_key(|place| place.record);
    }

    /// Offsets of the records that may contain one of these objects, in file order. The ids must
    /// ascend.
    pub(crate) fn of<'a>(&'a self, ids: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
        let may_have = |place: &&Place| {
            let at = ids.partition_point(|id| *id < place.first);
            ids.get(at).is_some_and(|id| *id <= place.last)
        };
        self.0.iter().filter(may_have).map(|place| place.record)
    }

    /// Bytes of memory held.
    pub(crate) fn held_bytes(&self) -> u64 {
        bytes_of::<Place>(self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_sought_where_its_id_may_be() {
        let (mut places, mut others) = (HeapPlaces::default(), HeapPlaces::default());
        for (record, ids) in [(10, &[40, 8, 16][..]), (30, &[]), (70, &[56])] {
            places.begin(record);
            ids.iter().for_each(|id| places.note(*id));
        }
        others.begin(50);
        others.note(24);
        others.note(48);
        places.merge(others);
        let found = |ids: &[u64]| places.of(ids).collect::<Vec<u64>>();
        assert_eq!(found(&[8]), [10]);
        assert_eq!(found(&[24]), [10, 50]);
        assert_eq!(found(&[41, 56]), [50, 70]);
        assert_eq!(found(&[0, 7, 57, u64::MAX]), []);
        assert_eq!(found(&[]), []);
    }
}
