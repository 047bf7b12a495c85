//! A binary file in the classic text layout.

use ::text::{transcribe, Settings, TextError};

use super::arguments::{Arguments, Form};
use crate::output::{Failure, Verdict};

/// Reads the file and writes it as text.
pub(super) fn write(arguments: &Arguments) -> Result<Verdict, Failure> {
    let file = arguments.input()?;
    let settings = Settings {
        sizes: None,
        utc_offset_seconds: 0,
        budget: file.budget(),
    };
    let told = arguments.write(&file, Form::Text, |mut to| {
        let told = transcribe(&mut || file.open(), &settings, &mut to);
        told.map_err(|why| match why {
            TextError::Write(fault) => Failure::Output(fault),
            TextError::Read(fault) => file.failure(&fault),
        })
    })?;
    Ok(file.verdict(told.damaged))
}
