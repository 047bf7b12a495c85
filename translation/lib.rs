//! A dump by HotSpot's own dumper becomes ours: the contents page.
//!
//! [`translate`] leads. It reads HotSpot's file twice: a survey takes all but the objects, our tables are filled with
//! that, classes and roots are written, and then the objects, each with the stack that allocated it. What the file
//! cannot tell is [`Known`] beforehand, by references whose roots stand in the file.
//!
//! Nothing here knows a JVM: the file, its reader's memory and the signs of life are [`Surroundings`].
#![forbid(unsafe_code)]

mod error;
mod known;
mod objects;
mod records;
mod rows;
mod surroundings;
mod survey;
mod translate;

pub use error::TranslateError;
pub use known::{Known, KnownByReference, ThreadNames};
pub use surroundings::Surroundings;
pub use translate::{translate, Knowledge, Settings, Translated};
