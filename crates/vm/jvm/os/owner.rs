//! Whose a file is. What somebody else has put at a name of the user's gets nothing that the JVM
//! knows.

use std::fs::{metadata, remove_file, symlink_metadata, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Root, which may read all that the JVM's user may read.
const ROOT: u32 = 0;

/// An error, as the end of a sentence, unless this file is the own user's or root's, and has one
/// name alone: a second one is a hard link, by which somebody gives another file of the user's this
/// name.
///
/// `facts` are those of the open file, and `path` is where it was opened.
pub fn check(path: &Path, facts: &Metadata) -> io::Result<()> {
    if facts.nlink() > 1 {
        return Err(io::Error::other("it is a hard link"));
    }
    check_user(path, facts)
}

/// The same for a file of which it does not matter whether it has a second name.
pub fn check_user(path: &Path, facts: &Metadata) -> io::Result<()> {
    let owner = facts.uid();
    if is_trusted(owner, own_user()) || given_here(path).is_ok_and(|user| user == owner) {
        return Ok(());
    }
    Err(somebody_elses(owner))
}

/// An error unless a program, and a link that leads to it, are the own user's, root's, or of the
/// user whose file stands beside it, and that file is trusted already.
pub fn check_program(program: &Path, beside: &Path) -> io::Result<()> {
    let trusted = metadata(beside)?.uid();
    for facts in [symlink_metadata(program)?, metadata(program)?] {
        let owner = facts.uid();
        if owner != trusted && !is_trusted(owner, own_user()) {
            return Err(somebody_elses(owner));
        }
    }
    Ok(())
}

fn somebody_elses(owner: u32) -> io::Error {
    io::Error::other(format!(
        "it belongs to user {owner}, neither to the JVM's own user nor to root"
    ))
}

fn is_trusted(owner: u32, own: u32) -> bool {
    owner == own || owner == ROOT
}

/// The user with whose rights this process opens files.
fn own_user() -> u32 {
    // SAFETY: a number; the call cannot fail.
    unsafe { libc::geteuid() }
}

/// The user to whom the file system gives a new file in this folder: some, in a network, give all
/// files to one user.
fn given_here(path: &Path) -> io::Result<u32> {
    let probe = Probe::beside(path)?;
    Ok(probe.file.metadata()?.uid())
}

/// An empty file, which goes when this is dropped.
struct Probe {
    file: File,
    path: PathBuf,
}

impl Probe {
    fn beside(path: &Path) -> io::Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}.probe", std::process::id()));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&name)?;
        let path = name.into();
        Ok(Self { file, path })
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        // If it cannot be removed, it is empty.
        let _ = remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{hard_link, read_dir, write};
    use std::os::unix::fs::{chown, lchown, symlink};

    fn checked(path: &Path) -> Result<(), String> {
        let facts = File::open(path).and_then(|file| file.metadata());
        check(path, &facts.expect("a file")).map_err(|error| error.to_string())
    }

    #[test]
    fn only_the_own_user_and_root_are_trusted() {
        assert!(is_trusted(7, 7) && is_trusted(ROOT, 7));
        assert!(!is_trusted(8, 7) && !is_trusted(7, ROOT));
    }

    #[test]
    fn a_file_of_the_user_has_one_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a");
        write(&file, "").expect("written");
        assert_eq!(checked(&file), Ok(()));
        hard_link(&file, folder.path().join("b")).expect("a link");
        assert_eq!(checked(&file), Err("it is a hard link".to_owned()));
    }

    #[test]
    fn a_file_of_another_user_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a");
        write(&file, "").expect("written");
        if own_user() != ROOT {
            // Nobody else can give a file away.
            assert!(chown(&file, Some(own_user() + 1), None).is_err());
            return;
        }
        chown(&file, Some(65_534), None).expect("given away");
        let why = "it belongs to user 65534, neither to the JVM's own user nor to root";
        assert_eq!(checked(&file), Err(why.to_owned()));
        let names = read_dir(folder.path()).expect("a folder").count();
        assert_eq!(names, 1, "the probe is gone");
    }

    #[test]
    fn a_program_is_trusted_as_the_file_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let [library, program, link] =
            ["a.so", "hprof", "link"].map(|name| folder.path().join(name));
        write(&library, "").expect("written");
        write(&program, "").expect("written");
        symlink(&program, &link).expect("a link");
        let is_trusted = |path: &Path| check_program(path, &library).is_ok();
        assert!(is_trusted(&program) && is_trusted(&link));
        if own_user() != ROOT {
            return;
        }
        lchown(&link, Some(65_534), None).expect("given away");
        assert!(is_trusted(&program) && !is_trusted(&link));
        chown(&program, Some(65_534), None).expect("given away");
        assert!(!is_trusted(&program));
        chown(&library, Some(65_534), None).expect("given away");
        assert!(is_trusted(&program) && is_trusted(&link));
    }

    #[test]
    fn a_new_file_tells_whose_files_are_here() {
        let folder = tempfile::tempdir().expect("a folder");
        let given = given_here(&folder.path().join("a"));
        assert_eq!(given.expect("a folder to write to"), own_user());
    }
}
