//! What a person or a program gets: typed cells in tables and sections, as text and as JSON, and
//! how a command ends.

pub(crate) mod cell;
pub(crate) mod date;
pub(crate) mod folding;
pub(crate) mod frame;
pub(crate) mod left_out;
pub(crate) mod markdown;
pub(crate) mod number;
pub(crate) mod outcome;
pub(crate) mod plain;
pub(crate) mod screen;
pub(crate) mod sections;
pub(crate) mod spinner;
pub(crate) mod stdout;
pub(crate) mod table;

// What nearly every answer is made of.
pub(crate) use cell::Cell;
pub(crate) use number::{counted, grouped, in_units, limit, percent};
pub(crate) use outcome::{Failure, Verdict};
pub(crate) use plain::{plain, shown};
pub(crate) use sections::Sections;
pub(crate) use stdout::print;
pub(crate) use table::Table;
