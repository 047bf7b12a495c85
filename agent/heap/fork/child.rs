//! The child: takes over from HotSpot at the first reference that is no root, writes the dump, ends.
//!
//! It enters neither JNI nor JVMTI and takes no lock that another thread of the JVM may have held. It returns to HotSpot's
//! walk only for the frames of virtual threads. Whatever happens to it, the application runs on.

use super::crew::{in_threads, Watch};
use super::known_objects::KnownObjects;
use super::message::{receive_ids, FromChild, ThreadIds, ThreadNoteMessage, Written};
use super::process::{self, Watchdog};
use super::vm_structs::VmStructs;
use crate::heap::facts::catalogue::Catalogue;
use crate::heap::facts::plain_facts::class_facts;
use crate::heap::facts::roots::RootNotes;
use crate::jvmti::object::Handle;
use crate::options::Options;
use snapshot::classes::{
    ClassDumps, ClassFacts, ClassMap, ClassReferences, Descriptions, MirrorFields,
    MirrorReferences, NameFields, Slot,
};
use snapshot::layout::{Calibration, ObjectLayout};
use snapshot::mappings::{os_maps, Mappings};
use snapshot::memory::{Memory, ProcessMemory};
use snapshot::walk::{Batch, MarkOnly, Marks, OnObject, VirtualThreadFields, Walker, Work};
use snapshot::{Failure, Snapshot};
use std::collections::HashSet;
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicU64;
use std::sync::Mutex;
use tables::{ObjectId, ObjectIndex, ObjectTable, Tables, TraceId};
use writer::emit::LiveThread;
use writer::{Deliver, Segments, Tail, TailWriter};

/// References that one walker begins with.
const BATCH: usize = 512;

/// Everything that the child needs, made before the fork.
#[derive(Debug)]
pub(super) struct Task<'d, 'f> {
    /// The classes.
    pub(super) catalogue: &'d Catalogue<'f>,
    /// Rows of all kinds; its own copy, nobody else's locks.
    pub(super) tables: &'d Tables,
    /// What is known.
    pub(super) known: &'d KnownObjects<'f>,
    /// Rows of mirrors, loaders and threads, without addresses yet.
    pub(super) objects: ObjectTable,
    /// Their handles.
    pub(super) pinned: Vec<(ObjectIndex, Handle)>,
    /// The mirrors' own fields.
    pub(super) mirror_fields: MirrorFields,
    /// Where virtual threads have their frames.
    pub(super) virtual_threads: Option<VirtualThreadFields>,
    /// Where threads have their names.
    pub(super) names: Option<NameFields>,
    /// Weak handles of sampled objects, and the traces that allocated them.
    pub(super) allocated: &'d [(Handle, TraceId)],
    /// What HotSpot tells of its own structures.
    pub(super) vm_structs: VmStructs,
    /// The place for what the child writes.
    pub(super) tail: Option<Tail>,
    /// Has the child get the whole heap, parts without objects included.
    pub(super) copies_all: bool,
    /// The way to the parent.
    pub(super) socket: UnixStream,
    /// What the user asked for.
    pub(super) options: &'d Options,
}

/// A heap that is being marked.
#[derive(Debug)]
pub(super) struct HeapCopy {
    /// The heap.
    pub(super) snapshot: Snapshot,
    /// What is mapped.
    pub(super) mappings: Mappings,
    /// The classes.
    pub(super) facts: ClassFacts,
}

impl Task<'_, '_> {
    /// Threads to walk and encode with.
    pub(super) fn walkers(&self) -> usize {
        self.options.threads.unwrap_or_else(process::processors)
    }

    /// The parts of the heap that hold no object. Before the fork, while the application stands still.
    pub(super) fn unused_heap(&self) -> Vec<Range<u64>> {
        /// Handles that are enough to see that what HotSpot tells of itself is understood.
        const HANDLES: usize = 1000;
        let handles = self.pinned.iter().take(HANDLES);
        let slots: Vec<u64> = handles.map(|(_, handle)| handle.bits() & !7).collect();
        let unused = self.vm_structs.unused_heap.filter(|_| !self.copies_all);
        unused.map_or_else(Vec::new, |unused| unused.parts(&slots))
    }

    /// Tells the parent how it went, and ends the process.
    pub(super) fn end(&mut self, written: Result<Written, Failure>) -> ! {
        let (message, code) = match written {
            Ok(written) => (FromChild::Done(written), process::DONE),
            Err(failure) => (FromChild::Failed(failure.into()), process::TOLD),
        };
        // A parent that is gone needs no answer.
        let _ = message.send(&mut self.socket);
        process::exit(code)
    }

    /// Tells the parent that the child lives, before there is anything to count.
    pub(super) fn tell_progress(&mut self) -> Result<(), Failure> {
        let nothing = FromChild::Progress {
            bytes: 0,
            objects: 0,
            heap_bytes: 0,
        };
        nothing
            .send(&mut self.socket)
            .map_err(|_| Failure::NoAnswer)
    }

    /// Finds out how this JVM lays objects out. `seen` are rows whose address HotSpot has told, too; `left_out` is what this
    /// process has not of the heap.
    pub(super) fn begin(
        &mut self,
        seen: &[(ObjectIndex, u64)],
        left_out: Vec<Range<u64>>,
    ) -> Result<HeapCopy, Failure> {
        // SAFETY: this is the forked copy, which has this one thread; it may end at any read.
        let memory = unsafe { ProcessMemory::new() };
        let mappings = os_maps().map_err(|_| Failure::NoMemory)?;
        let mappings = Mappings::parse(&mappings);
        self.take_addresses(memory, &mappings, seen)?;
        let calibration = Calibration {
            memory,
            mappings: &mappings,
            objects: &self.known.objects,
            statics: &self.known.statics,
        };
        let layout = calibration
            .run()
            .map_err(|unexplained| Failure::Unexplained(unexplained.0))?;
        FromChild::Calibrated
            .send(&mut self.socket)
            .map_err(|_| Failure::NoAnswer)?;
        // Not before the fork: classes that are loaded meanwhile would be missed.
        let facts = class_facts(self.catalogue);
        let snapshot = self.snapshot(memory, &mappings, &facts, layout, left_out)?;
        Ok(HeapCopy {
            snapshot,
            mappings,
            facts,
        })
    }

    /// Where the marking begins: what classes and roots refer to.
    pub(super) fn starts(&self, copy: &HeapCopy, roots: &RootNotes) -> Result<Vec<u64>, Failure> {
        let mut classes = ClassReferences::default();
        // The records themselves come later, when the head of the file is written.
        let mut nowhere = Segments::new(|_| Ok(()));
        self.write_classes(copy, &mut nowhere, &mut classes)?;
        let mut starts = classes.into_objects();
        self.add_roots(roots, &mut starts);
        Ok(starts)
    }

    /// What roots refer to goes to `starts`.
    pub(super) fn add_roots(&self, roots: &RootNotes, starts: &mut Vec<u64>) {
        let objects = roots.objects().filter_map(|index| self.objects.id(index));
        starts.extend(objects.map(ObjectId::get));
    }

    /// Marks what can be reached from `starts`, with all threads.
    pub(super) fn mark(
        &mut self,
        copy: &HeapCopy,
        starts: &[u64],
        watchdog: &Watchdog,
    ) -> Result<(), Failure> {
        self.walk(&copy.snapshot, starts, || MarkOnly, None, watchdog)?;
        Ok(())
    }

    /// Marks what can be reached from `starts`, with all threads, each of which does with objects what `on_object` gives it.
    pub(super) fn walk<O: OnObject + Send>(
        &mut self,
        snapshot: &Snapshot,
        starts: &[u64],
        on_object: impl Fn() -> O + Sync,
        writer: Option<&TailWriter>,
        watchdog: &Watchdog,
    ) -> Result<Vec<O>, Failure> {
        let batches = starts.chunks(BATCH).map(<[u64]>::to_vec);
        let work = Work::new(self.walkers(), batches.map(Batch::References).collect());
        in_threads(
            self.walkers(),
            "hprof walker",
            || Walker::new(snapshot, &work, on_object()).run(),
            || work.end(),
            &mut Watch::new(&mut self.socket, snapshot, writer, watchdog),
        )
    }

    /// Looks behind the handles; where HotSpot has told an object's address, too, both must agree.
    fn take_addresses(
        &mut self,
        memory: ProcessMemory,
        mappings: &Mappings,
        seen: &[(ObjectIndex, u64)],
    ) -> Result<(), Failure> {
        let unexplained = Failure::Unexplained("handles are addresses of slots");
        for &(index, handle) in &self.pinned {
            let slot = Slot::of_handle(handle.bits());
            let known = mappings.is_readable(slot.address())
                && self.objects.set_address(index, slot.object(memory));
            if !known {
                return Err(unexplained);
            }
        }
        let agrees = |&(index, address): &(ObjectIndex, u64)| {
            self.objects.id(index).is_some_and(|id| id.get() == address)
        };
        if seen.iter().all(agrees) {
            Ok(())
        } else {
            Err(Failure::Unexplained("the address beside the tag"))
        }
    }

    fn snapshot(
        &mut self,
        memory: ProcessMemory,
        mappings: &Mappings,
        facts: &ClassFacts,
        layout: ObjectLayout,
        left_out: Vec<Range<u64>>,
    ) -> Result<Snapshot, Failure> {
        let known = self.known.objects.first();
        let heap = known
            .and_then(|known| mappings.around(known.object.object(memory)))
            .ok_or(Failure::Unexplained("the heap is mapped"))?;
        let primitive_fields = self.options.primitive_fields;
        let descriptions = Descriptions::of(facts, self.tables, &layout, primitive_fields);
        Ok(Snapshot {
            memory,
            mappings: mappings.clone(),
            classes: ClassMap::new(descriptions, &layout, memory),
            layout,
            allocated: self.allocated(memory, mappings),
            left_out,
            marks: Marks::new(heap).ok_or(Failure::NoMemory)?,
            primitive_fields,
            primitive_arrays: self.options.primitive_arrays,
            reached: AtomicU64::new(0),
            encoded_bytes: AtomicU64::new(0),
            unlinked: Mutex::default(),
            virtual_thread_class: self.virtual_threads.map(|fields| fields.class),
            virtual_threads: Mutex::default(),
        })
    }

    /// The sampled objects that live, in the order of their addresses, each with the trace that allocated it.
    fn allocated(&self, memory: ProcessMemory, mappings: &Mappings) -> Vec<(u64, TraceId)> {
        let address = |handle: Handle| {
            let slot = Slot::of_handle(handle.bits());
            let is_mapped = mappings.is_readable(slot.address());
            let address = is_mapped.then(|| slot.object(memory))?;
            (address != 0).then_some(address)
        };
        let living = self.allocated.iter();
        let mut living: Vec<_> = living
            .filter_map(|&(handle, trace)| Some((address(handle)?, trace)))
            .collect();
        living.sort_unstable();
        living
    }

    /// Reads the names of those threads that the parent has no handle of.
    pub(super) fn name_threads(&self, roots: &mut RootNotes, snapshot: &Snapshot) {
        let Some(names) = self.names else { return };
        let known: HashSet<ObjectIndex> = self.pinned.iter().map(|&(index, _)| index).collect();
        roots.name_threads(|thread| match self.objects.id(thread) {
            Some(id) if !known.contains(&thread) => names.read(snapshot, id.get()),
            _ => Vec::new(),
        });
    }

    /// Tells the parent of all addresses and threads, and waits for the threads' serial numbers.
    pub(super) fn tell_roots(
        &mut self,
        roots: &mut RootNotes,
        mappings: &Mappings,
        memory: ProcessMemory,
    ) -> Result<Vec<LiveThread>, Failure> {
        let count = usize::try_from(self.objects.len()).map_err(|_| Failure::NoMemory)?;
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
        let threads = roots.threads().iter().map(|thread| ThreadNoteMessage {
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
        let message = FromChild::Roots {
            addresses,
            threads: threads.collect(),
        };
        message
            .send(&mut self.socket)
            .map_err(|_| Failure::NoAnswer)?;
        let ids: ThreadIds = receive_ids(&mut self.socket).map_err(|_| Failure::NoAnswer)?;
        roots.know_java_frames(ids.iter().map(|answer| answer.3.as_slice()));
        let notes = roots.threads().iter();
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

    /// Writes the CLASS DUMPs; what classes refer to goes to `starts`.
    pub(super) fn write_classes(
        &self,
        copy: &HeapCopy,
        segments: &mut Segments<impl Deliver>,
        starts: &mut ClassReferences,
    ) -> Result<(), Failure> {
        let (snapshot, mappings) = (&copy.snapshot, &copy.mappings);
        let static_fields = self.static_fields_begin(copy);
        let references = MirrorReferences::find(
            &self.mirror_fields,
            static_fields,
            snapshot.memory,
            &snapshot.layout,
            &snapshot.classes,
            &snapshot.marks,
            mappings,
        );
        ClassDumps {
            snapshot,
            facts: &copy.facts,
            tables: self.tables,
            objects: &self.objects,
            references: &references,
            names: self.mirror_fields.names(),
            resolved: self.vm_structs.resolved,
            static_reference_count: self.vm_structs.static_reference_count,
            static_fields,
            mappings,
        }
        .write(segments, starts)
    }

    /// Where the part of mirrors ends that all of them share.
    fn static_fields_begin(&self, copy: &HeapCopy) -> u64 {
        let snapshot = &copy.snapshot;
        let classes = snapshot.classes.classes().iter();
        let places = classes.flat_map(|class| {
            let row = self.tables.classes.get(class.id);
            let ids = copy.facts.field_ids(class.id).iter();
            let is_static: Vec<bool> = row.map_or_else(Vec::new, |row| {
                row.own_fields()
                    .iter()
                    .map(|field| field.is_static)
                    .collect()
            });
            let places = ids.zip(is_static).filter(|(_, is_static)| *is_static);
            places
                .filter_map(|(id, _)| {
                    let place =
                        snapshot
                            .layout
                            .static_place(snapshot.memory, class.mirror, id.bits())?;
                    place.checked_sub(class.mirror)
                })
                .collect::<Vec<_>>()
        });
        places.min().unwrap_or(0)
    }
}
