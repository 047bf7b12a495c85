//! A file created in a folder of the JVM to which everybody may write: never through a link, and removed when it is
//! dropped.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{
    fchown, openat, renameat, statat, unlinkat, AtFlags, FileType, Gid, Mode, OFlags, Uid,
};
use rustix::io::{Errno, Result};

/// The file. Dropping this removes it, unless it existed before.
#[derive(Debug)]
pub(crate) struct MadeFile {
    folder: OwnedFd,
    /// `None` if another process created it.
    made: Option<(File, String)>,
}

impl MadeFile {
    /// An empty file of this user and group with mode 0600: a new one, or one left by an earlier command.
    ///
    /// Errors: the name belongs to another user's file, or to something that is not a regular file (`EXIST`); the
    /// system refuses.
    pub(crate) fn new(folder: &OwnedFd, name: &str, (user, group): (u32, u32)) -> Result<Self> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let made = openat(folder, name, flags, Mode::RUSR | Mode::WUSR);
        let folder = folder.try_clone().map_err(|_| Errno::MFILE)?;
        let made = match made {
            Ok(file) => {
                // HotSpot ignores another user's file. A command that may not change the owner is that user, or fails
                // later.
                let _ = fchown(&file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
                Some((File::from(file), name.to_owned()))
            }
            Err(Errno::EXIST) => {
                let there = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                let is_file = FileType::from_raw_mode(there.st_mode).is_file();
                if !is_file || there.st_uid != user {
                    return Err(Errno::EXIST);
                }
                None
            }
            Err(error) => return Err(error),
        };
        Ok(Self { folder, made })
    }

    /// The file's name; `None` if another process created it.
    pub(crate) fn name(&self) -> Option<&str> {
        self.made.as_ref().map(|(_, name)| name.as_str())
    }

    /// The file, open for writing; `None` if another process created it.
    pub(crate) fn file(&self) -> Option<&File> {
        self.made.as_ref().map(|(file, _)| file)
    }

    /// Renames the file, replacing any file with the new name.
    pub(crate) fn rename(&mut self, name: &str) -> Result<()> {
        let (_, old) = self.made.as_mut().ok_or(Errno::EXIST)?;
        renameat(&self.folder, old.as_str(), &self.folder, name)?;
        name.clone_into(old);
        Ok(())
    }
}

impl Drop for MadeFile {
    fn drop(&mut self) {
        if let Some(name) = self.name() {
            // If it stays, it does no harm.
            let _ = unlinkat(&self.folder, name, AtFlags::empty());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn what_stands_in_the_way_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, b"precious").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let facts = fs::metadata(&target).unwrap();
        let owner = (facts.uid(), facts.gid());
        let held = OwnedFd::from(File::open(folder.path()).unwrap());
        assert_eq!(
            MadeFile::new(&held, "link", owner).unwrap_err(),
            Errno::EXIST
        );
        let another = (owner.0 + 1, owner.1);
        assert_eq!(
            MadeFile::new(&held, "target", another).unwrap_err(),
            Errno::EXIST
        );
        // A file left by an earlier command is used, and stays.
        drop(MadeFile::new(&held, "target", owner).unwrap());
        assert_eq!(fs::read(&target).unwrap(), b"precious");
        drop(MadeFile::new(&held, "new", owner).unwrap());
        assert!(!folder.path().join("new").exists());
    }

    #[test]
    fn a_file_goes_by_its_last_name() {
        let folder = tempfile::tempdir().unwrap();
        let facts = fs::metadata(folder.path()).unwrap();
        let held = OwnedFd::from(File::open(folder.path()).unwrap());
        fs::write(folder.path().join("last"), b"old").unwrap();
        let mut made = MadeFile::new(&held, "first", (facts.uid(), facts.gid())).unwrap();
        made.file().unwrap().write_all(b"new").unwrap();
        made.rename("last").unwrap();
        assert_eq!(fs::read(folder.path().join("last")).unwrap(), b"new");
        drop(made);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
