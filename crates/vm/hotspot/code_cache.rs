//! HotSpot's code cache: finds the method at a return address (codeCache, heap, nmethod.hpp).
//!
//! Threads read it without a lock or a safepoint, as HotSpot's stack walks do: code that a frame
//! returns to is not freed, and the entries of the segment map that lead to it stay the same.

use super::layouts::{BlobLayout, CodeHeapLayout, CodeHeaps, InterpreterCode, OnlyCodeHeap};
use super::memory::{Address, Readable, WORD_BYTES};
use super::place::Place;
use super::vm_structs::Table;
use std::ffi::CStr;
use std::ops::Range;
use std::os::raw::c_char;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most heaps in a code cache: it has one, or one for each kind of code.
const MOST_HEAPS: u64 = 8;
/// Marks a segment that belongs to no block.
const UNUSED_SEGMENT: u8 = 0xFF;
/// HotSpot's names for the code of methods and of native methods.
const METHOD_NAMES: [&CStr; 2] = [c"nmethod", c"native nmethod"];

/// The code cache, and the layout of its structures.
#[derive(Debug)]
pub(super) struct CodeCache {
    heaps: Vec<CodeHeap>,
    layout: BlobLayout,
    /// Whether a blob's frame is complete at a distance of two bytes (since JDK 24), not four.
    has_short_offsets: bool,
    /// The addresses at which HotSpot has [`METHOD_NAMES`]; 0 until they are first seen.
    names: [AtomicU64; METHOD_NAMES.len()],
    /// Where the interpreter is: a frame that continues there is interpreted.
    pub(super) interpreter: Range<u64>,
    /// The return address of Java code that native code called.
    pub(super) call_stub_return: u64,
}

/// One heap of the code cache. Its blocks consist of segments.
#[derive(Clone, Copy, Debug)]
struct CodeHeap {
    low: Address,
    /// The address of the field with the end of the used part.
    high_at: Address,
    segment_map: Address,
    log2_segment_size: u32,
}

/// The state of the frame when the code at an address runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// A compiled method whose frame is complete.
    InFrame,
    /// A compiled method that is building its frame.
    Entering,
    /// A compiled method that has removed its frame: the next instruction returns.
    Returning,
    /// HotSpot's own code in the code cache.
    InStub,
}

/// The code of any kind at a return address.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Returned {
    pub(super) blob: Address,
    /// Whether it is a compiled method.
    pub(super) is_method: bool,
    /// Whether it is a compiled native method.
    pub(super) is_native: bool,
    /// Bytes from the first instruction.
    pub(super) distance: u32,
    /// Bytes of its frame; 0 if it has none.
    pub(super) frame_bytes: u64,
    /// Whether the return was redirected for a deoptimization.
    pub(super) is_deoptimized: bool,
    /// Whether it is one of HotSpot's stubs.
    pub(super) is_stub: bool,
}

impl CodeCache {
    /// Looks up the structures; `None` if this JVM does not export them.
    pub(super) fn find() -> Option<Self> {
        let interpreter = InterpreterCode::find().ok()?;
        let layout = BlobLayout::find().ok()?;
        layout.deoptimization?;
        let (_, kind) = Table::find()?.typed_offset("CodeBlob", "_frame_complete_offset")?;
        Some(Self {
            heaps: CodeHeap::all()?,
            layout,
            has_short_offsets: match kind.as_slice() {
                b"int" => false,
                b"int16_t" => true,
                _ => return None,
            },
            names: Default::default(),
            interpreter: interpreter.code()?,
            // SAFETY: a variable of HotSpot.
            call_stub_return: unsafe { Address::new(interpreter.call_stub_return).read() },
        })
    }

    /// The first instruction at which a method's frame is complete.
    fn frame_complete_at(&self, method: Address) -> u64 {
        let at = self.layout.frame_complete;
        // SAFETY: fields of a compiled method, with the size that the JVM exports.
        let (code, offset) = unsafe {
            let offset = match self.has_short_offsets {
                false => method.add(at).read::<i32>(),
                true => i32::from(method.add(at).read::<i16>()),
            };
            (self.layout.code.of(method), offset)
        };
        code.offset(offset).bits()
    }

    /// The code of a forked copy at `pc`, to which a frame returns. `None` outside of the cache.
    ///
    /// A wrongly read frame may lead to a block that was freed, so only mapped memory is read.
    pub(super) fn returned_to(&self, memory: &Readable<'_>, pc: u64) -> Option<Returned> {
        /// How HotSpot's names of its stubs begin; since JDK 26, some begin in the second way.
        const STUBS: [&[u8]; 2] = [b"StubRoutines", b"Stub Generator"];
        /// More bytes than any of the names that matter has.
        const NAME_BYTES: u64 = 16;
        let layout = &self.layout;
        let blob = self.blob(pc)?;
        let name = memory.read(blob.add(layout.name))?;
        let text = memory.text(Address::new(name), NAME_BYTES)?;
        let is_method = self.is_methods(name, &text);
        let code = layout.code.read(memory, blob)?;
        let words: i32 = memory.read(blob.add(layout.frame_size_words))?;
        let handlers = [layout.deoptimization, layout.deoptimization_of_handles];
        let mut handlers = handlers.iter().flatten();
        let is_handler = |place: &Place| place.read(memory, blob).map(Address::bits) == Some(pc);
        Some(Returned {
            blob,
            is_method,
            is_native: METHOD_NAMES
                .last()
                .is_some_and(|native| native.to_bytes() == text),
            distance: u32::try_from(pc.checked_sub(code.bits())?).ok()?,
            frame_bytes: u64::try_from(words).ok()? * WORD_BYTES,
            is_deoptimized: is_method && handlers.any(is_handler),
            is_stub: STUBS.iter().any(|stub| text.starts_with(stub)),
        })
    }

    /// The state of the frame of the code that runs at `pc`. `None` outside of the code cache, and
    /// for the interpreter, whose frames follow no simple rule.
    pub(super) fn standing(&self, pc: u64) -> Option<Standing> {
        const RET: u8 = 0xC3;
        if self.interpreter.contains(&pc) {
            return None;
        }
        let blob = self.blob(pc)?;
        if !self.is_method(blob) {
            return Some(Standing::InStub);
        }
        // SAFETY: an instruction that the thread is running.
        if unsafe { Address::new(pc).read::<u8>() } == RET {
            return Some(Standing::Returning);
        }
        let is_complete = self.frame_complete_at(blob) <= pc;
        Some(if is_complete {
            Standing::InFrame
        } else {
            Standing::Entering
        })
    }

    /// Whether a compiled method was seen.
    pub(super) fn has_met_method(&self) -> bool {
        let first = self.names.first();
        first.is_some_and(|name| name.load(Ordering::Relaxed) != 0)
    }

    /// Whether `pc`, which may be any number, is in the interpreter or in a compiled method.
    /// Compiled methods are only recognised after one was seen.
    pub(super) fn is_java(&self, pc: u64) -> bool {
        let in_method = || self.blob(pc).is_some_and(|blob| self.has_known_name(blob));
        self.interpreter.contains(&pc) || in_method()
    }

    /// Compares addresses alone: a blob that no thread runs may be incomplete, without a name.
    fn has_known_name(&self, blob: Address) -> bool {
        // SAFETY: memory of the code cache, which stays mapped.
        let name: u64 = unsafe { blob.add(self.layout.name).read() };
        let is_it = |known: &AtomicU64| known.load(Ordering::Relaxed) == name;
        name != 0 && self.names.iter().any(is_it)
    }

    fn blob(&self, pc: u64) -> Option<Address> {
        let block = self.heaps.iter().find_map(|heap| heap.block(pc))?;
        Some(block.add(self.layout.block_header_size))
    }

    /// Whether a blob is a method. A thread must run it or have a frame of it.
    fn is_method(&self, blob: Address) -> bool {
        // SAFETY: a code blob in use has a pointer to its name there.
        let name: u64 = unsafe { blob.add(self.layout.name).read() };
        if name == 0 {
            return false;
        }
        if self.has_known_name(blob) {
            return true;
        }
        // SAFETY: names of code blobs are C strings that outlive them.
        self.is_methods(
            name,
            unsafe { CStr::from_ptr(name as *const c_char) }.to_bytes(),
        )
    }

    /// Whether this is a method's name, which is remembered.
    fn is_methods(&self, name: u64, text: &[u8]) -> bool {
        let mut known = METHOD_NAMES.iter();
        let index = known.position(|known| known.to_bytes() == text);
        if let Some(known) = index.and_then(|index| self.names.get(index)) {
            known.store(name, Ordering::Relaxed);
        }
        index.is_some()
    }
}

impl InterpreterCode {
    /// `None` if the numbers there are none.
    fn code(self) -> Option<Range<u64>> {
        // SAFETY: a variable with the address of the queue that contains the interpreter's code; it
        // never changes.
        let (low, size) = unsafe {
            let queue = Address::new(Address::new(self.queue).read());
            let size: u32 = queue.add(self.limit).read();
            (queue.add(self.buffer).read::<u64>(), size)
        };
        Some(low..low.checked_add(u64::from(size))?)
    }
}

impl CodeHeap {
    fn all() -> Option<Vec<Self>> {
        let at = CodeHeapLayout::find().ok()?;
        let Ok(all) = CodeHeaps::find() else {
            let only = OnlyCodeHeap::find().ok()?;
            // SAFETY: a variable of HotSpot with the address of the only heap.
            let heap = unsafe { Address::new(only.heap).read() };
            return Some(vec![Self::new(at, Address::new(heap))?]);
        };
        // SAFETY: the address of a growable array, which is complete before the first code runs.
        unsafe {
            let array = Address::new(Address::new(all.heaps).read());
            let count: i32 = array.add(all.length).read();
            let data = Address::new(array.add(all.data).read());
            let count = u64::try_from(count).ok()?;
            let numbers = 0..count.min(MOST_HEAPS);
            numbers
                .map(|number| Self::new(at, Address::new(data.add(number * 8).read())))
                .collect()
        }
    }

    fn new(at: CodeHeapLayout, heap: Address) -> Option<Self> {
        // SAFETY: fields of a heap that never change; its end changes, so it is not read here.
        let (low, segment_map, log2) = unsafe {
            let segment_map = Address::new(heap.add(at.segment_map).read());
            let log2 = heap.add(at.log2_segment_size).read::<i32>();
            (heap.add(at.low).read(), segment_map, log2)
        };
        Some(Self {
            low: Address::new(low),
            high_at: heap.add(at.high),
            segment_map,
            log2_segment_size: u32::try_from(log2).ok().filter(|&log2| log2 < 32)?,
        })
    }

    /// The header of the block that contains `pc`.
    fn block(&self, pc: u64) -> Option<Address> {
        let distance = pc.checked_sub(self.low.bits())?;
        // SAFETY: a field of the heap.
        if pc >= unsafe { self.high_at.read() } {
            return None;
        }
        let mut segment = distance >> self.log2_segment_size;
        // An entry is the number of segments to go back, in several steps if a byte is too small.
        loop {
            // SAFETY: the map has an entry for each segment in use.
            let back: u8 = unsafe { self.segment_map.add(segment).read() };
            match back {
                0 => return Some(self.low.add(segment << self.log2_segment_size)),
                UNUSED_SEGMENT => return None,
                back => segment = segment.checked_sub(u64::from(back))?,
            }
        }
    }
}

/// A code cache in a test's own memory, and tests.
#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::memory::Address;

    /// The names of the method and of the stub.
    pub(crate) static NAMES: [&CStr; 2] = [c"nmethod", c"StubRoutines (1)"];

    /// Bytes of a block's header, and of a blob before its code.
    pub(crate) const HEADER_BYTES: u64 = 8;
    pub(crate) const CODE_AT: u64 = 32;
    /// Where a blob has its maps.
    pub(crate) const MAPS_AT: u64 = 24;
    /// From the first instruction to the first one with the frame.
    pub(crate) const COMPLETE_AT: u64 = 6;
    const SEGMENT_WORDS: usize = 16;

    /// Three blocks of one segment, 128 bytes: a method of three words, a stub, and a free one.
    pub(crate) struct FakeCode {
        pub(crate) memory: Box<[u64; 3 * SEGMENT_WORDS]>,
        _map: Box<[u8; 3]>,
        _high: Box<u64>,
        pub(crate) cache: CodeCache,
    }

    impl FakeCode {
        /// The interpreter's code is from 0x1000 to 0x2000.
        pub(crate) fn new() -> Self {
            let mut memory = Box::new([0_u64; 3 * SEGMENT_WORDS]);
            // Name, offsets of the code and of its first instruction with the frame, size, number.
            let code = CODE_AT | (COMPLETE_AT << 32);
            for (segment, (name, words)) in NAMES.iter().zip([3, 0]).enumerate() {
                let at = segment * SEGMENT_WORDS + 1;
                memory[at] = name.as_ptr() as u64;
                memory[at + 1..at + 3].copy_from_slice(&[code, words | (77 << 32)]);
            }
            let map = Box::new([0, 0, UNUSED_SEGMENT]);
            let low = memory.as_ptr() as u64;
            let high = Box::new(low + 3 * 128);
            let heap = CodeHeap {
                low: Address::new(low),
                high_at: Address::new(std::ptr::from_ref(&*high) as u64),
                segment_map: Address::new(map.as_ptr() as u64),
                log2_segment_size: 7,
            };
            let layout = BlobLayout {
                block_header_size: HEADER_BYTES,
                code: Place::Offset(8),
                frame_complete: 12,
                name: 0,
                frame_size_words: 16,
                deoptimization: None,
                deoptimization_of_handles: None,
            };
            let cache = CodeCache {
                heaps: vec![heap],
                layout,
                has_short_offsets: false,
                names: Default::default(),
                interpreter: 0x1000..0x2000,
                call_stub_return: 0,
            };
            Self {
                memory,
                _map: map,
                _high: high,
                cache,
            }
        }

        /// Address of an instruction at this offset in the method (0), stub (1) or free block (2).
        pub(crate) fn pc(&self, block: u64, offset: u64) -> u64 {
            self.memory.as_ptr() as u64 + block * 128 + HEADER_BYTES + CODE_AT + offset
        }

        /// The method gets these maps.
        pub(crate) fn put_maps(&mut self, maps: u64) {
            self.memory[1 + usize::try_from(MAPS_AT / 8).unwrap()] = maps;
        }

        /// Puts an instruction of one byte there.
        pub(crate) fn put(&mut self, block: usize, offset: usize, instruction: u8) {
            let byte = usize::try_from(HEADER_BYTES + CODE_AT).unwrap() + offset;
            let word = &mut self.memory[block * SEGMENT_WORDS + byte / 8];
            let mut bytes = word.to_ne_bytes();
            bytes[byte % 8] = instruction;
            *word = u64::from_ne_bytes(bytes);
        }
    }

    #[test]
    fn code_stands_before_in_and_behind_its_frame() {
        let mut code = FakeCode::new();
        code.put(0, 40, 0xC3);
        let standing = |pc| code.cache.standing(pc);
        assert_eq!(standing(code.pc(0, 0)), Some(Standing::Entering));
        assert_eq!(standing(code.pc(0, COMPLETE_AT)), Some(Standing::InFrame));
        assert_eq!(standing(code.pc(0, 40)), Some(Standing::Returning));
        assert_eq!(standing(code.pc(1, 0)), Some(Standing::InStub));
        assert_eq!(standing(code.pc(2, 0)), None);
        assert_eq!(standing(0x1800), None);
    }

    #[test]
    fn a_method_is_believed_when_one_was_met() {
        let code = FakeCode::new();
        assert!(!code.cache.is_java(code.pc(0, 20)));
        assert!(code.cache.is_java(0x1800));
        assert_eq!(code.cache.standing(code.pc(0, 20)), Some(Standing::InFrame));
        assert!(code.cache.is_java(code.pc(0, 20)));
        assert!(!code.cache.is_java(code.pc(1, 20)));
    }

    #[test]
    fn a_block_begins_where_its_segments_lead() {
        // A block of one segment, one of three, and a segment that is free.
        let map = [0_u8, 0, 1, 2, UNUSED_SEGMENT];
        let high = 0x1000_u64 + 5 * 64;
        let heap = CodeHeap {
            low: Address::new(0x1000),
            high_at: Address::new(std::ptr::from_ref(&high) as u64),
            segment_map: Address::new(map.as_ptr() as u64),
            log2_segment_size: 6,
        };
        let block = |pc| heap.block(pc).map(Address::bits);
        assert_eq!(block(0x1000), Some(0x1000));
        assert_eq!(block(0x1041), Some(0x1040));
        assert_eq!(block(0x10FF), Some(0x1040));
        assert_eq!(block(0x1100), None);
        assert_eq!(block(0x1140), None);
        assert_eq!(block(0xFFF), None);
    }
}
