//! The options, one row each, with values, default, meaning and parser. The help and
//! docs/options.md are generated from them.
//!
//! They are those of the JDK's HPROF agent (its manual page and `hprof_init.c`), under their old
//! names, and some of our own.

mod dumps;
mod old;
mod output;
mod profiles;
mod record;

use super::Said;

/// One option.
pub(super) struct Row {
    /// Name before the `=`.
    pub(super) name: &'static str,
    /// Values, as the help and error messages show them.
    pub(super) values: &'static str,
    /// Default, as the help shows it.
    pub(super) default: &'static str,
    /// Meaning, for the help and docs/options.md: Markdown without links, a few sentences in one
    /// line. Empty: not shown.
    pub(super) help: &'static str,
    /// Whether the option has an effect.
    pub(super) standing: Standing,
    /// Stores the value. The error is what is wrong with it; "" stands for "takes `values`".
    pub(super) set: fn(&mut Said, &str) -> Result<(), &'static str>,
}

impl Row {
    /// Whether the help shows it: all options except refused ones, older spellings, and those for
    /// our own programs.
    pub(super) fn is_public(&self) -> bool {
        !self.help.is_empty()
    }
}

/// Options that belong together.
pub(super) struct Group {
    /// Their subject, as a heading.
    pub(super) title: &'static str,
    /// In the order of the help.
    pub(super) rows: &'static [Row],
}

/// All options.
pub(super) const GROUPS: [Group; 5] = [
    Group {
        title: "What to record, and when",
        rows: record::ROWS,
    },
    Group {
        title: "Where it goes",
        rows: output::ROWS,
    },
    Group {
        title: "Profiles",
        rows: profiles::ROWS,
    },
    Group {
        title: "How a heap is dumped",
        rows: dumps::ROWS,
    },
    Group {
        title: "Accepted without effect",
        rows: old::ROWS,
    },
];

/// All options, one after the other.
pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    GROUPS.iter().flat_map(|group| group.rows)
}

/// Whether an option has an effect.
#[derive(Clone, Copy)]
pub(super) enum Standing {
    /// It has, or `resolve` says what is missing.
    Built,
    /// Accepted for old scripts, with a message that it does nothing.
    Nothing(&'static str),
    /// Known, and rejected with any value: the old agent had it, or another one has taken its
    /// place.
    Refused(&'static str),
}
