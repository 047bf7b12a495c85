//! The image of a heap that a fork does not copy, which is copied in rounds while the application
//! runs: of a large heap of ZGC.

use super::image::HeapImage;
use super::pace::{Pace, Share};
use super::rounds::{bytes, check_room, not_read, Rounds, MOST_STOP_BYTES};
use super::shared_image::{account, is_moving, still};
use crate::heap::error::Again;
use crate::heap::left::memory_left;
use crate::message::say;
use crate::order::Order;
use hotspot::flags::is_on;
use hotspot::{Mapped, SharedHeap};
use jvm::os::tracked_image::TrackedImage;
use jvm::os::written_pages::joined;
use options::HeapCopy;
use snapshot::layout::Colours;
use std::io;
use std::ops::Range;

const PAGE_BYTES: u64 = 4096;
/// A smaller heap is copied in the stop, in 5 to 15 ms.
const LEAST_BYTES: u64 = 128 << 20;
/// The memory that must be left is larger than the heap by this part, as ZGC moves objects to other
/// places meanwhile.
const MORE_PART: u64 = 2;
/// A tracked mapping does not become one with a new one beside it. Linux allows 65,530 by default.
const MOST_MAPPINGS: usize = 16_000;
const MANY_MAPPINGS: &str = "it is in very many mappings";

/// The image, and what it is of.
#[derive(Debug)]
pub(super) struct SharedRounds {
    heap: SharedHeap,
    rounds: Rounds,
    /// The addresses of the view by which the image was copied.
    span: Range<u64>,
    /// How often the heap is mapped.
    views: usize,
    /// Whether the user bounds the stop.
    is_bounded: bool,
    /// Whether the image is compared with the heap.
    is_compared: bool,
    /// Whether a round has failed: it may have taken the notes of pages that it did not copy.
    is_lost: bool,
    /// Whether the image was compared with the heap, and differs.
    differs: bool,
    /// The heap as it was in the stop, and its used parts in the span.
    copied: Option<(Mapped, Vec<Range<u64>>)>,
}

impl SharedRounds {
    /// The image after some rounds; `None` if all is to be copied in the stop.
    pub(super) fn prepare(
        heap: SharedHeap,
        order: &Order<'_>,
        share: Option<Share>,
    ) -> Option<Self> {
        let wanted = order.heap_copy();
        if wanted == HeapCopy::Fork {
            return None;
        }
        let prepared = Self::try_prepare(heap, order, share).inspect_err(|why| {
            if wanted != HeapCopy::Auto || order.options.verbose {
                say(&format!("all of the heap is copied in the pause: {why}"));
            }
        });
        prepared.ok()?
    }

    fn try_prepare(
        heap: SharedHeap,
        order: &Order<'_>,
        share: Option<Share>,
    ) -> Result<Option<Self>, String> {
        let mapped = account(&heap).map_err(not_read)?;
        let used_bytes = bytes(&mapped.used);
        if order.heap_copy() == HeapCopy::Auto && used_bytes < LEAST_BYTES {
            return Ok(None);
        }
        // There Linux may lose notes of huge pages.
        if !heap.is_own_memory().map_err(not_read)?
            || is_on("UseTransparentHugePages") == Some(true)
        {
            return Err("it is in a file, or in large pages".to_owned());
        }
        let left = memory_left().map_err(|error| error.to_string())?;
        let room_bytes = used_bytes + used_bytes / MORE_PART;
        check_room(&left, room_bytes).map_err(|why| format!("it {why}"))?;
        let span = mapped.span();
        let views = mapped.views();
        let distances = views.iter().map(|view| view.wrapping_sub(span.start));
        let image = TrackedImage::of_shared(span.clone(), distances.collect());
        let image = image.map_err(|error| error.to_string())?;
        let mut image = Self {
            rounds: Rounds {
                image,
                left,
                used_bytes,
                unread_bytes: used_bytes,
                // What is left is copied in the stop.
                is_whole: true,
            },
            heap,
            span,
            views: views.len(),
            is_bounded: order.max_pause().is_some(),
            is_compared: order.heap_copy() == HeapCopy::Compared,
            is_lost: false,
            differs: false,
            copied: None,
        };
        let (heap, span) = (&image.heap, &image.span);
        let run = image.rounds.run(share.map(Pace::of_thread), |image| {
            watched(&account(heap)?, span, image)
        });
        run.map_err(not_read)?;
        Ok(Some(image))
    }
}

impl HeapImage for SharedRounds {
    fn catch_up(&mut self, most_bytes: u64) -> Result<(), String> {
        // Threads may wait at the class gate, so one look must do.
        let mapped = self.heap.look().ok().flatten();
        let Some(mapped) = mapped.filter(|_| !self.is_lost) else {
            return Ok(());
        };
        let used = watched(&mapped, &self.span, &mut self.rounds.image);
        let caught_up = used.and_then(|used| {
            let rounds = &mut self.rounds;
            rounds.catch_up(most_bytes, |_| Ok(used.clone()))
        });
        // The fork does not copy the heap, so another attempt has to.
        self.is_lost |= caught_up.is_err();
        Ok(())
    }

    fn is_lost(&self) -> bool {
        self.is_lost
    }

    fn outlasts_attempt(&self) -> bool {
        !self.is_lost
    }

    fn is_moving(&self) -> Result<bool, Again> {
        is_moving(&self.heap)
    }

    fn stop_bytes(&self) -> u64 {
        let most = self.rounds.used_bytes.min(MOST_STOP_BYTES);
        self.rounds.unread_bytes.max(most)
    }

    fn scanned_bytes(&self) -> u64 {
        self.rounds.used_bytes * self.views as u64
    }

    fn copy(&mut self, unused: &[Range<u64>]) -> Result<Vec<Range<u64>>, Again> {
        let mapped = still(&self.heap)?;
        let used = within(&mapped, &self.span).ok_or(Again::Grown)?;
        let unread = self.rounds.image.unread(&used).map_err(|_| Again::Grown)?;
        let expected_bytes = self.stop_bytes();
        self.rounds.unread_bytes = bytes(&unread);
        let is_long = self.is_bounded && self.rounds.unread_bytes > expected_bytes;
        let left = &self.rounds.left;
        if is_long || left.too_little_for(self.rounds.unread_bytes).is_some() {
            return Err(Again::Grown);
        }
        for run in &unread {
            self.rounds
                .image
                .copy(run)
                .map_err(|error| match error.raw_os_error() {
                    // ZGC has unmapped it meanwhile.
                    Some(libc::EFAULT) => Again::Moving,
                    _ => Again::Grown,
                })?;
        }
        if self.is_compared {
            self.differs = self.rounds.differs(&used).map_err(|_| Again::Moving)?;
        }
        self.copied = Some((mapped, used));
        Ok(unused.to_vec())
    }

    fn take_place(&mut self, _live: &dyn Fn()) -> io::Result<bool> {
        let (mapped, used) = self.copied.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let distance = mapped.span().start.wrapping_sub(self.span.start);
        let image = &self.rounds.image;
        // SAFETY: this is the forked copy, with one thread; the mappings are those of the heap.
        unsafe { image.take_shared_place(&mapped.mappings()?, distance, used)? };
        Ok(!self.differs)
    }

    fn colours(&self) -> Option<&'static Colours> {
        let (mapped, _) = self.copied.as_ref()?;
        Some(Box::leak(Box::new(mapped.colours?)))
    }

    fn summary(&self) -> Option<String> {
        self.copied.as_ref().map(|_| self.rounds.summary("in"))
    }

    fn range(&self) -> Option<Range<u64>> {
        self.copied.as_ref()?.0.objects()
    }
}

/// The used parts of the heap, once all its mappings are watched.
fn watched(
    mapped: &Mapped,
    span: &Range<u64>,
    image: &mut TrackedImage,
) -> io::Result<Vec<Range<u64>>> {
    if mapped.all().len() > MOST_MAPPINGS {
        return Err(io::Error::other(MANY_MAPPINGS));
    }
    for mapping in mapped.all() {
        match image.watch(mapping) {
            // Another watches it, who would be told of writes in place of this image.
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => return Err(error),
            // One that is gone is not used. What is not watched counts as written.
            _ => {}
        }
    }
    within(mapped, span).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// The pages of the used parts, as addresses of the view with this span; `None` if the view in use
/// is of another kind.
fn within(mapped: &Mapped, span: &Range<u64>) -> Option<Vec<Range<u64>>> {
    let view = mapped.span();
    let distance = view.start.wrapping_sub(span.start);
    let near = mapped.used.iter().map(|range| {
        let start = range.start - range.start % PAGE_BYTES;
        let end = range.end.next_multiple_of(PAGE_BYTES);
        start.wrapping_sub(distance)..end.wrapping_sub(distance)
    });
    (view.end - view.start == span.end - span.start).then(|| joined(near.collect()))
}
