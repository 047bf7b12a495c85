//! The CLASS DUMPs of class objects that the file also has as instances, see
//! [`reader::ClassInstances`]: one object, whose record is the INSTANCE DUMP.

// The file determines the ids, so the hash function is seeded.
use foldhash::HashMap;
use reader::ClassDump;

/// By id. A scan visits each as one class, where its INSTANCE DUMP is.
#[derive(Debug, Default)]
pub(crate) struct Twins(HashMap<u64, ClassDump>);

impl Twins {
    /// Adds a CLASS DUMP; of two with one id, the first is kept.
    pub(crate) fn add(&mut self, class: ClassDump) {
        self.0.entry(class.class).or_insert(class);
    }

    /// The CLASS DUMP of an object that has an INSTANCE DUMP, too.
    #[inline]
    pub(crate) fn get(&self, id: u64) -> Option<&ClassDump> {
        match self.0.is_empty() {
            true => None,
            false => self.0.get(&id),
        }
    }
}
