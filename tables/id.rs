//! The ids: one type for each table, so that an id of one table cannot be used in another.
//!
//! Table ids are dense from 1 in order of arrival. 0 is never an id, so `Option` of an id is as
//! small as the id, and an absent id stays `None` until the encoder writes 0.

use std::num::{NonZeroU32, NonZeroU64};

/// What all table ids share: they are dense from 1 and correspond to a row's position from 0.
pub trait DenseId: Copy {
    /// The id of the row at this position, counted from 0; `None` past 2^32 - 2.
    fn from_index(index: usize) -> Option<Self>;

    /// The position of this id's row, counted from 0.
    fn index(self) -> usize;

    /// The last possible id.
    fn last() -> Self;
}

macro_rules! dense_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// The id with this number; `None` for 0, which stands for "absent".
            pub fn new(number: u32) -> Option<Self> {
                NonZeroU32::new(number).map(Self)
            }

            /// The id of the row at this position, counted from 0; `None` past 2^32 - 2.
            pub fn from_index(index: usize) -> Option<Self> {
                <Self as DenseId>::from_index(index)
            }

            /// The id as a number, from 1.
            pub fn get(self) -> u32 {
                self.0.get()
            }

            /// The position of this id's row, counted from 0.
            pub fn index(self) -> usize {
                <Self as DenseId>::index(self)
            }
        }

        impl From<$name> for u64 {
            fn from(id: $name) -> Self {
                id.0.get().into()
            }
        }

        impl DenseId for $name {
            fn from_index(index: usize) -> Option<Self> {
                let number = u32::try_from(index.checked_add(1)?).ok()?;
                Self::new(number)
            }

            fn index(self) -> usize {
                self.0.get() as usize - 1
            }

            fn last() -> Self {
                Self(NonZeroU32::MAX)
            }
        }
    )*};
}

dense_id! {
    /// A string; also its id in the file.
    StringId;
    /// A loaded class; also its class serial number in the file.
    ClassId;
    /// A class loader other than the bootstrap loader. Never written, because a file identifies
    /// loaders by object.
    LoaderId;
    /// A stack frame; also its id in the file.
    FrameId;
    /// A stack trace; also its serial number in the file.
    TraceId;
    /// A thread; also its serial number in the file.
    ThreadId;
    /// An object's position in the table of one dump; the walk uses it as the object's JVMTI tag.
    ///
    /// Not the object's id in the file, which is [`ObjectId`].
    ObjectIndex;
}

impl TraceId {
    /// The trace without frames, to which records without their own trace refer.
    pub const EMPTY: Self = Self(NonZeroU32::MIN);
}

impl ObjectIndex {
    /// The index for a JVMTI tag; `None` for 0 (not tagged) and for tags that are not indexes.
    pub fn from_tag(tag: i64) -> Option<Self> {
        Self::new(u32::try_from(tag).ok()?)
    }

    /// The JVMTI tag of this object: its number, from 1.
    pub fn tag(self) -> i64 {
        i64::from(self.get())
    }
}

/// The address that identifies an object in a file. Null has no id and is written as 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(NonZeroU64);

impl ObjectId {
    /// The object at this address; `None` for 0, which is null.
    pub fn new(address: u64) -> Option<Self> {
        NonZeroU64::new(address).map(Self)
    }

    /// The address.
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_positions_plus_one() {
        let first = StringId::from_index(0).unwrap();
        assert_eq!((first.get(), first.index()), (1, 0));
        assert_eq!(StringId::new(0), None);
        assert_eq!(StringId::from_index(usize::MAX), None);
        let last = StringId::from_index(u32::MAX as usize - 1).unwrap();
        assert_eq!(last, StringId::last());
        assert_eq!(StringId::from_index(u32::MAX as usize), None);
    }

    #[test]
    fn absent_costs_nothing() {
        assert_eq!(size_of::<Option<ClassId>>(), 4);
        assert_eq!(size_of::<Option<ObjectId>>(), 8);
    }

    #[test]
    fn tags_outside_the_table_are_no_objects() {
        assert_eq!(ObjectIndex::from_tag(0), None);
        assert_eq!(ObjectIndex::from_tag(-1), None);
        assert_eq!(ObjectIndex::from_tag(1 << 40), None);
        assert_eq!(ObjectIndex::from_tag(7).unwrap().tag(), 7);
    }

    #[test]
    fn the_empty_trace_is_the_first() {
        assert_eq!(TraceId::from_index(0), Some(TraceId::EMPTY));
    }
}
