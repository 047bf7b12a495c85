//! A leak suspect: what it is, what it holds, and who holds it.

use crate::elements::Held;
use crate::held_sites::HeldSites;
use crate::native_memory::NativeGroup;
use crate::paths::{Path, Step};
use crate::way::Way;

/// Most steps of a suspect's path.
pub(crate) const STEPS_MAX: usize = 18;

/// The suspect: an object or a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// One object.
    Object(u32),
    /// The objects of a class that have no dominator.
    Class {
        /// The class.
        class: u32,
        /// Number of objects.
        objects: u64,
    },
}

/// Objects of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The class.
    pub class: u32,
    /// Number of objects.
    pub objects: u64,
    /// Sum of their own bytes.
    pub bytes: u64,
}

/// How many of the objects of a class are held like the typical one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alike {
    /// The share of those with the same holder: a class with static fields, or a class of roots.
    /// 100 for a single object.
    pub percent: u64,
    /// Number of roots from which paths over the same classes lead; 0 for a single object.
    pub roots: u64,
}

/// Why elements stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Their keys are different objects with equal contents.
    EqualKeys,
    /// Their keys are different objects, whose own texts, numbers and classes are equal.
    AlikeKeys,
    /// They are different objects with equal contents.
    Equal,
    /// Their keys, or their texts in a field of this name, differ only in a number.
    Numbered(Option<String>),
    /// The same, but in the length of a list.
    Listed(Option<String>),
    /// They, or what they have in a field or are in, have come to their end, which this word names,
    /// or have not.
    State(&'static str, bool, Option<String>),
    /// The referents of references in them are gone.
    Cleared,
    /// Their own texts and numbers are equal.
    SameValues,
    /// The tag of this name has another value in each.
    Tag(String),
    /// Of so many texts in each only one differs; its name, if their holder knows it.
    OneOf(usize, Option<String>),
    /// They are references to the same object.
    SameReferent(u32),
    /// So many of an array's values, of so many, are used by this field.
    Filled(u64, u64, String),
    /// So many of the values of one's array, of so many, are used by this field, and not many more
    /// by the others.
    Unused(u64, u64, String),
    /// Each is the value of a weak key, which it holds.
    OwnWeakKey,
    /// They wait for a future that is not completed.
    NotCompleted,
    /// The futures that they are, or carry, are completed, or none is.
    Futures(bool),
    /// They are files to be deleted when the JVM ends.
    Deleted,
    /// What they are registered as, by these words of the name of their holder's field.
    Registered(String),
}

/// Why a suspect does not look like a leak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Calm {
    /// It is hardly more than a JVM and its libraries have.
    Little,
    /// It is small, and no reason speaks for a leak.
    Small,
    /// It is one array of primitive values, or a table of them, of which no field counts a part.
    Array,
    /// It is a collection that has as many elements as it may have, by this field.
    Full(u64, Option<String>),
    /// They are values of a weak map whose keys are gone.
    Stale,
    /// It is a collection that cannot be changed, and nothing else leads to its elements.
    Fixed,
}

/// One suspect.
#[derive(Clone, Debug)]
pub struct Suspect {
    /// The suspect.
    pub who: Who,
    /// Bytes retained.
    pub bytes: u64,
    /// The bytes of them that only soft references keep.
    pub soft_bytes: u64,
    /// The object from which the bytes spread; for a class, the last object that the paths to most
    /// of its objects share, or `None` if they share none.
    pub accumulation: Option<u32>,
    /// Bytes retained by the accumulation point, or 0.
    pub accumulated_bytes: u64,
    /// The object, or the object of the class whose path is the most frequent by the classes on it.
    pub typical: Option<u32>,
    /// The accumulation point below the first object of a group that is no group of elements.
    pub inside: Option<u32>,
    /// A path from a root to the accumulation point, or to the typical object; see
    /// [`crate::Heap::paths`].
    pub path: Option<Path>,
    /// A path to one of the elements.
    pub example: Option<Path>,
    /// The way to the elements.
    pub way: Way,
    /// Another static field that holds the elements, too.
    pub also: Option<(u32, u64)>,
    /// Whether they are in a weak map and its value keeps the key.
    pub keeps_its_key: bool,
    /// One of the elements, and below it what mostly fills it.
    pub contents: Vec<Step>,
    /// The static field of the thread local variable on `example` or else `path`: the class object,
    /// and the id of the field's name.
    pub thread_local: Option<(u32, u64)>,
    /// Number of classes that the first loader of a group defines, if the group is loaders that
    /// define the same; else 0.
    pub copied_classes: u64,
    /// How the names of the classes begin, if the suspect is classes of one loader that differ only
    /// in a number or a hash at their end.
    pub pattern: Option<String>,
    /// Of a class: how many of its objects are held like the typical one.
    pub alike: Alike,
    /// What it holds as the program knows it.
    pub held: Held,
    /// The objects that it holds, by class, most bytes first; at most ten classes.
    pub holds: Vec<Group>,
    /// Where they were allocated, as far as known.
    pub sites: HeldSites,
    /// Some of the elements, evenly spread.
    pub some: Vec<u32>,
    /// Why they stay, if they say so.
    pub reasons: Vec<Reason>,
    /// Why it does not look like a leak.
    pub calm: Option<Calm>,
    /// Whether it may as well be data that the program needs: it was asked, and shows neither.
    pub is_open: bool,
}

/// Memory outside of the heap.
#[derive(Clone, Debug)]
pub struct NativeSuspect {
    /// What it is.
    pub group: NativeGroup,
    /// A path to one of the objects that hold it.
    pub path: Option<Path>,
    /// The way to it.
    pub way: Way,
}

impl NativeSuspect {
    pub(crate) fn new(group: NativeGroup) -> Self {
        Self {
            group,
            path: None,
            way: Way::default(),
        }
    }
}

impl Suspect {
    /// Who retains how many bytes, and what they are; the rest is not known yet.
    pub(crate) fn new(who: Who, bytes: u64, held: Held) -> Self {
        Self {
            who,
            bytes,
            soft_bytes: 0,
            accumulation: None,
            accumulated_bytes: 0,
            typical: None,
            inside: None,
            path: None,
            example: None,
            way: Way::default(),
            also: None,
            keeps_its_key: false,
            contents: Vec::new(),
            thread_local: None,
            copied_classes: 0,
            pattern: None,
            alike: Alike {
                percent: 100,
                roots: 0,
            },
            held,
            holds: Vec::new(),
            sites: HeldSites::default(),
            some: Vec::new(),
            reasons: Vec::new(),
            calm: None,
            is_open: false,
        }
    }

    /// One of the elements; for threads that hold no elements, what the first one mostly holds.
    pub(crate) fn example_object(&self) -> Option<u32> {
        let elements = self.held.elements.map(|elements| elements.example);
        elements.or(self.inside)
    }

    /// The path that says who holds the elements, or the suspect if it has none or is a group of
    /// loaders.
    pub fn main_path(&self) -> Option<&Path> {
        match self.copied_classes {
            0 => self.example.as_ref().or(self.path.as_ref()),
            _ => self.path.as_ref(),
        }
    }
}
