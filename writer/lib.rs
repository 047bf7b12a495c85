//! Writes dumps and profiles as HPROF: encoders, segments, compression, and the files and streams
//! that receive them.
//!
//! From the outside in: [`DumpFile`] is one dump on its way to its [`Outlet`], with the only thread
//! that writes; [`TailWriter`] is the rest of one, written by a forked child; [`GzipLevel`] selects
//! compression; [`emit`] turns tables into records; [`Segments`] packs the sub-records of the heap
//! walk into segments; [`GraphObjects`] packs objects without their values, for a command that asks
//! only for references; [`record`], [`heap_record`] and [`profile_record`] encode one record each.
//! The constants of the format are in the crate `format`, which readers use as well. The crate
//! `text` writes text.
//!
//! Buffers of a quarter of a megabyte pass from the walk to the writer thread, never single
//! records. A file is written as `NAME.part` and renamed when it is complete: a file with the final
//! name is complete.
#![forbid(unsafe_code)]

pub mod emit;
pub mod heap_record;
pub mod profile_record;
pub mod record;
pub mod site_rows;

mod compressor;
mod connection;
mod connection_outlet;
mod dump_file;
mod encoder;
mod error;
mod file_mode;
mod final_name;
mod floor;
mod graph_objects;
mod gzip;
mod gzip_sink;
mod holes;
mod joined_segments;
mod message;
mod numbered_name;
mod outlet;
mod part_file;
mod peer;
mod raw_dump;
mod segment;
mod sink;
mod spool;
mod spool_sink;
mod stream;
mod stream_sink;
mod tail;
mod tail_writer;
mod text_stream;
mod whole;
mod worker;

pub use connection::Connection;
pub use connection_outlet::ConnectionOutlet;
pub use dump_file::{DumpFile, ObjectsSender};
pub use error::WriteError;
pub use file_mode::FileMode;
pub use floor::Floor;
pub use graph_objects::{GraphClass, GraphObjects};
pub use gzip::GzipLevel;
pub use numbered_name::numbered;
pub use outlet::Outlet;
pub use part_file::{do_without_locks, is_leftover, remove_unfinished};
pub use peer::Peer;
pub use raw_dump::{RawDump, RawFile};
pub use segment::{Deliver, SegmentTotals, Segments};
pub use sink::{check_name, open_answer, Existing, FileSink, Sink, Target, Written};
pub use spool::StoredDump;
pub use spool_sink::{HandOn, SpoolSink};
pub use stream::{AwaitRoom, Patience};
pub use stream_sink::{IsOurs, Reader, StreamOutlet, Way};
pub use tail::Tail;
pub use tail_writer::{TailSender, TailWriter};
pub use text_stream::TextStream;
pub use worker::{start_worker, StartWorker, Work, Worker};
