//! Before the stop: the image catches up with what was written, until the collector moves no
//! objects.

use super::image::{AnyImage, HeapImage};
use super::rounds::no_image;
use crate::ending;
use crate::heap::error::{Again, DumpError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time between two looks whether the collector moves objects.
const LOOK: Duration = Duration::from_millis(1);
/// A dump waits so long until it does not, and while threads wait, so long.
const LONG: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(100);
/// Why there is no copy of the heap.
pub(in crate::heap) const MOVING: &str = "the collector was moving objects all the time";

/// Copies what was written meanwhile, unless it is more than this. If that fails, there is no
/// image.
pub(super) fn catch_up(image: &mut Option<AnyImage>, most_bytes: u64) {
    image.take_if(|image| {
        let caught_up = image.catch_up(most_bytes);
        caught_up.map_err(no_image).is_err()
    });
}

/// Copies what was written meanwhile, until the collector moves no objects: a stop would be for
/// nothing. The error is that it never ends. HotSpot ends the threads of ZGC before `VMDeath`,
/// wherever they are, so then there is nothing to wait for.
pub(super) fn await_still(image: &mut Option<AnyImage>) -> Result<(), DumpError> {
    let began = Instant::now();
    loop {
        catch_up(image, u64::MAX);
        // Another error is told by the attempt.
        if is_moving_for_long(image.as_deref()) != Ok(true) {
            return Ok(());
        }
        if ending::has_begun() || began.elapsed() > LONG {
            return Err(DumpError::Engine(MOVING.to_owned()));
        }
    }
}

/// Whether the collector is moving objects, and does not end that within a short time.
pub(super) fn is_moving_for_long(image: Option<&dyn HeapImage>) -> Result<bool, Again> {
    let began = Instant::now();
    while image.map_or(Ok(false), HeapImage::is_moving)? {
        if began.elapsed() > SHORT {
            return Ok(true);
        }
        sleep(LOOK);
    }
    Ok(false)
}
