//! The class, the name and the bytecodes' place of a method, read from HotSpot's structure
//! (method.hpp, constMethod.hpp, constantPool.hpp, symbol.hpp).

use super::layouts::MethodLayout;
use super::memory::{Address, Readable, WORD_BYTES};
use super::scopes::JavaFrame;

/// Set in the flags of a native method (`JVM_ACC_NATIVE`).
pub(super) const NATIVE: u16 = 0x100;
/// Words of an interpreted frame, counted downwards from the frame pointer (frame_x86.hpp): the
/// method, and the address of the bytecode, which JDK 8 has in the second of these places.
const METHOD_WORDS: u64 = 3;
const BYTECODE_WORDS: [u64; 2] = [8, 7];

/// Who a method is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodName {
    /// The address of HotSpot's structure of its class (`Klass`).
    pub class: u64,
    /// Its name, in modified UTF-8.
    pub name: Vec<u8>,
    /// Its signature, as in class files.
    pub signature: Vec<u8>,
}

impl MethodLayout {
    /// Whether the method at this address is native.
    pub(super) fn is_native(&self, memory: &Readable<'_>, method: u64) -> Option<bool> {
        let flags: u16 = memory.read(Address::new(method).add(self.flags))?;
        Some(flags & NATIVE != 0)
    }

    /// The class, name and signature of the method at this address; `None` if they cannot be read.
    pub(super) fn name(&self, memory: &Readable<'_>, method: u64) -> Option<MethodName> {
        let constant = self.constant_part(memory, method)?;
        let pool = Address::new(memory.read(constant.add(self.pool))?);
        let text = |index: u64| self.text(memory, pool, memory.read(constant.add(index))?);
        Some(MethodName {
            class: memory.read(pool.add(self.class))?,
            name: text(self.name)?,
            signature: text(self.signature)?,
        })
    }

    /// The method and the bytecode of the interpreted frame with this frame pointer; `None` if
    /// there is none.
    pub(super) fn interpreted(
        &self,
        memory: &Readable<'_>,
        frame_pointer: u64,
    ) -> Option<JavaFrame> {
        let word = |words: u64| -> Option<u64> {
            memory.read(Address::new(frame_pointer).before(words * WORD_BYTES))
        };
        let method = word(METHOD_WORDS)?;
        let constant = self.constant_part(memory, method)?;
        if self.is_native(memory, method)? {
            return Some(JavaFrame {
                method,
                bytecode: -1,
            });
        }
        let bytes: u16 = memory.read(constant.add(self.code_bytes))?;
        let first = constant.add(self.constant_part_bytes).bits();
        let bytecode = BYTECODE_WORDS.into_iter().find_map(|words| {
            let distance = word(words)?.checked_sub(first)?;
            (distance < u64::from(bytes)).then_some(distance)
        })?;
        Some(JavaFrame {
            method,
            bytecode: i64::try_from(bytecode).ok()?,
        })
    }

    /// A constant of a pool.
    pub(super) fn constant(&self, pool: Address, index: u16) -> Address {
        pool.add(self.pool_bytes + u64::from(index) * WORD_BYTES)
    }

    /// The text of a constant.
    pub(super) fn text(&self, memory: &Readable<'_>, pool: Address, index: u16) -> Option<Vec<u8>> {
        let symbol = Address::new(memory.read(self.constant(pool, index))?);
        let length: u16 = memory.read(symbol.add(self.text_length))?;
        memory.text(symbol.add(self.text), length.into())
    }

    /// The constant part of the method at this address.
    pub(super) fn constant_part(&self, memory: &Readable<'_>, method: u64) -> Option<Address> {
        let at = Address::new(method).add(self.constant_part);
        memory.read(at).map(Address::new)
    }
}

/// Methods in a test's own memory, and tests.
#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::memory::tests::{only, own_mappings, part};
    use proptest::prelude::*;
    use proptest::sample::Index;
    use std::ops::Range;

    /// The class of the methods.
    pub(crate) const CLASS: u64 = 0x5000;

    pub(crate) const LAYOUT: MethodLayout = MethodLayout {
        flags: 0,
        constant_part: 8,
        constant_part_bytes: 16,
        code_bytes: 8,
        name: 10,
        signature: 12,
        pool: 0,
        pool_bytes: 8,
        class: 0,
        text_length: 0,
        text: 6,
    };

    /// A method with 8 bytes of bytecodes.
    pub(crate) struct FakeMethod {
        pub(crate) words: Box<[u64; 2]>,
        pub(crate) constant_part: Box<[u64; 3]>,
        pub(crate) pool: Box<[u64; 3]>,
        symbols: [Box<[u8]>; 2],
    }

    impl FakeMethod {
        pub(crate) fn new(name: &str, is_native: bool) -> Self {
            let symbols = [name, "()V"].map(|text| -> Box<[u8]> {
                let length = u8::try_from(text.len()).unwrap();
                [&[length, 0, 9, 9, 9, 9], text.as_bytes()].concat().into()
            });
            let [name, signature] = &symbols;
            let address = |symbol: &[u8]| symbol.as_ptr() as u64;
            let pool = Box::new([CLASS, address(signature), address(name)]);
            // The pool; eight bytes of code, the numbers of the name, 1, and of the signature, 0.
            let constant_part = Box::new([pool.as_ptr() as u64, 8 | (1 << 16), 0]);
            let flags = if is_native { 0x109 } else { 9 };
            let words = Box::new([flags, constant_part.as_ptr() as u64]);
            Self {
                words,
                constant_part,
                pool,
                symbols,
            }
        }

        pub(crate) fn address(&self) -> u64 {
            self.words.as_ptr() as u64
        }

        /// The address of a bytecode.
        pub(crate) fn bytecode(&self, index: u64) -> u64 {
            self.constant_part.as_ptr() as u64 + LAYOUT.constant_part_bytes + index
        }

        /// Its memory.
        pub(crate) fn parts(&self) -> Vec<Range<u64>> {
            let own = [
                part(&self.words[..]),
                part(&self.constant_part[..]),
                part(&self.pool[..]),
            ];
            let symbols = self.symbols.iter().map(|symbol| part(symbol));
            own.into_iter().chain(symbols).collect()
        }
    }

    #[test]
    fn a_method_has_a_class_and_a_name() {
        let method = FakeMethod::new("run", false);
        let mappings = own_mappings();
        let memory = Readable::of(&mappings);
        let name = MethodName {
            class: CLASS,
            name: b"run".to_vec(),
            signature: b"()V".to_vec(),
        };
        assert_eq!(LAYOUT.name(&memory, method.address()), Some(name));
        assert_eq!(LAYOUT.name(&memory, 8), None);
        assert_eq!(LAYOUT.is_native(&memory, method.address()), Some(false));
        let method = FakeMethod::new("wait0", true);
        assert_eq!(LAYOUT.is_native(&memory, method.address()), Some(true));
    }

    #[test]
    fn an_interpreted_frame_has_its_bytecode_in_one_of_two_places() {
        let mappings = own_mappings();
        let memory = Readable::of(&mappings);
        let frame = |method: &FakeMethod, place: usize, bytecode: u64| {
            let mut stack = [0_u64; 9];
            stack[place] = bytecode;
            stack[5] = method.address();
            let found = LAYOUT.interpreted(&memory, stack[8..].as_ptr() as u64);
            found.map(|frame| (frame.method == method.address(), frame.bytecode))
        };
        let method = FakeMethod::new("run", false);
        for place in [0, 1] {
            assert_eq!(frame(&method, place, method.bytecode(7)), Some((true, 7)));
            assert_eq!(frame(&method, place, method.bytecode(8)), None);
        }
        let native = FakeMethod::new("wait0", true);
        assert_eq!(frame(&native, 0, 0), Some((true, -1)));
    }

    proptest! {
        #[test]
        fn of_a_hostile_method_only_what_is_mapped_is_read(
            word in prop_oneof![any::<u64>(), 0..0x10000_u64],
            at in any::<Index>(),
            part in 0..3,
            cut in any::<Index>(),
        ) {
            let mut method = FakeMethod::new("run", false);
            let words = match part {
                0 => &mut method.words[..],
                1 => &mut method.constant_part[..],
                _ => &mut method.pool[..],
            };
            *at.get_mut(words) = word;
            let mut parts = method.parts();
            let cut = cut.index(parts.len());
            parts[cut].end -= 1;
            let mappings = only(parts);
            let memory = Readable::of(&mappings);
            let name = LAYOUT.name(&memory, method.address());
            prop_assert!(name.is_none_or(|it| it.name.len() + it.signature.len() <= 0x20000));
        }
    }
}
