//! What Android's runtime and LeakCanary have given up, and what a strong reference still keeps:
//! destroyed activities, fragments without a manager, and what LeakCanary watches.

use crate::class_facts::References;
use crate::contents::Contents;
use crate::error::GraphError;
use crate::heap::Heap;
use crate::retained::Retained;

/// Why an object should be gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GivenUp {
    /// An activity whose `mDestroyed` is true.
    DestroyedActivity,
    /// A fragment whose `mFragmentManager` is null: it was destroyed, or never attached.
    DestroyedFragment,
    /// An object that LeakCanary watches, and found alive after a collection.
    Watched,
}

/// An object that should be gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AndroidLeak {
    /// The object.
    pub object: u32,
    /// Why it should be gone.
    pub why: GivenUp,
}

/// The classes with a field that tells, also by their subclasses.
const CLASSES: [(&str, GivenUp); 6] = [
    ("android/app/Activity", GivenUp::DestroyedActivity),
    ("android/app/Fragment", GivenUp::DestroyedFragment),
    (
        "android/support/v4/app/Fragment",
        GivenUp::DestroyedFragment,
    ),
    ("androidx/fragment/app/Fragment", GivenUp::DestroyedFragment),
    ("leakcanary/KeyedWeakReference", GivenUp::Watched),
    (
        "com/squareup/leakcanary/KeyedWeakReference",
        GivenUp::Watched,
    ),
];

/// `retainedUptimeMillis` of a reference whose object LeakCanary has not missed yet.
const NOT_RETAINED: u64 = u64::MAX;

impl Heap<'_> {
    /// The objects that Android's runtime or LeakCanary has given up and that are still strongly
    /// reachable, each once, ascending. None in heaps of other JVMs.
    ///
    /// Errors: the file cannot be read; there is no memory.
    pub fn android_leaks(&self) -> Result<Vec<AndroidLeak>, GraphError> {
        let of_class: Vec<Option<GivenUp>> = (0..self.classes())
            .map(|class| self.given_up(class))
            .collect();
        if of_class.iter().all(Option::is_none) {
            return Ok(Vec::new());
        }
        let why = |object| *of_class.get(self.class(object) as usize)?;
        let told: Vec<u32> = (0..self.objects())
            .filter(|object| why(*object).is_some())
            .collect();
        let mut found = Vec::new();
        for (teller, contents) in self.contents(&told, 0)? {
            found.extend(why(teller).and_then(|why| self.leak(teller, why, &contents)));
        }
        if found.is_empty() {
            return Ok(found);
        }
        let retained = Retained::of(self, References::Strong)?;
        found.retain(|leak| retained.is_reachable(leak.object));
        found.sort_unstable();
        found.dedup_by_key(|leak| leak.object);
        Ok(found)
    }

    /// What the fields of a class's objects tell; `None` for most classes.
    fn given_up(&self, class: u32) -> Option<GivenUp> {
        let (table, strings) = (&self.directory().classes, &self.directory().strings);
        let known = |name: u64| CLASSES.iter().find(|(of, _)| strings.is_class(name, of));
        let mut chain = table.chain(class as usize);
        chain.find_map(|class| Some(known(class.name)?.1))
    }

    /// The object that should be gone by these fields.
    fn leak(&self, teller: u32, why: GivenUp, contents: &Contents) -> Option<AndroidLeak> {
        // Subclasses may also have a field of this name. That of the known class comes last.
        let value = |name: &str| self.named(contents, name).last();
        let object = match why {
            GivenUp::DestroyedActivity => (value("mDestroyed")? != 0).then_some(teller),
            GivenUp::DestroyedFragment => (value("mFragmentManager")? == 0).then_some(teller),
            GivenUp::Watched => {
                let is_missed = value("retainedUptimeMillis") != Some(NOT_RETAINED);
                let referent = value("referent").filter(|_| is_missed)?;
                self.object(referent)
            }
        };
        Some(AndroidLeak {
            object: object?,
            why,
        })
    }
}
