//! The lines of an attach command's answer that the agent writes for a program, beside its
//! messages.
//!
//! Each starts with `= `, which no message does.

use std::fmt;

/// The line that announces that a thread of the agent's own obeys. The code that the JVM returned
/// to the client is not final then.
pub const UNDER_WAY: &str = "= under way";

/// The start of the last line of such an answer; the code follows.
pub const ENDED_WITH: &str = "= ended with ";

/// What became of a dump, as one line: `= made pause_ms=12 bytes=4711 objects=88` or
/// `= refused would-stop`.
///
/// A reader ignores keys that it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was made.
    Made {
        /// How long the application paused.
        pause_ms: u64,
        /// Bytes written or sent.
        bytes: u64,
        /// Objects in it; `None` if they were not counted.
        objects: Option<u64>,
    },
    /// It was not made.
    Refused(Refusal),
}

/// Why a dump was not made, where the client knows another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no fork, at least not now, and HotSpot's own dumper would stop the application.
    WouldStop,
    /// Only a forked copy could make it, and there is none of this heap.
    NotForked,
}

const MADE: &str = "= made";
const REFUSED: &str = "= refused ";
const REFUSALS: [(Refusal, &str); 2] = [
    (Refusal::WouldStop, "would-stop"),
    (Refusal::NotForked, "not-forked"),
];

impl Outcome {
    /// The meaning of a line; `None` for every other line, and for a refusal of a later version.
    pub fn parse(line: &str) -> Option<Self> {
        if let Some(why) = line.strip_prefix(REFUSED) {
            let known = REFUSALS.iter().find(|(_, name)| *name == why)?;
            return Some(Self::Refused(known.0));
        }
        let pairs = line.strip_prefix(MADE)?;
        let number = |key: &str| {
            let mut pairs = pairs.split(' ').filter_map(|pair| pair.split_once('='));
            pairs.find(|(found, _)| *found == key)?.1.parse().ok()
        };
        Some(Self::Made {
            pause_ms: number("pause_ms")?,
            bytes: number("bytes")?,
            objects: number("objects"),
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Made {
                pause_ms,
                bytes,
                objects,
            } => {
                write!(f, "{MADE} pause_ms={pause_ms} bytes={bytes}")?;
                objects.map_or(Ok(()), |objects| write!(f, " objects={objects}"))
            }
            Self::Refused(why) => {
                let name = REFUSALS.iter().find(|(known, _)| known == why);
                write!(f, "{REFUSED}{}", name.map_or("", |(_, name)| name))
            }
        }
    }
}

/// Whether the line is for a program, and no message.
pub fn is_for_programs(line: &str) -> bool {
    line.starts_with("= ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(pause_ms: u64, bytes: u64, objects: Option<u64>) {
            let made = Outcome::Made { pause_ms, bytes, objects };
            prop_assert_eq!(Outcome::parse(&made.to_string()), Some(made));
        }

        #[test]
        fn no_line_panics(line in "(= (made|refused) )?.*") {
            let _ = Outcome::parse(&line);
        }
    }

    #[test]
    fn refusals_have_names() {
        for (why, _) in REFUSALS {
            let line = Outcome::Refused(why).to_string();
            assert_eq!(Outcome::parse(&line), Some(Outcome::Refused(why)));
        }
    }

    #[test]
    fn keys_of_later_versions_are_ignored() {
        let line = "= made threads=3 pause_ms=12 bytes=5 objects=7 code=0";
        assert_eq!(
            Outcome::parse(line),
            Some(Outcome::Made {
                pause_ms: 12,
                bytes: 5,
                objects: Some(7)
            })
        );
        for line in [
            "",
            "= made",
            "= made pause_ms=12",
            "= made pause_ms=x bytes=5 objects=7",
            "= refused maybe",
            "made pause_ms=12 bytes=5 objects=7",
            UNDER_WAY,
        ] {
            assert_eq!(Outcome::parse(line), None, "{line}");
        }
    }
}
