//! Reads the references in the frames of a chunk of a continuation's stack, in a forked copy
//! (stackChunkFrameStream.inline.hpp, instanceStackChunkKlass.inline.hpp).
//!
//! A waiting virtual thread has all its frames in such chunks, and a running one those to which it
//! has not returned yet. Frames are as on a stack, except that an interpreted frame stores
//! distances instead of addresses. A collector that has moved a chunk has put a bitmap after its
//! stack, with one bit for each reference. From then on a reference is encoded as in a field, in
//! the first bytes of its place.

use super::chunk_layout::{ChunkEnd, ChunkFacts, ChunkLayout};
use super::memory::{Address, Readable, WORD_BYTES};
use super::passed_frames::{Code, PassedStack};
use super::reference::Reference;
use super::standing_stacks::{StandingStacks, Walk, FRAME_POINTER};
use std::ops::Range;

/// Flags of a chunk: that HotSpot has copied it frame by frame, as with interpreted frames; that it
/// has a bitmap.
const IS_MIXED: u8 = 1;
const HAS_BITMAP: u8 = 1 << 4;
/// Words between a frame and its caller: the saved frame pointer and the return address.
const LINK_WORDS: u64 = 2;
/// Places of an interpreted frame, in words below its frame pointer (frame_x86.hpp).
const CALLERS_STACK_POINTER: u64 = 1;
const MIRROR: u64 = 4;
const LOCALS: u64 = 7;
/// More words than any stack has.
const MOST_WORDS: u64 = 1 << 28;
/// More locks than a thread keeps on its own stack of locks.
const MOST_LOCKS: u64 = 64;

/// A chunk with frames.
#[derive(Clone, Debug)]
struct Chunk {
    /// All of its stack.
    stack: Range<u64>,
    /// The stack pointer of the newest frame.
    stack_pointer: u64,
    /// The end of the oldest frame.
    end: u64,
    flags: u8,
    locks: u64,
}

impl Chunk {
    /// Reads its fields; `None` if they contradict each other.
    fn read(walk: &Walk<'_, '_>, layout: &ChunkLayout, object: u64) -> Option<Self> {
        let at = |offset: u64| Address::new(object.wrapping_add(offset));
        let words = |offset| {
            let words: u32 = walk.memory.read(at(offset))?;
            Some(u64::from(words)).filter(|&words| words < MOST_WORDS)
        };
        let (size, newest) = (
            words(layout.declared.size)?,
            words(layout.declared.stack_pointer)?,
        );
        let end = match layout.declared.end {
            ChunkEnd::Arguments(offset) => size.checked_sub(words(offset)?)?,
            ChunkEnd::Bottom(offset) => words(offset)?,
        };
        let locks: u8 = match layout.locks {
            Some(offset) => walk.memory.read(at(offset))?,
            None => 0,
        };
        let place = |words: u64| at(layout.stack + words * WORD_BYTES).bits();
        let is_whole = end <= size && newest <= size && u64::from(locks) <= size.min(MOST_LOCKS);
        is_whole.then_some(Self {
            stack: place(0)..place(size),
            stack_pointer: place(newest),
            end: place(end),
            flags: walk.memory.read(at(layout.flags))?,
            locks: locks.into(),
        })
    }

    fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

impl StandingStacks {
    /// Hands on the stacks of virtual threads in their chunks, as far as they can be read to the
    /// end. `None` if the layout of the chunks' class is unknown.
    pub(super) fn passed_in_chunks<'c>(
        &self,
        memory: &Readable<'_>,
        class: ChunkFacts,
        threads: impl Iterator<Item = (u64, &'c [u64])>,
        stack: impl FnMut(PassedStack),
    ) -> Option<()> {
        let layout = self.chunk_class?.layout(memory, class)?;
        let mut walk = self.walk(memory)?;
        let read = threads.filter_map(|(thread, chunks)| {
            walk.references.clear();
            walk.frames_in_chunks(&layout, thread, chunks)
        });
        read.for_each(stack);
        Some(())
    }
}

impl Walk<'_, '_> {
    /// Notes what the frames in the chunk at this address hold, and which objects they lock. `None`
    /// if its end is not reached.
    pub(super) fn chunk(&mut self, layout: &ChunkLayout, object: u64) -> Option<()> {
        self.colour = None;
        let chunk = Chunk::read(self, layout, object)?;
        if chunk.stack_pointer >= chunk.end {
            return Some(());
        }
        let is_narrow = chunk.is(HAS_BITMAP) && layout.reference_bytes < WORD_BYTES;
        for number in 0..chunk.locks {
            let place = chunk.stack.start.wrapping_add(number * WORD_BYTES);
            self.note_at(place, is_narrow)?;
        }
        if chunk.is(HAS_BITMAP) {
            self.marked(&chunk, layout.reference_bytes)
        } else {
            self.colour = self.word(chunk.stack.end);
            self.frames(&chunk)
        }
    }

    /// Hands on the frames of a virtual thread in these chunks, the newest first. `None` if an end
    /// is not reached.
    pub(super) fn frames_in_chunks(
        &mut self,
        layout: &ChunkLayout,
        thread: u64,
        chunks: &[u64],
    ) -> Option<PassedStack> {
        self.passed.begin(thread);
        for &chunk in chunks {
            let chunk = Chunk::read(self, layout, chunk)?;
            self.frames(&chunk)?;
        }
        self.passed.take().next()
    }

    /// Notes the references that have a bit.
    fn marked(&mut self, chunk: &Chunk, reference_bytes: u64) -> Option<()> {
        const BITS: u64 = u64::BITS as u64;
        let is_narrow = reference_bytes < WORD_BYTES;
        let bit = |place: u64| place.saturating_sub(chunk.stack.start) / reference_bytes;
        // The newest frame's caller may have a reference in the place of its frame pointer.
        let newest = chunk.stack_pointer.saturating_sub(LINK_WORDS * WORD_BYTES);
        let bits = bit(newest)..bit(chunk.stack.end);
        for number in bits.start / BITS..bits.end.div_ceil(BITS) {
            let mut word = self.word(chunk.stack.end.wrapping_add(number * WORD_BYTES))?;
            while word != 0 {
                let bit = number * BITS + u64::from(word.trailing_zeros());
                word &= word - 1;
                if bits.contains(&bit) {
                    let place = chunk.stack.start.wrapping_add(bit * reference_bytes);
                    self.note_at(place, is_narrow)?;
                }
            }
        }
        Some(())
    }

    /// Walks the frames.
    fn frames(&mut self, chunk: &Chunk) -> Option<()> {
        self.saved.clear();
        let mut stack_pointer = chunk.stack_pointer;
        // Where the frame's own part begins: if it has called an interpreted method, that has more
        // arguments above.
        let mut own = stack_pointer;
        while stack_pointer < chunk.end {
            let link = stack_pointer.wrapping_sub(LINK_WORDS * WORD_BYTES);
            self.saved
                .extend(FRAME_POINTER.map(|register| (register, link)));
            let pc = self.word(link.wrapping_add(WORD_BYTES))?;
            let code = self.right_code(pc, own)?;
            let above = match *code {
                Code::Interpreted => {
                    let frame_pointer = self.relative(link, 0)?;
                    self.passed.push(frame_pointer, &code);
                    self.note_at(frame_pointer.wrapping_sub(MIRROR * WORD_BYTES), false)?;
                    let locals = self.relative(frame_pointer, LOCALS)?;
                    if locals.wrapping_add(WORD_BYTES) >= chunk.end {
                        return Some(());
                    }
                    own = self.relative(frame_pointer, CALLERS_STACK_POINTER)?;
                    frame_pointer.wrapping_add(LINK_WORDS * WORD_BYTES)
                }
                Code::Compiled {
                    frame_bytes,
                    ref entries,
                    ..
                } => {
                    self.passed.push(link, &code);
                    self.note_all(entries, own, [0; 2])?;
                    own = own.wrapping_add(frame_bytes);
                    let is_last = own >= chunk.end.saturating_sub(LINK_WORDS * WORD_BYTES);
                    if is_last && chunk.is(IS_MIXED) {
                        return Some(());
                    }
                    own
                }
                _ => return None,
            };
            if above <= stack_pointer || above > chunk.stack.end || own > chunk.stack.end {
                return None;
            }
            stack_pointer = above;
        }
        Some(())
    }

    /// The address this many words below this place, as a distance in words from it.
    fn relative(&self, place: u64, words: u64) -> Option<u64> {
        let distance = self.word(place.wrapping_sub(words * WORD_BYTES))?;
        Some(place.wrapping_add(distance.wrapping_mul(WORD_BYTES)))
    }

    /// Notes the reference at this place, unless it is null.
    fn note_at(&mut self, place: u64, is_narrow: bool) -> Option<()> {
        let reference = if is_narrow {
            Reference::Narrow(self.memory.read(Address::new(place))?)
        } else {
            Reference::Wide(self.word(place)?)
        };
        self.push(reference, [0; 2]);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk_layout::ChunkFields;
    use crate::code_cache::tests::{FakeCode, MAPS_AT, NAMES};
    use crate::memory::tests::{only, own_mappings, part};
    use crate::oop_maps::tests::FakeMaps;
    use crate::passed_frames::Passed;
    use crate::standing_stacks::tests::stacks;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;
    use snapshot::mappings::Mappings;

    const OBJECT: u64 = 0x7000;
    /// Words of an object before its stack.
    const HEADER: usize = 3;
    /// An address of the interpreter's code.
    const INTERPRETED: u64 = 0x1800;

    /// A chunk, and the code of its frames: a method with frames of three words.
    struct Scene {
        code: FakeCode,
        maps: FakeMaps,
        words: Vec<u64>,
        layout: ChunkLayout,
    }

    impl Scene {
        /// A chunk with this stack, in which each address of the method's code is its distance from
        /// the first instruction, below 100.
        fn new(newest: u64, flags: u8, locks: u8, stack: &[u64], bitmap: &[u64]) -> Self {
            // At 20 bytes, the first slot has a reference. At 30, the frame pointer has one.
            let maps = FakeMaps::new(MAPS_AT, [(20, 1, [65, 0, 0, 0]), (30, 1, [41, 0, 0, 0])]);
            let mut code = FakeCode::new();
            code.put_maps(maps.set.as_ptr() as u64);
            let size = stack.len() as u64;
            let bytes = (u64::from(flags) << 32) | (u64::from(locks) << 40);
            let mut words = vec![1, size | (newest << 32), size | bytes];
            words.extend(stack.iter().map(|&word| match word {
                20..100 => code.pc(0, word),
                word => word,
            }));
            words.extend(bitmap);
            let layout = ChunkLayout {
                declared: ChunkFields {
                    size: 8,
                    stack_pointer: 12,
                    end: ChunkEnd::Bottom(16),
                },
                flags: 20,
                locks: Some(21),
                stack: 24,
                reference_bytes: 4,
            };
            Self {
                code,
                maps,
                words,
                layout,
            }
        }

        fn held(self, mappings: &Mappings) -> Option<Vec<Reference>> {
            let words = std::hint::black_box(self.words);
            let stacks = stacks(self.code.cache, self.maps.maps, Address::default());
            let memory = Readable::of(mappings);
            stacks.held_in_chunk(&memory, &self.layout, words.as_ptr() as u64)
        }
    }

    fn held(scene: Scene) -> Option<Vec<Reference>> {
        scene.held(&own_mappings())
    }

    fn wide(objects: &[u64]) -> Option<Vec<Reference>> {
        Some(objects.iter().copied().map(Reference::Wide).collect())
    }

    /// Two frames of the method. The second one's frame pointer is saved by the first.
    const COMPILED: [u64; 8] = [7, 20, OBJECT, OBJECT + 8, 30, 0, 0, 0];

    /// An interpreted frame with two locals, and the one of the method that has called it.
    const MIXED: [u64; 15] = [
        10,
        INTERPRETED,
        0,
        2,
        0,
        0,
        OBJECT,
        0,
        0,
        2,
        0,
        20,
        OBJECT + 8,
        0,
        0,
    ];

    #[test]
    fn compiled_frames_are_read_from_the_newest_to_the_oldest() {
        let objects = [OBJECT, OBJECT + 8];
        assert_eq!(held(Scene::new(2, 0, 0, &COMPILED, &[])), wide(&objects));
        // The first of them has been returned from.
        assert_eq!(
            held(Scene::new(5, 0, 0, &COMPILED, &[])),
            wide(&objects[1..])
        );
        // Both have.
        assert_eq!(held(Scene::new(8, 0, 0, &COMPILED, &[])), wide(&[]));
    }

    #[test]
    fn the_end_may_be_told_by_what_lies_behind_it() {
        let mut scene = Scene::new(2, 0, 0, &COMPILED, &[]);
        // One of the eight words is an argument, so that the second frame ends within it.
        scene.layout.declared.end = ChunkEnd::Arguments(16);
        scene.words[2] = 1;
        assert_eq!(held(scene), wide(&[OBJECT, OBJECT + 8]));
    }

    #[test]
    fn an_interpreted_frame_has_distances() {
        let scene = || Scene::new(2, IS_MIXED, 0, &MIXED, &[]);
        assert_eq!(held(scene()), wide(&[OBJECT, OBJECT + 8]));
        // It is the oldest frame if its locals end the chunk.
        let mut oldest = scene();
        oldest.words[HEADER + 3] = 4;
        assert_eq!(held(oldest), wide(&[OBJECT]));
        // The caller's own part may begin above what it has got for its callee's locals.
        let mut extended = Scene::new(2, IS_MIXED, 0, &[&MIXED[..], &[0]].concat(), &[]);
        extended.words[HEADER + 9] = 3;
        extended.words[HEADER + 13] = OBJECT + 16;
        assert_eq!(held(extended), wide(&[OBJECT, OBJECT + 16]));
    }

    #[test]
    fn frames_are_handed_on_with_and_without_a_bitmap() {
        let places = |stack: &[u64], flags| {
            let scene = Scene::new(2, flags, 0, stack, &[0]);
            let words = std::hint::black_box(scene.words);
            let stacks = stacks(scene.code.cache, scene.maps.maps, Address::default());
            let mappings = own_mappings();
            let chunk = words.as_ptr() as u64;
            let memory = Readable::of(&mappings);
            let mut walk = stacks.walk(&memory)?;
            let passed = walk.frames_in_chunks(&scene.layout, 1, &[chunk, chunk])?;
            let place = |frame: &Passed| match frame {
                Passed::Interpreted(frame_pointer) => (frame_pointer - chunk) / WORD_BYTES,
                Passed::Compiled(code) => u64::from(code.distance),
            };
            assert!(passed.is_whole);
            Some(passed.frames.iter().map(place).collect::<Vec<_>>())
        };
        for flags in [0, HAS_BITMAP] {
            let found = places(&COMPILED, flags);
            assert_eq!(found, Some(vec![20, 30, 20, 30]), "{flags}");
            let found = places(&MIXED, flags | IS_MIXED);
            let interpreted = HEADER as u64 + 10;
            let expected = vec![interpreted, 20, interpreted, 20];
            assert_eq!(found, Some(expected), "{flags}");
        }
        let mut unknown = COMPILED;
        unknown[4] = 25;
        assert_eq!(places(&unknown, 0), None);
    }

    #[test]
    fn what_is_locked_is_noted() {
        let stack = [&[OBJECT + 24], &COMPILED[..]].concat();
        let objects = [OBJECT + 24, OBJECT, OBJECT + 8];
        assert_eq!(held(Scene::new(3, 0, 1, &stack, &[])), wide(&objects));
    }

    #[test]
    fn a_bitmap_tells_the_references() {
        // Before the newest frame's link, in the link, in both halves of a word, and none.
        let stack = [5, 6, 7, 8 | (9 << 32), 0, 0, 0, 0];
        let bitmap = [0b1111_0101];
        let narrow = |codes: &[u32]| {
            let references = codes.iter().copied().map(Reference::Narrow);
            Some(references.collect::<Vec<_>>())
        };
        let scene = || Scene::new(4, HAS_BITMAP, 0, &stack, &bitmap);
        assert_eq!(held(scene()), narrow(&[7, 8, 9]));
        assert_eq!(
            held(Scene::new(3, HAS_BITMAP, 1, &stack, &[0x10])),
            narrow(&[5, 7])
        );
        let mut wide_ones = scene();
        wide_ones.layout.reference_bytes = 8;
        assert_eq!(held(wide_ones), wide(&[7]));
    }

    #[test]
    fn a_chunk_that_contradicts_itself_is_not_read() {
        // An unknown return address; the newest frame and the oldest one's end lie after the stack.
        let mut unknown = COMPILED;
        unknown[4] = 25;
        assert_eq!(held(Scene::new(2, 0, 0, &unknown, &[])), None);
        assert_eq!(held(Scene::new(9, 0, 0, &COMPILED, &[])), None);
        let mut long = Scene::new(2, 0, 0, &COMPILED, &[]);
        long.words[2] += 1;
        assert_eq!(held(long), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn a_walk_over_a_hostile_chunk_reads_what_is_mapped_and_ends(
            is_mixed in any::<bool>(),
            flags in any::<u8>(),
            changes in vec((any::<Index>(), prop_oneof![
                any::<u64>(),
                (0..40_u64),
                (0..40_u64).prop_map(u64::wrapping_neg),
                (0..40_u64).prop_map(|high| high << 32),
                (0x1000..0x2000_u64),
            ], any::<bool>()), 0..8),
        ) {
            let stack = if is_mixed { &MIXED[..] } else { &COMPILED };
            let mut scene = Scene::new(2, flags, 0, stack, &[0]);
            for (at, word, is_address) in changes {
                let code = scene.code.pc(0, word % 100);
                *at.get_mut(&mut scene.words) = if is_address { code } else { word };
            }
            let own = [part(&scene.words[..]), part(&scene.code.memory[..])];
            let names = NAMES.iter().map(|name| part(name.to_bytes_with_nul()));
            let parts = own.into_iter().chain(names).chain(scene.maps.parts());
            let mappings = only(parts.collect());
            scene.held(&mappings);
        }
    }
}
