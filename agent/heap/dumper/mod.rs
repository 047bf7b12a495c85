//! A dump by HotSpot's own dumper: it stops the application and writes a file, which is copied to
//! the dump's place when the application runs again.
//!
//! [`dumper_dump`] leads: [`dump_name`] gives HotSpot the name, [`watch`] reports progress, and
//! [`raw_copy`] copies the file.
//!
//! HotSpot creates its file with mode 0600 and never opens one that is there, so this can be
//! neither a pipe nor a file in memory. References in it without a record are null: HotSpot leaves
//! out classes that are not linked, and archived objects of classes that were never loaded.

mod dump_name;
mod dumper_dump;
mod raw_copy;
mod watch;

pub(super) use dump_name::prepared_name;
pub(super) use dumper_dump::dump_by_hotspot;
