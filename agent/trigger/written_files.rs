//! A file to which whole texts are added, and one that the newest text replaces.

use std::fs::{remove_file, rename, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use writer::{Floor, WriteError};

/// A file of lines is put aside when it would be longer.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// A file to which texts are added.
#[derive(Clone, Debug)]
pub(super) struct LinesFile {
    pub(super) path: PathBuf,
    /// The free space that it leaves; `None` for none.
    pub(super) floor: Option<Floor>,
    /// Who may read it, before the user's mask.
    pub(super) mode: u32,
}

impl LinesFile {
    /// Adds a whole text or nothing. The error is a sentence.
    pub(super) fn add(&self, text: &str) -> Result<(), String> {
        self.append(text.as_bytes())
            .map_err(|error| not_written(&self.path, &error))
    }

    fn append(&self, text: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options
            .append(true)
            .mode(self.mode)
            .custom_flags(libc::O_NONBLOCK);
        let mut file = open(&mut options, &self.path)?;
        let mut before = file.metadata()?.len();
        if before > 0 && before.saturating_add(text.len() as u64) > MOST_BYTES {
            rename(&self.path, with_ending(&self.path, ".1"))?;
            file = open(&mut options, &self.path)?;
            before = file.metadata()?.len();
        }
        check(self.floor, &file, &self.path, text)?;
        let written = file.write_all(text);
        if written.is_err() {
            // What fitted is no line. If it stays, readers skip it.
            let _ = file.set_len(before);
        }
        written
    }
}

/// Makes this text the contents of a file, which has the old ones or the new ones at any time. The error is a sentence.
pub(super) fn replace(path: &Path, text: &str, floor: Option<Floor>) -> Result<(), String> {
    replaced(path, text.as_bytes(), floor).map_err(|error| not_written(path, &error))
}

fn replaced(path: &Path, text: &[u8], floor: Option<Floor>) -> io::Result<()> {
    let part = with_ending(path, ".part");
    let mut options = OpenOptions::new();
    // Others may write to the folder. A link of theirs leads to no file of the user's.
    options
        .write(true)
        .truncate(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mut file = open(&mut options, &part)?;
    let made = check(floor, &file, path, text)
        .and_then(|()| file.write_all(text))
        .and_then(|()| rename(&part, path));
    if made.is_err() {
        // It is ours, and takes space that may be needed.
        let _ = remove_file(&part);
    }
    made
}

/// Opens a file, which is made if there is none. Callers pass `O_NONBLOCK`, which does not wait for the reader of a pipe.
fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.create(true).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::other("it is no file"))
}

/// An error if this text would take space that must stay free.
pub(super) fn check(floor: Option<Floor>, file: &File, path: &Path, text: &[u8]) -> io::Result<()> {
    let checked = floor.map(|floor| floor.check(file, path, text.len()));
    checked.unwrap_or(Ok(())).map_err(io::Error::other)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn not_written(path: &Path, error: &io::Error) -> String {
    match error.get_ref() {
        Some(why) if why.is::<WriteError>() => why.to_string(),
        _ => format!("{} cannot be written: {error}", path.display()),
    }
}
