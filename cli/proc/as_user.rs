//! Acts in the folders of a JVM as the JVM's user. Root's own rights would serve anybody who may
//! write there: by a link, or another file with the name.

use std::thread;

use rustix::fs::{Gid, Uid};
use rustix::io::{Errno, Result};
use rustix::process::geteuid;
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

/// Does this as that user and group, in a thread that then ends; for the user of this command just
/// so.
///
/// Errors: those of `act`; this command may not act as another user (`PERM`).
pub(crate) fn as_user<T: Send>(
    (user, group): (u32, u32),
    act: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    if geteuid().as_raw() == user {
        return act();
    }
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, || {
            become_user(Uid::from_raw(user), Gid::from_raw(group))?;
            act()
        });
        let done = thread.map_err(|_| Errno::AGAIN)?.join();
        done.unwrap_or(Err(Errno::IO))
    })
}

/// Only of this thread. Its real user stays, so that the other one may neither signal nor trace it.
fn become_user(user: Uid, group: Gid) -> Result<()> {
    // Some containers let nobody change these.
    let _ = set_thread_groups(&[]);
    set_thread_res_gid(None, group, None)?;
    set_thread_res_uid(None, user, None)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use rustix::fs::{open, Mode, OFlags};
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    /// Only root can become another user, and nobody else runs this test.
    #[test]
    fn root_lends_nothing() {
        if !geteuid().is_root() {
            return;
        }
        let (user, group) = (54_321, 54_322);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let make = || {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
            open(&file, flags, Mode::RUSR | Mode::WUSR)
        };
        assert_eq!(as_user((user, group), make).unwrap_err(), Errno::ACCESS);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        drop(as_user((user, group), make).unwrap());
        let facts = fs::metadata(&file).unwrap();
        assert_eq!((facts.uid(), facts.gid()), (user, group));
        assert!(geteuid().is_root());
        assert_eq!(as_user((0, 0), || Ok(geteuid().as_raw())), Ok(0));
    }
}
