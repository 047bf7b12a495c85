//! Writes the classic text layout of HPROF (`format=a`), like the JDK's agent.
//!
//! Each function writes one piece: [`header`]; [`thread_start`]; [`trace`]; the blocks [`sites`],
//! [`cpu_samples`], [`cpu_time`], [`old_profile`], [`monitor_time`], [`monitor_dump`].
//! [`transcribe`] converts a whole binary file to text, including the heap dump.
//!
//! The parts that parsers depend on are the same to the byte: words, widths, tabs. The faults of
//! the old agent are mended: no line is cut, no percentage is NaN, totals are true, names cannot
//! break a line. All traces precede the block that refers to them, without other lines between:
//! some parsers stop at the first line between traces that is none.
//!
//! Any [`std::io::Write`] will do; the only errors are those of the writer. Serial numbers are
//! decimal, objects hexadecimal. An absent object has no line.
#![forbid(unsafe_code)]

mod cpu;
mod dump;
mod header;
mod moment;
mod monitor_dump;
mod monitor_event;
mod monitor_time;
mod old_profile;
mod sites;
mod thread;
mod trace;

pub use cpu::{cpu_samples, cpu_time};
pub use dump::{heap_line, transcribe, Open, Settings, TextError, Transcribed};
pub use header::header;
pub use moment::Moment;
pub use monitor_dump::{monitor_dump, Activity, Monitor, Owner, ThreadState};
pub use monitor_event::{monitor_wait, monitor_waited};
pub use monitor_time::monitor_time;
pub use old_profile::{old_profile, Call, OldMethod};
pub use sites::sites;
pub use thread::{thread_end, thread_start};
pub use trace::{trace, Frame};
