//! Waiting in text: the lines WAIT and WAITED, written at once.

use std::io::{self, Write};

use tables::ThreadId;

use crate::thread::thread_words;
use format::name::Word;

/// A call of `Object.wait`, or its return. The thread is `None` if it has no number in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MonitorEvent<'a> {
    /// The thread starts to wait.
    Wait {
        /// The signature of the monitor's class: `Ljava/lang/Object;`.
        signature: &'a [u8],
        /// The longest wait, in milliseconds; 0 is for ever.
        timeout_millis: u64,
        /// The thread.
        thread: Option<ThreadId>,
    },
    /// The wait has ended.
    Waited {
        /// The signature of the monitor's class.
        signature: &'a [u8],
        /// The length of the wait, in milliseconds.
        waited_millis: u64,
        /// The thread.
        thread: Option<ThreadId>,
    },
}

impl MonitorEvent<'_> {
    /// Writes the line.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        match *self {
            Self::Wait {
                signature,
                timeout_millis,
                thread,
            } => {
                let (signature, thread) = (Word(signature), thread_words(thread));
                writeln!(
                    out,
                    "WAIT: MONITOR {signature}, timeout={timeout_millis}, {thread}"
                )
            }
            Self::Waited {
                signature,
                waited_millis,
                thread,
            } => {
                let (signature, thread) = (Word(signature), thread_words(thread));
                writeln!(
                    out,
                    "WAITED: MONITOR {signature}, time_waited={waited_millis}, {thread}"
                )
            }
        }
    }
}
