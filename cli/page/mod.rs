//! The page of `hprof report`, and `hprof view`, which serves it.

pub(crate) mod report;
pub(crate) mod view;
