//! The agent's voice: one line on stderr at a time, never on stdout.

use std::io::Write;

/// Writes one line, `hprof-rs: ` before it. From any thread but not from the callbacks of a heap walk.
///
/// A line that cannot be written is lost: standard error may be closed, and the application must not care.
pub(crate) fn say(text: &str) {
    // One write, so that lines of other threads do not cut it.
    let line = format!("hprof-rs: {text}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Writes the line if it is wanted: `verbose=n` leaves out what went well.
pub(crate) fn say_if(is_wanted: bool, text: &str) {
    if is_wanted {
        say(text);
    }
}
