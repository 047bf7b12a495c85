//! A file created in a folder of the JVM to which everybody may write: with the rights of the JVM's
//! user, never through a link, and removed when it is dropped.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{openat, renameat, statat, AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, Result};

use crate::proc::as_user::as_user;
use crate::proc::leftover::{making, Leftover};

/// The file. Dropping this removes it.
#[derive(Debug)]
pub(crate) struct MadeFile {
    folder: OwnedFd,
    owner: (u32, u32),
    /// Open for reading and writing.
    pub(crate) file: File,
    pub(crate) name: String,
    left: Leftover,
}

impl MadeFile {
    /// An empty file of this user and group with mode 0600. `None` if such a file is left by an
    /// earlier command, and stays.
    ///
    /// Errors: the name belongs to another user's file, or to something that is not a regular file
    /// (`EXIST`); that user may not make it, or this command may not act as that user (`PERM`).
    pub(crate) fn new(folder: &OwnedFd, name: &str, owner: (u32, u32)) -> Result<Option<Self>> {
        // Who reads it reads what was made here, whatever has the name then.
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let making = making();
        let made = as_user(owner, || {
            openat(folder, name, flags, Mode::RUSR | Mode::WUSR)
        });
        match made {
            Ok(file) => Ok(Some(Self {
                file: File::from(file),
                name: name.to_owned(),
                left: Leftover::new(making, folder, name, owner)?,
                folder: folder.try_clone().map_err(|_| Errno::MFILE)?,
                owner,
            })),
            Err(Errno::EXIST) => {
                let there = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                let is_file = FileType::from_raw_mode(there.st_mode).is_file();
                match is_file && there.st_uid == owner.0 {
                    true => Ok(None),
                    false => Err(Errno::EXIST),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Renames the file, replacing any file with the new name that its user may replace.
    pub(crate) fn rename(&mut self, name: &str) -> Result<()> {
        let (folder, old) = (&self.folder, self.name.as_str());
        as_user(self.owner, || renameat(folder, old, folder, name))?;
        self.left.rename(name);
        name.clone_into(&mut self.name);
        Ok(())
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
        // Root alone may try to give it away.
        let refused = MadeFile::new(&held, "target", another).unwrap_err();
        assert!(matches!(refused, Errno::EXIST | Errno::PERM), "{refused}");
        // A file left by an earlier command is used, and stays.
        assert!(MadeFile::new(&held, "target", owner).unwrap().is_none());
        assert_eq!(fs::read(&target).unwrap(), b"precious");
        drop(MadeFile::new(&held, "new", owner).unwrap().unwrap());
        assert!(!folder.path().join("new").exists());
    }

    #[test]
    fn a_file_goes_by_its_last_name() {
        let folder = tempfile::tempdir().unwrap();
        let facts = fs::metadata(folder.path()).unwrap();
        let held = OwnedFd::from(File::open(folder.path()).unwrap());
        fs::write(folder.path().join("last"), b"old").unwrap();
        let mut made = MadeFile::new(&held, "first", (facts.uid(), facts.gid()))
            .unwrap()
            .unwrap();
        made.file.write_all(b"new").unwrap();
        made.rename("last").unwrap();
        assert_eq!(fs::read(folder.path().join("last")).unwrap(), b"new");
        drop(made);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
