//! A file to which whole texts are added, and one that the newest text replaces.

use jvm::os::owner;
use std::fs::{remove_file, rename, symlink_metadata, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use writer::{FileMode, Floor, WriteError};

/// A file of lines is put aside when it would be longer.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// Readable to all, as far as the user's mask allows it.
pub(super) const READABLE: u32 = 0o644;

/// A file to which texts are added.
#[derive(Clone, Debug)]
pub(super) struct LinesFile {
    pub(super) path: PathBuf,
    /// The free space that it leaves; `None` for none.
    pub(super) floor: Option<Floor>,
    /// Who may read it, before the user's mask. Nobody else writes to it.
    pub(super) mode: u32,
    /// The mode that the user has chosen for new files.
    pub(super) said: Option<FileMode>,
}

impl LinesFile {
    /// Adds a whole text or nothing. The error is a sentence.
    pub(super) fn add(&self, text: &str) -> Result<(), String> {
        self.append(text.as_bytes())
            .map_err(|error| not_written(&self.path, &error))
    }

    fn append(&self, text: &[u8]) -> io::Result<()> {
        let mut file = self.open()?;
        let mut before = file.metadata()?.len();
        if before > 0 && before.saturating_add(text.len() as u64) > MOST_BYTES {
            rename(&self.path, with_ending(&self.path, ".1"))?;
            file = self.open()?;
            before = file.metadata()?.len();
        }
        give(self.said.filter(|_| before == 0), &file)?;
        check(self.floor, &file, &self.path, text)?;
        let written = file.write_all(text);
        if written.is_err() {
            // What fitted is no line. If it stays, readers skip it.
            let _ = file.set_len(before);
        }
        written
    }

    /// Opens it, or makes it. Others may write to the folder: a link of theirs leads to no file of
    /// the user's, the reader of their pipe is not waited for, and their file gets nothing.
    fn open(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let options = options.append(true).create(true).mode(self.mode);
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = options.custom_flags(flags).open(&self.path);
        let file = file.map_err(named_link)?;
        let facts = file.metadata()?;
        if !facts.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        owner::check(&self.path, &facts)?;
        Ok(file)
    }
}

/// The error in the words of a user, if a link is the reason.
fn named_link(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ELOOP) => io::Error::other("it is a link, and the agent writes through none"),
        _ => error,
    }
}

/// Makes this text the contents of a file, which has the old ones or the new ones at any time. The
/// error is a sentence.
pub(super) fn replace(
    path: &Path,
    text: &str,
    floor: Option<Floor>,
    said: Option<FileMode>,
) -> Result<(), String> {
    replaced(path, text.as_bytes(), floor, said).map_err(|error| not_written(path, &error))
}

fn replaced(
    path: &Path,
    text: &[u8],
    floor: Option<Floor>,
    said: Option<FileMode>,
) -> io::Result<()> {
    let part = with_ending(path, ".part");
    let mut file = create_new(&part)?;
    let made = check(floor, &file, path, text)
        .and_then(|()| give(said, &file))
        .and_then(|()| file.write_all(text))
        .and_then(|()| rename(&part, path));
    if made.is_err() {
        // It is ours, and takes space that may be needed.
        let _ = remove_file(&part);
    }
    made
}

/// Makes a file that others may read. One that a dead process has left loses the name, but not what
/// it has: it may be another file of the user's, to which somebody else gave this name.
fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(true).mode(READABLE);
    match options.open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            if !symlink_metadata(path)?.is_file() {
                return Err(io::Error::other("it is no file"));
            }
            remove_file(path).and_then(|()| options.open(path))
        }
        opened => opened,
    }
}

fn give(said: Option<FileMode>, file: &File) -> io::Result<()> {
    said.map_or(Ok(()), |mode| mode.give(file))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, hard_link, Permissions};
    use std::os::unix::fs::{symlink, PermissionsExt};
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    const THEIRS: &[u8] = b"of somebody else";

    /// What others can put at a name, where they may write to the folder.
    const KINDS: [&str; 8] = [
        "link",
        "dangling link",
        "link to a device",
        "hard link",
        "pipe",
        "socket",
        "folder",
        "file",
    ];

    /// Puts this kind of thing at the path; the file that must stay as it is.
    fn put(kind: &str, path: &Path) -> PathBuf {
        let other = path.with_file_name("other");
        fs::write(&other, THEIRS).expect("written");
        match kind {
            "link" => symlink(&other, path).expect("a link"),
            "dangling link" => symlink(path.with_file_name("none"), path).expect("a link"),
            "link to a device" => symlink("/dev/null", path).expect("a link"),
            "hard link" => hard_link(&other, path).expect("a link"),
            "pipe" => assert!(Command::new("mkfifo")
                .arg(path)
                .status()
                .expect("mkfifo")
                .success()),
            "socket" => drop(UnixListener::bind(path).expect("a socket")),
            "folder" => fs::create_dir(path).expect("a folder"),
            _ => {
                fs::write(path, THEIRS).expect("written");
                // Only root can make it another user's. To anybody else the own file is no such
                // kind.
                if std::os::unix::fs::chown(path, Some(65_534), None).is_err() {
                    hard_link(path, path.with_file_name("second")).expect("a link");
                }
            }
        }
        other
    }

    fn lines(path: &Path) -> LinesFile {
        LinesFile {
            path: path.to_owned(),
            floor: None,
            mode: READABLE,
            said: None,
        }
    }

    #[test]
    fn nothing_is_added_to_what_others_have_put_there() {
        for kind in KINDS {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("lines");
            let other = put(kind, &path);
            let why = lines(&path).add("a line\n").expect_err(kind);
            assert!(why.contains("lines cannot be written: "), "{kind}: {why}");
            let names_it = why.ends_with("it is a link, and the agent writes through none");
            assert_eq!(
                names_it,
                kind.contains("link") && kind != "hard link",
                "{why}"
            );
            assert_eq!(fs::read(&other).expect("a file"), THEIRS, "{kind}");
            assert!(!folder.path().join("none").exists(), "{kind}");
            if kind == "file" {
                assert_eq!(fs::read(&path).expect("a file"), THEIRS);
            }
        }
    }

    #[test]
    fn nothing_is_replaced_through_what_others_have_put_there() {
        for kind in KINDS {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("metrics");
            let other = put(kind, &folder.path().join("metrics.part"));
            // A regular file only loses its name.
            let is_replaced = matches!(kind, "hard link" | "file");
            assert_eq!(
                replace(&path, "new", None, None).is_ok(),
                is_replaced,
                "{kind}"
            );
            assert_eq!(path.exists(), is_replaced, "{kind}");
            assert_eq!(fs::read(&other).expect("a file"), THEIRS, "{kind}");
            // The name itself: what leads there stays.
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("metrics");
            let other = put(kind, &path);
            assert_eq!(
                replace(&path, "new", None, None).is_ok(),
                kind != "folder",
                "{kind}"
            );
            assert_eq!(fs::read(&other).expect("a file"), THEIRS, "{kind}");
        }
    }

    #[test]
    fn nobody_else_may_write_to_what_is_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let mode = |path: &Path| fs::metadata(path).map(|facts| facts.permissions().mode());
        let path = folder.path().join("a");
        replace(&path, "new", None, None).expect("written");
        assert_eq!(mode(&path).expect("a file") & 0o022, 0);
        fs::remove_file(&path).expect("removed");
        lines(&path).add("a line\n").expect("written");
        assert_eq!(mode(&path).expect("a file") & 0o022, 0);
        fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("permissions");
        lines(&path).add("a line\n").expect("written");
        assert_eq!(fs::read(&path).expect("a file"), b"a line\na line\n");
    }
}
