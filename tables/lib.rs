//! The tables: what the agent stores between events, and during one dump.
//!
//! A table stores facts as rows and assigns a small dense id to each. Tables know neither Java nor
//! the bytes of the file. One dump file is written from one [`Tables`] and the [`ObjectTable`],
//! which belongs only to the walk.
//!
//! # Locks
//!
//! Every table of [`Tables`] may be filled and read by any number of threads at once. A call takes
//! only the locks of its own table and releases them before it returns; it never calls another
//! table or the caller while it holds one. Inside a table the order is: a shard of the lookup map
//! first, then the rows. So there is no lock order between tables that one could get wrong.
//!
//! The locks are ordinary ones. A VM thread at a safepoint must not take them, because a stopped
//! Java thread may hold them. Such a thread uses a table that it owns ([`ObjectTable`]), or one
//! without locks ([`Census`]).
#![forbid(unsafe_code)]

pub mod call_contexts;
pub mod profile;

mod census;
mod class;
mod class_chain;
mod frame;
mod id;
mod interner;
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
pub use class_chain::class_chain;
pub use frame::{Frame, FrameTable, Line};
pub use id::{
    ClassId, DenseId, FrameId, LoaderId, ObjectId, ObjectIndex, StringId, ThreadId, TraceId,
};
pub use interner::Interner;
pub use loader::LoaderTable;
pub use object::{ObjectTable, TableFull};
pub use root::Root;
pub use rows::Rows;
pub use site::{SiteIndex, SiteKey, SiteTable, Weight};
pub use string::StringTable;
pub use thread::{ThreadRow, ThreadTable};
pub use trace::{Trace, TraceTable};

/// Everything that one dump file is written from, except objects.
///
/// The dumping thread creates a new one for each dump and drops it afterwards. Any thread may use
/// any table at any time; see the crate's page for the locks.
#[derive(Debug)]
pub struct Tables {
    /// Names and signatures.
    pub strings: StringTable,
    /// Loaded classes.
    pub classes: ClassTable,
    /// Class loaders other than the bootstrap loader.
    pub loaders: LoaderTable,
    /// Positions in methods.
    pub frames: FrameTable,
    /// Stacks of frames; the first is the empty one.
    pub traces: TraceTable,
    /// Threads.
    pub threads: ThreadTable,
}

impl Default for Tables {
    /// Tables that are empty except for the empty trace.
    fn default() -> Self {
        let traces = TraceTable::default();
        let _empty: TraceId = traces.intern(&Trace::default());
        Self {
            strings: StringTable::default(),
            classes: ClassTable::default(),
            loaders: LoaderTable::default(),
            frames: FrameTable::default(),
            traces,
            threads: ThreadTable::default(),
        }
    }
}
