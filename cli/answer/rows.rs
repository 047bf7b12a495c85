//! The largest rows of an answer, and what stands below them.

use serde::Serialize;

use super::sizes_by::SizesBy;
use crate::heap_file::Loaded;

/// Rows, and what stands below them. Its fields are those of the JSON, in their order.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Rows<R> {
    pub(super) left_out: usize,
    pub(super) rows: Vec<R>,
    sizes: SizesBy,
    total_bytes: u64,
}

impl<R> Rows<R> {
    /// These rows of a heap that has `left_out` more.
    pub(super) fn new(loaded: &Loaded<'_>, rows: Vec<R>, left_out: usize) -> Self {
        Self {
            left_out,
            rows,
            sizes: loaded.heap.sizes().into(),
            total_bytes: loaded.retained.total_bytes(),
        }
    }
}

/// Drops the rows after the first `most`, and counts them as left out.
pub(super) fn cut<R>(rows: &mut Vec<R>, left_out: &mut usize, most: usize) {
    *left_out = left_out.saturating_add(rows.len().saturating_sub(most));
    rows.truncate(most);
}
