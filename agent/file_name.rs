//! The names of dump files: patterns with `%p %t %n %h`, and numbers for later dumps.

use crate::os::host::plain_host_name;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use text::Moment;

/// Bytes of a moment in a name: `20000229T121111Z`.
const STAMP_BYTES: usize = 16;

/// The user's file name, parsed. Empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileName(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    ProcessId,
    Time,
    Number,
    Host,
}

/// The values for a pattern.
#[derive(Clone, Debug)]
struct Facts {
    process_id: u32,
    unix_seconds: u64,
    number: u64,
    host: String,
}

impl Facts {
    fn of_dump(number: u64) -> Self {
        Self {
            process_id: std::process::id(),
            unix_seconds: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_secs()),
            number,
            host: plain_host_name(),
        }
    }
}

/// The moment in UTC; just the number if the calendar cannot express it.
pub(crate) fn stamp(unix_seconds: u64) -> String {
    let Ok(seconds_since_epoch) = i64::try_from(unix_seconds) else {
        return unix_seconds.to_string();
    };
    let moment = Moment {
        seconds_since_epoch,
        utc_offset_seconds: 0,
    };
    moment.file_stamp()
}

/// Names that this process has used, so that no dump overwrites another one of the same run.
#[derive(Debug)]
pub(crate) struct UsedNames {
    dumps: u64,
    paths: Option<HashSet<PathBuf>>,
    /// When the agent was loaded into this process.
    since: Option<SystemTime>,
}

impl UsedNames {
    /// The agent is loaded: from now on, files written by other processes are not replaced. Only the first call counts.
    pub(crate) fn begin(&mut self) {
        self.since.get_or_insert_with(SystemTime::now);
    }

    /// No dump of this name was made after all, so the next one may use it.
    pub(crate) fn give_back(&mut self, path: &Path) {
        if let Some(paths) = &mut self.paths {
            paths.remove(path);
        }
    }

    /// Whether a file was written since then. If this process has not used its name, another process wrote it.
    fn is_younger(&self, path: &Path) -> bool {
        let written = writer::last_written(path);
        written.is_some_and(|written| self.since.is_some_and(|since| written >= since))
    }
}

/// The names used by this process. Locked while a name is chosen, never across a JVM call.
pub(crate) static USED_NAMES: Mutex<UsedNames> = Mutex::new(UsedNames {
    dumps: 0,
    paths: None,
    since: None,
});

impl FileName {
    /// Parses a pattern. The error says what is wrong with it.
    pub(crate) fn parse(pattern: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut letters = pattern.chars();
        while let Some(letter) = letters.next() {
            if letter == '\u{FFFD}' {
                return Err("the name is not valid UTF-8".to_owned());
            }
            if letter != '%' {
                text.push(letter);
                continue;
            }
            let part = match letters.next() {
                Some('%') => {
                    text.push('%');
                    continue;
                }
                Some('p') => Part::ProcessId,
                Some('t') => Part::Time,
                Some('n') => Part::Number,
                Some('h') => Part::Host,
                Some(other) => {
                    return Err(format!("%{other} is unknown; there are %p %t %n %h %%"))
                }
                None => return Err("a lone % at the end; there are %p %t %n %h %%".to_owned()),
            };
            parts.push(Part::Text(std::mem::take(&mut text)));
            parts.push(part);
        }
        parts.push(Part::Text(text));
        Ok(Self(parts))
    }

    /// The path that a first dump would get now, for checking its directory.
    pub(crate) fn first(&self) -> PathBuf {
        PathBuf::from(self.expand(&Facts::of_dump(1)))
    }

    /// The folder of the dumps; `None` if the pattern does not say before they are made.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let (first, later) = self.0.split_first()?;
        let Part::Text(start) = first else {
            return None;
        };
        let is_below = |part: &Part| matches!(part, Part::Text(text) if text.contains('/'));
        if later.iter().any(is_below) {
            return None;
        }
        let folder = start.rsplit_once('/').map_or(".", |(folder, _)| folder);
        Some(PathBuf::from(if folder.is_empty() { "/" } else { folder }))
    }

    /// Whether a file of this name, in the folder, may be a dump of this pattern: on this host, of any process, of any
    /// number.
    pub(crate) fn fits(&self, file: &str) -> bool {
        let mut parts = self.0.clone();
        if let Some(Part::Text(start)) = parts.first_mut() {
            *start = start
                .rsplit_once('/')
                .map_or(&**start, |(_, name)| name)
                .to_owned();
        }
        let host = plain_host_name();
        // A process id and a number may have been inserted.
        let mut name = Some(file.to_owned());
        for _ in 0..3 {
            let Some(candidate) = name else { return false };
            if fits(&parts, &candidate, &host) {
                return true;
            }
            name = without_number(&candidate);
        }
        false
    }

    /// The pattern filled in for the next thing that is no file, which counts as a dump.
    pub(crate) fn filled_in(&self, used: &mut UsedNames) -> String {
        used.dumps += 1;
        self.expand(&Facts::of_dump(used.dumps))
    }

    /// Chooses the next dump's path and remembers it.
    ///
    /// With `force`, a file from before the agent was loaded may be replaced; without it, another name is chosen. A
    /// file that another process has written since then is its dump, and is never replaced.
    pub(crate) fn choose(&self, used: &mut UsedNames, force: bool) -> PathBuf {
        used.dumps += 1;
        let facts = Facts::of_dump(used.dumps);
        let first = PathBuf::from(self.expand(&facts));
        let is_kept =
            |used: &UsedNames, path: &Path| (!force && path.exists()) || used.is_younger(path);
        let is_used = |used: &UsedNames, path: &Path| {
            used.paths
                .as_ref()
                .is_some_and(|paths| paths.contains(path))
        };
        let first = if !is_used(used, &first) && is_kept(used, &first) {
            with_process_id(&first, facts.process_id)
        } else {
            first
        };
        let mut path = first.clone();
        let mut number = 0_u64;
        while is_used(used, &path) || is_kept(used, &path) {
            number += 1;
            path = numbered(&first, number);
        }
        let paths = used.paths.get_or_insert_with(HashSet::new);
        paths.insert(path.clone());
        path
    }

    fn expand(&self, facts: &Facts) -> String {
        self.0
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::ProcessId => facts.process_id.to_string(),
                Part::Time => stamp(facts.unix_seconds),
                Part::Number => facts.number.to_string(),
                Part::Host => facts.host.clone(),
            })
            .collect()
    }
}

/// Whether a name consists of these parts.
fn fits(parts: &[Part], name: &str, host: &str) -> bool {
    let Some((part, rest)) = parts.split_first() else {
        return name.is_empty();
    };
    let digits = || {
        let digits = name.bytes().take_while(u8::is_ascii_digit).count();
        (1..=digits).any(|end| fits(rest, name.get(end..).unwrap_or_default(), host))
    };
    match part {
        Part::Text(text) => name
            .strip_prefix(&**text)
            .is_some_and(|name| fits(rest, name, host)),
        Part::Host => name
            .strip_prefix(host)
            .is_some_and(|name| fits(rest, name, host)),
        Part::ProcessId | Part::Number => digits(),
        Part::Time => {
            let is_stamp = |stamp: &str| {
                let fits = |(at, letter): (usize, u8)| match at {
                    8 => letter == b'T',
                    15 => letter == b'Z',
                    _ => letter.is_ascii_digit(),
                };
                stamp.bytes().enumerate().all(fits)
            };
            let stamp = name.get(..STAMP_BYTES).filter(|stamp| is_stamp(stamp));
            stamp.is_some_and(|_| fits(rest, name.get(STAMP_BYTES..).unwrap_or_default(), host))
        }
    }
}

/// `out.12.hprof` → `out.hprof`; `None` if there is no number before the ending.
fn without_number(name: &str) -> Option<String> {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|it| it.is_ascii_digit());
    let words: Vec<&str> = name.split('.').collect();
    // A number stands last, or before an ending of one word, or of two of which the second is `gz`.
    let at = match &*words {
        [_, .., last] if is_number(last) => words.len() - 1,
        [_, .., number, _] if is_number(number) => words.len() - 2,
        [_, .., number, _, "gz"] if is_number(number) => words.len() - 3,
        _ => return None,
    };
    let kept = words.iter().enumerate().filter(|&(index, _)| index != at);
    Some(kept.map(|(_, &word)| word).collect::<Vec<_>>().join("."))
}

/// `out.hprof` and 1 → `out.1.hprof`; a name without an extension gets the number at its end.
fn numbered(path: &Path, number: u64) -> PathBuf {
    inserted(path, &number.to_string())
}

/// The JDK agent's rule for a name that is taken: `out.txt` → `out.PID.txt`.
fn with_process_id(path: &Path, process_id: u32) -> PathBuf {
    inserted(path, &process_id.to_string())
}

/// Inserts a word before the extension. `.gz` counts as part of the extension before it, because tools expect
/// `.hprof.gz`.
fn inserted(path: &Path, word: &str) -> PathBuf {
    let whole = path.file_name().unwrap_or_default();
    let stem = match path.extension() {
        Some(gz) if gz == "gz" => Path::new(path.file_stem().unwrap_or_default()).file_stem(),
        _ => path.file_stem(),
    };
    let stem = stem.unwrap_or_default();
    let ending = whole.as_bytes().get(stem.len()..).unwrap_or_default();
    let mut name = stem.to_os_string();
    name.push(".");
    name.push(word);
    name.push(OsStr::from_bytes(ending));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_names() -> UsedNames {
        UsedNames {
            dumps: 0,
            paths: None,
            since: None,
        }
    }

    #[test]
    fn the_name_of_a_dump_that_was_not_made_is_free_again() {
        let name = FileName::parse("/nowhere/out.hprof").expect("a name");
        let mut used = no_names();
        let first = name.choose(&mut used, true);
        assert_ne!(name.choose(&mut used, true), first);
        used.give_back(&first);
        assert_eq!(name.choose(&mut used, true), first);
    }

    #[test]
    fn what_another_process_has_written_meanwhile_is_not_replaced() {
        let dir = tempfile::tempdir().expect("a directory");
        let name = FileName::parse(&format!("{}/out.hprof", dir.path().display())).expect("a name");
        let file = dir.path().join("out.hprof");
        std::fs::write(&file, "old").expect("written");
        let mut used = no_names();
        used.since = Some(SystemTime::now() + std::time::Duration::from_secs(60));
        assert_eq!(name.choose(&mut used, true), file, "from before");
        let mut used = no_names();
        used.since = Some(SystemTime::now() - std::time::Duration::from_secs(60));
        assert_ne!(name.choose(&mut used, true), file, "written meanwhile");
    }

    #[test]
    fn a_second_dump_gets_a_number_before_the_ending() {
        let dir = tempfile::tempdir().expect("a directory");
        let name = FileName::parse(&format!("{}/out.hprof", dir.path().display())).expect("a name");
        let mut used = no_names();
        let chosen: Vec<_> = (0..3).map(|_| name.choose(&mut used, true)).collect();
        let expected: Vec<_> = ["out.hprof", "out.1.hprof", "out.2.hprof"]
            .iter()
            .map(|name| dir.path().join(name))
            .collect();
        assert_eq!(chosen, expected);
    }

    #[test]
    fn a_pattern_with_a_number_needs_no_other() {
        let name = FileName::parse("/nowhere/%n.hprof").expect("a name");
        let mut used = no_names();
        assert_eq!(
            name.choose(&mut used, true),
            PathBuf::from("/nowhere/1.hprof")
        );
        assert_eq!(
            name.choose(&mut used, true),
            PathBuf::from("/nowhere/2.hprof")
        );
    }

    #[test]
    fn every_letter_is_filled_in() {
        let facts = Facts {
            process_id: 42,
            unix_seconds: 951_826_271,
            number: 3,
            host: "box".to_owned(),
        };
        let name = FileName::parse("%h-%p-%t-%n-%%").expect("a name");
        assert_eq!(name.expand(&facts), "box-42-20000229T121111Z-3-%");
        assert!(FileName::parse("a%x").is_err_and(|why| why.contains("%x is unknown")));
        assert!(FileName::parse("a%").is_err());
    }

    #[test]
    fn dumps_of_a_pattern_are_told_from_other_files() {
        let host = plain_host_name();
        let name = |pattern: &str| FileName::parse(pattern).expect("a name");
        for (pattern, file) in [
            ("/d/out.hprof", "out.hprof"),
            ("/d/out.hprof", "out.12.hprof"),
            ("/d/out.hprof", "out.4711.12.hprof"),
            ("out.hprof.gz", "out.3.hprof.gz"),
            ("out.gz", "out.3.gz"),
            ("out", "out.3"),
            ("/d/%p-%n%n.hprof", "4711-123.hprof"),
            ("app.%t.hprof", "app.20000229T121111Z.hprof"),
            ("app.%t.hprof", "app.20000229T121111Z.1.hprof"),
            ("%h.hprof", &format!("{host}.hprof")),
        ] {
            assert!(name(pattern).fits(file), "{pattern} {file}");
        }
        for (pattern, file) in [
            ("/d/out.hprof", "my-out.hprof"),
            ("/d/out.hprof", "out.hprof.part"),
            ("/d/out.hprof", "out.old.hprof"),
            ("/d/out.hprof", "out.1.2.3.hprof"),
            ("out.hprof.gz", "out.hprof"),
            ("%p.hprof", "a.hprof"),
            ("%p.hprof", ".hprof"),
            ("app.%t.hprof", "app.20000229-121111Z.hprof"),
            ("app.%t.hprof", "app.é0000229T121111.hprof"),
            ("%h.hprof", &format!("{host}2.hprof")),
        ] {
            assert!(!name(pattern).fits(file), "{pattern} {file}");
        }
        let folder = |pattern: &str| name(pattern).folder();
        assert_eq!(folder("/d/%p.hprof"), Some("/d".into()));
        assert_eq!(folder("a.hprof"), Some(".".into()));
        assert_eq!(folder("/a.hprof"), Some("/".into()));
        assert_eq!(folder("/d/%p/a.hprof"), None);
    }

    #[test]
    fn without_force_no_file_is_replaced() {
        let dir = tempfile::tempdir().expect("a directory");
        let there = dir.path().join("java.hprof");
        std::fs::write(&there, b"precious").expect("written");
        let name = FileName::parse(there.to_str().expect("UTF-8")).expect("a name");
        let mut used = no_names();
        let first = name.choose(&mut used, false);
        assert_eq!(
            first,
            dir.path()
                .join(format!("java.{}.hprof", std::process::id()))
        );
        assert_eq!(name.choose(&mut no_names(), true), there);
    }

    #[test]
    fn what_is_put_into_a_name_stands_before_its_whole_ending() {
        for (name, expected) in [
            ("/d/out.hprof", "/d/out.7.hprof"),
            ("/d/out.hprof.gz", "/d/out.7.hprof.gz"),
            ("/d/a.txt", "/d/a.7.txt"),
            ("/d/a.b.txt", "/d/a.b.7.txt"),
            ("/d/out.gz", "/d/out.7.gz"),
            ("/d.x/out", "/d.x/out.7"),
            ("/d/.hidden", "/d/.hidden.7"),
        ] {
            assert_eq!(numbered(Path::new(name), 7), Path::new(expected));
            assert_eq!(with_process_id(Path::new(name), 7), Path::new(expected));
        }
    }
}
