//! The names of dump files: patterns with `%p %t %n %h`, and numbers for later dumps.

use crate::host::plain_host_name;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use text::Moment;
use writer::{numbered, Existing, WriteError};

/// The largest number that a name may have got: a process id of Linux.
const MOST_NUMBER: u32 = 1 << 22;
/// Bytes of a moment in a name: `20000229T121111Z`.
const STAMP_BYTES: usize = 16;

/// The user's file name, parsed. Empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileName(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    ProcessId,
    Time,
    Number,
    Host,
}

/// The moment in UTC; just the number if the calendar cannot express it.
pub fn stamp(unix_seconds: u64) -> String {
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
pub struct UsedNames {
    dumps: u64,
    paths: Option<HashSet<PathBuf>>,
    /// When the agent was loaded into this process.
    since: Option<SystemTime>,
    /// Whether the user knows that the first choice is taken.
    is_told: bool,
}

impl UsedNames {
    /// The agent is loaded: from now on, files written by other processes are not replaced. Only
    /// the first call counts.
    pub fn begin(&mut self) {
        self.since.get_or_insert_with(SystemTime::now);
    }

    /// No dump of this name was made after all, so the next one may use it.
    pub fn give_back(&mut self, path: &Path) {
        if let Some(paths) = &mut self.paths {
            paths.remove(path);
        }
    }

    fn has(&self, path: &Path) -> bool {
        self.paths
            .as_ref()
            .is_some_and(|paths| paths.contains(path))
    }
}

/// How files that already have the dump's name are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// They stay, and the dump takes a free name beside them.
    Beside,
    /// The same, but those from before the agent was loaded are replaced. A file that another
    /// process has written since then is its dump.
    ReplaceOlder,
    /// The dump gets exactly its name, or there is none.
    Exact(Existing),
}

/// A name for a dump.
#[derive(Debug)]
pub struct Chosen {
    /// The path.
    pub path: PathBuf,
    /// How a file that gets this name meanwhile is treated.
    pub existing: Existing,
    /// The file from before this JVM that holds the first choice; reported once.
    pub taken: Option<PathBuf>,
}

/// The names used by this process. Locked while a name is chosen, never across a JVM call.
pub static USED_NAMES: Mutex<UsedNames> = Mutex::new(UsedNames {
    dumps: 0,
    paths: None,
    since: None,
    is_told: false,
});

impl FileName {
    /// Parses a pattern. The error is what is wrong with it.
    pub fn parse(pattern: &str) -> Result<Self, String> {
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
    pub fn first(&self) -> PathBuf {
        PathBuf::from(self.expand(1))
    }

    /// The folder of the dumps; `None` if it is known only when they are made.
    pub fn folder(&self) -> Option<PathBuf> {
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

    /// Whether a file of this name, in the folder, may be a dump of this pattern: on this host, of
    /// any process, of any number.
    pub fn fits(&self, file: &str) -> bool {
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
    pub fn filled_in(&self, used: &mut UsedNames) -> String {
        used.dumps += 1;
        self.expand(used.dumps)
    }

    /// Chooses the next dump's path and remembers it.
    pub fn choose(&self, used: &mut UsedNames, naming: Naming) -> Chosen {
        used.dumps += 1;
        let first = PathBuf::from(self.expand(used.dumps));
        let existing = match (naming, used.since) {
            (Naming::Exact(existing), _) => {
                return Chosen {
                    path: first,
                    existing,
                    taken: None,
                };
            }
            (Naming::ReplaceOlder, Some(since)) => Existing::ReplaceOlder(since),
            _ => Existing::Beside,
        };
        // A name that is no regular file is refused when the dump begins, and not evaded.
        let stays = |path: &Path| {
            let checked = writer::check_name(path, existing);
            matches!(checked, Err(WriteError::Exists { .. }))
        };
        let is_taken = !used.has(&first) && stays(&first);
        let is_news = is_taken && !std::mem::replace(&mut used.is_told, is_taken);
        let mut path = first.clone();
        let mut number = 0_u64;
        while used.has(&path) || stays(&path) {
            number += 1;
            path = numbered(&first, number);
        }
        let paths = used.paths.get_or_insert_with(HashSet::new);
        paths.insert(path.clone());
        Chosen {
            path,
            existing,
            taken: is_news.then_some(first),
        }
    }

    fn expand(&self, number: u64) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let seconds = now.map_or(0, |since| since.as_secs());
        self.0
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::ProcessId => std::process::id().to_string(),
                Part::Time => stamp(seconds),
                Part::Number => number.to_string(),
                Part::Host => plain_host_name(),
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
    // As we write them: no date, which a user may have put there.
    let is_number = |word: &str| {
        let number = word.parse().unwrap_or(0);
        (1..=MOST_NUMBER).contains(&number) && word == number.to_string()
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn no_names() -> UsedNames {
        UsedNames {
            dumps: 0,
            paths: None,
            since: None,
            is_told: false,
        }
    }

    #[test]
    fn the_name_of_a_dump_that_was_not_made_is_free_again() {
        let name = FileName::parse("/nowhere/out.hprof").expect("a name");
        let mut used = no_names();
        let mut choose = |given_back: Option<&Path>| {
            given_back.iter().for_each(|path| used.give_back(path));
            name.choose(&mut used, Naming::Beside).path
        };
        let first = choose(None);
        assert_ne!(choose(None), first);
        assert_eq!(choose(Some(&first)), first);
    }

    #[test]
    fn what_was_there_before_is_replaced_only_if_the_user_says_so() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        let name = FileName::parse(&format!("{}/out.hprof", dir.path().display())).expect("a name");
        std::fs::write(at("out.hprof"), "old").expect("written");
        let minute = std::time::Duration::from_secs(60);
        let now = SystemTime::now();
        for (naming, since, expected) in [
            (Naming::Beside, now + minute, "out.1.hprof"),
            (Naming::ReplaceOlder, now + minute, "out.hprof"),
            (Naming::ReplaceOlder, now - minute, "out.1.hprof"),
            (Naming::Exact(Existing::Keep), now, "out.hprof"),
            (Naming::Exact(Existing::Replace), now, "out.hprof"),
        ] {
            let mut used = no_names();
            used.since = Some(since);
            let chosen = name.choose(&mut used, naming);
            assert_eq!(chosen.path, at(expected), "{naming:?}");
            let is_beside = expected != "out.hprof";
            assert_eq!(chosen.taken, is_beside.then(|| at("out.hprof")));
            let second = name.choose(&mut used, naming);
            assert_eq!(second.taken, None, "it is told once");
            let is_exact = matches!(naming, Naming::Exact(_));
            assert_eq!(second.path == chosen.path, is_exact);
        }
    }

    #[test]
    fn a_second_dump_gets_a_number_before_the_ending() {
        let dir = tempfile::tempdir().expect("a directory");
        let name = FileName::parse(&format!("{}/out.hprof", dir.path().display())).expect("a name");
        let mut used = no_names();
        let chosen: Vec<_> = (0..3)
            .map(|_| name.choose(&mut used, Naming::Beside).path)
            .collect();
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
            name.choose(&mut used, Naming::Beside).path,
            PathBuf::from("/nowhere/1.hprof")
        );
        assert_eq!(
            name.choose(&mut used, Naming::Beside).path,
            PathBuf::from("/nowhere/2.hprof")
        );
    }

    #[test]
    fn every_letter_is_filled_in() {
        let name = FileName::parse("%h-%p-%t-%n-%%").expect("a name");
        let (host, process) = (plain_host_name(), std::process::id());
        let expanded = name.expand(3);
        assert!(expanded.starts_with(&format!("{host}-{process}-2")));
        assert!(expanded.ends_with("Z-3-%") && name.fits(&expanded));
        assert_eq!(stamp(951_826_271), "20000229T121111Z");
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
            ("/d/out.hprof", "out.20251126.hprof"),
            ("/d/out.hprof", "out.007.hprof"),
            ("/d/out.hprof", "out.0.hprof"),
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
}
