//! Pause: what makes a fork short, by fewer pages to copy.

pub(super) mod huge_pages;
pub(super) mod unused_heap;
