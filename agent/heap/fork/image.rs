//! The image of a heap that a fork does not copy, as that of ZGC: all that has objects is copied in
//! the stop, and takes the heap's place in the child.

use crate::heap::error::{Again, DumpError};
use headroom::MemoryLeft;
use hotspot::{Mapped, SharedHeap, UnusedHeap};
use jvm::object::Object;
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
const MORE_PART: u64 = 8;
const MORE_BYTES: u64 = 32 << 20;
/// More threads than this copy no faster.
const MOST_THREADS: usize = 8;
/// How long to wait, and how often, until ZGC has moved the objects of a cycle.
const RELOCATION: Duration = Duration::from_millis(10);
const RELOCATION_LOOKS: u32 = 200;

/// Room for an image of the heap, then the image.
#[derive(Debug)]
pub(super) struct HeapImage {
    heap: SharedHeap,
    /// The slot of an object.
    slot: u64,
    copying: Arc<Copying>,
    /// What is to be copied, as it was before the stop.
    used_bytes: u64,
    /// All mappings of the heap, once it is copied.
    mapped: Vec<Range<u64>>,
    /// How the references of the image are coloured.
    colours: Option<&'static Colours>,
}

/// What the copying threads share.
#[derive(Debug)]
struct Copying {
    image: Image,
    begins: Semaphore,
    has_begun: AtomicBool,
    is_over: AtomicBool,
}

impl HeapImage {
    /// Takes the room, and starts the threads that will copy. Waits until ZGC is not moving
    /// objects. `unused_heap` finds the parts that have no objects. `None` if a fork copies the
    /// heap.
    pub(super) fn prepare(
        heap: Option<SharedHeap>,
        object: &Object<'_>,
        unused_heap: Option<UnusedHeap>,
    ) -> Result<Option<Self>, DumpError> {
        let Some(heap) = heap else {
            return Ok(None);
        };
        let slot = object.handle().bits() & !7;
        let unused = unused_heap.map_or_else(Vec::new, |unused| unused.parts(&[slot]));
        let unread = || {
            DumpError::Engine("the collector's own account of its heap cannot be read".to_owned())
        };
        let mapped = heap.mapped(slot, &unused).ok_or_else(unread)?;
        let used: u64 = mapped
            .used
            .iter()
            .map(|range| range.end - range.start)
            .sum();
        let bytes = used + used / MORE_PART + MORE_BYTES;
        let left = MemoryLeft::open();
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
        let copying = Arc::new(Copying {
            image,
            begins: Semaphore::default(),
            has_begun: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        });
        let others = available_parallelism()
            .map_or(1, usize::from)
            .min(MOST_THREADS)
            - 1;
        for _ in 0..others {
            let copying = Arc::clone(&copying);
            // Without it, the others copy its pieces.
            let _ = start_worker("hprof image", Box::new(move || copying.help()));
        }
        for _ in 0..RELOCATION_LOOKS {
            match heap.mapped(slot, &unused) {
                Some(Mapped {
                    is_moving: true, ..
                }) => sleep(RELOCATION),
                _ => break,
            }
        }
        Ok(Some(Self {
            heap,
            slot,
            copying,
            used_bytes: used,
            mapped: Vec::new(),
            colours: None,
        }))
    }

    /// The bytes that are to be copied, as they were before the stop.
    pub(super) fn used_bytes(&self) -> u64 {
        self.used_bytes
    }

    /// Copies the heap. Call it while the application stands still; `unused` has no objects.
    pub(super) fn copy(&mut self, unused: &[Range<u64>]) -> Result<(), Again> {
        let mapped = self.heap.mapped(self.slot, unused).ok_or(Again::Moving)?;
        if mapped.is_moving {
            return Err(Again::Moving);
        }
        if !self.copying.image.plan(&mapped.used) {
            return Err(Again::Grown);
        }
        self.copying.begin();
        self.mapped = mapped.all;
        // The child has it as long as it lives.
        self.colours = mapped.colours.map(|colours| &*Box::leak(Box::new(colours)));
        Ok(())
    }

    /// In the child: puts the image in the place of the heap.
    pub(super) fn take_place(&self) -> io::Result<()> {
        // SAFETY: this is the forked copy, with one thread; the mappings are those of the heap.
        unsafe { self.copying.image.take_place(&self.mapped) }
    }

    /// How the references of the image are coloured; `None` if they are not.
    pub(super) fn colours(&self) -> Option<&'static Colours> {
        self.colours
    }

    /// The addresses between which the image has objects.
    pub(super) fn range(&self) -> Option<Range<u64>> {
        self.copying.image.range()
    }
}

impl Drop for HeapImage {
    fn drop(&mut self) {
        self.copying.is_over.store(true, Ordering::Release);
        (0..MOST_THREADS).for_each(|_| self.copying.begins.post());
    }
}

impl Copying {
    /// Copies in all threads, until all is copied.
    fn begin(&self) {
        self.has_begun.store(true, Ordering::Release);
        (0..MOST_THREADS).for_each(|_| self.begins.post());
        self.copy();
        while !self.image.is_copied() {
            yield_now();
        }
    }

    /// A thread that waits for the beginning.
    fn help(&self) {
        while !self.has_begun.load(Ordering::Acquire) {
            if self.is_over.load(Ordering::Acquire) {
                return;
            }
            self.begins.wait();
        }
        self.copy();
    }

    fn copy(&self) {
        // SAFETY: the planned ranges are mapped: the kernel and the collector say so, and the
        // application stands still until all is copied.
        unsafe { self.image.copy() }
    }
}
