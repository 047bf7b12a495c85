//! The frames of all threads, read by the child and sent to the parent: in the child the threads
//! stand still, in the parent they have run on.

use super::child::{HeapCopy, Task};
use super::message::{FramesMessage, MethodMessage, StackMessage};
use crate::heap::facts::roots::RootNotes;
use hotspot::{JavaFrame, JavaFrames, JavaStack, Readable};
use snapshot::memory::Memory;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use tables::ObjectId;

/// The child's view of the frames.
#[derive(Debug, Default)]
pub(super) struct StandingFrames {
    /// The message to the parent.
    pub(super) message: FramesMessage,
    /// For each thread, in the order of [`RootNotes::threads`], the depths of the frames with
    /// references that belong to Java methods.
    pub(super) java_frames: Vec<Vec<u32>>,
}

/// The methods in the message.
#[derive(Default)]
struct Methods {
    messages: Vec<MethodMessage>,
    /// The numbers of methods, by address; `None` for one without a name or a class.
    numbers: HashMap<u64, Option<u32>>,
}

impl Task<'_, '_> {
    /// The frames of the threads that HotSpot has reported.
    pub(super) fn standing_frames(&self, copy: &HeapCopy, roots: &RootNotes) -> StandingFrames {
        let Some(frames) = &self.frames else {
            return StandingFrames::default();
        };
        // SAFETY: this is the forked copy, and these are its mappings.
        let memory = unsafe { Readable::new(&copy.snapshot.mappings) };
        let mut stacks = self.java_stacks(copy, frames, &memory, roots);
        let mut methods = Methods::default();
        let mut found = StandingFrames::default();
        for thread in &roots.threads {
            let address = self.objects.id(thread.object).map(ObjectId::get);
            let stack = address.and_then(|address| stacks.remove(&address));
            let mut depths = Vec::new();
            if let Some(stack) = stack {
                let is_java = |depth: &u32| {
                    let frame = stack.frames.get(*depth as usize);
                    frame.is_some_and(|frame| frame.bytecode >= 0)
                };
                depths.extend(thread.frames.keys().copied().filter(is_java));
                let mut number = |frame: &JavaFrame| {
                    let known = methods.number(frame, |frame| name(frames, &memory, copy, frame));
                    (known, frame.bytecode)
                };
                found.message.stacks.push(StackMessage {
                    object: thread.object.get(),
                    frames: stack.frames.iter().map(&mut number).collect(),
                    is_whole: stack.is_whole,
                });
            }
            found.java_frames.push(depths);
        }
        found.message.methods = methods.messages;
        found
    }

    /// The stacks that can be read, by the addresses of their threads.
    fn java_stacks(
        &self,
        copy: &HeapCopy,
        frames: &JavaFrames,
        memory: &Readable<'_>,
        roots: &RootNotes,
    ) -> HashMap<u64, JavaStack> {
        let stacks = frames.stacks(memory).unwrap_or_default();
        let thread = |stack: &JavaStack| copy.snapshot.memory.decoded(stack.thread);
        let stacks = stacks.into_iter().map(|stack| (thread(&stack), stack));
        let mut stacks: HashMap<u64, JavaStack> = stacks.collect();
        let on_stacks = roots.on_stacks().iter();
        let on_stacks = on_stacks.filter_map(|note| self.objects.id(note.object));
        let on_stacks: HashSet<u64> = on_stacks.map(ObjectId::get).collect();
        // Without its newer frames, a stack would be another one.
        let is_cut = |thread: &u64| match stacks.get(thread) {
            Some(stack) => !stack.is_whole,
            None => !on_stacks.contains(thread),
        };
        let chunks = copy.chunks.iter().filter(|(thread, _)| is_cut(thread));
        let chunks = chunks.map(|(&thread, chunks)| (thread, chunks.as_slice()));
        let class = self.chunk_facts(copy);
        let in_chunks = class.and_then(|it| frames.stacks_in_chunks(memory, it, chunks));
        for rest in in_chunks.unwrap_or_default() {
            match stacks.entry(rest.thread) {
                Entry::Vacant(entry) => {
                    entry.insert(rest);
                }
                Entry::Occupied(mut entry) => {
                    let stack = entry.get_mut();
                    stack.frames.extend(rest.frames);
                    stack.is_whole = true;
                }
            }
        }
        stacks
    }
}

impl Methods {
    /// The number of a frame's method.
    fn number(
        &mut self,
        frame: &JavaFrame,
        name: impl FnOnce(JavaFrame) -> Option<MethodMessage>,
    ) -> Option<u32> {
        let messages = &mut self.messages;
        *self.numbers.entry(frame.method).or_insert_with(|| {
            let number = u32::try_from(messages.len()).ok()?;
            messages.push(name(*frame)?);
            Some(number)
        })
    }
}

/// What the parent needs to find a frame's method; `None` if it has no name, or its class is not in
/// the catalogue.
fn name(
    frames: &JavaFrames,
    memory: &Readable<'_>,
    copy: &HeapCopy,
    frame: JavaFrame,
) -> Option<MethodMessage> {
    let method = frames.name(memory, frame)?;
    Some(MethodMessage {
        class: copy.snapshot.class_of_klass(method.class)?,
        name: method.name,
        signature: method.signature,
    })
}
