//! JSON that is written incrementally, because a list from a hostile file may be far larger than
//! memory.

use std::io::{self, Write};

use serde::ser::{Serialize, Serializer};
use serde_json::Value;

/// The items of an iterator as a list.
#[derive(Clone, Debug)]
pub(crate) struct List<I>(pub(crate) I);

impl<I: Iterator + Clone> Serialize for List<I>
where
    I::Item: Serialize,
{
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.clone())
    }
}

/// Prints a value with indentation, and a line end.
pub(crate) fn print(value: &impl Serialize, to: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *to, value)?;
    writeln!(to)
}

/// Prints an answer, with `pause_ms` if a running JVM gave it.
pub(crate) fn print_answer(
    mut answer: Value,
    pause_ms: Option<u64>,
    to: &mut dyn Write,
) -> io::Result<()> {
    if let (Some(millis), Some(answer)) = (pause_ms, answer.as_object_mut()) {
        answer.insert("pause_ms".to_owned(), millis.into());
    }
    print(&answer, to)
}
