//! Translates a dump by HotSpot's own dumper into ours.
//!
//! [`translate`] is the entry. It reads HotSpot's file twice: a survey reads everything except the
//! objects and fills our tables; then it writes classes, roots, and the objects, each with the
//! stack that allocated it. [`Known`] contains the facts that are not in the file, by JNI
//! references whose roots are in the file.
//!
//! Nothing here depends on a JVM: the file, the reports of progress and the free memory come from
//! [`Surroundings`].
#![forbid(unsafe_code)]

mod error;
mod known;
mod objects;
mod records;
mod rows;
mod settings;
mod surroundings;
mod survey;
mod translate;

pub use error::TranslateError;
pub use known::{Known, KnownByReference, ThreadNames};
pub use settings::Settings;
pub use surroundings::Surroundings;
pub use translate::{translate, Knowledge, Translated};
