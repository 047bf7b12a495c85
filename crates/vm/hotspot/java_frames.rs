//! The Java frames of all threads in a forked copy: methods and bytecodes, as HotSpot itself would
//! list them.

use super::chunk_layout::ChunkFacts;
use super::code_cache::Returned;
use super::layouts::MethodLayout;
use super::memory::Readable;
use super::method_names::MethodName;
use super::passed_frames::{Passed, PassedStack};
use super::scopes::{JavaFrame, Scopes};
use super::standing_stacks::StandingStacks;
use std::collections::HashMap;
use std::ops::Range;

/// How to read the frames.
#[derive(Debug)]
pub struct JavaFrames {
    stacks: StandingStacks,
    scopes: Scopes,
    methods: MethodLayout,
}

/// The frames of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JavaStack {
    /// The address of the thread object.
    pub thread: u64,
    /// The frames, the top first.
    pub frames: Vec<JavaFrame>,
    /// Whether these are all of them. Others of a virtual thread may be in the heap.
    pub is_whole: bool,
}

/// A walk that has met some code.
struct Reading<'r, 'm> {
    frames: &'r JavaFrames,
    memory: &'r Readable<'m>,
    /// The methods that run at these places, in `scopes`; `None` if they cannot be read.
    known: HashMap<(u64, u32), Option<Range<usize>>>,
    scopes: Vec<JavaFrame>,
}

impl JavaFrames {
    /// Looks up the structures; `None` if this JVM does not export them. `java` is its version.
    pub fn find(java: u32) -> Option<Self> {
        Some(Self {
            stacks: StandingStacks::find_frames().ok()?,
            scopes: Scopes::find(java)?,
            methods: MethodLayout::find().ok()?,
        })
    }

    /// The stacks of all threads but those that cannot be read to the end. `None` if the list of
    /// threads cannot be read.
    pub fn stacks(&self, memory: &Readable<'_>) -> Option<Vec<JavaStack>> {
        let mut reading = Reading::new(self, memory);
        let mut stacks = Vec::new();
        self.stacks
            .passed(memory, |passed| stacks.extend(reading.stack(&passed)))?;
        Some(stacks)
    }

    /// The same of virtual threads, as far as their frames are in the heap. Each thread has an
    /// address and its chunks, the newest first. `None` if the layout of chunks is unknown.
    pub fn stacks_in_chunks<'c>(
        &self,
        memory: &Readable<'_>,
        class: ChunkFacts,
        threads: impl Iterator<Item = (u64, &'c [u64])>,
    ) -> Option<Vec<JavaStack>> {
        let mut reading = Reading::new(self, memory);
        let mut stacks = Vec::new();
        let stack = |passed: PassedStack| stacks.extend(reading.stack(&passed));
        self.stacks
            .passed_in_chunks(memory, class, threads, stack)?;
        Some(stacks)
    }

    /// The class, name and signature of a frame's method; `None` if they cannot be read.
    pub fn name(&self, memory: &Readable<'_>, frame: JavaFrame) -> Option<MethodName> {
        self.methods.name(memory, frame.method)
    }
}

impl<'r, 'm> Reading<'r, 'm> {
    fn new(frames: &'r JavaFrames, memory: &'r Readable<'m>) -> Self {
        Self {
            frames,
            memory,
            known: HashMap::new(),
            scopes: Vec::new(),
        }
    }

    /// `None` if a frame cannot be read.
    fn stack(&mut self, passed: &PassedStack) -> Option<JavaStack> {
        let mut frames = Vec::with_capacity(passed.frames.len());
        for frame in &passed.frames {
            match frame {
                Passed::Interpreted(frame_pointer) => {
                    let methods = &self.frames.methods;
                    frames.push(methods.interpreted(self.memory, *frame_pointer)?);
                }
                Passed::Compiled(code) => {
                    let scopes = self.scopes(code)?;
                    frames.extend_from_slice(self.scopes.get(scopes)?);
                }
            }
        }
        Some(JavaStack {
            thread: passed.thread,
            frames,
            is_whole: passed.is_whole,
        })
    }

    /// Where the methods are that run in compiled code.
    fn scopes(&mut self, code: &Returned) -> Option<Range<usize>> {
        let place = (code.blob.bits(), code.distance);
        if let Some(known) = self.known.get(&place) {
            return known.clone();
        }
        let start = self.scopes.len();
        let read = &self.frames.scopes;
        let found = read.methods(self.memory, code, &mut self.scopes);
        let found = found.map(|()| start..self.scopes.len());
        self.known.insert(place, found.clone());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code_cache::tests::FakeCode;
    use crate::memory::tests::own_mappings;
    use crate::memory::Address;
    use crate::method_names::tests::{FakeMethod, LAYOUT};
    use crate::oop_maps::tests::FakeMaps;
    use crate::scopes::tests::{FakeScopes, BLOCKS_AT};
    use crate::standing_stacks::tests::stacks;

    const METHODS: [u64; 2] = [0x7000, 0x7100];

    /// Reads a stack with these frames.
    fn stack(scopes: FakeScopes, frames: Vec<Passed>) -> Option<JavaStack> {
        let maps = FakeMaps::new(0, [(0, 0, [0; 4]); 2]).maps;
        let frames_of = JavaFrames {
            stacks: stacks(FakeCode::new().cache, maps, Address::default()),
            scopes: scopes.scopes,
            methods: LAYOUT,
        };
        let mappings = own_mappings();
        let memory = Readable::of(&mappings);
        let mut reading = Reading::new(&frames_of, &memory);
        reading.stack(&PassedStack {
            thread: 0x6000,
            frames,
            is_whole: true,
        })
    }

    #[test]
    fn frames_are_listed_from_the_top() {
        let method = FakeMethod::new("run", false);
        let mut words = [0_u64; 9];
        words[0] = method.bytecode(3);
        words[5] = method.address();
        let interpreted = Passed::Interpreted(words[8..].as_ptr() as u64);
        let scopes = FakeScopes::new(METHODS);
        let blob = [
            vec![0; usize::try_from(BLOCKS_AT / 8).unwrap()],
            scopes.blocks().into(),
        ];
        let blob = blob.concat();
        let compiled = |distance| {
            Passed::Compiled(Returned {
                blob: Address::new(blob.as_ptr() as u64),
                distance,
                ..Returned::default()
            })
        };
        let frames = vec![compiled(20), interpreted, compiled(20), compiled(30)];
        let read = stack(scopes, frames).unwrap();
        let [outer, inner] = METHODS;
        let expected = [
            (inner, 0),
            (outer, 4),
            (method.address(), 3),
            (inner, 0),
            (outer, 4),
            (outer, 4),
        ];
        let found = read
            .frames
            .iter()
            .map(|frame| (frame.method, frame.bytecode));
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert_eq!((read.thread, read.is_whole), (0x6000, true));
    }

    #[test]
    fn a_stack_with_a_frame_that_cannot_be_read_is_none() {
        let words = [0_u64; 9];
        let interpreted = Passed::Interpreted(words[8..].as_ptr() as u64);
        assert_eq!(stack(FakeScopes::new(METHODS), vec![interpreted]), None);
        let compiled = Passed::Compiled(Returned::default());
        assert_eq!(
            stack(FakeScopes::new(METHODS), vec![compiled, compiled]),
            None
        );
    }
}
