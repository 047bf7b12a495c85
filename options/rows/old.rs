//! Options of the JDK's agent that are accepted without effect, or refused.

use super::row::{Row, Standing};
use crate::values::yes_no;

const DEBUG: &str = "it debugged the JDK's own agent and has no meaning for this one; leave it out";
const REMOVED: &str = "was removed from the JDK's agent, too; use the JVM's -XX:OnError";

/// The options, in the order of the help.
pub(super) const ROWS: &[Row] = &[
    Row {
        name: "msa",
        values: "y|n",
        default: "n",
        help: "",
        standing: Standing::Nothing("it was for Solaris"),
        set: |_, value| yes_no(value).map(|_| ()),
    },
    Row {
        name: "gc_okay",
        values: "y|n",
        default: "y",
        help: "",
        standing: Standing::Nothing("it was obsolete in the JDK's agent already"),
        set: |_, value| yes_no(value).map(|_| ()),
    },
    refused("logflags", DEBUG),
    refused("debugflags", DEBUG),
    refused("coredump", DEBUG),
    refused("errorexit", DEBUG),
    refused("pause", DEBUG),
    refused("debug", DEBUG),
    refused("X", DEBUG),
    refused("exitpause", REMOVED),
    refused("precrash", REMOVED),
];

/// An option that is known and rejected with any value.
const fn refused(name: &'static str, why: &'static str) -> Row {
    Row {
        name,
        values: "",
        default: "",
        help: "",
        standing: Standing::Refused(why),
        set: |_, _| Ok(()),
    }
}
