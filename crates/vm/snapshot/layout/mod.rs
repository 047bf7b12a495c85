//! The layout of objects, arrays, mirrors and classes in HotSpot's memory.

mod calibration;
mod coding;
mod colours;
#[cfg(any(test, feature = "invented"))]
mod invented_heap;
mod known;
mod object_layout;

pub use calibration::{Calibration, Unexplained, MOVING};
pub use coding::{instance_offset, ClassWords, Linear, Oops};
pub use colours::{Colours, ForwardingPlaces, Good, GranuleTable, GRANULE_SHIFT};
#[cfg(any(test, feature = "invented"))]
pub use invented_heap::{InventedHeap, Plan};
pub use known::{Content, Expected, KnownField, KnownObject, KnownStatic};
pub use object_layout::{ArrayLayout, MirrorInKlass, ObjectLayout, StaticIds};
