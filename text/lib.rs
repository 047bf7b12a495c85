//! The classic text layout of HPROF (`format=a`), as the JDK's agent had it: the contents page.
//!
//! Each struct writes one piece: [`Header`]; [`ThreadStart`]; [`Trace`]; the blocks [`SitesBlock`],
//! [`CpuSamplesBlock`], [`CpuTimeBlock`], [`OldProfile`], [`MonitorTimeBlock`], [`MonitorDump`]. [`Report`] sees to it
//! that threads and traces are written once in a file that several dumps go into. [`transcribe`] makes text of a whole
//! binary file, heap dump included.
//!
//! What parsers go by is kept to the byte: words, widths, tabs. Mended are the faults of the
//! old agent: no line is cut, no percentage is NaN, totals are true, names cannot break a line.
//! Traces go before the block that names them, all together: some parsers stop at the first line between them
//! that is none.
//!
//! Any [`std::io::Write`] will do; the errors are those of the writer alone. Serial numbers are decimal,
//! objects hexadecimal. An object that is absent has no line.
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
