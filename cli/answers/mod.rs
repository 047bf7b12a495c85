//! One answer a question about a heap: [`Sections`](crate::output::sections::Sections), made
//! from the heap.
//!
//! A command parses its arguments, asks, and prints. `mcp` and `view` send the JSON, and the page
//! has it. No answer knows who asked.

pub(crate) mod diff;
mod given_up;
pub(crate) mod histo;
pub(crate) mod labels;
pub(crate) mod leaks;
pub(crate) mod listed;
mod loaders;
pub(crate) mod memory;
pub(crate) mod merged_paths;
pub(crate) mod named;
pub(crate) mod object;
pub(crate) mod owner;
pub(crate) mod path;
mod reasons;
pub(crate) mod sentence;
pub(crate) mod show;
pub(crate) mod site_listing;
pub(crate) mod site_source;
pub(crate) mod sites;
pub(crate) mod sizes_by;
pub(crate) mod summary;
pub(crate) mod thread_frames;
pub(crate) mod threads;
pub(crate) mod top;
mod unreachable;
pub(crate) mod values;
pub(crate) mod waste;
