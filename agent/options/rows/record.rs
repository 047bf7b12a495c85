//! What to record, and when.

use super::{Row, Standing};
use crate::options::values::yes_no;
use crate::options::{OnOutOfMemory, TimesLayout};

/// The options, in the order of the help.
pub(super) const ROWS: &[Row] = &[
    Row {
        name: "heap",
        values: "dump|sites|all",
        default: "all",
        help: "`dump`: heap dumps. `sites`: allocation sites. `all`: both, with the sites' stacks in the dump",
        standing: Standing::Built,
        set: |said, value| {
            match value {
                "dump" => said.heap_dump = true,
                "sites" => said.heap_sites = true,
                "all" => (said.heap_dump, said.heap_sites) = (true, true),
                _ => return Err(""),
            }
            Ok(())
        },
    },
    Row {
        name: "cpu",
        values: "samples|times|old",
        default: "off",
        help: "`samples` or `y`: stacks of running threads, by CPU time. `times`: the cost of each method, by \
               timing every call. `old`: the same in the format of `java -prof`, after all other profiles. \
               `cpu=samples,cpu=times` does both. Without `heap=`, nothing is recorded about the heap",
        standing: Standing::Built,
        set: |said, value| {
            // As with the JDK's agent: `cpu=samples,cpu=times` asks for both.
            match value {
                "y" | "samples" => said.cpu_samples = true,
                "times" => said.cpu_times = Some(TimesLayout::Stacks),
                "old" => said.cpu_times = Some(TimesLayout::Old),
                _ => return Err(""),
            }
            Ok(())
        },
    },
    Row {
        name: "monitor",
        values: "y|n",
        default: "n",
        help: "monitor contention, calls of `Object.wait`, and owners; only as text, and only if the agent is \
               loaded at the start of the JVM",
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.options.monitors = on),
    },
    Row {
        name: "doe",
        values: "y|n",
        default: "y",
        help: "dump when the JVM ends",
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.options.dump_on_exit = on),
    },
    Row {
        name: "oom",
        values: "y|n|exit",
        default: "y with heap dumps",
        help: "dump at the first OutOfMemoryError, while the frames that caused it exist. `exit`: then end the \
               JVM with status 3",
        standing: Standing::Built,
        set: |said, value| {
            said.oom = Some(match value {
                "y" => OnOutOfMemory::Dump,
                "n" => OnOutOfMemory::Nothing,
                "exit" => OnOutOfMemory::DumpAndExit,
                _ => return Err(""),
            });
            Ok(())
        },
    },
];
