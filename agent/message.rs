//! The agent's messages: one line at a time on stderr, never on stdout.

use std::cell::RefCell;
use std::io::Write;

/// The second destination of messages.
type Answer = Box<dyn Write>;

thread_local! {
    /// Where this thread's lines go besides stderr.
    static ANSWER: RefCell<Option<Answer>> = const { RefCell::new(None) };
}

/// Sends this thread's lines to a file, too, for the client that issued the command; `None` ends
/// that.
pub(crate) fn answer_to(file: Option<Answer>) {
    // An ending thread has no client.
    let _ = ANSWER.try_with(|answer| answer.replace(file));
}

/// Writes one line, prefixed with `hprof-rs: `. Any thread, but not in the callbacks of a heap
/// walk.
///
/// A line that cannot be written is lost: stderr may be closed, and the application must not be
/// affected.
pub(crate) fn say(text: &str) {
    // A single write, so that lines of other threads do not interleave with it.
    let line = format!("hprof-rs: {text}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    write_answer(&line);
}

/// Writes a line to the client's file alone, without the prefix of messages.
pub(crate) fn tell_client(line: &str) {
    write_answer(&format!("{line}\n"));
}

fn write_answer(line: &str) {
    let _ = ANSWER.try_with(|answer| {
        if let Ok(Some(file)) = answer.try_borrow_mut().as_deref_mut() {
            let _ = file.write_all(line.as_bytes());
        }
    });
}

/// A number and what it counts: `1 class`, `2 classes`.
pub(crate) fn counted(number: u64, one: &str, more: &str) -> String {
    let noun = if number == 1 { one } else { more };
    format!("{number} {noun}")
}

/// Writes the line if `is_wanted`: `verbose=n` suppresses messages about success.
pub(crate) fn say_if(is_wanted: bool, text: &str) {
    if is_wanted {
        say(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        let stacks = |number| counted(number, "stack", "stacks");
        assert_eq!([0, 1, 2].map(stacks), ["0 stacks", "1 stack", "2 stacks"]);
    }
}
