//! The image of a heap that a fork could copy. It is copied in rounds while the application runs,
//! so neither the pause nor the application's writes after it grow with the heap.

use super::image::HeapImage;
use super::pace::{Pace, Share};
use super::rounds::{bytes, check_room, no_image, not_read, Rounds, MOST_ROUNDS, MOST_STOP_BYTES};
use crate::heap::error::Again;
use crate::heap::left::memory_left;
use crate::heap::stop_bound::huge_bytes;
use crate::order::Order;
use hotspot::flags::is_on;
use hotspot::{without, ReservedHeap, VmStructs};
use jvm::object::Object;
use jvm::os::careful_reads::why_unknown;
use jvm::os::tracked_image::TrackedImage;
use options::{HeapCopy, Product};
use std::io;
use std::ops::Range;

/// The child shows that it lives after so many bytes.
const BYTES_BETWEEN_SIGNS: u64 = 16 << 20;
/// The memory that must be left is larger than the heap by this part if the user wants an image,
/// and twice the heap otherwise.
const MORE_PART: u64 = 10;
/// From this size on, the fork of an idle application's heap takes too long: 30 to 40 ms, if it is
/// in small pages.
const LARGE_BYTES: u64 = 2 << 30;
/// From this size on, a busy application loses more to copies of pages than to the image.
const BUSY_BYTES: u64 = 64 << 20;
/// An application that uses at least this many processors is busy.
const BUSY_PROCESSORS: f64 = 0.25;

/// Why Shenandoah gets no image of what is being written.
const MOVES: &str = "the application is writing, and Shenandoah may move objects in the pause";

/// The image, and what it is of.
#[derive(Debug)]
pub(super) struct RoundsImage {
    heap: ReservedHeap,
    rounds: Rounds,
    /// Whether the image is compared with the heap. Then the child copies nothing itself.
    is_compared: bool,
    /// Whether it was, and differs.
    differs: bool,
    /// Whether the collector moves objects while the application stands still.
    moves_in_stop: bool,
    /// Whether the user bounds the stop.
    is_bounded: bool,
    /// What the image takes the place of; nothing before the stop, and if the fork copies the heap.
    copied: Vec<Range<u64>>,
    /// What the child copies.
    unread: Vec<Range<u64>>,
    /// Why the fork copied the heap after all.
    failure: Option<String>,
}

impl RoundsImage {
    /// The image after some rounds; `None` if a fork shall copy the heap of this object.
    /// `processors` are those that the application uses.
    pub(super) fn prepare(
        object: &Object<'_>,
        order: &Order<'_>,
        processors: f64,
        share: Option<Share>,
    ) -> Option<Self> {
        let wanted = order.heap_copy();
        if wanted == HeapCopy::Fork {
            return None;
        }
        // Counting is over before a copy of the heap would be worth its time.
        let is_busy = processors >= BUSY_PROCESSORS && order.product != Product::Counts;
        let least = if is_busy { BUSY_BYTES } else { LARGE_BYTES };
        let least_bytes = (wanted == HeapCopy::Auto).then_some(least);
        let prepared = Self::try_prepare(object, order, least_bytes, share);
        let prepared = prepared.inspect_err(|why| {
            if wanted != HeapCopy::Auto || order.options.verbose {
                no_image(why);
            }
        });
        prepared.ok()?
    }

    /// `None` if an image is not better than a fork: if less than `least_bytes` of the heap are in
    /// memory, or if they are in huge pages, which make the fork short, and which tracking would
    /// split. Without `least_bytes` it always is.
    fn try_prepare(
        object: &Object<'_>,
        order: &Order<'_>,
        least_bytes: Option<u64>,
        share: Option<Share>,
    ) -> Result<Option<Self>, String> {
        let heap = ReservedHeap::of(object.handle());
        let heap = heap.ok_or_else(|| why_unknown("this JVM does not say where its heap is"))?;
        let image = TrackedImage::new(heap.reserved.clone());
        let image = image.map_err(|error| error.to_string())?;
        let is_compared = order.heap_copy() == HeapCopy::Compared;
        let used_bytes = used(&heap).and_then(|used| image.unread(&used));
        let used_bytes = bytes(&used_bytes.map_err(not_read)?);
        if least_bytes.is_some_and(|least| used_bytes < least || huge_bytes() > used_bytes / 2) {
            return Ok(None);
        }
        let rounds = Rounds {
            image,
            left: memory_left().map_err(|error| error.to_string())?,
            used_bytes,
            unread_bytes: used_bytes,
            is_whole: is_compared,
        };
        let mut image = Self {
            heap,
            rounds,
            is_compared,
            differs: false,
            moves_in_stop: is_on("UseShenandoahGC") == Some(true),
            is_bounded: order.max_pause().is_some(),
            copied: Vec::new(),
            unread: Vec::new(),
            failure: None,
        };
        let more_part = if least_bytes.is_some() { 1 } else { MORE_PART };
        let room_bytes = used_bytes + used_bytes / more_part;
        check_room(&image.rounds.left, room_bytes).map_err(|why| format!("it {why}"))?;
        let heap = &image.heap;
        let pace = share.map(Pace::of_thread);
        image.rounds.run(pace, |_| used(heap)).map_err(not_read)?;
        Ok(Some(image))
    }

    /// Whether the child copies what is left. Until it has done so, the application pays for its
    /// writes as after an ordinary fork.
    fn is_late(&self) -> bool {
        !self.is_compared && self.rounds.unread_bytes > MOST_STOP_BYTES
    }

    /// The same. Returns the memory of which there is an image now, or will be in the child.
    fn try_finish(&mut self, unused: &[Range<u64>]) -> io::Result<Vec<Range<u64>>> {
        let mapped = self.heap.mapped()?;
        self.copied = without(&mapped, unused);
        self.unread = self.rounds.image.unread(&self.copied)?;
        self.rounds.unread_bytes = bytes(&self.unread);
        // What the child copies may be copied for the application's writes, too.
        if self
            .rounds
            .left
            .too_little_for(2 * self.rounds.unread_bytes)
            .is_some()
        {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.rounds.image.clear_absent(&self.copied)?;
        match (self.is_late(), self.moves_in_stop) {
            (false, _) => self.copy_in_stop().map(|()| mapped),
            (true, false) => Ok(mapped),
            (true, true) => Err(io::Error::other(MOVES)),
        }
    }

    /// Copies until nobody has written meanwhile. The application stands still, but native code in
    /// a critical section does not, which writes values only; nor may the collector.
    fn copy_in_stop(&mut self) -> io::Result<()> {
        self.unread.clear();
        for _ in 0..MOST_ROUNDS {
            self.rounds.image.round(&self.copied, || true)?;
            if self.rounds.image.is_current(&self.copied)? {
                self.differs = self.is_compared && self.rounds.differs(&self.copied)?;
                return Ok(());
            }
        }
        match self.moves_in_stop {
            false => Ok(()),
            true => Err(io::Error::other(MOVES)),
        }
    }

    /// Copies what was left to the child.
    fn complete(&self, live: &dyn Fn()) -> io::Result<()> {
        let mut copied_bytes = 0;
        for run in &self.unread {
            let mut from = run.start;
            while from < run.end {
                let end = run.end.min(from + BYTES_BETWEEN_SIGNS);
                self.rounds.image.copy(&(from..end))?;
                copied_bytes += end - from;
                from = end;
                if copied_bytes >= BYTES_BETWEEN_SIGNS {
                    copied_bytes = 0;
                    live();
                    if self.rounds.left.too_little().is_some() {
                        return Err(io::ErrorKind::OutOfMemory.into());
                    }
                }
            }
        }
        Ok(())
    }
}

impl HeapImage for RoundsImage {
    fn catch_up(&mut self, most_bytes: u64) -> Result<(), String> {
        let heap = &self.heap;
        let caught_up = self.rounds.catch_up(most_bytes, |_| used(heap));
        caught_up.map_err(not_read)
    }

    fn stop_bytes(&self) -> u64 {
        if self.is_late() {
            return 0;
        }
        self.rounds.unread_bytes
    }

    fn unforked_bytes(&self) -> u64 {
        if self.is_late() {
            return 0;
        }
        self.rounds.used_bytes
    }

    /// Completes the image, or leaves that to the child. If there can be none, the fork copies the
    /// heap.
    fn copy(&mut self, unused: &[Range<u64>]) -> Result<Vec<Range<u64>>, Again> {
        let was_late = self.is_late();
        let whole = match self.try_finish(unused) {
            Ok(_) if self.is_late() && self.is_bounded && !was_late => return Err(Again::Grown),
            Ok(_) if self.is_late() => None,
            Ok(mapped) => Some(mapped),
            Err(_) if self.is_bounded && !was_late => return Err(Again::Grown),
            Err(error) => {
                self.copied.clear();
                self.unread.clear();
                self.failure = Some(not_read(error));
                None
            }
        };
        Ok(whole.unwrap_or_else(|| unused.to_vec()))
    }

    /// An error if the collector may have moved an object between the image and the fork.
    fn after_fork(&self) -> Result<(), Again> {
        let is_current = || self.rounds.image.is_current(&self.copied).unwrap_or(false);
        match self.moves_in_stop && !is_current() {
            true => Err(Again::Moving),
            false => Ok(()),
        }
    }

    /// Completes the image first.
    fn take_place(&mut self, live: &dyn Fn()) -> io::Result<bool> {
        match self.complete(live) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => return Err(error),
            // The fork has copied the heap, too.
            Err(_) => return Ok(true),
        }
        // SAFETY: this is the forked copy, with one thread; the ranges are mapped.
        unsafe { self.rounds.image.take_place(&self.copied)? };
        Ok(!self.differs)
    }

    fn range(&self) -> Option<Range<u64>> {
        Some(self.heap.reserved.clone())
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn summary(&self) -> Option<String> {
        let when = if self.is_late() { "after" } else { "in" };
        (!self.copied.is_empty()).then(|| self.rounds.summary(when))
    }
}

/// The parts of the heap that have objects, by an account that may be old.
fn used(heap: &ReservedHeap) -> io::Result<Vec<Range<u64>>> {
    let mapped = heap.mapped()?;
    let unused = VmStructs::find().unused_heap;
    let unused = unused.map_or_else(Vec::new, |unused| unused.parts(&[]));
    Ok(without(&mapped, &unused))
}
