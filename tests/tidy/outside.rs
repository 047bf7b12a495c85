//! Which options reach the agent from outside, by whom. Each option must be in one of the lists
//! here.

use std::collections::BTreeSet;
use std::path::Path;

use super::{code, is_test, read, root, rust_files};

/// Who calls the Java library, or asks by JMX, may give these: how one dump is written, and what it
/// tells.
const OF_A_DUMP: &[&str] = &[
    "depth",
    "drop",
    "gz",
    "heap",
    "keep",
    "lineno",
    "maxpause",
    "minfree",
    "primarrays",
    "primfields",
    "redact",
    "stop",
    "threads",
    "timeout",
    "verbose",
];

/// Only who starts or attaches to the JVM may give these, which is its own user or root: they name
/// files, programs and peers, choose what else is made or who may read it, remove files, or decide
/// how the agent behaves in the whole JVM.
const OF_THE_JVM: &[&str] = &[
    "cooldown",
    "copy",
    "count",
    "cpu",
    "cutoff",
    "do",
    "doe",
    "exec",
    "file",
    "files",
    "force",
    "format",
    "gc_okay",
    "hprof",
    "include",
    "interval",
    "maxcost",
    "maxlive",
    "mode",
    "monitor",
    "msa",
    "net",
    "on",
    "oom",
    "sampling",
    "send",
    "signal",
    "thread",
    // Refused with any value.
    "X",
    "coredump",
    "debug",
    "debugflags",
    "errorexit",
    "exitpause",
    "logflags",
    "pause",
    "precrash",
];

/// The words in quotes that follow `start` directly.
fn quoted_after<'t>(text: &'t str, start: &str) -> Vec<&'t str> {
    let rests = text.split(start).skip(1);
    rests.filter_map(|rest| rest.split('"').next()).collect()
}

fn options() -> BTreeSet<String> {
    let rows = rust_files("crates/base/options/rows");
    let texts = rows.iter().map(|path| read(&root().join(path)));
    texts
        .flat_map(|text| {
            let rows = quoted_after(&text, "name: \"").into_iter();
            let names = rows.chain(quoted_after(&text, "\n    (\""));
            names.map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn each_option_is_for_a_dump_or_for_the_whole_jvm() {
    let lists: Vec<&str> = [OF_A_DUMP, OF_THE_JVM].concat();
    let both: BTreeSet<String> = lists.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(both.len(), lists.len(), "an option is in both lists");
    assert_eq!(
        options(),
        both,
        "tests/tidy/outside.rs says who may give an option"
    );
}

#[test]
fn the_java_library_takes_those_of_a_dump() {
    let java = root().join("java/hprof-rs/src/main/java/hprofrs/DumpOptions.java");
    let text = read(&java);
    let list = text.split("NAMES = ").nth(1).expect("a list");
    let list = list.split(';').next().expect("its end");
    let names: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    assert_eq!(names, OF_A_DUMP);
    let page = read(&root().join("docs/java.md"));
    for name in OF_A_DUMP {
        assert!(page.contains(&format!("`{name}`")), "docs/java.md: {name}");
        assert!(
            text.contains(&format!("{{@code {name}}}")) || text.contains(&format!("* {name}}}")),
            "{name}"
        );
    }
}

/// Text becomes options where the JVM starts and where somebody attaches. The Java library does the
/// second, and adds to its own words what its options hold and nothing else.
#[test]
fn there_is_no_other_way_to_give_options() {
    let parses = |path: &Path| code(path).matches("options::parse").count();
    let agent = rust_files("agent").into_iter();
    let found = agent
        .filter(|path| !is_test(path))
        .map(|path| (parses(&path), path))
        .filter(|(count, _)| *count > 0);
    let found: Vec<_> = found
        .map(|(count, path)| format!("{count} {}", path.display()))
        .collect();
    assert_eq!(found, ["1 agent/attached.rs", "1 agent/session.rs"]);
    let library = root().join("java/hprof-rs/src/main/java/hprofrs");
    for entry in std::fs::read_dir(library).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str());
        let commands = read(&path).matches("Agent.command(").count();
        let expected = if name == Some("HeapDumper.java") {
            3
        } else {
            0
        };
        assert_eq!(commands, expected, "{}", path.display());
    }
    // What a request to Spring Boot's endpoint says is no option.
    let endpoint =
        "java/spring-boot-starter/src/main/java/hprofrs/spring/HprofHeapDumpEndpoint.java";
    let endpoint = read(&root().join(endpoint));
    assert_eq!(endpoint.matches("DumpOptions.none()").count(), 1);
    assert!(!endpoint.contains(".with("));
}
