//! A file descriptor whose number stays the same, whatever folder it stands for: paths through it can be known beforehand.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The descriptor. It stands for the root of the file system while it is not used.
#[derive(Debug)]
pub(crate) struct FolderDescriptor(OwnedFd);

impl FolderDescriptor {
    /// Takes a free number.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(root()?))
    }

    /// The path of a file in the folder that it stands for, plain ASCII, good in this process alone.
    pub(crate) fn path_of(&self, name: &str) -> String {
        format!("/proc/self/fd/{}/{name}", self.0.as_raw_fd())
    }

    /// Has it stand for this folder.
    pub(crate) fn stand_for(&self, folder: BorrowedFd<'_>) -> io::Result<()> {
        let flags = libc::O_CLOEXEC;
        // SAFETY: two open descriptors; ours stays open, and stays ours.
        let answer = unsafe { libc::dup3(folder.as_raw_fd(), self.0.as_raw_fd(), flags) };
        if answer < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Lets the folder go: it could not be unmounted meanwhile.
    pub(crate) fn let_go(&self) {
        // Without a descriptor for it the folder stays in use until the next dump.
        if let Ok(root) = root() {
            let _ = self.stand_for(root.as_fd());
        }
    }
}

fn root() -> io::Result<OwnedFd> {
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: a C string.
    let descriptor = unsafe { libc::open(c"/".as_ptr(), flags) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just opened, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{read_to_string, write, File};

    #[test]
    fn a_path_leads_into_the_folder_that_it_stands_for() {
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let descriptor = FolderDescriptor::new().expect("a descriptor");
        let path = descriptor.path_of("a");
        assert!(read_to_string(&path).is_err());
        for (number, folder) in folders.iter().enumerate() {
            let opened = File::open(folder.path()).expect("a folder");
            descriptor
                .stand_for(opened.as_fd())
                .expect("it stands for it");
            write(&path, number.to_string()).expect("written");
        }
        descriptor.let_go();
        assert!(read_to_string(&path).is_err());
        for (number, folder) in folders.iter().enumerate() {
            let text = read_to_string(folder.path().join("a")).expect("a file");
            assert_eq!(text, number.to_string());
        }
    }
}
