//! Room for HotSpot's walk over the stacks.
//!
//! Before JVMTI's heap walk begins, HotSpot looks through all frames of all threads, and meanwhile no thread runs: since 16 for objects
//! that the compiler has taken apart (`EscapeBarrier`, in the thread that asks for the walk), up to 14 for locks that are biased
//! (`BiasedLocking::preserve_marks`, in the VM thread). It keeps 5 KiB for each frame until it has seen the last one: most of that
//! time the system finds memory for it, page by page, and the JVM keeps that afterwards. So no walk begins where there is too little;
//! what the own thread will need is made ready before, while the application runs; and afterwards it is given back.
//!
//! Measured with 2,000 threads 200 frames deep on 17: the pause was 4.0 to 5.4 s, and is 0.6; with 300 threads 60 deep on 21 it was
//! 57 to 82 ms, and is 22 to 63. On 11 it is 6 s as before. Of 2 GB that the JVM has more after the dump all come back.

use super::error::DumpError;
use super::memory_left::{MemoryLeft, RESERVE_BYTES};
use crate::jvmti::env::Env;
use crate::jvmti::host::trim_memory;
use std::thread;
use std::time::Duration;

/// What HotSpot takes for a frame: the places of all of the processor's registers, twice over what there is to a frame.
const FRAME_BYTES: u64 = 5 << 10;
/// HotSpot asks for so much at a time.
const CHUNK_BYTES: usize = 32_000;
/// Less than this is not worth the trouble.
const LEAST_BYTES: u64 = 1 << 20;
/// Less than this the JVM may keep.
const LEAST_GIVEN_BACK_BYTES: u64 = 16 << 20;
/// HotSpot itself frees what it holds ready for the next time every 5 s.
const BEFORE_GIVING_BACK: Duration = Duration::from_secs(7);
/// The first Java whose thread that asks for the walk looks through the stacks.
const FIRST_JAVA: u32 = 16;

/// Memory that was made ready, for the thread that made it. It is free already, all but the end, without which the C
/// library would give it back at once. Dropped when the walk is over.
#[derive(Debug)]
pub(super) struct StackRoom {
    bytes: u64,
    _end: Option<Vec<u8>>,
}

impl StackRoom {
    /// Room for a walk over so many frames; made ready since Java 16, a second for each 2 GB or some more. The error is
    /// [`DumpError::DeepStacks`].
    pub(super) fn make(env: &Env, frames: usize) -> Result<Self, DumpError> {
        let bytes = frames as u64 * FRAME_BYTES;
        check(frames, bytes, MemoryLeft::open().bytes())?;
        let java = env.system_property(c"java.vm.specification.version");
        if bytes < LEAST_BYTES || !java.is_ok_and(|java| is_own_thread(&java)) {
            return Ok(Self { bytes, _end: None });
        }
        let chunks = usize::try_from(bytes).unwrap_or(0) / CHUNK_BYTES;
        // Not zeros: those would be pages that the system has not made yet.
        let mut chunks: Vec<_> = (0..chunks).map(|_| vec![1; CHUNK_BYTES]).collect();
        Ok(Self {
            bytes,
            _end: chunks.pop(),
        })
    }
}

impl Drop for StackRoom {
    fn drop(&mut self) {
        if self.bytes < LEAST_GIVEN_BACK_BYTES {
            return;
        }
        let give_back = || {
            thread::sleep(BEFORE_GIVING_BACK);
            trim_memory();
        };
        let name = "hprof give back".to_owned();
        // Without a thread the JVM keeps the memory, as it would without us.
        let _ = thread::Builder::new().name(name).spawn(give_back);
    }
}

/// Whether in a Java of this version ("1.8", "17") it is the own thread that looks through the stacks.
fn is_own_thread(java: &[u8]) -> bool {
    let number = std::str::from_utf8(java)
        .ok()
        .and_then(|it| it.parse().ok());
    number.is_some_and(|java: u32| java >= FIRST_JAVA)
}

/// An error if the walk would leave the application too little. Unknown memory sets no bound.
fn check(frames: usize, bytes: u64, left: Option<u64>) -> Result<(), DumpError> {
    match left {
        Some(left_bytes) if bytes >= LEAST_BYTES && left_bytes < bytes + RESERVE_BYTES => {
            Err(DumpError::DeepStacks {
                frames,
                bytes,
                left_bytes,
            })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_thread_looks_since_16() {
        for java in ["16", "17", "25", "101"] {
            assert!(is_own_thread(java.as_bytes()), "{java}");
        }
        for java in ["1.8", "11", "15", "", "new"] {
            assert!(!is_own_thread(java.as_bytes()), "{java}");
        }
    }

    #[test]
    fn the_application_keeps_what_it_needs() {
        let mebibyte = 1 << 20;
        assert_eq!(check(100_000, 500 * mebibyte, None), Ok(()));
        assert_eq!(check(100_000, 500 * mebibyte, Some(532 * mebibyte)), Ok(()));
        let left_bytes = 531 * mebibyte;
        let error = DumpError::DeepStacks {
            frames: 100_000,
            bytes: 500 * mebibyte,
            left_bytes,
        };
        assert_eq!(check(100_000, 500 * mebibyte, Some(left_bytes)), Err(error));
        // A few frames are no reason: the walk itself looks at what is left.
        assert_eq!(check(10, 51_200, Some(0)), Ok(()));
    }
}
