//! Frames in the form of Java's stack traces.

use reader::StackFrame;
use serde_json::json;

use crate::output::cell::Cell;
use crate::output::plain::{plain, shown};
use crate::output::table::INDENT;

/// `app.Main.run(Main.java:7)`, as Java prints it after `at`.
pub(crate) fn line(frame: &StackFrame) -> String {
    let source = shown(frame.source.as_deref().unwrap_or("Unknown Source"));
    let place = match frame.line {
        -3 => "Native Method".to_owned(),
        line if line > 0 => format!("{source}:{line}"),
        _ => source.into_owned(),
    };
    format!("{}.{}({place})", shown(&frame.class), shown(&frame.method))
}

/// `app.Main.run`: the common part of two frames at different lines of one method.
pub(crate) fn method(frame: &StackFrame) -> String {
    match (&*shown(&frame.class), &*shown(&frame.method)) {
        ("", "") => "?".to_owned(),
        ("", method) => method.to_owned(),
        (class, "") => format!("{class}.?"),
        (class, method) => format!("{class}.{method}"),
    }
}

/// `app.Main.run:17`, if the line is known.
pub(crate) fn method_at_line(frame: &StackFrame) -> String {
    match frame.line {
        line if line > 0 => format!("{}:{line}", method(frame)),
        _ => method(frame),
    }
}

/// Frames as a JSON list, each with its line as in the file: -1 unknown, -2 compiled method, -3
/// native method.
pub(crate) fn in_json<'f>(frames: impl Iterator<Item = &'f StackFrame>) -> Cell {
    let frame = |frame: &StackFrame| {
        json!({
            "class": frame.class,
            "line": frame.line,
            "method": frame.method,
            "source": frame.source,
        })
    };
    Cell::json(frames.map(frame).collect::<Vec<_>>())
}

/// The frame as a line below a row.
pub(crate) fn line_below(frame: &StackFrame) -> String {
    format!("{INDENT}at {}", plain(&line(frame)))
}
