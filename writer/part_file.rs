//! The `.part` file. Its writer holds its lock, so that other processes can distinguish it from the
//! leftover of a dead process.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{flock, FlockOperation};
use rustix::io::Errno;

use crate::error::failed;
use crate::final_name::identity;
use crate::whole::ends_whole;
use crate::WriteError;

/// Attempts to create the file while other processes check it, or create and remove it.
const TRIES: u32 = 100;

/// Whether this process must not ask for locks.
static IS_WITHOUT_LOCKS: AtomicBool = AtomicBool::new(false);

/// Asks for no locks from now on, as where the file system has none: a filter would end the
/// process.
pub fn do_without_locks() {
    IS_WITHOUT_LOCKS.store(true, Ordering::Relaxed);
}

fn lock(file: &File) -> Result<(), Errno> {
    if IS_WITHOUT_LOCKS.load(Ordering::Relaxed) {
        return Err(Errno::NOLCK);
    }
    flock(file, FlockOperation::NonBlockingLockExclusive)
}

/// The `.part` file. Dropping it removes it, unless it has its final name or is left for the user.
#[derive(Debug)]
pub(crate) struct PartFile {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
    /// Whether dropping leaves it in place.
    pub(crate) stays: bool,
}

/// A file that is being written, with device and inode unless no other process uses its name.
type Unfinished = (PathBuf, Option<(u64, u64)>);

/// The files that are being written.
static UNFINISHED: Mutex<Vec<Unfinished>> = Mutex::new(Vec::new());

/// Lets [`remove_unfinished`] remove this file.
pub(crate) fn note_unfinished(path: &Path, identity: Option<(u64, u64)>) {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    unfinished.push((path.to_owned(), identity));
}

/// The file is finished, or gone.
pub(crate) fn forget_unfinished(path: &Path) {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    unfinished.retain(|(noted, _)| noted != path);
}

/// Removes all files that this process is writing. For a process that exits and abandons its dumps:
/// unfinished files then get no name.
pub fn remove_unfinished() {
    remove(&UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner));
}

fn remove(unfinished: &[Unfinished]) {
    for (path, noted) in unfinished {
        if noted.is_none_or(|noted| identity(path) == Some(noted)) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Whether a `.part` file is the leftover of a dead process: no process writes it, and it is no
/// complete dump.
pub fn is_leftover(path: &Path) -> bool {
    leftover(path).is_ok()
}

impl PartFile {
    /// Creates a new one, and removes a leftover first.
    ///
    /// Errors: `InUse`, `Unnamed`, `NotARegularFile`, `NoPermission`, `Io`.
    pub(crate) fn create(path: PathBuf) -> Result<Self, WriteError> {
        for _ in 0..TRIES {
            if let Some(file) = attempt(&path)? {
                if let Ok(meta) = file.metadata() {
                    note_unfinished(&path, Some((meta.dev(), meta.ino())));
                }
                return Ok(Self {
                    file,
                    path,
                    stays: false,
                });
            }
        }
        Err(WriteError::InUse { path })
    }

    /// Whether the name still belongs to our file, and not to another process's.
    pub(crate) fn is_ours(&self) -> bool {
        is_named(&self.file, &self.path)
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        forget_unfinished(&self.path);
        if !self.stays && self.is_ours() {
            // There is nowhere to report an error; the next dump of this name replaces a leftover.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens a file that is certainly new.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// The error that a file could not be created.
pub(crate) fn not_created(path: &Path, error: &io::Error) -> WriteError {
    match error.kind() {
        ErrorKind::PermissionDenied => WriteError::NoPermission {
            path: path.to_owned(),
        },
        _ => failed(path, "being created", error),
    }
}

/// One attempt; `None` if another one may succeed.
fn attempt(path: &Path) -> Result<Option<File>, WriteError> {
    match create_new(path) {
        // A process that checks for a leftover holds the lock for a moment, and then removes the
        // file.
        Ok(file) => Ok((!is_held(&file) && is_named(&file, path)).then_some(file)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            // Only the process that holds the lock of the file with this name may remove it.
            let _held = match leftover(path) {
                Err(WriteError::Io { .. }) if identity(path).is_none() => return Ok(None),
                found => found?,
            };
            fs::remove_file(path).map_err(|error| not_created(path, &error))?;
            Ok(None)
        }
        Err(error) => Err(not_created(path, &error)),
    }
}

/// Whether another process holds its lock; otherwise takes the lock. False where the file system
/// has no locks.
fn is_held(file: &File) -> bool {
    lock(file) == Err(Errno::WOULDBLOCK)
}

/// Opens and locks the leftover of a dead process at this path. The error describes what else is
/// there.
fn leftover(path: &Path) -> Result<File, WriteError> {
    let in_use = || WriteError::InUse {
        path: path.to_owned(),
    };
    let is_file = fs::symlink_metadata(path).map(|meta| meta.is_file());
    if !is_file.map_err(|error| failed(path, "being opened", &error))? {
        return Err(WriteError::NotARegularFile {
            path: path.to_owned(),
        });
    }
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path).map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied => in_use(),
        _ => failed(path, "being opened", &error),
    })?;
    // Without locks it is unknown whether a process writes it.
    if lock(&file).is_err() || !is_named(&file, path) {
        return Err(in_use());
    }
    if ends_whole(&file) {
        return Err(WriteError::WholePart {
            path: path.to_owned(),
        });
    }
    Ok(file)
}

/// Whether the file still has this name.
fn is_named(file: &File, path: &Path) -> bool {
    let open = file
        .metadata()
        .map(|meta: Metadata| (meta.dev(), meta.ino()));
    open.ok() == identity(path) && identity(path).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileSink, Sink, Target};
    use std::thread;

    #[test]
    fn one_of_many_gets_the_file_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.part");
        fs::write(&path, "of a dead process").unwrap();
        thread::scope(|scope| {
            for number in 0..8_u8 {
                let path = path.clone();
                scope.spawn(move || {
                    for _ in 0..200 {
                        let Ok(part) = PartFile::create(path.clone()) else {
                            continue;
                        };
                        rustix::io::write(&part.file, &[number]).unwrap();
                        assert_eq!(fs::read(&path).unwrap(), [number], "it is ours alone");
                    }
                });
            }
        });
        assert!(!path.exists());
    }

    /// Others of this process are being written by other tests, and stay.
    #[test]
    fn what_is_unfinished_can_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let sink = FileSink::create(Target::new(folder.path().join("a.hprof"))).unwrap();
        let path = folder.path().join("a.hprof.part");
        assert!(path.exists());
        let mut noted = UNFINISHED.lock().unwrap().clone();
        noted.retain(|(noted, _)| *noted == path);
        assert_eq!(noted.len(), 1);
        remove(&noted);
        assert!(!path.exists());
        let refused = Box::new(sink).commit(0);
        assert!(
            matches!(refused, Err(WriteError::Taken { .. })),
            "{refused:?}"
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_written_or_whole_is_no_leftover() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.part");
        assert!(!is_leftover(&path));
        let part = PartFile::create(path.clone()).unwrap();
        assert!(!is_leftover(&path));
        assert!(matches!(
            PartFile::create(path.clone()),
            Err(WriteError::InUse { .. })
        ));
        drop(part);
        fs::write(&path, "JAVA PROFILE 1.0.2\0 and a half").unwrap();
        assert!(is_leftover(&path));
        fs::write(&path, b"JAVA PROFILE 1.0.2\0 \x2C\0\0\0\0\0\0\0\0").unwrap();
        assert!(!is_leftover(&path));
        assert!(matches!(
            PartFile::create(path.clone()),
            Err(WriteError::WholePart { .. })
        ));
        assert!(path.exists());
    }
}
