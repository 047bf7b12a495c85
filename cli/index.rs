//! The index beside a dump: what `leaks` and `top` found when they read it, so that the next
//! question needs no reading.
//!
//! It is JSON. It holds what those commands print, and of the heap's values only the names of
//! threads. Whoever may write to the folder could place a file there, so an index is taken only
//! from this user, is short, and is printed as carefully as a dump.

use std::fs::{File, Metadata};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use graph::THRESHOLD_PERCENT;
use rustix::fs::{Mode, OFlags};
use serde_json::{json, Map, Value};

use crate::answer::leaks::LeaksAnswer;
use crate::answer::top::{By, TopAnswer};
use crate::date::date;
use crate::dump_file::STDIN;
use crate::heap_file::{with_loaded, GraphArguments, Loaded};
use crate::leftover::Leftover;
use crate::outcome::{Failure, Verdict};
use crate::plain::plain;

/// Smaller dumps are read as fast as anybody asks.
const LEAST_DUMP_BYTES: u64 = 8 << 20;

/// Longer files are no index.
const MOST_INDEX_BYTES: u64 = 8 << 20;

/// Bytes at the start and at the end of a dump by which it is known again.
const PROBE_BYTES: u64 = 64 << 10;

/// The first words of an index. The number is the version.
const MAGIC: &[u8] = b"{\"hprof_rs_index\":\"3 ";

/// The name of the question of `leaks`.
pub(crate) const LEAKS: &str = "leaks";

/// Rows that are kept of a list.
pub(crate) const ROWS: usize = 1000;

/// Permission bits of others to write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The answers that are kept of a dump.
#[derive(Debug)]
pub(crate) struct Index {
    dump: PathBuf,
    /// Where it is, or would be.
    path: PathBuf,
    /// What it must say of the dump.
    identity: Value,
    answers: Map<String, Value>,
    /// When the answers were kept, in milliseconds since 1970.
    made_millis: u64,
}

impl Index {
    /// The index of the dump; without answers if there is none, or not of the dump as it is now.
    /// `None` for anything but a file of some size.
    fn of(arguments: &GraphArguments) -> Option<Self> {
        if arguments.file.as_os_str() == STDIN {
            return None;
        }
        let dump = arguments.file.canonicalize().ok()?;
        let identity = identity(&dump).ok()??;
        let mut path = dump.clone().into_os_string();
        path.push(".index");
        let mut index = Self {
            dump,
            path: path.into(),
            identity,
            answers: Map::new(),
            made_millis: 0,
        };
        (index.answers, index.made_millis) = index.read().unwrap_or_default();
        Some(index)
    }

    /// The answer to this question by these rules.
    pub(crate) fn answer(&self, question: &str, arguments: &GraphArguments) -> Option<&Value> {
        self.answers.get(&key(question, arguments))
    }

    /// Keeps the answers to what is often asked, beside the dump. What cannot be kept is left out
    /// in silence: the folder may be read-only, or the dump another one by now. `leaks` is the
    /// answer to that question, if it is known already.
    fn keep(
        mut self,
        loaded: &Loaded<'_>,
        arguments: &GraphArguments,
        leaks: Option<&LeaksAnswer>,
    ) {
        // The answers of a damaged dump, or of one of several, come with a warning.
        if loaded.heap.damaged() > 0 || loaded.file.is_one_of_several() {
            return;
        }
        if let Some(found) = found(loaded, arguments, leaks) {
            self.answers.extend(found);
            let _ = self.write();
        }
    }

    /// Tells that an answer comes from here and not from the dump.
    fn tell(&self) {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let (name, date) = (plain(&name), date(self.made_millis));
        // If stderr is closed, nothing can be reported.
        let _ = writeln!(
            io::stderr(),
            "from the index {name} of {date}; --no-index reads the dump"
        );
    }

    fn read(&self) -> Option<(Map<String, Value>, u64)> {
        let (text, made_millis) = self.text()?;
        let mut index: Value = serde_json::from_slice(&text).ok()?;
        if index.get("dump") != Some(&self.identity)
            || index.get("hprof_rs_index") != Some(&version())
        {
            return None;
        }
        match index.get_mut("answers").map(Value::take) {
            Some(Value::Object(answers)) => Some((answers, made_millis)),
            _ => None,
        }
    }

    /// The bytes of an index that this user has made, and when.
    fn text(&self) -> Option<(Vec<u8>, u64)> {
        // Neither a link nor a pipe that nobody writes to is followed.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(&self.path, flags, Mode::empty()).ok()?);
        let facts = file.metadata().ok()?;
        let is_own = facts.uid() == rustix::process::geteuid().as_raw();
        let is_safe = is_own && facts.mode() & WRITABLE_BY_OTHERS == 0;
        if !facts.is_file() || !is_safe || facts.len() > MOST_INDEX_BYTES {
            return None;
        }
        let mut text = Vec::new();
        file.take(MOST_INDEX_BYTES).read_to_end(&mut text).ok()?;
        let seconds = u64::try_from(facts.mtime()).unwrap_or_default();
        text.starts_with(MAGIC)
            .then_some((text, seconds.saturating_mul(1000)))
    }

    /// Writes the index, or replaces one. Errors: another file has its name; the dump has changed;
    /// the system refuses.
    fn write(&self) -> io::Result<()> {
        let is_there = std::fs::symlink_metadata(&self.path).is_ok();
        if is_there && self.text().is_none() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let folder = self.path.parent().ok_or(io::ErrorKind::NotFound)?;
        let mut made = tempfile::Builder::new()
            .prefix(".hprof-")
            .permissions(std::fs::Permissions::from_mode(0o600))
            .tempfile_in(folder)?;
        let _left = Leftover::at(made.path());
        let (version, of) = (version(), &self.identity);
        write!(
            made,
            "{{\"hprof_rs_index\":{version},\"dump\":{of},\"answers\":"
        )?;
        serde_json::to_writer(&mut made, &self.answers)?;
        writeln!(made, "}}")?;
        if made.as_file().metadata()?.len() > MOST_INDEX_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        // What was read may be another file than the one that has the name now.
        if identity(&self.dump)?.as_ref() != Some(&self.identity) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let written = match is_there {
            true => made.persist(&self.path),
            false => made.persist_noclobber(&self.path),
        };
        written.map_err(|fault| fault.error)?;
        Ok(())
    }
}

/// Prints an answer: the index's where it is wanted and has one by `kept`, else that of the dump by
/// `read`, after which the index keeps what is often asked. `read` returns the answer to `leaks` if
/// that was its question.
pub(crate) fn answered<A>(
    graph: &GraphArguments,
    is_wanted: bool,
    kept: impl FnOnce(&Index) -> Option<A>,
    print: impl FnOnce(&A) -> io::Result<()>,
    read: impl FnOnce(&Loaded<'_>) -> Result<Option<LeaksAnswer>, Failure>,
) -> Result<Verdict, Failure> {
    let index = is_wanted.then(|| Index::of(graph)).flatten();
    if let Some(index) = &index {
        if let Some(answer) = kept(index) {
            index.tell();
            print(&answer)?;
            return Ok(Verdict::Sound);
        }
    }
    with_loaded(graph, 2, |loaded| {
        loaded.file.done();
        let leaks = read(loaded)?;
        if let Some(index) = index {
            index.keep(loaded, graph, leaks.as_ref());
        }
        Ok(())
    })
}

/// `None` if the dump cannot be read again.
fn found(
    loaded: &Loaded<'_>,
    arguments: &GraphArguments,
    leaks: Option<&LeaksAnswer>,
) -> Option<Vec<(String, Value)>> {
    let leaks = match leaks {
        Some(known) => known.in_json(),
        None => LeaksAnswer::of(loaded, THRESHOLD_PERCENT).ok()?.in_json(),
    };
    let mut found = vec![(key(LEAKS, arguments), leaks)];
    // That of loaders takes a tree of its own, so it waits until it is asked for.
    let kept = [By::Object, By::Class, By::Package, By::Thread];
    for by in kept {
        let answer = TopAnswer::of(loaded, by, ROWS).ok()?;
        found.push((key(by.question(), arguments), answer.in_json()));
    }
    Some(found)
}

/// A question and the rules by which it is answered.
fn key(question: &str, arguments: &GraphArguments) -> String {
    let (references, sizes) = (arguments.references, arguments.sizes);
    format!("{question}, references {references:?}, sizes {sizes:?}").to_lowercase()
}

fn version() -> Value {
    Value::from(format!("3 {}", env!("CARGO_PKG_VERSION")))
}

/// The identity of a dump: length, times of the last change, and a hash of both ends. Nobody but
/// the system sets the second time, so a dump that was changed in place is another one. `None` for
/// anything but a file of some size.
fn identity(dump: &Path) -> io::Result<Option<Value>> {
    let is_large = |facts: &Metadata| facts.is_file() && facts.len() >= LEAST_DUMP_BYTES;
    // Only to open a pipe would take from what it holds.
    if !is_large(&std::fs::metadata(dump)?) {
        return Ok(None);
    }
    let mut file = File::open(dump)?;
    let facts = file.metadata()?;
    let mut hash = DefaultHasher::new();
    for start in [0, facts.len().saturating_sub(PROBE_BYTES)] {
        let mut probe = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        (&mut file).take(PROBE_BYTES).read_to_end(&mut probe)?;
        hash.write(&probe);
    }
    let changed = [
        facts.mtime(),
        facts.mtime_nsec(),
        facts.ctime(),
        facts.ctime_nsec(),
    ];
    let hash = format!("{:016x}", hash.finish());
    Ok(is_large(&facts).then(|| json!({ "bytes": facts.len(), "changed": changed, "hash": hash })))
}
