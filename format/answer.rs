//! The lines that the agent adds to the answer of an attach command that runs in a thread of its
//! own.

/// The line that announces this. The code that the JVM returned to the client is not final then.
pub const UNDER_WAY: &str = "= under way";

/// The start of the last line; the code follows.
pub const ENDED_WITH: &str = "= ended with ";
