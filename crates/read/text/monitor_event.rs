//! Waiting in text: the lines WAIT and WAITED, written at once.

use std::io::{self, Write};

use tables::ThreadId;

use crate::thread::thread_words;
use format::name::Word;

/// Writes that a thread starts to wait for a monitor of the class with this signature, for so many
/// milliseconds; 0 is for ever. The thread is `None` if it has no number in the report.
pub fn monitor_wait(
    signature: &[u8],
    timeout_millis: u64,
    thread: Option<ThreadId>,
    out: &mut impl Write,
) -> io::Result<()> {
    let (signature, thread) = (Word(signature), thread_words(thread));
    writeln!(
        out,
        "WAIT: MONITOR {signature}, timeout={timeout_millis}, {thread}"
    )
}

/// Writes that the wait has ended after so many milliseconds.
pub fn monitor_waited(
    signature: &[u8],
    waited_millis: u64,
    thread: Option<ThreadId>,
    out: &mut impl Write,
) -> io::Result<()> {
    let (signature, thread) = (Word(signature), thread_words(thread));
    writeln!(
        out,
        "WAITED: MONITOR {signature}, time_waited={waited_millis}, {thread}"
    )
}
