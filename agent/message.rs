//! The agent's messages: one line at a time on stderr, never on stdout.

use jvm::env::Env;
use jvm::event::Event;
use std::any::Any;
use std::cell::RefCell;
use std::io::Write;
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::sync::Once;

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

/// Has each panic of this library tell itself in one line. All are caught.
pub(crate) fn tell_of_panics() {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        set_hook(Box::new(|panic| {
            let place = panic
                .location()
                .map_or_else(String::new, |it| format!(" at {it}"));
            say(&panic_line(&place, panic.payload()));
        }));
    });
}

fn panic_line(place: &str, payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or(payload.downcast_ref::<&str>().copied());
    let text = text.unwrap_or_default().replace('\n', " ");
    format!("an internal error{place}: {text}; please report it")
}

/// What `body` makes. After a panic there is no such `what`, and a line says so.
pub(crate) fn or_none<T>(what: &str, body: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        say(&format!(
            "no {what}: the agent failed with the internal error that it told before; the application is not affected"
        ));
        None
    })
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

/// Switches an event on. A refusal is told.
pub(crate) fn listen(env: &Env, event: Event) {
    if let Err(error) = env.notify(event, true) {
        say(&format!(
            "the JVM refuses the event {}, so what depends on it is missing: {error}",
            event.name
        ));
    }
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
    use std::sync::mpsc::{channel, Sender};

    #[test]
    fn a_panic_is_one_line_and_what_it_ended_is_told() {
        let line = |payload: Box<dyn Any>| panic_line(" at a.rs:1:2", &*payload);
        let expected = "an internal error at a.rs:1:2: left 1 right 2; please report it";
        assert_eq!(line(Box::new("left 1\nright 2")), expected);
        assert_eq!(line(Box::new("left 1\nright 2".to_owned())), expected);
        let (told, heard) = channel();
        answer_to(Some(Box::new(Told(told))));
        tell_of_panics();
        assert_eq!(or_none::<()>("dump", || panic!("on\npurpose")), None);
        answer_to(None);
        let lines: Vec<_> = heard.iter().collect();
        assert!(lines[0].starts_with("hprof-rs: an internal error at agent/message.rs:"));
        assert!(lines[1].starts_with("hprof-rs: no dump: ") && lines.len() == 2);
    }

    /// Takes each line.
    struct Told(Sender<String>);

    impl Write for Told {
        fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
            let _ = self.0.send(String::from_utf8_lossy(line).into_owned());
            Ok(line.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn one_is_not_many() {
        let stacks = |number| counted(number, "stack", "stacks");
        assert_eq!([0, 1, 2].map(stacks), ["0 stacks", "1 stack", "2 stacks"]);
    }
}
