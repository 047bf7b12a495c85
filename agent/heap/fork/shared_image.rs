//! The image of a heap that a fork does not copy, that of ZGC or one in a file, if all that has
//! objects is copied in the stop. It takes the heap's place in the child.

use super::image::HeapImage;
use super::rounds::{bytes, check_room};
use crate::heap::error::{Again, DumpError};
use crate::heap::left::{check_mappings, memory_left};
use headroom::MemoryLeft;
use hotspot::{Mapped, SharedHeap};
use jvm::os::careful_reads::why_unknown;
use jvm::os::descriptor::read;
use jvm::os::image::{FilePlace, Image, SecondMapping};
use jvm::os::semaphore::Semaphore;
use jvm::os::written_pages::joined;
use snapshot::layout::Colours;
use snapshot::mappings::Mappings;
use std::cmp::Reverse;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{available_parallelism, sleep, yield_now};
use std::time::Duration;
use writer::start_worker;

/// The room is larger than the heap by this part and these bytes, as the application runs on until
/// the stop.
const MORE_PART: u64 = 4;
const MORE_BYTES: u64 = 64 << 20;
/// More threads than this copy no faster.
const MOST_THREADS: usize = 8;
/// The application runs, so what is read of the heap may not be of one moment: how long to wait
/// then, and how often.
const CHANGES: Duration = Duration::from_millis(10);
const LOOKS: u32 = 50;
/// Most second mappings of the heap, and how many mappings the process must have left for them.
const MOST_SECOND_MAPPINGS: usize = 64;
const LEFT_MAPPINGS: usize = 2000;

/// Room for an image of the heap, then the image.
#[derive(Debug)]
pub(super) struct SharedImage {
    heap: SharedHeap,
    copying: Arc<Copying>,
    left: MemoryLeft,
    /// What is to be copied, as it was before the stop.
    used_bytes: u64,
    /// The heap as it was copied; `None` before.
    copied: Option<Mapped>,
}

/// What the copying threads share.
#[derive(Debug)]
struct Copying {
    image: Image,
    wakes: Semaphore,
    has_begun: AtomicBool,
    is_over: AtomicBool,
}

impl SharedImage {
    /// Takes the room, and starts the threads that will copy.
    pub(super) fn prepare(heap: SharedHeap) -> Result<Self, DumpError> {
        let left = memory_left()?;
        let used = used_bytes(&heap, &left)?;
        let room = used + used / MORE_PART + MORE_BYTES;
        let refused = |why| DumpError::Engine(format!("an image of the heap {why}"));
        check_room(&left, room).map_err(refused)?;
        let image = Image::with_room(room, || left.too_little().is_none());
        let mut image = image.map_err(no_room)?;
        if let Ok(mapped) = account(&heap) {
            image.read_through(mapped_again(mapped.used).unwrap_or_default());
        }
        let image = Self {
            copying: Copying::start(image),
            used_bytes: used_bytes(&heap, &left)?,
            heap,
            left,
            copied: None,
        };
        Ok(image)
    }
}

/// There is no room for the image: a limit or a filter, which stay, or an error of the system's,
/// which may pass.
#[allow(clippy::needless_pass_by_value)] // For `map_err`.
fn no_room(error: io::Error) -> DumpError {
    let why = format!("there can be no image of the heap: {error}");
    match error.raw_os_error() {
        None | Some(libc::EPERM | libc::EACCES | libc::ENOSYS) => DumpError::Engine(why),
        Some(_) => DumpError::NoCopy(why),
    }
}

impl HeapImage for SharedImage {
    fn is_moving(&self) -> Result<bool, Again> {
        is_moving(&self.heap)
    }

    fn stop_bytes(&self) -> u64 {
        self.used_bytes
    }

    fn copy(&mut self, unused: &[Range<u64>]) -> Result<Vec<Range<u64>>, Again> {
        let mapped = still(&self.heap)?;
        let image = &self.copying.image;
        let maps = mappings().map_err(unread)?;
        let is_planned = image.plan(&mapped.used, |range| maps.place_in_file(range));
        if self.left.too_little().is_some() || !is_planned {
            return Err(Again::Grown);
        }
        self.copying.copy_all();
        if image.has_failed() {
            return Err(Again::Moving);
        }
        self.copied = Some(mapped);
        Ok(unused.to_vec())
    }

    fn take_place(&mut self, _live: &dyn Fn()) -> io::Result<bool> {
        let mapped = self.copied.as_ref().map(Mapped::mappings).transpose()?;
        // SAFETY: this is the forked copy, with one thread; the mappings are those of the heap.
        unsafe {
            let mapped = mapped.unwrap_or_default();
            self.copying.image.take_place(&mapped).map(|()| true)
        }
    }

    fn colours(&self) -> Option<&'static Colours> {
        let colours = self.copied.as_ref()?.colours?;
        Some(Box::leak(Box::new(colours)))
    }

    fn range(&self) -> Option<Range<u64>> {
        self.copied.as_ref()?.objects()
    }
}

impl Drop for SharedImage {
    fn drop(&mut self) {
        self.copying.is_over.store(true, Ordering::Release);
        self.copying.wake();
    }
}

/// The heap in the stop, if no objects are being moved.
pub(super) fn still(heap: &SharedHeap) -> Result<Mapped, Again> {
    let mapped = heap.look().map_err(unread)?;
    mapped
        .filter(|mapped| !mapped.is_moving)
        .ok_or(Again::Moving)
}

/// Whether objects are being moved, or may be.
pub(super) fn is_moving(heap: &SharedHeap) -> Result<bool, Again> {
    let is_moving = heap.is_moving().map_err(unread)?;
    Ok(is_moving != Some(false))
}

#[allow(clippy::needless_pass_by_value)] // For `map_err`.
fn unread(error: io::Error) -> Again {
    Again::Unread(error.to_string())
}

/// The bytes that are in use.
fn used_bytes(heap: &SharedHeap, left: &MemoryLeft) -> Result<u64, DumpError> {
    if let Some(left_bytes) = left.too_little() {
        return Err(DumpError::LittleMemory { left_bytes });
    }
    let unknown = "the collector's own account of its heap cannot be read";
    match account(heap) {
        Ok(mapped) => Ok(bytes(&mapped.used)),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => {
            Err(DumpError::Engine(why_unknown(unknown)))
        }
        Err(error) => Err(unread(error).into()),
    }
}

/// The heap while the application runs, by an account that may be old; `TimedOut` if there is none.
pub(super) fn account(heap: &SharedHeap) -> io::Result<Mapped> {
    let mut why = io::ErrorKind::TimedOut.into();
    for _ in 0..LOOKS {
        match heap.look() {
            Ok(Some(mapped)) => return Ok(mapped),
            Ok(None) => {}
            Err(error) => why = error,
        }
        sleep(CHANGES);
    }
    Err(why)
}

/// Second mappings of what is largest in these ranges; none if the system does not say where it is,
/// or if the application would have few mappings left. While they are made, the collector may map
/// other memory there, so the system is asked what they are of.
fn mapped_again(used: Vec<Range<u64>>) -> Option<Vec<(SecondMapping, FilePlace)>> {
    check_mappings(LEFT_MAPPINGS).ok()?;
    let maps = mappings().ok()?;
    let used = joined(used);
    let mut parts: Vec<Range<u64>> = used.iter().flat_map(|part| maps.shared(part)).collect();
    parts.sort_unstable_by_key(|part| Reverse(part.end - part.start));
    parts.truncate(MOST_SECOND_MAPPINGS);
    let seconds: Vec<SecondMapping> = parts.iter().filter_map(SecondMapping::of).collect();
    let maps = mappings().ok()?;
    let placed = seconds.into_iter().filter_map(|second| {
        let place = maps.place_in_file(second.range())?;
        Some((second, place))
    });
    Some(placed.collect())
}

fn mappings() -> io::Result<Mappings> {
    Ok(Mappings::parse(&read("/proc/self/maps")?))
}

impl Copying {
    /// Starts the threads, which wait.
    fn start(image: Image) -> Arc<Self> {
        let copying = Arc::new(Self {
            image,
            wakes: Semaphore::default(),
            has_begun: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        });
        let processors = available_parallelism().map_or(1, usize::from);
        for _ in 1..processors.min(MOST_THREADS) {
            let copying = Arc::clone(&copying);
            // Without it, the others copy its pieces.
            let _ = start_worker("hprof image", Box::new(move || copying.help()));
        }
        copying
    }

    fn wake(&self) {
        (0..MOST_THREADS).for_each(|_| self.wakes.post());
    }

    /// Copies in all threads, until all is copied.
    fn copy_all(&self) {
        self.has_begun.store(true, Ordering::Release);
        self.wake();
        self.image.copy();
        while !self.image.is_copied() {
            yield_now();
        }
    }

    /// A thread that copies, and does not end before the fork.
    fn help(&self) {
        while !self.is_over.load(Ordering::Acquire) {
            if self.has_begun.load(Ordering::Acquire) {
                self.image.copy();
            }
            self.wakes.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_moment_does_not_stop_the_application() {
        for number in [
            libc::EMFILE,
            libc::ENFILE,
            libc::ENOMEM,
            libc::EINTR,
            libc::EIO,
        ] {
            let error = no_room(io::Error::from_raw_os_error(number));
            assert!(matches!(error, DumpError::NoCopy(_)), "{error}");
        }
        for stays in [
            io::ErrorKind::FileTooLarge.into(),
            io::ErrorKind::OutOfMemory.into(),
            io::Error::other("the seccomp filter ends this process at memfd_create"),
            io::Error::from_raw_os_error(libc::EPERM),
            io::Error::from_raw_os_error(libc::ENOSYS),
        ] {
            let error = no_room(stays);
            assert!(matches!(error, DumpError::Engine(_)), "{error}");
        }
    }
}
