//! A file descriptor whose number stays the same, whatever folder it stands for: paths through it
//! can be known beforehand.

use super::answers::{done, opened};
use parking_lot::Mutex;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

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
        done(unsafe { libc::dup3(folder.as_raw_fd(), self.0.as_raw_fd(), flags) })
    }

    /// Lets the folder go: it could not be unmounted meanwhile.
    pub fn let_go(&self) {
        // Without a descriptor for it the folder stays in use until the next dump.
        if let Ok(root) = root() {
            let _ = self.stand_for(root.as_fd());
        }
    }
}

/// Descriptors that a dump needs at once, of this process's limit: the file, the duplicate that the
/// child writes through, two ends of a socket, the child's pidfd, the image and the kernel's notes
/// for it, those that tell how much memory is left, and one for `/proc/self/maps` or what a
/// compressor's or a receiver's pipe takes.
const NEEDED: usize = 12;

/// Descriptors that stand for nothing, and keep places: an application that leaks descriptors has
/// left no others when it runs out of memory.
static RESERVE: Reserve = Reserve(Mutex::new(Vec::new()), AtomicBool::new(false));

/// The descriptors, and whether there are to be any.
#[derive(Debug)]
struct Reserve(Mutex<Vec<OwnedFd>>, AtomicBool);

/// Keeps as many places as a dump needs, as far as the system has them, from now on.
pub fn keep_reserve() {
    RESERVE.1.store(true, Ordering::Relaxed);
    RESERVE.refill();
}

/// Keeps the places again that a dump has used, if there is to be a reserve.
pub fn refill_reserve() {
    RESERVE.refill();
}

/// Leaves all its places to whoever opens something next.
pub fn give_up_reserve() {
    RESERVE.0.lock().clear();
}

/// Opens something, in a place of the reserve if the process has no other. A place is given up only
/// at the moment at which it is needed: a thread of the application that waits for one would take
/// it.
///
/// Waits for nobody: the VM thread calls it, and a forked child.
pub fn in_reserve<T, E: ToString>(open: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    RESERVE.open(open)
}

/// The content of a file of the system's, which an error names. The place that it was read in
/// belongs to the reserve again before another thread can take it.
pub fn read(path: &str) -> io::Result<Vec<u8>> {
    RESERVE.read(path)
}

impl Reserve {
    fn refill(&self) {
        let mut held = self.0.lock();
        while self.1.load(Ordering::Relaxed) && held.len() < NEEDED {
            let Ok(descriptor) = root() else {
                return;
            };
            held.push(descriptor);
        }
    }

    fn open<T, E: ToString>(&self, mut open: impl FnMut() -> Result<T, E>) -> Result<T, E> {
        loop {
            match open() {
                Err(error) if is_full(&error.to_string()) && self.give_up_one() => {}
                opened => return opened,
            }
        }
    }

    fn give_up_one(&self) -> bool {
        let held = self.0.try_lock();
        held.is_some_and(|mut held| held.pop().is_some())
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"));
        let mut file = self.open(|| File::open(path)).map_err(named)?;
        let mut text = Vec::new();
        let read = file.read_to_end(&mut text).map_err(named);
        if let Some(mut held) = self.0.try_lock() {
            if self.1.load(Ordering::Relaxed) && held.len() < NEEDED {
                held.push(file.into());
            }
        }
        read.map(|_| text)
    }
}

/// Whether an error says that this process, or the system, has too many open files. Errors of all
/// layers end as texts, in which `std` names the number.
fn is_full(error: &str) -> bool {
    let mut numbers = [libc::EMFILE, libc::ENFILE].into_iter();
    numbers.any(|number| error.contains(&format!("(os error {number})")))
}

fn root() -> io::Result<OwnedFd> {
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: a C string; the descriptor is new.
    unsafe { opened(libc::open(c"/".as_ptr(), flags).into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{read_to_string, write};

    #[test]
    fn a_place_is_given_up_when_it_is_needed_and_taken_back_when_it_is_not() {
        let reserve = Reserve(Mutex::default(), AtomicBool::new(true));
        let held = || reserve.0.lock().len();
        reserve.refill();
        assert_eq!(held(), NEEDED);
        let mut errors = [libc::EMFILE, libc::ENFILE, libc::EACCES].into_iter();
        let mut refused = || match errors.next() {
            Some(number) => Err(io::Error::from_raw_os_error(number)),
            None => Ok(()),
        };
        // What another place does not help is told.
        let told = reserve
            .open(&mut refused)
            .map_err(|error| error.raw_os_error());
        assert_eq!((told, held()), (Err(Some(libc::EACCES)), NEEDED - 2));
        assert!(reserve.open(&mut refused).is_ok());
        assert!(reserve
            .read("/proc/self/maps")
            .is_ok_and(|text| !text.is_empty()));
        assert_eq!(held(), NEEDED - 1);
        let missing = reserve.read("/proc/self/none").unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        assert!(missing.to_string().starts_with("/proc/self/none: "));
        reserve.refill();
        assert_eq!(held(), NEEDED);
        // A process without one keeps nothing.
        let none = Reserve(Mutex::default(), AtomicBool::new(false));
        none.refill();
        assert!(none.read("/proc/self/maps").is_ok());
        let full = none.open(|| Err::<(), _>(io::Error::from_raw_os_error(libc::EMFILE)));
        assert_eq!((full.is_err(), none.0.lock().len()), (true, 0));
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
