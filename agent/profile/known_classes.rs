//! The classes of allocated objects, recognised without asking the JVM for their names each time.

use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;
use crate::jvmti::weak::Weak;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A class, behind a weak handle: it may be unloaded.
#[derive(Debug)]
pub(super) struct KnownClass {
    class: Weak,
    /// Its signature in modified UTF-8.
    pub(super) signature: Arc<[u8]>,
}

impl KnownClass {
    /// Whether it is this class.
    pub(super) fn is(&self, jni: &Jni<'_>, class: &Object<'_>) -> bool {
        jni.is_behind(&self.class, class)
    }
}

/// Classes of one name, of different loaders.
type Namesakes = Vec<Arc<KnownClass>>;

/// All classes that were met. Those that were unloaded leave when another of their name comes and nobody else knows them.
#[derive(Debug, Default)]
pub(super) struct KnownClasses {
    by_signature: Mutex<FxHashMap<Arc<[u8]>, Namesakes>>,
}

impl KnownClasses {
    /// The class, which is remembered if it is new; `None` if the JVM does not tell its name.
    pub(super) fn get(
        &self,
        env: &Env,
        jni: &Jni<'_>,
        class: &Object<'_>,
    ) -> Option<Arc<KnownClass>> {
        let signature: Arc<[u8]> = env.class_signature(class).ok()?.into();
        let namesakes = self.by_signature.lock().get(&signature).cloned();
        let namesakes = namesakes.unwrap_or_default();
        if let Some(known) = namesakes.iter().find(|known| known.is(jni, class)) {
            return Some(Arc::clone(known));
        }
        let known = Arc::new(KnownClass {
            class: jni.weak(class)?,
            signature: Arc::clone(&signature),
        });
        let is_gone = |other: &Arc<KnownClass>| jni.is_gone(&other.class);
        let gone: Vec<_> = namesakes.into_iter().filter(is_gone).collect();
        let mut all = self.by_signature.lock();
        let namesakes = all.entry(signature).or_default();
        // Here, and in `gone`. Whoever knows one besides would be the last to have its handle.
        let is_ours = |other: &Arc<KnownClass>| Arc::strong_count(other) <= 2;
        namesakes
            .retain(|other| !is_ours(other) || !gone.iter().any(|gone| Arc::ptr_eq(gone, other)));
        namesakes.push(Arc::clone(&known));
        drop(all);
        for class in gone.into_iter().filter_map(Arc::into_inner) {
            jni.forget_weak(class.class);
        }
        Some(known)
    }
}
