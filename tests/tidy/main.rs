//! The project's rules that no compiler checks. ARCHITECTURE.md and CONTRIBUTING.md give the
//! reasons.
// If the test cannot read the project, it has failed, so it panics.
#![allow(clippy::panic, clippy::expect_used)]

mod circles;
mod imports;
mod outside;
mod size;
mod walls;

use std::fs;
use std::path::{Path, PathBuf};

/// Most lines of a file, not counting its tests.
const MOST_LINES: usize = 500;

/// Columns at which a comment ends, as code does.
const MOST_COLUMNS: usize = 100;
/// Names without meaning.
const EMPTY_NAMES: [&str; 6] = ["util", "utils", "common", "misc", "helper", "manager"];
/// Where unsafe code is allowed, in the file or in all below it; the compiler denies it elsewhere:
/// calls of the JVM and of the operating system, reads of HotSpot's memory, a signal handler, and a
/// copy of the heap in another process.
///
/// Three files stand alone. `agent/entry.rs` has the functions that the JVM looks up; they call the
/// session, which the fence must not know. `benches/snapshot.rs` reads its heap as the copy is
/// read, without a check of addresses. `crates/vm/snapshot/encode/room.rs` writes into room that
/// nothing has filled.
const FENCED: [&str; 8] = [
    "agent/entry.rs",
    "agent/heap/fork/mod.rs",
    "benches/snapshot.rs",
    "crates/vm/hotspot/lib.rs",
    "crates/vm/jvm/lib.rs",
    "crates/vm/snapshot/encode/room.rs",
    "crates/vm/snapshot/memory.rs",
    "crates/vm/snapshot/walk/marks.rs",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The folders of the workspace's packages beside the root package.
fn members() -> Vec<String> {
    let manifest = read(&root().join("Cargo.toml"));
    let (_, list) = manifest.split_once("\nmembers = [").expect("the members");
    let (list, _) = list.split_once(']').expect("their end");
    let names = list.split(',').map(|name| name.trim().trim_matches('"'));
    let found: Vec<String> = names
        .filter(|name| *name != ".")
        .map(str::to_owned)
        .collect();
    assert!(found.len() > 10, "{found:?}");
    found
}

/// The folders with our own code.
fn house() -> Vec<String> {
    let others = ["agent", "tests"].map(str::to_owned);
    members().into_iter().chain(others).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// All Rust files below a folder of the project, by path from its root.
fn rust_files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(
                    path.strip_prefix(root())
                        .expect("below the root")
                        .to_owned(),
                );
            }
        }
    }
    assert!(!found.is_empty(), "no Rust file below {folder}");
    found
}

fn all_files() -> Vec<PathBuf> {
    house()
        .iter()
        .flat_map(|folder| rust_files(folder))
        .collect()
}

/// The code of a file without its tests, which are at its end.
fn code(path: &Path) -> String {
    let text = read(&root().join(path));
    let tests = [
        "#[cfg(test)]\nmod tests",
        "#[cfg(test)]\n#[allow",
        "#[cfg(test)]\npub(super) mod tests",
    ];
    let end = tests.iter().filter_map(|start| text.find(start)).min();
    text.get(..end.unwrap_or(text.len()))
        .unwrap_or("")
        .to_owned()
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs")
}

#[test]
fn every_file_says_its_job_first() {
    for path in all_files() {
        assert!(
            read(&root().join(&path)).starts_with("//! "),
            "{}: the first line is not `//! …`",
            path.display()
        );
    }
}

/// What tests share is a crate. The fuzz targets are a workspace of their own, and `protocol.rs` is
/// part of a program.
#[test]
fn no_file_is_included_by_its_path() {
    for path in all_files() {
        let is_fuzzed = path.starts_with("tests/fuzz/fuzz_targets");
        let text = read(&root().join(&path));
        let mut lines = text.lines().map(str::trim_start);
        assert!(
            is_fuzzed || !lines.any(|line| line.starts_with("#[path")),
            "{}: make it a crate, as `sample` is",
            path.display()
        );
    }
}

#[test]
fn comments_end_at_100_columns() {
    for path in all_files() {
        for (number, line) in read(&root().join(&path)).lines().enumerate() {
            let is_comment = line.trim_start().starts_with("//");
            let cannot_break = line.contains("://") || line.split(' ').any(|word| word.len() > 80);
            assert!(
                !is_comment || cannot_break || line.chars().count() <= MOST_COLUMNS,
                "{}:{}: a comment passes {MOST_COLUMNS} columns",
                path.display(),
                number + 1
            );
        }
    }
}

#[test]
fn no_file_is_too_long_or_has_an_empty_name() {
    for path in all_files() {
        let lines = code(&path).lines().count();
        assert!(
            is_test(&path) || lines <= MOST_LINES,
            "{}: {lines} lines before its tests",
            path.display()
        );
        let name = path
            .file_stem()
            .and_then(|name| name.to_str())
            .expect("UTF-8");
        assert!(
            !EMPTY_NAMES.contains(&name),
            "{}: what is it about?",
            path.display()
        );
    }
}

#[test]
fn unsafe_code_is_allowed_behind_the_fence_alone() {
    let names = |path: &PathBuf, lint: &str| read(&root().join(path)).contains(lint);
    let mut allowed: Vec<PathBuf> = all_files()
        .into_iter()
        .filter(|path| !is_test(path))
        .filter(|path| names(path, "unsafe_code") && !names(path, "forbid(unsafe_code)"))
        .collect();
    allowed.sort();
    assert_eq!(allowed, FENCED.map(PathBuf::from));
    for member in members() {
        let manifest = read(&root().join(&member).join("Cargo.toml"));
        assert!(
            manifest.contains("\n[lints]\nworkspace = true\n"),
            "{member} has lints of its own"
        );
        if allowed.iter().any(|path| path.starts_with(&member)) {
            continue;
        }
        let mut lines = manifest.lines();
        let path = lines.find_map(|line| line.strip_prefix("path = "));
        let path = path.expect("its first file").trim_matches('"');
        assert!(
            names(&Path::new(&member).join(path), "#![forbid(unsafe_code)]"),
            "{member}/{path} does not forbid unsafe code"
        );
    }
}

/// Whoever reads the block sees the reason there.
#[test]
fn an_answer_about_safety_points_nowhere_else() {
    for path in all_files() {
        let text = read(&root().join(&path));
        for pointer in ["as above", "as in `", "see above"] {
            assert!(
                !text.contains(&format!("// SAFETY: {pointer}")),
                "{}: SAFETY: {pointer}",
                path.display()
            );
        }
    }
}

#[test]
fn files_are_touched_in_one_place() {
    for path in [
        "agent",
        "crates/vm",
        "crates/base/options",
        "tables",
        "writer",
    ]
    .iter()
    .flat_map(|folder| rust_files(folder))
    {
        // These read what the system says about memory, processes, threads and libraries, write to
        // what is no dump, or remove old dumps.
        let allowed = [
            "writer/sink.rs",
            "writer/file_mode.rs",
            "writer/final_name.rs",
            "writer/part_file.rs",
            "writer/whole.rs",
            "writer/spool.rs",
            "writer/raw_dump.rs",
            "writer/tail.rs",
            "writer/floor.rs",
            "writer/stream.rs",
            "writer/stream_sink.rs",
            "crates/vm/snapshot/mappings.rs",
            "crates/vm/jvm/os/command.rs",
            "crates/vm/jvm/os/owner.rs",
            "crates/vm/jvm/os/threads.rs",
            "agent/receiver/fifo.rs",
            "agent/trigger/kept_files.rs",
            "agent/trigger/readings.rs",
            "agent/trigger/leaks.rs",
            "agent/trigger/written_files.rs",
            "crates/base/headroom/memory_left.rs",
            "agent/heap/stop_bound.rs",
            "crates/vm/jvm/os/careful_reads.rs",
            "crates/vm/jvm/os/descriptor.rs",
            "crates/vm/jvm/os/written_pages.rs",
            "agent/heap/fork/descriptors.rs",
            "agent/heap/fork/process.rs",
        ];
        let is_example = path.iter().any(|part| part == "examples");
        if is_test(&path) || is_example || allowed.iter().any(|file| path.ends_with(file)) {
            continue;
        }
        assert!(
            !code(&path).contains("std::fs"),
            "{}: files belong to writer/sink.rs",
            path.display()
        );
    }
}

/// The documents, by path from the root.
fn documents() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "README.md",
        "java-tests/README.md",
        "java-tests/real/README.md",
    ]
    .map(PathBuf::from)
    .into();
    for folder in ["docs", "docs/design"] {
        for entry in fs::read_dir(root().join(folder)).expect("the documents") {
            let name = PathBuf::from(folder).join(entry.expect("an entry").file_name());
            if name.extension().is_some_and(|ending| ending == "md") {
                found.push(name);
            }
        }
    }
    found
}

#[test]
fn what_the_documents_name_is_there() {
    let mut folders = house();
    folders.extend(["java-tests", "tools", "docs", ".ci"].map(str::to_owned));
    for document in documents() {
        let text = read(&root().join(&document));
        for word in text.split('`').skip(1).step_by(2) {
            let is_path = word.ends_with('/')
                || [".rs", ".md", ".sh", ".toml", ".java"]
                    .iter()
                    .any(|e| word.ends_with(e));
            let in_house = folders.iter().any(|f| word.starts_with(&format!("{f}/")));
            if is_path && in_house && !word.contains(['*', '…', ' ', '<']) {
                assert!(
                    root().join(word).exists(),
                    "{} names {word}, which is not there",
                    document.display()
                );
            }
        }
    }
}

#[test]
fn the_readme_links_every_page() {
    let readme = read(&root().join("README.md"));
    for page in documents() {
        if page.parent() == Some(Path::new("docs")) {
            let link = format!("]({}", page.display());
            assert!(readme.contains(&link), "README.md lacks {}", page.display());
        }
    }
}

/// The link target of a heading.
fn anchor(heading: &str) -> String {
    let letters = heading.trim_start_matches('#').trim().to_lowercase();
    letters
        .chars()
        .filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'))
        .map(|it| if it == ' ' { '-' } else { it })
        .collect()
}

#[test]
fn links_between_documents_lead_somewhere() {
    for document in documents() {
        let text = read(&root().join(&document));
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|it| it.split(')').next())
        {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => document.clone(),
                file => document.parent().unwrap_or(Path::new("")).join(file),
            };
            let is_there = root().join(&target).exists()
                && (heading.is_empty()
                    || read(&root().join(&target))
                        .lines()
                        .any(|line| line.starts_with('#') && anchor(line) == heading));
            assert!(is_there, "{}: {link} leads nowhere", document.display());
        }
    }
}
