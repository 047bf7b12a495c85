//! Finds the traces that allocated objects, which are looked up in address order.

use tables::TraceId;

/// The index in the sampled objects at which the next lookup starts.
#[derive(Debug, Default)]
pub(super) struct Allocated(Option<usize>);

impl Allocated {
    /// Allows any address for the next lookup.
    pub(super) fn restart(&mut self) {
        self.0 = None;
    }

    /// The trace that allocated the object at this address, which must not be below the last one.
    /// `allocated` lists the sampled objects.
    #[inline]
    pub(super) fn trace(&mut self, allocated: &[(u64, TraceId)], address: u64) -> TraceId {
        let first = || allocated.partition_point(|&(sampled, _)| sampled < address);
        let next = self.0.get_or_insert_with(first);
        while let Some(&(sampled, trace)) = allocated.get(*next) {
            if sampled > address {
                break;
            }
            *next += 1;
            if sampled == address {
                return trace;
            }
        }
        TraceId::EMPTY
    }
}
