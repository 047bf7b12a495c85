//! Every allocation (`sampling=0`): rewritten code reports each new object, on the thread that
//! makes it. The JVM is asked for the stack of each.
//!
//! The same stacks allocate again and again, so each thread remembers its stacks and their sites.
//! What is remembered comes from `GetStackTrace`; it is looked up by `AsyncGetCallTrace`.
//!
//! Refused: `GetStackTrace` for each object. It took 2.1 times less processor time than the agent
//! of JDK 8, this way takes 4 times less, and 2.5 are wanted.

use super::thread_tally::{CountIndex, ThreadTally};
use crate::profile::allocations::live_objects::{forget_gone, LiveObject};
use crate::profile::stacks::StackTraces;
use hotspot::call_trace::OwnStack;
use hotspot::WeakSlots;
use jvm::env::Env;
use jvm::jni::Jni;
use jvm::object::Object;
use jvm::stack::StackFrame;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use tables::{ClassId, SiteIndex, SiteKey, SiteTable};

/// Frames of the tracker on top of each stack: its native method and the method that calls it.
const TRACKER_FRAMES: usize = 2;
/// Constructors that a stack may have above the frames that count. Most have two: that of `Object`
/// and its caller. Each frame costs time for each object, so more are read only where a stack was
/// too short.
const CONSTRUCTOR_FRAMES: [usize; 3] = [2, 6, 1024];
/// Most stacks that a thread remembers.
const MOST_STACKS: usize = 1 << 16;
/// Objects that a thread remembers before it first checks for collected ones.
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
pub(crate) struct ExactAllocations {
    traces: Arc<StackTraces>,
    sites: Arc<Mutex<SiteTable>>,
    slots: Arc<WeakSlots>,
    /// Collections that have ended. Wraps around.
    collections: AtomicU32,
    tallies: Mutex<Vec<Arc<ThreadTally>>>,
    /// The objects of threads that have ended.
    ended: Arc<ThreadTally>,
    ended_purge_at: AtomicUsize,
}

/// The allocations of the current thread.
#[derive(Debug)]
struct Own {
    session: Weak<ExactAllocations>,
    tally: Arc<ThreadTally>,
    /// What each stack has allocated; nothing if it is too short, cut off within constructors.
    places: FxHashMap<Box<[StackFrame]>, Vec<Place>>,
    /// The last stack that the JVM reported.
    stack: Vec<StackFrame>,
    /// The quick way to read stacks; `None` if this JVM has none.
    quick: Option<OwnStack>,
    purge_at: usize,
    collections: u32,
    /// Depth of the traces of the known places.
    depth_frames: usize,
}

/// Objects of one class, allocated by one stack.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The identity hash of the class. The classes of one stack are mostly one, but a few hundred
    /// where objects are deserialized; two of these have the same hash with a probability of 1 in
    /// 2^31, unless HotSpot is told to make equal ones (`-XX:hashCode=2`, for its own tests).
    class: i32,
    /// How many frames were asked for: a stack that is whole among many is another's top among few.
    room: usize,
    count: CountIndex,
    site: SiteIndex,
}

thread_local! {
    static OWN: RefCell<Option<Own>> = const { RefCell::new(None) };
}

/// A new object, and the environments to ask the JVM about it.
#[derive(Clone, Copy)]
pub(crate) struct NewObject<'a, 'j, 'f> {
    /// The session's environment.
    pub(crate) env: &'a Env,
    /// The thread's own environment.
    pub(crate) jni: &'a Jni<'j>,
    /// The object.
    pub(crate) object: &'a Object<'f>,
    /// What it is.
    pub(crate) new: New,
}

impl ExactAllocations {
    /// No allocations yet. They will be counted in `sites`.
    pub(crate) fn new(
        traces: Arc<StackTraces>,
        sites: Arc<Mutex<SiteTable>>,
        slots: Arc<WeakSlots>,
    ) -> Self {
        Self {
            traces,
            sites,
            slots,
            collections: AtomicU32::new(0),
            tallies: Mutex::default(),
            ended: Arc::default(),
            ended_purge_at: AtomicUsize::new(FIRST_PURGE),
        }
    }

    /// `GarbageCollectionFinish`. Takes no lock.
    pub(crate) fn note_collection(&self) {
        self.collections.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a new object, on the thread that made it.
    pub(crate) fn note(self: &Arc<Self>, at: NewObject<'_, '_, '_>) {
        // An ending thread may allocate after its thread-locals are gone. Such an object is not
        // counted.
        let _ = OWN.try_with(|own| {
            // Nothing below runs Java code, so it is never borrowed here. If it were, the object
            // would not be counted.
            let Ok(mut own) = own.try_borrow_mut() else {
                return;
            };
            self.count(own.get_or_insert_with(|| self.know()), at);
        });
    }

    /// `ThreadEnd`, on that thread. Keeps what it has allocated.
    pub(crate) fn thread_end(&self, jni: &Jni<'_>) {
        let own = OWN.try_with(|own| own.try_borrow_mut().ok()?.take());
        let Some(own) = own.ok().flatten() else {
            return;
        };
        self.purge(&own.tally, jni);
        drop(own);
        if self.ended.remembered() >= self.ended_purge_at.load(Ordering::Relaxed) {
            let left = self.purge(&self.ended, jni).unwrap_or(0);
            let next = left.saturating_mul(2).max(FIRST_PURGE);
            self.ended_purge_at.store(next, Ordering::Relaxed);
        }
    }

    /// Adds the counts since the last call to the sites.
    pub(crate) fn flush(&self) {
        for tally in self.all() {
            self.flush_one(&tally);
        }
    }

    fn flush_one(&self, tally: &ThreadTally) {
        tally.flush(|site, weight| self.sites.lock().add(site, weight));
    }

    /// All objects that may be alive, to be given back to the tallies that they were taken from.
    pub(crate) fn take(&self) -> Vec<(Arc<ThreadTally>, Vec<LiveObject>)> {
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
            places: FxHashMap::default(),
            stack: Vec::new(),
            quick: OwnStack::find(),
            purge_at: FIRST_PURGE,
            collections: 0,
            depth_frames: self.traces.depth_frames(),
        }
    }

    /// Counts an object at its place.
    fn count(&self, own: &mut Own, at: NewObject<'_, '_, '_>) {
        let depth = self.traces.depth_frames();
        if own.depth_frames != depth {
            own.depth_frames = depth;
            self.forget_places(own);
        }
        let Some(class) = at.jni.class_of(at.object) else {
            return;
        };
        if let Some(place) = self.place(own, at, &class) {
            self.count_at(own, at, place);
        }
        at.jni.forget(class);
    }

    /// The place of an object of this class; `None` if the JVM does not report its stack.
    fn place(&self, own: &mut Own, at: NewObject<'_, '_, '_>, class: &Object<'_>) -> Option<Place> {
        let hash = at.env.hash(class).ok()?;
        let rooms: &[usize] = match at.new {
            New::Instance => &CONSTRUCTOR_FRAMES,
            New::Array => &[0],
        };
        for above in rooms {
            let room = TRACKER_FRAMES + above + own.depth_frames;
            let quick = own.read_quickly(at.jni, room);
            let mut known = quick.and_then(|()| own.known(hash, room));
            if known.is_none() {
                own.read(at.env, room)?;
                known = own.known(hash, room);
            }
            let place = known.unwrap_or_else(|| self.learn(own, at, (class, hash), room));
            if place.is_some() {
                return place;
            }
        }
        None
    }

    /// Forgets the stacks of a thread and their counts.
    fn forget_places(&self, own: &mut Own) {
        self.flush_one(&own.tally);
        own.tally.clear_sites();
        own.places.clear();
    }

    /// Counts an object at a known place.
    fn count_at(&self, own: &mut Own, at: NewObject<'_, '_, '_>, place: Place) {
        let size_bytes = at.env.object_size_bytes(at.object).unwrap_or(0);
        let handle = at.jni.weak(at.object);
        let object = handle.map(|handle| LiveObject::new(handle, place.site, size_bytes));
        let remembered = own.tally.note(place.count, size_bytes, object);
        if remembered >= own.purge_at {
            let collections = self.collections.load(Ordering::Relaxed);
            if collections != own.collections {
                own.collections = collections;
                let left = self.purge(&own.tally, at.jni).unwrap_or(remembered);
                own.purge_at = left.saturating_mul(2).max(FIRST_PURGE);
            }
        }
    }

    /// Frees the handles of collected objects. Returns how many are left; `None` if another thread
    /// has taken them.
    fn purge(&self, tally: &ThreadTally, jni: &Jni<'_>) -> Option<usize> {
        let mut objects = tally.try_take()?;
        forget_gone(jni, &self.slots, &mut objects);
        let left = tally.give_back(objects);
        Some(left)
    }

    /// Remembers the place of an object, of this class with this hash, at a stack that has not
    /// allocated one; `None` if the stack was cut off within the object's constructors.
    fn learn(
        &self,
        own: &mut Own,
        at: NewObject<'_, '_, '_>,
        (class, hash): (&Object<'_>, i32),
        room: usize,
    ) -> Option<Place> {
        if own.places.len() >= MOST_STACKS {
            self.forget_places(own);
        }
        let site = self.site(own, at, class, room);
        let place = site.map(|site| Place {
            class: hash,
            room,
            count: own.tally.add_site(site),
            site,
        });
        let stack = own.frames().into();
        own.places.entry(stack).or_default().extend(place);
        place
    }

    /// The site of an object at the last stack; `None` as in [`learn`](Self::learn).
    fn site(
        &self,
        own: &Own,
        at: NewObject<'_, '_, '_>,
        class: &Object<'_>,
        room: usize,
    ) -> Option<SiteIndex> {
        let signature = at.env.class_signature(class).ok()?;
        let frames = own.frames();
        let above = match at.new {
            New::Array => 0,
            New::Instance => self.constructors(frames, at, &signature),
        };
        let frames = frames.get(above..).unwrap_or_default();
        if own.is_cut(room) && frames.len() < own.depth_frames {
            return None;
        }
        let thread = at.env.current_thread(at.jni).ok()?;
        let owner = self.traces.owner(at.env, at.jni, &thread);
        at.jni.forget(thread);
        let key = SiteKey {
            class: self.traces.class(&signature),
            trace: self.traces.trace(at.env, at.jni, frames, owner),
        };
        self.sites.lock().find(key)
    }

    /// How many of the top frames are constructors of this object: those of its class and of its
    /// superclasses, up to `Object`.
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
        // From Object down to the object's own class. A constructor that is not calling `super(…)`
        // or `this(…)` at the moment is creating another object, so it counts as a frame.
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

impl Own {
    /// Reads the top frames of the stack, at most `room`; `None` if the quick way fails. If they
    /// are too few, they are no stack that allocates.
    fn read_quickly(&mut self, jni: &Jni<'_>, room: usize) -> Option<()> {
        if self.depth_frames == 0 {
            return None;
        }
        self.quick.as_mut()?.read(jni, &mut self.stack, room)
    }

    /// The same as the specification has it; `None` if the JVM does not report the stack.
    fn read(&mut self, env: &Env, room: usize) -> Option<()> {
        self.stack.clear();
        match self.depth_frames {
            0 => Some(()),
            _ => env.own_stack(&mut self.stack, room).ok(),
        }
    }

    /// Where the last stack counts objects of this class: `None` if that is unknown, `Some(None)`
    /// if the stack is too short to tell.
    fn known(&self, class: i32, room: usize) -> Option<Option<Place>> {
        let places = self.places.get(self.frames())?;
        let mut here = places.iter().filter(|place| place.room == room).peekable();
        let is_too_short = self.is_cut(room) && here.peek().is_none();
        let place = here.find(|place| place.class == class);
        (is_too_short || place.is_some()).then(|| place.copied())
    }

    fn is_cut(&self, room: usize) -> bool {
        self.stack.len() >= room
    }

    /// The frames of the last stack below the tracker's.
    fn frames(&self) -> &[StackFrame] {
        self.stack.get(TRACKER_FRAMES..).unwrap_or_default()
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
