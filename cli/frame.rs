//! Frames of stacks in the words of Java's stack traces.

use reader::StackFrame;

/// `app.Main.run(Main.java:7)`, the way Java prints it behind `at`.
pub(crate) fn line(frame: &StackFrame) -> String {
    format!("{}.{}({})", frame.class, frame.method, place(frame))
}

/// `app.Main.run`: what two frames at different lines of one method have in common.
pub(crate) fn method(frame: &StackFrame) -> String {
    match (frame.class.as_str(), frame.method.as_str()) {
        ("", "") => "?".to_owned(),
        ("", method) => method.to_owned(),
        (class, "") => format!("{class}.?"),
        (class, method) => format!("{class}.{method}"),
    }
}

/// Where a frame stands, in the words of Java's stack traces.
fn place(frame: &StackFrame) -> String {
    let source = frame.source.as_deref().unwrap_or("Unknown Source");
    match frame.line {
        -3 => "Native Method".to_owned(),
        line if line > 0 => format!("{source}:{line}"),
        _ => source.to_owned(),
    }
}

/// A frame as JSON, its line as in the file: -1 not known, -2 compiled method, -3 native method.
pub(crate) fn in_json(frame: &StackFrame) -> serde_json::Value {
    serde_json::json!({
        "class": frame.class,
        "method": frame.method,
        "source": frame.source,
        "line": frame.line,
    })
}
