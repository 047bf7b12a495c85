//! Every allocation, as rewritten code reports it (`sampling=0`).

pub(crate) mod allocation_places;
pub(crate) mod array_sizes;
pub(crate) mod exact_allocations;
pub(crate) mod known_classes;
pub(crate) mod stack_addresses;
pub(crate) mod thread_tally;

pub(crate) use allocation_places::New;
