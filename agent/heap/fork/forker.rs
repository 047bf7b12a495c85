//! The forker: forks at the first callback of a heap walk, so that the child starts where HotSpot
//! reports the roots.

use super::child::{HeapCopy, Task};
use super::childs_memory::use_own_memory;
use super::image::{AnyImage, HeapImage};
use super::message::{FromChild, Written};
use super::not_copied::NotCopied;
use super::pace::Pace;
use super::process::{self, Child, Side, Watchdog};
use super::silence::Silence;
use crate::heap::error::Again;
use crate::heap::facts::kept_objects::AGENTS_TAG;
use crate::heap::facts::roots::{RootNotes, SystemRoots};
use headroom::MemoryLeft;
use hotspot::{TagWords, Variables, WalkFilter};
use jvm::heap::{Reference, Reports, TagCell, Target, Visit, Visitor};
use jvm::os::fork_handlers::{ForkBy, ForkHandlers};
use jvm::os::seccomp;
use rustc_hash::FxHashMap;
use snapshot::walk::VirtualFrames;
use snapshot::Failure;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Instant;
use tables::{ObjectIndex, ObjectTable};

/// Callbacks between two signs of life: about 50 ms.
const CALLBACKS_BETWEEN_SIGNS: u64 = 1 << 20;

/// The child's progress.
#[derive(Debug)]
enum Stage {
    /// HotSpot reports the roots.
    Roots,
    /// The heap is marked, and HotSpot's walk continues to the frames of virtual threads.
    VirtualFrames(Box<HeapCopy>, VirtualFrames),
}

/// What the child needs if the walk omits the barrier.
#[derive(Debug)]
pub(super) struct WithoutBarrier {
    /// Where the walk's filter is.
    pub(super) variables: Variables,
    /// Whether the child reads what compiled frames hold; otherwise the dump lacks what only
    /// replaced objects refer to.
    pub(super) reads_stacks: bool,
}

/// How the child gets to know the roots without a tag.
#[derive(Debug)]
enum Untagged {
    /// The walk reports them.
    Reported,
    /// The walk reports only tagged objects until the child finds its filter and clears it.
    Filtered(WithoutBarrier),
    /// The filter was not found, so there was no fork.
    Lost,
}

/// The walk's callbacks. The first one forks; the later ones run only in the child, note roots, and
/// take over.
#[derive(Debug)]
pub(super) struct Forker<'d, 'f> {
    task: Task<'d, 'f>,
    stage: Stage,
    handlers: ForkHandlers,
    roots: RootNotes,
    /// Objects that had a row before, with the addresses that HotSpot reports.
    seen: Vec<(ObjectIndex, u64)>,
    /// Whether this is the forked copy.
    is_child: bool,
    /// Used in the child's second stage: when HotSpot stops calling back, another thread finishes
    /// the work.
    silence: Arc<Silence>,
    untagged: Untagged,
    /// Address of the callbacks that the JVM has.
    callbacks: u64,
    /// Parts of the heap that the child does not have.
    left_out: Vec<Range<u64>>,
    /// Why there was no fork: the heap could not be copied.
    not_copied: Option<Again>,
    /// When the fork would come too late.
    until: Option<Instant>,
    /// Whether it would have.
    is_late: bool,
    /// Only in the parent.
    forked: Option<io::Result<Child>>,
}

impl<'d, 'f> Forker<'d, 'f> {
    /// Ready to fork until that moment; `own_thread` is the thread that makes the dump. With
    /// `without_barrier`, the walk need only report tagged objects.
    pub(super) fn new(
        task: Task<'d, 'f>,
        own_thread: ObjectIndex,
        until: Option<Instant>,
        without_barrier: Option<WithoutBarrier>,
    ) -> Self {
        let system = SystemRoots::of(task.catalogue);
        // That takes too long for the pause.
        seccomp::ask();
        Self {
            task,
            stage: Stage::Roots,
            handlers: ForkHandlers::look(),
            roots: RootNotes::new(Some(own_thread), system),
            seen: Vec::new(),
            is_child: false,
            silence: Arc::default(),
            untagged: without_barrier.map_or(Untagged::Reported, Untagged::Filtered),
            callbacks: 0,
            left_out: Vec::new(),
            not_copied: None,
            until,
            is_late: false,
            forked: None,
        }
    }

    /// The child, or why there is none (`None` if HotSpot never called back), and the task's object
    /// table and image.
    pub(super) fn into_parts(self) -> (Option<io::Result<Child>>, ObjectTable, Option<AnyImage>) {
        (self.forked, self.task.objects, self.task.image)
    }

    /// Whether the child lacks parts of the heap, or may: an image has what the collector lists.
    pub(super) fn has_left_out(&self) -> bool {
        !self.left_out.is_empty() || self.image().is_some()
    }

    /// The image of the heap; `None` if the fork copies it.
    pub(super) fn image(&self) -> Option<&dyn HeapImage> {
        self.task.image.as_deref()
    }

    /// Why the heap could not be copied; `None` if it was.
    pub(super) fn take_not_copied(&mut self) -> Option<Again> {
        self.not_copied.take()
    }

    /// Whether HotSpot's first callback came too late to fork.
    pub(super) fn is_late(&self) -> bool {
        self.is_late
    }

    /// The kinds of references that the walk must report.
    pub(super) fn reports(&self) -> Reports {
        match self.untagged {
            Untagged::Filtered(_) => Reports::Tagged,
            Untagged::Reported | Untagged::Lost => Reports::All,
        }
    }

    /// Whether there was no fork because the child would not have learnt of roots without a tag.
    pub(super) fn has_lost_filter(&self) -> bool {
        matches!(self.untagged, Untagged::Lost)
    }

    /// The walk's filter, which the child clears; `Some(None)` if the walk has none, `None` if it
    /// is lost.
    ///
    /// HotSpot reports threads first, in the order in which they started, each followed by its
    /// stack. All old threads are tagged, so if this is a thread, no root was left out before.
    fn filter(&self, first: Reference) -> Option<Option<WalkFilter>> {
        match &self.untagged {
            Untagged::Reported => Some(None),
            Untagged::Filtered(without) if first == Reference::Thread => {
                without.variables.filter_of(self.callbacks).map(Some)
            }
            Untagged::Filtered(_) | Untagged::Lost => None,
        }
    }

    /// Forks, at the first reference. In the parent the walk ends at once.
    fn fork(&mut self, first: Reference) -> Visit {
        let Some(filter) = self.filter(first) else {
            self.untagged = Untagged::Lost;
            return Visit::Abort;
        };
        self.is_late = self.until.is_some_and(|until| Instant::now() > until);
        if self.is_late {
            return Visit::Abort;
        }
        self.left_out = self.task.unused_heap();
        let not_copied = match self.copy_heap() {
            Ok(not_copied) => not_copied,
            Err(again) => {
                self.not_copied = Some(again);
                return Visit::Abort;
            }
        };
        let by = self.handlers.fork_by();
        let side = NotCopied::new(not_copied).and_then(|_not_copied| process::fork(by));
        match side {
            Ok(Side::Child) => self.begin_child(by, filter),
            Ok(Side::Parent(child)) => {
                self.not_copied = self.image().and_then(|image| image.after_fork().err());
                self.forked = Some(Ok(child));
                Visit::Abort
            }
            Err(error) => {
                self.forked = Some(Err(error));
                Visit::Abort
            }
        }
    }

    /// Copies the heap, if there is to be an image. Returns the memory that the fork need not copy.
    fn copy_heap(&mut self) -> Result<Vec<Range<u64>>, Again> {
        match &mut self.task.image {
            Some(image) => image.copy(&self.left_out),
            None => Ok(self.left_out.clone()),
        }
    }

    /// In the child: makes it harmless, and lets HotSpot's walk go on.
    fn begin_child(&mut self, by: ForkBy, filter: Option<WalkFilter>) -> Visit {
        if let Some(filter) = filter {
            // SAFETY: this is the forked copy, which has only this thread, inside the walk.
            unsafe { filter.clear() };
        }
        Watchdog::start(self.task.order.options.timeout_s);
        self.is_child = true;
        if by == ForkBy::NoHandlers && !use_own_memory() {
            process::exit(process::PANICKED);
        }
        process::free_a_place();
        process::be_killed_first();
        let pace = self.task.share.map(Pace::of_process);
        let live = || {
            Watchdog::feed();
            pace.iter().for_each(Pace::rest);
        };
        let image = self.task.image.as_mut();
        let taken = image.map_or(Ok(true), |image| image.take_place(&live));
        let is_same = match taken {
            Ok(is_same) => is_same,
            Err(error) => {
                let left = MemoryLeft::open().ok();
                self.end(Err(match left.and_then(|left| left.too_little()) {
                    Some(left_bytes) => Failure::LittleMemory { left_bytes },
                    None => error.into(),
                }));
            }
        };
        let mut keep = vec![self.task.socket.as_raw_fd()];
        keep.extend(self.task.tail.as_ref().map(AsRawFd::as_raw_fd));
        // A panic must not unwind into HotSpot.
        let settled = catch_unwind(AssertUnwindSafe(|| {
            process::settle(&keep);
            self.listen()
        }));
        match settled {
            Ok(Ok(())) if !is_same => {
                self.end(Err(Failure::Unexplained("the image equals the heap")));
            }
            Ok(Ok(())) => {
                // From here on another thread notices if HotSpot waits for a lock.
                Watchdog::feed();
                Visit::On
            }
            Ok(Err(error)) => self.end(Err(Failure::NoThread(error.to_string()))),
            Err(_) => process::exit(process::PANICKED),
        }
    }

    /// In the child: notes a root, or takes over.
    fn in_child(
        &mut self,
        kind: Reference,
        target: Target,
        object: &TagCell,
        referrer: Option<&TagCell>,
    ) -> Result<(), Failure> {
        match (&mut self.stage, referrer) {
            (Stage::Roots, Some(_)) => self.take_over(),
            (Stage::VirtualFrames(_, frames), Some(referrer)) => {
                frames.come_to(if referrer.is_same(object) {
                    object.owner_address()
                } else {
                    referrer.referrer_address()
                });
                if frames.is_complete() {
                    self.go_on()
                } else {
                    Ok(())
                }
            }
            (_, None) if self.roots.is_own(kind) || object.get() == AGENTS_TAG => Ok(()),
            (_, None) if self.roots.is_left_out(kind, target.class_tag) => Ok(()),
            (_, None) => {
                let index = self.row(target, object)?;
                self.roots.note(kind, target.class_tag, index);
                if let Stage::VirtualFrames(_, frames) = &mut self.stage {
                    frames.held.extend(object.address(target.size_bytes));
                }
                Ok(())
            }
        }
    }

    /// Shows that HotSpot's walk makes progress. The walk writes to the copied heap, so this also
    /// checks the memory left.
    fn show_life(&mut self) -> Result<(), Failure> {
        if let Some(left_bytes) = MemoryLeft::open()?.too_little() {
            return Err(Failure::LittleMemory { left_bytes });
        }
        Watchdog::feed();
        self.task.tell_progress()
    }

    /// Called when all roots are known: marks the heap and, if possible, writes the dump. It is
    /// possible unless a marked virtual thread has frames.
    fn take_over(&mut self) -> Result<(), Failure> {
        let task = &mut self.task;
        self.roots.leave_stacks();
        let mut copy = task.begin(&self.seen, std::mem::take(&mut self.left_out))?;
        task.tell(&FromChild::ReadsFrames)?;
        if let Untagged::Filtered(WithoutBarrier {
            reads_stacks: true, ..
        }) = &self.untagged
        {
            copy.unread_stacks = task.note_compiled_frames(&copy, &mut self.roots)?;
        }
        copy.unread_stacks += task.note_handles(&copy, &mut self.roots)?;
        Watchdog::feed();
        task.tell_progress()?;
        if task.begins_early() {
            let written = task.mark_and_write(&mut copy, &mut self.roots);
            task.end(written);
        }
        let starts = task.starts(&copy, &self.roots)?;
        task.mark(&copy, &starts)?;
        self.stage = Stage::VirtualFrames(Box::new(copy), VirtualFrames::default());
        self.go_on()
    }

    /// Starts a thread that listens from now on, because HotSpot's walk may end before it has
    /// reached all virtual threads, or wait for a lock for ever.
    fn listen(&mut self) -> io::Result<()> {
        let forker: *mut Self = self;
        self.silence.listen(forker as usize, |forker, is_stuck| {
            // SAFETY: the callback thread is locked out for good. The value lies in a stack frame
            // of a thread that does not exist in the child, so it lives as long as the process.
            let forker = unsafe { &mut *(forker as *mut Forker<'_, '_>) };
            let is_early = matches!(forker.stage, Stage::Roots);
            let is_complete = match &forker.stage {
                Stage::Roots => false,
                Stage::VirtualFrames(_, frames) => frames.is_complete(),
            };
            let written = if is_stuck || is_early {
                Err(Failure::Stuck)
            } else if !is_complete {
                Err(Failure::NoFrames)
            } else {
                let written = catch_unwind(AssertUnwindSafe(|| forker.write()));
                written.unwrap_or(Err(Failure::Fault))
            };
            forker.end(written)
        })
    }

    /// Marks what the frames of virtual threads hold, and writes the dump unless there are more
    /// such threads.
    fn go_on(&mut self) -> Result<(), Failure> {
        let task = &mut self.task;
        let Stage::VirtualFrames(copy, frames) = &mut self.stage else {
            return Err(Failure::Fault);
        };
        let held = std::mem::take(&mut frames.held);
        task.mark_with_chunks(copy, &held)?;
        if let Some(fields) = task.virtual_threads {
            let mut failure = None;
            frames.take_in(fields, &copy.snapshot, |thread_id, address| {
                match row_at(address, &mut task.by_address, &mut task.objects) {
                    Ok(index) => self.roots.know_thread(thread_id, index),
                    Err(error) => failure = Some(error),
                }
            });
            failure.map_or(Ok(()), Err)?;
        }
        if frames.is_complete() {
            let written = self.write();
            self.end(written);
        }
        Ok(())
    }

    fn write(&mut self) -> Result<Written, Failure> {
        let task = &mut self.task;
        let Stage::VirtualFrames(copy, frames) = &mut self.stage else {
            return Err(Failure::Fault);
        };
        let held = std::mem::take(&mut frames.held);
        task.mark_with_chunks(copy, &held)?;
        if let Some(fields) = task.virtual_threads {
            copy.chunks = frames.chunks(fields, &copy.snapshot);
        }
        task.note_chunks(copy, &mut self.roots)?;
        task.write(copy, &mut self.roots)
    }

    /// Reports the result to the parent, and exits.
    fn end(&mut self, written: Result<Written, Failure>) -> ! {
        self.task.end(written)
    }

    /// The row of an object. Adds it if there is none.
    fn row(&mut self, target: Target, object: &TagCell) -> Result<ObjectIndex, Failure> {
        let address = object
            .address(target.size_bytes)
            .ok_or(Failure::Unexplained("the address beside the tag"))?;
        if let Some(index) = ObjectIndex::from_tag(object.get()) {
            self.seen.push((index, address));
            return Ok(index);
        }
        let task = &mut self.task;
        row_at(address, &mut task.by_address, &mut task.objects)
    }
}

/// The row of the object at this address. Adds it if there is none.
pub(super) fn row_at(
    address: u64,
    by_address: &mut FxHashMap<u64, ObjectIndex>,
    objects: &mut ObjectTable,
) -> Result<ObjectIndex, Failure> {
    if let Some(&index) = by_address.get(&address) {
        return Ok(index);
    }
    let index = objects.push_at(address).map_err(|_| Failure::NoMemory)?;
    by_address.insert(address, index);
    Ok(index)
}

impl Visitor for Forker<'_, '_> {
    fn begins(&mut self, callbacks: u64) {
        self.callbacks = callbacks;
    }

    fn reference(
        &mut self,
        kind: Reference,
        target: Target,
        object: &TagCell,
        referrer: Option<&TagCell>,
    ) -> Visit {
        if !self.is_child && self.fork(kind) == Visit::Abort {
            return Visit::Abort;
        }
        let silence = Arc::clone(&self.silence);
        let inside = silence.interrupt();
        // A panic must not unwind into HotSpot: nothing would end the child there.
        let noted = catch_unwind(AssertUnwindSafe(|| {
            if *inside % CALLBACKS_BETWEEN_SIGNS == 0 {
                self.show_life()?;
            }
            self.in_child(kind, target, object, referrer)
        }));
        match noted {
            Ok(Ok(())) => Visit::On,
            Ok(Err(failure)) => self.end(Err(failure)),
            Err(_) => process::exit(process::PANICKED),
        }
    }
}
