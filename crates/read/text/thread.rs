//! Threads in text: their starts and ends.

use std::io::{self, Write};

use tables::{ObjectId, ThreadId};

use format::name::Quoted;

/// A thread that starts, or existed before the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadStart<'a> {
    /// The thread's serial number.
    pub thread: ThreadId,
    /// The `java.lang.Thread` object; `None`, written as 0, if objects have no ids in this report.
    pub object: Option<ObjectId>,
    /// The thread's name; empty if it has none.
    pub name: &'a [u8],
    /// The name of its group; empty if it has none.
    pub group: &'a [u8],
}

impl ThreadStart<'_> {
    /// Writes the line.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        let object = self.object.map_or(0, ObjectId::get);
        started(self.thread.get(), object, self.name, self.group, out)
    }
}

/// Writes the line for the thread with this number and object.
pub(crate) fn started(
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

/// Writes the line for a thread that has ended.
pub fn thread_end(thread: ThreadId, out: &mut impl Write) -> io::Result<()> {
    ended(thread.get(), out)
}

/// Writes the line for the end of the thread with this number.
pub(crate) fn ended(thread: u32, out: &mut impl Write) -> io::Result<()> {
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
        let start = ThreadStart {
            thread: ThreadId::new(200_001).unwrap(),
            object: ObjectId::new(0x5000_0233),
            name: b"a \"b\"\nTHREAD END (id = 1)",
            group: b"",
        };
        let mut out = Vec::new();
        start.encode(&mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "THREAD START (obj=50000233, id = 200001, \
             name=\"a \\\"b\\\"\\u000ATHREAD END (id = 1)\", group=\"\")\n"
        );
    }
}
