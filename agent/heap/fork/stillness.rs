//! Before the stop: the image catches up with what was written, until the collector moves no
//! objects.

use super::image::{AnyImage, HeapImage};
use super::rounds::no_image;
use crate::heap::error::Again;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time between two looks whether the collector moves objects.
const LOOK: Duration = Duration::from_millis(1);
/// An attempt waits so long until it does not, and while threads wait, so long.
const LONG: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(100);

/// Copies what was written meanwhile, unless it is more than this. If that fails, there is no
/// image.
pub(super) fn catch_up(image: &mut Option<AnyImage>, most_bytes: u64) {
    image.take_if(|image| {
        let caught_up = image.catch_up(most_bytes);
        caught_up.map_err(no_image).is_err()
    });
}

/// Copies what was written meanwhile, until the collector moves no objects: a stop would be for
/// nothing.
pub(super) fn await_still(image: &mut Option<AnyImage>) {
    let began = Instant::now();
    loop {
        catch_up(image, u64::MAX);
        // An error is told by the attempt.
        let is_moving = is_moving_for_long(image.as_deref()) == Ok(true);
        if !is_moving || began.elapsed() > LONG {
            return;
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
