//! The child's part of the file: everything after the head, which the parent writes.

use super::child::{HeapCopy, Task};
use super::crew::{in_threads, Watch};
use super::message::Written;
use super::own_thread::start_own;
use super::process::Watchdog;
use crate::heap::facts::roots::RootNotes;
use format::{ClassName, CountedClass};
use snapshot::classes::ClassReferences;
use snapshot::encode::{
    ClassCount, ClassCounter, Encoded, Encoder, GraphEncoder, LargeArrays, Parts, SizeFacts,
};
use snapshot::{Failure, Snapshot};
use std::collections::HashSet;
use tables::{ClassId, ObjectId, ObjectIndex, Root};
use writer::{emit, Segments, TailSender, TailWriter, WriteError};

impl<'d, 'f> Task<'d, 'f> {
    /// Whether the file may be begun before all is marked: true for a dump file, unless virtual
    /// threads are in use, whose frames may be more roots, or threads wait until all is marked,
    /// because a disk may be slow. A stream cannot begin anew, and a graph has no large arrays.
    pub(super) fn begins_early(&self) -> bool {
        let is_file = !self.order.has_no_dump() && !self.order.has_reader();
        is_file && !self.is_awaited && !self.virtual_threads.is_some_and(|fields| fields.in_use)
    }

    /// Marks everything reachable and writes the file. Large arrays are written during marking.
    pub(super) fn mark_and_write(
        &mut self,
        copy: &mut HeapCopy,
        roots: &mut RootNotes,
    ) -> Result<Written, Failure> {
        let mut classes = ClassReferences::default();
        let writer = self.begin_file(copy, roots, &mut classes)?;
        let mut starts = classes.objects;
        self.add_roots(roots, &mut starts);
        let mut early = self.mark_and_write_arrays(copy, &starts, &writer)?;
        while let Some(held) = self.take_chunks(copy)? {
            early.extend(self.mark_and_write_arrays(copy, &held, &writer)?);
        }
        let snapshot = &copy.snapshot;
        snapshot.check_linked()?;
        let fields = self.virtual_threads.iter();
        fields
            .copied()
            .try_for_each(|fields| fields.check_no_frames(snapshot))?;
        self.write_late_roots(copy, &writer)?;
        let early = Encoded::sum(early);
        let written = self.finish_file(snapshot, writer)?;
        Ok(Written {
            encoded: Encoded::sum([early, written.encoded]),
            unread_stacks: copy.unread_stacks,
            ..written
        })
    }

    /// Marks everything reachable from `starts`, and writes large arrays meanwhile.
    fn mark_and_write_arrays(
        &mut self,
        copy: &HeapCopy,
        starts: &[u64],
        writer: &TailWriter,
    ) -> Result<Vec<Encoded>, Failure> {
        let snapshot = &copy.snapshot;
        let arrays = || LargeArrays::new(snapshot, Segments::new(writer.sender()));
        let arrays = self.walk(snapshot, starts, arrays, Some(writer))?;
        let encoded = arrays.into_iter().map(LargeArrays::finish);
        encoded.collect()
    }

    /// Writes roots for what continuations hold that belong to no virtual thread.
    fn write_late_roots(&mut self, copy: &HeapCopy, writer: &TailWriter) -> Result<(), Failure> {
        let mut roots = Vec::new();
        for &(_, object) in &copy.held_in_chunks {
            let object = self
                .objects
                .push_at(object)
                .map_err(|_| Failure::NoMemory)?;
            let reference = 0;
            roots.push(Root::JniGlobal { object, reference });
        }
        let mut segments = Segments::new(writer.sender());
        emit::roots(&roots, &self.objects, &[], &mut segments)?;
        segments.finish()?;
        Ok(())
    }

    /// Writes the file for a heap that is already marked.
    pub(super) fn write(
        &mut self,
        copy: &HeapCopy,
        roots: &mut RootNotes,
    ) -> Result<Written, Failure> {
        copy.snapshot.check_linked()?;
        let written = if self.tail.is_none() {
            self.count(&copy.snapshot)?
        } else {
            let mut classes = ClassReferences::default();
            let writer = self.begin_file(copy, roots, &mut classes)?;
            self.finish_file(&copy.snapshot, writer)?
        };
        Ok(Written {
            unread_stacks: copy.unread_stacks,
            ..written
        })
    }

    /// Counts the marked objects of each class, on all threads.
    fn count(&mut self, snapshot: &Snapshot) -> Result<Written, Failure> {
        let sizes = self.size_facts();
        let parts = Parts::default();
        let counted = in_threads(
            self.walkers(),
            "hprof counter",
            || ClassCounter::new(snapshot, sizes).run(&parts),
            || parts.end(),
            &mut Watch::new(&mut self.socket, snapshot, None)?,
        )?;
        let counts = (0..).zip(ClassCount::sum(counted));
        let classes = counts.filter(|(_, count)| count.instances > 0);
        let classes: Vec<_> = classes
            .filter_map(|(index, count)| self.counted(ClassId::from_index(index)?, count))
            .collect();
        Ok(Written {
            encoded: Encoded {
                objects: classes.iter().map(|class| class.instances).sum(),
                ..Encoded::default()
            },
            counts: CountedClass::encode(&classes),
            ..Written::default()
        })
    }

    fn counted(&self, class: ClassId, count: ClassCount) -> Option<CountedClass> {
        let row = self.catalogue.tables.classes.get(class)?;
        let name = self.catalogue.tables.strings.get(row.name)?;
        let loader = row
            .loader
            .and_then(|id| self.catalogue.tables.loaders.get(id));
        let loader = loader.and_then(|object| self.objects.id(*object));
        Some(CountedClass {
            class: ClassName::from_dump(&name).to_java(),
            loader: loader.map_or(0, ObjectId::get),
            instances: count.instances,
            bytes: count.bytes,
        })
    }

    /// Facts about sizes that the snapshot does not hold.
    fn size_facts(&self) -> SizeFacts {
        SizeFacts {
            alignment_bytes: self.sizes.alignment_bytes,
            places: self.vm_structs.size_places,
        }
    }

    /// Writes classes and roots. Adds the objects that classes refer to to `classes`.
    fn begin_file(
        &mut self,
        copy: &HeapCopy,
        roots: &mut RootNotes,
        classes: &mut ClassReferences,
    ) -> Result<TailWriter, Failure> {
        let snapshot = &copy.snapshot;
        self.name_threads(roots, snapshot);
        Watchdog::feed();
        let threads = self.tell_roots(roots, copy)?;
        Watchdog::feed();
        let tail = self.tail.take().ok_or(Failure::Fault)?;
        let writer = TailWriter::start(tail, self.walkers(), start_own).map_err(not_started)?;
        let mut segments = Segments::new(writer.sender());
        self.write_classes(copy, &mut segments, classes)?;
        let ids: Vec<_> = threads
            .iter()
            .map(|thread| (thread.id, thread.trace))
            .collect();
        let is_class = |mirror| {
            let id = self.objects.id(mirror);
            let class = id.and_then(|id| snapshot.classes.class_of_mirror(id.get()));
            class.is_some()
        };
        let records = roots.records(&ids, is_class, self.is_held(roots, classes));
        emit::roots(&records, &self.objects, &threads, &mut segments)?;
        segments.finish()?;
        Ok(writer)
    }

    /// Tells which objects are held by classes that are never unloaded.
    fn is_held(
        &self,
        roots: &RootNotes,
        classes: &ClassReferences,
    ) -> impl Fn(ObjectIndex) -> bool + use<'_, 'd, 'f> {
        let system = roots.system_classes().into_iter();
        let system = system.filter_map(|mirror| self.objects.id(mirror));
        let system: HashSet<u64> = system.map(ObjectId::get).collect();
        let held = classes.of(|mirror| system.contains(&mirror));
        move |object| {
            let id = self.objects.id(object);
            id.is_some_and(|id| held.contains(&id.get()))
        }
    }

    /// Writes the marked objects, on all threads and grouped by class if the file is compressed,
    /// and the end of the file.
    fn finish_file(&mut self, snapshot: &Snapshot, writer: TailWriter) -> Result<Written, Failure> {
        let parts = Parts::default();
        let sizes = self.order.has_no_dump().then(|| self.size_facts());
        let encoded = in_threads(
            self.walkers(),
            "hprof encoder",
            || {
                let segments = Segments::<TailSender>::new(writer.sender());
                match sizes {
                    Some(sizes) => GraphEncoder::new(snapshot, sizes, segments).run(&parts),
                    None => Encoder::new(snapshot, segments, writer.is_compressed()).run(&parts),
                }
            },
            || parts.end(),
            &mut Watch::new(&mut self.socket, snapshot, Some(&writer))?,
        )?;
        Watchdog::feed();
        // Bytes still on their way may take a slow reader longer than the watchdog waits.
        in_threads(
            1,
            "hprof flusher",
            || writer.flush().map_err(Failure::Write),
            || (),
            &mut Watch::new(&mut self.socket, snapshot, Some(&writer))?,
        )?;
        Watchdog::feed();
        let bytes = writer.finish()?;
        let encoded = Encoded::sum(encoded);
        Ok(Written {
            bytes,
            encoded,
            ..Written::default()
        })
    }
}

/// The file is not to blame if its writer thread cannot be started.
fn not_started(error: WriteError) -> Failure {
    match error {
        WriteError::NoThread { reason } => Failure::NoThread(reason),
        WriteError::NoMemory { .. } => Failure::NoMemory,
        other => Failure::Write(other),
    }
}
