//! The layout of `jdk.internal.vm.StackChunk`: an object whose fields are followed by a part of a
//! continuation's stack (stackChunkOop.hpp, instanceStackChunkKlass.hpp).
//!
//! Java declares some of its fields. HotSpot injects others; their offsets are in the compressed
//! list of the class's fields (fieldInfo.hpp), in the order in which HotSpot names them
//! (javaClasses.hpp).

use super::layouts::ChunkClass;
use super::memory::{Address, Readable};
use super::oop_maps::packed_number;

/// Fields that a class has in its list: more than this one has.
const MOST_FIELDS: u32 = 64;
/// Which of the injected fields these are: the flags, and how many locks the thread holds (since
/// JDK 24). All have more fields than there are before the latter.
const FLAGS: usize = 1;
const LOCKS: usize = 4;
/// What a list of fields is above its values: no byte is 0.
const EXCLUDED: u32 = 1;
/// Bits of an entry, each of which stands for one more number: a constant, a generic signature, a
/// contention group.
const MORE: [u32; 3] = [1, 1 << 2, 1 << 4];

/// Offsets of the fields that Java declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkFields {
    /// Words of the stack.
    pub size: u64,
    /// The place of the newest frame, in words from the start of the stack. It is the size if there
    /// are no frames.
    pub stack_pointer: u64,
    /// The end of the oldest frame, as this version stores it.
    pub end: ChunkEnd,
}

/// The field with the place where the oldest frame ends and its arguments begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkEnd {
    /// The number of words of its arguments: on JDK 21.
    Arguments(u64),
    /// Words from the start of the stack: since JDK 22.
    Bottom(u64),
}

/// What is known of the class of chunks in a heap.
#[derive(Clone, Copy, Debug)]
pub struct ChunkFacts {
    /// The address of HotSpot's structure of the class (`Klass`).
    pub klass: u64,
    /// The fields that Java declares.
    pub fields: ChunkFields,
    /// Bytes of a reference in a field.
    pub reference_bytes: u64,
}

/// The layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkLayout {
    pub(super) declared: ChunkFields,
    pub(super) flags: u64,
    /// The number of locks; `None` if a continuation with locks is never in a chunk.
    pub(super) locks: Option<u64>,
    /// Where the stack starts.
    pub(super) stack: u64,
    /// Bytes of a reference in a field, and in a chunk that the collector has rewritten.
    pub(super) reference_bytes: u64,
}

impl ChunkClass {
    /// The layout of the class. `None` if its list of fields does not have the declared ones, or
    /// fewer injected ones than any HotSpot.
    pub(super) fn layout(&self, memory: &Readable<'_>, class: ChunkFacts) -> Option<ChunkLayout> {
        let ChunkFacts {
            klass,
            fields: declared,
            reference_bytes,
        } = class;
        let klass = Address::new(klass);
        let list = Address::new(memory.read(klass.add(self.fields))?);
        let (own, injected) = field_offsets(memory, list.add(self.bytes))?;
        let (ChunkEnd::Arguments(end) | ChunkEnd::Bottom(end)) = declared.end;
        let has = |offset: u64| own.iter().any(|&own| u64::from(own) == offset);
        let is_it = [declared.size, declared.stack_pointer, end]
            .into_iter()
            .all(has);
        let size_bytes: u32 = memory.read(klass.add(self.size_bytes))?;
        if !is_it || injected.len() < LOCKS {
            return None;
        }
        Some(ChunkLayout {
            declared,
            flags: (*injected.get(FLAGS)?).into(),
            locks: injected.get(LOCKS).map(|&offset| offset.into()),
            // The lowest bits encode how instances are allocated.
            stack: u64::from(size_bytes & !7),
            reference_bytes,
        })
    }
}

/// The offsets of the fields that Java declares, and of the injected ones, by the list of fields.
fn field_offsets(memory: &Readable<'_>, mut at: Address) -> Option<(Vec<u32>, Vec<u32>)> {
    let mut next = || packed_number(memory, &mut at, EXCLUDED);
    let (own, injected) = (next()?, next()?);
    let mut offsets = Vec::new();
    for _ in 0..own
        .checked_add(injected)
        .filter(|&all| all <= MOST_FIELDS)?
    {
        let [_name, _signature, offset, _access, flags] =
            [next()?, next()?, next()?, next()?, next()?];
        for _ in MORE.iter().filter(|&&more| flags & more != 0) {
            next()?;
        }
        offsets.push(offset);
    }
    let injected = offsets.split_off(usize::try_from(own).ok()?);
    Some((offsets, injected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tests::{only, own_mappings, part};
    use proptest::collection::vec;
    use proptest::prelude::*;

    const FIELDS: ChunkFields = ChunkFields {
        size: 12,
        stack_pointer: 24,
        end: ChunkEnd::Bottom(28),
    };
    const CLASS: ChunkClass = ChunkClass {
        size_bytes: 0,
        fields: 8,
        bytes: 4,
    };

    /// The class with this `Klass`.
    fn facts(klass: &[u64; 2]) -> ChunkFacts {
        ChunkFacts {
            klass: klass.as_ptr() as u64,
            fields: FIELDS,
            reference_bytes: 4,
        }
    }

    /// A list of fields: how many there are of each kind, and of each field the offset and the
    /// flags.
    fn list(own: u8, injected: &[u8]) -> Vec<u8> {
        let declared = [(12, 0), (24, 1), (28, 5), (40, 0)];
        let declared = declared.into_iter().take(own.into());
        let injected = injected.iter().map(|&offset| (offset, 2));
        let count = u8::try_from(injected.len()).unwrap();
        let mut list = vec![0, 0, 0, 0, own + 1, count + 1];
        for (offset, flags) in declared.chain(injected) {
            list.extend([9, 9, offset + 1, 3, flags + 1]);
            list.extend(vec![7; (flags & 5_u8).count_ones() as usize]);
        }
        list.push(0);
        list
    }

    /// The layout of a class with this list of fields.
    fn layout(list: &[u8]) -> Option<ChunkLayout> {
        let klass = [0x31, list.as_ptr() as u64];
        let mappings = own_mappings();
        let memory = Readable::of(&mappings);
        CLASS.layout(&memory, facts(&klass))
    }

    #[test]
    fn injected_fields_follow_the_declared_ones() {
        let found = |injected: &[u8]| layout(&list(4, injected));
        let expected = ChunkLayout {
            declared: FIELDS,
            flags: 36,
            locks: None,
            stack: 0x30,
            reference_bytes: 4,
        };
        assert_eq!(found(&[44, 36, 16, 32]), Some(expected));
        let locks = Some(37);
        let expected = ChunkLayout { locks, ..expected };
        assert_eq!(found(&[44, 36, 16, 32, 37]), Some(expected));
        assert_eq!(found(&[44, 36, 16, 32, 37, 38, 39]), Some(expected));
    }

    #[test]
    fn another_list_is_not_believed() {
        assert_eq!(layout(&list(2, &[44, 36, 16, 32])), None);
        assert_eq!(layout(&list(4, &[44, 36, 16])), None);
        assert_eq!(layout(&[0, 0, 0, 0, 0]), None);
    }

    proptest! {
        #[test]
        fn what_lies_behind_the_end_of_a_hostile_list_is_not_read(
            mut list in vec(any::<u8>(), 5..80),
            cut in 0..20_usize,
        ) {
            list[4] %= 9;
            let end = list.len().saturating_sub(cut);
            let found = |behind: u8| {
                let mut list = list.clone();
                list[end..].fill(behind);
                let klass = [0x31, list.as_ptr() as u64];
                let mappings = only(vec![part(&list[..end]), part(&klass)]);
                CLASS.layout(&Readable::of(&mappings), facts(&klass))
            };
            prop_assert_eq!(found(1), found(200));
        }
    }
}
