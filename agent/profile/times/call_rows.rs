//! Times of methods as rows of a report.

use super::CallRow;
use crate::profile::stacks::{NamedFrame, StackTraces};
use tables::profile::Cost;
use text::{Call, OldMethod};

/// A row, and the names of its two top frames: the method and its caller.
#[derive(Debug)]
pub(crate) struct NamedCall<'a> {
    row: &'a CallRow,
    callee: Option<NamedFrame>,
    caller: Option<NamedFrame>,
}

impl<'a> NamedCall<'a> {
    /// Looks the names up.
    pub(crate) fn new(row: &'a CallRow, traces: &StackTraces) -> Self {
        let mut frames = traces.named_frames(row.trace).into_iter();
        Self {
            row,
            callee: frames.next(),
            caller: frames.next(),
        }
    }

    /// The row of CPU TIME.
    pub(crate) fn cost(&self) -> Cost<'_> {
        Cost {
            trace: self.row.trace,
            top: self.callee.as_ref().map(NamedFrame::named_method),
            count: self.row.cost.calls,
            own: self.row.cost.own_nanos,
        }
    }

    /// The line of `cpu=old`.
    pub(crate) fn old(&self) -> Call<'_> {
        Call {
            callee: self.callee.as_ref().map(old),
            caller: self.caller.as_ref().map(old),
            count: self.row.cost.calls,
            nanos: self.row.cost.total_nanos,
        }
    }
}

fn old(frame: &NamedFrame) -> OldMethod<'_> {
    OldMethod {
        method: frame.named_method(),
        descriptor: &frame.signature,
    }
}
