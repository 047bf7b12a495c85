//! Memory for HotSpot's walk over the stacks.
//!
//! Before a JVMTI heap walk, HotSpot may look through all frames of all threads while no Java
//! thread runs: since JDK 16 for objects that the compiler has scalar-replaced (`EscapeBarrier`),
//! up to JDK 14 for biased locks (`BiasedLocking::preserve_marks`). It keeps 5 KiB for each frame
//! until it has seen the last one, and the JVM keeps the memory afterwards. So we start no such
//! walk if there is too little memory, and give the memory back afterwards.
//!
//! Measured with 2,000 threads 200 frames deep on 11: the JVM grew by 2 GB, which it would have
//! kept for ever; all of it is given back.

use crate::heap::error::DumpError;
use crate::heap::left::memory_left;
use jvm::os::host::trim_memory;
use parking_lot::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// With less than this, nothing is checked.
const LEAST_BYTES: u64 = 1 << 20;
/// The JVM may keep less than this.
const LEAST_GIVEN_BACK_BYTES: u64 = 16 << 20;
/// HotSpot itself frees its cached memory every 5 s.
const BEFORE_GIVING_BACK: Duration = Duration::from_secs(7);

/// The rooms of this process. Locked by threads that dump, and by the thread that gives memory
/// back, for as long as that takes.
static ROOMS: Mutex<Rooms> = Mutex::new(Rooms {
    kept: 0,
    last: None,
    gives_back: false,
});

#[derive(Debug)]
struct Rooms {
    /// Rooms in use by walks at the moment.
    kept: u32,
    /// When the last room was dropped whose memory is worth giving back.
    last: Option<Instant>,
    /// Whether a thread that will give memory back exists.
    gives_back: bool,
}

/// A walk for which there is enough memory. Drop it when the walk is over.
#[derive(Debug)]
pub(in crate::heap) struct StackRoom {
    bytes: u64,
}

impl StackRoom {
    /// Checks that there is memory for a walk over this many frames. The error is
    /// [`DumpError::DeepStacks`].
    pub(in crate::heap) fn check(java: u32, frames: usize) -> Result<Self, DumpError> {
        let bytes = frames as u64 * frame_bytes(java);
        check(frames, bytes, memory_left()?.too_little_for(bytes))?;
        ROOMS.lock().kept += 1;
        Ok(Self { bytes })
    }
}

impl Drop for StackRoom {
    fn drop(&mut self) {
        let mut rooms = ROOMS.lock();
        rooms.kept = rooms.kept.saturating_sub(1);
        if self.bytes < LEAST_GIVEN_BACK_BYTES {
            return;
        }
        rooms.last = Some(Instant::now());
        if !rooms.gives_back {
            let name = "hprof give back".to_owned();
            // Without a thread the JVM keeps the memory, as it would without the agent.
            rooms.gives_back = thread::Builder::new().name(name).spawn(give_back).is_ok();
        }
    }
}

/// The thread's main function. Waits until no room is in use and the last one was dropped some
/// seconds ago, then as long again, because HotSpot's own thread may have been late.
fn give_back() {
    let mut given_back_after = None;
    loop {
        let mut rooms = ROOMS.lock();
        let is_second = given_back_after.is_some() && given_back_after == rooms.last;
        let due = BEFORE_GIVING_BACK * if is_second { 2 } else { 1 };
        let since = rooms.last.map_or(Duration::MAX, |last| last.elapsed());
        if rooms.kept == 0 && since >= due {
            // Keep the lock: trimming would take a room that is made meanwhile.
            trim_memory();
            if is_second {
                rooms.gives_back = false;
                return;
            }
            given_back_after = rooms.last;
        }
        drop(rooms);
        let rest = due.saturating_sub(since);
        thread::sleep(rest.max(Duration::from_secs(1)));
    }
}

/// HotSpot's bytes for each frame: mostly the locations of all registers of the processor, twice.
/// Measured on x86-64.
fn frame_bytes(java: u32) -> u64 {
    match java {
        0..=8 => 2 << 10,
        // Biased locking is off by default, and `EscapeBarrier` is not there yet.
        15 => 0,
        _ => 5 << 10,
    }
}

/// An error if the walk would leave the application too little memory; `too_little` is what would
/// be left then.
fn check(frames: usize, bytes: u64, too_little: Option<u64>) -> Result<(), DumpError> {
    match too_little {
        Some(left_bytes) if bytes >= LEAST_BYTES => Err(DumpError::DeepStacks {
            frames,
            bytes,
            left_bytes,
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_application_keeps_what_it_needs() {
        let mebibyte = 1 << 20;
        assert_eq!(check(100_000, 500 * mebibyte, None), Ok(()));
        let left_bytes = 531 * mebibyte;
        let error = DumpError::DeepStacks {
            frames: 100_000,
            bytes: 500 * mebibyte,
            left_bytes,
        };
        assert_eq!(check(100_000, 500 * mebibyte, Some(left_bytes)), Err(error));
        // A few frames do not matter: the walk itself checks what is left.
        assert_eq!(check(10, 51_200, Some(0)), Ok(()));
    }
}
