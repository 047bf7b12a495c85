//! The sizes that HotSpot stores for a class: of its instances, and of its mirror with the static
//! fields.

use crate::memory::Memory;
use crate::Snapshot;
use format::{ClassUnits, UNIT_BYTES};
use tables::ClassId;

/// Mirrors have fewer words than this.
const MIRROR_WORDS_END: u32 = 1 << 20;

/// The positions of these sizes.
#[derive(Clone, Copy, Debug, Default)]
pub struct SizePlaces {
    /// Offset in a `Klass` of the size of its instances; `None` if the JVM does not reveal it.
    pub in_klass: Option<u64>,
    /// Offset in a mirror of its own size in words; `None` if the JVM does not reveal it.
    pub in_mirror: Option<u64>,
}

impl SizePlaces {
    /// The sizes of all classes; empty if the offset for instances is unknown.
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

    /// The size of this class's instances, in bytes. HotSpot's word is the size if it is positive;
    /// its lowest bits encode how instances are allocated. Arrays have a negative word.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::{ClassMap, Shape};
    use crate::memory::BufferMemory;

    const PLACES: SizePlaces = SizePlaces {
        in_klass: Some(8),
        in_mirror: Some(16),
    };

    /// A mirror that contains the address of its `Klass` and its own size, and that `Klass`, which
    /// contains the word for the size of instances.
    fn with_snapshot<R>(
        layout_word: u32,
        mirror_words: u32,
        body: impl FnOnce(&Snapshot<BufferMemory<'_>>, u64) -> R,
    ) -> R {
        let mut words = [1, 0, mirror_words.into(), 0, u64::from(layout_word)];
        let mirror = words.as_ptr() as u64;
        words[1] = mirror + 24;
        let mut snapshot = Snapshot::of_words(&words, Vec::new());
        let class = ClassId::from_index(0).expect("an id");
        snapshot.classes = ClassMap::of_shapes(vec![Shape::ObjectArray]);
        snapshot.classes = snapshot.classes.with_mirror(class, mirror, class);
        snapshot.layout.klass_in_mirror = 8;
        body(&snapshot, mirror)
    }

    #[test]
    fn a_positive_word_is_a_size_with_flags() {
        let bytes = |word| with_snapshot(word, 0, |it, mirror| PLACES.instance_bytes(it, mirror));
        assert_eq!(bytes(24), Some(24));
        assert_eq!(bytes(24 | 1), Some(24));
        assert_eq!(bytes(8), Some(8));
        for none in [0, 1, 7, 0x8000_0018, u32::MAX] {
            assert_eq!(bytes(none), None, "{none:#x}");
        }
    }

    #[test]
    fn a_mirror_is_not_as_large_as_any_number() {
        let words = |count| with_snapshot(24, count, |it, mirror| PLACES.mirror_words(it, mirror));
        assert_eq!(words(13), Some(13));
        assert_eq!(words((1 << 20) - 1), Some((1 << 20) - 1));
        assert_eq!(words(1 << 20), None);
    }

    #[test]
    fn all_classes_are_told_of_if_the_jvm_tells_of_instances() {
        let all = |places: SizePlaces| {
            with_snapshot(40, 13, |it, _| {
                let all = places.all(it).into_iter();
                all.map(|(class, units)| (class.index(), units.instance, units.object))
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(all(PLACES), [(0, 5, 13)]);
        assert_eq!(all(SizePlaces::default()), []);
        let in_mirror = None;
        assert_eq!(
            all(SizePlaces {
                in_mirror,
                ..PLACES
            }),
            [(0, 5, 0)]
        );
    }
}
