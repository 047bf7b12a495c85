//! A report: writes each thread and each trace only once to a text file.

use std::collections::HashSet;
use std::io::{self, Write};

use tables::{ThreadId, TraceId};

use crate::{thread_end, ThreadStart, Trace};

/// The threads and traces that a text stream already contains.
///
/// A stream may contain several dumps, whose blocks refer to traces by number; each trace and each
/// thread is written once, before the first reference to it. So a number must mean the same from
/// the first dump to the last: its tables live as long as the stream. A new stream, for example the
/// next file, needs a new report. Each method returns whether it wrote; after an error it counts as
/// not written.
#[derive(Debug, Default)]
pub struct Report {
    dumps: usize,
    traces: HashSet<TraceId>,
    started: HashSet<ThreadId>,
    ended: HashSet<ThreadId>,
}

impl Report {
    /// A report for an empty stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a dump: writes an empty line before each dump but the first.
    ///
    /// stackcollapse-hprof takes all lines up to the last `CPU SAMPLES END` without an empty line
    /// before it for one block, and fails on the lines between.
    pub fn begin_dump(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.dumps > 0 {
            writeln!(out)?;
        }
        self.dumps += 1;
        Ok(())
    }

    /// Whether the stream contains a trace, so that the caller need not look up names.
    pub fn has_trace(&self, trace: TraceId) -> bool {
        self.traces.contains(&trace)
    }

    /// Whether the stream contains the start of a thread.
    pub fn has_thread(&self, thread: ThreadId) -> bool {
        self.started.contains(&thread)
    }

    /// Writes a trace, unless the stream contains it.
    pub fn trace(&mut self, trace: &Trace<'_>, out: &mut impl Write) -> io::Result<bool> {
        once(&mut self.traces, trace.serial, || trace.encode(out))
    }

    /// Writes the start of a thread, unless the stream contains it.
    pub fn thread_start(
        &mut self,
        start: &ThreadStart<'_>,
        out: &mut impl Write,
    ) -> io::Result<bool> {
        once(&mut self.started, start.thread, || start.encode(out))
    }

    /// Writes the end of a thread, unless the stream contains it or lacks its start.
    pub fn thread_end(&mut self, thread: ThreadId, out: &mut impl Write) -> io::Result<bool> {
        if !self.has_thread(thread) {
            return Ok(false);
        }
        once(&mut self.ended, thread, || thread_end(thread, out))
    }
}

/// Calls `write` unless it was done for this id.
fn once<I: Copy + Eq + std::hash::Hash>(
    done: &mut HashSet<I>,
    id: I,
    write: impl FnOnce() -> io::Result<()>,
) -> io::Result<bool> {
    if done.contains(&id) {
        return Ok(false);
    }
    write()?;
    Ok(done.insert(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn trace(serial: u32) -> Trace<'static> {
        Trace {
            serial: TraceId::new(serial).unwrap(),
            thread: None,
            phase: None,
            frames: &[],
        }
    }

    #[test]
    fn a_thread_starts_and_ends_once() {
        let (mut report, mut out) = (Report::new(), Vec::new());
        let thread = ThreadId::new(3).unwrap();
        let start = ThreadStart {
            thread,
            object: None,
            name: b"",
            group: b"",
        };
        assert!(!report.thread_end(thread, &mut out).unwrap());
        assert!(report.thread_start(&start, &mut out).unwrap());
        assert!(!report.thread_start(&start, &mut out).unwrap());
        assert!(report.thread_end(thread, &mut out).unwrap());
        assert!(!report.thread_end(thread, &mut out).unwrap());
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "THREAD START (obj=0, id = 3, name=\"\", group=\"\")\nTHREAD END (id = 3)\n"
        );
    }

    #[test]
    fn an_empty_line_stands_between_dumps() {
        let (mut report, mut out) = (Report::new(), Vec::new());
        for _ in 0..3 {
            report.begin_dump(&mut out).unwrap();
            out.push(b'.');
        }
        assert_eq!(out, b".\n.\n.");
    }

    #[test]
    fn what_failed_is_not_there() {
        let mut report = Report::new();
        let mut full: &mut [u8] = &mut [];
        assert!(report.trace(&trace(2), &mut full).is_err());
        assert!(!report.has_trace(TraceId::new(2).unwrap()));
        assert!(report.trace(&trace(2), &mut Vec::new()).unwrap());
    }

    proptest! {
        #[test]
        fn each_trace_is_written_once(serials in proptest::collection::vec(1u32..9, 0..40)) {
            let (mut report, mut out) = (Report::new(), Vec::new());
            for &serial in &serials {
                let known = report.has_trace(TraceId::new(serial).unwrap());
                prop_assert_eq!(report.trace(&trace(serial), &mut out).unwrap(), !known);
            }
            let text = String::from_utf8(out).unwrap();
            for serial in 1..9 {
                let written = text.matches(&format!("TRACE {serial}:\n")).count();
                prop_assert_eq!(written, usize::from(serials.contains(&serial)));
            }
        }
    }
}
