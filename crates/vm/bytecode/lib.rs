//! Rewrites Java class files so that they report allocations, method entries and method exits to a
//! tracker class.
//!
//! [`rewrite()`] takes the bytes of a class and a [`Plan`] and returns the new bytes. The constant
//! pool only grows at its end, so indices never change. Everything except methods' code is copied
//! unchanged. A method whose code cannot be rewritten stays unchanged and is reported with its
//! [`Reason`]. [`tracker_class`] makes the called class. Chapter numbers in comments refer to the
//! Java Virtual Machine Specification; its chapter 4 defines the format.
//!
//! ```
//! use bytecode::{rewrite, tracker_class, Plan};
//!
//! let class = tracker_class()?;
//! let plan = Plan { calls: true, ..Plan::default() };
//! let mut number = 0;
//! let rewritten = rewrite(&class, &plan, |_method| {
//!     number += 1;
//!     Some(number)
//! })?;
//! assert_eq!(rewritten.methods_rewritten, 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod names;

mod additions;
mod annotation;
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
pub use plan::{Plan, Route};
pub use rewrite::{rewrite, LeftAlone, Rewritten};
pub use tracker::{natives_class, tracker_class};
