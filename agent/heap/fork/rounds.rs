//! Rounds: the heap is copied while the application runs, then what was written meanwhile, until
//! little is left.

use super::pace::Pace;
use crate::message::say;
use headroom::MemoryLeft;
use jvm::os::tracked_image::TrackedImage;
use std::fmt::Display;
use std::io;
use std::ops::Range;

/// Rounds before the last one, which comes directly before the stop.
pub(super) const MOST_ROUNDS: u32 = 4;
/// If at most this part of the heap is left to copy, the rounds end.
const ENOUGH_PART: u64 = 50;
/// If more than this part is written while a round copies, the next would find as much.
const HOT_PART: u64 = 4;
/// More than this is not copied in the stop: 10 ms.
pub(super) const MOST_STOP_BYTES: u64 = 32 << 20;

/// An image in the making.
#[derive(Debug)]
pub(super) struct Rounds {
    pub(super) image: TrackedImage,
    pub(super) left: MemoryLeft,
    /// What the heap had in memory at the beginning.
    pub(super) used_bytes: u64,
    /// What is left to copy: before the stop as it is expected, then as it was.
    pub(super) unread_bytes: u64,
    /// Whether all is to be copied, however much is written.
    pub(super) is_whole: bool,
}

impl Rounds {
    /// Copies the heap, and again what is written meanwhile, as long as that becomes less. `used`
    /// are its parts that have objects, by an account that may be old; `pace` is how fast it is
    /// copied.
    pub(super) fn run(
        &mut self,
        pace: Option<Pace>,
        mut used: impl FnMut(&mut TrackedImage) -> io::Result<Vec<Range<u64>>>,
    ) -> io::Result<()> {
        for _ in 0..MOST_ROUNDS {
            self.round(&mut used, &|| pace.iter().for_each(Pace::rest))?;
            if self.unread_bytes <= self.used_bytes / ENOUGH_PART || self.is_hot() {
                break;
            }
        }
        Ok(())
    }

    /// One more round, unless it would copy more than `most_bytes`, or be of no use.
    pub(super) fn catch_up(
        &mut self,
        most_bytes: u64,
        mut used: impl FnMut(&mut TrackedImage) -> io::Result<Vec<Range<u64>>>,
    ) -> io::Result<()> {
        let ranges = used(&mut self.image)?;
        self.unread_bytes = bytes(&self.image.unread(&ranges)?);
        match !self.is_hot() && self.unread_bytes <= most_bytes {
            true => self.round(used, &|| ()),
            false => Ok(()),
        }
    }

    /// Copies what was written since the round before, and rests between two pieces.
    fn round(
        &mut self,
        mut used: impl FnMut(&mut TrackedImage) -> io::Result<Vec<Range<u64>>>,
        rest: &dyn Fn(),
    ) -> io::Result<()> {
        let (ranges, left) = (used(&mut self.image)?, &self.left);
        self.image.round(&ranges, || {
            rest();
            left.too_little().is_none()
        })?;
        let ranges = used(&mut self.image)?;
        self.unread_bytes = bytes(&self.image.unread(&ranges)?);
        Ok(())
    }

    /// Whether a page of these differs from the image, but for what is written meanwhile: native
    /// code and ZGC may write in the stop.
    pub(super) fn differs(&self, ranges: &[Range<u64>]) -> io::Result<bool> {
        let mut differing = self.image.differing_pages(ranges)?;
        let written = self.image.unread(ranges)?;
        differing.retain(|page| !written.iter().any(|run| run.contains(page)));
        Ok(!differing.is_empty())
    }

    /// Whether the application writes so much that a round would be of no use.
    pub(super) fn is_hot(&self) -> bool {
        !self.is_whole && self.unread_bytes > self.used_bytes / HOT_PART
    }

    /// What was copied when, for the summary line.
    pub(super) fn summary(&self, when: &str) -> String {
        format!(
            "an image of {} MB ({} MB copied {when} the pause)",
            self.used_bytes / 1_000_000,
            self.unread_bytes / 1_000_000
        )
    }
}

/// How much memory an image of `room_bytes` lacks, as the end of a sentence.
pub(super) fn check_room(left: &MemoryLeft, room_bytes: u64) -> Result<(), String> {
    match left.too_little_for(room_bytes) {
        None => Ok(()),
        Some(left_bytes) => Err(format!(
            "needs {} MiB of memory, and {} MiB are left",
            room_bytes >> 20,
            left_bytes >> 20
        )),
    }
}

/// Says why there is no such image. The dump is whole without one.
pub(super) fn no_image(why: impl Display) {
    say(&format!("the fork copies the heap, not an image: {why}"));
}

pub(super) fn bytes(runs: &[Range<u64>]) -> u64 {
    runs.iter().map(|run| run.end - run.start).sum()
}

#[allow(clippy::needless_pass_by_value)] // For `map_err`.
pub(super) fn not_read(error: io::Error) -> String {
    format!("it cannot be copied: {error}")
}
