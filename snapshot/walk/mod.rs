//! Walk: from object to object, until everything that can be reached is marked.

mod marks;
mod reach;
mod work;

pub use marks::Marks;
pub use reach::{MarkOnly, OnObject, Walker};
pub use work::{Batch, Slice, Work};
