//! The child's part of the file: everything behind the head, which the parent writes.

use super::super::roots::RootNotes;
use super::child::{HeapCopy, Task, Written};
use super::crew::{in_threads, Watch};
use super::encode::{Encoded, Encoder, Parts};
use super::failure::Failure;
use super::large_arrays::LargeArrays;
use super::own_thread::start_own;
use super::process::Watchdog;
use super::snapshot::Snapshot;
use writer::{emit, Segments, TailSender, TailWriter, WriteError};

impl Task<'_, '_> {
    /// Whether the file may be begun before all is marked: not where the walk may find more roots, the frames of virtual threads.
    pub(super) fn begins_early(&self) -> bool {
        !self.virtual_threads.is_some_and(|fields| fields.in_use)
    }

    /// Marks what can be reached, and writes the file, large arrays while the rest is marked.
    pub(super) fn mark_and_write(
        &mut self,
        copy: &HeapCopy,
        roots: &mut RootNotes,
        watchdog: &Watchdog,
    ) -> Result<Written, Failure> {
        let snapshot = &copy.snapshot;
        let mut starts = Vec::new();
        let writer = self.begin_file(copy, roots, &mut starts, watchdog)?;
        self.add_roots(roots, &mut starts);
        let arrays = || LargeArrays::new(snapshot, Segments::new(writer.sender()));
        let arrays = self.walk(snapshot, &starts, arrays, Some(&writer), watchdog)?;
        snapshot.check_linked()?;
        let fields = self.virtual_threads.iter();
        fields
            .copied()
            .try_for_each(|fields| fields.check_no_frames(snapshot))?;
        let early = arrays.into_iter().map(LargeArrays::finish);
        let early = Encoded::sum(early.collect::<Result<Vec<_>, _>>()?);
        let written = self.finish_file(snapshot, writer, watchdog)?;
        Ok(Written {
            encoded: Encoded::sum([early, written.encoded]),
            ..written
        })
    }

    /// Writes the file of a heap that is marked.
    pub(super) fn write(
        &mut self,
        copy: &HeapCopy,
        roots: &mut RootNotes,
        watchdog: &Watchdog,
    ) -> Result<Written, Failure> {
        copy.snapshot.check_linked()?;
        let writer = self.begin_file(copy, roots, &mut Vec::new(), watchdog)?;
        self.finish_file(&copy.snapshot, writer, watchdog)
    }

    /// Writes classes and roots; what classes refer to goes to `starts`.
    fn begin_file(
        &mut self,
        copy: &HeapCopy,
        roots: &mut RootNotes,
        starts: &mut Vec<u64>,
        watchdog: &Watchdog,
    ) -> Result<TailWriter, Failure> {
        let snapshot = &copy.snapshot;
        self.name_threads(roots, snapshot);
        watchdog.feed();
        let threads = self.tell_roots(roots, &copy.mappings, snapshot.memory)?;
        watchdog.feed();
        let tail = self.tail.take().ok_or(Failure::Fault)?;
        let writer = TailWriter::start(tail, self.walkers(), start_own).map_err(not_started)?;
        let mut segments = Segments::new(writer.sender());
        self.write_classes(copy, &mut segments, starts)?;
        let ids: Vec<_> = threads
            .iter()
            .map(|thread| (thread.id, thread.trace))
            .collect();
        let records = roots.records(&ids, |mirror| self.is_bootstrap_class(snapshot, mirror));
        emit::roots(&records, &self.objects, &threads, &mut segments)?;
        segments.finish()?;
        Ok(writer)
    }

    /// Writes what is marked, with all threads, so that it compresses well if it is compressed, and the end.
    fn finish_file(
        &mut self,
        snapshot: &Snapshot,
        writer: TailWriter,
        watchdog: &Watchdog,
    ) -> Result<Written, Failure> {
        let parts = Parts::default();
        let encoded = in_threads(
            self.walkers(),
            "hprof encoder",
            || {
                let segments = Segments::<TailSender>::new(writer.sender());
                Encoder::new(snapshot, segments, writer.is_compressed()).run(&parts)
            },
            || parts.end(),
            &mut Watch::new(&mut self.socket, snapshot, Some(&writer), watchdog),
        )?;
        watchdog.feed();
        let bytes = writer.finish()?;
        let encoded = Encoded::sum(encoded);
        Ok(Written { bytes, encoded })
    }
}

/// Nothing is wrong with the file if the thread that writes it cannot be had.
fn not_started(error: WriteError) -> Failure {
    match error {
        WriteError::NoThread { reason } => Failure::NoThread(reason),
        WriteError::NoMemory { .. } => Failure::NoMemory,
        other => Failure::Write(other),
    }
}
