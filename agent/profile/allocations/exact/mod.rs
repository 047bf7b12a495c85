//! Every allocation, as rewritten code reports it (`sampling=0`).

pub(crate) mod exact_allocations;
pub(crate) mod thread_tally;

pub(crate) use exact_allocations::New;
