//! The debug information of compiled code: which methods run at a return address, inlined ones too
//! (pcDesc.hpp, scopeDesc.hpp, nmethod.hpp).
//!
//! A compiled method has a list of descriptions, sorted by their distances from its first
//! instruction. Each names the scope of the innermost method that runs there: a few numbers in a
//! compressed stream, which name the scope of the caller in which the method is inlined, the
//! method, and its bytecode.

use super::code_cache::Returned;
use super::layouts::{Descriptions, SectionsOutside, SectionsWithin};
use super::memory::{Address, Readable, WORD_BYTES};
use super::oop_maps::packed_number;

/// More descriptions than any method has.
const MOST: u64 = 1 << 24;
/// More methods than are inlined into each other.
const MOST_INLINED: usize = 1 << 12;

/// Where compiled methods have their debug information, and how it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scopes {
    at: Descriptions,
    sections: Sections,
    /// What a byte of a number is above its value: since JDK 20 no byte is 0.
    excluded: u32,
}

/// Places of the parts of a compiled method's debug information.
#[derive(Clone, Copy, Debug)]
enum Sections {
    Within(SectionsWithin),
    Outside(SectionsOutside),
}

/// The parts of one method's debug information.
#[derive(Clone, Copy, Debug)]
struct Found {
    metadata: Address,
    descriptions: Address,
    end: Address,
    scopes: Address,
}

/// A Java frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JavaFrame {
    /// The address of HotSpot's structure of the method.
    pub method: u64,
    /// The index of the bytecode; -1 for a native method.
    pub bytecode: i64,
}

impl Sections {
    fn find() -> Option<Self> {
        let outside = SectionsOutside::find().map(Self::Outside);
        outside
            .or_else(|_| SectionsWithin::find().map(Self::Within))
            .ok()
    }

    fn of(self, memory: &Readable<'_>, blob: Address) -> Option<Found> {
        match self {
            Self::Within(at) => Some(Found {
                metadata: at.metadata.read(memory, blob)?,
                descriptions: at.descriptions.read(memory, blob)?,
                end: at.end.read(memory, blob)?,
                scopes: at.scopes.read(memory, blob)?,
            }),
            Self::Outside(at) => {
                let number = |at| memory.read::<u32>(blob.add(at)).map(u64::from);
                let mutable = Address::new(memory.read(blob.add(at.mutable))?);
                let immutable = Address::new(memory.read(blob.add(at.immutable))?);
                let scopes = immutable.add(number(at.scopes)?);
                Some(Found {
                    metadata: mutable.add(number(at.relocations)?),
                    descriptions: immutable.add(number(at.descriptions)?),
                    end: scopes,
                    scopes,
                })
            }
        }
    }
}

impl Scopes {
    /// Looks up the structures; `None` if this JVM does not export them. `java` is its version.
    pub(super) fn find(java: u32) -> Option<Self> {
        Some(Self {
            at: Descriptions::find().ok().filter(|at| at.bytes != 0)?,
            sections: Sections::find()?,
            excluded: u32::from(java >= 20),
        })
    }

    /// Adds the methods that run in the frame of compiled code, the innermost first. `None` if they
    /// cannot be read.
    pub(super) fn methods(
        &self,
        memory: &Readable<'_>,
        code: &Returned,
        methods: &mut Vec<JavaFrame>,
    ) -> Option<()> {
        if code.is_native {
            methods.push(JavaFrame {
                method: memory.read(code.blob.add(self.at.method))?,
                bytecode: -1,
            });
            return Some(());
        }
        let found = self.sections.of(memory, code.blob)?;
        let mut offset = self.scope_at(memory, &found, code.distance)?;
        for _ in 0..MOST_INLINED {
            let mut at = found.scopes.add(offset.into());
            let mut number = || packed_number(memory, &mut at, self.excluded);
            let (caller, method, bytecode) = (number()?, number()?, number()?);
            // Numbers of methods begin with 1, and those of bytecodes with -1: before the first
            // one.
            let place = u64::from(method).checked_sub(1)? * WORD_BYTES;
            methods.push(JavaFrame {
                method: memory.read(found.metadata.add(place))?,
                bytecode: (i64::from(bytecode) - 1).max(0),
            });
            if caller == 0 {
                return Some(());
            }
            // HotSpot writes a caller's scope before those of what is inlined in it.
            if caller >= offset {
                return None;
            }
            offset = caller;
        }
        None
    }

    /// Where the scope at this distance from the first instruction is.
    fn scope_at(&self, memory: &Readable<'_>, found: &Found, distance: u32) -> Option<u32> {
        let bytes = found.end.bits().checked_sub(found.descriptions.bits())?;
        let distance = i32::try_from(distance).ok()?;
        let mut left = 0..(bytes / self.at.bytes).min(MOST);
        while left.start < left.end {
            let middle = left.start + (left.end - left.start) / 2;
            let at = found.descriptions.add(middle * self.at.bytes);
            let there: i32 = memory.read(at.add(self.at.distance))?;
            match there.cmp(&distance) {
                std::cmp::Ordering::Less => left.start = middle + 1,
                std::cmp::Ordering::Greater => left.end = middle,
                std::cmp::Ordering::Equal => {
                    let scope = memory.read::<u32>(at.add(self.at.scope))?;
                    return (scope != 0).then_some(scope);
                }
            }
        }
        None
    }
}

/// Debug information in a test's own memory, and tests.
#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::memory::tests::{only, own_mappings, part};
    use crate::place::Place;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;
    use std::ops::Range;

    /// Where the code has its two blocks.
    pub(crate) const BLOCKS_AT: u64 = 64;
    /// Bytes of a description, and of all of them.
    const DESCRIPTION_BYTES: usize = 16;
    const DESCRIPTIONS_BYTES: usize = 5 * DESCRIPTION_BYTES;

    /// The debug information of one compiled method: what HotSpot changes later, and what it does
    /// not.
    pub(crate) struct FakeScopes {
        pub(crate) mutable: Box<[u64; 3]>,
        pub(crate) immutable: Box<[u8]>,
        pub(crate) scopes: Scopes,
    }

    impl FakeScopes {
        /// The first of these methods runs bytecode 4 at a distance of 30. At 20, it runs the same,
        /// and the second is inlined there and begins. At 35 there is no scope.
        pub(crate) fn new(methods: [u64; 2]) -> Self {
            let mut immutable = Vec::new();
            for (distance, scope) in [(-1, 0), (20, 4), (30, 1), (35, 0), (i32::MAX, 0)] {
                for number in [distance, scope, 0, 0_i32] {
                    immutable.extend(number.to_ne_bytes());
                }
            }
            // A byte is 1 above its value, and a bytecode's number too: no scope, the outer one,
            // and the inlined one.
            immutable.extend([1, 1, 2, 6, 2, 3, 1]);
            let [outer, inner] = methods;
            Self {
                mutable: Box::new([99, outer, inner]),
                immutable: immutable.into(),
                scopes: Scopes {
                    at: Descriptions {
                        method: 16,
                        bytes: DESCRIPTION_BYTES as u64,
                        distance: 0,
                        scope: 4,
                    },
                    sections: Sections::Outside(SectionsOutside {
                        mutable: BLOCKS_AT,
                        relocations: BLOCKS_AT + 16,
                        immutable: BLOCKS_AT + 8,
                        descriptions: BLOCKS_AT + 20,
                        scopes: BLOCKS_AT + 24,
                    }),
                    excluded: 1,
                },
            }
        }

        /// What the code has at [`BLOCKS_AT`].
        pub(crate) fn blocks(&self) -> [u64; 4] {
            let start = |part: Range<u64>| part.start;
            [
                start(part(&self.mutable[..])),
                start(part(&self.immutable)),
                WORD_BYTES,
                DESCRIPTIONS_BYTES as u64,
            ]
        }
    }

    const OUTER: JavaFrame = JavaFrame {
        method: 0x7000,
        bytecode: 4,
    };
    const INNER: JavaFrame = JavaFrame {
        method: 0x7100,
        bytecode: 0,
    };

    fn fake() -> FakeScopes {
        FakeScopes::new([OUTER.method, INNER.method])
    }

    /// Code with this debug information.
    fn blob(fake: &FakeScopes) -> Vec<u64> {
        let mut blob = vec![0; usize::try_from(BLOCKS_AT / WORD_BYTES).unwrap()];
        blob[2] = 0x7200;
        blob.extend(fake.blocks());
        blob
    }

    fn methods(scopes: &Scopes, memory: &Readable<'_>, code: &Returned) -> Option<Vec<JavaFrame>> {
        let mut methods = Vec::new();
        scopes.methods(memory, code, &mut methods)?;
        Some(methods)
    }

    #[test]
    fn inlined_methods_come_before_their_callers() {
        let fake = fake();
        let blob = blob(&fake);
        let mappings = own_mappings();
        let memory = Readable::of(&mappings);
        let at = |distance, is_native| {
            let code = Returned {
                blob: Address::new(blob.as_ptr() as u64),
                distance,
                is_native,
                ..Returned::default()
            };
            methods(&fake.scopes, &memory, &code)
        };
        assert_eq!(at(20, false), Some(vec![INNER, OUTER]));
        assert_eq!(at(30, false), Some(vec![OUTER]));
        for distance in [0, 25, 35, 40, u32::MAX] {
            assert_eq!(at(distance, false), None, "{distance}");
        }
        let native = JavaFrame {
            method: 0x7200,
            bytecode: -1,
        };
        assert_eq!(at(20, true), Some(vec![native]));
    }

    #[test]
    fn older_code_has_its_parts_within() {
        let fake = fake();
        // Distances of the metadata, the descriptions and their end, the address of the scopes, and
        // the first two parts.
        let mut blob = vec![4 << 3, 5 << 3, 15 << 3, 0, OUTER.method];
        let words = fake.immutable[..80].chunks_exact(8);
        blob.extend(words.map(|word| u64::from_ne_bytes(word.try_into().unwrap())));
        blob[3] = fake.immutable[80..].as_ptr() as u64;
        let scopes = Scopes {
            sections: Sections::Within(SectionsWithin {
                metadata: Place::Offset(0),
                descriptions: Place::Offset(8),
                end: Place::Offset(16),
                scopes: Place::Address(24),
            }),
            ..fake.scopes
        };
        let mappings = own_mappings();
        let code = Returned {
            blob: Address::new(blob.as_ptr() as u64),
            distance: 30,
            ..Returned::default()
        };
        let found = methods(&scopes, &Readable::of(&mappings), &code);
        assert_eq!(found, Some(vec![OUTER]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn hostile_information_ends_and_only_what_is_mapped_is_read(
            bytes in vec((any::<Index>(), prop_oneof![any::<u8>(), 0..8_u8]), 0..12),
            places in vec((0..4_usize, prop_oneof![any::<u64>(), 0..200_u64]), 0..2),
            cut in 0..20_usize,
            distance in prop_oneof![0..40_u32, Just(20), any::<u32>()],
        ) {
            let mut changed = fake();
            for (at, byte) in bytes {
                *at.get_mut(&mut changed.immutable) = byte;
            }
            let end = changed.immutable.len() - cut;
            let read = |behind: u8| {
                let mut fake = fake();
                fake.immutable.copy_from_slice(&changed.immutable);
                fake.immutable[end..].fill(behind);
                let mut blob = blob(&fake);
                for &(place, word) in &places {
                    let at = blob.len() - 4 + place;
                    blob[at] = word;
                }
                let parts = [part(&blob), part(&fake.immutable[..end]), part(&fake.mutable[..])];
                let mappings = only(parts.to_vec());
                let code = Returned {
                    blob: Address::new(blob.as_ptr() as u64),
                    distance,
                    ..Returned::default()
                };
                methods(&fake.scopes, &Readable::of(&mappings), &code).map(|found| found.len())
            };
            let found = read(0);
            prop_assert!(found.is_none_or(|methods| methods <= end));
            prop_assert_eq!(read(7), found);
        }
    }
}
