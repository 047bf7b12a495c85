//! Pause: shortens the fork by leaving it fewer page table entries to copy.

pub(super) mod huge_pages;
pub(super) mod not_copied;
