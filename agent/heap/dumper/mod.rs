//! A dump by HotSpot's own dumper: it stops the application and writes a file, of which ours is
//! made when the application runs again.
//!
//! [`dumper_dump`] leads: [`references`] holds what the agent knows while HotSpot dumps,
//! [`dump_name`] gives HotSpot the name, [`watch`] reports progress. Then the crate `translation`
//! reads HotSpot's file and writes ours, while [`raw_heap`] protects the application.

mod dump_name;
mod dumper_dump;
mod raw_heap;
mod references;
mod watch;

pub(super) use dump_name::prepared_name;
pub(super) use dumper_dump::dump_by_hotspot;
