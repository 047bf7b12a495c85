//! Checks that docs/troubleshooting.md has every message of the agent and the command, and no
//! other.
//!
//! Any literal that reads like a sentence counts as a message, wherever it is, so that no new
//! message is overlooked. Text that is not printed on stderr is excluded by name.

use std::collections::BTreeSet;
use std::path::Path;

use super::{code, is_test, read, root, rust_files};

/// Folders whose code prints messages, or parts of them.
const SPEAKING: [&str; 13] = [
    "agent",
    "jvm",
    "hotspot",
    "options",
    "snapshot",
    "tables",
    "writer",
    "translation",
    "cli",
    "reader",
    "redact",
    "graph",
    "trigger",
];
/// Files whose text goes elsewhere: the options (docs/options.md), the layouts of files, and what
/// `hprof check` and `hprof info` print on stdout.
const ELSEWHERE: [&str; 7] = [
    "options/help.rs",
    "options/rows/mod.rs",
    "reader/check",
    "reader/damage.rs",
    "reader/text",
    "reader/text.rs",
    "trigger/sample.rs",
];
/// Literals that never reach a user's stderr: names of threads, headings and tables on stdout,
/// markers of formats.
const NO_MESSAGES: &str = include_str!("no_messages.txt");

/// The string literals of Rust code in the page's form: `…` for inserted values, one space for any
/// white space, and no backticks.
fn literals(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '/' if rest.peek() == Some(&'/') => while rest.next().is_some_and(|it| it != '\n') {},
            '\'' => skip_char(&mut rest),
            '"' => found.push(shown(&literal(&mut rest))),
            _ => {}
        }
    }
    found
}

/// After an apostrophe: skips a character literal, but not a lifetime.
fn skip_char(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let mut ahead = rest.clone();
    let first = ahead.next();
    if first == Some('\\') {
        ahead.next();
        while ahead.next().is_some_and(|it| it != '\'') {}
        *rest = ahead;
    } else if ahead.next() == Some('\'') {
        *rest = ahead;
    }
}

/// The rest of a literal, without the quotes. A backslash at the end of a line joins it with the
/// next.
fn literal(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(letter) = rest.next() {
        match letter {
            '"' => break,
            '\\' => match rest.next() {
                Some('\n') => while rest.next_if(|it| it.is_whitespace()).is_some() {},
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => break,
            },
            _ => text.push(letter),
        }
    }
    text
}

/// A format string in the form that its reader sees.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    let mut depth = 0;
    for letter in text.chars() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => {
                depth -= 1;
                shown.push('…');
            }
            _ if depth == 0 => shown.push(letter),
            _ => {}
        }
    }
    let words: Vec<&str> = shown.split_whitespace().collect();
    words.join(" ").replace("……", "…").replace('`', "")
}

/// The part of a literal that appears on the page, without values inserted at its start and end.
fn key(literal: &str) -> &str {
    literal.trim_matches([' ', ';', ',', ':', '.', '…'])
}

/// Whether this reads like a sentence or a part of one: two words, or a word and an inserted value,
/// one of which starts with a lower-case letter.
fn is_prose(text: &str) -> bool {
    let words: Vec<&str> = text
        .split(' ')
        .map(|word| word.trim_matches(|it: char| !it.is_alphabetic()))
        .filter(|word| {
            word.chars().count() > 1 && word.chars().all(|it| it.is_alphabetic() || it == '\'')
        })
        .collect();
    let pieces = words.len() + text.matches('…').count();
    text.contains(' ')
        && pieces > 1
        && words
            .iter()
            .any(|word| word.starts_with(|it: char| it.is_lowercase()))
}

/// What is printed on stderr, and what reads like it: without the help of options and of the
/// command, which is elsewhere.
fn prose() -> BTreeSet<String> {
    let page = read(&root().join("docs/options.md")).replace('`', "");
    let options = spans("docs/options.md", &page);
    let mut prose = BTreeSet::new();
    for path in SPEAKING.iter().flat_map(|folder| rust_files(folder)) {
        let is_elsewhere = ELSEWHERE.iter().any(|folder| path.starts_with(folder));
        if is_test(&path)
            || is_elsewhere
            || path.components().any(|part| part.as_os_str() == "examples")
        {
            continue;
        }
        let code = code(&path);
        let is_tests = |at: &usize| {
            code.get(*at..)
                .is_some_and(|it| it.lines().take(6).any(|line| line.contains("mod tests")))
        };
        let tests = code
            .match_indices("\n#[cfg(test)]")
            .map(|(at, _)| at)
            .find(is_tests);
        for literal in literals(code.get(..tests.unwrap_or(code.len())).unwrap_or_default()) {
            let line = key(&literal);
            let is_help =
                path.starts_with("options/rows") && options.iter().any(|it| it.contains(line));
            // Lines of the command's help, which clap prints.
            let is_example = line.starts_with("Example") || line.starts_with("Exit codes:");
            if is_prose(&literal) && !is_help && !is_example {
                prose.insert(line.to_owned());
            }
        }
    }
    prose
}

fn messages() -> BTreeSet<String> {
    let excluded: BTreeSet<&str> = NO_MESSAGES.lines().collect();
    let mut messages = prose();
    messages.retain(|line| !excluded.contains(line.as_str()));
    assert!(messages.len() > 200, "the messages were not found");
    messages
}

/// The text between backticks; in the table of options, each cell.
fn spans(name: &str, text: &str) -> Vec<String> {
    let mark = if name.ends_with("options.md") {
        "| "
    } else {
        "`"
    };
    let words = |it: &str| it.split_whitespace().collect::<Vec<_>>().join(" ");
    let pieces = text.split(mark).enumerate();
    let takes_all = mark != "`";
    pieces
        .filter(|(n, _)| takes_all || n % 2 == 1)
        .map(|(_, span)| words(&span.replace("\\|", "|")))
        .collect()
}

#[test]
fn every_message_has_its_entry() {
    let page = read(&root().join("docs/troubleshooting.md"));
    assert_eq!(page.matches('`').count() % 2, 0, "a backtick is not closed");
    let spans = spans("docs/troubleshooting.md", &page);
    let missing: Vec<String> = messages()
        .into_iter()
        .filter(|message| !spans.iter().any(|span| span.contains(message.as_str())))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/troubleshooting.md lacks these messages; what is no message on stderr belongs into tests/tidy/no_messages.txt:\n{}",
        missing.join("\n")
    );
}

#[test]
fn what_is_excluded_is_there() {
    let prose = prose();
    let stale: Vec<&str> = NO_MESSAGES
        .lines()
        .filter(|line| !prose.contains(*line))
        .collect();
    assert!(
        stale.is_empty(),
        "tests/tidy/no_messages.txt excludes what no code prints:\n{}",
        stale.join("\n")
    );
}

#[test]
fn every_entry_has_its_message() {
    let page = read(&root().join("docs/troubleshooting.md"));
    let messages = messages();
    for (n, line) in page.lines().enumerate() {
        let Some(entry) = line.trim_start().strip_prefix("- `") else {
            continue;
        };
        // An entry may continue on the next line.
        let after: String = page
            .lines()
            .skip(n + 1)
            .take(6)
            .collect::<Vec<_>>()
            .join(" ");
        let whole = format!("{entry} {after}");
        let key = whole.split('`').next().unwrap_or_default();
        let key = key.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_known = messages
            .iter()
            .any(|message| key.contains(message.as_str()));
        assert!(is_known || !is_prose(&key), "nothing prints {key}");
    }
}

#[test]
fn no_entry_has_more_than_three_messages() {
    let page = read(&root().join("docs/troubleshooting.md"));
    for entry in page.split("\n### ").skip(1) {
        let messages = entry.lines().filter(|line| line.starts_with("- `")).count();
        let title = entry.lines().next().unwrap_or_default();
        assert!((1..=3).contains(&messages), "{title}: {messages} messages");
    }
}

#[test]
fn a_literal_is_found_wherever_it_stands() {
    let code = "fn f<'a>() { say(&format!(\"no {x:?} is \\\n   left: {}\", '\"')); // \"not this one\"\n g(\"a \\\"b\\\" c\") }";
    assert_eq!(literals(code), ["no … is left: …", "a \"b\" c"]);
    assert!(is_prose("no … is left") && !is_prose("Get Thread Info") && !is_prose("%p"));
    assert!(Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/tidy/no_messages.txt")
        .exists());
}
