//! Answers on standard output, as text or as JSON.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

use crate::json;

/// Prints what `print` writes.
pub(crate) fn to_stdout(print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut to = BufWriter::new(io::stdout().lock());
    print(&mut to)?;
    to.flush()
}

/// Prints an answer: as JSON, or what `text` writes.
pub(crate) fn print_answer(
    is_json: bool,
    answer: &impl Serialize,
    text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    to_stdout(|to| match is_json {
        true => json::print(answer, to),
        false => text(to),
    })
}
