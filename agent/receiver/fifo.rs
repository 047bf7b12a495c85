//! A named pipe that another process reads.

use jvm::os::owner;
use std::fs::{symlink_metadata, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use writer::{Reader, Way, WriteError};

/// How long a dump waits for a reader.
const READER_LIMIT: Duration = Duration::from_secs(10);
/// Time between two checks for one.
const LOOK: Duration = Duration::from_millis(20);
/// Permission to write for users beside the owner and the group.
const OTHERS_WRITE: u32 = 0o002;

/// Whether there is a named pipe at this path. A link to one is none: somebody else may have made
/// it.
pub(crate) fn is_fifo(path: &Path) -> bool {
    symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_fifo())
}

/// The reason why no dump goes to the pipe at this path, whoever reads it; `None` if one may.
pub(super) fn refused_fifo(path: &Path) -> Option<String> {
    let refused = held(path).err();
    refused.map(|error| not_ours(path, &error).to_string())
}

/// The pipe itself, whatever happens to its name. Not opened for bytes yet.
///
/// Who makes a pipe decides who reads it, so it must be the own user's or root's. It does not
/// matter whether it was there when the JVM started: others know the names of dumps before that,
/// too.
fn held(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let flags = libc::O_PATH | libc::O_NOFOLLOW;
    let held = options.read(true).custom_flags(flags).open(path)?;
    let facts = held.metadata()?;
    if !facts.file_type().is_fifo() {
        return Err(io::Error::other("it is no pipe any more"));
    }
    owner::check(path, &facts)?;
    if facts.permissions().mode() & OTHERS_WRITE != 0 {
        return Err(io::Error::other("any user may write to it"));
    }
    Ok(held)
}

fn not_ours(path: &Path, error: &io::Error) -> WriteError {
    not_written(path, error, "make it as the JVM's own user")
}

fn not_written(path: &Path, error: &io::Error, advice: &str) -> WriteError {
    WriteError::Refused(format!(
        "the pipe {} cannot be written to: {error}; {advice}",
        path.display()
    ))
}

/// The pipe at this path.
#[derive(Debug)]
pub(super) struct Fifo(pub(super) PathBuf);

impl Fifo {
    /// Opens it once somebody reads it; without a reader, opening it would block.
    fn open(held: &File) -> io::Result<OwnedFd> {
        let began = Instant::now();
        let mut options = OpenOptions::new();
        options.write(true).custom_flags(libc::O_NONBLOCK);
        loop {
            match options.open(format!("/proc/self/fd/{}", held.as_raw_fd())) {
                Ok(file) => return Ok(file.into()),
                Err(error) if error.raw_os_error() != Some(libc::ENXIO) => return Err(error),
                Err(_) if began.elapsed() >= READER_LIMIT => {
                    let seconds = READER_LIMIT.as_secs();
                    return Err(io::Error::other(format!(
                        "no process opened it for {seconds} s"
                    )));
                }
                Err(_) => sleep(LOOK),
            }
        }
    }
}

impl Way for Fifo {
    fn reach(&self) -> Result<(OwnedFd, Box<dyn Reader>), WriteError> {
        let path = &self.0;
        let held = held(path).map_err(|error| not_ours(path, &error))?;
        let opened = Self::open(&held)
            .map_err(|error| not_written(path, &error, "start its reader, then the dump"))?;
        Ok((opened, Box::new(FifoReader)))
    }

    /// A reader sees the end of the first part as the end of all.
    fn can_begin_anew(&self) -> bool {
        false
    }

    fn reader(&self) -> String {
        format!("the reader of the pipe {}", self.0.display())
    }

    fn name(&self) -> PathBuf {
        self.0.clone()
    }
}

/// A reader that sends nothing, and that can be sent nothing but the end.
#[derive(Debug)]
struct FifoReader;

impl Reader for FifoReader {
    fn finish(self: Box<Self>) -> Result<(), WriteError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{hard_link, write, Permissions};
    use std::os::unix::fs::symlink;

    fn pipe(folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("mkfifo").success());
        path
    }

    fn why(path: &Path) -> String {
        let reached = Fifo(path.to_owned()).reach().err();
        reached.expect("no way").to_string()
    }

    #[test]
    fn a_pipe_of_the_user_is_opened_with_its_reader() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = pipe(folder.path(), "pipe");
        let mut reader = OpenOptions::new();
        let reader = reader.read(true).custom_flags(libc::O_NONBLOCK);
        let _reader = reader.open(&path).expect("a reader");
        assert!(is_fifo(&path) && refused_fifo(&path).is_none());
        Fifo(path).reach().expect("a way");
    }

    #[test]
    fn what_others_may_have_made_is_refused_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = pipe(folder.path(), "pipe");
        std::fs::set_permissions(&path, Permissions::from_mode(0o602)).expect("permissions");
        let others = why(&path);
        assert!(
            others.contains("any user may write to it; make it as"),
            "{others}"
        );
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("permissions");
        let link = folder.path().join("link");
        symlink(&path, &link).expect("a link");
        assert!(!is_fifo(&link));
        let file = folder.path().join("file");
        write(&file, "").expect("written");
        for other in [&*link, &*file, Path::new("/dev/stdin")] {
            assert!(why(other).contains("it is no pipe any more"));
        }
        hard_link(&path, folder.path().join("other")).expect("a link");
        assert!(why(&path).contains("it is a hard link"));
        assert_eq!(refused_fifo(&path), Some(why(&path)));
    }
}
