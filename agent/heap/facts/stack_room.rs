//! Memory for HotSpot's walk over the stacks.
//!
//! Before a JVMTI heap walk, HotSpot looks through all frames of all threads while no Java thread runs: since JDK 16
//! for objects that the compiler has scalar-replaced (`EscapeBarrier`, in the thread that requests the walk), up to JDK
//! 14 for biased locks (`BiasedLocking::preserve_marks`, in the VM thread). It keeps 5 KiB for each frame until it has
//! seen the last one. Most of that time the kernel provides memory page by page, and the JVM keeps the memory
//! afterwards. So we start no walk if there is too little memory. We prepare the memory that our own thread will need
//! beforehand, while the application runs, and give it back afterwards.
//!
//! Measured with 2,000 threads 200 frames deep on 17: the first dump's pause was 4.0 to 5.4 s, and is 0.6 to 0.7 s.
//! With 300 threads 60 deep on 21 it was 79 to 82 ms, and is 21 to 27 ms. On 11 it takes seconds, as before. The JVM
//! grew by 2 GB, which it would have kept for ever; all of it is given back.

use super::escape_barrier::FIRST_WITH_BARRIER;
use crate::heap::error::DumpError;
use crate::os::host::trim_memory;
use headroom::MemoryLeft;
use parking_lot::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// The size of HotSpot's allocations.
const CHUNK_BYTES: usize = 32_000;
/// With less than this, preparing is not worth the trouble.
const LEAST_BYTES: u64 = 1 << 20;
/// The JVM may keep less than this.
const LEAST_GIVEN_BACK_BYTES: u64 = 16 << 20;
/// HotSpot itself frees its cached memory every 5 s.
const BEFORE_GIVING_BACK: Duration = Duration::from_secs(7);

/// The rooms of this process. Locked by threads that dump, and by the thread that gives memory back, for as long as
/// that takes.
static ROOMS: Mutex<Rooms> = Mutex::new(Rooms {
    kept: 0,
    last: None,
    gives_back: false,
    ready_bytes: 0,
});

#[derive(Debug)]
struct Rooms {
    /// Rooms in use by walks at the moment.
    kept: u32,
    /// When the last room was dropped whose memory is worth giving back.
    last: Option<Instant>,
    /// Whether a thread that will give memory back exists.
    gives_back: bool,
    /// Bytes at least that it will give back. A room made before then need not prepare them again.
    ready_bytes: u64,
}

/// Memory prepared for the thread that made it. All of it is already freed, except the last piece, without which the C
/// library would return it to the kernel at once. Drop it when the walk is over.
#[derive(Debug)]
pub(in crate::heap) struct StackRoom {
    bytes: u64,
    end: Option<Vec<u8>>,
}

impl StackRoom {
    /// Prepares memory for a walk over this many frames, if the requesting thread looks through them. Takes about a
    /// second for each 2 GB. The error is [`DumpError::DeepStacks`].
    pub(in crate::heap) fn make(java: u32, frames: usize) -> Result<Self, DumpError> {
        let bytes = frames as u64 * frame_bytes(java);
        let mut rooms = ROOMS.lock();
        let missing_bytes = bytes.saturating_sub(rooms.ready_bytes);
        let memory_left = MemoryLeft::open();
        check(
            frames,
            missing_bytes,
            memory_left.too_little_for(missing_bytes),
        )?;
        rooms.kept += 1;
        drop(rooms);
        let mut room = Self { bytes, end: None };
        if bytes >= LEAST_BYTES && java >= FIRST_WITH_BARRIER {
            room.end = make_ready(bytes);
            if room.end.is_none() {
                return Err(DumpError::DeepStacks {
                    frames,
                    bytes: missing_bytes,
                    left_bytes: memory_left.bytes().unwrap_or(0),
                });
            }
        }
        Ok(room)
    }

    /// Whether so much was prepared that time has passed.
    pub(in crate::heap) fn took_time(&self) -> bool {
        self.end.is_some()
    }
}

impl Drop for StackRoom {
    fn drop(&mut self) {
        let is_ready = self.end.take().is_some();
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
        if is_ready && rooms.gives_back {
            rooms.ready_bytes = rooms.ready_bytes.max(self.bytes);
        }
    }
}

/// Makes the kernel give this process that much memory, and the C library keep it. Returns the last piece; `None` if
/// there is too little memory.
fn make_ready(bytes: u64) -> Option<Vec<u8>> {
    let count = usize::try_from(bytes).ok()?.div_ceil(CHUNK_BYTES);
    let mut chunks = Vec::new();
    chunks.try_reserve_exact(count).ok()?;
    for _ in 0..count {
        let mut chunk = Vec::new();
        chunk.try_reserve_exact(CHUNK_BYTES).ok()?;
        // Not zeros, because the kernel may not have allocated pages for those yet.
        chunk.resize(CHUNK_BYTES, 1);
        chunks.push(chunk);
    }
    chunks.pop()
}

/// The thread's main function. Waits until no room is in use and the last one was dropped some seconds ago, then as
/// long again, because HotSpot's own thread may have been late.
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
            rooms.ready_bytes = 0;
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

/// HotSpot's bytes for each frame: mostly the locations of all registers of the processor, twice. Measured on x86-64.
fn frame_bytes(java: u32) -> u64 {
    match java {
        0..=8 => 2 << 10,
        // Biased locking is off by default, and `EscapeBarrier` is not there yet.
        15 => 0,
        _ => 5 << 10,
    }
}

/// An error if the walk would leave the application too little memory; `too_little` is what would be left then.
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
    fn so_much_is_made_ready() {
        let end = make_ready(100_000).expect("memory");
        assert_eq!(end.len(), CHUNK_BYTES);
        assert_eq!(make_ready(1 << 60), None);
    }

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
