//! Text reports (`format=a`) in the layout of the old HPROF agent: the contents page.
//!
//! Each struct writes one piece: [`Header`]; [`ThreadStart`]; [`Trace`]; the blocks [`SitesBlock`],
//! [`CpuSamplesBlock`], [`CpuTimeBlock`], [`OldProfile`], [`MonitorTimeBlock`], [`MonitorDump`];
//! and a heap dump line by line, from [`HeapDumpBegin`] over [`RootLine`], [`InstanceLine`], [`ArrayLine`]
//! and [`ClassLine`] to [`HeapDumpEnd`]. [`Report`] sees to it that threads and traces are written once in a
//! file that several dumps go into; [`TextStream`] hands the text on by the megabyte.
//!
//! What parsers go by is kept to the byte: words, widths, tabs. Mended are the faults of the
//! old agent: no line is cut, no percentage is NaN, totals are true, names cannot break a line.
//! Traces go before the block that names them, all together: some parsers stop at the first line between them
//! that is none.
//!
//! Any [`std::io::Write`] will do; the errors are those of the writer alone. Serial numbers are decimal,
//! objects hexadecimal. An object that is absent has no line.

mod cpu;
mod header;
mod heap_object;
mod heap_root;
mod moment;
mod monitor_dump;
mod monitor_event;
mod monitor_time;
mod name;
mod old_profile;
mod report;
mod sites;
mod stream;
mod thread;
mod trace;

pub(crate) use name::{plain, utf8, write_word};

pub use cpu::{CpuSamplesBlock, CpuTimeBlock};
pub use header::Header;
pub use heap_object::{
    ArrayLine, ClassLine, ConstantLine, ElementLine, FieldLine, InstanceLine, StaticLine,
};
pub use heap_root::{HeapDumpBegin, HeapDumpEnd, RootLine};
pub use moment::Moment;
pub use monitor_dump::{Activity, Monitor, MonitorDump, Owner, ThreadState};
pub use monitor_event::MonitorEvent;
pub use monitor_time::MonitorTimeBlock;
pub use old_profile::{Call, OldMethod, OldProfile};
pub use report::Report;
pub use sites::SitesBlock;
pub use stream::TextStream;
pub use thread::{thread_end, ThreadStart};
pub use trace::{Frame, Phase, Trace};
