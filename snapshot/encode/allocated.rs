//! Which trace allocated an object, for objects that come in the order of their addresses.

use tables::TraceId;

/// Where in the sampled objects the next object is looked for.
#[derive(Debug, Default)]
pub(super) struct Allocated(Option<usize>);

impl Allocated {
    /// The next object may have any address.
    pub(super) fn restart(&mut self) {
        self.0 = None;
    }

    /// The trace that allocated the object at this address, which is not below the last one; `allocated` has those of the
    /// sampled objects.
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
