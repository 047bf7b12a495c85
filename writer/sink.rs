//! Writes a dump to a file: as `NAME.part`, which is renamed when it is complete and on disk.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::failed;
use crate::final_name::{self, identity};
use crate::numbered_name::numbered;
use crate::part_file::{create_new, not_created, PartFile};
use crate::{FileMode, Floor, GzipLevel, Tail, WriteError};

/// What happens if the target's name is taken. Only regular files are ever replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Refuse, before anything is written and again at the end.
    Keep,
    /// Take a free name beside it: `out.hprof`, `out.1.hprof`.
    Beside,
    /// Replace the file at the end; until then the old file stays complete. Refuse if a different
    /// file has that name by then.
    Replace,
    /// Replace a file that was last written before this moment; take a free name beside any other.
    ReplaceOlder(SystemTime),
}

impl Existing {
    fn may_evade(self) -> bool {
        matches!(self, Self::Beside | Self::ReplaceOlder(_))
    }
}

/// The most names that are tried to find a free one.
const MOST_NAMES: u64 = 100_000;

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
    /// The file's mode; `None` for read and write by the owner, less the umask.
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

    /// Checks whether a dump could be written here at the moment: directory, permission, and the
    /// kind of an existing file.
    ///
    /// Leaves nothing behind, and leaves another process's `.part` file alone. Errors: those of
    /// [`FileSink::create`].
    pub fn look(&self) -> Result<(), WriteError> {
        let name = file_name(&self.path)?;
        check_directory(&self.path)?;
        check_name(&self.path, self.existing)?;
        let probe = sibling(&self.path, &name, &format!(".{}.probe", std::process::id()));
        let made = match create_new(&probe) {
            // The file of a JVM with the same process id, in another container or earlier.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(not_created(&probe, &error)),
            Ok(file) => give_mode(self.mode, &file, &probe),
        };
        let named = sibling(
            &self.path,
            &name,
            &format!(".{}.probed", std::process::id()),
        );
        let renamed = fs::rename(&probe, &named);
        remove(&named)?;
        remove(&probe)?;
        made?;
        match renamed {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(WriteError::NoRename {
                directory: directory(&self.path).to_owned(),
                reason: error.to_string(),
            }),
            _ => Ok(()),
        }
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

    /// Appends a buffer from `start` on. Returns a free buffer, this or another one, if there is
    /// one.
    fn take(&mut self, buffer: Vec<u8>, start: usize) -> Result<Option<Vec<u8>>, WriteError> {
        self.write(buffer.get(start..).unwrap_or_default())?;
        Ok(Some(buffer))
    }

    /// Returns when all bytes so far are in the file: at once if the sink holds none back.
    fn flush(&mut self) -> Result<(), WriteError> {
        Ok(())
    }

    /// The position after everything written, from which another process continues.
    fn tail(&self) -> Result<Tail, WriteError>;

    /// Makes the file final; another process has appended `tail_bytes`. If this fails there is no
    /// file.
    fn commit(self: Box<Self>, tail_bytes: u64) -> Result<Written, WriteError>;
}

/// A sink for a regular file. Only its owner can read it, because heaps contain secrets, unless the
/// target sets a mode.
///
/// Writes bytes unchanged: those of a compressed dump are compressed already.
#[derive(Debug)]
pub struct FileSink {
    target: Target,
    /// The intended name of the file: the target's, or a free one beside it.
    path: PathBuf,
    part: PartFile,
    bytes: u64,
    /// Device and inode of the file that will be replaced.
    before: Option<(u64, u64)>,
}

impl FileSink {
    /// Opens `NAME.part`.
    ///
    /// Replaces the leftover of a dead process. Errors: `NoFileName`, `NoDirectory`, `Exists`,
    /// `InUse`, `WholePart`, `NotARegularFile`, `NoPermission`, `Io`; after an error no file is
    /// left.
    pub fn create(target: Target) -> Result<Self, WriteError> {
        file_name(&target.path)?;
        check_directory(&target.path)?;
        let mut path = target.path.clone();
        for number in 1..MOST_NAMES {
            match Self::at(&target, path) {
                Err(error) if target.existing.may_evade() && is_taken(&error, &target.path) => {
                    path = numbered(&target.path, number);
                }
                made => return made,
            }
        }
        Err(WriteError::Exists { path: target.path })
    }

    fn at(target: &Target, path: PathBuf) -> Result<Self, WriteError> {
        check_name(&path, target.existing)?;
        let part = PartFile::create(sibling(&path, &file_name(&path)?, ".part"))?;
        give_mode(target.mode, &part.file, &part.path)?;
        // Another writer of this name would have held the `.part` file, but it may have just
        // finished.
        check_name(&path, target.existing)?;
        Ok(Self {
            target: target.clone(),
            before: identity(&path),
            path,
            part,
            bytes: 0,
        })
    }

    fn check_room(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let floor = self.target.floor.as_ref();
        floor.map_or(Ok(()), |floor| {
            floor.check(&self.part.file, &self.part.path, bytes.len())
        })
    }

    /// Gives the file its name, or a free one beside it, and returns that name. Files that another
    /// process has created meanwhile stay.
    fn take_name(&self) -> Result<PathBuf, WriteError> {
        let existing = self.target.existing;
        let mut path = self.path.clone();
        let named = |path: &Path| {
            check_name(path, existing)?;
            let taken = match identity(path) {
                Some(found) if Some(found) == self.before => fs::rename(&self.part.path, path),
                _ => final_name::take(&self.part.path, path),
            };
            taken.map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => WriteError::Exists {
                    path: path.to_owned(),
                },
                _ => WriteError::Unnamed {
                    part: self.part.path.clone(),
                    path: path.to_owned(),
                    reason: error.to_string(),
                },
            })
        };
        for number in 1..MOST_NAMES {
            match named(&path) {
                Ok(()) => return Ok(path),
                Err(error) if existing.may_evade() && is_taken(&error, &self.path) => {
                    path = numbered(&self.target.path, number);
                }
                Err(error) => return Err(error),
            }
        }
        Err(WriteError::Exists { path })
    }
}

/// Whether to try another name because this one is taken. If something other than a file has the
/// `first` name, the error is reported instead.
fn is_taken(error: &WriteError, first: &Path) -> bool {
    match error {
        WriteError::Exists { .. } | WriteError::InUse { .. } | WriteError::WholePart { .. } => true,
        WriteError::NotARegularFile { path } => path != first,
        _ => false,
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

    fn tail(&self) -> Result<Tail, WriteError> {
        let tail = Tail::of(&self.part.file, &self.part.path, self.target.gzip)?;
        Ok(tail.past_the_cache().above(self.target.floor))
    }

    fn commit(mut self: Box<Self>, tail_bytes: u64) -> Result<Written, WriteError> {
        let bytes = self.bytes.saturating_add(tail_bytes);
        let part = &self.part;
        check_length(&part.file, &part.path, bytes)?;
        sync(&part.file).map_err(|error| failed(&part.path, "being synced", &error))?;
        if !part.is_ours() {
            return Err(WriteError::Taken {
                path: part.path.clone(),
            });
        }
        let named = self.take_name();
        // A complete dump is kept even if it cannot be renamed.
        self.part.stays = matches!(named, Ok(_) | Err(WriteError::Unnamed { .. }));
        let path = named?;
        // The file is complete by now. Some network file systems cannot sync a directory; the dump
        // has not failed then.
        let _ = File::open(directory(&path)).and_then(|directory| directory.sync_all());
        Ok(Written { path, bytes })
    }
}

/// Returns when the file is on the disk, if the file system supports sync.
fn sync(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(error) if is_unknown(&error) => Ok(()),
        synced => synced,
    }
}

/// Whether the file system does not support the operation. A failing disk returns other errors.
fn is_unknown(error: &io::Error) -> bool {
    [libc::EINVAL, libc::ENOSYS, libc::EOPNOTSUPP]
        .into_iter()
        .any(|code| error.raw_os_error() == Some(code))
}

/// Opens a file that a client has created for an answer, for writing at its end. `None` if it does
/// not exist, is not a regular file, is a link, or if `is_ours` rejects it.
pub fn open_answer(
    path: &Path,
    is_ours: impl FnOnce(&Path, &Metadata) -> io::Result<()>,
) -> Option<Box<dyn Write>> {
    let mut options = OpenOptions::new();
    // Opening a pipe must not wait for its reader.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = options.append(true).custom_flags(flags).open(path).ok()?;
    let facts = file.metadata().ok().filter(Metadata::is_file)?;
    is_ours(path, &facts).ok()?;
    Some(Box::new(file))
}

/// When a file was last written; `None` if there is none, or if the system does not report it.
fn last_written(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|meta| meta.modified()).ok()
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

/// Rejects a taken name whose file must not be replaced. Errors: `Exists`, `NotARegularFile`.
pub fn check_name(path: &Path, existing: Existing) -> Result<(), WriteError> {
    if identity(path).is_none() {
        return Ok(());
    }
    let path = path.to_owned();
    // This follows links: a link to a pipe or a device is unsuitable, too.
    if fs::metadata(&path).is_ok_and(|meta| !meta.is_file()) {
        return Err(WriteError::NotARegularFile { path });
    }
    let is_replaced = match existing {
        Existing::Keep | Existing::Beside => false,
        Existing::Replace => true,
        // A dangling link has no time.
        Existing::ReplaceOlder(than) => last_written(&path).is_none_or(|written| written < than),
    };
    if is_replaced {
        return Ok(());
    }
    Err(WriteError::Exists { path })
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<(), WriteError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(failed(path, "being removed", &error))
        }
        _ => Ok(()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

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

    use std::time::Duration;

    const FUTURE: Duration = Duration::from_secs(3600);

    /// The name that a dump gets if its own name is taken from the start, or is taken meanwhile.
    /// `None` if there is no dump.
    fn place(existing: Existing, comes_meanwhile: bool) -> Option<String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.hprof.gz");
        let target = Target {
            existing,
            ..Target::new(&path)
        };
        if !comes_meanwhile {
            fs::write(&path, "theirs").unwrap();
        }
        let written = FileSink::create(target).and_then(|mut sink| {
            sink.write(b"ours").unwrap();
            if comes_meanwhile {
                fs::write(&path, "theirs").unwrap();
            }
            Box::new(sink).commit(0)
        });
        let place = written.ok().map(|written| {
            assert_eq!(fs::read(&written.path).unwrap(), b"ours");
            written.path
        });
        let theirs = (place.as_ref() != Some(&path)).then_some(&b"theirs"[..]);
        assert_eq!(fs::read(&path).unwrap(), theirs.unwrap_or(b"ours"));
        let files = 1 + usize::from(place.as_ref().is_some_and(|place| *place != path));
        assert_eq!(names(directory.path()).len(), files, "no .part");
        let name = place.as_deref().and_then(Path::file_name);
        name.map(|name| name.to_str().unwrap().to_owned())
    }

    #[test]
    fn what_is_there_is_replaced_only_if_the_user_says_so() {
        let (past, future) = (SystemTime::UNIX_EPOCH, SystemTime::now() + FUTURE);
        let (same, beside) = (Some("a.hprof.gz"), Some("a.1.hprof.gz"));
        for (existing, before, meanwhile) in [
            (Existing::Keep, None, None),
            (Existing::Beside, beside, beside),
            (Existing::Replace, same, None),
            (Existing::ReplaceOlder(past), beside, beside),
            (Existing::ReplaceOlder(future), same, beside),
        ] {
            assert_eq!(place(existing, false).as_deref(), before, "{existing:?}");
            assert_eq!(place(existing, true).as_deref(), meanwhile, "{existing:?}");
        }
    }

    #[test]
    fn dumps_that_begin_at_once_get_names_of_their_own() {
        let now = SystemTime::now();
        for (existing, expected) in [
            (
                Existing::Beside,
                &["a.1.hprof", "a.2.hprof", "a.3.hprof", "a.hprof"][..],
            ),
            (
                Existing::ReplaceOlder(now),
                &["a.1.hprof", "a.2.hprof", "a.hprof"],
            ),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("a.hprof");
            fs::write(&path, "old").unwrap();
            let file = File::options().write(true).open(&path).unwrap();
            file.set_modified(now - FUTURE).unwrap();
            let target = Target {
                existing,
                ..Target::new(&path)
            };
            let sinks = [(); 3].map(|()| Box::new(FileSink::create(target.clone()).unwrap()));
            let paths = sinks.map(|sink| sink.commit(0).unwrap().path);
            assert_eq!(std::collections::BTreeSet::from(paths).len(), 3);
            assert_eq!(names(directory.path()), expected);
        }
    }

    #[test]
    fn many_at_once_lose_none_of_each_others() {
        let directory = tempfile::tempdir().unwrap();
        let target = Target {
            existing: Existing::Beside,
            ..Target::new(directory.path().join("a.hprof"))
        };
        std::thread::scope(|scope| {
            for number in 0..8_u8 {
                let target = target.clone();
                scope.spawn(move || {
                    for _ in 0..20 {
                        let mut sink = Box::new(FileSink::create(target.clone()).unwrap());
                        sink.write(&[number]).unwrap();
                        sink.commit(0).unwrap();
                    }
                });
            }
        });
        let all = names(directory.path());
        let bytes = all
            .iter()
            .map(|name| fs::read(directory.path().join(name)).unwrap()[0]);
        let mut of_each = [0; 8];
        bytes.for_each(|number| of_each[usize::from(number)] += 1);
        assert_eq!(of_each, [20; 8]);
    }

    #[test]
    fn no_sync_is_no_error_and_a_bad_disk_is() {
        let error = |code| io::Error::from_raw_os_error(code);
        for code in [libc::EINVAL, libc::ENOSYS, libc::EOPNOTSUPP] {
            assert!(is_unknown(&error(code)));
        }
        for code in [libc::EIO, libc::ENOSPC, libc::EDQUOT, libc::EROFS] {
            assert!(!is_unknown(&error(code)));
        }
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
    fn a_part_of_another_process_is_never_renamed_or_removed() {
        let directory = tempfile::tempdir().unwrap();
        let target = Target::new(directory.path().join("a.hprof"));
        let part = directory.path().join("a.hprof.part");
        let first = Box::new(FileSink::create(target.clone()).unwrap());
        let second = FileSink::create(target.clone()).unwrap_err();
        assert_eq!(second, WriteError::InUse { path: part.clone() });
        // Another program removes the file although it is locked.
        fs::remove_file(&part).unwrap();
        fs::write(&part, "theirs").unwrap();
        assert!(matches!(first.commit(0), Err(WriteError::Taken { .. })));
        assert_eq!(fs::read(&part).unwrap(), b"theirs");
    }
}
