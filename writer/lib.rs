//! What becomes bytes: the contents page.
//!
//! From the outside in: [`DumpFile`] is one dump on its way to disk, with the only thread that writes;
//! [`emit`] turns tables into records; [`Segments`] packs what the heap walk says into segments;
//! [`record`] and [`heap_record`] encode one record each; [`mutf8`] makes text readable;
//! [`mod@format`] holds the numbers of the format and nothing else, so a reader can use it alone.
//!
//! Buffers of megabytes cross from the walk to the writer thread, never single records. A file is
//! written as `NAME.part` and renamed when it is whole: what carries the final name is complete.
#![forbid(unsafe_code)]

pub mod emit;
pub mod format;
pub mod heap_record;
pub mod mutf8;
pub mod record;

mod dump_file;
mod encoder;
mod error;
mod segment;
mod sink;

pub use dump_file::{DumpFile, ObjectsSender};
pub use error::WriteError;
pub use segment::{Deliver, SegmentTotals, Segments};
pub use sink::{Existing, FileSink, Sink, Target, Written};
