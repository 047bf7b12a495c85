//! Whole dumps: one program of tests, so that it is linked once.

mod dump_file;
mod golden;
mod real_records;
mod tail;
