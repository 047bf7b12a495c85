//! The options, one row each, with values, default, meaning and parser. The help and
//! docs/options.md are generated from them.
//!
//! They are those of the JDK's HPROF agent (its manual page and `hprof_init.c`), under their old
//! names, and some of our own.

mod dumps;
pub(super) mod old;
mod output;
mod profiles;
mod row;
mod when;

pub(super) use row::Row;

/// Options that belong together.
pub(super) struct Group {
    /// Their subject, as a heading.
    pub(super) title: &'static str,
    /// In the order of the help.
    pub(super) rows: &'static [Row],
}

/// All options that the help may show.
pub(super) const GROUPS: [Group; 4] = [
    Group {
        title: "What to record, and when",
        rows: when::ROWS,
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
];

/// All options, one after the other.
pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    GROUPS.iter().flat_map(|group| group.rows)
}
