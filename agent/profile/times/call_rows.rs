//! Times of methods as rows of a report.

use super::CallRow;
use format::ClassName;
use std::sync::Arc;
use tables::profile::{Cost, Method};
use tables::{FrameId, Tables};
use text::{Call, OldMethod};

/// A method's names, borrowed by rows of a report.
#[derive(Debug)]
pub(crate) struct Names {
    class: Arc<[u8]>,
    method: Arc<[u8]>,
    descriptor: Arc<[u8]>,
}

impl Names {
    fn of(frame: FrameId, tables: &Tables) -> Option<Self> {
        let frame = tables.frames.get(frame)?;
        let class = tables.classes.get(frame.class)?;
        let text = |id| tables.strings.get(id).unwrap_or_default();
        Some(Self {
            class: text(class.signature),
            method: text(frame.method),
            descriptor: text(frame.signature),
        })
    }

    /// The method.
    pub(crate) fn method(&self) -> Method<'_> {
        Method {
            class: ClassName::from_signature(&self.class),
            name: &self.method,
        }
    }

    fn old(&self) -> OldMethod<'_> {
        OldMethod {
            method: self.method(),
            descriptor: &self.descriptor,
        }
    }
}

/// A row, and the names of its two top frames: the method and its caller.
#[derive(Debug)]
pub(crate) struct NamedCall<'a> {
    row: &'a CallRow,
    callee: Option<Names>,
    caller: Option<Names>,
}

impl<'a> NamedCall<'a> {
    /// Looks the names up.
    pub(crate) fn new(row: &'a CallRow, tables: &Tables) -> Self {
        let trace = tables.traces.get(row.trace);
        let frames = trace.as_ref().map_or(&[][..], |trace| &trace.frames);
        let mut names = frames.iter().map(|&frame| Names::of(frame, tables));
        Self {
            row,
            callee: names.next().flatten(),
            caller: names.next().flatten(),
        }
    }

    /// The row of CPU TIME.
    pub(crate) fn cost(&self) -> Cost<'_> {
        Cost {
            trace: self.row.trace,
            top: self.callee.as_ref().map(Names::method),
            count: self.row.cost.calls,
            own: self.row.cost.own_nanos,
        }
    }

    /// The line of `cpu=old`.
    pub(crate) fn old(&self) -> Call<'_> {
        Call {
            callee: self.callee.as_ref().map(Names::old),
            caller: self.caller.as_ref().map(Names::old),
            count: self.row.cost.calls,
            nanos: self.row.cost.total_nanos,
        }
    }
}
