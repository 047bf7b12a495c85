//! One file a subcommand: its arguments, and what it asks.

pub(crate) mod check;
pub(crate) mod diff;
pub(crate) mod dump;
pub(crate) mod histo;
pub(crate) mod list;
pub(crate) mod manual;
pub(crate) mod memory;
pub(crate) mod overview;
pub(crate) mod sites;
