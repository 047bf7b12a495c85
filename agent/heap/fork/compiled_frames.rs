//! What only compiled frames hold, in the child: it becomes roots of their threads, beside those
//! that HotSpot reports.

use super::child::{HeapCopy, Task};
use super::forker::row_at;
use super::message::FromChild;
use crate::heap::facts::roots::RootNotes;
use crate::message::say;
use hotspot::{ChunkFacts, HeldInChunks, Readable, Reference};
use rustc_hash::{FxHashMap, FxHashSet};
use snapshot::memory::Memory;
use snapshot::Failure;
use std::sync::atomic::{AtomicBool, Ordering};
use tables::{ObjectIndex, ObjectTable};

/// Set in the parent once a child has crashed in compiled frames.
static ARE_GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Whether no child reads compiled frames any more.
pub(super) fn are_given_up() -> bool {
    ARE_GIVEN_UP.load(Ordering::Relaxed)
}

/// From now on, no child of this JVM reads compiled frames. Prints `how` the last one ended.
pub(super) fn give_up(how: &str) {
    ARE_GIVEN_UP.store(true, Ordering::Relaxed);
    say(&format!(
        "the forked copy {how} while it read compiled frames, so no other will read them"
    ));
}

impl Task<'_, '_> {
    /// Adds what the compiled frames of all stacks hold to the roots, unless HotSpot has reported
    /// it. Returns how many stacks could not be read to the end.
    ///
    /// References of threads that HotSpot does not report are left out, as it does: those are
    /// ending, or its own.
    pub(super) fn note_compiled_frames(
        &mut self,
        copy: &HeapCopy,
        roots: &mut RootNotes,
    ) -> Result<u64, Failure> {
        // SAFETY: this is the forked copy, and these are its mappings.
        let memory = unsafe { Readable::new(&copy.snapshot.mappings) };
        let stacks = self.stacks.as_ref().ok_or(Failure::Fault)?;
        let held = stacks.held(&memory).ok_or(Failure::OopMaps)?;
        let mut found = FrameRoots::new(&mut self.objects, roots, &mut self.by_address);
        for held in &held.references {
            let Some(thread) = found.thread(&held.threads, copy.snapshot.memory) else {
                continue;
            };
            if let Some(object) = held.reference.object(&copy.snapshot)? {
                found.note(Some(thread), object)?;
            }
        }
        Ok(held.unread_stacks)
    }

    /// Adds what HotSpot itself holds for each thread to the roots. Returns for how many threads
    /// that could not be read. What is held for threads that HotSpot does not report becomes roots
    /// without a thread. The thread that makes the dump is left out.
    pub(super) fn note_handles(
        &mut self,
        copy: &HeapCopy,
        roots: &mut RootNotes,
    ) -> Result<u64, Failure> {
        // SAFETY: this is the forked copy, and these are its mappings.
        let memory = unsafe { Readable::new(&copy.snapshot.mappings) };
        let held = self.handles.as_ref().and_then(|it| it.held(&memory));
        let Some(held) = held else {
            return Ok(roots.threads.len() as u64);
        };
        let mut unread = 0;
        let mut found = FrameRoots::new(&mut self.objects, roots, &mut self.by_address);
        for of_thread in held {
            let thread = found.thread(&of_thread.threads, copy.snapshot.memory);
            if found.roots.is_own_thread(thread) {
                continue;
            }
            let mut is_whole = of_thread.is_whole;
            let surely = of_thread.objects.into_iter().map(|it| (it, true));
            let maybe = of_thread.maybe.into_iter().map(|it| (it, false));
            for (address, is_object) in surely.chain(maybe) {
                match Reference::Wide(address).object(&copy.snapshot) {
                    Ok(Some(object)) => found.note(thread, object)?,
                    Ok(None) => {}
                    Err(Failure::OopMaps) => is_whole &= !is_object,
                    Err(other) => return Err(other),
                }
            }
            unread += u64::from(!is_whole);
        }
        Ok(unread)
    }

    /// Marks everything reachable from `starts`, and what the frames in chunks of virtual threads'
    /// stacks hold that are marked now.
    pub(super) fn mark_with_chunks(
        &mut self,
        copy: &mut HeapCopy,
        starts: &[u64],
    ) -> Result<(), Failure> {
        self.mark(copy, starts)?;
        while let Some(held) = self.take_chunks(copy)? {
            self.mark(copy, &held)?;
        }
        Ok(())
    }

    /// The references in the frames of the chunks that were marked since the last call; `None` if
    /// there were none. They are also added to the copy.
    pub(super) fn take_chunks(&mut self, copy: &mut HeapCopy) -> Result<Option<Vec<u64>>, Failure> {
        let chunks = copy.snapshot.take_stack_chunks();
        if chunks.is_empty() {
            return Ok(None);
        }
        self.tell(&FromChild::ReadsFrames)?;
        let held = self.held_in_chunks(copy, &chunks);
        let held = held.unwrap_or_else(|| HeldInChunks {
            references: Vec::new(),
            unread_chunks: chunks.len() as u64,
        });
        let before = copy.held_in_chunks.len();
        let mut unread = FxHashSet::default();
        for (chunk, reference) in held.references {
            match reference.object(&copy.snapshot) {
                Ok(object) => {
                    let held = object.map(|object| (chunk, object));
                    copy.held_in_chunks.extend(held);
                }
                Err(Failure::OopMaps) => {
                    unread.insert(chunk);
                }
                Err(other) => return Err(other),
            }
        }
        copy.unread_stacks += held.unread_chunks + unread.len() as u64;
        self.tell_progress()?;
        let held = copy.held_in_chunks.iter().skip(before);
        Ok(Some(held.map(|&(_, object)| object).collect()))
    }

    /// `None` if nothing can be read.
    fn held_in_chunks(&self, copy: &HeapCopy, chunks: &[u64]) -> Option<HeldInChunks> {
        // SAFETY: this is the forked copy, and these are its mappings.
        let memory = unsafe { Readable::new(&copy.snapshot.mappings) };
        let stacks = self.stacks.as_ref()?;
        stacks.held_in_chunks(&memory, self.chunk_facts(copy)?, chunks)
    }

    /// The class of chunks; `None` if this JDK has none, or its fields are unknown.
    pub(super) fn chunk_facts(&self, copy: &HeapCopy) -> Option<ChunkFacts> {
        let (class, fields) = self.stack_chunks?;
        let layout = &copy.snapshot.layout;
        let mirror = copy.facts.slots.get(class.index())?;
        let mirror = mirror.object(copy.snapshot.memory);
        Some(ChunkFacts {
            klass: copy.snapshot.memory.u64(mirror + layout.klass_in_mirror),
            fields: fields?,
            reference_bytes: layout.oops.width_bytes(),
        })
    }

    /// Adds what chunks hold to the roots, unless HotSpot has reported it. What chunks of no
    /// virtual thread hold becomes roots without a thread.
    pub(super) fn note_chunks(
        &mut self,
        copy: &HeapCopy,
        roots: &mut RootNotes,
    ) -> Result<(), Failure> {
        let owners = copy.chunks.iter();
        let owners =
            owners.flat_map(|(&thread, chunks)| chunks.iter().map(move |&it| (it, thread)));
        let owners: FxHashMap<u64, u64> = owners.collect();
        let mut found = FrameRoots::new(&mut self.objects, roots, &mut self.by_address);
        for &(chunk, object) in &copy.held_in_chunks {
            let owner = owners.get(&chunk);
            let thread = owner.map(|&owner| found.row(owner)).transpose()?;
            found.note(thread, object)?;
        }
        Ok(())
    }
}

/// Makes roots of what frames hold, unless HotSpot has reported it.
struct FrameRoots<'r> {
    objects: &'r mut ObjectTable,
    roots: &'r mut RootNotes,
    by_address: &'r mut FxHashMap<u64, ObjectIndex>,
    /// The threads that HotSpot has reported, by the addresses of their objects.
    threads: FxHashMap<u64, ObjectIndex>,
    /// The threads and the addresses of the objects that their frames are known to hold.
    known: FxHashSet<(ObjectIndex, u64)>,
}

impl<'r> FrameRoots<'r> {
    fn new(
        objects: &'r mut ObjectTable,
        roots: &'r mut RootNotes,
        by_address: &'r mut FxHashMap<u64, ObjectIndex>,
    ) -> Self {
        let address = |object| Some(objects.id(object)?.get());
        let threads = roots.threads.iter();
        let threads = threads.filter_map(|it| Some((address(it.object)?, it.object)));
        let known = roots.in_frames();
        let known = known.filter_map(|(thread, object)| Some((thread, address(object)?)));
        Self {
            threads: threads.collect(),
            known: known.collect(),
            objects,
            roots,
            by_address,
        }
    }

    /// The thread with an object at one of these addresses; `None` if HotSpot has reported none.
    fn thread(&self, references: &[u64], memory: impl Memory) -> Option<ObjectIndex> {
        let rows = references.iter();
        let mut rows = rows.map(|&it| self.threads.get(&memory.decoded(it)).copied());
        rows.find_map(|row| row)
    }

    fn row(&mut self, address: u64) -> Result<ObjectIndex, Failure> {
        row_at(address, self.by_address, self.objects)
    }

    /// Makes the object a root: of a frame of the thread, or without a thread.
    fn note(&mut self, thread: Option<ObjectIndex>, object: u64) -> Result<(), Failure> {
        if thread.is_some_and(|thread| !self.known.insert((thread, object))) {
            return Ok(());
        }
        let index = self.row(object)?;
        match thread {
            Some(thread) => self.roots.note_in_frame(thread, index),
            None => self.roots.note_without_thread(index),
        }
        Ok(())
    }
}
