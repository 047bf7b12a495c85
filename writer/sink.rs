//! The sink: the only file that touches files.
//!
//! A dump is written as `NAME.part` and renamed when it is complete and on disk.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::{FileMode, Floor, GzipLevel, Tail, WriteError};

/// What to do if the target exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Refuse, before anything is written and again before the rename.
    Keep,
    /// Replace it, by the rename: until then the old file stays complete.
    Replace,
}

/// The final path of a dump, and whether it is compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The path; a symbolic link there is replaced, not followed.
    pub path: PathBuf,
    /// What to do if there is already a file.
    pub existing: Existing,
    /// The compression level; `None` for an uncompressed file.
    pub gzip: Option<GzipLevel>,
    /// The free space that the dump leaves; `None` for none.
    pub floor: Option<Floor>,
    /// The file's mode; `None` for its owner's alone, less the mask of the process.
    pub mode: Option<FileMode>,
}

impl Target {
    /// This path, which must not exist, for an uncompressed file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            existing: Existing::Keep,
            gzip: None,
            floor: None,
            mode: None,
        }
    }

    /// Checks whether a dump could be written here at the moment: directory, permission, and the kind
    /// of an existing file.
    ///
    /// Leaves nothing behind, and leaves another process's `.part` file alone. Errors: those of
    /// [`FileSink::create`].
    pub fn look(&self) -> Result<(), WriteError> {
        let name = file_name(&self.path)?;
        check_directory(&self.path)?;
        check_target(self)?;
        let probe = sibling(&self.path, &name, &format!(".{}.probe", std::process::id()));
        let has_mode = give_mode(self.mode, &create_new(&probe)?, &probe);
        fs::remove_file(&probe).map_err(|error| failed(&probe, "being removed", &error))?;
        has_mode
    }
}

/// The result of writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The file, under its final name; `HOST:PORT` if it was sent to a connection.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// Where the writer thread puts a dump: bytes, then [`Sink::commit`]. If another process writes the
/// end: bytes, [`Sink::flush`] and [`Sink::tail`], then [`Sink::commit`].
///
/// For one thread, which may block. Dropping a sink that is not committed undoes everything.
pub trait Sink: Send {
    /// Appends bytes to the file.
    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError>;

    /// Appends a buffer from `start` on. Returns a free buffer, this or another one, if there is one.
    fn take(&mut self, buffer: Vec<u8>, start: usize) -> Result<Option<Vec<u8>>, WriteError> {
        self.write(buffer.get(start..).unwrap_or_default())?;
        Ok(Some(buffer))
    }

    /// Returns when all bytes so far are in the file.
    fn flush(&mut self) -> Result<(), WriteError>;

    /// The position after everything written, from which another process continues.
    fn tail(&self) -> Result<Tail, WriteError>;

    /// Makes the file final; another process has appended `tail_bytes`. If this fails there is no
    /// file.
    fn commit(self: Box<Self>, tail_bytes: u64) -> Result<Written, WriteError>;
}

/// A sink for a regular file, readable only by its owner because heaps contain secrets, unless the target says otherwise.
///
/// Writes bytes as they come: for a compressed dump they are compressed already.
#[derive(Debug)]
pub struct FileSink {
    target: Target,
    part: PartFile,
    bytes: u64,
    /// Device and inode of the file that will be replaced.
    before: Option<(u64, u64)>,
}

impl FileSink {
    /// Opens `NAME.part`.
    ///
    /// A leftover regular file with the name `NAME.part` is replaced. Errors: `NoFileName`,
    /// `NoDirectory`, `Exists`, `NotARegularFile`, `NoPermission`, `Io`; after an error nothing is
    /// left behind.
    pub fn create(target: Target) -> Result<Self, WriteError> {
        let name = file_name(&target.path)?;
        check_directory(&target.path)?;
        check_target(&target)?;
        let part_path = sibling(&target.path, &name, ".part");
        let before = identity(&target.path);
        let part = PartFile::create(part_path)?;
        give_mode(target.mode, &part.file, &part.path)?;
        Ok(Self {
            target,
            part,
            bytes: 0,
            before,
        })
    }

    fn check_room(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let floor = self.target.floor.as_ref();
        floor.map_or(Ok(()), |floor| {
            floor.check(&self.part.file, &self.part.path, bytes.len())
        })
    }
}

impl Sink for FileSink {
    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.check_room(bytes)?;
        self.part
            .file
            .write_all(bytes)
            .map_err(|error| failed(&self.part.path, "being written", &error))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        // Nothing is buffered.
        Ok(())
    }

    fn tail(&self) -> Result<Tail, WriteError> {
        let tail = Tail::of(&self.part.file, &self.part.path, self.target.gzip)?;
        Ok(tail.past_the_cache().above(self.target.floor))
    }

    fn commit(mut self: Box<Self>, tail_bytes: u64) -> Result<Written, WriteError> {
        let bytes = self.bytes.saturating_add(tail_bytes);
        let (part, target) = (&mut self.part, &self.target);
        check_length(&part.file, &part.path, bytes)?;
        part.file
            .sync_all()
            .map_err(|error| failed(&part.path, "being synced", &error))?;
        if !part.is_ours() {
            return Err(WriteError::Taken {
                path: part.path.clone(),
            });
        }
        check_target(target)?;
        let found = identity(&target.path);
        let path = if found.is_some() && found != self.before {
            // Another process has put its dump there meanwhile. Neither may be lost.
            with_process_id(&target.path)
        } else {
            target.path.clone()
        };
        fs::rename(&part.path, &path)
            .map_err(|error| failed(&path, "being renamed from its .part name", &error))?;
        part.committed = true;
        // The file is complete by now. Some network file systems cannot sync a directory; that is no
        // reason to call the dump a failure.
        let _ = File::open(directory(&path)).and_then(|directory| directory.sync_all());
        Ok(Written { path, bytes })
    }
}

/// The `.part` file. Dropping it before the rename removes it.
#[derive(Debug)]
struct PartFile {
    file: File,
    path: PathBuf,
    committed: bool,
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

/// Removes all files that this process is writing. For a process that exits and gives up its
/// dumps: unfinished files then get no name.
pub fn remove_unfinished() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for (path, noted) in unfinished.iter() {
        if noted.is_none_or(|noted| identity(path) == Some(noted)) {
            let _ = fs::remove_file(path);
        }
    }
}

impl PartFile {
    /// Creates a new one.
    fn create(path: PathBuf) -> Result<Self, WriteError> {
        let file = create_new(&path)?;
        if let Ok(meta) = file.metadata() {
            note_unfinished(&path, Some((meta.dev(), meta.ino())));
        }
        Ok(Self {
            file,
            path,
            committed: false,
        })
    }

    /// Whether the name still belongs to our file, and not to another process's.
    fn is_ours(&self) -> bool {
        let identity = |meta: Metadata| (meta.dev(), meta.ino());
        match (self.file.metadata(), fs::symlink_metadata(&self.path)) {
            (Ok(open), Ok(named)) => identity(open) == identity(named),
            _ => false,
        }
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        forget_unfinished(&self.path);
        if !self.committed && self.is_ours() {
            // An error cannot be reported to anything; the next dump of this name replaces a
            // leftover.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens a file that a client has created for an answer, for writing at its end. `None` if it does
/// not exist, is not a regular file, is a link, or if `is_ours` says that it is somebody else's.
pub fn open_answer(
    path: &Path,
    is_ours: impl FnOnce(&Path, &Metadata) -> io::Result<()>,
) -> Option<Box<dyn Write>> {
    let mut options = OpenOptions::new();
    // The reader of a pipe is not waited for.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = options.append(true).custom_flags(flags).open(path).ok()?;
    let facts = file.metadata().ok().filter(Metadata::is_file)?;
    is_ours(path, &facts).ok()?;
    Some(Box::new(file))
}

/// When a file was last written; `None` if there is none, or if the system does not say.
pub fn last_written(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|meta| meta.modified()).ok()
}

/// Device and inode of the file with this name; `None` if there is none.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let meta = fs::symlink_metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

/// `out.hprof.gz` → `out.PID.hprof.gz`.
fn with_process_id(path: &Path) -> PathBuf {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let at = name.find(".hprof").unwrap_or(name.len());
    let (stem, ending) = name.split_at(at);
    path.with_file_name(format!("{stem}.{}{ending}", std::process::id()))
}

/// Rejects a file that does not consist of exactly what we and the tail's writer have written.
pub(crate) fn check_length(
    file: &File,
    path: &Path,
    expected_bytes: u64,
) -> Result<(), WriteError> {
    let meta = file.metadata();
    let found_bytes = meta
        .map_err(|error| failed(path, "being measured", &error))?
        .len();
    if found_bytes == expected_bytes {
        return Ok(());
    }
    Err(WriteError::WrongSize {
        path: path.to_owned(),
        expected_bytes,
        found_bytes,
    })
}

pub(crate) fn file_name(path: &Path) -> Result<OsString, WriteError> {
    let name = path.file_name().ok_or_else(|| WriteError::NoFileName {
        path: path.to_owned(),
    })?;
    Ok(name.to_owned())
}

fn check_directory(path: &Path) -> Result<(), WriteError> {
    let directory = directory(path);
    match fs::metadata(directory) {
        Ok(meta) if meta.is_dir() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(WriteError::NoPermission {
                path: path.to_owned(),
            })
        }
        _ => Err(WriteError::NoDirectory {
            path: path.to_owned(),
            directory: directory.to_owned(),
        }),
    }
}

/// Rejects a target that must not be replaced: any, if so configured, and always one that is not a
/// regular file.
fn check_target(target: &Target) -> Result<(), WriteError> {
    let path = &target.path;
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    // This follows links: a link to a pipe or a device is just as unsuitable for a dump.
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(WriteError::NotARegularFile { path: path.clone() });
    }
    match target.existing {
        Existing::Keep => Err(WriteError::Exists { path: path.clone() }),
        Existing::Replace => Ok(()),
    }
}

/// Creates a file that is certainly new. Replaces a regular file that a dead process left behind.
pub(crate) fn create_new(path: &Path) -> Result<File, WriteError> {
    let open = || {
        OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
    };
    let opened = match open() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if !fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file()) {
                return Err(WriteError::NotARegularFile {
                    path: path.to_owned(),
                });
            }
            fs::remove_file(path).and_then(|()| open())
        }
        opened => opened,
    };
    opened.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => WriteError::NoPermission {
            path: path.to_owned(),
        },
        _ => failed(path, "being created", &error),
    })
}

fn give_mode(mode: Option<FileMode>, file: &File, path: &Path) -> Result<(), WriteError> {
    let given = mode.map_or(Ok(()), |mode| mode.give(file));
    given.map_err(|error| failed(path, "being given its mode", &error))
}

pub(crate) fn sibling(path: &Path, name: &OsString, suffix: &str) -> PathBuf {
    let mut name = name.clone();
    name.push(suffix);
    path.with_file_name(name)
}

pub(crate) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

pub(crate) fn failed(path: &Path, action: &'static str, error: &io::Error) -> WriteError {
    WriteError::Io {
        path: path.to_owned(),
        action,
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_has_the_mode_that_its_target_says() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.hprof");
        let target = Target {
            mode: FileMode::parse("0666"),
            ..Target::new(&path)
        };
        assert_eq!(target.look(), Ok(()));
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        let sink = Box::new(FileSink::create(target).unwrap());
        assert_eq!(mode(&directory.path().join("a.hprof.part")), 0o666);
        sink.commit(0).unwrap();
        assert_eq!(mode(&path), 0o666);
    }

    #[test]
    fn a_dump_that_came_meanwhile_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.hprof.gz");
        let target = Target {
            existing: Existing::Replace,
            ..Target::new(&path)
        };
        let mut sink = FileSink::create(target).unwrap();
        sink.write(b"ours").unwrap();
        fs::write(&path, "theirs").unwrap();
        let written = Box::new(sink).commit(0).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(fs::read(&written.path).unwrap(), b"ours");
        assert!(written.path.to_str().unwrap().ends_with(".hprof.gz"));
    }

    #[test]
    fn what_is_unfinished_can_be_removed() {
        let directory = tempfile::tempdir().unwrap();
        let target = Target::new(directory.path().join("a.hprof"));
        let mut sink = FileSink::create(target).unwrap();
        sink.write(b"half a dump").unwrap();
        let part = directory.path().join("a.hprof.part");
        assert!(part.exists());
        remove_unfinished();
        assert!(!part.exists());
        let refused = Box::new(sink).commit(0);
        assert!(
            matches!(refused, Err(WriteError::Taken { .. })),
            "{refused:?}"
        );
        assert!(names(directory.path()).is_empty());
    }
    use std::os::unix::fs::symlink;
    use std::process::Command;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn refusal(path: &Path) -> WriteError {
        FileSink::create(Target::new(path)).unwrap_err()
    }

    #[test]
    fn a_look_leaves_nothing_and_takes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.hprof");
        let target = Target {
            existing: Existing::Replace,
            ..Target::new(&path)
        };
        let mut sink = Box::new(FileSink::create(target.clone()).unwrap());
        sink.write(b"of another JVM").unwrap();
        assert_eq!(target.look(), Ok(()));
        sink.commit(0).unwrap();
        assert_eq!(target.look(), Ok(()));
        assert_eq!(names(directory.path()), ["a.hprof"]);
        assert!(matches!(
            Target::new(&path).look(),
            Err(WriteError::Exists { .. })
        ));
        let nowhere = directory.path().join("b").join("a.hprof");
        assert!(matches!(
            Target::new(nowhere).look(),
            Err(WriteError::NoDirectory { .. })
        ));
    }

    #[test]
    fn only_a_whole_file_gets_the_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.hprof");
        let mut sink = Box::new(FileSink::create(Target::new(&path)).unwrap());
        assert_eq!(names(directory.path()), ["a.hprof.part"]);
        sink.write(b"head ").unwrap();
        sink.take(b"no objects".to_vec(), 3).unwrap();
        let written = sink.commit(0).unwrap();
        assert_eq!(
            written,
            Written {
                path: path.clone(),
                bytes: 12
            }
        );
        assert_eq!(names(directory.path()), ["a.hprof"]);
        assert_eq!(fs::read(&path).unwrap(), b"head objects");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_of_another_size_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.hprof");
        let mut sink = Box::new(FileSink::create(Target::new(&path)).unwrap());
        sink.write(b"head ").unwrap();
        sink.tail().unwrap().append(b"tail").unwrap();
        assert_eq!(
            sink.commit(5),
            Err(WriteError::WrongSize {
                path: directory.path().join("a.hprof.part"),
                expected_bytes: 10,
                found_bytes: 9
            })
        );
        assert_eq!(names(directory.path()), [""; 0]);
    }

    #[test]
    fn an_existing_file_is_kept_unless_told_otherwise() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.hprof");
        fs::write(&path, "old").unwrap();
        assert_eq!(refusal(&path), WriteError::Exists { path: path.clone() });
        let target = Target {
            existing: Existing::Replace,
            ..Target::new(&path)
        };
        drop(FileSink::create(target.clone()).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        Box::new(FileSink::create(target).unwrap())
            .commit(0)
            .unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.hprof");
        let sink = Box::new(FileSink::create(Target::new(&path)).unwrap());
        fs::write(&path, "new").unwrap();
        assert_eq!(sink.commit(0), Err(WriteError::Exists { path }));
        assert_eq!(names(directory.path()), ["a.hprof"]);
    }

    #[test]
    fn an_answer_goes_to_the_clients_file_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("answer");
        let ours = |_: &Path, _: &Metadata| Ok(());
        let theirs = |_: &Path, _: &Metadata| Err(io::Error::other("theirs"));
        assert!(open_answer(&path, ours).is_none());
        fs::write(&path, "one\n").unwrap();
        assert!(open_answer(&path, theirs).is_none());
        let mut answer = open_answer(&path, ours).unwrap();
        answer.write_all(b"two\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
        let link = directory.path().join("link");
        symlink(&path, &link).unwrap();
        let pipe = directory.path().join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for other in [&*link, &*pipe, directory.path(), Path::new("/dev/null")] {
            assert!(open_answer(other, ours).is_none());
        }
    }

    #[test]
    fn pipes_devices_and_directories_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success());
        let link = directory.path().join("link");
        symlink("/dev/null", &link).unwrap();
        let to_pipe = directory.path().join("to pipe");
        symlink(&pipe, &to_pipe).unwrap();
        let socket = directory.path().join("socket");
        drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
        for path in [
            pipe.as_path(),
            link.as_path(),
            to_pipe.as_path(),
            socket.as_path(),
            directory.path(),
            Path::new("/dev/full"),
        ] {
            for existing in [Existing::Keep, Existing::Replace] {
                let target = Target {
                    existing,
                    ..Target::new(path)
                };
                let error = FileSink::create(target).unwrap_err();
                assert_eq!(
                    error,
                    WriteError::NotARegularFile {
                        path: path.to_owned()
                    }
                );
            }
        }
        let left = ["link", "pipe", "socket", "to pipe"];
        assert_eq!(names(directory.path()), left);
    }

    #[test]
    fn a_pipe_in_the_place_of_the_part_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let part = directory.path().join("a.hprof.part");
        assert!(Command::new("mkfifo")
            .arg(&part)
            .status()
            .unwrap()
            .success());
        let error = refusal(&directory.path().join("a.hprof"));
        assert_eq!(error, WriteError::NotARegularFile { path: part });
        assert_eq!(names(directory.path()), ["a.hprof.part"]);
    }

    #[test]
    fn a_missing_directory_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing");
        let path = missing.join("a.hprof");
        assert_eq!(
            refusal(&path),
            WriteError::NoDirectory {
                path,
                directory: missing
            }
        );
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let path = file.join("a.hprof");
        assert_eq!(
            refusal(&path),
            WriteError::NoDirectory {
                path,
                directory: file
            }
        );
        assert!(matches!(
            refusal(Path::new("")),
            WriteError::NoFileName { .. }
        ));
    }

    #[test]
    fn a_leftover_part_makes_way() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("a.hprof.part"), "of a dead process").unwrap();
        let path = directory.path().join("a.hprof");
        Box::new(FileSink::create(Target::new(&path)).unwrap())
            .commit(0)
            .unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
    }

    #[test]
    fn a_part_of_another_process_is_never_renamed_or_removed() {
        let directory = tempfile::tempdir().unwrap();
        let target = Target::new(directory.path().join("a.hprof"));
        let first = Box::new(FileSink::create(target.clone()).unwrap());
        let second = Box::new(FileSink::create(target.clone()).unwrap());
        assert!(matches!(first.commit(0), Err(WriteError::Taken { .. })));
        assert_eq!(names(directory.path()), ["a.hprof.part"]);
        second.commit(0).unwrap();
        assert_eq!(names(directory.path()), ["a.hprof"]);
    }
}
