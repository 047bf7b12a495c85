//! The largest rows of an answer, and what stands below them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sizes_by::SizesBy;
use crate::heap_file::Loaded;

/// Rows, and what stands below them. Its fields are those of the JSON, in their order.
#[derive(Clone, Debug, Serialize, Deserialize)]
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

impl<R: for<'de> Deserialize<'de>> Rows<R> {
    /// The first `most` rows that were kept as JSON; `None` if it is no such answer.
    pub(super) fn kept(json: Value, most: usize) -> Option<Self> {
        let mut kept: Self = serde_json::from_value(json).ok()?;
        cut(&mut kept.rows, &mut kept.left_out, most);
        Some(kept)
    }
}

/// Drops the rows after the first `most`, and counts them as left out.
pub(super) fn cut<R>(rows: &mut Vec<R>, left_out: &mut usize, most: usize) {
    *left_out = left_out.saturating_add(rows.len().saturating_sub(most));
    rows.truncate(most);
}
