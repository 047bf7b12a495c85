//! The classes of allocated objects, recognised without asking the JVM for their names each time.

use jvm::env::Env;
use jvm::jni::Jni;
use jvm::object::Object;
use jvm::weak::Weak;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Names that are known before the agent checks which of their classes are gone.
const FIRST_PURGE: usize = 4096;

/// A class, held by a weak handle: it may be unloaded.
#[derive(Debug)]
pub(crate) struct KnownClass {
    class: Weak,
    /// Its signature in modified UTF-8.
    pub(crate) signature: Arc<[u8]>,
}

impl KnownClass {
    /// Whether it is this class.
    pub(crate) fn is(&self, jni: &Jni<'_>, class: &Object<'_>) -> bool {
        jni.is_behind(&self.class, class)
    }
}

/// Classes of one name, of different loaders.
type Namesakes = Vec<Arc<KnownClass>>;

/// All classes that were met. Those that were unloaded leave, unless somebody else knows them, when
/// another of their name comes, or when there are twice as many names as were left the last time:
/// each hidden class has a name of its own.
#[derive(Debug, Default)]
pub(crate) struct KnownClasses {
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    by_signature: FxHashMap<Arc<[u8]>, Namesakes>,
    purge_at: usize,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            by_signature: FxHashMap::default(),
            purge_at: FIRST_PURGE,
        }
    }
}

impl KnownClasses {
    /// The class, which is remembered if it is new; `None` if the JVM does not report its name.
    pub(crate) fn get(
        &self,
        env: &Env,
        jni: &Jni<'_>,
        class: &Object<'_>,
    ) -> Option<Arc<KnownClass>> {
        let signature: Arc<[u8]> = env.class_signature(class).ok()?.into();
        let namesakes = self.known.lock().by_signature.get(&signature).cloned();
        let namesakes = namesakes.unwrap_or_default();
        if let Some(known) = namesakes.iter().find(|known| known.is(jni, class)) {
            return Some(Arc::clone(known));
        }
        let known = Arc::new(KnownClass {
            class: jni.weak(class)?,
            signature: Arc::clone(&signature),
        });
        let is_gone = |other: &Arc<KnownClass>| jni.is_gone(&other.class);
        let gone: Gone = namesakes.into_iter().filter(is_gone).collect();
        let mut all = self.known.lock();
        let namesakes = all.by_signature.entry(signature).or_default();
        gone.leave(namesakes);
        namesakes.push(Arc::clone(&known));
        let is_due = all.by_signature.len() >= all.purge_at;
        if is_due {
            // Nobody else need do it meanwhile.
            all.purge_at = usize::MAX;
        }
        drop(all);
        gone.forget(jni);
        if is_due {
            self.purge(jni);
        }
        Some(known)
    }

    /// Looks at all of them, on the one thread that found it due. Locked only while none is asked
    /// about.
    fn purge(&self, jni: &Jni<'_>) {
        let all: Vec<_> = {
            let known = self.known.lock();
            known.by_signature.values().flatten().cloned().collect()
        };
        let is_gone = |class: &Arc<KnownClass>| jni.is_gone(&class.class);
        let gone: Gone = all.into_iter().filter(is_gone).collect();
        {
            let mut known = self.known.lock();
            known.by_signature.retain(|_, namesakes| {
                gone.leave(namesakes);
                !namesakes.is_empty()
            });
            let next = known.by_signature.len().saturating_mul(2);
            known.purge_at = next.max(FIRST_PURGE);
        }
        gone.forget(jni);
    }
}

/// Classes that were unloaded.
#[derive(Debug)]
struct Gone {
    classes: Vec<Arc<KnownClass>>,
    addresses: FxHashSet<*const KnownClass>,
}

impl FromIterator<Arc<KnownClass>> for Gone {
    fn from_iter<I: IntoIterator<Item = Arc<KnownClass>>>(classes: I) -> Self {
        let classes: Vec<_> = classes.into_iter().collect();
        let addresses = classes.iter().map(Arc::as_ptr).collect();
        Self { classes, addresses }
    }
}

impl Gone {
    /// Takes them out, but for those that somebody knows besides, who would be the last to have the
    /// handle.
    fn leave(&self, namesakes: &mut Namesakes) {
        // There, and here.
        let is_ours = |class: &Arc<KnownClass>| Arc::strong_count(class) <= 2;
        namesakes.retain(|class| !is_ours(class) || !self.addresses.contains(&Arc::as_ptr(class)));
    }

    /// Gives the handles back of those that nobody else knows.
    fn forget(self, jni: &Jni<'_>) {
        for class in self.classes.into_iter().filter_map(Arc::into_inner) {
            jni.forget_weak(class.class);
        }
    }
}
