//! The options: one row for each, with its values, default, meaning and parser. Help and docs/options.md are made from them.
//!
//! They are those of the JDK's HPROF agent (its manual page and `hprof_init.c`), under their old names, and some of our own.

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
    /// Values, as help and refusals show them.
    pub(super) values: &'static str,
    /// Default, as help shows it.
    pub(super) default: &'static str,
    /// Meaning, for the help and docs/options.md: Markdown without links, some sentences in one line. Empty: not shown.
    pub(super) help: &'static str,
    /// Whether the option does something.
    pub(super) standing: Standing,
    /// Notes the value. Err: why it is wrong; "" for "takes `values`".
    pub(super) set: fn(&mut Said, &str) -> Result<(), &'static str>,
}

impl Row {
    /// Shown in help: all but the old agent's debug options.
    pub(super) fn is_public(&self) -> bool {
        !self.help.is_empty()
    }
}

/// Options that belong together.
pub(super) struct Group {
    /// What they are about, as a heading.
    pub(super) title: &'static str,
    /// In the order in which they are shown.
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

/// Whether an option does something.
#[derive(Clone, Copy)]
pub(super) enum Standing {
    /// It does, or `resolve` says what is missing.
    Built,
    /// Accepted for old scripts, and said to do nothing.
    Nothing(&'static str),
    /// Known from the old agent, and refused whatever its value.
    Refused(&'static str),
}
