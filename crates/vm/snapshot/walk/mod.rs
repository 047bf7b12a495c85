//! Follows references from object to object until every reachable object is marked.

mod decisions;
mod marks;
mod reach;
mod virtual_frames;
mod work;

pub use marks::Marks;
pub use reach::{MarkOnly, OnObject, Walker};
pub use virtual_frames::{VirtualFrames, VirtualThreadFields};
pub use work::{Batch, Slice, Work};
