//! What to dump, where to, and in which ways.

use super::facts::allocation_traces::Profiled;
use crate::order::Order;
use jvm::env::Vm;
use options::StopTheWorld;
use tables::Census;
use writer::Outlet;

/// What to dump, and where to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'r> {
    pub(crate) vm: Vm,
    pub(crate) order: &'r Order<'r>,
    pub(crate) outlet: &'r dyn Outlet,
    /// The event counts; `None` if the agent does not listen to events.
    pub(crate) census: Option<&'r Census>,
    pub(crate) profiled: Profiled<'r>,
}

/// A way to dump a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Reads a forked copy.
    Fork,
    /// Has HotSpot's own dumper stop the application.
    HotSpot,
}

impl Way {
    /// The ways that the order allows, the best first.
    pub(super) fn all(order: &Order<'_>) -> &'static [Self] {
        // HotSpot's dumper writes all values.
        if order.has_no_dump() || order.options.leaves_out_values() {
            return &[Way::Fork];
        }
        match order.stop_the_world() {
            StopTheWorld::Always => &[Way::HotSpot],
            _ => &[Way::Fork, Way::HotSpot],
        }
    }
}
