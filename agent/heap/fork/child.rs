//! The child: takes over from HotSpot at the first reference that is not a root, writes the dump,
//! and exits.
//!
//! It calls neither JNI nor JVMTI, and takes no lock that another thread of the JVM may have held.
//! It returns to HotSpot's walk only for the frames of virtual threads. Whatever happens to it, the
//! application runs on.

use super::crew::{in_threads, Watch};
use super::image::AnyImage;
use super::known_objects::KnownObjects;
use super::message::{FromChild, Sent, Written};
use super::pace::{Pace, Share};
use super::process;
use crate::heap::facts::catalogue::Catalogue;
use crate::heap::facts::plain_facts::class_facts;
use crate::heap::facts::roots::RootNotes;
use crate::order::Order;
use format::ObjectSizes;
use hotspot::{ChunkFields, JavaFrames, MemoryAreas, StandingStacks, ThreadHandles, VmStructs};
use jvm::object::Handle;
use jvm::os::careful_reads;
use options::Product;
use rustc_hash::FxHashMap;
use snapshot::classes::{
    ClassDumps, ClassFacts, ClassMap, ClassReferences, Descriptions, MirrorFields,
    MirrorReferences, NameFields, Slot,
};
use snapshot::layout::{Calibration, ObjectLayout, Unexplained, MOVING};
use snapshot::mappings::{os_maps, Mappings};
use snapshot::memory::ProcessMemory;
use snapshot::walk::{Batch, MarkOnly, Marks, OnObject, VirtualThreadFields, Walker, Work};
use snapshot::{Failure, Rest, Snapshot, Values};
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicU64;
use std::sync::Mutex;
use std::thread::available_parallelism;
use tables::{ClassId, ObjectId, ObjectIndex, ObjectTable, TraceId};
use writer::{Deliver, Segments, Tail, TailWriter};

fn no_rest() -> Rest {
    Rest(Box::new(|| ()))
}

/// References in a walker's first batch.
const BATCH: usize = 512;

/// Everything that the child needs. Made before the fork.
#[derive(Debug)]
pub(super) struct Task<'d, 'f> {
    /// The image of the heap; `None` if a fork copies it.
    pub(super) image: Option<AnyImage>,
    /// The classes, and rows of all kinds. The child has its own copy, so it shares no lock with
    /// other threads.
    pub(super) catalogue: &'d Catalogue<'f>,
    /// The objects and static fields with known contents.
    pub(super) known: &'d KnownObjects<'f>,
    /// Rows of mirrors, loaders and threads. Their addresses are not yet known.
    pub(super) objects: ObjectTable,
    /// Objects that have a row because a root refers to them, by address.
    pub(super) by_address: FxHashMap<u64, ObjectIndex>,
    /// The handles of these objects.
    pub(super) pinned: Vec<(ObjectIndex, Handle)>,
    /// The fields of mirrors.
    pub(super) mirror_fields: MirrorFields,
    /// The fields that lead to a virtual thread's frames; `None` if there are no virtual threads.
    pub(super) virtual_threads: Option<VirtualThreadFields>,
    /// The class of chunks of virtual threads' frames, and its fields; `None` if there are none.
    pub(super) stack_chunks: Option<(ClassId, Option<ChunkFields>)>,
    /// How to read what compiled frames hold; `None` if nothing reads them.
    pub(super) stacks: Option<Box<StandingStacks>>,
    /// How to read the frames of all threads; `None` if only the parent names them.
    pub(super) frames: Option<JavaFrames>,
    /// How to read what HotSpot itself holds for threads; `None` if nothing reads that.
    pub(super) handles: Option<ThreadHandles>,
    /// The fields that lead to a thread's name; `None` if this JDK has others.
    pub(super) names: Option<NameFields>,
    /// Weak handles of sampled objects, and their allocation traces.
    pub(super) allocated: &'d [(Handle, TraceId)],
    /// What HotSpot exports about its own structures.
    pub(super) vm_structs: VmStructs,
    /// How to find the areas of the JVM's memory, for a graph.
    pub(super) memory_areas: Option<MemoryAreas>,
    /// The sizes of objects, for all but a dump, whose readers compute them.
    pub(super) sizes: ObjectSizes,
    /// Goes to the thread that writes; `None` if nothing is written.
    pub(super) tail: Option<Tail>,
    /// Whether the child gets the whole heap, including the parts without objects.
    pub(super) copies_all: bool,
    /// What all threads of the child may take; `None` for no limit.
    pub(super) share: Option<Share>,
    /// Whether threads wait until it is certain that this copy will do.
    pub(super) is_awaited: bool,
    /// The connection to the parent.
    pub(super) socket: UnixStream,
    /// What is made, and how.
    pub(super) order: &'d Order<'d>,
}

/// A heap that is being marked.
#[derive(Debug)]
pub(super) struct HeapCopy {
    /// The snapshot.
    pub(super) snapshot: Snapshot,
    /// The classes as the parent described them.
    pub(super) facts: ClassFacts,
    /// How many stacks could not be read to the end.
    pub(super) unread_stacks: u64,
    /// What chunks of virtual threads' frames hold: the addresses of a chunk and of an object.
    pub(super) held_in_chunks: Vec<(u64, u64)>,
    /// The chunks of each virtual thread's frames, the newest first, by their addresses.
    pub(super) chunks: FxHashMap<u64, Vec<u64>>,
}

impl Task<'_, '_> {
    /// The number of threads for walking and encoding.
    pub(super) fn walkers(&self) -> usize {
        let processors = || available_parallelism().map_or(1, usize::from);
        self.order.options.threads.unwrap_or_else(processors)
    }

    /// The parts of the heap that contain no objects. Call it before the fork, while the
    /// application is paused.
    pub(super) fn unused_heap(&self) -> Vec<Range<u64>> {
        /// Enough handles to check that we read HotSpot's structures correctly.
        const HANDLES: usize = 1000;
        let handles = self.pinned.iter().take(HANDLES);
        let slots: Vec<u64> = handles.map(|(_, handle)| handle.bits() & !7).collect();
        let unused = self.vm_structs.unused_heap.filter(|_| !self.copies_all);
        unused.map_or_else(Vec::new, |unused| unused.parts(&slots))
    }

    /// Reports the result to the parent, and exits.
    pub(super) fn end(&mut self, written: Result<Written, Failure>) -> ! {
        let (message, code) = match written {
            Ok(written) => (FromChild::Done(written), process::DONE),
            Err(failure) => (FromChild::Failed(failure.into()), process::TOLD),
        };
        // If the parent is gone, nobody needs the message.
        let _ = message.send(&mut self.socket);
        process::exit(code)
    }

    /// Shows the parent that the child is alive, before there is anything to count.
    pub(super) fn tell_progress(&mut self) -> Result<(), Failure> {
        self.tell(&FromChild::Progress {
            bytes: 0,
            objects: 0,
            heap_bytes: 0,
        })
    }

    /// Sends the parent a message.
    pub(super) fn tell(&mut self, message: &FromChild) -> Result<(), Failure> {
        let sent = message.send(&mut self.socket);
        sent.map_err(|_| Failure::NoAnswer)
    }

    /// Finds this JVM's object layout. `seen` are rows whose addresses HotSpot has reported, too;
    /// `left_out` are the parts of the heap that this process does not have.
    pub(super) fn begin(
        &mut self,
        seen: &[(ObjectIndex, u64)],
        left_out: Vec<Range<u64>>,
    ) -> Result<HeapCopy, Failure> {
        // SAFETY: this is the forked copy, which has only this thread, and which any read may end.
        let memory = unsafe { ProcessMemory::new() };
        let memory = memory.coloured(self.image.as_ref().and_then(|image| image.colours()));
        let mappings = os_maps()?;
        let mappings = Mappings::parse(&mappings).tried(careful_reads::is_readable);
        self.take_addresses(memory, &mappings, seen)?;
        let calibration = Calibration {
            memory,
            mappings: &mappings,
            objects: &self.known.objects,
            statics: &self.known.statics,
        };
        let layout = calibration.run().map_err(|unexplained| match unexplained {
            MOVING => Failure::Moving,
            Unexplained(check) => Failure::Unexplained(check),
        })?;
        self.tell(&FromChild::Calibrated)?;
        // Not before the fork, which would miss classes that are loaded in between.
        let facts = class_facts(self.catalogue);
        let snapshot = self.snapshot(memory, mappings, &facts, layout, left_out)?;
        Ok(HeapCopy {
            snapshot,
            facts,
            unread_stacks: 0,
            held_in_chunks: Vec::new(),
            chunks: FxHashMap::default(),
        })
    }

    /// The objects from which marking starts: those that classes and roots refer to.
    pub(super) fn starts(&self, copy: &HeapCopy, roots: &RootNotes) -> Result<Vec<u64>, Failure> {
        let mut classes = ClassReferences::default();
        // The records themselves are written later, after the head of the file.
        let mut nowhere = Segments::new(|_| Ok(()));
        self.write_classes(copy, &mut nowhere, &mut classes)?;
        let mut starts = classes.objects;
        self.add_roots(roots, &mut starts);
        Ok(starts)
    }

    /// Adds the objects that roots refer to to `starts`.
    pub(super) fn add_roots(&self, roots: &RootNotes, starts: &mut Vec<u64>) {
        let objects = roots.objects().filter_map(|index| self.objects.id(index));
        starts.extend(objects.map(ObjectId::get));
    }

    /// Marks everything reachable from `starts`, on all threads.
    pub(super) fn mark(&mut self, copy: &HeapCopy, starts: &[u64]) -> Result<(), Failure> {
        self.walk(&copy.snapshot, starts, || MarkOnly, None)?;
        Ok(())
    }

    /// Marks everything reachable from `starts`, on all threads. `on_object` makes each thread's
    /// [`OnObject`].
    pub(super) fn walk<O: OnObject + Send>(
        &mut self,
        snapshot: &Snapshot,
        starts: &[u64],
        on_object: impl Fn() -> O + Sync,
        writer: Option<&TailWriter>,
    ) -> Result<Vec<O>, Failure> {
        let batches = starts.chunks(BATCH).map(<[u64]>::to_vec);
        let work = Work::new(batches.map(Batch::References).collect());
        in_threads(
            self.walkers(),
            "hprof walker",
            || Walker::new(snapshot, &work, on_object()).run(),
            || work.end(),
            &mut Watch::new(&mut self.socket, snapshot, writer)?,
        )
    }

    /// Reads the addresses at the handles. Where HotSpot has reported an address, too, both must
    /// agree.
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
        mappings: Mappings,
        facts: &ClassFacts,
        layout: ObjectLayout,
        left_out: Vec<Range<u64>>,
    ) -> Result<Snapshot, Failure> {
        let known = self.known.objects.first();
        let around = known.and_then(|known| mappings.around(known.object.object(memory)));
        let image = self.image.as_ref();
        let heap = image
            .map_or(around, |image| image.range())
            .ok_or(Failure::Unexplained("the heap is mapped"))?;
        let values = self.values(&heap).ok_or(Failure::NoMemory)?;
        let descriptions = Descriptions::of(facts, self.catalogue.tables, &layout, &values);
        Ok(Snapshot {
            memory,
            classes: ClassMap::new(descriptions, &layout, memory),
            layout,
            allocated: self.allocated(memory, &mappings),
            mappings,
            left_out,
            marks: Marks::new(heap).ok_or(Failure::NoMemory)?,
            values,
            reached: AtomicU64::new(0),
            encoded_bytes: AtomicU64::new(0),
            rest: self.share.map_or_else(no_rest, |share| {
                let pace = Pace::of_process(share);
                Rest(Box::new(move || pace.rest()))
            }),
            unlinked: Mutex::default(),
            virtual_thread_class: self.virtual_threads.map(|fields| fields.class),
            virtual_threads: Mutex::default(),
            stack_chunk_class: self.stack_chunks.map(|(class, _)| class),
            stack_chunks: Mutex::default(),
        })
    }

    /// Which values of this heap get into the file; `None` if there is no memory.
    fn values(&self, heap: &Range<u64>) -> Option<Values> {
        match self.order.product {
            Product::Dump => {}
            Product::Graph => return Some(Values::of_graph()),
            Product::Counts => return Some(Values::none()),
        }
        let options = self.order.options;
        let values = Values::redacted(&options.redaction, heap)?;
        Some(values.only(options.primitive_fields, options.primitive_arrays))
    }

    /// The sampled objects that are alive, in address order, each with its allocation trace.
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

    /// Writes the CLASS DUMPs. Adds the objects that classes refer to to `starts`.
    pub(super) fn write_classes(
        &self,
        copy: &HeapCopy,
        segments: &mut Segments<impl Deliver>,
        starts: &mut ClassReferences,
    ) -> Result<(), Failure> {
        let (snapshot, fields) = (&copy.snapshot, &self.mirror_fields);
        let static_fields = self.static_fields_begin(copy);
        let references = MirrorReferences::find(fields, static_fields, snapshot);
        ClassDumps {
            snapshot,
            facts: &copy.facts,
            tables: self.catalogue.tables,
            objects: &self.objects,
            references: &references,
            names: self.mirror_fields.names(),
            resolved: self.vm_structs.resolved,
            static_reference_count: self.vm_structs.static_reference_count,
            static_fields,
        }
        .write(segments, starts)
    }

    /// Offset in a `java.lang.Class` object at which static fields start.
    fn static_fields_begin(&self, copy: &HeapCopy) -> u64 {
        let (snapshot, mut begin) = (&copy.snapshot, None);
        for class in snapshot.classes.classes() {
            let Some(row) = self.catalogue.tables.classes.get(class.id) else {
                continue;
            };
            let fields = row.own_fields().iter().zip(copy.facts.field_ids(class.id));
            let places = fields
                .filter(|(field, _)| field.is_static)
                .filter_map(|(_, id)| {
                    let (layout, memory) = (&snapshot.layout, snapshot.memory);
                    let place = layout.static_place(memory, class.mirror, id.bits())?;
                    place.checked_sub(class.mirror)
                });
            begin = begin.into_iter().chain(places).min();
        }
        begin.unwrap_or(0)
    }
}
