//! The image of a heap that a fork does not copy, that of ZGC or one in a file, if all that has
//! objects is copied in the stop. It takes the heap's place in the child.

use super::image::HeapImage;
use crate::heap::error::{Again, DumpError};
use headroom::MemoryLeft;
use hotspot::{Look, Mapped, SharedHeap};
use jvm::os::careful_reads::why_unknown;
use jvm::os::image::Image;
use jvm::os::semaphore::Semaphore;
use snapshot::layout::Colours;
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
/// How long to wait, and how often, until ZGC has moved the objects of a cycle.
pub(super) const RELOCATION: Duration = Duration::from_millis(10);
pub(super) const RELOCATION_LOOKS: u32 = 50;

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
    /// Takes the room, and starts the threads that will copy. Waits until ZGC is not moving
    /// objects.
    pub(super) fn prepare(heap: SharedHeap) -> Result<Self, DumpError> {
        let left = MemoryLeft::open();
        let used = used_bytes(&heap, &left)?;
        let bytes = used + used / MORE_PART + MORE_BYTES;
        if let Some(left_bytes) = left.too_little_for(bytes) {
            return Err(DumpError::Engine(format!(
                "an image of the heap needs {} MiB of memory, and {} MiB are left",
                bytes >> 20,
                left_bytes >> 20
            )));
        }
        let image = Image::with_room(bytes, || left.too_little().is_none());
        let image = image.map_err(|error| {
            DumpError::Engine(format!(
                "there is no memory for an image of the heap: {error}"
            ))
        })?;
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

impl HeapImage for SharedImage {
    fn stop_bytes(&self) -> u64 {
        self.used_bytes
    }

    fn copy(&mut self, unused: &[Range<u64>]) -> Result<Vec<Range<u64>>, Again> {
        let Some(Look::Still(mapped)) = self.heap.look() else {
            return Err(Again::Moving);
        };
        let image = &self.copying.image;
        if self.left.too_little().is_some() || !image.plan(&mapped.used) {
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
        let mapped = self.copied.as_ref().map(Mapped::mappings);
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

/// The bytes that are in use as soon as no objects are being moved.
fn used_bytes(heap: &SharedHeap, left: &MemoryLeft) -> Result<u64, DumpError> {
    let unread = "the collector's own account of its heap cannot be read";
    let mut why = DumpError::Engine(why_unknown(unread));
    for _ in 0..RELOCATION_LOOKS {
        if let Some(left_bytes) = left.too_little() {
            return Err(DumpError::LittleMemory { left_bytes });
        }
        match heap.look() {
            Some(Look::Still(mapped)) => {
                let bytes = mapped.used.iter().map(|range| range.end - range.start);
                return Ok(bytes.sum());
            }
            Some(Look::Moving) => why = Again::Moving.into(),
            // The application runs, so what was read may not have been of one moment.
            None => {}
        }
        sleep(RELOCATION);
    }
    Err(why)
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
