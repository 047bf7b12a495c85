//! What is remembered between events and for one dump: the contents page.
//!
//! A table keeps facts as rows and hands out a small dense id for each; no table knows Java, and none
//! knows a byte of the file. One [`Tables`] is all that one dump file is written from, apart from
//! the [`ObjectTable`], which belongs to the walk alone.
//!
//! # Locks
//!
//! Every table of [`Tables`] may be filled and read from any number of threads at once. A call takes
//! the locks of its own table only and releases them before it returns; none calls back into another
//! table or into the caller while it holds one. Inside a table the order is: a shard of the lookup
//! map first, then the rows. So there is no order between tables to keep, and none to get wrong.
//!
//! The locks are ordinary ones: a VM thread inside a safepoint must not take them, because a stopped
//! Java thread may hold them. What such a thread needs is copied out beforehand ([`InstanceLayout`],
//! [`StaticLayout`]), or it owns the table ([`ObjectTable`]), or it needs no lock ([`Census`]).
#![forbid(unsafe_code)]

mod census;
mod class;
mod frame;
mod id;
mod interner;
mod layout;
mod loader;
mod object;
mod root;
mod rows;
mod site;
mod string;
mod thread;
mod trace;

pub use census::{Census, CensusSnapshot};
pub use class::{ClassRow, ClassTable, Field};
pub use frame::{Frame, FrameTable, Line};
pub use id::{
    ClassId, DenseId, FrameId, LoaderId, ObjectId, ObjectIndex, StringId, ThreadId, TraceId,
};
pub use interner::Interner;
pub use layout::{
    class_chain, first_field_index, InstanceLayout, Slot, StaticLayout, ID_SIZE_BYTES,
};
pub use loader::LoaderTable;
pub use object::{ObjectRow, ObjectTable, TableFull};
pub use root::Root;
pub use rows::Rows;
pub use site::{SiteIndex, SiteKey, SiteTable, Weight};
pub use string::StringTable;
pub use thread::{ThreadRow, ThreadTable};
pub use trace::{Trace, TraceTable};

/// All that one dump file is written from, objects excepted.
///
/// The dumping thread makes a fresh one for each dump and drops it afterwards. Any thread may use any
/// table at any time; see the crate's page for the locks.
#[derive(Debug, Default)]
pub struct Tables {
    /// Names and signatures.
    pub strings: StringTable,
    /// Loaded classes.
    pub classes: ClassTable,
    /// Class loaders other than the bootstrap loader.
    pub loaders: LoaderTable,
    /// Places in methods.
    pub frames: FrameTable,
    /// Stacks of frames; the first is the empty one.
    pub traces: TraceTable,
    /// Threads.
    pub threads: ThreadTable,
}

impl Tables {
    /// Empty tables, but for the empty trace.
    pub fn new() -> Self {
        Self::default()
    }
}
