//! The roots as the child reports them to the parent, and the numbers of threads that it gets for
//! them.

use super::child::{HeapCopy, Task};
use super::message::{FromChild, Roots, Sent, ThreadIds, ThreadNoteMessage};
use super::process::Watchdog;
use crate::heap::facts::roots::RootNotes;
use crate::order::Recipient;
use format::MemoryArea;
use hotspot::Readable;
use jvm::os::room::is_readable;
use snapshot::memory::Memory;
use snapshot::{Failure, Snapshot};
use std::collections::HashSet;
use std::os::fd::AsFd;
use std::time::Duration;
use tables::{ObjectId, ObjectIndex};
use writer::emit::LiveThread;

/// Time between two signs of life while the parent gives the head to who reads it.
const HEAD_LOOK: Duration = Duration::from_millis(500);

impl Task<'_, '_> {
    /// Reads the names of threads for which the parent has no handle.
    pub(super) fn name_threads(&self, roots: &mut RootNotes, snapshot: &Snapshot) {
        let Some(names) = self.names else { return };
        let known: HashSet<ObjectIndex> = self.pinned.iter().map(|&(index, _)| index).collect();
        roots.name_threads(|thread| match self.objects.id(thread) {
            Some(id) if !known.contains(&thread) => names.read(snapshot, id.get()),
            _ => Vec::new(),
        });
    }

    /// The areas of the JVM's memory, for a graph.
    fn areas(&self, copy: &HeapCopy) -> Vec<MemoryArea> {
        let Some(areas) = self.memory_areas else {
            return Vec::new();
        };
        // SAFETY: this is the forked copy, these are its mappings, and only HotSpot's structures
        // are read.
        let memory = unsafe { Readable::new(&copy.snapshot.mappings) };
        let snapshot = &copy.snapshot;
        let classes = snapshot.classes.classes().iter();
        let klasses = classes.map(|class| snapshot.layout.klass(snapshot.memory, class.mirror));
        areas.all(&memory, &copy.snapshot.mappings, klasses)
    }

    /// Sends all addresses and threads to the parent, and waits for the threads' serial numbers.
    pub(super) fn tell_roots(
        &mut self,
        roots: &mut RootNotes,
        copy: &HeapCopy,
    ) -> Result<Vec<LiveThread>, Failure> {
        if self.frames.is_some() {
            self.tell(&FromChild::ReadsFrames)?;
        }
        let standing = self.standing_frames(copy, roots);
        let (mappings, memory) = (&copy.snapshot.mappings, copy.snapshot.memory);
        let count = self.objects.len();
        let addresses = (0..count)
            .filter_map(ObjectIndex::from_index)
            .map(|index| self.objects.id(index).map_or(0, ObjectId::get))
            .collect();
        let word = |method: u64| {
            let is_address = method % 8 == 0 && mappings.is_readable(method);
            if is_address {
                memory.u64(method)
            } else {
                0
            }
        };
        let threads = roots.threads.iter().map(|thread| ThreadNoteMessage {
            object: thread.object.get(),
            name: thread.name.clone(),
            frames: thread
                .frames
                .iter()
                .map(|(&depth, &(method, location))| {
                    (depth, method.bits(), word(method.bits()), location)
                })
                .collect(),
        });
        let message = FromChild::Roots(Roots {
            addresses,
            threads: threads.collect(),
            frames: standing.message,
            objects: match self.order.recipient {
                Recipient::Leaks(_) => copy.snapshot.marks.count(),
                _ => 0,
            },
            sizes: self.vm_structs.size_places.all(&copy.snapshot),
            areas: self.areas(copy),
        });
        self.tell(&message)?;
        // The parent gives the head to who reads the dump, and gives up by itself who takes too
        // long.
        while self.order.has_reader() && !is_readable(self.socket.as_fd(), HEAD_LOOK) {
            Watchdog::feed();
        }
        let ids = ThreadIds::receive(&mut self.socket).map_err(|_| Failure::NoAnswer)?;
        roots.know_java_frames(ids.iter().map(|answer| answer.3.as_slice()));
        roots.know_java_frames(standing.java_frames.iter().map(Vec::as_slice));
        let notes = roots.threads.iter();
        Ok(notes
            .zip(ids)
            .map(|(note, (id, trace, depth_frames, _))| LiveThread {
                id,
                object: note.object,
                trace,
                depth_frames,
            })
            .collect())
    }
}
