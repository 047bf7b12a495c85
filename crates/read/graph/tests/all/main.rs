//! Graphs of whole dumps: one program of tests, so that it is linked once.
#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod android;
mod class_patterns;
mod elements;
mod evidence;
mod heap_ends;
mod hostile;
mod leaks;
mod map_values;
mod members;
mod naive;
mod names;
mod native_image;
mod own_maps;
mod reasons;
mod rules;
mod runs;
mod shapes;
mod stream;
mod trial;
mod unreachable;
mod waste;
mod widths;
