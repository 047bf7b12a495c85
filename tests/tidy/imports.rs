//! What a Rust file imports from its own crate, read as text.

use std::path::Path;

/// The module of a file: its path from the folder of its crate.
pub(super) fn module(path: &Path, folder: &str) -> Vec<String> {
    let below = path.strip_prefix(folder).expect("a file of the crate");
    let mut parts: Vec<String> = below
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    let is_folder = parts.last().is_some_and(|last| last == "mod");
    let is_root = matches!(parts.as_slice(), [one] if one == "lib" || one == "main");
    if is_folder || is_root {
        parts.pop();
    }
    parts
}

/// The text without comments.
pub(super) fn without_comments(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""));
    lines.collect::<Vec<_>>().join("\n")
}

/// The paths that start here: one, or those of a group.
pub(super) fn paths(rest: &str) -> Vec<Vec<String>> {
    if let Some(group) = rest.strip_prefix('{') {
        return parts(group).into_iter().flat_map(paths).collect();
    }
    if rest.starts_with('*') {
        return vec![vec!["*".to_owned()]];
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    let (name, behind) = rest.split_at(end.unwrap_or(rest.len()));
    if name.is_empty() {
        return Vec::new();
    }
    let mut below = behind.strip_prefix("::").map(paths).unwrap_or_default();
    if below.is_empty() {
        below.push(Vec::new());
    }
    let whole = |path: Vec<String>| [vec![name.to_owned()], path].concat();
    below.into_iter().map(whole).collect()
}

/// The parts of a group, up to its end.
fn parts(group: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                parts.push(group.get(start..at).unwrap_or("").trim());
                start = at + 1;
                if letter == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    parts
}

/// The paths that a file of this module names by `crate::…` or by `super::…`, from the root of the
/// crate.
pub(super) fn imported(text: &str, module: &[String]) -> Vec<Vec<String>> {
    let text = without_comments(text);
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in text.match_indices(start) {
            let before = text.get(..at).unwrap_or("");
            // Not the end of another word, nor a `super` after another one, nor a visibility.
            if before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
                || before.ends_with("pub(in ")
            {
                continue;
            }
            let mut rest = text.get(at..).unwrap_or("");
            let mut base: Vec<String> = Vec::new();
            if let Some(below) = rest.strip_prefix("crate::") {
                rest = below;
            } else {
                base = module.to_vec();
                while let Some(below) = rest.strip_prefix("super::") {
                    base.pop();
                    rest = below;
                }
            }
            found.extend(
                paths(rest)
                    .into_iter()
                    .map(|rest| [base.clone(), rest].concat()),
            );
        }
    }
    found
}
