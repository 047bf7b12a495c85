//! The head of a text report: the line by which parsers recognise it, and an explanation for
//! people.

use std::io::{self, Write};

use crate::Moment;

/// Indented, so that no line looks like one of the report's own; no block name is followed by
/// BEGIN.
const EXPLANATION: &str =
    "    This is a text report of hprof-rs, an HPROF agent for the Java virtual machine,
    in the layout of the agent that came with JDK 5 to 8. Below the dashed line stand,
    as far as they were asked for:

    THREAD START, END  a thread, its number (id), object, name and group
    TRACE              a stack of calls and its number, the innermost call first;
                       the other parts refer to it by that number
    WAIT, WAITED       a thread began or ended to wait for a monitor; times in ms
    MONITOR DUMP       threads with their states; monitors with owners and waiters.
                       ZO ended, NS not started, SL asleep, MW waits to enter,
                       CW waits to be notified, R runnable, UN not known;
                       S| suspended, intr| interrupted, native| in native code
    MONITOR TIME       where threads had to wait to enter a monitor, and how long
    HEAP DUMP          ROOT is why an object is alive, OBJ an instance, ARR an array,
                       CLS a class; below each the references it holds.
                       Objects are hexadecimal, sizes (sz) are bytes
    SITES              what was allocated where (count and bytes), and what of it lives
    CPU SAMPLES        how often a running thread was seen in a stack
    CPU TIME           calls of methods, ranked by the time in each without its callees

    Ranked lists end below the cutoff; self is a row's share of all, accum the sum so far.
";

/// Writes the head of a report that was started at this time, at the start of a file, down to the
/// dashed line and the empty line below it. `cpu=old` has none.
///
/// The version is 1.0.1, as in all text reports; it is independent of binary files.
pub fn header(created: Moment, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "JAVA PROFILE 1.0.1, created {created}")?;
    writeln!(out, "\n{EXPLANATION}\n--------\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_explanation_looks_like_a_record() {
        for line in EXPLANATION.lines() {
            assert!(line.is_empty() || line.starts_with("    "), "{line}");
            assert!(!line.contains("BEGIN") && line.len() <= 90, "{line}");
        }
    }
}
