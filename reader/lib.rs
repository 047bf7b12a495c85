//! Decodes and checks HPROF heap dumps: versions 1.0.1, 1.0.2 and Android's 1.0.3, plain or gzip.
//!
//! [`DumpReader`] gives a file's records as events, front to back, in little memory. On it stand
//! [`check()`] (is the file sound?), [`summarize`] (what is in it?) and [`Histogram`] (how much of each class?).
//! Files may be hostile: lengths and counts are claims, and nothing is allocated on a claim.
#![forbid(unsafe_code)]

mod check;
mod classes;
mod damage;
mod dump;
mod error;
mod header;
mod heap_record;
mod histogram;
mod id_set;
mod input;
mod java_name;
mod record;
mod shallow;
mod stream;
mod strings;
mod summary;
mod thread_names;

pub use check::fault::{Fault, Report, RuleTotal};
pub use check::rule::{Rule, Severity};
pub use check::{check, CheckOptions};
pub use classes::{Class, ClassTable, Layout};
pub use damage::{Damage, DamageKind};
pub use dump::{DumpReader, Event};
pub use error::ReadError;
pub use header::{Header, Version};
pub use heap_record::*;
pub use histogram::{Histogram, HistogramRow};
pub use id_set::IdSet;
pub use input::unpacked;
pub use java_name::java_name;
pub use record::*;
pub use shallow::shallow_bytes;
pub use stream::Source;
pub use strings::StringTable;
pub use summary::{summarize, KindTotal, StackFrame, Summary, ThreadSummary};
pub use thread_names::thread_names;
