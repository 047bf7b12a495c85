//! A dump by HotSpot's own dumper: it stops the application and writes a file, of which ours is
//! made when the application runs again.
//!
//! [`dumper_dump`] leads: [`references`] holds what the agent knows while HotSpot dumps,
//! [`dump_name`] gives HotSpot the name, [`watch`] reports progress. Then the crate `translation`
//! reads HotSpot's file and writes ours, while [`raw_heap`] protects the application.
//!
//! HotSpot creates its file with mode 0600 and never opens one that is there, so this can be
//! neither a pipe nor a file in memory. References in it without a record are null: HotSpot leaves
//! out classes that are not linked, and archived objects of classes that were never loaded.

mod dump_name;
mod dumper_dump;
mod raw_heap;
mod references;
mod watch;

pub(super) use dump_name::prepared_name;
pub(super) use dumper_dump::dump_by_hotspot;
