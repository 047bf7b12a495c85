//! Times of methods, as rewritten code tells when they begin and end.

mod call_contexts;
pub(crate) mod call_rows;
mod cpu_times;
mod unmounted;

pub(crate) use cpu_times::{CallRow, CpuTimes};
