//! An input file that is opened once for each pass. Shows a progress bar if the file is large and
//! stderr is a terminal.

use std::cell::Cell;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, BufWriter, IsTerminal, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use reader::{
    copy_one_dump, dumps_in_file, dumps_in_stream, Budget, DumpReader, PlainFile, ReadError,
};
use rustix::fs::{memfd_create, MemfdFlags};

use crate::files::other_file;
use crate::output::date::date;
use crate::output::outcome::reason;
use crate::output::screen;
use crate::output::{counted, plain, Failure, Verdict};
use crate::proc::process::process_named;

/// Files up to this size are read before anyone could see a bar.
const QUIET_BYTES: u64 = 64 << 20;

/// The bar moves as often while the file is not read.
const TICK: Duration = Duration::from_millis(200);

/// Most dumps of one file whose times are printed.
const DATES_MAX: usize = 10;

/// The file name for standard input.
pub(crate) const STDIN: &str = "-";

/// A file, its size, and the progress of reading it.
#[derive(Debug)]
pub(crate) struct InputFile {
    path: PathBuf,
    /// An open file that has no name, and the dump's offset in it: standard input, or the copy of a
    /// pipe.
    held: Option<(File, u64)>,
    /// Bytes on disk; of a compressed file, the compressed bytes.
    pub(crate) bytes: u64,
    /// Device and inode, which identify the file.
    identity: (u64, u64),
    /// Whether it was compressed when it was last opened.
    packed: Cell<bool>,
    bar: ProgressBar,
    /// How long the application paused for what a JVM has sent; `None` for a file.
    pub(crate) pause_millis: Option<u64>,
    /// Whether it has the values of fields and arrays, which a running JVM does not send.
    pub(crate) has_values: bool,
}

impl InputFile {
    /// Inspects the file; `-` is standard input. A pipe is copied to a temporary file.
    pub(crate) fn new(path: &Path) -> Result<Self, Failure> {
        let failed = |fault: io::Error| Failure::reading(path, fault);
        let is_stdin = path.as_os_str() == STDIN;
        if is_stdin && io::stdin().is_terminal() {
            return Err(Failure::Input(
                "standard input is a terminal; name a file, or redirect one to the command"
                    .to_owned(),
            ));
        }
        let input = || io::stdin().as_fd().try_clone_to_owned().map(File::from);
        let held = is_stdin.then(input).transpose().map_err(failed)?;
        let facts = match &held {
            Some(file) => file.metadata(),
            None => std::fs::metadata(path),
        };
        let facts = facts.map_err(|fault| match process_named(path) {
            Some(pid) => Failure::Input(format!(
                "this command needs a file: hprof dump {pid} writes one"
            )),
            None => failed(fault),
        })?;
        if facts.is_dir() {
            return Err(Failure::reading(path, "is a directory"));
        }
        let name = if is_stdin {
            Path::new("standard input")
        } else {
            path
        };
        Self::with(name, held, &facts).map_err(|fault| Failure::reading(name, fault))
    }

    /// Of a file with several heap dumps, all but the one with this number are left out, or all but
    /// the last. Says on stderr which one it is.
    ///
    /// Errors: the file has no such dump.
    pub(crate) fn only(self, number: Option<usize>) -> Result<Self, Failure> {
        // A file that cannot be read gives its reason when it is read.
        let dumps = self.dumps().unwrap_or_default();
        self.bar.set_position(0);
        let number = number.unwrap_or(dumps.len());
        let Some(made) = number.checked_sub(1).and_then(|place| dumps.get(place)) else {
            return match dumps.len() {
                0 => Ok(self),
                1 => Err(self.refuse("it has one heap dump")),
                several => Err(self.refuse(format!("it has {several} heap dumps"))),
            };
        };
        if dumps.len() == 1 {
            return Ok(self);
        }
        self.tell_of(&dumps, number);
        let failed = |fault| Failure::reading(&self.path, fault);
        let mut copy = scratch_file().map_err(failed)?;
        let from = self.open().map_err(failed)?;
        let mut to = BufWriter::new(&copy);
        copy_one_dump(from, number, *made, &mut to).map_err(failed)?;
        to.flush().map_err(failed)?;
        drop(to);
        let bytes = copy.stream_position().map_err(failed)?;
        self.done();
        Ok(Self {
            held: Some((copy, 0)),
            bytes,
            packed: Cell::new(false),
            bar: bar(bytes),
            ..self
        })
    }

    /// When each heap dump of the file was made, in milliseconds since 1970.
    fn dumps(&self) -> Result<Vec<u64>, ReadError> {
        let failed = |source| ReadError::Io { offset: 0, source };
        match self.plain().map_err(failed)? {
            Some(file) => dumps_in_file(file),
            None => dumps_in_stream(self.open().map_err(failed)?),
        }
    }

    fn tell_of(&self, dumps: &[u64], number: usize) {
        let dates = dumps.iter().take(DATES_MAX).map(|made| date(*made));
        let dates: Vec<String> = dates.collect();
        let more = if dates.len() < dumps.len() {
            ", …"
        } else {
            ""
        };
        let (name, count, dates) = (plain(&self.name()), dumps.len(), dates.join(", "));
        // If stderr is closed, nothing can be reported.
        let _ = warn(&format!(
            "{name}: {count} heap dumps, made {dates}{more}; this is number {number}, --dump N reads another"
        ));
    }

    /// An open file, under this name.
    pub(crate) fn of_open(name: &Path, file: File) -> Result<Self, Failure> {
        let facts = file.metadata();
        let opened = facts.and_then(|facts| Self::with(name, Some(file), &facts));
        opened.map_err(|fault| Failure::reading(name, fault))
    }

    fn with(path: &Path, held: Option<File>, facts: &Metadata) -> io::Result<Self> {
        let (held, bytes) = match held {
            Some(mut file) if facts.is_file() => {
                let start = file.stream_position()?;
                (Some((file, start)), facts.len().saturating_sub(start))
            }
            Some(pipe) => kept(pipe)?,
            None if facts.file_type().is_fifo() => kept(File::open(path)?)?,
            None => (None, facts.len()),
        };
        Ok(Self {
            path: path.to_owned(),
            held,
            bytes,
            identity: (facts.dev(), facts.ino()),
            packed: Cell::new(false),
            bar: bar(bytes),
            pause_millis: None,
            has_values: true,
        })
    }

    /// The file, at the dump's first byte.
    pub(crate) fn raw(&self) -> io::Result<File> {
        match &self.held {
            Some((file, start)) => {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(*start))?;
                Ok(file)
            }
            None => File::open(&self.path),
        }
    }

    /// Returns a function that moves the bar by a number of bytes, for a file that is read `passes`
    /// times.
    pub(crate) fn progress(&self, passes: u64) -> impl Fn(u64) + Sync + use<> {
        self.bar.set_length(self.bytes.saturating_mul(passes));
        let bar = self.bar.clone();
        move |bytes| bar.inc(bytes)
    }

    /// Names what is done from now on, beside the bar.
    pub(crate) fn phase(&self, name: &'static str) {
        self.bar.set_message(name);
    }

    /// Opens the file for another pass over its uncompressed bytes. The previous pass must have
    /// ended.
    pub(crate) fn open(&self) -> io::Result<Box<dyn Read>> {
        self.bar.set_position(0);
        let file = self.raw()?;
        let (opened, packed) = reader::opened_ahead(self.bar.wrap_read(file))?;
        self.packed.set(packed);
        Ok(opened)
    }

    /// Opens the file and reads its header. Several threads can read it if it is not compressed.
    pub(crate) fn reader(&self) -> Result<DumpReader<'static>, Failure> {
        let failed = |fault| Failure::reading(&self.path, fault);
        let dump = match self.plain().map_err(failed)? {
            Some(file) => DumpReader::of_file(file),
            None => DumpReader::new(self.open().map_err(failed)?),
        };
        let dump = dump.map_err(|fault| self.failure(&fault))?;
        Ok(dump.with_budget(self.budget()))
    }

    /// The file, if it can be read at any place.
    fn plain(&self) -> io::Result<Option<PlainFile>> {
        let is_packed = reader::opened(self.raw()?)?.1;
        self.packed.set(is_packed);
        let file = self.raw()?;
        if is_packed || !file.metadata()?.is_file() {
            return Ok(None);
        }
        self.bar.set_position(0);
        let bar = self.bar.clone();
        PlainFile::new(file, move |bytes| bar.inc(bytes)).map(Some)
    }

    /// Opens the file and reads all of it.
    pub(crate) fn whole<T>(
        &self,
        read: impl FnOnce(Box<dyn Read>, Budget) -> Result<T, ReadError>,
    ) -> Result<T, Failure> {
        let opened = self.open().map_err(|fault| self.refuse(fault))?;
        let found = read(opened, self.budget()).map_err(|fault| self.failure(&fault))?;
        self.done();
        Ok(found)
    }

    /// Whether the file is gzip; known once it has been opened.
    pub(crate) fn is_packed(&self) -> bool {
        self.packed.get()
    }

    /// Most memory for the tables built from the file.
    pub(crate) fn budget(&self) -> Budget {
        Budget::for_file(self.bytes)
    }

    /// Whether these are the metadata of this file.
    pub(crate) fn is(&self, facts: &Metadata) -> bool {
        self.identity == (facts.dev(), facts.ino())
    }

    /// The verdict of a command that met this many damaged places. Warns on stderr that its numbers
    /// are incomplete.
    pub(crate) fn verdict(&self, damaged: u64) -> Verdict {
        if damaged == 0 {
            return Verdict::Sound;
        }
        let (name, places) = (plain(&self.name()), counted(damaged, "damaged place"));
        // If stderr is closed, the exit code still reports it.
        let _ = self.bar.suspend(|| {
            warn(&format!(
                "{name}: {places}; their content is not counted. hprof check lists them"
            ))
        });
        let stripped = self.open().ok().and_then(|opened| {
            let dump = DumpReader::new(opened).ok()?;
            reader::is_stripped(dump).ok()
        });
        if stripped == Some(true) {
            let _ = warn(&format!(
                "{name}: the elements of its primitive arrays were cut out, as KOOM does: restore the dump first"
            ));
        }
        Verdict::Faulty
    }

    /// A failure to read the file, with the file's name.
    pub(crate) fn failure(&self, fault: &ReadError) -> Failure {
        self.done();
        let contents = || self.open().map_err(drop);
        match fault {
            ReadError::NotHprof => match contents().ok().and_then(other_file::kind) {
                Some(kind) => self.refuse(format!("not an HPROF file, but {kind}")),
                None => Failure::reading(&self.path, reason(fault)),
            },
            _ => Failure::reading(&self.path, reason(fault)),
        }
    }

    /// A failure caused by the file's contents, with the file's name.
    pub(crate) fn refuse(&self, reason: impl fmt::Display) -> Failure {
        Failure::reading(&self.path, reason)
    }

    /// Removes the bar from the screen, before anything is printed.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }

    /// The file's name without its folders.
    pub(crate) fn short_name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// The file's path as the user gave it.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// A dump's name without the endings that name its form.
pub(crate) fn bare(name: &[u8]) -> &[u8] {
    let name = name.strip_suffix(b".gz").unwrap_or(name);
    name.strip_suffix(b".hprof").unwrap_or(name)
}

/// Copies a pipe to a temporary file without a name, or to memory where there is no folder for one;
/// returns the file and its size.
fn kept(mut pipe: File) -> io::Result<(Option<(File, u64)>, u64)> {
    let mut copy = scratch_file()?;
    let bytes = io::copy(&mut pipe, &mut copy)?;
    Ok((Some((copy, 0)), bytes))
}

/// A file without a name.
fn scratch_file() -> io::Result<File> {
    let in_memory = || memfd_create("hprof", MemfdFlags::CLOEXEC);
    tempfile::tempfile().or_else(|_| Ok(in_memory()?.into()))
}

/// Prints a warning on standard error.
fn warn(text: &str) -> io::Result<()> {
    writeln!(io::stderr(), "{}", screen::message(text))
}

fn bar(bytes: u64) -> ProgressBar {
    if bytes <= QUIET_BYTES || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template("{spinner} {msg:<24} {bar:30} {percent:>3} % {elapsed}");
    let bar = ProgressBar::new(bytes).with_message("reading");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(TICK);
    bar
}

#[cfg(test)]
mod tests {
    use super::bare;

    #[test]
    fn a_dump_is_called_as_its_file() {
        for (file, name) in [
            ("a.hprof", "a"),
            ("a.b.hprof.gz", "a.b"),
            ("x.gz", "x"),
            ("plain", "plain"),
        ] {
            assert_eq!(bare(file.as_bytes()), name.as_bytes());
        }
    }
}
