//! Whole files: one program of tests, so that it is linked once.

mod contents;
mod hostile;
mod profiles;
mod segments;
mod trial;
