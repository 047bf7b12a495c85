//! The line that holds: lines of code, words of documents, commands and options. A number may fall
//! at will. Whoever raises one lowers another in the same commit, or gives the reason in its body.

use super::{code, documents, is_test, members, read, root, rust_files};
use std::path::Path;

/// Most lines of product code of each package: neither blank nor comment, without tests, examples
/// and invented heaps.
const MOST_CODE_LINES: [(&str, usize); 14] = [
    ("agent", 14629),
    ("cli", 11901),
    ("crates/base/format", 1592),
    ("crates/base/headroom", 281),
    ("crates/base/options", 1787),
    ("crates/read/graph", 10298),
    ("crates/read/reader", 6801),
    ("crates/read/text", 1149),
    ("crates/vm/bytecode", 2359),
    ("crates/vm/hotspot", 4475),
    ("crates/vm/jvm", 4728),
    ("crates/vm/snapshot", 3518),
    ("tables", 966),
    ("writer", 3706),
];
/// Most words of each document.
const MOST_WORDS: [(&str, usize); 25] = [
    ("ARCHITECTURE.md", 1579),
    ("CHANGELOG.md", 242),
    ("CONTRIBUTING.md", 902),
    ("README.md", 614),
    ("docs/analysis.md", 1706),
    ("docs/benchmarks.md", 1238),
    ("docs/classic-profiles.md", 1694),
    ("docs/design/fork.md", 1999),
    ("docs/design/roots.md", 1298),
    ("docs/getting-started.md", 202),
    ("docs/heap-dumps.md", 2416),
    ("docs/hprof-command.md", 983),
    ("docs/installing.md", 393),
    ("docs/java.md", 869),
    ("docs/leak-answers.md", 974),
    ("docs/mcp.md", 487),
    ("docs/memory.md", 602),
    ("docs/options.md", 1218),
    ("docs/production.md", 1983),
    ("docs/releasing.md", 197),
    ("docs/security.md", 117),
    ("docs/sql.md", 1077),
    ("docs/troubleshooting.md", 2052),
    ("java-tests/README.md", 586),
    ("java-tests/real/README.md", 239),
];
/// Most commands of `hprof`.
const MOST_COMMANDS: usize = 15;
/// Most options that the agent's help shows.
const MOST_OPTIONS: usize = 32;
/// Packages for tests and measurements alone.
const NO_PRODUCT: [&str; 2] = ["crates/base/sample", "benches"];

fn code_lines(folder: &str) -> usize {
    let is_product = |path: &Path| {
        let is_for_tests = |part: &str| part == "examples" || part.starts_with("invented");
        !is_test(path)
            && !path
                .iter()
                .any(|part| is_for_tests(&part.to_string_lossy()))
    };
    let files = rust_files(folder)
        .into_iter()
        .filter(|path| is_product(path));
    let is_code = |line: &str| !line.trim().is_empty() && !line.trim().starts_with("//");
    files
        .map(|path| code(&path).lines().filter(|line| is_code(line)).count())
        .sum()
}

/// Fails if a number is above its limit, or has none.
fn must_hold(what: &str, name: &str, number: usize, limits: &[(&str, usize)]) {
    let limit = limits.iter().find(|(limited, _)| *limited == name);
    let (_, limit) = limit.unwrap_or_else(|| panic!("{name} has no limit of {what} here"));
    assert!(
        number <= *limit,
        "{name} has {number} {what}, more than {limit}"
    );
}

#[test]
fn the_code_does_not_grow() {
    for folder in members().iter().map(String::as_str).chain(["agent"]) {
        if !NO_PRODUCT.contains(&folder) {
            must_hold(
                "lines of code",
                folder,
                code_lines(folder),
                &MOST_CODE_LINES,
            );
        }
    }
}

#[test]
fn the_documents_do_not_grow() {
    for document in documents() {
        let words = read(&root().join(&document)).split_whitespace().count();
        must_hold("words", &document.to_string_lossy(), words, &MOST_WORDS);
    }
}

#[test]
fn commands_and_options_do_not_become_more() {
    let main = read(&root().join("cli/main.rs"));
    let (_, commands) = main.split_once("\nenum Command {\n").expect("the commands");
    let (commands, _) = commands.split_once("\n}").expect("their end");
    let commands = commands
        .lines()
        .filter(|line| line.contains("::Arguments)"));
    assert!(commands.clone().count() > 5 && commands.count() <= MOST_COMMANDS);
    let options = read(&root().join("docs/options.md"));
    let options = options.lines().filter(|line| line.starts_with("| `"));
    assert!(options.clone().count() > 5 && options.count() <= MOST_OPTIONS);
}
