//! How a whole file gets its name. What has that name stays, whoever made it meanwhile.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use rustix::fs::{renameat_with, RenameFlags, CWD};
use rustix::io::Errno;

use crate::sink::identity;

/// Gives the file `part` the name `path`. Errors: `AlreadyExists` if something has that name; the folder cannot rename.
pub(crate) fn take(part: &Path, path: &Path) -> io::Result<()> {
    match renameat_with(CWD, part, CWD, path, RenameFlags::NOREPLACE) {
        // Old kernels, some network file systems, and filters of system calls.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => link(part, path),
        renamed => Ok(renamed?),
    }
}

/// The same by a second name. The first may stay, if the folder does not let it go.
fn link(part: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(part, path) {
        Ok(()) => {}
        // A network file system may say so of the link that it has just made.
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

/// The same where nothing else is possible. Between the look and the rename another program may take the name; those that
/// write dumps do not, as they hold the `.part` file of a name for as long.
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
