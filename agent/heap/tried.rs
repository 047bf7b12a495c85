//! The costs and findings of the attempts at one dump.

use std::cell::Cell;
use std::time::Duration;

/// Bytes of heap that HotSpot's dumper writes per second if objects are small.
const DUMPED_BYTES_PER_SECOND: u64 = 50_000_000;

/// The costs and findings of the attempts at one dump.
#[derive(Debug, Default)]
pub(super) struct Tried {
    /// Total time that the application was paused.
    pub(super) paused: Cell<Duration>,
    /// Bytes of heap in use; `None` if the JVM does not say, or was not asked.
    pub(super) used_bytes: Cell<Option<u64>>,
    /// The number of known classes at the last attempt's fork.
    pub(super) classes: Cell<usize>,
    /// Whether the last attempt's child lacked the parts of the heap that HotSpot reports as unused.
    pub(super) has_left_out: Cell<bool>,
}

impl Tried {
    /// How long HotSpot's dumper would stop the application at most, as far as that can be told.
    pub(super) fn stop_estimate(&self) -> Option<Duration> {
        let bytes = self.used_bytes.get()?;
        Some(Duration::from_secs(bytes.div_ceil(DUMPED_BYTES_PER_SECOND)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_grows_with_the_heap_in_use() {
        let tried = Tried::default();
        assert_eq!(tried.stop_estimate(), None);
        tried.used_bytes.set(Some(551_495_290));
        assert_eq!(tried.stop_estimate(), Some(Duration::from_secs(12)));
    }
}
