//! Gives a complete file its final name, and never replaces a file that has that name.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{renameat_with, RenameFlags, CWD};
use rustix::io::Errno;

/// Device and inode of the file with this name; `None` if there is none.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    let meta = fs::symlink_metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

/// Renames the file `part` to `path`. Errors: `AlreadyExists` if something has that name; or the
/// folder does not allow renaming.
pub(crate) fn take(part: &Path, path: &Path) -> io::Result<()> {
    match renameat_with(CWD, part, CWD, path, RenameFlags::NOREPLACE) {
        // Refused by old kernels, some network file systems, and filters of system calls.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => link(part, path),
        renamed => Ok(renamed?),
    }
}

/// Adds the name as a second one and removes the first, which stays if the folder does not allow
/// removal.
fn link(part: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(part, path) {
        Ok(()) => {}
        // A network file system may return this error for the link that it has just created.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            if identity(path) != identity(part) {
                return Err(error);
            }
        }
        Err(_) => return look_and_rename(part, path),
    }
    let _ = fs::remove_file(part);
    Ok(())
}

/// Renames where no atomic operation exists. Another program may take the name between check and
/// rename. Programs that write dumps do not, because they hold the `.part` file of the name.
fn look_and_rename(part: &Path, path: &Path) -> io::Result<()> {
    if identity(path).is_some() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    fs::rename(part, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_stays_what_it_is() {
        for way in [take, link, look_and_rename] {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            fs::write(at("part"), "new").unwrap();
            fs::write(at("old"), "old").unwrap();
            std::os::unix::fs::symlink("nowhere", at("link")).unwrap();
            for taken in ["old", "link"] {
                let error = way(&at("part"), &at(taken)).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::AlreadyExists);
            }
            assert_eq!(fs::read(at("old")).unwrap(), b"old");
            way(&at("part"), &at("free")).unwrap();
            assert_eq!(fs::read(at("free")).unwrap(), b"new");
            assert!(!at("part").exists());
            assert!(way(&at("part"), &at("other")).is_err(), "there is no file");
        }
    }

    #[test]
    fn a_link_that_is_there_already_is_ours() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("part"), "new").unwrap();
        fs::hard_link(at("part"), at("name")).unwrap();
        link(&at("part"), &at("name")).unwrap();
        assert_eq!(fs::read(at("name")).unwrap(), b"new");
        assert!(!at("part").exists());
    }
}
