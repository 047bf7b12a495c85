//! The files that commands read and write.

pub(crate) mod heap_file;
pub(crate) mod input_file;
pub(crate) mod other_file;
pub(crate) mod target;
