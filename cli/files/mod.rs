//! The files that commands read and write.

pub(crate) mod dump_file;
pub(crate) mod heap_file;
pub(crate) mod other_file;
pub(crate) mod target;
