//! Class objects that a file has twice: GraalVM's native images write a CLASS DUMP and an INSTANCE
//! DUMP with one id. Together they are one object, with static fields and fields of its own.

use foldhash::HashSet;

use crate::budget::bytes_of;
use crate::classes::ClassTable;
use crate::strings::StringTable;
use format::record::LoadClass;

/// The name of the class of all class objects.
pub const CLASS_OF_CLASSES: &str = "java/lang/Class";

/// The instances of `java.lang.Class` in a file, or in some of its segments. In HotSpot's dumps
/// they stand for the primitive types.
#[derive(Clone, Debug, Default)]
pub struct ClassInstances {
    /// Id of `java.lang.Class`, as soon as a record has named it.
    class: Option<u64>,
    ids: Vec<u64>,
}

impl ClassInstances {
    /// Examines a LOAD CLASS; the strings before it have been read.
    pub fn load(&mut self, load: &LoadClass, strings: &StringTable) {
        if self.class.is_none() && strings.is_class(load.name, CLASS_OF_CLASSES) {
            self.class = Some(load.class);
        }
    }

    /// Examines what follows with the class that another has found.
    pub fn take_class(&mut self, class: Option<u64>) {
        self.class = class;
    }

    /// Id of `java.lang.Class`; `None` before its LOAD CLASS.
    pub fn class(&self) -> Option<u64> {
        self.class
    }

    /// Notes an instance if it is of `java.lang.Class`.
    #[inline]
    pub fn instance(&mut self, object: u64, class: u64) {
        if self.class == Some(class) {
            self.ids.push(object);
        }
    }

    /// Adds the instances of other segments of the heap.
    pub fn merge(&mut self, other: Self) {
        self.ids.extend(other.ids);
    }

    /// The ids that a CLASS DUMP has, too.
    pub fn twins(&self, classes: &ClassTable) -> HashSet<u64> {
        let ids = self.ids.iter().copied();
        ids.filter(|id| classes.is_dumped(*id)).collect()
    }

    /// Bytes of memory that the ids take.
    pub(crate) fn held_bytes(&self) -> u64 {
        bytes_of::<u64>(self.ids.len())
    }
}
