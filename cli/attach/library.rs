//! The agent's library where a JVM can load it: in place, or as a copy in the JVM's container.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{fstat, fstatvfs, Mode, StatVfsMountFlags};
use rustix::io::Errno;

use crate::attach::protocol::Jvm;
use crate::output::outcome::Failure;
use crate::proc::c_library::CLibrary;
use crate::proc::made_file::MadeFile;

/// The agent's file name.
const LIBRARY: &str = "libhprof_rs.so";

/// The JVM's working folder, in messages and paths.
const WORKING_FOLDER: &str = ".";

/// Where a copy is put, in this order. The working folder may be a volume that stays, so it comes
/// last.
const PLACES: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", WORKING_FOLDER];

/// A library that the JVM can load. Dropping it removes a copy; a loaded library stays loaded.
#[derive(Debug)]
pub(crate) struct Library {
    /// Its path inside the JVM's container.
    pub(crate) path: PathBuf,
    _copy: Option<MadeFile>,
}

impl Library {
    /// The library with this name as the JVM finds it, or the one beside this command.
    ///
    /// A JVM in a container has other files. If it finds the name, that file is used; otherwise the
    /// library is copied into the container. Errors: there is no library, or none for the C library
    /// that the JVM runs on; the JVM has no folder for a copy.
    pub(crate) fn find(jvm: &Jvm, named: Option<&Path>) -> Result<Self, Failure> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => std::env::current_exe()?.with_file_name(LIBRARY),
        };
        let is_inside = named.is_some() && path.is_absolute() && jvm.root.has(&path);
        let here = match path.canonicalize() {
            Ok(here) => here,
            Err(_) if is_inside => return Ok(Self::seen(path)),
            Err(error) => {
                return Err(Failure::Input(format!(
                    "cannot find the agent: {}: {error}; name it with --agent",
                    path.display()
                )))
            }
        };
        if is_inside && !jvm.root.has_this(&here) {
            return Ok(Self::seen(path));
        }
        let here = fitting(jvm, here, named.is_none()).map_err(Failure::Input)?;
        if jvm.root.has_this(&here) {
            return Ok(Self::seen(here));
        }
        bring(jvm, &here).map_err(Failure::Input)
    }

    fn seen(path: PathBuf) -> Self {
        Self { path, _copy: None }
    }
}

/// The library, or the other one that stands beside it in a folder with the name of the JVM's C
/// library.
fn fitting(jvm: &Jvm, library: PathBuf, may_be_other: bool) -> Result<PathBuf, String> {
    let built_for = |path: &Path| CLibrary::of_library(&fs::read(path).unwrap_or_default());
    let (Some(runs_on), Some(is)) = (jvm.c_library, built_for(&library)) else {
        return Ok(library);
    };
    if runs_on == is {
        return Ok(library);
    }
    let other = library.with_file_name(runs_on.to_string()).join(LIBRARY);
    if may_be_other && built_for(&other) == Some(runs_on) {
        return Ok(other);
    }
    Err(format!(
        "the JVM {} runs on {runs_on}, and {} is built for {is}: name with --agent the library of \
         hprof-rs-{}-{}.tar.gz",
        jvm.pid,
        library.display(),
        env!("CARGO_PKG_VERSION"),
        runs_on.target()
    ))
}

/// Copies the library to one of the JVM's folders, where its user may write and nobody could
/// exchange it.
fn bring(jvm: &Jvm, library: &Path) -> Result<Library, String> {
    let bytes = fs::read(library).map_err(|error| format!("{}: {error}", library.display()))?;
    let mut refused = Vec::new();
    for place in PLACES {
        let folder = match place {
            WORKING_FOLDER => jvm.process.folder("cwd"),
            place => jvm.root.folder(Path::new(place)),
        };
        let folder = folder.map_err(io::Error::from);
        match folder.and_then(|folder| copy(jvm, &folder, Path::new(place), &bytes)) {
            Ok(library) => return Ok(library),
            Err(why) => refused.push(format!("{why} ({place})")),
        }
    }
    Err(format!(
        "the JVM sees other files than this command, and {} cannot be copied to it: {}; copy it to where the JVM can load \
         it, and name it by --agent as the JVM sees it",
        library.display(),
        refused.join(", ")
    ))
}

/// Errors: no library is put there, as whoever could exchange it would have the JVM load another.
fn refuse_unsafe(folder: &OwnedFd, user: u32) -> io::Result<()> {
    if fstatvfs(folder)?.f_flag.contains(StatVfsMountFlags::NOEXEC) {
        return Err(io::Error::other("mounted with noexec"));
    }
    let facts = fstat(folder)?;
    let mode = Mode::from_raw_mode(facts.st_mode);
    let others = Mode::WGRP | Mode::WOTH;
    let is_shared = mode.intersects(others) && !mode.contains(Mode::SVTX);
    let is_others = facts.st_uid != user && facts.st_uid != 0;
    match is_shared || is_others {
        true => Err(io::Error::other("others may exchange its files")),
        false => Ok(()),
    }
}

/// A copy in a folder that has this path inside the JVM's container.
fn copy(jvm: &Jvm, folder: &OwnedFd, path: &Path, bytes: &[u8]) -> io::Result<Library> {
    refuse_unsafe(folder, jvm.owner.0)?;
    let name = name(&jvm.own_pid, bytes);
    // Written under a unique name and renamed, so that it is complete even if two commands copy it.
    let part = format!("{name}.{}", std::process::id());
    let mut made = MadeFile::new(folder, &part, jvm.owner)?.ok_or(Errno::EXIST)?;
    made.file.write_all(bytes)?;
    made.rename(&name)?;
    Ok(Library {
        path: path.join(name),
        _copy: Some(made),
    })
}

/// The copy's name: the same for the same library, so that the system's loader reuses a library
/// that is already loaded.
fn name(own_pid: &str, bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!(".hprof_agent.{own_pid}.{:016x}.so", hasher.finish())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_put_only_where_nobody_can_exchange_it() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let folder = tempfile::tempdir().unwrap();
        let user = fs::metadata(folder.path()).unwrap().uid();
        let held = OwnedFd::from(fs::File::open(folder.path()).unwrap());
        for (mode, is_safe) in [
            (0o755, true),
            (0o777, false),
            (0o770, false),
            (0o1777, true),
        ] {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
            let refused = refuse_unsafe(&held, user);
            assert_eq!(refused.is_ok(), is_safe, "{mode:o}");
        }
        let another = refuse_unsafe(&held, user + 1);
        assert_eq!(another.is_ok(), user == 0);
    }

    #[test]
    fn the_same_library_has_the_same_name() {
        assert_eq!(name("1", b"one"), name("1", b"one"));
        assert_ne!(name("1", b"one"), name("1", b"two"));
        assert_ne!(name("1", b"one"), name("2", b"one"));
    }
}
