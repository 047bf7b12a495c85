//! Where samples come from: the site of an object by its class and the addresses of the stack's frames.
//!
//! To ask the JVM for a stack takes as long as all else that is done for a sample, several times over, and most samples come
//! from stacks that were met before.

use crate::hotspot::StackWalk;
use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::jvmti::listener::Allocation;
use crate::jvmti::object::Object;
use crate::profile::stacks::known_classes::{KnownClass, KnownClasses};
use crate::profile::stacks::stack_addresses::{is_due, BytecodeAge, StackAddresses};
use crate::profile::stacks::StackTraces;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;
use tables::{SiteIndex, SiteKey, SiteTable, ThreadId, TraceId};

/// Stacks that are remembered. Many are of code that was compiled anew since: when there are more, all are forgotten.
const MOST_STACKS: usize = 1 << 16;
/// Classes that are told from each other at one stack: one by one, so where there are more it takes as long to ask the JVM.
const MOST_CLASSES: usize = 16;

thread_local! {
    static WALK: RefCell<Option<StackWalk>> = const { RefCell::new(None) };
}

/// The places of all threads.
#[derive(Debug)]
pub(crate) struct SampledPlaces {
    traces: Arc<StackTraces>,
    sites: Arc<Mutex<SiteTable>>,
    addresses: Arc<StackAddresses>,
    classes: KnownClasses,
    known: Mutex<FxHashMap<Stack, Known>>,
}

/// A stack by its addresses, and whose it is where traces are kept by thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Stack {
    addresses: u64,
    depth_frames: usize,
    owner: Option<ThreadId>,
}

/// What is known of a stack.
#[derive(Clone, Debug)]
struct Known {
    trace: TraceId,
    /// The classes met last come first.
    places: Arc<[Place]>,
    met: u32,
    /// While bytecode is of this age.
    age: BytecodeAge,
}

/// A class of objects from a stack.
#[derive(Clone, Debug)]
struct Place {
    class: Arc<KnownClass>,
    site: SiteIndex,
}

impl SampledPlaces {
    /// None yet. Sites will be rows of `sites`, their stacks of `traces`.
    pub(crate) fn new(
        traces: Arc<StackTraces>,
        sites: Arc<Mutex<SiteTable>>,
        addresses: Arc<StackAddresses>,
    ) -> Self {
        Self {
            traces,
            sites,
            addresses,
            classes: KnownClasses::default(),
            known: Mutex::default(),
        }
    }

    /// The site of an object, on the thread that allocates it, in an event that the JVM posts; `None` if the JVM does not
    /// tell its class, or there are 2^32 sites.
    pub(crate) fn site(
        &self,
        env: &Env,
        jni: &Jni<'_>,
        allocation: &Allocation<'_, '_>,
    ) -> Option<SiteIndex> {
        let depth_frames = self.traces.depth_frames();
        let owner = self.traces.owner(env, jni, allocation.thread);
        let now = self.addresses.age();
        let Some((addresses, age)) = self.walk(jni, depth_frames, now) else {
            let trace = self.traces.of_thread(env, jni, owner);
            let trace = trace.unwrap_or(TraceId::EMPTY);
            return Some(self.find(env, jni, allocation.class, trace)?.site);
        };
        let stack = Stack {
            addresses,
            depth_frames,
            owner,
        };
        let known = self.known(stack, now);
        let place = known
            .as_ref()
            .and_then(|known| known.place(jni, allocation.class));
        if let Some(place) = place {
            return Some(place.site);
        }
        let trace = match known {
            Some(known) => Some(known.trace),
            None => self.traces.of_thread(env, jni, owner),
        };
        let place = self.find(env, jni, allocation.class, trace.unwrap_or(TraceId::EMPTY))?;
        let site = place.site;
        // The depth may have been set anew meanwhile.
        let is_whole = self.traces.depth_frames() == depth_frames;
        if let Some(trace) = trace.filter(|_| is_whole) {
            self.learn(stack, Known::new(trace, place, age), now);
        }
        Some(site)
    }

    /// The place of this class and trace.
    fn find(&self, env: &Env, jni: &Jni<'_>, class: &Object<'_>, trace: TraceId) -> Option<Place> {
        let class = self.classes.get(env, jni, class)?;
        let key = SiteKey {
            class: self.traces.class(&class.signature),
            trace,
        };
        let site = self.sites.lock().find(key)?;
        Some(Place { class, site })
    }

    /// The addresses of the stack, and at which age of bytecode they stand for it; `None` if they cannot be had.
    fn walk(
        &self,
        jni: &Jni<'_>,
        depth_frames: usize,
        now: BytecodeAge,
    ) -> Option<(u64, BytecodeAge)> {
        let code = self.addresses.code().filter(|_| depth_frames > 0)?;
        // A thread that ends may allocate when it has no locals any more.
        let walked = WALK.try_with(|walk| {
            let mut walk = walk.try_borrow_mut().ok()?;
            if walk.is_none() {
                *walk = StackWalk::for_samples();
            }
            let walk = walk.as_mut()?;
            if !walk.begin_in_jvm(code, jni) {
                return None;
            }
            let addresses = walk.extend(code, depth_frames)?;
            let age = match walk.has_interpreted() {
                true => now,
                false => BytecodeAge::FOR_GOOD,
            };
            Some((addresses, age))
        });
        walked.ok().flatten()
    }

    /// What is known of the stack; `None` also if it is time to ask the JVM.
    fn known(&self, stack: Stack, now: BytecodeAge) -> Option<Known> {
        let mut known = self.known.lock();
        let known = known.get_mut(&stack)?;
        (known.age.holds(now) && !is_due(&mut known.met)).then(|| known.clone())
    }

    /// Remembers a place of a stack and its trace.
    ///
    /// If something else was known of it that should hold, addresses are not believed again; unless they were of bytecode: a
    /// class may have been redefined again and again, which nobody tells of. Then what is known by bytecode is forgotten.
    fn learn(&self, stack: Stack, learned: Known, now: BytecodeAge) {
        let mut all = self.known.lock();
        if all.len() >= MOST_STACKS {
            all.clear();
        }
        let Some(known) = all.get_mut(&stack) else {
            all.insert(stack, learned);
            return;
        };
        if known.trace == learned.trace {
            known.age = learned.age;
            known.add(&learned.places);
            return;
        }
        let before = std::mem::replace(known, learned);
        if before.age.is_for_good() {
            self.addresses.distrust();
        } else if before.age.holds(now) {
            all.retain(|_, known| known.age.is_for_good());
        }
    }
}

impl Known {
    fn new(trace: TraceId, place: Place, age: BytecodeAge) -> Self {
        Self {
            trace,
            places: Arc::new([place]),
            met: 1,
            age,
        }
    }

    /// The place of objects of this class.
    fn place(&self, jni: &Jni<'_>, class: &Object<'_>) -> Option<&Place> {
        let mut places = self.places.iter();
        places.find(|place| place.class.is(jni, class))
    }

    fn add(&mut self, places: &[Place]) {
        let is_new =
            |class: &Arc<KnownClass>| places.iter().any(|it| Arc::ptr_eq(&it.class, class));
        let others = self.places.iter().filter(|other| !is_new(&other.class));
        let all = places.iter().chain(others).take(MOST_CLASSES);
        self.places = all.cloned().collect();
    }
}
