//! A file descriptor whose number stays the same, whatever folder it stands for: paths through it
//! can be known beforehand.

use parking_lot::Mutex;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The descriptor. It stands for the root of the file system while it is not used.
#[derive(Debug)]
pub struct FolderDescriptor(OwnedFd);

impl FolderDescriptor {
    /// Takes a free number.
    pub fn new() -> io::Result<Self> {
        Ok(Self(root()?))
    }

    /// The path of a file in the folder that it stands for, plain ASCII, good in this process
    /// alone.
    pub fn path_of(&self, name: &str) -> String {
        format!("/proc/self/fd/{}/{name}", self.0.as_raw_fd())
    }

    /// Has it stand for this folder.
    pub fn stand_for(&self, folder: BorrowedFd<'_>) -> io::Result<()> {
        let flags = libc::O_CLOEXEC;
        // SAFETY: two open descriptors; ours stays open, and stays ours.
        let answer = unsafe { libc::dup3(folder.as_raw_fd(), self.0.as_raw_fd(), flags) };
        if answer < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Lets the folder go: it could not be unmounted meanwhile.
    pub fn let_go(&self) {
        // Without a descriptor for it the folder stays in use until the next dump.
        if let Ok(root) = root() {
            let _ = self.stand_for(root.as_fd());
        }
    }
}

/// Descriptors that a dump needs at once, of this process's limit: `/proc/self/maps` or another
/// file of the system's, two ends of a socket, the child's pidfd, the file, its folder, the
/// duplicate that the child writes through, and what a compressor's or a receiver's pipe takes.
const NEEDED: usize = 12;

/// Descriptors that stand for nothing, to be closed when a dump needs their places: an application
/// that leaks descriptors has left no others when it runs out of memory.
#[derive(Debug, Default)]
pub struct DescriptorReserve(Mutex<Vec<OwnedFd>>);

impl DescriptorReserve {
    /// Takes as many as a dump needs, as far as the system has them.
    pub fn fill(&self) {
        let mut held = self.0.lock();
        while held.len() < NEEDED {
            let Ok(descriptor) = root() else {
                return;
            };
            held.push(descriptor);
        }
    }

    /// Leaves their places to a dump.
    pub fn give_up(&self) {
        self.0.lock().clear();
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
    fn the_places_of_a_reserve_are_free_when_it_is_given_up() {
        let reserve = DescriptorReserve::default();
        reserve.fill();
        let held: Vec<_> = reserve.0.lock().iter().map(AsRawFd::as_raw_fd).collect();
        assert_eq!(held.len(), NEEDED);
        reserve.fill();
        assert_eq!(reserve.0.lock().len(), NEEDED);
        reserve.give_up();
        assert!(reserve.0.lock().is_empty());
    }

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
