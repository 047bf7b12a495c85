//! A row: one option.

use crate::Said;

/// One option.
pub(crate) struct Row {
    /// Name before the `=`.
    pub(crate) name: &'static str,
    /// Values, as the help and error messages show them.
    pub(crate) values: &'static str,
    /// Default, as the help shows it.
    pub(crate) default: &'static str,
    /// Meaning, for the help and docs/options.md: Markdown without links, a few sentences in one
    /// line. Empty: not shown.
    pub(crate) help: &'static str,
    /// Stores the value. The error is what is wrong with it; "" stands for "takes `values`".
    pub(crate) set: fn(&mut Said, &str) -> Result<(), &'static str>,
}

impl Row {
    /// Whether the help shows it: all options except older spellings, and those for our own
    /// programs.
    pub(crate) fn is_public(&self) -> bool {
        !self.help.is_empty()
    }
}
