//! Frames in the form of Java's stack traces.

use reader::StackFrame;
use serde::Serialize;

use crate::cell::Cell;
use crate::folding;
use crate::plain::{plain, shown};
use crate::table::INDENT;

/// `app.Main.run(Main.java:7)`, as Java prints it after `at`.
pub(crate) fn line(frame: &StackFrame) -> String {
    in_java(
        (&frame.class, &frame.method),
        (frame.source.as_deref(), frame.line),
    )
}

fn in_java((class, method): (&str, &str), place: (Option<&str>, i32)) -> String {
    format!("{}.{}({})", shown(class), shown(method), in_source(place))
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

/// A position in a source, in the form of Java's stack traces.
fn in_source((source, line): (Option<&str>, i32)) -> String {
    let source = shown(source.unwrap_or("Unknown Source"));
    match line {
        -3 => "Native Method".to_owned(),
        line if line > 0 => format!("{source}:{line}"),
        _ => source.into_owned(),
    }
}

/// A frame in an answer, with its line as in the file: -1 unknown, -2 compiled method, -3 native
/// method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Frame {
    class: Box<str>,
    line: i32,
    method: Box<str>,
    source: Option<Box<str>>,
}

impl Frame {
    pub(crate) fn of(frame: &StackFrame) -> Self {
        Self {
            class: (*frame.class).into(),
            line: frame.line,
            method: (*frame.method).into(),
            source: frame.source.as_deref().map(Into::into),
        }
    }

    /// Whether it is one of the JDK or of a language.
    pub(crate) fn is_library(&self) -> bool {
        folding::is_library(&self.class)
    }

    /// `app.Main.run(Main.java:7)`, as Java prints it after `at`.
    pub(crate) fn line(&self) -> String {
        in_java(
            (&self.class, &self.method),
            (self.source.as_deref(), self.line),
        )
    }
}

/// Frames as a JSON list.
pub(crate) fn in_json<'f>(frames: impl Iterator<Item = &'f StackFrame>) -> Cell {
    Cell::json(frames.map(Frame::of).collect::<Vec<_>>())
}

/// The frame as a line below a row.
pub(crate) fn line_below(frame: &StackFrame) -> String {
    format!("{INDENT}at {}", plain(&line(frame)))
}
