//! Rewrites Java class files so that they report allocations, method entries and method exits to a tracker class.
//!
//! [`rewrite()`] takes the bytes of a class and a [`Plan`] and gives the new bytes. The constant pool only grows at its
//! end, so indices never move, and what is not a method's code is copied as it is. A method whose code cannot be
//! rewritten stays as it was and is counted with its [`Reason`]. [`tracker_class`] makes the class that is called.
//! Chapter numbers in the comments are those of the Java Virtual Machine Specification, chapter 4 of which is the format.
//!
//! ```
//! use bytecode::{rewrite, tracker_class, Plan, TrackerNames};
//!
//! let class = tracker_class(&TrackerNames::default())?;
//! let plan = Plan { calls: true, ..Plan::default() };
//! let mut number = 0;
//! let rewritten = rewrite(&class, &plan, |_method| {
//!     number += 1;
//!     Some(number)
//! })?;
//! assert_eq!(rewritten.methods_rewritten, 7);
//! # Ok::<(), bytecode::ClassError>(())
//! ```
#![forbid(unsafe_code)]

mod additions;
mod annotation;
#[cfg(test)]
mod assembler;
mod bytes;
mod class_file;
mod code;
mod constant_pool;
mod constructor;
mod cursor;
mod debug_table;
mod emit;
mod error;
mod frame;
mod gate;
mod handler;
mod initializing_call;
mod layout;
mod method;
mod opcode;
mod plan;
mod program;
mod rewrite;
mod snippet;
#[cfg(test)]
mod tests;
mod tracker;

pub use class_file::{ClassFile, Method};
pub use error::{ClassError, Reason};
pub use gate::PROBE;
pub use initializing_call::InitializingCall;
pub use plan::{Plan, Route, TrackerNames};
pub use rewrite::{rewrite, LeftAlone, Rewritten};
pub use tracker::{natives_class, tracker_class};
