//! Threads in text: their starts and ends.

use std::io::{self, Write};

use tables::ThreadId;

use format::name::Quoted;

/// Writes the line for a thread that starts, or existed before the report: its number, its object
/// or 0, its name and that of its group, empty if it has none.
pub fn thread_start(
    thread: u32,
    object: u64,
    name: &[u8],
    group: &[u8],
    out: &mut impl Write,
) -> io::Result<()> {
    let (name, group) = (Quoted(name), Quoted(group));
    writeln!(
        out,
        "THREAD START (obj={object:x}, id = {thread}, name=\"{name}\", group=\"{group}\")"
    )
}

/// Writes the line for the end of the thread with this number.
pub fn thread_end(thread: u32, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "THREAD END (id = {thread})")
}

/// The name of a thread in the lines about monitors.
pub(crate) fn thread_words(thread: Option<ThreadId>) -> String {
    thread.map_or_else(
        || "<unknown thread>".to_owned(),
        |thread| format!("thread {}", thread.get()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_one_line_whatever_the_name() {
        let (name, mut out) = (b"a \"b\"\nTHREAD END (id = 1)", Vec::new());
        thread_start(200_001, 0x5000_0233, name, b"", &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "THREAD START (obj=50000233, id = 200001, \
             name=\"a \\\"b\\\"\\u000ATHREAD END (id = 1)\", group=\"\")\n"
        );
    }
}
