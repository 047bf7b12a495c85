//! The agent's voice: one line on stderr at a time, never on stdout.

use std::cell::RefCell;
use std::io::Write;

/// Where an answer goes.
type Answer = Box<dyn Write>;

thread_local! {
    /// Where this thread's lines go besides stderr.
    static ANSWER: RefCell<Option<Answer>> = const { RefCell::new(None) };
}

/// Has this thread's lines go to a file, too, for whoever has asked for what it does; `None` ends that.
pub(crate) fn answer_to(file: Option<Answer>) {
    // A thread that ends has nobody to answer.
    let _ = ANSWER.try_with(|answer| answer.replace(file));
}

/// Writes one line, `hprof-rs: ` before it. From any thread but not from the callbacks of a heap walk.
///
/// A line that cannot be written is lost: standard error may be closed, and the application must not care.
pub(crate) fn say(text: &str) {
    // One write, so that lines of other threads do not cut it.
    let line = format!("hprof-rs: {text}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    let _ = ANSWER.try_with(|answer| {
        if let Ok(Some(file)) = answer.try_borrow_mut().as_deref_mut() {
            let _ = file.write_all(line.as_bytes());
        }
    });
}

/// Writes the line if it is wanted: `verbose=n` leaves out what went well.
pub(crate) fn say_if(is_wanted: bool, text: &str) {
    if is_wanted {
        say(text);
    }
}
