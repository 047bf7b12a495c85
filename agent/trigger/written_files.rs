//! A file to which whole texts are added.

use jvm::os::owner;
use std::fs::{rename, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use writer::{FileMode, Floor, WriteError};

/// A file of lines is put aside when it would be longer.
const MOST_BYTES: u64 = 64 << 20;

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
    fn nobody_else_may_write_to_what_is_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let mode = |path: &Path| fs::metadata(path).map(|facts| facts.permissions().mode());
        let path = folder.path().join("a");
        lines(&path).add("a line\n").expect("written");
        assert_eq!(mode(&path).expect("a file") & 0o022, 0);
        fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("permissions");
        lines(&path).add("a line\n").expect("written");
        assert_eq!(fs::read(&path).expect("a file"), b"a line\na line\n");
    }

    #[test]
    fn a_new_file_has_the_mode_that_was_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        let said = FileMode::parse("0606");
        let file = LinesFile {
            said,
            ..lines(&path)
        };
        file.add("a line\n").expect("written");
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o606);
    }

    #[test]
    fn a_long_file_is_put_aside() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lines");
        let long = File::create(&path).expect("a file");
        long.set_len(MOST_BYTES - 1).expect("long");
        lines(&path).add("a line\n").expect("written");
        let aside = fs::metadata(folder.path().join("lines.1")).expect("aside");
        assert_eq!(aside.len(), MOST_BYTES - 1);
        assert_eq!(fs::read(&path).expect("lines"), b"a line\n");
    }

    #[test]
    fn where_there_is_no_room_no_half_line_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lines");
        let floor = Some(Floor(u64::MAX));
        let full = LinesFile {
            floor,
            ..lines(&path)
        };
        let error = full.add("a line\n").expect_err("no room");
        assert!(error.contains("must stay free"), "{error}");
        assert_eq!(fs::metadata(&path).expect("a file").len(), 0);
    }
}
