//! Every allocation (`sampling=0`): rewritten code reports each new object, on the thread that makes it.
//!
//! The same stack allocates again and again, so each thread knows its stacks as the JVM gives them, with the site of
//! each; what is new is looked up once.

use super::known_classes::{KnownClass, KnownClasses};
use super::live_samples::{forget, part, Sample};
use super::stack_traces::StackTraces;
use super::thread_tally::{CountIndex, ThreadTally};
use crate::jvmti::call_trace::CallTracer;
use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;
use crate::jvmti::stack::StackFrame;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use tables::{ClassId, SiteIndex, SiteKey, SiteTable};

/// Frames of the tracker on top of each stack: its native method and the one that calls it.
const TRACKER_FRAMES: usize = 2;
/// Constructors that a stack has room for above the frames that count: that of `Object` and its caller as a rule. Each
/// frame more costs each object, so the others are for the stacks that were too short.
const CONSTRUCTOR_FRAMES: [usize; 3] = [2, 6, 1024];
/// Stacks that a thread remembers.
const MOST_PLACES: usize = 1 << 16;
/// Objects that a thread remembers before it looks which of them are gone.
const FIRST_PURGE: usize = 8192;

/// What was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum New {
    /// An object; its constructors are still running.
    Instance,
    /// An array.
    Array,
}

/// The allocations of all threads.
#[derive(Debug)]
pub(super) struct ExactAllocations {
    traces: Arc<StackTraces>,
    sites: Arc<Mutex<SiteTable>>,
    classes: KnownClasses,
    tracer: Option<CallTracer>,
    collections: AtomicU64,
    tallies: Mutex<Vec<Arc<ThreadTally>>>,
    /// Of the threads that have ended.
    ended: Arc<ThreadTally>,
    ended_purge_at: AtomicUsize,
}

/// A stack and class that allocated before.
#[derive(Debug)]
struct Place {
    class: Arc<KnownClass>,
    count: CountIndex,
    site: SiteIndex,
    /// Size of each object; `None` for arrays.
    size_bytes: Option<u64>,
}

/// What is known of a stack as the JVM gave it.
#[derive(Debug)]
enum Known {
    /// The places at it, mostly one.
    Places(Vec<Place>),
    /// It was cut off among the constructors.
    TooShort,
}

/// What the thread that this code runs on has allocated.
#[derive(Debug)]
struct Own {
    session: Weak<ExactAllocations>,
    tally: Arc<ThreadTally>,
    /// By how much room the stack had: what is whole with more may be cut with less.
    known: [FxHashMap<Box<[StackFrame]>, Known>; CONSTRUCTOR_FRAMES.len()],
    stack: Vec<StackFrame>,
    purge_at: usize,
    collections: u64,
    /// Depth of the traces of the places that are known.
    depth_frames: usize,
}

thread_local! {
    static OWN: RefCell<Option<Own>> = const { RefCell::new(None) };
}

/// A new object, and who asks the JVM about it.
#[derive(Clone, Copy)]
pub(super) struct NewObject<'a, 'j, 'f> {
    /// The environment of the session.
    pub(super) env: &'a Env,
    /// The thread's own environment.
    pub(super) jni: &'a Jni<'j>,
    /// The object.
    pub(super) object: &'a Object<'f>,
    /// What it is.
    pub(super) new: New,
}

impl ExactAllocations {
    /// Nothing allocated yet. What is will be counted in `sites`.
    pub(super) fn new(traces: Arc<StackTraces>, sites: Arc<Mutex<SiteTable>>) -> Self {
        Self {
            traces,
            sites,
            classes: KnownClasses::default(),
            tracer: CallTracer::find(),
            collections: AtomicU64::new(0),
            tallies: Mutex::default(),
            ended: Arc::default(),
            ended_purge_at: AtomicUsize::new(FIRST_PURGE),
        }
    }

    /// `GarbageCollectionFinish`: only after one objects may be gone.
    pub(super) fn note_collection(&self) {
        self.collections.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a new object, on the thread that made it.
    pub(super) fn note(self: &Arc<Self>, at: NewObject<'_, '_, '_>) {
        OWN.with(|own| {
            // Nothing below runs Java code, so it is never borrowed; an allocation would go uncounted, not astray.
            let Ok(mut own) = own.try_borrow_mut() else {
                return;
            };
            let own = own.get_or_insert_with(|| self.know());
            if let Some(class) = at.jni.class_of(at.object) {
                self.count(own, at, &class);
                at.jni.forget(class);
            }
        });
    }

    /// `ThreadEnd`, on that thread: what it has allocated is kept without it.
    pub(super) fn thread_end(&self, jni: &Jni<'_>) {
        let Some(own) = OWN.with(|own| own.try_borrow_mut().ok()?.take()) else {
            return;
        };
        purge(&own.tally, jni);
        drop(own);
        if self.ended.remembered() >= self.ended_purge_at.load(Ordering::Relaxed) {
            let left = purge(&self.ended, jni).unwrap_or(0);
            let next = left.saturating_mul(2).max(FIRST_PURGE);
            self.ended_purge_at.store(next, Ordering::Relaxed);
        }
    }

    /// Adds what was counted since the last time to the sites.
    pub(super) fn flush(&self) {
        for tally in self.all() {
            self.flush_one(&tally);
        }
    }

    fn flush_one(&self, tally: &ThreadTally) {
        tally.flush(|site, weight| self.sites.lock().add(site, weight));
    }

    /// All objects that may live, to be given back to whom they were taken from.
    pub(super) fn take(&self) -> Vec<(Arc<ThreadTally>, Vec<Sample>)> {
        let taken = self.all().into_iter().filter_map(|tally| {
            let samples = tally.take()?;
            Some((tally, samples))
        });
        taken.collect()
    }

    fn all(&self) -> Vec<Arc<ThreadTally>> {
        let mut all = self.tallies.lock().clone();
        all.push(Arc::clone(&self.ended));
        all
    }

    fn know(self: &Arc<Self>) -> Own {
        let tally = Arc::<ThreadTally>::default();
        self.tallies.lock().push(Arc::clone(&tally));
        Own {
            session: Arc::downgrade(self),
            tally,
            known: Default::default(),
            stack: Vec::new(),
            purge_at: FIRST_PURGE,
            collections: 0,
            depth_frames: self.traces.depth_frames(),
        }
    }

    fn count(&self, own: &mut Own, at: NewObject<'_, '_, '_>, class: &Object<'_>) {
        let depth = self.traces.depth_frames();
        if own.depth_frames != depth {
            own.depth_frames = depth;
            self.forget_places(own);
        }
        let constructors: &[usize] = match at.new {
            New::Array => &[0],
            New::Instance => &CONSTRUCTOR_FRAMES,
        };
        for (level, &above) in constructors.iter().enumerate() {
            let room = TRACKER_FRAMES + above + depth;
            if depth == 0 {
                own.stack.clear();
            } else if !self.capture(own, at, room) {
                return;
            }
            if self.count_known(own, level, at, class).is_some() {
                return;
            }
            if let Some(Known::TooShort) = own.known_at(level) {
                continue;
            }
            if own.known.iter().any(|known| known.len() >= MOST_PLACES) {
                self.forget_places(own);
            }
            if self.learn(own, (level, room), at, class).is_some() {
                self.count_known(own, level, at, class);
                return;
            }
            own.remember(level, Known::TooShort);
        }
    }

    /// Forgets the stacks of a thread, and their places in its counts.
    fn forget_places(&self, own: &mut Own) {
        self.flush_one(&own.tally);
        own.tally.clear_sites();
        own.known = Default::default();
    }

    /// Takes the stack down as it is; false if the JVM does not tell.
    fn capture(&self, own: &mut Own, at: NewObject<'_, '_, '_>, room: usize) -> bool {
        let is_short = room <= CallTracer::MOST_FRAMES;
        let tracer = self.tracer.filter(|_| is_short);
        tracer.is_some_and(|tracer| tracer.own_stack(at.jni, &mut own.stack, room))
            || at.env.own_stack(&mut own.stack, room).is_ok()
    }

    /// Counts an object of a place that is known; `None` if it is not.
    fn count_known(
        &self,
        own: &mut Own,
        level: usize,
        at: NewObject<'_, '_, '_>,
        class: &Object<'_>,
    ) -> Option<()> {
        let Known::Places(places) = own.known_at(level)? else {
            return None;
        };
        let place = places.iter().find(|place| place.class.is(at.jni, class))?;
        let size_bytes = match place.size_bytes {
            Some(size_bytes) => size_bytes,
            None => at.env.object_size_bytes(at.object).unwrap_or(0),
        };
        let sample = at.jni.weak(at.object).map(|object| Sample {
            object,
            site: place.site,
            size_bytes,
            doublings: None,
        });
        let remembered = own.tally.note(place.count, size_bytes, sample);
        if remembered >= own.purge_at {
            let collections = self.collections.load(Ordering::Relaxed);
            if collections != own.collections {
                own.collections = collections;
                let left = purge(&own.tally, at.jni).unwrap_or(remembered);
                own.purge_at = left.saturating_mul(2).max(FIRST_PURGE);
            }
        }
        Some(())
    }

    /// Gets to know the place of an object; `None` if the stack ends among its constructors.
    fn learn(
        &self,
        own: &mut Own,
        (level, room): (usize, usize),
        at: NewObject<'_, '_, '_>,
        class: &Object<'_>,
    ) -> Option<()> {
        let is_cut = own.stack.len() >= room;
        let frames = own.frames();
        let class = self.classes.get(at.env, at.jni, class)?;
        let above = match at.new {
            New::Array => 0,
            New::Instance => self.constructors(frames, at, &class.signature),
        };
        let frames = frames.get(above..).unwrap_or_default();
        if is_cut && frames.len() < self.traces.depth_frames() {
            return None;
        }
        let thread = at.env.current_thread(at.jni).ok()?;
        let owner = self.traces.owner(at.env, at.jni, &thread);
        at.jni.forget(thread);
        let key = SiteKey {
            class: self.traces.class(&class.signature),
            trace: self.traces.trace(at.env, at.jni, frames, owner),
        };
        let site = self.sites.lock().find(key)?;
        let size_bytes = match at.new {
            New::Array => None,
            New::Instance => at.env.object_size_bytes(at.object).ok(),
        };
        let place = Place {
            class,
            count: own.tally.add_site(site),
            site,
            size_bytes,
        };
        own.remember(level, Known::Places(vec![place]));
        Some(())
    }

    /// How many of the frames are the constructors that run for this very object: that of its class and of the classes
    /// above, up to `Object`.
    fn constructors(
        &self,
        frames: &[StackFrame],
        at: NewObject<'_, '_, '_>,
        signature: &[u8],
    ) -> usize {
        let mut lines: Vec<ClassId> = vec![self.traces.class(signature)];
        let mut class = at.jni.class_of(at.object);
        while let Some(this) = class {
            class = at.jni.superclass(&this);
            at.jni.forget(this);
            let signature = class.as_ref().map(|class| at.env.class_signature(class));
            if let Some(Ok(signature)) = signature {
                lines.push(self.traces.class(&signature));
            }
        }
        // From Object down to the object's own class. A constructor that does anything but hand on is one that makes
        // the object, and counts.
        let mut count = 0;
        for &frame in frames {
            let constructor = self.traces.constructor(at.env, at.jni, frame);
            let is_ours = constructor.is_some_and(|constructor| {
                lines.contains(&constructor.class) && (count == 0 || constructor.initializes)
            });
            if !is_ours {
                break;
            }
            count += 1;
        }
        count
    }
}

/// Gives back the handles of objects that were collected. Answers how many are left; `None` if somebody else looks.
fn purge(tally: &ThreadTally, jni: &Jni<'_>) -> Option<usize> {
    let (living, gone) = part(jni, tally.try_take()?);
    let left = tally.give_back(living);
    forget(jni, gone);
    Some(left)
}

impl Own {
    /// The frames below the tracker's.
    fn frames(&self) -> &[StackFrame] {
        self.stack.get(TRACKER_FRAMES..).unwrap_or_default()
    }

    /// What is known of the stack that was taken down last, with the room of this level.
    fn known_at(&self, level: usize) -> Option<&Known> {
        self.known.get(level)?.get(self.frames())
    }

    /// Remembers more of that stack.
    fn remember(&mut self, level: usize, more: Known) {
        let stack: Box<[StackFrame]> = self.frames().into();
        let Some(known) = self.known.get_mut(level) else {
            return;
        };
        match (known.get_mut(&stack), more) {
            (Some(Known::Places(places)), Known::Places(mut more)) => places.append(&mut more),
            // What has places is whole.
            (Some(Known::Places(_)), Known::TooShort) => {}
            (_, more) => {
                known.insert(stack, more);
            }
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(session) = self.session.upgrade() {
            session.flush_one(&self.tally);
            session.ended.take_over(&self.tally);
            let mut tallies = session.tallies.lock();
            tallies.retain(|tally| !Arc::ptr_eq(tally, &self.tally));
        }
    }
}
