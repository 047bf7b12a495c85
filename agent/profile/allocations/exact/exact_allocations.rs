//! Every allocation (`sampling=0`): rewritten code reports each new object, on the thread that
//! makes it.
//!
//! The same stacks allocate again and again, so each thread remembers its stacks and their sites. A
//! new stack is looked up once.

use super::allocation_places::{
    AllocationPlaces, Counted, Known, LookUp, New, Place, PlaceAt, Rooms, Size,
};
use super::array_sizes::{ArraySizes, Elements};
use super::known_classes::KnownClasses;
use super::stack_addresses::StackAddresses;
use super::thread_tally::ThreadTally;
use crate::profile::allocations::live_objects::{forget_gone, LiveObject, WORD_BYTES};
use crate::profile::stacks::StackTraces;
use hotspot::WeakSlots;
use jvm::env::Env;
use jvm::jni::Jni;
use jvm::object::Object;
use jvm::stack::StackFrame;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use tables::{ClassId, SiteKey, SiteTable};

/// Objects that a thread remembers before it first checks for collected ones.
const FIRST_PURGE: usize = 8192;

/// What was known about an object's stack.
#[derive(Clone, Copy, Debug)]
struct LookedUp<'r> {
    found: LookUp,
    /// The frames to walk for each level, the fewest first.
    rooms: &'r [usize],
    /// The age of bytecode before the walk.
    age: u32,
}

/// The allocations of all threads.
#[derive(Debug)]
pub(crate) struct ExactAllocations {
    traces: Arc<StackTraces>,
    sites: Arc<Mutex<SiteTable>>,
    classes: KnownClasses,
    array_sizes: ArraySizes,
    addresses: StackAddresses,
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
    places: AllocationPlaces,
    purge_at: usize,
    collections: u32,
    /// Depth of the traces of the known places.
    depth_frames: usize,
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
            classes: KnownClasses::default(),
            array_sizes: ArraySizes::default(),
            addresses: StackAddresses::default(),
            slots,
            collections: AtomicU32::new(0),
            tallies: Mutex::default(),
            ended: Arc::default(),
            ended_purge_at: AtomicUsize::new(FIRST_PURGE),
        }
    }

    /// `VMInit`, on this platform thread.
    pub(crate) fn start(&self, jni: &Jni<'_>, thread: &Object<'_>) {
        self.addresses.start(jni, thread);
    }

    /// `GarbageCollectionFinish`. Takes no lock.
    pub(crate) fn note_collection(&self) {
        self.collections.fetch_add(1, Ordering::Relaxed);
        self.addresses.note_bytecode();
    }

    /// `ClassFileLoadHook`, except for classes that the session itself retransforms. Takes no lock.
    pub(crate) fn note_class_file(&self) {
        self.addresses.note_bytecode();
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
            places: AllocationPlaces::new(self.addresses.code().is_some()),
            purge_at: FIRST_PURGE,
            collections: 0,
            depth_frames: self.traces.depth_frames(),
        }
    }

    /// Counts an object at the place of its stack: by addresses if they are known, which costs the
    /// least, or else by the stack that the JVM reports.
    fn count(&self, own: &mut Own, at: NewObject<'_, '_, '_>) {
        let depth = self.traces.depth_frames();
        if own.depth_frames != depth {
            own.depth_frames = depth;
            self.forget_places(own);
        }
        let rooms = Rooms::new(at.new, depth);
        let rooms = rooms.as_slice();
        let age = self.addresses.bytecode_age();
        let code = self.addresses.code().filter(|_| depth > 0);
        let found = match code {
            Some(code) => own.places.look_up(code, at.jni, rooms, age),
            None => LookUp::Ask,
        };
        if let LookUp::Count(counted) = found {
            self.note_counted(own, at, counted);
            return;
        }
        let Some(class) = at.jni.class_of(at.object) else {
            return;
        };
        let looked_up = LookedUp { found, rooms, age };
        self.count_by_class(own, at, &class, looked_up);
        at.jni.forget(class);
    }

    /// Counts an object by its class if the class is known at its stack; else by the stack that the
    /// JVM reports, which is then remembered.
    fn count_by_class(
        &self,
        own: &mut Own,
        at: NewObject<'_, '_, '_>,
        class: &Object<'_>,
        looked_up: LookedUp<'_>,
    ) {
        let LookedUp { found, rooms, age } = looked_up;
        let known = match found {
            LookUp::ByClass(stack, _) => own.places.of_class(stack, at.jni, class),
            LookUp::Check(counted) => Some(counted),
            _ => None,
        };
        if let (LookUp::ByClass(_, false), Some(counted)) = (found, known) {
            self.note_counted(own, at, counted);
            return;
        }
        let Some(stands) = self.count_by_stack(own, at, class) else {
            return;
        };
        match (found, known, self.addresses.code()) {
            (_, Some(known), _) if known.site != stands.place.counted.site => {
                self.addresses.distrust()
            }
            (LookUp::Learn, _, Some(code)) => {
                own.places.learn(code, rooms, stands, age);
            }
            (LookUp::ByClass(stack, _), None, _) => own.places.learn_class(stack, stands),
            _ => {}
        }
    }

    /// Counts an object by the stack that the JVM reports. Returns its place and the level that the
    /// stack needed; `None` if it could not be counted.
    fn count_by_stack(
        &self,
        own: &mut Own,
        at: NewObject<'_, '_, '_>,
        class: &Object<'_>,
    ) -> Option<PlaceAt> {
        let depth = own.depth_frames;
        for (level, &room) in Rooms::new(at.new, depth).as_slice().iter().enumerate() {
            if depth == 0 {
                own.places.stack.clear();
            } else {
                at.env.own_stack(&mut own.places.stack, room).ok()?;
            }
            let mut place = own.place_at(level, at.jni, class);
            if place.is_none() {
                if let Some(Known::TooShort) = own.places.known_at(level) {
                    continue;
                }
                if own.places.is_full() {
                    self.forget_places(own);
                }
                place = self.learn(own, level, room, at, class);
            }
            if let Some(place) = place {
                self.note_counted(own, at, place.counted);
                return Some(PlaceAt { level, place });
            }
            own.places.remember(level, Known::TooShort);
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
    fn note_counted(&self, own: &mut Own, at: NewObject<'_, '_, '_>, counted: Counted) {
        let size_bytes = match (counted.size, at.new) {
            (Size::Words(words), _) => u64::from(words) * WORD_BYTES,
            (Size::Array(elements), New::Array(length) | New::Nest(length)) => {
                self.array_sizes.bytes(at.env, at.object, elements, length)
            }
            (Size::Array(_), New::Instance) => at.env.object_size_bytes(at.object).unwrap_or(0),
        };
        let handle = at.jni.weak(at.object);
        let object = handle.map(|handle| LiveObject::new(handle, counted.site, size_bytes));
        let remembered = own.tally.note(counted.count, size_bytes, object);
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

    /// Learns the place of an object; `None` if the stack was cut off within its constructors.
    fn learn(
        &self,
        own: &mut Own,
        level: usize,
        room: usize,
        at: NewObject<'_, '_, '_>,
        class: &Object<'_>,
    ) -> Option<Place> {
        let is_cut = own.places.stack.len() >= room;
        let frames = own.places.frames();
        let class = self.classes.get(at.env, at.jni, class)?;
        let above = match at.new {
            New::Array(_) | New::Nest(_) => 0,
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
        let size = match at.new {
            New::Array(_) | New::Nest(_) => Size::Array(Elements::of(&class.signature)),
            New::Instance => {
                let bytes = at.env.object_size_bytes(at.object).unwrap_or(0);
                Size::Words(u32::try_from(bytes / WORD_BYTES).unwrap_or(u32::MAX))
            }
        };
        let place = Place {
            is_only_class: self.is_only_class(own.places.frames(), at, key.class, above),
            class,
            counted: Counted {
                count: own.tally.add_site(site),
                site,
                size,
            },
        };
        own.places
            .remember(level, Known::Places(vec![place.clone()]));
        Some(place)
    }

    /// Whether this stack only allocates objects of this class: if an instruction that names the
    /// class allocates them. Reflection and serialization allocate objects of many classes in the
    /// same code.
    fn is_only_class(
        &self,
        frames: &[StackFrame],
        at: NewObject<'_, '_, '_>,
        class: ClassId,
        above: usize,
    ) -> bool {
        const INVOKESPECIAL: u8 = 183;
        let outermost = match at.new {
            // The allocating instruction stands before the tracker's call, in the same method.
            New::Array(_) => return !frames.is_empty(),
            New::Nest(_) => return false,
            New::Instance => above.checked_sub(1).and_then(|last| frames.get(last)),
        };
        let constructor =
            outermost.and_then(|&frame| self.traces.constructor(at.env, at.jni, frame));
        let (Some(constructor), Some(maker)) = (constructor, frames.get(above)) else {
            return false;
        };
        let code = at.env.bytecodes(maker.method).unwrap_or_default();
        let call = usize::try_from(maker.location)
            .ok()
            .and_then(|at| code.get(at));
        constructor.class == class && call == Some(&INVOKESPECIAL)
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
    /// The place of this class at the last stack; `None` if it is unknown.
    fn place_at(&self, level: usize, jni: &Jni<'_>, class: &Object<'_>) -> Option<Place> {
        let Known::Places(places) = self.places.known_at(level)? else {
            return None;
        };
        let place = places.iter().find(|place| place.class.is(jni, class));
        place.cloned()
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
