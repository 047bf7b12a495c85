//! A dump by snapshot, as the parent makes it: prepare, fork, answer the child, finish the file.

use super::attempt::Attempt;
use super::child::Task;
use super::compiled_frames;
use super::conversation::{broken_word, Conversation};
use super::forker::{Forker, WithoutBarrier};
use super::image::{AnyImage, HeapImage};
use super::known_objects::KnownObjects;
use super::message::Written;
use super::pace::Share;
use super::process::Child;
use super::rounds::{no_image, MOST_STOP_BYTES};
use super::rounds_image::RoundsImage;
use super::shared_image::SharedImage;
use super::shared_rounds::SharedRounds;
use super::stillness::{await_still, catch_up, is_moving_for_long};
use super::virtual_thread_fields::{
    method_ids, stack_chunk_class, the_same_fields, virtual_thread_fields,
};
use crate::class_gate::CLASS_GATE;
use crate::copied;
use crate::heap::cause;
use crate::heap::error::{Again, Context, DumpError};
use crate::heap::facts::allocation_traces::{AllocationTraces, Profiled};
use crate::heap::facts::catalogue::Catalogue;
use crate::heap::facts::plain_facts::{field_offset, mirror_fields};
use crate::heap::facts::threads::CapturedStacks;
use crate::heap::left::memory_left;
use crate::heap::outcome::{missing, Outcome};
use crate::heap::stop_bound::StopBound;
use crate::heap::tried::OOP_MAP;
use crate::message::say;
use format::redaction::Redaction;
use format::CountedClass;
use headroom::page_table_bytes;
use hotspot::escape_barrier::{Barrier, FIRST_WITH_BARRIER};
use hotspot::{
    stopped_by, JavaFrames, MemoryAreas, SharedHeap, StandingStacks, ThreadHandles, Uncopied,
    Variables, VmStructs,
};
use jvm::heap::Reports;
use jvm::java_version::java_version;
use jvm::object::{Handle, Object};
use jvm::os::descriptor::in_reserve;
use jvm::os::others_time::OthersTime;
use options::Product;
use rustc_hash::FxHashMap;
use snapshot::classes::NameFields;
use std::cell::RefCell;
use std::os::unix::net::UnixStream;
use std::time::Instant;
use tables::{ObjectIndex, ObjectTable, Tables};
use writer::DumpFile;

/// The stacks of all threads, as JVMTI reports them and as the child reads them.
type Stacks<'f> = (
    CapturedStacks<'f>,
    Option<Box<StandingStacks>>,
    Option<WithoutBarrier>,
);

/// What was made of a copy of the heap, with the number of classes.
type Copied = (Child, Written, usize, Tables);

/// Why there will never be a copy of the heap, as the end of a sentence; `None` if there may be.
/// `object` is any object.
///
/// Reads the handle's slot without interpreting it: with a collector that uses coloured pointers,
/// the slot's value is not a mapped address.
pub(in crate::heap) fn never_copied(object: &Object<'_>) -> Option<String> {
    match SharedHeap::of(object) {
        Err(Uncopied::Never(why)) => Some(why),
        Ok(_) | Err(Uncopied::Unknown(_)) => None,
    }
}

impl<'f> Attempt<'f> {
    /// Makes the dump. On an error it deletes the file.
    pub(in crate::heap) fn run(
        &self,
        file: DumpFile,
        profiled: Profiled<'_>,
    ) -> Result<(Outcome, Child), DumpError> {
        let has_tail = self.order.product != Product::Counts;
        let copied = self.copy(has_tail.then_some(&file), profiled)?;
        if let Some(missing) = self.tried.no_oop_maps.get() {
            say(&format!(
                "{missing} of this JVM's compiled code cannot be read, so HotSpot searches for replaced objects"
            ));
        }
        if let Some(long_barrier) = self.tried.long_barrier.get() {
            say(&long_barrier.to_string());
        }
        self.finish(file, copied)
    }

    /// Counts the objects of each class, and writes nothing.
    pub(in crate::heap) fn count(&self) -> Result<(Vec<CountedClass>, Child), DumpError> {
        let (child, done, ..) = self.copy(None, Profiled::default())?;
        let counted = CountedClass::decode(&done.counts).ok_or_else(broken_word)?;
        Ok((counted, child))
    }

    /// Lets a copy of the process make the product, which goes to this file but for counts.
    fn copy(&self, file: Option<&DumpFile>, profiled: Profiled<'_>) -> Result<Copied, DumpError> {
        let others = OthersTime::begin();
        let tables = Tables::default();
        let cause = cause::tell(self.order.because, &tables);
        let mut catalogue = Catalogue::take(self.env, self.jni, &tables)?;
        let known = KnownObjects::take(&catalogue)?;
        let (current, own_thread) = self.begin(&catalogue)?;
        let share = Share::of(self.order, others);
        let mut image = self.image(&current, others, share)?;
        let (stacks, standing_stacks, without_barrier) = self.stacks(&catalogue)?;
        let (socket, childs_socket) = in_reserve(UnixStream::pair).map_err(not_forked)?;
        let virtual_threads = virtual_thread_fields(&catalogue)?;
        let known_methods = &method_ids(&catalogue, virtual_threads) | &stacks.methods();
        let options = self.order.options;
        let (allocated, held) = AllocationTraces::take(profiled, options, &mut catalogue)?;
        // No class is linked from here to the fork: its objects would be unknown.
        await_still(&mut image)?;
        let closed = CLASS_GATE.close();
        let pinned = self.catch_up(&mut catalogue, &stacks, (own_thread, &current))?;
        let task = Task {
            image,
            catalogue: &catalogue,
            known: &known,
            objects: catalogue.objects.take(),
            by_address: FxHashMap::default(),
            pinned,
            mirror_fields: mirror_fields(&catalogue),
            virtual_threads: the_same_fields(virtual_threads, &catalogue)?,
            stack_chunks: stack_chunk_class(&catalogue),
            stacks: standing_stacks,
            frames: self.java_frames(),
            handles: ThreadHandles::find().filter(|_| !compiled_frames::are_given_up()),
            names: NameFields::of(|class, name| field_offset(&catalogue, class, name)),
            allocated: &allocated.by_handle,
            vm_structs: VmStructs::find(),
            memory_areas: (self.order.product == Product::Graph).then(MemoryAreas::find),
            sizes: self.sizes.unwrap_or_default(),
            tail: file.map(|file| in_reserve(|| file.tail())).transpose()?,
            copies_all: self.copies_all,
            share,
            is_awaited: copied::is_awaited(),
            socket: childs_socket,
            order: self.order,
        };
        let invented = task.mirror_fields.invented().into_iter().chain(cause);
        let (forked, image) = self.fork(task, own_thread, without_barrier);
        // The image last: its end takes time, and threads wait at the gate.
        drop((closed, known, held, self.keep(image, forked.is_err())));
        let (child, objects) = forked?;
        catalogue.objects.replace(objects);
        let mut conversation = Conversation {
            attempt: self,
            catalogue: &mut catalogue,
            known_methods,
            stacks: Some(stacks),
            same_words: RefCell::default(),
            site_records: &allocated.records,
            file,
            kept_texts: invented.collect(),
        };
        let done = conversation.converse(socket, child);
        let (child, done) = done.map_err(|why| linked(why, &catalogue))?;
        Ok((child, done, catalogue.len(), tables))
    }

    /// Keeps the image for another attempt, if this one has failed. Returns one that is of no use.
    fn keep(&self, image: Option<AnyImage>, has_failed: bool) -> Option<AnyImage> {
        let outlasts = image.as_ref().is_some_and(|it| it.outlasts_attempt());
        let (kept, rest) = match has_failed && outlasts {
            true => (image, None),
            false => (None, image),
        };
        self.kept_image.replace(kept);
        rest
    }

    /// Adds the classes that were loaded meanwhile. Returns what is pinned with all handles of
    /// classes.
    fn catch_up(
        &self,
        catalogue: &mut Catalogue<'_>,
        stacks: &CapturedStacks<'_>,
        (own_thread, current): (ObjectIndex, &Object<'_>),
    ) -> Result<Vec<(ObjectIndex, Handle)>, DumpError> {
        let mut pinned = stacks.pinned()?;
        catalogue.catch_up()?;
        self.tried.classes.set(catalogue.len());
        pinned.extend(catalogue.pinned());
        pinned.push((own_thread, current.handle()));
        Ok(pinned)
    }

    /// The stacks of all threads, how the child reads them, and what it needs if HotSpot's walk
    /// does without the barrier.
    fn stacks(&self, catalogue: &Catalogue<'_>) -> Result<Stacks<'f>, DumpError> {
        let standing_stacks = self.standing_stacks();
        let barrier = match (standing_stacks.is_some(), self.tried.needs_barrier.get()) {
            (_, true) => Barrier::Always,
            (true, false) => Barrier::Never,
            (false, false) => Barrier::IfShort,
        };
        let max_pause = self.order.max_pause();
        let stacks = CapturedStacks::take(self.env, self.jni, catalogue, max_pause, barrier)?;
        self.tried.long_barrier.set(stacks.long_barrier);
        let reads_stacks = barrier == Barrier::Never;
        if !reads_stacks && stacks.long_barrier.is_none() {
            return Ok((stacks, standing_stacks, None));
        }
        let without_barrier = WithoutBarrier {
            variables: Variables::of_libjvm().ok_or_else(|| self.lost_filter())?,
            reads_stacks,
        };
        Ok((stacks, standing_stacks, Some(without_barrier)))
    }

    /// How the copy finds what replaced objects refer to; `None` if it cannot, or if HotSpot has no
    /// barrier for this.
    fn standing_stacks(&self) -> Option<Box<StandingStacks>> {
        let java = java_version(self.env);
        let is_known = cfg!(target_arch = "x86_64") && java >= FIRST_WITH_BARRIER;
        if !is_known || self.tried.no_oop_maps.get().is_some() {
            return None;
        }
        let found = match compiled_frames::are_given_up() {
            true => Err(OOP_MAP),
            false => StandingStacks::find(java).map(Box::new),
        };
        found
            .inspect_err(|missing| self.tried.no_oop_maps.set(Some(missing)))
            .ok()
    }

    /// How the copy reads the frames of all threads; `None` if it does not, or cannot.
    fn java_frames(&self) -> Option<JavaFrames> {
        let is_known = cfg!(target_arch = "x86_64") && !compiled_frames::are_given_up();
        is_known.then(|| JavaFrames::find(java_version(self.env)))?
    }

    fn finish(&self, file: DumpFile, copied: Copied) -> Result<(Outcome, Child), DumpError> {
        let (child, done, classes, tables) = copied;
        let written = match self.order.product {
            Product::Counts => {
                file.head(done.counts)?;
                file.finish()
            }
            _ => file.finish_with_tail(done.bytes),
        }?;
        let redaction = &self.order.options.redaction;
        tell_of_patterns(redaction, &tables);
        let redacted = match redaction.is_nothing() {
            true => String::new(),
            false => format!(", redacted: {}", redaction.name()),
        };
        let outcome = Outcome {
            engine: format!("snapshot{}{redacted}", self.tried.copied_by.take()),
            path: written.path,
            bytes: written.bytes,
            counts: Some((done.encoded.objects, classes)),
            lacks: missing(done.encoded.cut_arrays, done.unread_stacks),
            pause: self.tried.paused.get(),
        };
        Ok((outcome, child))
    }

    /// Tags the thread that makes the dump. Its object shows where the heap is.
    fn begin(&self, catalogue: &Catalogue<'_>) -> Result<(Object<'f>, ObjectIndex), DumpError> {
        self.note_used_bytes(catalogue);
        let current = self.env.current_thread(self.jni);
        let current = current.context("the current thread")?;
        let needed_bytes = in_reserve(page_table_bytes).map_err(not_forked)?;
        if let Some(left_bytes) = memory_left()?.too_little_for(needed_bytes) {
            return Err(DumpError::LittleMemory { left_bytes });
        }
        let own_thread = catalogue.tagged(&current, "the tag of a thread")?;
        Ok((current, own_thread))
    }

    /// The image of the heap of this object; `None` if the fork shall copy it.
    fn image(
        &self,
        object: &Object<'_>,
        others: OthersTime,
        share: Option<Share>,
    ) -> Result<Option<AnyImage>, DumpError> {
        if let Some(kept) = self.kept_image.take().filter(|_| !self.copies_all) {
            return Ok(Some(kept));
        }
        // Who waits, waits for the copy. A later attempt would copy all once more.
        let is_later = self.copies_all || self.tried.had_image.replace(true);
        let has_rounds = !is_later && !copied::is_awaited();
        if let Some(heap) = SharedHeap::of(object)? {
            let rounds = has_rounds.then(|| SharedRounds::prepare(heap.clone(), self.order, share));
            if let Some(rounds) = rounds.flatten() {
                return Ok(Some(Box::new(rounds)));
            }
            return Ok(Some(Box::new(SharedImage::prepare(heap)?)));
        }
        let prepare = || RoundsImage::prepare(object, self.order, others.processors(), share);
        let image = has_rounds.then(prepare).flatten();
        Ok(image.map(|image| Box::new(image) as AnyImage))
    }

    /// Asks the JVM how much heap is in use.
    fn note_used_bytes(&self, catalogue: &Catalogue<'_>) {
        let runtime = catalogue.bootstrap_class(b"Ljava/lang/Runtime;");
        let heap = runtime.and_then(|runtime| self.jni.heap_bytes(runtime));
        self.tried.used_bytes.set(heap.map(|heap| heap.used));
    }

    /// The walk cannot do without the barrier, so the next attempt does not try it.
    fn lost_filter(&self) -> DumpError {
        self.tried.needs_barrier.set(true);
        Again::LostFilter.into()
    }

    /// Until when the fork may begin, with this image. An error if there shall be no fork.
    fn until(&self, image: Option<&dyn HeapImage>) -> Result<Option<Instant>, DumpError> {
        let until = StopBound(self.order.max_pause()).fork_until(
            self.tried.paused.get(),
            image.map_or(0, HeapImage::stop_bytes),
            image.map_or(0, HeapImage::unforked_bytes),
            image.map_or(0, HeapImage::scanned_bytes),
        )?;
        if image.is_some_and(HeapImage::is_lost) {
            return Err(Again::Grown.into());
        }
        match is_moving_for_long(image)? {
            true => Err(Again::Moving.into()),
            false => Ok(until),
        }
    }

    /// Forks in the first callback of a heap walk. The application is paused meanwhile. With
    /// `without_barrier`, the walk has none. Returns the image in any case.
    fn fork(
        &self,
        mut task: Task<'_, 'f>,
        own_thread: ObjectIndex,
        without_barrier: Option<WithoutBarrier>,
    ) -> (Result<(Child, ObjectTable), DumpError>, Option<AnyImage>) {
        catch_up(&mut task.image, MOST_STOP_BYTES);
        let until = match self.until(task.image.as_deref()) {
            Ok(until) => until,
            Err(error) => return (Err(error), task.image),
        };
        let mut forker = Forker::new(task, own_thread, until, without_barrier);
        let (began, reports) = (Instant::now(), forker.reports());
        let has_barrier = reports == Reports::All && java_version(self.env) >= FIRST_WITH_BARRIER;
        let (answer, stopped) = stopped_by(self.env, self.jni, || {
            self.env.follow_references(&mut forker, reports)
        });
        // The barrier stops all threads without a safepoint.
        let pause = if has_barrier {
            began.elapsed()
        } else {
            stopped
        };
        self.tried.paused.set(self.tried.paused.get() + pause);
        self.tried.has_left_out.set(forker.has_left_out());
        let image = forker.image().and_then(HeapImage::summary);
        let copied_by = image.map_or_else(String::new, |image| format!(" of {image}"));
        self.tried.copied_by.replace(copied_by);
        if let Some(why) = forker.image().and_then(HeapImage::failure) {
            no_image(why);
        }
        let was_long = until.is_some_and(|until| began + pause > until);
        let failed = answer
            .context("the walk over the heap")
            .err()
            .or_else(|| self.failure(&mut forker, was_long));
        let (forked, objects, image) = forker.into_parts();
        let forked = match (failed, forked) {
            (Some(error), _) => Err(error),
            (None, Some(Ok(child))) => Ok((child, objects)),
            (None, Some(Err(error))) => Err(not_forked(error)),
            (None, None) => Err(DumpError::Engine("the JVM reports no roots".to_owned())),
        };
        (forked, image)
    }

    /// Why the walk is of no use, with a child or without one.
    /// `was_long` tells whether the walk took too long, and did not wait.
    fn failure(&self, forker: &mut Forker<'_, '_>, was_long: bool) -> Option<DumpError> {
        match (forker.is_late(), self.order.max_pause()) {
            (true, Some(limit)) if was_long => Some(DumpError::LongWalk {
                paused: self.tried.paused.get(),
                limit,
            }),
            (true, _) => Some(Again::Waited.into()),
            _ => match forker.take_not_copied() {
                Some(again) => Some(again.into()),
                None => forker.has_lost_filter().then(|| self.lost_filter()),
            },
        }
    }
}

#[allow(clippy::needless_pass_by_value)] // For `map_err`.
fn not_forked(error: std::io::Error) -> DumpError {
    DumpError::NoCopy(format!("there can be no fork: {error}"))
}

/// Tells of `keep=` and `drop=` for fields that no loaded class has: they may be misspelt.
fn tell_of_patterns(redaction: &Redaction, tables: &Tables) {
    for (option, patterns) in [("keep", &redaction.keep), ("drop", &redaction.drop)] {
        if patterns.is_empty() {
            continue;
        }
        let text = |id| tables.strings.get(id).unwrap_or_default();
        let mut names = Vec::new();
        tables.classes.for_each(|_, row| {
            let class = text(row.name);
            names.extend(
                row.own_fields()
                    .iter()
                    .map(|field| (class.clone(), text(field.name))),
            );
        });
        for pattern in patterns.unmatched(names.iter().map(|(class, field)| (&**class, &**field))) {
            say(&format!(
                "{option}={pattern}: no loaded class has this field"
            ));
        }
    }
}

/// If the attempt failed because classes were not linked, links them so that the next attempt can
/// read their fields.
fn linked(why: DumpError, catalogue: &Catalogue<'_>) -> DumpError {
    let DumpError::Again(Again::Unlinked(classes)) = &why else {
        return why;
    };
    // If linking fails, no other engine can describe their instances either.
    match catalogue.link(classes.iter().copied()) {
        Ok(()) => why,
        Err(error) => error,
    }
}
