//! Monitors in text: the MONITOR DUMP block, who holds what and who waits for it.

use std::fmt::{self, Formatter};
use std::io::{self, Write};

use tables::{ThreadId, TraceId};

use crate::thread::thread_words;
use format::name::Word;

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It has ended.
    Ended,
    /// It was not started yet.
    NotStarted,
    /// It sleeps.
    Sleeping,
    /// It waits to enter a monitor.
    Entering,
    /// It waits to be notified, or in any other way.
    Waiting,
    /// It runs, or would if a processor were free.
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
    /// Its stack, which is in the report before; [`TraceId::EMPTY`] if it has none.
    pub trace: TraceId,
    /// What it is doing.
    pub activity: Activity,
    /// Whether it is suspended.
    pub suspended: bool,
    /// Whether it was interrupted and does not know yet.
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

/// Who owns a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The thread; `None` if it has no number in the report.
    pub thread: Option<ThreadId>,
    /// How often it entered without leaving.
    pub entry_count: u32,
}

/// A monitor at the dump. A waiter is `None` if it has no number in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Monitor<'a> {
    /// The signature of its class: `Ljava/lang/Object;`.
    pub signature: &'a [u8],
    /// Who owns it; `None` if nobody does.
    pub owner: Option<Owner>,
    /// Who waits to enter.
    pub waiting_to_enter: &'a [Option<ThreadId>],
    /// Who waits to be notified.
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

/// The MONITOR DUMP block.
#[derive(Clone, Copy, Debug)]
pub struct MonitorDump<'a> {
    /// All threads; their traces are in the report before.
    pub threads: &'a [ThreadState],
    /// The monitors that somebody owns or waits for.
    pub monitors: &'a [Monitor<'a>],
}

impl MonitorDump<'_> {
    /// Writes the block.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "MONITOR DUMP BEGIN")?;
        for thread in self.threads {
            writeln!(out, "{thread}")?;
        }
        for monitor in self.monitors {
            monitor.encode(out)?;
        }
        writeln!(out, "MONITOR DUMP END")
    }
}
