//! Times of methods: rewritten code reports when they start and end.

pub(crate) mod call_rows;
mod cpu_times;
mod unmounted;

pub(crate) use cpu_times::{CallRow, CpuTimes};
