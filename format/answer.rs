//! What the agent adds to the file of an attach command's answer, beside its messages, when a thread of its own obeys.

/// The line that says so. The code that the JVM returned to the client is not the last word then.
pub const UNDER_WAY: &str = "= under way";

/// How the last line begins; the code follows.
pub const ENDED_WITH: &str = "= ended with ";
