//! What to record, and when.

use super::row::Row;
use crate::condition::duration;
use crate::values::{within, yes_no};
use crate::{OnOutOfMemory, TimesLayout, Word};

const MOST_COUNT: u32 = 1_000_000;

/// The options, in the order of the help.
pub(super) const ROWS: &[Row] = &[
    Row {
        name: "heap",
        values: "dump|sites|all",
        default: "all",
        help: "`dump`: heap dumps. `sites`: allocation sites. `all`: both, with the sites' stacks in the dump",
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
        help: "`samples` or `y`: stacks of running threads, by CPU time. `times`: the time of \
               each method, by timing every call. `old`: the same in the format of `java \
               -prof`, after all other profiles. `cpu=samples,cpu=times` does both. Without \
               `heap=`, nothing is recorded about the heap",
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
        help: "contended monitors, calls of `Object.wait`, and owners; as text only, and only \
               from the start of the JVM",
        set: |said, value| yes_no(value).map(|on| said.options.monitors = on),
    },
    Row {
        name: "doe",
        values: "y|n",
        default: "y",
        help: "dumps when the JVM ends",
        set: |said, value| yes_no(value).map(|on| said.options.dump_on_exit = on),
    },
    Row {
        name: "signal",
        values: "y|n",
        default: "y",
        help: "dumps on SIGQUIT and on `jcmd PID JVMTI.data_dump`, which the JVM reports alike. \
               `n`: for scripts that print the threads by `kill -QUIT`",
        set: |said, value| yes_no(value).map(|on| said.options.dump_on_signal = on),
    },
    Row {
        name: "oom",
        values: "y|n|exit",
        default: "y with heap dumps",
        help: "dumps at the first OutOfMemoryError of the JVM, and at the first that Java code \
               throws (direct memory, Netty). `exit`: ends the JVM with status 3 after one of \
               its own",
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
    Row {
        name: "on",
        values: "CONDITIONS",
        default: "none",
        help: "dumps when one of these conditions holds, joined by `+`. `oom`: as `oom=y`. \
               `heap>90%x3`: more of the heap is in use after three collections in a row. \
               `rss>85%`: the process takes more of the memory of its container or machine. \
               `growth>20%/h`: use after collections grows faster. `every=1h`: a timer. Quote \
               the `>` in a shell",
        set: |said, value| {
            // `resolve` names the condition that is wrong.
            said.on = Some(value.to_owned());
            Ok(())
        },
    },
    Row {
        name: "cooldown",
        values: "TIME",
        default: "10m",
        help: "with `on=`: the time after a dump in which only `every` and `oom` cause another",
        set: |said, value| duration(value).ok_or("cooldown must be a time such as 90s, 10m, 1h or 7d").map(|it| said.cooldown = it),
    },
    Row {
        name: "count",
        values: "N",
        default: "10",
        help: "with `on=`: most attempts while the JVM runs; 0: no limit, the default with \
               `do=histo`",
        set: |said, value| within(value, 0..=MOST_COUNT, "count must be from 0 to 1000000").map(|count| said.most_caused = Some(count)),
    },
    Row {
        name: "do",
        values: "dump|histo|sites|leaks|memory",
        default: "dump",
        help: "what `on=` makes, or an attached agent at once. `histo`: adds a line of JSON \
               with the 50 largest classes (all of them, for an attached agent), counted in a forked copy, to `java.histo.jsonl`. \
               `sites`: writes a report of the allocation sites to `java.sites.txt`; a later \
               one gets a number. `leaks`: adds the answer of `hprof leaks` about a forked \
               copy to `java.leaks.txt`, as lines of JSON where the name ends in `.jsonl`. \
               `memory`: that of `hprof memory`, to `java.memory.txt`. `do=histo=NAME` and so \
               on name another file, with `%` as in `file=`. At 64 MB, a file of lines or \
               answers is renamed to `NAME.1`",
        set: |said, value| {
            let (word, name) = match value.split_once('=') {
                Some((word, name)) => (word, Some(name.to_owned())),
                None => (value, None),
            };
            said.does = match word {
                "dump" if name.is_none() => Word::Dump,
                "histo" => Word::Histo,
                "sites" => Word::Sites,
                "leaks" => Word::Leaks,
                "memory" => Word::Memory,
                _ => return Err(""),
            };
            if name.as_deref() == Some("") {
                return Err("");
            }
            said.does_to = name;
            Ok(())
        },
    },
    Row {
        name: "hprof",
        values: "FILE",
        default: "hprof beside the agent",
        help: "with `do=leaks` and `do=memory`: the command `hprof`",
        set: |said, value| {
            if value.is_empty() {
                return Err("");
            }
            said.command = Some(value.into());
            Ok(())
        },
    },
];
