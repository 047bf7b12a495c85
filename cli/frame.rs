//! Frames in the form of Java's stack traces.

use reader::StackFrame;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::plain::shown;

/// `app.Main.run(Main.java:7)`, as Java prints it after `at`.
pub(crate) fn line(frame: &StackFrame) -> String {
    let (class, method) = (shown(&frame.class), shown(&frame.method));
    format!("{class}.{method}({})", place(frame))
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

/// A frame's position, in the form of Java's stack traces.
fn place(frame: &StackFrame) -> String {
    let source = shown(frame.source.as_deref().unwrap_or("Unknown Source"));
    match frame.line {
        -3 => "Native Method".to_owned(),
        line if line > 0 => format!("{source}:{line}"),
        _ => source.into_owned(),
    }
}

/// A frame as JSON, with its line as in the file: -1 unknown, -2 compiled method, -3 native method.
#[derive(Debug)]
struct FrameInJson<'f>(&'f StackFrame);

impl Serialize for FrameInJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(4))?;
        map.serialize_entry("class", &*self.0.class)?;
        map.serialize_entry("line", &self.0.line)?;
        map.serialize_entry("method", &*self.0.method)?;
        map.serialize_entry("source", &self.0.source.as_deref())?;
        map.end()
    }
}

/// Frames as a JSON list.
pub(crate) fn in_json<'f, I>(frames: I) -> impl Serialize + use<'f, I>
where
    I: Iterator<Item = &'f StackFrame> + Clone,
{
    crate::json::List(frames.map(FrameInJson))
}
