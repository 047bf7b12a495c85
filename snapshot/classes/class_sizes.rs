//! HotSpot's own word for the sizes of a class: of its instances, and of its mirror with the static fields.

use crate::memory::Memory;
use crate::Snapshot;
use format::{ClassUnits, UNIT_BYTES};
use tables::ClassId;

/// Mirrors have fewer words than this.
const MIRROR_WORDS_END: u32 = 1 << 20;

/// Where HotSpot has the sizes.
#[derive(Clone, Copy, Debug, Default)]
pub struct SizePlaces {
    /// Offset in a `Klass` of the size of its instances; `None` if the JVM does not tell.
    pub in_klass: Option<u64>,
    /// Offset in a mirror of its own size in words; `None` if the JVM does not tell.
    pub in_mirror: Option<u64>,
}

impl SizePlaces {
    /// The sizes of all classes; nothing if the JVM does not tell those of instances.
    pub fn all<M: Memory>(self, snapshot: &Snapshot<M>) -> Vec<(ClassId, ClassUnits)> {
        if self.in_klass.is_none() {
            return Vec::new();
        }
        let classes = snapshot.classes.classes().iter();
        let units = |mirror| ClassUnits {
            instance: self.instance_bytes(snapshot, mirror).map_or(0, units_of),
            object: self.mirror_words(snapshot, mirror).unwrap_or(0),
        };
        classes
            .map(|class| (class.id, units(class.mirror)))
            .collect()
    }

    /// The size of this class's instances, in bytes. HotSpot's word tells it if it is positive; the lowest bits tell how they are
    /// allocated. Arrays have a negative one.
    pub(crate) fn instance_bytes<M: Memory>(
        self,
        snapshot: &Snapshot<M>,
        mirror: u64,
    ) -> Option<u64> {
        const FLAGS: u32 = 7;
        let in_klass = self.in_klass?;
        let klass = snapshot.layout.klass(snapshot.memory, mirror);
        let word = snapshot.memory.u32(klass.wrapping_add(in_klass));
        let is_size = word > FLAGS && word >> 31 == 0;
        is_size.then_some(u64::from(word & !FLAGS))
    }

    /// The size of this class object in words.
    pub(crate) fn mirror_words<M: Memory>(
        self,
        snapshot: &Snapshot<M>,
        mirror: u64,
    ) -> Option<u32> {
        let words = snapshot.memory.u32(mirror.wrapping_add(self.in_mirror?));
        (words < MIRROR_WORDS_END).then_some(words)
    }
}

fn units_of(bytes: u64) -> u32 {
    u32::try_from(bytes / UNIT_BYTES).unwrap_or(0)
}
