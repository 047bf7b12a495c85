//! `on=` and `do=`: what causes something by itself, and what is made.

use crate::condition::Condition;
use crate::file_name::FileName;
use std::path::PathBuf;
use std::time::Duration;

/// What causes something by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// The conditions, not empty.
    pub all: Vec<Condition>,
    /// How often they may cause something.
    pub limits: Limits,
}

/// Limits on the dumps that conditions cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The time after a dump in which only a timer can cause another.
    pub cooldown: Duration,
    /// Most attempts; `None` for any number.
    pub most: Option<u32>,
}

/// What conditions cause, or a command asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Does {
    /// What the other options ask for: a heap dump, or a report.
    Dump,
    /// A sample of what the classes have, as a line of this file.
    Histo(FileName),
    /// A report of the allocation sites, in this file.
    Sites(FileName),
    /// The answer of `hprof leaks` or `hprof memory`.
    Leaks(Leaks),
}

/// Who is asked what keeps the memory, or what all memory is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaks {
    /// The question: `leaks` or `memory`.
    pub question: &'static str,
    /// The file to which each answer is added.
    pub file: FileName,
    /// The command `hprof`; `None` for the one beside the agent's library.
    pub command: Option<PathBuf>,
}

/// The word of `do`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Dump,
    Histo,
    Sites,
    Leaks,
    Memory,
}
