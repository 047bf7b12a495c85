//! Answers on standard output, as text or as JSON.

use std::io::{self, BufWriter, Write};

use crate::output::sections::Sections;

/// The version of the keys in JSON: one that goes or gets another meaning makes it higher, a new
/// one does not. docs/hprof-command.md lists them.
const SCHEMA: u64 = 1;

/// Prints an answer: as JSON with indentation, or as text.
pub(crate) fn print(is_json: bool, mut answer: Sections<'_>) -> io::Result<()> {
    answer.fact("schema", SCHEMA);
    let mut to = BufWriter::new(io::stdout().lock());
    match is_json {
        true => {
            serde_json::to_writer_pretty(&mut to, &answer)?;
            writeln!(to)?;
        }
        false => answer.print(&mut to)?,
    }
    to.flush()
}
