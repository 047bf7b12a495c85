//! Rules on strings: unique ids, true UTF-8, defined before they are referred to.

use super::citations::Citations;
use super::fault::Faults;
use super::rule::Rule;
use crate::strings::StringTable;
use format::record::Utf8;

/// VisualVM maps large files in windows that overlap by this many bytes.
const TEXT_BYTES_END: u64 = 32 * 1024;

/// Bytes of a text shown in a report.
const TEXT_BYTES_SHOWN: usize = 40;

/// The strings so far, and those referred to too early.
#[derive(Debug, Default)]
pub(super) struct StringRules {
    pub(super) table: StringTable,
    citations: Citations<u64>,
}

impl StringRules {
    pub(super) fn define(&mut self, offset: u64, string: Utf8, faults: &mut Faults) {
        let id = string.id;
        if id == 0 {
            faults.add(Rule::StringIdZero, offset, || {
                format!("\"{}\" has id 0", shown(&string.text))
            });
        }
        judge_text(offset, &string, faults);
        self.citations.define(id, Rule::StringLate, faults, || {
            format!("string {id:#x}, which stands at {offset:#x}")
        });
        if !self.table.insert(string) {
            faults.add(Rule::DuplicateString, offset, || {
                format!("a second string with id {id:#x}")
            });
        }
    }

    /// Checks a reference to a string that must not be null.
    pub(super) fn cite(&mut self, offset: u64, id: u64, by: &'static str, faults: &mut Faults) {
        if id == 0 {
            faults.add(Rule::NameZero, offset, || format!("{by} with string id 0"));
        } else {
            self.cite_or_null(offset, id, by);
        }
    }

    /// Checks a reference to a string, which may be null.
    pub(super) fn cite_or_null(&mut self, offset: u64, id: u64, by: &'static str) {
        if id != 0 && !self.table.contains(id) {
            self.citations.add(id, offset, by);
        }
    }

    /// Bytes of memory that the tables take.
    pub(super) fn held_bytes(&self) -> u64 {
        self.table.held_bytes() + self.citations.held_bytes()
    }

    /// Reports strings that were never defined; returns the table for later passes.
    pub(super) fn finish(self, incomplete: bool, faults: &mut Faults) -> StringTable {
        if !incomplete {
            self.citations.judge(Rule::StringMissing, faults, |id| {
                format!("string {id:#x}, which is nowhere")
            });
        }
        self.table
    }
}

fn judge_text(offset: u64, string: &Utf8, faults: &mut Faults) {
    if string.text_bytes >= TEXT_BYTES_END {
        faults.add(Rule::StringTooLong, offset, || {
            format!("a string of {} bytes", string.text_bytes)
        });
    }
    let cut = string.text.len() as u64 != string.text_bytes;
    match std::str::from_utf8(&string.text) {
        // A text that was truncated while reading may end inside a character.
        Err(fault) if !(cut && fault.error_len().is_none()) => {
            faults.add(Rule::StringNotUtf8, offset, || {
                let at = fault.valid_up_to();
                format!("\"{}\" is not UTF-8 from byte {at} on", shown(&string.text))
            });
        }
        _ => {}
    }
}

/// The start of a text, short enough for one line, whatever its bytes.
fn shown(text: &[u8]) -> String {
    text.get(..TEXT_BYTES_SHOWN)
        .unwrap_or(text)
        .escape_ascii()
        .to_string()
}
