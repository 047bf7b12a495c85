//! One answer a question about a heap: [`Sections`](crate::output::sections::Sections), made
//! from the heap.
//!
//! A command parses its arguments, asks, and prints. `mcp` and `view` send the JSON, and the page
//! has it. No answer knows who asked. A new question is a module here, and its line among
//! [`Questions`].

use crate::output::{Failure, Verdict};

pub(crate) mod ask;
pub(crate) mod diff;
mod given_up;
pub(crate) mod histo;
mod jvm_name;
pub(crate) mod labels;
pub(crate) mod leaks;
mod loaders;
pub(crate) mod memory;
pub(crate) mod merged_paths;
pub(crate) mod named;
mod native;
pub(crate) mod object;
pub(crate) mod owner;
pub(crate) mod path;
mod reasons;
pub(crate) mod sentence;
pub(crate) mod show;
pub(crate) mod site_source;
pub(crate) mod sites;
pub(crate) mod summary;
pub(crate) mod thread_frames;
pub(crate) mod threads;
pub(crate) mod top;
mod unreachable;
pub(crate) mod values;
pub(crate) mod waste;

/// The commands that ask one question of a heap.
macro_rules! questions {
    ($($name:ident: $question:ty;)*) => {
        #[derive(Debug, clap::Subcommand)]
        pub(crate) enum Questions {
            $($name(ask::Arguments<$question>),)*
        }

        impl Questions {
            /// Reads the heap and prints the answer.
            pub(crate) fn run(&self) -> Result<Verdict, Failure> {
                match self {
                    $(Self::$name(arguments) => arguments.run(),)*
                }
            }
        }
    };
}

questions! {
    Leaks: leaks::Leaks;
    Show: show::Show;
    Threads: threads::Threads;
    Waste: waste::Waste;
}
