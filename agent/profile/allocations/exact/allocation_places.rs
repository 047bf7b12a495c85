//! The places at which one thread allocates. Each is known by its stack as the JVM reports it, and
//! by the return addresses of its frames.
//!
//! The addresses of compiled frames count as one Java frame each, however many methods the compiler
//! inlined: equal addresses still mean equal stacks. What is known is verified with the JVM from
//! time to time, and after one mismatch addresses are not used again in this session.
//!
//! Refused, by the processor time of h2 under Java 17 as a multiple of that without the agent (by
//! addresses 2.4): `GetStackTrace` for each object, 7.9; `AsyncGetCallTrace` for each, 5.1;
//! addresses for compiled stacks only, 3.4. A part stays only if counts would cost more than three
//! times without it.

use super::array_sizes::Elements;
use super::known_classes::KnownClass;
use super::stack_addresses::is_due;
use super::thread_tally::CountIndex;
use hotspot::{JavaCode, StackWalk};
use jvm::jni::Jni;
use jvm::object::Object;
use jvm::stack::StackFrame;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tables::SiteIndex;

/// Frames of the tracker on top of each stack: its native method and the method that calls it.
pub(crate) const TRACKER_FRAMES: usize = 2;
/// Constructors that a stack may have above the frames that count, by level. Most have two: that of
/// `Object` and its caller. Each frame costs time for each object, so the higher levels are only
/// for stacks that were too short.
pub(crate) const CONSTRUCTOR_FRAMES: [usize; 3] = [2, 6, 1024];
/// Most stacks that a thread remembers.
const MOST_PLACES: usize = 1 << 16;
/// Most classes to distinguish at one stack. They are compared one by one, so with more of them it
/// would take as long as asking the JVM.
const MOST_CLASSES: usize = 16;

/// A stack and a class that was allocated there before.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The class.
    pub(crate) class: Arc<KnownClass>,
    /// Whether this stack only allocates objects of this class.
    pub(crate) is_only_class: bool,
    /// The thing counted there.
    pub(crate) counted: Counted,
}

/// Where an object is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    /// Index in the thread's counts.
    pub(crate) count: CountIndex,
    /// Index in the session's table.
    pub(crate) site: SiteIndex,
    /// The size of each object.
    pub(crate) size: Size,
}

/// The size of the objects of a place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Size {
    /// All have this many words.
    Words(u32),
    /// It depends on the number of these elements.
    Array(Elements),
}

/// The facts about a stack as the JVM reported it.
#[derive(Debug)]
pub(crate) enum Known {
    /// Its places, mostly one.
    Places(Vec<Place>),
    /// It was cut off within the constructors.
    TooShort,
}

/// What was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum New {
    /// An object; its constructors are still running.
    Instance,
    /// An array of this length.
    Array(i32),
    /// An array of this length that was allocated together with its inner or outer arrays.
    Nest(i32),
}

/// The place of an object, and the level that its stack needed.
#[derive(Clone, Debug)]
pub(crate) struct PlaceAt {
    /// From 0.
    pub(crate) level: usize,
    /// The place.
    pub(crate) place: Place,
}

/// The result of looking up a stack by its addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LookUp {
    /// Where the object is counted.
    Count(Counted),
    /// The same, and it is time to verify it with the JVM.
    Check(Counted),
    /// It depends on the object's class; and whether it is time to verify it with the JVM.
    ByClass(StackIndex, bool),
    /// The stack is new.
    Learn,
    /// The stack cannot be walked: the JVM must be asked.
    Ask,
}

/// The facts about a stack by its addresses.
#[derive(Clone, Copy, Debug)]
enum Walked {
    /// Its only place, and how often it was met.
    Place(Counted, u32),
    /// It was cut off within the constructors: a longer walk is needed.
    TooShort,
    /// It has places of several classes, or may have; and how often it was met.
    ByClass(StackIndex, u32),
}

impl Walked {
    /// Counts one more occurrence and returns what is known; `None` if a longer walk is needed.
    fn meet(&mut self) -> Option<LookUp> {
        match self {
            Self::TooShort => None,
            Self::ByClass(stack, met) => Some(LookUp::ByClass(*stack, is_due(met))),
            Self::Place(counted, met) => Some(match is_due(met) {
                true => LookUp::Check(*counted),
                false => LookUp::Count(*counted),
            }),
        }
    }
}

/// Index of a stack with places of several classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StackIndex(u32);

/// A stack with places of several classes, the most recent first.
#[derive(Debug)]
struct ClassPlaces {
    level: usize,
    places: Vec<Place>,
}

/// The same, and how long it holds. It is small, because it is looked up for each object.
#[derive(Clone, Copy, Debug)]
struct Remembered {
    what: Walked,
    /// The age of bytecode at which it holds; `None` if it holds for good.
    age: Option<u32>,
}

const _: () = assert!(std::mem::size_of::<Remembered>() <= 32);

/// The places of a thread.
#[derive(Debug, Default)]
pub(crate) struct AllocationPlaces {
    /// By level: a stack that is whole at one level may be cut at a lower one.
    by_stack: [FxHashMap<Box<[StackFrame]>, Known>; CONSTRUCTOR_FRAMES.len()],
    by_address: [FxHashMap<u64, Remembered>; CONSTRUCTOR_FRAMES.len()],
    by_class: Vec<ClassPlaces>,
    /// The last stack that the JVM reported.
    pub(crate) stack: Vec<StackFrame>,
    /// `None` if stacks cannot be walked.
    walk: Option<StackWalk>,
}

/// How many frames of a stack to read, by level.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rooms {
    /// There are no constructors.
    One([usize; 1]),
    /// With room for more and more constructors.
    Each([usize; CONSTRUCTOR_FRAMES.len()]),
}

impl Rooms {
    /// For an object of this kind, if `depth_frames` frames count.
    pub(crate) fn new(new: New, depth_frames: usize) -> Self {
        let room = |above| TRACKER_FRAMES + above + depth_frames;
        match new {
            New::Array(_) | New::Nest(_) => Self::One([room(0)]),
            New::Instance => Self::Each(CONSTRUCTOR_FRAMES.map(room)),
        }
    }

    /// The number of frames of each level.
    pub(crate) fn as_slice(&self) -> &[usize] {
        match self {
            Self::One(room) => room,
            Self::Each(rooms) => rooms,
        }
    }
}

impl AllocationPlaces {
    /// No places yet. `can_walk` is whether the JVM's stacks can be walked.
    pub(crate) fn new(can_walk: bool) -> Self {
        Self {
            walk: can_walk.then(StackWalk::new).flatten(),
            ..Self::default()
        }
    }

    /// Whether the limit of stacks is reached.
    pub(crate) fn is_full(&self) -> bool {
        let mut lengths = self.by_stack.iter().map(FxHashMap::len);
        lengths.any(|length| length >= MOST_PLACES)
    }

    /// If the limit is reached, forgets all stacks by addresses. Most of them will not occur again:
    /// their code was compiled anew, or was interpreted.
    fn make_room(&mut self) {
        let mut lengths = self.by_address.iter().map(FxHashMap::len);
        let is_full = lengths.any(|length| length >= MOST_PLACES);
        if is_full || self.by_class.len() >= MOST_PLACES {
            self.by_address = Default::default();
            self.by_class = Vec::new();
        }
    }

    /// Forgets all places.
    pub(crate) fn clear(&mut self) {
        self.by_stack = Default::default();
        self.by_address = Default::default();
        self.by_class = Vec::new();
    }

    /// The frames of the last stack below the tracker's.
    pub(crate) fn frames(&self) -> &[StackFrame] {
        self.stack.get(TRACKER_FRAMES..).unwrap_or_default()
    }

    /// The facts about the last stack at this level.
    pub(crate) fn known_at(&self, level: usize) -> Option<&Known> {
        self.by_stack.get(level)?.get(self.frames())
    }

    /// Remembers more about the last stack.
    pub(crate) fn remember(&mut self, level: usize, more: Known) {
        let stack: Box<[StackFrame]> = self.frames().into();
        let Some(known) = self.by_stack.get_mut(level) else {
            return;
        };
        match (known.get_mut(&stack), more) {
            (Some(Known::Places(places)), Known::Places(mut more)) => places.append(&mut more),
            // A stack with places is whole.
            (Some(Known::Places(_)), Known::TooShort) => {}
            (_, more) => {
                known.insert(stack, more);
            }
        }
    }

    /// Looks up the calling thread's stack by its addresses, at this age of bytecode. `rooms` are
    /// the frames to walk for each level.
    pub(crate) fn look_up(
        &mut self,
        code: &JavaCode,
        jni: &Jni<'_>,
        rooms: &[usize],
        age: u32,
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
            let known = known.get_mut(&addresses);
            let Some(known) = known.filter(|known| known.age.is_none_or(|then| then == age)) else {
                return LookUp::Learn;
            };
            if let Some(found) = known.what.meet() {
                return found;
            }
        }
        LookUp::Ask
    }

    /// Where an object of this class is counted; `None` if this stack has not allocated one.
    pub(crate) fn of_class(
        &mut self,
        stack: StackIndex,
        jni: &Jni<'_>,
        class: &Object<'_>,
    ) -> Option<Counted> {
        let places = &mut self.by_class.get_mut(stack.0 as usize)?.places;
        let found = places.iter().position(|place| place.class.is(jni, class))?;
        let counted = places.get(found)?.counted;
        // The next object is often of the same class, or of another recent one.
        if let Some(until) = places.get_mut(..=found) {
            until.rotate_right(1);
        }
        Some(counted)
    }

    /// Remembers the place of another class at this stack.
    pub(crate) fn learn_class(&mut self, stack: StackIndex, found: PlaceAt) {
        let known = self.by_class.get_mut(stack.0 as usize);
        if let Some(known) = known.filter(|known| known.level == found.level) {
            known.places.truncate(MOST_CLASSES - 1);
            known.places.insert(0, found.place);
        }
    }

    /// Remembers the stack that was looked up last: it is too short below the level of `found`,
    /// where it has a place.
    pub(crate) fn learn(&mut self, code: &JavaCode, rooms: &[usize], found: PlaceAt, age: u32) {
        let PlaceAt { level, place } = found;
        self.make_room();
        let Some(walk) = &mut self.walk else {
            return;
        };
        walk.rewind();
        let levels = rooms.iter().zip(&mut self.by_address).enumerate();
        for (at, (&room, known)) in levels.take(level + 1) {
            let Some(addresses) = walk.extend(code, room) else {
                return;
            };
            let before = known.get(&addresses).map(|known| known.what);
            let what = match (at < level, place.is_only_class) {
                (true, _) => Walked::TooShort,
                (false, true) => Walked::Place(place.counted, met_before(before, &place)),
                (false, false) => {
                    let places = ClassPlaces {
                        level,
                        places: vec![place.clone()],
                    };
                    Walked::ByClass(put(&mut self.by_class, before, places), 0)
                }
            };
            let remembered = Remembered {
                what,
                age: walk.has_interpreted().then_some(age),
            };
            known.insert(addresses, remembered);
        }
    }
}

/// How often the place was met, if it is the same as `before`. Stacks with bytecode are learned
/// again at each age, and would never be verified if they started from 0.
fn met_before(before: Option<Walked>, place: &Place) -> u32 {
    match before {
        Some(Walked::Place(counted, met)) if counted.site == place.counted.site => met,
        _ => 0,
    }
}

/// Stores the places of a stack: where it had places `before`, or at a new index.
fn put(all: &mut Vec<ClassPlaces>, before: Option<Walked>, places: ClassPlaces) -> StackIndex {
    if let Some(Walked::ByClass(index, _)) = before {
        if let Some(old) = all.get_mut(index.0 as usize) {
            *old = places;
            return index;
        }
    }
    // There are fewer than `MOST_PLACES`.
    let index = StackIndex(u32::try_from(all.len()).unwrap_or(u32::MAX));
    all.push(places);
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_that_is_learned_anew_takes_no_more_room() {
        let places = |level| ClassPlaces {
            level,
            places: Vec::new(),
        };
        let mut all = Vec::new();
        let first = put(&mut all, None, places(0));
        let second = put(&mut all, Some(Walked::TooShort), places(1));
        assert_eq!(
            put(&mut all, Some(Walked::ByClass(first, 9)), places(2)),
            first
        );
        let levels: Vec<_> = all.iter().map(|one| one.level).collect();
        assert_eq!(
            (levels.as_slice(), second),
            ([2, 1].as_slice(), StackIndex(1))
        );
    }
}
