//! Paths as seen by another process, which may run in a container whose files are not trusted.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{fstat, openat, openat2, stat, Dir, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::{Errno, Result};

/// Flags for opening a folder in which paths are resolved.
pub(crate) const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A process's root folder, held open. No link below it leads out of it.
#[derive(Debug)]
pub(crate) struct Inside(pub(crate) OwnedFd);

impl Inside {
    /// Opens a folder by its path inside.
    pub(crate) fn folder(&self, path: &Path) -> Result<OwnedFd> {
        self.open(path, FOLDER)
    }

    /// Whether the process has anything at this path.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.open(path, OFlags::PATH | OFlags::CLOEXEC).is_ok()
    }

    /// Whether the process has the same file at this path as this command.
    pub(crate) fn has_this(&self, path: &Path) -> bool {
        self.has_that(path, path)
    }

    /// Whether the process has the file at this path that this command has at the other one.
    pub(crate) fn has_that(&self, path: &Path, here: &Path) -> bool {
        let inside = self.facts(path);
        let here = stat(here);
        matches!((inside, here), (Ok(a), Ok(b)) if (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino))
    }

    /// Size of the file at this path; `None` if the process has none.
    pub(crate) fn bytes(&self, path: &Path) -> Option<u64> {
        u64::try_from(self.facts(path).ok()?.st_size).ok()
    }

    fn facts(&self, path: &Path) -> Result<Stat> {
        fstat(self.open(path, OFlags::PATH | OFlags::CLOEXEC)?)
    }

    /// Opens what is at this path.
    pub(crate) fn open(&self, path: &Path, flags: OFlags) -> Result<OwnedFd> {
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        match openat2(&self.0, path, flags, Mode::empty(), resolve) {
            // A kernel before 5.6, or a sandbox that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => self.open_without_links(path, flags),
            other => other,
        }
    }

    /// Opens a regular file of this user, which is no link, for reading. Errors: there is none.
    pub(crate) fn file_of(&self, path: &Path, user: u32) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(self.open(path, flags)?);
        let facts = file.metadata()?;
        match facts.is_file() && facts.uid() == user {
            true => Ok(file),
            false => Err(io::Error::other("it is no file of the JVM's user")),
        }
    }

    /// Like [`Inside::open`], but rejects every symbolic link and every `..`.
    fn open_without_links(&self, path: &Path, flags: OFlags) -> Result<OwnedFd> {
        let mut names = Vec::new();
        for component in path.components() {
            match component {
                Component::Normal(name) => names.push(name),
                Component::RootDir | Component::CurDir => {}
                Component::ParentDir | Component::Prefix(_) => return Err(Errno::LOOP),
            }
        }
        let last = names.pop();
        let mut folder = openat(&self.0, ".", FOLDER, Mode::empty())?;
        for name in names {
            folder = openat(&folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        }
        match last {
            None => Ok(folder),
            Some(name) => {
                let found = openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
                // Without DIRECTORY, a link is opened itself instead of being rejected.
                let kind = FileType::from_raw_mode(fstat(&found)?.st_mode);
                if kind.is_symlink() {
                    return Err(Errno::LOOP);
                }
                Ok(found)
            }
        }
    }
}

/// The names in a folder, of those that are text.
pub(crate) fn names(folder: &OwnedFd) -> Result<Vec<String>> {
    // One that was opened as a place cannot be read.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let entries = Dir::new(openat(folder, ".", flags, Mode::empty())?)?;
    let names = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().to_str().ok()?;
        Some(name.to_owned())
    });
    Ok(names.collect())
}

/// The folder that a path is in.
pub(crate) fn folder_of(place: &Path) -> &Path {
    match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A path to an open file that no rename changes.
pub(crate) fn path_of(held: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use rustix::fs::open;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A root in which `tmp` is a link to a folder outside, through a path that only exists
    /// outside.
    #[test]
    fn links_do_not_lead_out() {
        let host = tempfile::tempdir().unwrap();
        let root = host.path().join("root");
        let outside = host.path().join("outside");
        fs::create_dir_all(root.join("real")).unwrap();
        fs::create_dir(&outside).unwrap();
        symlink(&outside, root.join("tmp")).unwrap();
        symlink("../../../outside", root.join("up")).unwrap();
        symlink("/real", root.join("link")).unwrap();
        let inside = Inside(open(&root, FOLDER, Mode::empty()).unwrap());
        for path in ["/tmp", "/up", "/../outside", "/tmp/.."] {
            assert!(inside.folder(Path::new(path)).is_err(), "{path}");
            assert!(inside.open_without_links(Path::new(path), FOLDER).is_err());
        }
        assert!(inside.has(Path::new("/real")) && inside.has(Path::new("/link")));
        assert!(!inside.has(Path::new("/tmp")));
        let below = names(&inside.folder(Path::new("/")).unwrap()).unwrap();
        assert!(below.contains(&"real".to_owned()));
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        assert!(inside.open_without_links(Path::new("/real"), flags).is_ok());
        assert!(inside
            .open_without_links(Path::new("/link"), flags)
            .is_err());
    }
}
