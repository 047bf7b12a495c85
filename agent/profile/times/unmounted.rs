//! The running methods of virtual threads that have no carrier.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

/// So many locks that carriers seldom contend for one.
const SHARDS: usize = 64;
/// Most virtual threads in one shard. Beyond that, a thread's methods lose their callers after a
/// wait.
const MOST: usize = 1 << 16;

/// For each virtual thread's number, the numbers of its running methods, outermost first.
#[derive(Debug)]
pub(crate) struct Unmounted([Shard; SHARDS]);

type Shard = Mutex<FxHashMap<i64, Box<[u32]>>>;

impl Default for Unmounted {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Unmounted {
    /// Stores the methods of a thread that leaves its carrier.
    pub(crate) fn put(&self, thread: i64, methods: Box<[u32]>) {
        if let Some(shard) = self.shard(thread) {
            let mut shard = shard.lock();
            if shard.len() < MOST {
                shard.insert(thread, methods);
            }
        }
    }

    /// The methods of a thread that has a carrier again; `None` if it runs none.
    pub(crate) fn take(&self, thread: i64) -> Option<Box<[u32]>> {
        self.shard(thread)?.lock().remove(&thread)
    }

    fn shard(&self, thread: i64) -> Option<&Shard> {
        let place = usize::try_from(thread.unsigned_abs()).ok()? % SHARDS;
        self.0.get(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_gets_its_own_methods_back_once() {
        let unmounted = Unmounted::default();
        unmounted.put(7, Box::new([1, 2]));
        unmounted.put(7 + 64, Box::new([3]));
        assert_eq!(unmounted.take(7).as_deref(), Some(&[1, 2][..]));
        assert_eq!(unmounted.take(7), None);
        assert_eq!(unmounted.take(71).as_deref(), Some(&[3][..]));
    }
}
