//! Names in folders that go when this command ends, also where that is at once: by a signal, or
//! for lack of memory.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{open, unlinkat, AtFlags, Mode};
use rustix::io::{Errno, Result};
use rustix::process::{getegid, geteuid};

use crate::proc::as_user::as_user;
use crate::proc::inside::{folder_of, path_of, FOLDER};

/// How often it is tried to remove a folder.
const TRIES: u32 = 10;

/// All that are left.
static LEFT: Mutex<BTreeMap<u64, Entry>> = Mutex::new(BTreeMap::new());
/// The number of the next one.
static NEXT: AtomicU64 = AtomicU64::new(0);

struct Entry {
    folder: OwnedFd,
    name: String,
    /// Whose rights remove it.
    owner: (u32, u32),
}

impl Entry {
    fn remove(&self) {
        // If it stays, it does no harm.
        let removed = as_user(self.owner, || {
            unlinkat(&self.folder, self.name.as_str(), AtFlags::empty())
        });
        if removed == Err(Errno::ISDIR) && self.owner == own() {
            let path = path_of(&self.folder).join(&self.name);
            // Another thread may make a file in it meanwhile.
            let _ = (0..TRIES).find(|_| fs::remove_dir_all(&path).is_ok());
        }
    }
}

/// While it is there, nothing else is made, and the process does not end: what is made meanwhile
/// cannot be left because it was not known yet. No [`Leftover`] may be dropped meanwhile.
pub(crate) struct Making(MutexGuard<'static, BTreeMap<u64, Entry>>);

/// Begins to make a name that shall go.
pub(crate) fn making() -> Making {
    Making(left())
}

/// A name that goes when this is dropped, or before.
#[derive(Debug)]
pub(crate) struct Leftover(u64);

impl Leftover {
    /// In a folder of this user's and group's. Errors: there are too many open files.
    pub(crate) fn new(
        mut making: Making,
        folder: &OwnedFd,
        name: &str,
        owner: (u32, u32),
    ) -> Result<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let entry = Entry {
            folder: folder.try_clone().map_err(|_| Errno::MFILE)?,
            name: name.to_owned(),
            owner,
        };
        making.0.insert(number, entry);
        Ok(Self(number))
    }

    /// A temporary file or folder of this command's. Errors: its folder cannot be opened.
    pub(crate) fn at(making: Making, path: &Path) -> Result<Self> {
        let folder = open(folder_of(path), FOLDER, Mode::empty())?;
        let name = path.file_name().and_then(|name| name.to_str());
        Self::new(making, &folder, name.ok_or(Errno::INVAL)?, own())
    }

    /// The file has another name now.
    pub(crate) fn rename(&self, name: &str) {
        if let Some(entry) = left().get_mut(&self.0) {
            name.clone_into(&mut entry.name);
        }
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        let entry = left().remove(&self.0);
        if let Some(entry) = entry {
            entry.remove();
        }
    }
}

/// Removes all that are left. The process ends after this, so nothing can be made any more.
pub(crate) fn remove_all() {
    let mut all = left();
    std::mem::take(&mut *all).values().for_each(Entry::remove);
    std::mem::forget(all);
}

fn own() -> (u32, u32) {
    (geteuid().as_raw(), getegid().as_raw())
}

fn left() -> MutexGuard<'static, BTreeMap<u64, Entry>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_name_goes_with_what_it_means() {
        let folder = tempfile::tempdir().unwrap();
        let (file, tables) = (folder.path().join("file"), folder.path().join("tables"));
        fs::write(&file, b"").unwrap();
        fs::create_dir_all(tables.join("deep")).unwrap();
        let at = |path: &Path| Leftover::at(making(), path).unwrap();
        let left = [at(&file), at(&tables)];
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        drop(left);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let left = at(&file);
        left.rename("other");
        fs::write(&file, b"").unwrap();
        fs::write(folder.path().join("other"), b"").unwrap();
        drop(left);
        assert!(file.exists() && !folder.path().join("other").exists());
    }
}
