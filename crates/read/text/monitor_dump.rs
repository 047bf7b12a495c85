//! Monitors in text: the MONITOR DUMP block with the owners and waiters of each.

use std::fmt::{self, Formatter};
use std::io::{self, Write};

use tables::{ThreadId, TraceId};

use crate::thread::thread_words;
use format::name::Word;

/// The activity of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It has ended.
    Ended,
    /// It has not started yet.
    NotStarted,
    /// It sleeps.
    Sleeping,
    /// It waits to enter a monitor.
    Entering,
    /// It waits for a notification, or in any other way.
    Waiting,
    /// It runs, or is ready to run.
    Runnable,
    /// None of these.
    Unknown,
}

impl Activity {
    fn code(self) -> &'static str {
        match self {
            Self::Ended => "ZO",
            Self::NotStarted => "NS",
            Self::Sleeping => "SL",
            Self::Entering => "MW",
            Self::Waiting => "CW",
            Self::Runnable => "R",
            Self::Unknown => "UN",
        }
    }
}

/// A thread at the dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadState {
    /// The thread.
    pub thread: ThreadId,
    /// Its stack, which precedes the block; [`TraceId::EMPTY`] if it has none.
    pub trace: TraceId,
    /// Its activity.
    pub activity: Activity,
    /// Whether it is suspended.
    pub suspended: bool,
    /// Whether its interrupt flag is set.
    pub interrupted: bool,
    /// Whether it runs native code.
    pub in_native: bool,
}

impl fmt::Display for ThreadState {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let flag = |on, text| if on { text } else { "" };
        write!(
            out,
            "    THREAD {}, trace {}, status: {}{}{}{}",
            self.thread.get(),
            self.trace.get(),
            flag(self.suspended, "S|"),
            flag(self.interrupted, "intr|"),
            flag(self.in_native, "native|"),
            self.activity.code()
        )
    }
}

/// The owner of a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The thread; `None` if it has no number in the report.
    pub thread: Option<ThreadId>,
    /// Number of entries without an exit.
    pub entry_count: u32,
}

/// A monitor at the dump. A waiter is `None` if it has no number in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Monitor<'a> {
    /// The signature of its class: `Ljava/lang/Object;`.
    pub signature: &'a [u8],
    /// Its owner; `None` if it has none.
    pub owner: Option<Owner>,
    /// The threads that wait to enter it.
    pub waiting_to_enter: &'a [Option<ThreadId>],
    /// The threads that wait for a notification.
    pub waiting_to_be_notified: &'a [Option<ThreadId>],
}

impl Monitor<'_> {
    fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        let signature = Word(self.signature);
        match self.owner {
            Some(owner) => {
                writeln!(out, "    MONITOR {signature}")?;
                let (thread, count) = (thread_words(owner.thread), owner.entry_count);
                writeln!(out, "\towner: {thread}, entry count: {count}")?;
            }
            None => writeln!(out, "    MONITOR {signature} unowned")?,
        }
        waiters("waiting to enter:", self.waiting_to_enter, out)?;
        waiters("waiting to be notified:", self.waiting_to_be_notified, out)
    }
}

fn waiters(what: &str, threads: &[Option<ThreadId>], out: &mut impl Write) -> io::Result<()> {
    write!(out, "\t{what}")?;
    for (place, thread) in threads.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        write!(out, "{comma} {}", thread_words(*thread))?;
    }
    writeln!(out)
}

/// Writes the MONITOR DUMP block: all threads, whose traces precede the block, and the monitors
/// that have an owner or a waiter.
pub fn monitor_dump(
    threads: &[ThreadState],
    monitors: &[Monitor<'_>],
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "MONITOR DUMP BEGIN")?;
    for thread in threads {
        writeln!(out, "{thread}")?;
    }
    for monitor in monitors {
        monitor.encode(out)?;
    }
    writeln!(out, "MONITOR DUMP END")
}
