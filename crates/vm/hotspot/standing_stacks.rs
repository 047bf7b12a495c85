//! The stacks of all Java threads in a forked copy, where they stand still: which references their
//! compiled frames hold, by the [oop maps](super::oop_maps) that the collector uses.
//!
//! HotSpot's own walk reports what the debug information of a frame names as a variable. That
//! leaves out the fields of an object that the compiler has replaced by registers and stack slots,
//! and so what only such objects refer to. The maps have these registers and slots.
//!
//! The walk follows frame_x86.cpp. Interpreted frames are passed, but for
//! [arguments](super::call_arguments): HotSpot's walk reports their variables. Frames in the heap,
//! of virtual threads, are read when the copy has found them
//! ([`stack_chunks`](super::stack_chunks)).

use super::anchor::{Frame, CALL_WRAPPER_WORDS};
use super::call_arguments::CallArguments;
use super::chunk_layout::ChunkFacts;
use super::code_cache::CodeCache;
use super::layouts::{
    AnchorLayout, ChunkClass, LocalReferences, OriginalPc, StackMemory, ThreadFields, Upcalls,
};
use super::memory::{Address, Readable, WORD_BYTES};
use super::oop_maps::{Entry, OopMaps, Spot};
use super::passed_frames::{Code, PassedFrames, PassedStack};
use super::reference::Reference;
use super::thread_list::{ThreadList, ThreadObject};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::rc::Rc;

/// HotSpot's numbers of the register RBP: one for each half.
pub(super) const FRAME_POINTER: [u32; 2] = [10, 11];
/// Words from the last frame of a virtual thread to the return address of the frame that entered
/// its continuation: at least what that frame keeps (ContinuationEntry), at most also all
/// arguments. Before it, there may be a word that nobody has written, which may be an old return
/// address.
const ENTER_WORDS: Range<u64> = 7..320;

/// Places of the threads and their stacks in HotSpot.
#[derive(Debug)]
pub struct StandingStacks {
    pub(super) code: CodeCache,
    /// `None` if only the frames themselves matter.
    pub(super) maps: Option<OopMaps>,
    anchor: AnchorLayout,
    list: ThreadList,
    thread_object: ThreadObject,
    /// The mounted virtual thread, or the thread itself; since JDK 19.
    mounted_object: Option<ThreadObject>,
    stack_base: u64,
    pub(super) original_pc: u64,
    pub(super) upcalls: Option<Upcalls>,
    pub(super) chunk_class: Option<ChunkClass>,
    /// An exception that another thread has given it, up to JDK 17.
    given_exception: Option<u64>,
    arguments: Option<CallArguments>,
    local_references: Option<LocalReferences>,
}

/// What compiled frames hold.
#[derive(Debug, Default)]
pub struct Held {
    /// The references.
    pub references: Vec<HeldReference>,
    /// How many stacks could not be read to the end.
    pub unread_stacks: u64,
}

/// The references in the frames of chunks.
#[derive(Debug, Default)]
pub struct HeldInChunks {
    /// The references, each with its chunk's address.
    pub references: Vec<(u64, Reference)>,
    /// How many chunks could not be read to the end.
    pub unread_chunks: u64,
}

/// A reference in a compiled frame. It is not null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldReference {
    /// The addresses of the frame's thread, and of the platform thread that carries it or is it.
    pub threads: [u64; 2],
    /// The reference.
    pub reference: Reference,
}

impl StandingStacks {
    /// Looks up the structures; the error names what this JVM does not export. `java` is its
    /// version.
    pub fn find(java: u32) -> Result<Self, &'static str> {
        let frames = Self::find_frames()?;
        let fields = ThreadFields::find()?;
        Ok(Self {
            maps: Some(OopMaps::find(java)?),
            given_exception: fields.given_exception,
            arguments: CallArguments::find(java),
            local_references: LocalReferences::known(&frames.anchor, java),
            ..frames
        })
    }

    /// The same without the maps that show which words of a frame are references.
    pub(super) fn find_frames() -> Result<Self, &'static str> {
        Ok(Self {
            code: CodeCache::find().ok_or("CodeCache")?,
            maps: None,
            anchor: AnchorLayout::find()?,
            list: ThreadList::find().ok_or("_java_thread_list")?,
            thread_object: ThreadObject::find().ok_or("_threadObj")?,
            mounted_object: ThreadObject::mounted(),
            stack_base: StackMemory::find()?.base,
            original_pc: OriginalPc::find()?.in_frame,
            upcalls: Upcalls::find().ok(),
            chunk_class: ChunkClass::find().ok(),
            given_exception: None,
            arguments: None,
            local_references: None,
        })
    }

    /// The references in the compiled frames of all threads; `None` if the list of threads cannot
    /// be read.
    pub fn held(&self, memory: &Readable<'_>) -> Option<Held> {
        let mut walk = self.walk(memory)?;
        let mut unread_stacks = 0;
        for thread in self.list.threads(memory)? {
            unread_stacks += u64::from(walk.thread(thread).is_none());
        }
        Some(Held {
            references: walk.references,
            unread_stacks,
        })
    }

    /// The references in the frames of continuations' chunks, each chunk given by its address.
    /// `None` if the layout of their class is unknown.
    pub fn held_in_chunks(
        &self,
        memory: &Readable<'_>,
        class: ChunkFacts,
        chunks: &[u64],
    ) -> Option<HeldInChunks> {
        let layout = self.chunk_class?.layout(memory, class)?;
        let mut walk = self.walk(memory)?;
        let mut held = HeldInChunks::default();
        for &chunk in chunks {
            held.unread_chunks += u64::from(walk.chunk(&layout, chunk).is_none());
            let colour = walk.colour;
            let references = walk.references.drain(..);
            let references = references.map(|held| match (held.reference, colour) {
                (Reference::Wide(address), Some(colour)) => Reference::InChunk(address, colour),
                (reference, _) => reference,
            });
            held.references
                .extend(references.map(|reference| (chunk, reference)));
        }
        Some(held)
    }

    /// Hands on the stacks of all threads that can be read to the end; `None` if the list of
    /// threads cannot be read.
    pub(super) fn passed(
        &self,
        memory: &Readable<'_>,
        mut stack: impl FnMut(PassedStack),
    ) -> Option<()> {
        let mut walk = self.walk(memory)?;
        for thread in self.list.threads(memory)? {
            if walk.thread(thread).is_some() {
                walk.passed.take().for_each(&mut stack);
            }
        }
        Some(())
    }

    pub(super) fn walk<'w, 'm>(&'w self, memory: &'w Readable<'m>) -> Option<Walk<'w, 'm>> {
        let first_slot = self.maps.as_ref().map(|maps| maps.first_slot(memory));
        Some(Walk {
            stacks: self,
            memory,
            first_slot: first_slot.unwrap_or(Some(0))?,
            known: FxHashMap::default(),
            saved: FxHashMap::default(),
            references: Vec::new(),
            colour: None,
            passed: PassedFrames::default(),
        })
    }
}

/// A walk over stacks.
#[derive(Debug)]
pub(super) struct Walk<'w, 'm> {
    pub(super) stacks: &'w StandingStacks,
    pub(super) memory: &'w Readable<'m>,
    pub(super) first_slot: u32,
    /// The classifier of return addresses.
    pub(super) known: FxHashMap<u64, Rc<Code>>,
    /// Where the callees of a frame have saved its registers.
    pub(super) saved: FxHashMap<u32, u64>,
    pub(super) references: Vec<HeldReference>,
    /// The word after the stack of the last chunk, if it has no bitmap there.
    pub(super) colour: Option<u64>,
    /// The frames of the last thread, and of the virtual thread that it carries.
    pub(super) passed: PassedFrames,
}

impl Walk<'_, '_> {
    pub(super) fn word(&self, at: u64) -> Option<u64> {
        self.memory.read(Address::new(at))
    }

    /// Walks a thread's stack. `None` if its end is not reached.
    fn thread(&mut self, thread: Address) -> Option<()> {
        let stacks = self.stacks;
        let carrier = stacks.thread_object.read(self.memory, thread)?;
        let mounted = match stacks.mounted_object {
            Some(field) => field.read(self.memory, thread)?,
            None => carrier,
        };
        let stack_end = self.word(thread.add(stacks.stack_base).bits())?;
        let anchor = thread.add(stacks.anchor.in_thread).bits();
        let mut owners = [mounted, carrier];
        if let Some(given) = stacks.given_exception {
            let exception = self.word(thread.add(given).bits())?;
            self.push(Reference::Wide(exception), owners);
        }
        let mut next = self.anchored(anchor)?;
        let mut is_called = false;
        self.passed.begin(mounted);
        while let Some(at) = next {
            let code = self.right_code(at.pc, at.stack_pointer)?;
            // Native methods are called by entry frames, except the one that enters a continuation.
            let is_enter =
                matches!(*code, Code::Compiled { is_native, .. } if is_native && is_called);
            if is_enter || matches!(*code, Code::ReturnBarrier) {
                owners = [carrier; 2];
                self.passed.leave(carrier, is_enter);
            } else {
                self.passed.push(at.frame_pointer, &code);
            }
            if !is_called && matches!(*code, Code::Interpreted) {
                self.note_arguments(at, owners)?;
            }
            is_called = !matches!(*code, Code::Entry | Code::Upcall(_));
            next = self.caller(at, &code, owners)?;
            if next.is_none() && matches!(*code, Code::Entry) {
                self.note_local_references(thread, at, owners)?;
            }
            let is_above = |next: &Frame| {
                at.stack_pointer < next.stack_pointer && next.stack_pointer <= stack_end
            };
            if !next.as_ref().is_none_or(is_above) {
                return None;
            }
        }
        Some(())
    }

    /// Notes what a frame holds, and returns its caller; `Some(None)` if no Java code has called
    /// it.
    fn caller(&mut self, at: Frame, code: &Code, threads: [u64; 2]) -> Option<Option<Frame>> {
        match code {
            Code::Interpreted => {
                let stack_pointer = self.word(at.frame_pointer.wrapping_sub(WORD_BYTES))?;
                self.linked(at.frame_pointer, stack_pointer)
            }
            Code::Compiled {
                frame_bytes,
                entries,
                ..
            } => {
                self.note_all(entries, at.stack_pointer, threads)?;
                let caller = at.stack_pointer.wrapping_add(*frame_bytes);
                self.linked(caller.wrapping_sub(2 * WORD_BYTES), caller)
            }
            Code::ReturnBarrier => {
                // The frame that entered the continuation lies above, behind arguments. Only one
                // word there is the address of code: its return address.
                let place = |word| at.stack_pointer.wrapping_add(word * WORD_BYTES);
                let mut places = ENTER_WORDS.map(place);
                let place = places.find(|&place| self.is_return_address(place))?;
                self.linked(
                    place.wrapping_sub(WORD_BYTES),
                    place.wrapping_add(WORD_BYTES),
                )
            }
            Code::Entry => {
                let anchor = self.stacks.anchor.in_call_wrapper;
                self.anchored(self.call(at)?.wrapping_add(anchor))
            }
            Code::Upcall(place) => self.anchored(at.stack_pointer.wrapping_add(*place)),
            Code::Deoptimized(_) => None,
        }
    }

    /// Notes the arguments that an interpreted frame holds for code that is not Java's.
    fn note_arguments(&mut self, at: Frame, threads: [u64; 2]) -> Option<()> {
        let Some(arguments) = &self.stacks.arguments else {
            return Some(());
        };
        let held = arguments.held(self.memory, at.stack_pointer, at.frame_pointer)?;
        for reference in held {
            self.push(Reference::Wide(reference), threads);
        }
        Some(())
    }

    /// Notes the local references of the native code below the entry frame of a thread's oldest
    /// call.
    fn note_local_references(
        &mut self,
        thread: Address,
        at: Frame,
        threads: [u64; 2],
    ) -> Option<()> {
        let Some(local_references) = &self.stacks.local_references else {
            return Some(());
        };
        let call = Address::new(self.call(at)?);
        for reference in local_references.held(self.memory, call, thread)? {
            self.push(Reference::Wide(reference), threads);
        }
        Some(())
    }

    /// The address of what HotSpot keeps about the call that an entry frame makes.
    fn call(&self, at: Frame) -> Option<u64> {
        let link = CALL_WRAPPER_WORDS * WORD_BYTES;
        self.word(at.frame_pointer.wrapping_sub(link))
    }

    /// Whether this word is the return address of Java code that was called by Java code. It may be
    /// any number.
    fn is_return_address(&self, place: u64) -> bool {
        let pc = self.word(place);
        let pc = pc.filter(|&pc| self.stacks.code.is_java(pc));
        pc.is_some_and(|pc| self.look_at(pc).is_some())
    }

    /// The caller with this stack pointer, whose frame pointer and return address are saved at
    /// `link`.
    fn linked(&mut self, link: u64, stack_pointer: u64) -> Option<Option<Frame>> {
        self.saved
            .extend(FRAME_POINTER.map(|register| (register, link)));
        Some(Some(Frame {
            stack_pointer,
            frame_pointer: self.word(link)?,
            pc: self.word(link.wrapping_add(WORD_BYTES))?,
        }))
    }

    /// The frame that an anchor names; `Some(None)` if it names none.
    fn anchored(&mut self, anchor: u64) -> Option<Option<Frame>> {
        self.saved.clear();
        let layout = &self.stacks.anchor;
        let field = |at: u64| self.word(anchor.wrapping_add(at));
        let stack_pointer = field(layout.stack_pointer)?;
        if stack_pointer == 0 {
            return Some(None);
        }
        let pc = match field(layout.pc)? {
            0 => self.word(stack_pointer.wrapping_sub(WORD_BYTES))?,
            pc => pc,
        };
        Some(Some(Frame {
            stack_pointer,
            frame_pointer: field(layout.frame_pointer)?,
            pc,
        }))
    }

    /// The address of a place of the frame with this stack pointer.
    fn place(&self, spot: Spot, stack_pointer: u64) -> Option<u64> {
        match spot {
            Spot::Stack(bytes) => Some(stack_pointer.wrapping_add(bytes)),
            Spot::Register(register) => self.saved.get(&register).copied(),
        }
    }

    /// Notes the references of a compiled frame, and where it has saved its caller's registers.
    pub(super) fn note_all(
        &mut self,
        entries: &[Entry],
        stack_pointer: u64,
        threads: [u64; 2],
    ) -> Option<()> {
        for &entry in entries {
            self.note(entry, stack_pointer, threads)?;
        }
        for &entry in entries {
            if let Entry::Saved(register, spot) = entry {
                let place = self.place(spot, stack_pointer)?;
                self.saved.insert(register, place);
            }
        }
        Some(())
    }

    /// Notes the reference that an entry of a map names.
    fn note(&mut self, entry: Entry, stack_pointer: u64, threads: [u64; 2]) -> Option<()> {
        let reference = match entry {
            Entry::Wide(spot) => Reference::Wide(self.word(self.place(spot, stack_pointer)?)?),
            Entry::Narrow(spot) => {
                let place = Address::new(self.place(spot, stack_pointer)?);
                Reference::Narrow(self.memory.read(place)?)
            }
            Entry::Saved(..) => return Some(()),
        };
        self.push(reference, threads);
        Some(())
    }

    /// Notes a reference, unless it is null.
    pub(super) fn push(&mut self, reference: Reference, threads: [u64; 2]) {
        if !matches!(reference, Reference::Wide(0) | Reference::Narrow(0)) {
            self.references.push(HeldReference { threads, reference });
        }
    }
}

/// Stacks in a test's own memory, and tests.
#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::chunk_layout::ChunkLayout;
    use crate::code_cache::tests::{FakeCode, MAPS_AT, NAMES};
    use crate::layouts::ThreadArray;
    use crate::memory::tests::{only, own_mappings, part};
    use crate::oop_maps::tests::FakeMaps;
    use crate::passed_frames::Passed;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;
    use snapshot::mappings::Mappings;

    /// Stacks with this code, of the threads in the list to which a variable leads.
    pub(crate) fn stacks(code: CodeCache, maps: OopMaps, list: Address) -> StandingStacks {
        StandingStacks {
            code,
            maps: Some(maps),
            anchor: AnchorLayout {
                in_thread: 0,
                in_call_wrapper: 0,
                stack_pointer: 0,
                frame_pointer: 16,
                pc: 8,
            },
            list: ThreadList::Array(ThreadArray {
                list: list.bits(),
                length: 0,
                threads: 8,
            }),
            thread_object: ThreadObject::Handle(32),
            mounted_object: Some(ThreadObject::Handle(40)),
            stack_base: 24,
            original_pc: 0,
            upcalls: None,
            chunk_class: None,
            given_exception: None,
            arguments: None,
            local_references: None,
        }
    }

    impl StandingStacks {
        /// The references in the frames of one chunk; `None` if it cannot be read to the end.
        pub(crate) fn held_in_chunk(
            &self,
            memory: &Readable<'_>,
            layout: &ChunkLayout,
            chunk: u64,
        ) -> Option<Vec<Reference>> {
            let mut walk = self.walk(memory)?;
            walk.chunk(layout, chunk)?;
            Some(walk.references.iter().map(|held| held.reference).collect())
        }
    }

    const OBJECT: u64 = 0x7000;
    const CARRIER: u64 = 0x7100;
    const MOUNTED: u64 = 0x7200;

    /// Places in a scene's words: the variable with the list of threads, the list, its only thread,
    /// the thread's objects, and its stack.
    const LIST: usize = 1;
    const THREADS: usize = 3;
    const THREAD: usize = 4;
    const OBJECTS: usize = 10;
    const STACK: usize = 12;

    /// A thread, and what its stack leads to.
    struct Scene {
        code: FakeCode,
        maps: FakeMaps,
        words: Box<[u64; STACK + 32]>,
    }

    impl Scene {
        /// From the top, two frames of the method that return to these distances, an interpreted
        /// one, and the entry frame. If it is a virtual thread, others of its frames are in the
        /// heap, and the interpreted frame is its carrier's.
        fn new(pcs: [u64; 2], is_virtual: bool) -> Self {
            // At 20 bytes, the first slot has a reference. At 30, the frame pointer has one.
            let maps = FakeMaps::new(MAPS_AT, [(20, 1, [65, 0, 0, 0]), (30, 1, [41, 0, 0, 0])]);
            let mut code = FakeCode::new();
            code.put_maps(maps.set.as_ptr() as u64);
            let mut words = Box::new([0; STACK + 32]);
            let start = words.as_ptr() as u64;
            let of = |word: usize| start + word as u64 * WORD_BYTES;
            let at = |word: usize| of(STACK + word);
            let pc = |offset| code.pc(0, offset);
            words[..STACK].copy_from_slice(&[
                of(LIST),
                1,
                of(THREADS),
                of(THREAD),
                at(0),
                pc(pcs[0]),
                0,
                at(32),
                of(OBJECTS),
                of(OBJECTS + 1),
                CARRIER,
                MOUNTED,
            ]);
            let stack = &mut words[STACK..];
            // The first frame: the reference, what the second has in RBP, the return address.
            stack[0..3].copy_from_slice(&[OBJECT, OBJECT + 8, pc(pcs[1])]);
            // The second: nothing, the frame pointer of the interpreted one, and a return address
            // in the interpreter.
            stack[3..6].copy_from_slice(&[0, at(18), 0x1800]);
            if is_virtual {
                // To the stub, with any frame pointer; an old return address; and the frame that
                // entered the continuation.
                stack[4..7].copy_from_slice(&[7, code.pc(1, 8), 0x1808]);
                stack[14..16].copy_from_slice(&[at(18), 0x1800]);
            }
            // The interpreted one: the caller's stack and frame pointer, and the return address of
            // the entry frame, 0.
            stack[17..20].copy_from_slice(&[at(20), at(27), 0]);
            // The entry frame's wrapper is an anchor, which names no frame.
            stack[21] = at(28);
            Self { code, maps, words }
        }

        /// Its memory.
        fn parts(&self) -> Vec<Range<u64>> {
            let own = [part(&self.words[..]), part(&self.code.memory[..])];
            let names = NAMES.iter().map(|name| part(name.to_bytes_with_nul()));
            own.into_iter()
                .chain(names)
                .chain(self.maps.parts())
                .collect()
        }

        /// The references in the frames.
        fn held(self, mappings: &Mappings) -> Option<Held> {
            let words = std::hint::black_box(self.words);
            let list = Address::new(words.as_ptr() as u64);
            let stacks = stacks(self.code.cache, self.maps.maps, list);
            stacks.held(&Readable::of(mappings))
        }

        /// The stacks that were passed.
        fn passed(self) -> Vec<PassedStack> {
            let words = std::hint::black_box(self.words);
            let list = Address::new(words.as_ptr() as u64);
            let stacks = stacks(self.code.cache, self.maps.maps, list);
            let mut passed = Vec::new();
            let mappings = own_mappings();
            let all = stacks.passed(&Readable::of(&mappings), |stack| passed.push(stack));
            all.unwrap();
            passed
        }
    }

    fn held(pcs: [u64; 2], is_virtual: bool) -> Option<Held> {
        Scene::new(pcs, is_virtual).held(&own_mappings())
    }

    #[test]
    fn registers_and_slots_are_read_down_to_the_entry() {
        let held = held([20, 30], false).unwrap();
        let threads = [MOUNTED, CARRIER];
        let expected = [OBJECT, OBJECT + 8].map(|object| HeldReference {
            threads,
            reference: Reference::Wide(object),
        });
        assert_eq!(held.references, expected);
        assert_eq!(held.unread_stacks, 0);
    }

    #[test]
    fn the_carrier_comes_after_what_a_virtual_thread_has_on_the_stack() {
        let held = held([20, 30], true).unwrap();
        assert_eq!((held.references.len(), held.unread_stacks), (2, 0));
    }

    #[test]
    fn a_stack_with_an_unknown_frame_is_counted() {
        // No map is for 25 bytes, and nobody has saved the first frame's registers.
        for (pcs, references) in [([20, 25], 1), ([25, 30], 0), ([30, 20], 0)] {
            let held = held(pcs, false).unwrap();
            assert_eq!(held.references.len(), references, "{pcs:?}");
            assert_eq!(held.unread_stacks, 1);
        }
    }

    #[test]
    fn frames_belong_to_a_virtual_thread_or_to_its_carrier() {
        let frames = |stack: &PassedStack| {
            let frames = stack.frames.iter().map(|frame| match frame {
                Passed::Compiled(code) => Some(code.distance),
                Passed::Interpreted(_) => None,
            });
            (stack.thread, frames.collect::<Vec<_>>(), stack.is_whole)
        };
        let stacks = |pcs, is_virtual| {
            let passed = Scene::new(pcs, is_virtual).passed();
            passed.iter().map(frames).collect::<Vec<_>>()
        };
        let compiled = vec![Some(20), Some(30)];
        let all = vec![Some(20), Some(30), None];
        assert_eq!(stacks([20, 30], false), [(MOUNTED, all, true)]);
        let carriers = (CARRIER, vec![None], true);
        let both = [(MOUNTED, compiled, false), carriers];
        assert_eq!(stacks([20, 30], true), both);
        assert_eq!(stacks([20, 25], false), [], "an unknown frame");
    }

    /// What a hostile word is.
    #[derive(Clone, Copy, Debug)]
    enum Word {
        Any(u64),
        /// An address in the scene's words.
        Own(u64),
        /// An address in the code.
        Code(u64),
        /// An address in the maps.
        Map(u64),
    }

    fn word() -> impl Strategy<Value = Word> {
        prop_oneof![
            any::<u64>().prop_map(Word::Any),
            (0..0x2100_u64).prop_map(Word::Any),
            (0..400_u64).prop_map(Word::Own),
            (0..50_u64).prop_map(|word| Word::Own(word * WORD_BYTES)),
            (0..400_u64).prop_map(Word::Code),
            (0..50_u64).prop_map(Word::Map),
        ]
    }

    impl Scene {
        fn put(&mut self, word: Word, at: Index, part: usize) {
            let start = |part: &[u64]| part.as_ptr() as u64;
            let word = match word {
                Word::Any(word) => word,
                Word::Own(bytes) => start(&self.words[..]) + bytes,
                Word::Code(bytes) => start(&self.code.memory[..]) + bytes,
                Word::Map(bytes) => self.maps.set.as_ptr() as u64 + bytes,
            };
            let words = match part {
                0 => &mut self.code.memory[..],
                1 => &mut self.maps.names,
                2 => {
                    let [byte, ..] = word.to_ne_bytes();
                    *at.get_mut(&mut self.maps.set) = byte;
                    return;
                }
                _ => &mut self.words[..],
            };
            *at.get_mut(words) = word;
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn a_walk_over_hostile_words_reads_what_is_mapped_and_ends(
            pcs in [0..40_u64, 0..40_u64],
            is_virtual in any::<bool>(),
            changes in vec((word(), any::<Index>(), 0..6_usize), 1..12),
        ) {
            let pcs = if pcs[0] < 20 { [20, 30] } else { pcs };
            let mut scene = Scene::new(pcs, is_virtual);
            for (word, at, part) in changes {
                scene.put(word, at, part);
            }
            let mappings = only(scene.parts());
            scene.held(&mappings);
        }
    }
}
