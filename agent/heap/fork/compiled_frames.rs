//! What only compiled frames hold, in the child: it becomes roots of their threads, beside those that HotSpot reports.

use super::child::{HeapCopy, Task};
use super::forker::row_at;
use super::message::FromChild;
use super::process::Watchdog;
use crate::heap::facts::roots::RootNotes;
use crate::message::say;
use hotspot::{HeldInChunks, Readable, Reference};
use rustc_hash::{FxHashMap, FxHashSet};
use snapshot::memory::Memory;
use snapshot::{Failure, Snapshot};
use std::sync::atomic::{AtomicBool, Ordering};
use tables::ObjectIndex;

/// Set in the parent once a child has crashed in compiled frames.
static ARE_GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Whether no child reads compiled frames any more.
pub(super) fn are_given_up() -> bool {
    ARE_GIVEN_UP.load(Ordering::Relaxed)
}

/// From now on, no child of this JVM reads compiled frames. `how` the last one ended is told.
pub(super) fn give_up(how: &str) {
    ARE_GIVEN_UP.store(true, Ordering::Relaxed);
    say(&format!(
        "the forked copy {how} while it read compiled frames, so no other will read them"
    ));
}

impl Task<'_, '_> {
    /// Adds what the compiled frames of all stacks hold to the roots, unless HotSpot has reported it. Returns how many
    /// stacks could not be read to the end. `by_address` has rows of objects.
    ///
    /// References of threads that HotSpot does not report are left out, as it does: those are ending, or its own.
    pub(super) fn note_compiled_frames(
        &mut self,
        copy: &HeapCopy,
        roots: &mut RootNotes,
        by_address: &mut FxHashMap<u64, ObjectIndex>,
    ) -> Result<u64, Failure> {
        // SAFETY: this is the forked copy, and these are its mappings.
        let memory = unsafe { Readable::new(&copy.mappings) };
        let stacks = self.stacks.as_ref().ok_or(Failure::Fault)?;
        let held = stacks.held(&memory).ok_or(Failure::OopMaps)?;
        let threads = self.threads(roots);
        let mut known = self.in_frames(roots);
        for held in &held.references {
            let mut owners = held.threads.iter();
            let Some(&thread) = owners.find_map(|owner| threads.get(owner)) else {
                continue;
            };
            let Some(object) = object(&copy.snapshot, held.reference)? else {
                continue;
            };
            if known.insert((thread, object)) {
                let index = row_at(object, by_address, &mut self.objects)?;
                roots.note_in_frame(thread, index);
            }
        }
        Ok(held.unread_stacks)
    }

    /// Adds what HotSpot itself holds for each thread to the roots. Returns for how many threads that could not be
    /// read. What is held for threads that HotSpot does not report becomes roots without a thread. The thread that
    /// makes the dump is left out.
    pub(super) fn note_handles(
        &mut self,
        copy: &HeapCopy,
        roots: &mut RootNotes,
        by_address: &mut FxHashMap<u64, ObjectIndex>,
    ) -> Result<u64, Failure> {
        // SAFETY: this is the forked copy, and these are its mappings.
        let memory = unsafe { Readable::new(&copy.mappings) };
        let held = self.handles.as_ref().and_then(|it| it.held(&memory));
        let Some(held) = held else {
            return Ok(roots.threads().len() as u64);
        };
        let mut unread = 0;
        let mut known = self.in_frames(roots);
        let threads = self.threads(roots);
        for of_thread in held {
            let thread = of_thread.threads.iter().find_map(|it| threads.get(it));
            if roots.is_own_thread(thread.copied()) {
                continue;
            }
            let mut is_whole = of_thread.is_whole;
            let surely = of_thread.objects.into_iter().map(|it| (it, true));
            let maybe = of_thread.maybe.into_iter().map(|it| (it, false));
            for (address, is_object) in surely.chain(maybe) {
                match object(&copy.snapshot, Reference::Wide(address)) {
                    Ok(Some(object)) => {
                        let index = row_at(object, by_address, &mut self.objects)?;
                        match thread {
                            Some(&thread) if known.insert((thread, object)) => {
                                roots.note_in_frame(thread, index);
                            }
                            Some(_) => {}
                            None => roots.note_without_thread(index),
                        }
                    }
                    Ok(None) => {}
                    Err(Failure::OopMaps) => is_whole &= !is_object,
                    Err(other) => return Err(other),
                }
            }
            unread += u64::from(!is_whole);
        }
        Ok(unread)
    }

    /// The threads that HotSpot has reported, by the addresses of their objects.
    fn threads(&self, roots: &RootNotes) -> FxHashMap<u64, ObjectIndex> {
        let threads = roots.threads().iter();
        threads
            .filter_map(|it| Some((self.objects.id(it.object)?.get(), it.object)))
            .collect()
    }

    /// The threads and the addresses of the objects that frames are known to hold.
    fn in_frames(&self, roots: &RootNotes) -> FxHashSet<(ObjectIndex, u64)> {
        let known = roots.in_frames();
        known
            .filter_map(|(thread, object)| Some((thread, self.objects.id(object)?.get())))
            .collect()
    }

    /// Marks everything reachable from `starts`, and what the frames in chunks of virtual threads' stacks hold that are
    /// marked now.
    pub(super) fn mark_with_chunks(
        &mut self,
        copy: &mut HeapCopy,
        starts: &[u64],
        watchdog: &Watchdog,
    ) -> Result<(), Failure> {
        self.mark(copy, starts, watchdog)?;
        while let Some(held) = self.take_chunks(copy)? {
            self.mark(copy, &held, watchdog)?;
        }
        Ok(())
    }

    /// What the frames in the chunks hold that were marked since the last call; `None` if there were none. It is also
    /// added to the copy.
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
            match object(&copy.snapshot, reference) {
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
        let memory = unsafe { Readable::new(&copy.mappings) };
        let (class, fields) = self.stack_chunks?;
        let layout = &copy.snapshot.layout;
        let mirror = copy.facts.slots().get(class.index())?;
        let mirror = mirror.object(copy.snapshot.memory);
        let klass = copy.snapshot.memory.u64(mirror + layout.klass_in_mirror);
        let width_bytes = layout.oops.width_bytes();
        let stacks = self.stacks.as_ref()?;
        stacks.held_in_chunks(&memory, klass, fields?, width_bytes, chunks)
    }

    /// Adds what chunks hold to the roots, unless HotSpot has reported it. `owners` are the addresses of their threads;
    /// what other chunks hold becomes roots without a thread.
    pub(super) fn note_chunks(
        &mut self,
        copy: &HeapCopy,
        owners: &FxHashMap<u64, u64>,
        roots: &mut RootNotes,
        by_address: &mut FxHashMap<u64, ObjectIndex>,
    ) -> Result<(), Failure> {
        let mut known = self.in_frames(roots);
        for &(chunk, object) in &copy.held_in_chunks {
            let Some(&owner) = owners.get(&chunk) else {
                let index = row_at(object, by_address, &mut self.objects)?;
                roots.note_without_thread(index);
                continue;
            };
            let thread = row_at(owner, by_address, &mut self.objects)?;
            if known.insert((thread, object)) {
                let index = row_at(object, by_address, &mut self.objects)?;
                roots.note_in_frame(thread, index);
            }
        }
        Ok(())
    }
}

/// The object to which a reference leads; `None` for a null. An error if there is none.
fn object(snapshot: &Snapshot<impl Memory>, reference: Reference) -> Result<Option<u64>, Failure> {
    let coding = snapshot.layout.oops.coding();
    let address = match reference {
        Reference::Wide(address) => address,
        Reference::Narrow(code) => coding.address(code.into()),
    };
    // A null that was decompressed without a check is the base.
    if address == coding.base {
        return Ok(None);
    }
    // What lies before the length of an array. Parts of the heap may not be mapped.
    let header_bytes = snapshot.layout.arrays.length;
    let is_there = || snapshot.mappings.are_readable(address, header_bytes);
    if !snapshot.marks.covers(address) || !is_there() {
        return Err(Failure::OopMaps);
    }
    match snapshot.class_of(address) {
        Ok(_) => Ok(Some(address)),
        Err(Failure::NoClass(_)) => Err(Failure::OopMaps),
        Err(other) => Err(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use snapshot::classes::Shape;
    use snapshot::mappings::Mappings;

    #[test]
    fn a_reference_leads_to_an_object() {
        let words = [1_u64, 1, 1, 7, 1, 1];
        let mut snapshot = Snapshot::of_words(&words, vec![Shape::ObjectArray]);
        let start = words.as_ptr() as u64;
        // Of the last object, only the first word is mapped.
        let mapped = format!("{start:x}-{:x} rw-p 0 0 0", start + 40);
        snapshot.mappings = Mappings::parse(mapped.as_bytes());
        let object = |address| object(&snapshot, Reference::Wide(address));
        assert_eq!(object(start), Ok(Some(start)));
        assert_eq!(object(0), Ok(None));
        // Not aligned, outside of the heap, without a class, and not mapped.
        for address in [start + 4, start + 4096, start + 16, start + 32] {
            assert_eq!(object(address), Err(Failure::OopMaps));
        }
    }
}
