//! Processes and their folders, read by way of `/proc`: options, memory, temporary files.

pub(crate) mod as_user;
pub(crate) mod c_library;
pub(crate) mod ended;
pub(crate) mod inside;
pub(crate) mod jvm_options;
pub(crate) mod leftover;
pub(crate) mod made_file;
pub(crate) mod malloc_marks;
pub(crate) mod pagemap;
pub(crate) mod perf_data;
pub(crate) mod process;
pub(crate) mod reach;
pub(crate) mod resident;
pub(crate) mod smaps;
