//! A dump by snapshot, from the application's side: prepare, fork, answer the child, finish the file.

use super::super::allocation_traces::{AllocationTraces, Profiled};
use super::super::catalogue::Catalogue;
use super::super::error::{DumpError, For};
use super::super::memory_left::MemoryLeft;
use super::super::methods::Methods;
use super::super::roots::ThreadNote;
use super::super::threads::{tag_thread, CapturedStacks, Look};
use super::super::tried::Tried;
use super::child::Task;
use super::forker::Forker;
use super::huge_pages::HugePages;
use super::known_objects::KnownObjects;
use super::memory::Mappings;
use super::message::{send_ids, Failed, FromChild, ThreadIds, ThreadNoteMessage};
use super::mirror_fields::MirrorFields;
use super::no_snapshot::{silence, NoSnapshot};
use super::process::{self, Child};
use super::thread_names::NameFields;
use super::virtual_frames::{method_ids, VirtualThreadFields};
use super::vm_structs::VmStructs;
use crate::class_gate::CLASS_GATE;
use crate::ending;
use crate::jvmti::env::{Env, Vm};
use crate::jvmti::heap::Wanted;
use crate::jvmti::jni::Jni;
use crate::jvmti::method::MethodId;
use crate::jvmti::object::Object;
use crate::jvmti::os_maps::os_maps;
use crate::message::say;
use crate::options::Options;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use tables::{ObjectIndex, ObjectTable, Tables};
use writer::{emit, DumpFile};

/// The parent gives a silent child up so much later than the child's own watchdog does.
const GRACE: Duration = Duration::from_secs(5);
/// From the child's last sign of life to the parent that reads it, on a busy machine.
const SLACK: Duration = Duration::from_millis(500);
/// Time between two looks whether the JVM ends.
const LOOK: Duration = Duration::from_millis(250);
/// Time between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(5);

/// What a dump by snapshot is.
#[derive(Debug)]
pub(in super::super) struct SnapshotWritten {
    /// The file.
    pub(in super::super) written: writer::Written,
    /// Objects in it.
    pub(in super::super) objects: u64,
    /// Classes in it.
    pub(in super::super) classes: usize,
    /// Arrays that were cut.
    pub(in super::super) cut_arrays: u64,
    /// How long the application stood still, all tries together.
    pub(in super::super) pause: Duration,
    /// Has nothing to do any more, and takes its time to end: its copy of the heap is unmapped page by page.
    pub(in super::super) child: Child,
}

/// One dump under way, in its own local frame.
#[derive(Debug)]
pub(in super::super) struct SnapshotDump<'f> {
    vm: Vm,
    env: &'f Env,
    jni: &'f Jni<'f>,
    options: &'f Options,
    millis_since_epoch: u64,
    /// What this try and those before have cost and learnt.
    tried: &'f Tried,
    /// The child gets the whole heap, parts without objects included.
    copies_all: bool,
    /// There are such parts, and it did not.
    has_left_out: Cell<bool>,
}

/// What the child has done.
#[derive(Debug)]
struct Done {
    child: Child,
    bytes: u64,
    objects: u64,
    cut_arrays: u64,
}

/// What the parent needs to answer the child.
struct Answers<'d, 'f> {
    dump: &'d SnapshotDump<'f>,
    catalogue: &'d mut Catalogue<'f>,
    tables: &'d Tables,
    objects: ObjectTable,
    stacks: Option<CapturedStacks<'f>>,
    known_methods: HashSet<MethodId>,
    /// Whether an id is the address of this word here, too.
    same_words: RefCell<HashMap<(u64, u64), bool>>,
    /// Bytes of heap in use, dead objects included; `None` if the JVM does not tell.
    used_bytes: Option<u64>,
    /// The record of allocation sites, or nothing.
    site_records: &'d [u8],
    file: &'d DumpFile,
}

/// Whether a fork gets a copy of the heap; if not, why, as a sentence's end. `object` is any object.
///
/// The handle's slot is read as it is: under a collector that colours addresses, what stands there is mapped nowhere.
pub(in super::super) fn look_at_heap(object: &Object<'_>) -> Result<(), String> {
    let why = "the collector maps the heap so that a fork does not copy it";
    let maps = os_maps().map_err(|error| format!("/proc/self/maps: {error}"))?;
    let mappings = Mappings::parse(&maps);
    let slot = object.handle().bits() & !7;
    match process::try_read(slot) {
        Some(address) if address % 8 == 0 && mappings.is_private(address) => Ok(()),
        _ => Err(why.to_owned()),
    }
}

impl<'f> SnapshotDump<'f> {
    /// A dump by an environment without tags.
    pub(in super::super) fn new(
        vm: Vm,
        env: &'f Env,
        jni: &'f Jni<'f>,
        options: &'f Options,
        millis_since_epoch: u64,
        tried: &'f Tried,
        copies_all: bool,
    ) -> Self {
        Self {
            vm,
            env,
            jni,
            options,
            millis_since_epoch,
            tried,
            copies_all,
            has_left_out: Cell::new(false),
        }
    }

    /// Makes the dump. On an error the file is gone.
    pub(in super::super) fn run(
        &self,
        file: DumpFile,
        profiled: Profiled<'_>,
    ) -> Result<SnapshotWritten, NoSnapshot> {
        let (env, jni, tables) = (self.env, self.jni, Tables::new());
        let mut objects = ObjectTable::new();
        let mut catalogue = Catalogue::take(env, jni, &tables, &mut objects)?;
        let known = KnownObjects::take(env, jni, &catalogue, &tables)?;
        let used_bytes = self.used_bytes(&catalogue, &tables);
        self.tried.used_bytes.set(used_bytes);
        let (current, own_thread) = self.begin(&mut objects)?;
        let mirror_fields = MirrorFields::of(&catalogue, &tables);
        let stacks = CapturedStacks::take(self.vm, env, jni, Look::NoFurther, &mut objects)?;
        let mut pinned = stacks.pinned()?;
        let (socket, childs_socket) = UnixStream::pair()
            .map_err(|error| NoSnapshot::Lost(format!("there can be no fork: {error}")))?;
        let virtual_threads = VirtualThreadFields::of(env, &catalogue, &tables)?;
        let mut known_methods = method_ids(env, &catalogue, virtual_threads);
        known_methods.extend(stacks.methods());
        let (allocated, held) = AllocationTraces::take(
            profiled,
            self.options,
            (env, jni),
            &mut catalogue,
            &tables,
            &mut objects,
        )?;
        let tail = Some(file.tail()?);
        // From here to the fork no class is linked: objects of it would be unknown.
        let closed = CLASS_GATE.close();
        catalogue.catch_up(&tables, &mut objects)?;
        pinned.extend(catalogue.pinned());
        pinned.push((own_thread, current.handle()));
        let task = Task {
            catalogue: &catalogue,
            tables: &tables,
            known: &known,
            objects,
            pinned,
            mirror_fields,
            virtual_threads: VirtualThreadFields::again(virtual_threads, env, &catalogue, &tables)?,
            names: NameFields::of(&catalogue, &tables),
            allocated: &allocated.by_handle,
            vm_structs: VmStructs::find(),
            tail,
            copies_all: self.copies_all,
            socket: childs_socket,
            options: self.options,
        };
        let (child, objects) = self.fork(task, own_thread)?;
        drop((closed, known, held));
        let mut answers = Answers {
            dump: self,
            catalogue: &mut catalogue,
            tables: &tables,
            objects,
            known_methods,
            stacks: Some(stacks),
            same_words: RefCell::default(),
            used_bytes,
            site_records: &allocated.records,
            file: &file,
        };
        let done = answers.converse(socket, child);
        let done = done.map_err(|why| linked(why, &catalogue, &tables))?;
        self.finish(file, done, catalogue.len())
    }

    fn finish(
        &self,
        file: DumpFile,
        done: Done,
        classes: usize,
    ) -> Result<SnapshotWritten, NoSnapshot> {
        Ok(SnapshotWritten {
            written: file.finish_with_tail(done.bytes)?,
            objects: done.objects,
            classes,
            cut_arrays: done.cut_arrays,
            pause: self.tried.paused.get(),
            child: done.child,
        })
    }

    /// Tags the thread that dumps, whose object shows where the heap is: of that huge pages are made, if the user wants them.
    /// An error if it is one that a fork does not copy.
    fn begin(&self, objects: &mut ObjectTable) -> Result<(Object<'f>, ObjectIndex), NoSnapshot> {
        let current = self.env.current_thread(self.jni);
        let current = current.when("the current thread")?;
        look_at_heap(&current).map_err(NoSnapshot::Refused)?;
        if let Some(left_bytes) = MemoryLeft::open().too_little() {
            return Err(DumpError::LittleMemory { left_bytes }.into());
        }
        self.make_huge_pages(&current);
        let own_thread = tag_thread(self.env, self.jni, &current, objects)?;
        Ok((current, own_thread))
    }

    /// Makes the pause shorter, if the user wants it so, before the first try: later ones find the pages made.
    fn make_huge_pages(&self, object: &Object<'_>) {
        if !self.options.huge_pages || !self.tried.paused.get().is_zero() {
            return;
        }
        match HugePages::make_around(object) {
            Ok(made) if self.options.verbose => say(&made.to_string()),
            Ok(_) => {}
            Err(why) => say(&format!("hugepages=y does nothing: {why}")),
        }
    }

    fn used_bytes(&self, catalogue: &Catalogue<'_>, tables: &Tables) -> Option<u64> {
        let runtime = catalogue.bootstrap_class(b"Ljava/lang/Runtime;", tables)?;
        self.jni.heap_bytes(runtime).map(|heap| heap.used)
    }

    /// Forks in the first callback of a heap walk; meanwhile the application stands still.
    fn fork(
        &self,
        task: Task<'_, 'f>,
        own_thread: ObjectIndex,
    ) -> Result<(Child, ObjectTable), NoSnapshot> {
        let mut forker = Forker::new(task, own_thread);
        let wanted = Wanted {
            primitive_fields: false,
            primitive_arrays: false,
        };
        let began = Instant::now();
        let answer = self.env.follow_references(&mut forker, wanted);
        self.tried
            .paused
            .set(self.tried.paused.get() + began.elapsed());
        self.has_left_out.set(forker.has_left_out());
        let (forked, objects) = forker.into_parts();
        answer.when("the walk over the heap")?;
        match forked {
            Some(Ok(child)) => Ok((child, objects)),
            Some(Err(error)) => Err(NoSnapshot::Lost(format!("there can be no fork: {error}"))),
            None => Err(NoSnapshot::Refused("the JVM reports no roots".to_owned())),
        }
    }
}

impl Answers<'_, '_> {
    /// Talks with the child until it has nothing more to say.
    fn converse(&mut self, mut socket: UnixStream, mut child: Child) -> Result<Done, NoSnapshot> {
        let limit = Duration::from_secs(u64::from(self.dump.options.timeout_s)) + GRACE;
        // For the rest of a message that has begun.
        let _ = socket.set_read_timeout(Some(limit));
        let mut told = Instant::now();
        let (mut calibrated, mut writing) = (false, false);
        let mut heard = Instant::now();
        loop {
            ending::show_life();
            let waited = heard;
            if let Err(why) = wait_for_word(&socket, &child, heard, limit) {
                child.kill();
                child.reap();
                return Err(NoSnapshot::Failed(DumpError::Child(why)));
            }
            match FromChild::receive(&mut socket) {
                Ok(FromChild::Calibrated) => calibrated = true,
                Ok(FromChild::Roots { addresses, threads }) => {
                    writing = true;
                    let ids = self.take_roots(&addresses, &threads)?;
                    // A child that does not listen any more is told of by the next message, or its absence.
                    let _ = send_ids(&ids, &mut socket);
                }
                Ok(FromChild::Progress {
                    bytes,
                    objects,
                    heap_bytes,
                }) => {
                    if self.dump.options.verbose && told.elapsed() >= PROGRESS {
                        told = Instant::now();
                        say(&progress_line(bytes, objects, heap_bytes, self.used_bytes));
                    }
                }
                Ok(FromChild::Done {
                    bytes,
                    objects,
                    cut_arrays,
                }) => {
                    child.let_end();
                    return Ok(Done {
                        child,
                        bytes,
                        objects,
                        cut_arrays,
                    });
                }
                Ok(FromChild::Failed(failed)) => {
                    child.reap();
                    return Err(self.no_snapshot(failed));
                }
                // The child's watchdog began to count a little before the child was heard here.
                Err(_) if writing && waited.elapsed() + GRACE + SLACK >= limit => {
                    child.kill();
                    child.reap();
                    let seconds = self.dump.options.timeout_s;
                    let why = format!("nothing more could be written for {seconds} s");
                    return Err(NoSnapshot::Failed(DumpError::Child(why)));
                }
                Err(_) => {
                    let left_out = self.dump.has_left_out.get();
                    return Err(silence(&mut child, calibrated, left_out));
                }
            }
            heard = Instant::now();
        }
    }

    fn no_snapshot(&self, failed: Failed) -> NoSnapshot {
        match failed {
            Failed::UnknownClass => NoSnapshot::Again(self.catalogue.len()),
            Failed::Stuck => NoSnapshot::Stuck,
            Failed::Unlinked(classes) => NoSnapshot::Unlinked(classes),
            Failed::Write(why) => NoSnapshot::Failed(DumpError::Child(why)),
            Failed::LittleMemory(left_bytes) => {
                NoSnapshot::Failed(DumpError::LittleMemory { left_bytes })
            }
            Failed::Moving => NoSnapshot::Moving,
            Failed::Refused(why) => NoSnapshot::Refused(why),
            Failed::Lost(why) => NoSnapshot::Lost(why),
            Failed::Damaged(_) if self.dump.has_left_out.get() => NoSnapshot::LeftOut,
            Failed::Damaged(what) => NoSnapshot::Failed(DumpError::Damaged(what)),
        }
    }

    /// Gives every object of the child's its address, writes the head of the file, answers with the threads' numbers.
    fn take_roots(
        &mut self,
        addresses: &[u64],
        threads: &[ThreadNoteMessage],
    ) -> Result<ThreadIds, NoSnapshot> {
        for (position, &address) in addresses.iter().enumerate() {
            let known = ObjectIndex::from_index(position)
                .is_some_and(|index| self.objects.set_address(index, address));
            if !known {
                self.objects.push_at(address).map_err(DumpError::from)?;
            }
        }
        let notes: Vec<ThreadNote> = threads
            .iter()
            .filter_map(|thread| self.note(thread))
            .collect();
        let Some(stacks) = self.stacks.take() else {
            return Err(broken_word());
        };
        let (dump, classes) = (self.dump, self.catalogue.len());
        let mut methods = Methods::new(dump.env, dump.jni, dump.options.line_numbers);
        let rows = stacks.fill(
            &notes,
            dump.options.depth_frames,
            &mut methods,
            self.catalogue,
            self.tables,
            &mut self.objects,
        )?;
        dump.tried.paused.set(dump.tried.paused.get() + rows.pause);
        // A frame of a class that the child does not know.
        if self.catalogue.len() > classes {
            return Err(NoSnapshot::Again(classes));
        }
        emit::head(
            self.tables,
            &self.objects,
            |class| self.objects.id(self.catalogue.mirror(class)?),
            dump.millis_since_epoch,
            &mut |bytes| self.file.head(bytes),
        )?;
        self.file.head(self.site_records.to_vec())?;
        self.file.flush()?;
        let depth = |trace| {
            let row = self.tables.traces.get(trace);
            row.map_or(0, |trace| trace.frames.len())
        };
        let ids = rows.ids.iter().zip(rows.java_frames);
        Ok(ids
            .map(|(&(thread, trace), frames)| (thread, trace, depth(trace), frames))
            .collect())
    }

    fn note(&self, thread: &ThreadNoteMessage) -> Option<ThreadNote> {
        let frames = thread
            .frames
            .iter()
            .filter_map(|&(depth, method, word, location)| {
                Some((depth, (self.method(method, word)?, location)))
            });
        Some(ThreadNote {
            object: ObjectIndex::new(thread.object)?,
            name: thread.name.clone(),
            frames: frames.collect::<BTreeMap<_, _>>(),
        })
    }

    /// A method that the child saw. HotSpot makes an id when it first needs one, so an id may be the child's alone: it is
    /// good if it was known here before, or if here, too, it is the address of the same method.
    fn method(&self, bits: u64, word: u64) -> Option<MethodId> {
        // SAFETY: used only if this process gave the id, or has the same method behind it.
        let method = unsafe { MethodId::from_bits(bits) }?;
        let is_same = || {
            let mut same_words = self.same_words.borrow_mut();
            let look = || word != 0 && process::try_read(bits) == Some(word);
            *same_words.entry((bits, word)).or_insert_with(look)
        };
        (self.known_methods.contains(&method) || is_same()).then_some(method)
    }
}

/// Has the JVM link classes if that was what was wanting, so that the next try knows their fields.
fn linked(why: NoSnapshot, catalogue: &Catalogue<'_>, tables: &Tables) -> NoSnapshot {
    let NoSnapshot::Unlinked(classes) = &why else {
        return why;
    };
    // Without them no other way could describe their instances either.
    match catalogue.link(classes.iter().copied(), tables) {
        Ok(()) => why,
        Err(error) => NoSnapshot::Failed(error),
    }
}

/// What a user reads every few seconds of a long dump.
fn progress_line(bytes: u64, objects: u64, heap_bytes: u64, used_bytes: Option<u64>) -> String {
    let share = match used_bytes {
        Some(used @ 1..) => format!(", {} % of the heap used", heap_bytes * 100 / used),
        _ => String::new(),
    };
    format!(
        "dumping: {} MB written, {} million objects found{share}",
        bytes / 1_000_000,
        objects / 1_000_000
    )
}

fn broken_word() -> NoSnapshot {
    NoSnapshot::Lost("the forked copy sent its messages in the wrong order".to_owned())
}

/// Waits until the child says something, or is gone. An error, and why, if it has been silent for too long: `limit`, or, once the JVM
/// ends, seconds.
fn wait_for_word(
    socket: &UnixStream,
    child: &Child,
    heard: Instant,
    limit: Duration,
) -> Result<(), String> {
    while !process::is_readable(socket, LOOK) {
        let silent = heard.elapsed();
        if silent >= limit {
            return Err(format!(
                "the forked copy was silent for {} s",
                silent.as_secs()
            ));
        }
        if !ending::has_begun() {
            continue;
        }
        if child.is_stopped() {
            return Err("the JVM ends, and the forked copy was stopped by a signal".to_owned());
        }
        if silent >= ending::SILENCE_LIMIT && ending::silent_for() >= ending::SILENCE_LIMIT {
            let seconds = ending::SILENCE_LIMIT.as_secs();
            return Err(format!(
                "the JVM ends, and nothing more was written for {seconds} s"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_a_share_of_the_heap_where_that_is_known() {
        assert_eq!(
            progress_line(1_500_000_000, 7_000_000, 250, Some(1000)),
            "dumping: 1500 MB written, 7 million objects found, 25 % of the heap used"
        );
        assert_eq!(
            progress_line(0, 0, 0, None),
            "dumping: 0 MB written, 0 million objects found"
        );
    }
}
