//! HotSpot's escape barrier: whether a walk needs it, and whether it may stop the application for
//! too long.
//!
//! An object that the compiler has scalar-replaced exists only in registers and stack slots. Before
//! a heap walk that reports all objects, HotSpot makes all of them again, in all frames of all
//! threads, while no thread runs (escapeBarrier.cpp, since JDK 16). Without that, the walk finds
//! neither these objects nor what only they refer to: for instance a list whose iterator the
//! compiler has replaced, if nothing else refers to the list. The forked copy finds what they refer
//! to in the compiled frames ([`StandingStacks`](crate::StandingStacks)), so where it can read
//! these, no walk has the barrier.
//!
//! Measured with 400,000 frames on 17 and 25: 16 to 29 s if there is such an object in every frame,
//! 0.3 s without any.

use std::fmt;
use std::time::Duration;

/// The first Java version with the barrier.
pub const FIRST_WITH_BARRIER: u32 = 16;
/// The longest time that was measured for a frame with an object.
const PER_FRAME: Duration = Duration::from_micros(75);
/// The longest stop that an object in every frame may cause, if the user has set no limit.
const USUAL_LIMIT: Duration = Duration::from_secs(3);

/// Whether a walk includes the barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// No: the copy finds what replaced objects refer to.
    Never,
    /// Unless it is a [`LongBarrier`].
    IfShort,
    /// Yes, as the walk cannot do without.
    Always,
}

/// A barrier that may take longer than the user allows, so that a walk must do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongBarrier {
    frames: usize,
    /// How long it takes if there is an object in every frame.
    longest: Duration,
}

impl LongBarrier {
    /// The barrier of a walk over this many frames; `None` if there is none, or if it is short
    /// enough.
    pub fn of(java: u32, frames: usize, max_pause: Option<Duration>) -> Option<Self> {
        let longest = PER_FRAME.saturating_mul(u32::try_from(frames).unwrap_or(u32::MAX));
        let is_long = java >= FIRST_WITH_BARRIER && longest > max_pause.unwrap_or(USUAL_LIMIT);
        is_long.then_some(Self { frames, longest })
    }
}

impl fmt::Display for LongBarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.longest.as_millis() + 1;
        write!(
            f,
            "the stacks have {} frames, and HotSpot might stop the application for {millis} ms to make the objects in \
             them again that the compiler has replaced, so the dump lacks what only such objects refer to; to include \
             it, add maxpause={millis}",
            self.frames
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stop_has_a_limit() {
        let is_long = |frames, limit_ms: Option<u64>| {
            LongBarrier::of(17, frames, limit_ms.map(Duration::from_millis)).is_some()
        };
        assert!(!is_long(40_000, None) && is_long(40_001, None));
        assert!(!is_long(1333, Some(100)) && is_long(1334, Some(100)));
        assert!(is_long(usize::MAX, Some(3_600_000)));
    }

    #[test]
    fn the_limit_that_it_names_is_enough() {
        let long = LongBarrier::of(17, 123_456, None).expect("a long one");
        let text = long.to_string();
        let (_, limit_ms) = text.rsplit_once("maxpause=").expect("a limit");
        let limit = Duration::from_millis(limit_ms.parse().expect("a number"));
        assert_eq!(LongBarrier::of(17, 123_456, Some(limit)), None);
    }

    #[test]
    fn older_versions_have_no_barrier() {
        for java in [0, 15] {
            assert_eq!(LongBarrier::of(java, 1_000_000, None), None);
        }
    }
}
