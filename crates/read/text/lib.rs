//! Writes the classic text layout of HPROF (`format=a`), like the JDK's agent.
//!
//! Each struct writes one piece: [`Header`]; [`ThreadStart`]; [`Trace`]; the blocks [`SitesBlock`],
//! [`CpuSamplesBlock`], [`CpuTimeBlock`], [`OldProfile`], [`MonitorTimeBlock`], [`MonitorDump`].
//! [`Report`] ensures that threads and traces are written once in a file with several dumps.
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
mod report;
mod sites;
mod thread;
mod trace;

pub use cpu::{CpuSamplesBlock, CpuTimeBlock};
pub use dump::{heap_line, transcribe, Open, Settings, TextError, Transcribed};
pub use header::Header;
pub use moment::Moment;
pub use monitor_dump::{Activity, Monitor, MonitorDump, Owner, ThreadState};
pub use monitor_event::MonitorEvent;
pub use monitor_time::MonitorTimeBlock;
pub use old_profile::{Call, OldMethod, OldProfile};
pub use report::Report;
pub use sites::SitesBlock;
pub use thread::{thread_end, ThreadStart};
pub use trace::{Frame, Phase, Trace};
