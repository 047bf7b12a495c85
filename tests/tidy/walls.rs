//! Walls between the agent's folders: which may import which. Cargo cannot check them, because the
//! agent is one package.

use super::imports::{imported, module};
use super::{code, is_test, rust_files};
use std::collections::BTreeSet;
use std::path::Path;

/// A folder or a file, and what it may import besides itself. Each row may only name earlier rows,
/// so there is no cycle.
type Row = (&'static str, &'static [&'static str]);

/// The agent, lowest level first.
const AGENT: [Row; 23] = [
    ("inherited", &[]),
    ("message", &[]),
    ("ending", &[]),
    ("gate", &["ending"]),
    ("class_gate", &[]),
    ("copied", &[]),
    ("other_switches", &["message"]),
    ("agent_threads", &[]),
    ("method_facts", &[]),
    ("receiver", &["message"]),
    ("order", &["receiver"]),
    (
        "profile",
        &["agent_threads", "message", "method_facts", "order"],
    ),
    (
        "heap",
        &[
            "class_gate",
            "copied",
            "ending",
            "message",
            "method_facts",
            "order",
            "profile",
        ],
    ),
    (
        "trigger",
        &[
            "agent_threads",
            "gate",
            "heap",
            "message",
            "order",
            "receiver",
        ],
    ),
    ("net", &["agent_threads", "gate", "message", "profile"]),
    ("java_errors", &[]),
    ("thrown", &["java_errors"]),
    (
        "dump_queue",
        &["agent_threads", "copied", "ending", "message", "thrown"],
    ),
    (
        "session",
        &[
            "dump_queue",
            "gate",
            "heap",
            "java_errors",
            "inherited",
            "message",
            "net",
            "order",
            "profile",
            "receiver",
            "thrown",
            "trigger",
        ],
    ),
    (
        "life_cycle",
        &[
            "dump_queue",
            "ending",
            "heap",
            "message",
            "order",
            "other_switches",
            "session",
            "thrown",
        ],
    ),
    (
        "events",
        &[
            "class_gate",
            "gate",
            "heap",
            "java_errors",
            "life_cycle",
            "profile",
            "session",
            "thrown",
        ],
    ),
    (
        "attached",
        &["agent_threads", "message", "order", "session"],
    ),
    ("entry", &["attached", "session"]),
];

/// Heap dumps: the engines do not import each other.
const HEAP: [Row; 12] = [
    ("cause", &[]),
    ("error", &[]),
    ("object_sizes", &[]),
    ("outcome", &[]),
    ("text_dump", &[]),
    ("stop_bound", &["error"]),
    ("left", &["error"]),
    ("facts", &["error", "left"]),
    ("tried", &["stop_bound"]),
    (
        "fork",
        &[
            "cause",
            "error",
            "facts",
            "left",
            "object_sizes",
            "outcome",
            "stop_bound",
            "tried",
        ],
    ),
    ("request", &["facts"]),
    (
        "dumper",
        &[
            "cause",
            "error",
            "facts",
            "object_sizes",
            "outcome",
            "request",
            "stop_bound",
        ],
    ),
];

/// The file that chooses an engine is above all of them.
const DUMP: Row = (
    "dump",
    &[
        "dumper",
        "error",
        "facts",
        "fork",
        "left",
        "object_sizes",
        "outcome",
        "request",
        "stop_bound",
        "text_dump",
        "tried",
    ],
);

/// So is the one that counts: it forks as dumps do, and waits its turn.
const COUNT: Row = (
    "count",
    &["dump", "error", "fork", "object_sizes", "request", "tried"],
);

/// The profiles: features import what they share, and not each other. `*` stands for the exports of
/// `agent/profile/mod.rs`.
const PROFILE: [Row; 9] = [
    ("*", &[]),
    ("threads", &[]),
    ("stacks", &["threads"]),
    ("allocations", &["stacks"]),
    ("cpu", &["stacks"]),
    ("times", &["stacks"]),
    ("monitors", &["stacks"]),
    ("injection", &["stacks"]),
    (
        "profiles",
        &[
            "*",
            "allocations",
            "cpu",
            "injection",
            "monitors",
            "stacks",
            "times",
        ],
    ),
];

/// The report is above all profiles.
const REPORT: Row = (
    "report",
    &[
        "*",
        "allocations",
        "cpu",
        "monitors",
        "stacks",
        "threads",
        "times",
    ],
);

/// The folders of the command, lowest level first: each may import from itself and from those
/// before it.
const COMMAND: [&str; 9] = [
    "output", "proc", "attach", "files", "answers", "convert", "commands", "page", "mcp",
];

/// What a file of this module imports from the module `within`, by `crate::…` or by `super::…`.
fn imports(text: &str, module: &[String], within: &[&str]) -> BTreeSet<String> {
    let named = imported(text, module).into_iter();
    let below = named.filter_map(|path| {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        path.strip_prefix(within)?
            .first()
            .map(|next| (*next).to_owned())
    });
    below.collect()
}

/// The imports of the files below `within` that their rows do not list.
fn faults(path: &Path, text: &str, within: &[&str], rows: &[Row]) -> Vec<String> {
    let module = module(path, "agent");
    let own: Vec<&str> = module.iter().map(String::as_str).collect();
    let Some([name, ..]) = own.strip_prefix(within) else {
        return Vec::new();
    };
    let Some((_, allowed)) = rows.iter().find(|(row, _)| row == name) else {
        return vec![format!(
            "{}: no row says what it may import",
            path.display()
        )];
    };
    imports(text, &module, within)
        .into_iter()
        .filter(|import| {
            let is_module = rows.iter().any(|(row, _)| row == import);
            let listed = if is_module { import.as_str() } else { "*" };
            import != name && !allowed.contains(&listed)
        })
        .map(|import| format!("{}: imports {import}", path.display()))
        .collect()
}

fn check(within: &[&str], rows: &[Row]) {
    for (at, (name, allowed)) in rows.iter().enumerate() {
        for below in *allowed {
            let is_earlier = rows.iter().take(at).any(|(row, _)| row == below);
            assert!(is_earlier, "{name} stands before {below}, which it imports");
        }
    }
    let mut files = 0;
    let folder = ["agent"].iter().chain(within).copied().collect::<Vec<_>>();
    for path in rust_files(&folder.join("/")) {
        let is_contents = path.ends_with("lib.rs") || module(&path, "agent") == within;
        if is_contents || is_test(&path) {
            continue;
        }
        files += 1;
        let faults = faults(&path, &code(&path), within, rows);
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
    assert!(files > 20, "the files were not found");
}

#[test]
fn the_agents_folders_import_only_what_stands_below_them() {
    check(&[], &AGENT);
}

#[test]
fn the_engines_of_heap_dumps_do_not_import_each_other() {
    let rows: Vec<Row> = HEAP.into_iter().chain([DUMP, COUNT]).collect();
    check(&["heap"], &rows);
}

#[test]
fn the_profiles_do_not_import_each_other() {
    let rows: Vec<Row> = PROFILE.into_iter().chain([REPORT]).collect();
    check(&["profile"], &rows);
}

#[test]
fn the_commands_folders_import_only_what_stands_below_them() {
    for (level, folder) in COMMAND.iter().enumerate() {
        for path in rust_files(&format!("cli/{folder}")) {
            for import in imports(&code(&path), &module(&path, "cli"), &[]) {
                let above = COMMAND.iter().skip(level + 1).any(|it| *it == import);
                assert!(!above, "{}: imports {import}", path.display());
            }
        }
    }
}

/// The checker finds each way to write an import, and nothing in comments.
#[test]
fn imports_are_found_however_they_are_written() {
    let path = Path::new("agent/net/answer.rs");
    let text = "//! See [`crate::heap`].\n\
                use super::{command::{Command, Next}, Commanded};\n\
                use super::super::gate::Gate;\n\
                use crate::{profile::Part, gate::{self, Gate}, session};\n\
                fn all() { crate::message::say(\"x\"); } // crate::events\n";
    let found = imports(text, &module(path, "agent"), &[]);
    let expected = ["gate", "message", "net", "profile", "session"];
    assert_eq!(found, expected.map(str::to_owned).into());
    let inside = imports(text, &module(path, "agent"), &["net"]);
    assert_eq!(inside, ["Commanded", "command"].map(str::to_owned).into());
    assert_eq!(
        faults(path, text, &[], &AGENT),
        ["agent/net/answer.rs: imports session"]
    );
}

#[test]
fn a_wall_that_is_broken_is_seen() {
    let broken = [
        (
            "agent/profile/mod.rs",
            "use crate::events::vm_init;",
            "imports events",
        ),
        (
            "agent/heap/dump.rs",
            "use super::super::session;",
            "imports session",
        ),
        (
            "agent/gate.rs",
            "use crate::profile::Part;",
            "imports profile",
        ),
        (
            "agent/new_folder/mod.rs",
            "",
            "no row says what it may import",
        ),
    ];
    for (path, text, fault) in broken {
        let found = faults(Path::new(path), text, &[], &AGENT);
        assert!(
            matches!(found.as_slice(), [one] if one.ends_with(fault)),
            "{path}: {found:?}"
        );
    }
    let features = [
        (
            "agent/profile/cpu/cpu_counts.rs",
            "use crate::profile::times::CallRow;",
        ),
        (
            "agent/profile/cpu/cpu_counts.rs",
            "use super::super::Monitors;",
        ),
        ("agent/profile/cpu/cpu_counts.rs", "use super::super::*;"),
        (
            "agent/profile/cpu/cpu_counts.rs",
            "use crate::{message::say, profile::{stacks::{self, TopMethod}, times::CallRow}};",
        ),
    ];
    for (path, text) in features {
        let found = faults(Path::new(path), text, &["profile"], &PROFILE);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
    }
}
