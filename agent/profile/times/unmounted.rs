//! The methods that virtual threads are in while they are on no carrier.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

/// Carriers seldom meet at one of so many locks.
const SHARDS: usize = 64;
/// Virtual threads in one shard. What more of them do after a wait has no callers.
const MOST: usize = 1 << 16;

/// By the number of the virtual thread, its methods' numbers, the outermost first.
#[derive(Debug)]
pub(crate) struct Unmounted([Shard; SHARDS]);

type Shard = Mutex<FxHashMap<i64, Box<[u32]>>>;

impl Default for Unmounted {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Unmounted {
    /// Keeps the methods of a thread that leaves its carrier.
    pub(crate) fn put(&self, thread: i64, methods: Box<[u32]>) {
        if let Some(shard) = self.shard(thread) {
            let mut shard = shard.lock();
            if shard.len() < MOST {
                shard.insert(thread, methods);
            }
        }
    }

    /// The methods of a thread that has a carrier again; `None` if it is in none.
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
