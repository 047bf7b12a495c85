//! A dump by HotSpot's own dumper: it stops the application and writes a file, of which ours is made when the application runs again.
//!
//! [`dumper_dump`] leads: [`references`] holds what the agent knows while HotSpot dumps, [`dump_name`] tells HotSpot where to, [`watch`]
//! tells the user how far it is. Then [`survey`] reads HotSpot's file for all but the objects, [`rows`] fills our tables with that,
//! [`records`] writes classes and roots, and [`objects`] reads the file again and writes the objects.

mod dump_name;
mod dumper_dump;
mod objects;
mod records;
mod references;
mod rows;
mod survey;
mod translate;
mod watch;

pub(super) use dump_name::prepared_name;
pub(super) use dumper_dump::dump_by_hotspot;
