//! One answer a question about a heap: [`Sections`](crate::output::sections::Sections), made
//! from the heap.
//!
//! A command parses its arguments, asks, and prints. `mcp` and `view` send the JSON, and the page
//! has it. No answer knows who asked.

use crate::files::heap_file::{GraphArguments, Loaded};
use crate::output::outcome::Failure;
use crate::output::sections::Sections;

pub(crate) mod diff;
mod given_up;
pub(crate) mod histo;
pub(crate) mod labels;
pub(crate) mod leaks;
mod loaders;
pub(crate) mod memory;
pub(crate) mod merged_paths;
pub(crate) mod named;
pub(crate) mod object;
pub(crate) mod owner;
pub(crate) mod path;
pub(crate) mod sentence;
pub(crate) mod show;
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

/// A question about a heap that is in memory. Its fields are the options of the command.
pub(crate) trait Question {
    /// Passes over the file, two of them for the graph.
    const PASSES: u64 = 2;

    /// Errors: it cannot be asked of this.
    fn check(&self, _: &GraphArguments) -> Result<(), Failure> {
        Ok(())
    }

    /// Errors: what is asked for is not there; the file cannot be read.
    fn answer<'a>(&self, loaded: &'a Loaded) -> Result<Sections<'a>, Failure>;
}
