//! Copies a dump with zeros in place of confidential values. All other bytes stay, and so do
//! lengths and references: every reader reads the copy like the dump. One record is added, which
//! says that values are missing.
//!
//! [`redact`] reads the file two to four times: [`survey`] finds the fields and the arrays about
//! which they decide, [`copy`] writes. A file that is truncated, damaged or has unknown records is
//! refused, because unread parts could contain anything.

mod blanks;
mod copy;
mod plan;
mod result;
mod survey;

use std::io::Write;

use crate::{Budget, Open};
use format::redaction::Redaction;

pub use result::{RedactError, Redacted};
use survey::Survey;

/// Copies the file to `out`. After an error, the caller must discard the output.
pub fn redact(
    open: &mut Open<'_, '_>,
    redaction: &Redaction,
    budget: Budget,
    out: &mut dyn Write,
) -> Result<Redacted, RedactError> {
    let survey = Survey::take(open, redaction, budget)?;
    copy::copy(open, &survey, out)
}
