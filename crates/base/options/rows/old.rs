//! Options of the JDK's agent that are accepted without effect, or refused.

const DEBUG: &str = "it debugged the JDK's own agent and has no meaning for this one; leave it out";
const REMOVED: &str = "was removed from the JDK's agent, too; use the JVM's -XX:OnError";

/// Switches accepted for old scripts, with a message that they do nothing, and why.
pub(crate) const IGNORED: [(&str, &str); 2] = [
    ("msa", "it was for Solaris"),
    ("gc_okay", "it was obsolete in the JDK's agent already"),
];

/// Options that are known, and rejected with any value, and why.
pub(crate) const REFUSED: [(&str, &str); 9] = [
    ("logflags", DEBUG),
    ("debugflags", DEBUG),
    ("coredump", DEBUG),
    ("errorexit", DEBUG),
    ("pause", DEBUG),
    ("debug", DEBUG),
    ("X", DEBUG),
    ("exitpause", REMOVED),
    ("precrash", REMOVED),
];
