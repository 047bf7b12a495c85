//! What conditions are about: the heap after collections, and the memory of the process.

use super::watcher::Use;
use crate::message::say;
use jvm::env::Env;
use jvm::global::Global;
use jvm::heap_room;
use jvm::heap_use::AfterCollection;
use jvm::jni::Jni;
use jvm::os::host::page_bytes;

/// Asks the JDK what is in use after collections.
#[derive(Debug)]
pub(super) struct HeapReader {
    /// `java.lang.Runtime`, which is never unloaded.
    runtime: Global,
    last: AfterCollection,
}

impl HeapReader {
    /// `None`, with a line on stderr, if this runtime does not report it.
    pub(super) fn new(env: &Env, jni: &mut Jni<'_>) -> Option<Self> {
        let found = jni.with_frame(|jni| {
            let loaded = env.loaded_classes(jni).ok()?;
            let runtime = jni.keep(heap_room::runtime(env, jni, &loaded)?)?;
            let last = jni.after_collection()?;
            Some(Self { runtime, last })
        });
        let found = found.flatten();
        if found.is_none() {
            say("this runtime has no java.management, so heap and growth of on= cause no dump; add the module");
        }
        found
    }

    /// The use of the heap, if old objects were collected since the last reading.
    pub(super) fn read(&mut self, jni: &mut Jni<'_>) -> Option<Use> {
        let found = jni.with_frame(|jni| {
            let runtime = jni.local(&self.runtime)?;
            let heap = jni.heap_bytes(&runtime)?;
            // The JDK makes a few objects to answer.
            (heap.free >= heap_room::LEAST_FREE_BYTES).then(|| jni.after_collection())?
        });
        let found = found.flatten()?;
        let last = std::mem::replace(&mut self.last, found);
        let is_new = found.old != last.old || found.collections != last.collections;
        is_new.then_some(Use {
            used: found.used,
            most: found.most,
        })
    }
}

/// The memory of the process, and the most that it may have.
pub(super) fn resident() -> Option<Use> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(Use {
        used: pages.checked_mul(page_bytes())?,
        most: headroom::most_bytes()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_some_of_its_memory() {
        let found = resident().expect("the system tells");
        assert!(found.used > 100_000 && found.used < found.most);
    }
}
