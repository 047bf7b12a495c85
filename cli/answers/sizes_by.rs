//! Where the sizes of objects come from.

use std::fmt;

use graph::Sizes;
use serde::Serialize;

/// Where the sizes of objects come from. Displays as the words that follow "sizes by".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SizesBy {
    /// The JVM has written them into the dump.
    Jvm,
    /// Eclipse MAT's rules.
    #[default]
    Mat,
}

impl From<Sizes> for SizesBy {
    fn from(sizes: Sizes) -> Self {
        match sizes.are_told {
            true => Self::Jvm,
            false => Self::Mat,
        }
    }
}

impl fmt::Display for SizesBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jvm => "the JVM itself",
            Self::Mat => "Eclipse MAT's rules",
        })
    }
}
