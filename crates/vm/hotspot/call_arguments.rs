//! The arguments that an interpreted frame holds for code that is not Java's: those of a native
//! method that runs, and those of a call that the JVM is linking, which may take Java code that
//! loads or initializes a class. HotSpot's own walk reports neither, but the collector visits them
//! (frame.cpp, `oops_interpreted_do`).

use super::layouts::{CacheEntries, DynamicEntries, MethodEntries, MethodLayout, PoolCache};
use super::memory::{Address, Readable, WORD_BYTES};
use super::method_names::NATIVE;

/// Places of the parts of an interpreted frame, in words below the frame pointer (frame_x86.hpp).
const LAST_STACK_POINTER: u64 = 2;
const METHOD: u64 = 3;
const VARIABLES: u64 = 7;
const BYTECODE: u64 = 8;
const OPERANDS_END: u64 = 9;
/// Numbers below this are distances from the frame pointer in words, as some parts are since JDK
/// 21. No stack is there.
const MOST_WORDS: i64 = 1 << 20;
/// Bits of a method's access flags.
const STATIC: u16 = 0x8;
/// Bytecodes. Those of calls lie between the first and the last.
const FIRST_CALL: u8 = 182;
const STATIC_CALL: u8 = 184;
const DYNAMIC_CALL: u8 = 186;

/// Finds the words that are arguments, and which of them are references.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallArguments {
    methods: MethodLayout,
    /// The cache in a pool.
    pool_cache: u64,
    calls: Entries,
    dynamic_calls: Entries,
}

/// Where the cache of a constant pool has an entry for each call, which names the constant.
#[derive(Clone, Copy, Debug)]
enum Entries {
    /// After the cache's header.
    AfterHeader(CacheEntries),
    /// In an array of methods, and in one of dynamic calls.
    OfMethods(MethodEntries),
    OfDynamic(DynamicEntries),
}

impl Entries {
    /// The index of the constant that the entry with this number names.
    fn constant(self, memory: &Readable<'_>, cache: Address, number: u32) -> Option<u16> {
        let array = |at| memory.read(cache.add(at)).map(Address::new);
        let (first, bytes, index) = match self {
            Self::AfterHeader(at) => (cache.add(at.header_bytes), at.bytes, at.index),
            Self::OfMethods(at) => (array(at.in_cache)?.add(at.first), at.bytes, at.index),
            Self::OfDynamic(at) => (array(at.in_cache)?.add(at.first), at.bytes, at.index),
        };
        memory.read(first.add(u64::from(number) * bytes + index))
    }
}

impl CallArguments {
    /// `None` if this JVM does not export all that is needed, or is older than what is known.
    pub(super) fn find(java: u32) -> Option<Self> {
        if java < 16 {
            return None;
        }
        let in_cache = || CacheEntries::find().map(Entries::AfterHeader);
        let methods = MethodEntries::find().map(Entries::OfMethods);
        let dynamic = DynamicEntries::find().map(Entries::OfDynamic);
        Some(Self {
            methods: MethodLayout::find().ok()?,
            pool_cache: PoolCache::find().ok()?.in_pool,
            calls: methods.or_else(|_| in_cache()).ok()?,
            dynamic_calls: dynamic.or_else(|_| in_cache()).ok()?,
        })
    }

    /// The references that the newest frame before native code or code of the JVM holds as
    /// arguments. The frame is interpreted. `None` if it cannot be read.
    pub(super) fn held(
        &self,
        memory: &Readable<'_>,
        stack_pointer: u64,
        frame_pointer: u64,
    ) -> Option<Vec<u64>> {
        let frame = Frame {
            memory,
            frame_pointer,
        };
        let (layout, method) = (&self.methods, Address::new(frame.part(METHOD)?));
        let flags: u16 = memory.read(method.add(layout.flags))?;
        let constant_part = layout.constant_part(memory, method.bits())?;
        let pool = Address::new(memory.read(constant_part.add(layout.pool))?);
        if flags & NATIVE != 0 {
            let signature: u16 = memory.read(constant_part.add(layout.signature))?;
            let signature = layout.text(memory, pool, signature)?;
            let slots = slots(&signature, flags & STATIC == 0)?;
            return frame.references(frame.place(VARIABLES)?, &slots);
        }
        let Some(slots) = self.called(memory, pool, Address::new(frame.part(BYTECODE)?))? else {
            return Some(Vec::new());
        };
        let last = match frame.part(LAST_STACK_POINTER)? {
            0 => stack_pointer,
            _ => frame.place(LAST_STACK_POINTER)?,
        };
        let behind = last.wrapping_add(slots.len() as u64 * WORD_BYTES);
        if behind > frame.place(OPERANDS_END)? {
            // The JVM has popped the operands: it is about to throw an exception.
            return Some(Vec::new());
        }
        frame.references(behind.wrapping_sub(WORD_BYTES), &slots)
    }

    /// The slots of the arguments of the call at this bytecode; `Some(None)` if it is no call.
    fn called(
        &self,
        memory: &Readable<'_>,
        pool: Address,
        bytecode: Address,
    ) -> Option<Option<Vec<bool>>> {
        let code: u8 = memory.read(bytecode)?;
        if !(FIRST_CALL..=DYNAMIC_CALL).contains(&code) {
            return Some(None);
        }
        let cache = Address::new(memory.read(pool.add(self.pool_cache))?);
        let constant = if code == DYNAMIC_CALL {
            let number: u32 = memory.read(bytecode.add(1))?;
            // Up to JDK 22, such numbers are inverted.
            let number = number.min(!number);
            self.dynamic_calls.constant(memory, cache, number)?
        } else {
            let number: u16 = memory.read(bytecode.add(1))?;
            self.calls.constant(memory, cache, number.into())?
        };
        let name_and_type = self.second(memory, pool, constant)?;
        let signature = self.second(memory, pool, name_and_type)?;
        let signature = self.methods.text(memory, pool, signature)?;
        let has_receiver = code != STATIC_CALL && code != DYNAMIC_CALL;
        slots(&signature, has_receiver).map(Some)
    }

    /// The second of the two indices that a constant has.
    fn second(&self, memory: &Readable<'_>, pool: Address, index: u16) -> Option<u16> {
        memory.read(self.methods.constant(pool, index).add(2))
    }
}

/// An interpreted frame.
struct Frame<'w, 'm> {
    memory: &'w Readable<'m>,
    frame_pointer: u64,
}

impl Frame<'_, '_> {
    fn part(&self, words: u64) -> Option<u64> {
        let at = Address::new(self.frame_pointer).before(words * WORD_BYTES);
        self.memory.read(at)
    }

    /// The address that a part has, or whose distance it has.
    fn place(&self, words: u64) -> Option<u64> {
        let part = self.part(words)?;
        let distance = i64::from_ne_bytes(part.to_ne_bytes());
        let is_distance = (-MOST_WORDS..MOST_WORDS).contains(&distance);
        Some(match is_distance {
            true => self
                .frame_pointer
                .wrapping_add(part.wrapping_mul(WORD_BYTES)),
            false => part,
        })
    }

    /// The references in these slots, of which the first is at the highest address. Nulls are left
    /// out.
    fn references(&self, first: u64, slots: &[bool]) -> Option<Vec<u64>> {
        let references = (0..).zip(slots).filter(|&(_, &is_reference)| is_reference);
        let words = references.map(|(slot, _)| {
            let at = Address::new(first).before(slot * WORD_BYTES);
            self.memory.read::<u64>(at)
        });
        words.filter(|&word| word != Some(0)).collect()
    }
}

/// One entry for each slot of the arguments: whether it holds a reference. `None` if this is no
/// signature of a method.
fn slots(signature: &[u8], has_receiver: bool) -> Option<Vec<bool>> {
    let mut slots = if has_receiver { vec![true] } else { Vec::new() };
    let mut rest = signature.strip_prefix(b"(")?.iter();
    loop {
        let mut kind = *rest.next()?;
        let is_array = kind == b'[';
        while kind == b'[' {
            kind = *rest.next()?;
        }
        if kind == b'L' {
            rest.find(|&&letter| letter == b';')?;
        }
        match kind {
            b')' => return Some(slots),
            b'J' | b'D' if !is_array => slots.extend([false; 2]),
            _ => slots.push(is_array || kind == b'L'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tests::own_mappings;
    use crate::method_names::tests::LAYOUT as METHODS;

    #[test]
    fn references_have_their_slots() {
        for (signature, has_receiver, expected) in [
            ("()V", false, ""),
            ("()La/B;", true, "r"),
            ("(IJLa/B;D[J[[La/B;Z)V", true, "r...r..rr."),
        ] {
            let found = slots(signature.as_bytes(), has_receiver).unwrap();
            let found = found.iter().map(|&it| if it { 'r' } else { '.' });
            assert_eq!(found.collect::<String>(), expected, "{signature}");
        }
        for none in ["", "V", "(", "(La/B", "([", "([La/B"] {
            assert_eq!(slots(none.as_bytes(), false), None, "{none}");
        }
    }

    /// All places are those of the scene below: a method is its flags and its constant part; that
    /// is its constants and an index; a pool is its cache, followed by its constants.
    const LAYOUT: CallArguments = CallArguments {
        methods: MethodLayout {
            signature: 8,
            text: 2,
            ..METHODS
        },
        pool_cache: 0,
        calls: Entries::AfterHeader(CacheEntries {
            header_bytes: 8,
            bytes: 4,
            index: 2,
        }),
        dynamic_calls: Entries::OfDynamic(DynamicEntries {
            in_cache: 0,
            first: 4,
            bytes: 2,
            index: 0,
        }),
    };

    /// The references in the frame of a method with these flags at this bytecode; words of the
    /// frame are 100 and so on, the lowest first. Every call is `(La/B;J[I)V`.
    fn held(flags: u64, bytecode: [u8; 5], last_stack_pointer: u64) -> Vec<u64> {
        let symbol = *b"\x0B\0(La/B;J[I)V";
        // Entries: the second after the header names constant 3, as does the last of the array.
        let array = [0_u16, 0, 0, 0, 3];
        let cache = [array.as_ptr() as u64, 0x0003_0000_0000_0000];
        let names = |second: u64| second << 16;
        let pool = [
            cache.as_ptr() as u64,
            0,
            symbol.as_ptr() as u64,
            names(1),
            names(2),
        ];
        let mut pool = pool;
        pool[2] = names(2);
        pool[3] = symbol.as_ptr() as u64;
        pool[4] = names(1);
        let constant_part = [pool.as_ptr() as u64, 2];
        let method = [flags, constant_part.as_ptr() as u64];
        let mut stack: Vec<u64> = (100..120).collect();
        let at = |word: usize| stack.as_ptr() as u64 + word as u64 * WORD_BYTES;
        let (stack_pointer, frame_pointer) = (at(1), at(15));
        let parts = [
            (METHOD, method.as_ptr() as u64),
            (BYTECODE, bytecode.as_ptr() as u64),
            (OPERANDS_END, at(6)),
            // Relative, and absolute.
            (VARIABLES, 4),
            (LAST_STACK_POINTER, last_stack_pointer),
        ];
        for (words, value) in parts {
            stack[15 - usize::try_from(words).unwrap()] = value;
        }
        let mappings = own_mappings();
        let memory = Readable::of(&mappings);
        let found = LAYOUT.held(&memory, stack_pointer, frame_pointer);
        std::hint::black_box((symbol, array, cache, pool, constant_part, method, &stack));
        found.unwrap()
    }

    #[test]
    fn a_native_method_has_them_in_its_variables() {
        assert_eq!(held(0x100, [0; 5], 0), [119, 118, 115]);
        assert_eq!(held(0x108, [0; 5], 0), [119, 116]);
    }

    #[test]
    fn a_call_has_them_on_top_of_the_operands() {
        assert_eq!(held(0, [STATIC_CALL, 1, 0, 0, 0], 0), [104, 101]);
        assert_eq!(held(0, [FIRST_CALL, 1, 0, 0, 0], 0), [105, 104, 101]);
        assert_eq!(held(0, [DYNAMIC_CALL, 2, 0, 0, 0], 0), [104, 101]);
        let inverted = [DYNAMIC_CALL, !2, 0xFF, 0xFF, 0xFF];
        assert_eq!(held(0, inverted, 0), [104, 101]);
        // 13 words below the frame pointer.
        assert_eq!(
            held(0, [STATIC_CALL, 1, 0, 0, 0], 13_u64.wrapping_neg()),
            [105, 102]
        );
    }

    #[test]
    fn what_is_no_call_or_has_no_operands_left_has_none() {
        for (bytecode, last) in [
            (FIRST_CALL - 1, 0),
            (DYNAMIC_CALL + 1, 0),
            (STATIC_CALL, 11),
        ] {
            let last = if last == 0 { 0 } else { 11_u64.wrapping_neg() };
            assert_eq!(held(0, [bytecode, 1, 0, 0, 0], last), [0_u64; 0]);
        }
    }
}
