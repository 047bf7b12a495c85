//! The places that one thread allocates at, each known by its stack: as the JVM gives it, and by the addresses at which its
//! frames go on.

use super::array_sizes::Elements;
use super::exact_allocations::New;
use super::known_classes::KnownClass;
use super::thread_tally::CountIndex;
use crate::jvmti::hotspot::{JavaCode, StackWalk};
use crate::jvmti::jni::Jni;
use crate::jvmti::stack::StackFrame;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tables::SiteIndex;

/// Frames of the tracker on top of each stack: its native method and the one that calls it.
pub(super) const TRACKER_FRAMES: usize = 2;
/// Constructors that a stack has room for above the frames that count: that of `Object` and its caller as a rule. Each
/// frame more costs each object, so the others are for the stacks that were too short.
pub(super) const CONSTRUCTOR_FRAMES: [usize; 3] = [2, 6, 1024];
/// Stacks that a thread remembers.
const MOST_PLACES: usize = 1 << 16;

/// A stack and class that allocated before.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The class.
    pub(super) class: Arc<KnownClass>,
    /// Whether what allocates at this stack is always of this class.
    pub(super) is_only_class: bool,
    /// What is counted there.
    pub(super) counted: Counted,
}

/// Where an object is counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// In the thread's counts.
    pub(super) count: CountIndex,
    /// In the table of the session.
    pub(super) site: SiteIndex,
    /// How large each object is.
    pub(super) size: Size,
}

/// How large the objects of a place are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Size {
    /// All of them so many bytes.
    Bytes(u64),
    /// It depends on how many of these an array holds.
    Array(Elements),
}

/// What is known of a stack as the JVM gave it.
#[derive(Debug)]
pub(super) enum Known {
    /// The places at it, mostly one.
    Places(Vec<Place>),
    /// It was cut off among the constructors.
    TooShort,
}

/// What a walk over a stack tells.
#[derive(Clone, Copy, Debug)]
pub(super) enum LookUp {
    /// Where the object is counted.
    Count(Counted),
    /// The same, and it is time to ask the JVM whether that is so.
    Check(Counted),
    /// Nothing is known of the stack.
    Learn,
    /// Only the JVM can tell.
    Ask,
}

/// What is known of a stack by its addresses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Walked {
    /// The only place at it, and how often it was met.
    Place(Counted, u32),
    /// It was cut off among the constructors.
    TooShort,
    /// There are places of several classes, or may be: only the JVM can tell.
    Unclear,
}

/// The same, and how long it holds.
#[derive(Clone, Copy, Debug)]
struct Remembered {
    what: Walked,
    /// While there have been so many collections; for good if absent.
    collections: Option<u64>,
}

/// The places of a thread.
#[derive(Debug, Default)]
pub(super) struct AllocationPlaces {
    /// By how much room the stack had: what is whole with more may be cut with less.
    by_stack: [FxHashMap<Box<[StackFrame]>, Known>; CONSTRUCTOR_FRAMES.len()],
    by_address: [FxHashMap<Box<[u64]>, Remembered>; CONSTRUCTOR_FRAMES.len()],
    /// The stack that was taken down last.
    pub(super) stack: Vec<StackFrame>,
    /// `None` where stacks cannot be walked.
    walk: Option<StackWalk>,
}

/// How many frames a stack has to take, by level.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rooms {
    /// There are no constructors.
    One([usize; 1]),
    /// With more and more constructors.
    Each([usize; CONSTRUCTOR_FRAMES.len()]),
}

impl Rooms {
    /// For what was made, where so many frames count.
    pub(super) fn new(new: New, depth_frames: usize) -> Self {
        let room = |above| TRACKER_FRAMES + above + depth_frames;
        match new {
            New::Array(_) => Self::One([room(0)]),
            New::Instance => Self::Each(CONSTRUCTOR_FRAMES.map(room)),
        }
    }

    /// Level by level.
    pub(super) fn as_slice(&self) -> &[usize] {
        match self {
            Self::One(room) => room,
            Self::Each(rooms) => rooms,
        }
    }
}

impl AllocationPlaces {
    /// None yet. `can_walk` is whether the JVM's stacks can be walked.
    pub(super) fn new(can_walk: bool) -> Self {
        Self {
            walk: can_walk.then(StackWalk::new).flatten(),
            ..Self::default()
        }
    }

    /// Whether more stacks are remembered than there may be.
    pub(super) fn is_full(&self) -> bool {
        let by_stack = self.by_stack.iter().map(FxHashMap::len);
        let by_address = self.by_address.iter().map(FxHashMap::len);
        by_stack
            .chain(by_address)
            .any(|length| length >= MOST_PLACES)
    }

    /// Forgets them all.
    pub(super) fn clear(&mut self) {
        self.by_stack = Default::default();
        self.by_address = Default::default();
    }

    /// The frames of the last stack below the tracker's.
    pub(super) fn frames(&self) -> &[StackFrame] {
        self.stack.get(TRACKER_FRAMES..).unwrap_or_default()
    }

    /// What is known of the last stack, with the room of this level.
    pub(super) fn known_at(&self, level: usize) -> Option<&Known> {
        self.by_stack.get(level)?.get(self.frames())
    }

    /// Remembers more of the last stack.
    pub(super) fn remember(&mut self, level: usize, more: Known) {
        let stack: Box<[StackFrame]> = self.frames().into();
        let Some(known) = self.by_stack.get_mut(level) else {
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

    /// What is known of the calling thread's stack by its addresses, after so many collections. `rooms` are the Java frames
    /// that it must have for each level.
    pub(super) fn look_up(
        &mut self,
        code: &JavaCode,
        jni: &Jni<'_>,
        rooms: &[usize],
        collections: u64,
    ) -> LookUp {
        let Some(walk) = &mut self.walk else {
            return LookUp::Ask;
        };
        if !walk.begin(code, jni) {
            return LookUp::Ask;
        }
        for (&room, known) in rooms.iter().zip(&mut self.by_address) {
            let Some(addresses) = walk.extend(code, room) else {
                return LookUp::Ask;
            };
            let known = known.get_mut(addresses);
            match known.filter(|known| known.holds(collections)) {
                None => return LookUp::Learn,
                Some(known) => match &mut known.what {
                    Walked::TooShort => {}
                    Walked::Unclear => return LookUp::Ask,
                    Walked::Place(counted, met) => return look(*counted, met),
                },
            }
        }
        LookUp::Ask
    }

    /// Remembers what the stack that was looked up last is: too short below `level`, and `what` there.
    pub(super) fn learn(
        &mut self,
        code: &JavaCode,
        rooms: &[usize],
        (level, what): (usize, Walked),
        collections: u64,
    ) {
        let Some(walk) = &mut self.walk else {
            return;
        };
        walk.rewind();
        let levels = rooms.iter().zip(&mut self.by_address).enumerate();
        for (at, (&room, known)) in levels.take(level + 1) {
            let Some(addresses) = walk.extend(code, room) else {
                return;
            };
            let addresses: Box<[u64]> = addresses.into();
            let remembered = Remembered {
                what: if at < level { Walked::TooShort } else { what },
                collections: walk.has_interpreted().then_some(collections),
            };
            known.insert(addresses, remembered);
        }
    }
}

/// The place counts; now and then, more and more seldom, it is time to ask.
fn look(counted: Counted, met: &mut u32) -> LookUp {
    *met = met.saturating_add(1);
    if met.is_power_of_two() {
        LookUp::Check(counted)
    } else {
        LookUp::Count(counted)
    }
}

impl Remembered {
    fn holds(&self, collections: u64) -> bool {
        self.collections.is_none_or(|then| then == collections)
    }
}
