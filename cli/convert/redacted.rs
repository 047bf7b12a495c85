//! A copy of a dump without the values that nobody else may see.

use std::io::{self, Write};

use format::redaction::{Redacted as Word, Redaction};
use reader::{redact, RedactError};

use crate::output::screen;
use crate::output::{counted, Failure, Verdict};

use super::arguments::{Arguments, Form};

/// Reads the dump and writes the copy.
pub(super) fn write(arguments: &Arguments) -> Result<Verdict, Failure> {
    let file = arguments.input()?;
    let word = arguments.redact.as_deref().and_then(Word::parse);
    let redaction = Redaction {
        what: word.unwrap_or(Word::All),
        keep: arguments.keep.clone().unwrap_or_default(),
        drop: arguments.drop.clone().unwrap_or_default(),
    };
    let told = arguments.write(&file, Form::Hprof, |to| {
        let copied = redact(&mut || file.open(), &redaction, file.budget(), to);
        copied.map_err(|why| match why {
            RedactError::Write(fault) => Failure::Output(fault),
            RedactError::Read(fault) => file.failure(&fault),
            other => file.refuse(other.to_string()),
        })
    })?;
    for pattern in &told.unmatched {
        let text = format!("no class has the field {pattern}");
        writeln!(io::stderr(), "{}", screen::message(&text))?;
    }
    let arrays = counted(told.arrays, "array");
    let objects = counted(told.objects, "object");
    let names = counted(told.texts, "name");
    arguments.tell(&format!(
        "redacted: {arrays} and {objects} have zeros, {names} became stars"
    ))?;
    Ok(Verdict::Sound)
}
