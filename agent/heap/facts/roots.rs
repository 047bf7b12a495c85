//! The roots that the walk reports: noted in the callback, turned into records afterwards.

use super::catalogue::Catalogue;
use jvm::heap::{Reference, RootFrame};
use jvm::method::MethodId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, HashSet};
use tables::{ObjectIndex, Root, ThreadId, TraceId};

/// The walk's reports about one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::heap) struct ThreadNote {
    /// The thread object.
    pub(in crate::heap) object: ObjectIndex,
    /// Its name from the heap, in modified UTF-8; empty if it was not read.
    pub(in crate::heap) name: Vec<u8>,
    /// The frames with references, by depth: the method, and its location if it was reported.
    pub(in crate::heap) frames: BTreeMap<u32, (MethodId, Option<i64>)>,
}

/// The classes of the objects that the VM itself holds. Needed up to JDK 14, where HotSpot reports
/// constants of compiled code as roots of the same kind.
const THE_VMS: [&[u8]; 8] = [
    b"Ljava/lang/ArithmeticException;",
    b"Ljava/lang/ArrayStoreException;",
    b"Ljava/lang/NullPointerException;",
    b"Ljava/lang/OutOfMemoryError;",
    b"Ljava/lang/ThreadGroup;",
    b"Ljava/lang/VirtualMachineError;",
    b"[Ljava/lang/OutOfMemoryError;",
    b"[Ljava/lang/Throwable;",
];

/// Classifies the roots that JVMTI reports as "system class" and "other".
///
/// As "system class" HotSpot reports everything held by the data of loaders that are never
/// unloaded: mirrors, arrays of resolved constants, modules and more. As "other" it reports what
/// the VM holds, mounted virtual threads and, up to JDK 14, constants of compiled code, which last
/// only as long as the code. HotSpot's own dumps list only the mirrors and, as JNI globals, what
/// the VM holds.
#[derive(Clone, Debug, Default)]
pub(in crate::heap) struct SystemRoots {
    /// Tags of `java.lang.Class` and `java.lang.Module`.
    class: Option<i64>,
    module: Option<i64>,
    /// Tag of `java.lang.ThreadGroup`.
    thread_group: Option<i64>,
    /// Tags of the classes of the VM's own objects; `None` if nothing else is reported as "other".
    the_vms: Option<Vec<i64>>,
}

impl SystemRoots {
    /// For a JVM with these classes, which must be tagged.
    pub(in crate::heap) fn of(catalogue: &Catalogue<'_>) -> Self {
        let tag = |signature: &[u8]| {
            let class = catalogue.bootstrap_class_id(signature)?;
            Some(catalogue.mirror(class)?.tag())
        };
        // HotSpot 14 and later load this class at startup.
        let has_records = tag(b"Ljava/lang/Record;").is_some();
        let the_vms = || THE_VMS.into_iter().filter_map(tag).collect();
        Self {
            class: tag(b"Ljava/lang/Class;"),
            module: tag(b"Ljava/lang/Module;"),
            thread_group: tag(b"Ljava/lang/ThreadGroup;"),
            the_vms: (!has_records).then(the_vms),
        }
    }

    /// The place of an "other" root to an object of the class with this tag, given those reported
    /// before it; `None` for a constant of compiled code.
    ///
    /// Up to JDK 14 HotSpot reports first what loader data hold, then what the VM holds (from
    /// mirrors of primitive types to two thread groups), then the constants.
    fn other_place(&self, class_tag: i64, before: OthersBefore) -> Option<Place> {
        let Some(the_vms) = &self.the_vms else {
            return Some(Place::Vm);
        };
        let is_mirror = self.class == Some(class_tag);
        if !before.mirror && !is_mirror {
            return Some(self.place(class_tag));
        }
        let is_the_vms = before.thread_groups < 2 || the_vms.contains(&class_tag);
        is_the_vms.then_some(Place::Vm)
    }

    /// The place of a "system class" root to an object of the class with this tag.
    fn place(&self, class_tag: i64) -> Place {
        if self.class.is_none_or(|class| class == class_tag) {
            Place::SystemClass
        } else if self.module == Some(class_tag) {
            Place::Module
        } else {
            Place::LoaderData
        }
    }
}

/// Which "other" roots have been reported so far.
#[derive(Clone, Copy, Debug, Default)]
struct OthersBefore {
    mirror: bool,
    thread_groups: u32,
}

/// The place of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    JniGlobal,
    SystemClass,
    /// Held by a loader's data, but neither a mirror nor a module.
    LoaderData,
    /// A module, which can also be reached through its layer or its loader.
    Module,
    /// Held by the VM itself.
    Vm,
    /// Held by the VM itself, for a thread that is not known.
    VmForThread,
    Monitor,
    Thread {
        thread: usize,
    },
    StackLocal {
        thread: usize,
        depth: Option<u32>,
    },
    JniLocal {
        thread: usize,
        depth: Option<u32>,
    },
}

/// All roots of one walk. The walk owns them; the VM thread fills them.
#[derive(Debug, Default)]
pub(in crate::heap) struct RootNotes {
    /// The agent's own thread. Its local references are not roots of the application.
    own_thread: Option<ObjectIndex>,
    /// The threads, in the order in which the walk reported them.
    pub(in crate::heap) threads: Vec<ThreadNote>,
    thread_places: FxHashMap<ObjectIndex, usize>,
    /// The last reported thread; and by number, the threads that had no tag when the JVM reported
    /// them.
    last_thread: Option<ObjectIndex>,
    untagged: FxHashMap<i64, ObjectIndex>,
    system: SystemRoots,
    others: OthersBefore,
    /// Frames known to belong to Java (not native) methods, by thread and depth.
    java_frames: FxHashSet<(usize, u32)>,
    /// How many threads had frames on stacks of the system, from whose top the walk counted them.
    on_stacks: usize,
    /// What these frames hold, each with its thread.
    held_on_stacks: FxHashSet<(usize, ObjectIndex)>,
    notes: Vec<(ObjectIndex, Place)>,
}

impl RootNotes {
    /// No roots yet; `own_thread` is the thread that makes the dump.
    pub(in crate::heap) fn new(own_thread: Option<ObjectIndex>, system: SystemRoots) -> Self {
        Self {
            own_thread,
            system,
            ..Self::default()
        }
    }

    /// Those of them that had frames on stacks of the system.
    pub(in crate::heap) fn on_stacks(&self) -> &[ThreadNote] {
        self.threads.get(..self.on_stacks).unwrap_or_default()
    }

    /// The objects of all roots; some occur more than once.
    pub(in crate::heap) fn objects(&self) -> impl Iterator<Item = ObjectIndex> + '_ {
        let roots = self.notes.iter();
        let roots = roots.filter(|&&(_, place)| !self.is_code_constant(place));
        roots.map(|&(object, _)| object)
    }

    /// The mirrors of classes that are never unloaded.
    pub(in crate::heap) fn system_classes(&self) -> HashSet<ObjectIndex> {
        let roots = self.notes.iter();
        let classes = roots.filter(|(_, place)| *place == Place::SystemClass);
        classes.map(|&(mirror, _)| mirror).collect()
    }

    /// Whether a root to an object of the class with this tag is left out of the file.
    pub(in crate::heap) fn is_left_out(&self, kind: Reference, class_tag: i64) -> bool {
        kind == Reference::Other && self.system.other_place(class_tag, self.others).is_none()
    }

    /// Adds frames that belong to Java methods: for each thread, in the order of [`Self::threads`],
    /// their depths.
    pub(in crate::heap) fn know_java_frames<'d>(
        &mut self,
        depths: impl Iterator<Item = &'d [u32]>,
    ) {
        let frames = depths.enumerate();
        let frames =
            frames.flat_map(|(thread, depths)| depths.iter().map(move |&depth| (thread, depth)));
        self.java_frames.extend(frames);
    }

    /// Whether this is a constant of compiled code, which HotSpot reports as a JNI local of the
    /// frame that runs the code. Real JNI locals belong only to frames of native methods.
    fn is_code_constant(&self, place: Place) -> bool {
        let Place::JniLocal { thread, depth } = place else {
            return false;
        };
        let Some(depth) = depth else { return false };
        // Only locals come with a bytecode index, and native methods have no locals.
        let has_bytecode = || {
            let frames = self.threads.get(thread).map(|thread| &thread.frames);
            frames
                .and_then(|frames| frames.get(&depth))
                .is_some_and(|&(_, location)| matches!(location, Some(location) if location >= 0))
        };
        self.java_frames.contains(&(thread, depth)) || has_bytecode()
    }

    /// Whether this is one of the agent's own local references, which is not a root of the
    /// application.
    pub(in crate::heap) fn is_own(&self, kind: Reference) -> bool {
        match (kind, self.own_thread) {
            (Reference::JniLocal(frame), Some(own)) => {
                frame.depth == 0 && own.tag() == frame.thread_tag
            }
            _ => false,
        }
    }

    /// Whether this is the agent's own thread.
    pub(in crate::heap) fn is_own_thread(&self, thread: Option<ObjectIndex>) -> bool {
        thread.is_some() && thread == self.own_thread
    }

    /// Sets the thread object for a thread number of the JVM. Needed for virtual threads, which the
    /// JVM does not report themselves.
    pub(in crate::heap) fn know_thread(&mut self, thread_id: i64, object: ObjectIndex) {
        self.untagged.insert(thread_id, object);
    }

    /// Sets the name of each reported thread for which `name` returns one.
    pub(in crate::heap) fn name_threads(&mut self, name: impl Fn(ObjectIndex) -> Vec<u8>) {
        for thread in &mut self.threads {
            thread.name = name(thread.object);
        }
    }

    /// Called when the walk has reported all stacks of the system, and may go on to virtual
    /// threads.
    ///
    /// It then reports the frames of a mounted thread that are in the heap once more, and counts
    /// them from the newest of these. They keep the numbers that they have.
    pub(in crate::heap) fn leave_stacks(&mut self) {
        self.on_stacks = self.threads.len();
        let held = self.notes.iter();
        let held = held.filter_map(|&(object, place)| match place {
            Place::StackLocal { thread, .. } => Some((thread, object)),
            _ => None,
        });
        self.held_on_stacks = held.collect();
    }

    /// Notes one root to an object of the class with this tag. Ignores references that are not
    /// roots.
    pub(in crate::heap) fn note(&mut self, kind: Reference, class_tag: i64, object: ObjectIndex) {
        if matches!(kind, Reference::Thread | Reference::Other) {
            self.last_thread = Some(object);
        }
        let place = match kind {
            Reference::SystemClass => self.system.place(class_tag),
            Reference::Monitor => Place::Monitor,
            Reference::Thread => Place::Thread {
                thread: self.thread(object),
            },
            Reference::StackLocal(frame) => match self.frame(frame) {
                Some((thread, _)) if self.held_on_stacks.contains(&(thread, object)) => return,
                Some((thread, depth)) => Place::StackLocal { thread, depth },
                None => Place::VmForThread,
            },
            Reference::JniLocal(_) if self.is_own(kind) => return,
            Reference::JniLocal(frame) => match self.frame(frame) {
                // Frames in the heap are not native.
                Some((thread, _)) if thread < self.on_stacks => return,
                Some((thread, depth)) => Place::JniLocal { thread, depth },
                None => Place::VmForThread,
            },
            Reference::Other => match self.system.other_place(class_tag, self.others) {
                Some(place) => {
                    self.others.mirror |= self.system.class == Some(class_tag);
                    let is_group = self.system.thread_group == Some(class_tag);
                    self.others.thread_groups += u32::from(is_group);
                    place
                }
                None => return,
            },
            Reference::JniGlobal => Place::JniGlobal,
            _ => return,
        };
        self.notes.push((object, place));
    }

    /// The objects that frames of Java methods hold, each with its thread.
    pub(in crate::heap) fn in_frames(
        &self,
    ) -> impl Iterator<Item = (ObjectIndex, ObjectIndex)> + '_ {
        self.notes
            .iter()
            .filter_map(|&(object, place)| match place {
                Place::StackLocal { thread, .. } => {
                    Some((self.threads.get(thread)?.object, object))
                }
                _ => None,
            })
    }

    /// Notes an object that the JVM holds, for no thread that is known.
    pub(in crate::heap) fn note_without_thread(&mut self, object: ObjectIndex) {
        self.notes.push((object, Place::VmForThread));
    }

    /// Notes an object that some frame of a thread holds.
    pub(in crate::heap) fn note_in_frame(&mut self, thread: ObjectIndex, object: ObjectIndex) {
        let (thread, depth) = (self.thread(thread), None);
        self.notes
            .push((object, Place::StackLocal { thread, depth }));
    }

    fn thread(&mut self, object: ObjectIndex) -> usize {
        let threads = &mut self.threads;
        *self.thread_places.entry(object).or_insert_with(|| {
            threads.push(ThreadNote {
                object,
                name: Vec::new(),
                frames: BTreeMap::new(),
            });
            threads.len() - 1
        })
    }

    /// The thread and depth of a stack root; `None` if the thread is unknown. No JVM was seen to
    /// report that.
    fn frame(&mut self, frame: RootFrame) -> Option<(usize, Option<u32>)> {
        let object = self.thread_object(frame)?;
        let thread = self.thread(object);
        let method = frame.method.filter(|_| thread >= self.on_stacks);
        let Some(method) = method else {
            return Some((thread, None));
        };
        let noted = self
            .threads
            .get_mut(thread)?
            .frames
            .entry(frame.depth)
            .or_insert((method, frame.location));
        if noted.1.is_none() {
            *noted = (method, frame.location);
        }
        Some((thread, Some(frame.depth)))
    }

    /// The thread object of a frame.
    ///
    /// HotSpot 21 and later read the thread's tag before they report the thread itself. A thread
    /// that was not tagged before the walk thus has no tag here: it is the thread, or the mounted
    /// virtual thread, reported last.
    fn thread_object(&mut self, frame: RootFrame) -> Option<ObjectIndex> {
        if let Some(tagged) = ObjectIndex::from_tag(frame.thread_tag) {
            return Some(tagged);
        }
        if let Some(&known) = self.untagged.get(&frame.thread_id) {
            return Some(known);
        }
        let last = self.last_thread?;
        self.untagged.insert(frame.thread_id, last);
        Some(last)
    }

    /// The roots as the file has them. `threads` are the rows of [`Self::threads`], in their order.
    ///
    /// `is_class` tells whether an object is the mirror of a class in the file (mirrors of
    /// primitive types are not). `is_held` tells whether a class that is never unloaded refers to
    /// the object. An object held by a loader's data needs no root if `is_held`; otherwise it is
    /// one of the VM's own objects. A module needs no root, because its layer or its loader refers
    /// to it.
    pub(in crate::heap) fn records(
        &self,
        threads: &[(ThreadId, TraceId)],
        is_class: impl Fn(ObjectIndex) -> bool,
        is_held: impl Fn(ObjectIndex) -> bool,
    ) -> Vec<Root> {
        let mut roots = Vec::with_capacity(self.notes.len());
        let mut system = HashSet::new();
        let mut reference = 0;
        let of_vm = |object| Root::JniGlobal {
            object,
            reference: 0,
        };
        for &(object, place) in &self.notes {
            match place {
                Place::SystemClass if is_class(object) => {
                    if system.insert(object) {
                        roots.push(Root::StickyClass { object });
                    }
                }
                Place::JniGlobal => {
                    // JVMTI does not report the reference's address; a running number keeps the
                    // records apart.
                    reference += 1;
                    roots.push(Root::JniGlobal { object, reference });
                }
                // Such a class is the mirror of a primitive type.
                Place::SystemClass | Place::VmForThread => roots.push(of_vm(object)),
                Place::LoaderData if !is_held(object) && system.insert(object) => {
                    roots.push(of_vm(object));
                }
                // HotSpot also reports a mounted virtual thread as one of the VM's own objects. It
                // already has a root as a thread.
                Place::Vm if !self.thread_places.contains_key(&object) => {
                    roots.push(of_vm(object));
                }
                Place::Monitor => roots.push(Root::MonitorUsed { object }),
                _ if self.is_code_constant(place) => {}
                _ => roots.extend(of_thread(object, place, threads)),
            }
        }
        roots
    }
}

/// The roots of a thread; none for other places, and for a thread that has no row.
fn of_thread(object: ObjectIndex, place: Place, threads: &[(ThreadId, TraceId)]) -> Vec<Root> {
    let (Place::Thread { thread }
    | Place::StackLocal { thread, .. }
    | Place::JniLocal { thread, .. }) = place
    else {
        return Vec::new();
    };
    let Some(&(thread, trace)) = threads.get(thread) else {
        return Vec::new();
    };
    match place {
        Place::StackLocal { depth: frame, .. } => vec![Root::JavaFrame {
            object,
            thread,
            frame,
        }],
        Place::JniLocal { depth: frame, .. } => vec![Root::JniLocal {
            object,
            thread,
            frame,
        }],
        _ => {
            let own = Root::ThreadObject {
                object,
                thread,
                trace,
            };
            vec![own, Root::ThreadBlock { object, thread }]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tags of classes.
    const CLASS: i64 = 70;
    const MODULE: i64 = 71;
    const ERROR: i64 = 72;
    const GROUP: i64 = 73;

    /// As in HotSpot from 14 on.
    const SYSTEM: SystemRoots = SystemRoots {
        class: Some(CLASS),
        module: Some(MODULE),
        thread_group: Some(GROUP),
        the_vms: None,
    };

    fn object(number: u32) -> ObjectIndex {
        ObjectIndex::new(number).expect("not 0")
    }

    fn frame(thread: i64, depth: u32, method: Option<usize>, location: Option<i64>) -> RootFrame {
        RootFrame {
            thread_tag: thread,
            thread_id: 40,
            depth,
            method: method.map(MethodId::for_test),
            location,
        }
    }

    fn local(thread: i64, depth: u32, method: Option<usize>, location: Option<i64>) -> Reference {
        Reference::StackLocal(frame(thread, depth, method, location))
    }

    fn jni(thread: i64, depth: u32, method: Option<usize>, location: Option<i64>) -> Reference {
        Reference::JniLocal(frame(thread, depth, method, location))
    }

    fn global(number: u32, reference: u64) -> Root {
        Root::JniGlobal {
            object: object(number),
            reference,
        }
    }

    fn ids(numbers: &[u32]) -> Vec<(ThreadId, TraceId)> {
        let trace = |number| TraceId::new(number + 1).expect("not 0");
        let row = |&number| (ThreadId::new(number).expect("not 0"), trace(number));
        numbers.iter().map(row).collect()
    }

    #[test]
    fn roots_of_a_thread_carry_its_serial_and_depth() {
        let mut notes = RootNotes::new(None, SYSTEM);
        notes.note(Reference::Thread, 0, object(7));
        notes.note(local(7, 2, Some(1), Some(15)), 0, object(8));
        notes.note(jni(7, 0, None, None), 0, object(9));
        let rows = ids(&[1]);
        let (thread, trace) = rows[0];
        assert_eq!(
            notes.records(&rows, |_| true, |_| true),
            [
                Root::ThreadObject {
                    object: object(7),
                    thread,
                    trace
                },
                Root::ThreadBlock {
                    object: object(7),
                    thread
                },
                Root::JavaFrame {
                    object: object(8),
                    thread,
                    frame: Some(2)
                },
                Root::JniLocal {
                    object: object(9),
                    thread,
                    frame: None
                },
            ]
        );
        assert_eq!(
            notes.threads[0].frames[&2],
            (MethodId::for_test(1), Some(15))
        );
    }

    #[test]
    fn the_agents_own_references_are_no_roots() {
        let mut notes = RootNotes::new(Some(object(3)), SYSTEM);
        notes.note(Reference::Thread, 0, object(3));
        notes.note(jni(3, 0, None, None), 0, object(8));
        notes.note(jni(3, 1, Some(4), None), 0, object(9));
        assert_eq!(notes.records(&ids(&[1]), |_| true, |_| true).len(), 3);
    }

    #[test]
    fn what_fits_no_kind_is_the_vms() {
        let mut notes = RootNotes::new(None, SYSTEM);
        // A frame reported before any thread: its thread is unknown.
        notes.note(local(0, 0, Some(1), Some(0)), 0, object(4));
        notes.note(Reference::Other, 0, object(1));
        notes.note(Reference::SystemClass, CLASS, object(2));
        notes.note(Reference::SystemClass, CLASS, object(3));
        notes.note(Reference::SystemClass, CLASS, object(2));
        notes.note(Reference::FromObject, 0, object(5));
        notes.note(Reference::JniGlobal, 0, object(6));
        notes.note(Reference::JniGlobal, 0, object(6));
        assert_eq!(
            notes.records(&[], |object| object.get() == 2, |_| true),
            [
                global(4, 0),
                global(1, 0),
                Root::StickyClass { object: object(2) },
                global(3, 0),
                global(6, 1),
                global(6, 2),
            ]
        );
    }

    #[test]
    fn what_classes_hold_needs_no_root() {
        let mut notes = RootNotes::new(None, SYSTEM);
        notes.note(Reference::SystemClass, MODULE, object(1));
        for number in [2, 3, 3] {
            notes.note(Reference::SystemClass, 0, object(number));
        }
        let records = notes.records(&[], |_| true, |object| object.get() == 2);
        assert_eq!(records, [global(3, 0)]);
        assert!(notes.system_classes().is_empty());
        assert_eq!(notes.objects().count(), 4, "all are in the dump");
    }

    #[test]
    fn constants_of_compiled_code_are_no_roots() {
        let system = SystemRoots {
            the_vms: Some(vec![ERROR]),
            ..SYSTEM
        };
        let mut notes = RootNotes::new(None, system);
        // Held by a loader's data, held by the VM, a constant, an error.
        for (number, class) in [
            (1, 0),
            (2, CLASS),
            (3, 0),
            (4, GROUP),
            (5, GROUP),
            (6, 0),
            (7, ERROR),
        ] {
            notes.note(Reference::Other, class, object(number));
        }
        let objects: Vec<u32> = notes.objects().map(ObjectIndex::get).collect();
        assert_eq!(objects, [1, 2, 3, 4, 5, 7]);
        let records = notes.records(&[], |_| true, |_| false);
        let globals = |root: &&Root| matches!(root, Root::JniGlobal { .. });
        assert_eq!(records.iter().filter(globals).count(), 6);
        assert!(notes.is_left_out(Reference::Other, 0));
        assert!(!notes.is_left_out(Reference::Other, ERROR));
        assert!(!notes.is_left_out(Reference::JniGlobal, 0));
        let notes = RootNotes::new(None, SYSTEM);
        assert!(!notes.is_left_out(Reference::Other, 0));
    }

    #[test]
    fn constants_of_compiled_code_are_no_locals() {
        let local = |depth| jni(7, depth, Some(depth as usize + 1), None);
        let mut notes = RootNotes::new(None, SYSTEM);
        notes.note(Reference::Thread, 0, object(7));
        // A native method, a Java method with only constants, and one that also has a local.
        for depth in 0..3 {
            notes.note(local(depth), 0, object(10 + depth));
        }
        let place = frame(7, 2, Some(3), Some(5));
        notes.note(Reference::StackLocal(place), 0, object(20));
        let objects = |notes: &RootNotes| notes.objects().map(ObjectIndex::get).collect::<Vec<_>>();
        assert_eq!(objects(&notes), [7, 10, 11, 20]);
        notes.know_java_frames([&[1, 2][..]].into_iter());
        assert_eq!(objects(&notes), [7, 10, 20]);
        let records = notes.records(&ids(&[1]), |_| true, |_| true);
        let locals = records.iter().filter_map(|root| match root {
            Root::JniLocal { object, .. } => Some(object.get()),
            _ => None,
        });
        assert_eq!(locals.collect::<Vec<_>>(), [10]);
        assert_eq!(
            records.len(),
            4,
            "the thread's two, a local, a local reference"
        );
    }

    #[test]
    fn a_mounted_virtual_thread_is_a_thread_and_no_global() {
        let mut notes = RootNotes::new(None, SYSTEM);
        notes.note(Reference::Other, 0, object(7));
        let local = local(0, 0, Some(1), Some(2));
        notes.note(local, 0, object(8));
        let records = notes.records(&ids(&[1]), |_| true, |_| true);
        assert!(
            matches!(records[..], [Root::JavaFrame { .. }]),
            "{records:?}"
        );
    }

    #[test]
    fn a_thread_without_a_tag_is_the_one_reported_last() {
        let mut notes = RootNotes::new(None, SYSTEM);
        notes.note(Reference::Thread, 0, object(7));
        notes.note(local(0, 1, Some(1), Some(15)), 0, object(8));
        notes.note(Reference::Thread, 0, object(9));
        // Still the first thread, according to its number.
        notes.note(local(0, 2, Some(2), Some(15)), 0, object(8));
        assert_eq!(notes.threads[0].frames.len(), 2);
        assert!(notes.threads[1].frames.is_empty());
    }

    #[test]
    fn frames_that_are_reported_twice_keep_their_first_numbers() {
        let mut notes = RootNotes::new(None, SYSTEM);
        notes.note(Reference::Other, 0, object(7));
        notes.note(local(0, 3, Some(3), Some(5)), 0, object(8));
        notes.note(local(0, 4, Some(4), Some(6)), 0, object(9));
        let numbered = notes.threads[0].frames.clone();
        notes.leave_stacks();
        // The same frames, from the newest in the heap; and a constant of their code.
        notes.note(local(0, 0, Some(3), Some(5)), 0, object(8));
        notes.note(local(0, 1, Some(4), Some(6)), 0, object(9));
        notes.note(local(0, 1, Some(4), Some(6)), 0, object(10));
        notes.note(jni(0, 1, Some(4), None), 0, object(11));
        assert_eq!(notes.threads[0].frames, numbered);
        // A thread that waits.
        notes.know_thread(41, object(20));
        let waiting = RootFrame {
            thread_id: 41,
            ..frame(0, 1, Some(6), Some(7))
        };
        notes.note(Reference::StackLocal(waiting), 0, object(21));
        let records = notes.records(&ids(&[1, 2]), |_| true, |_| true);
        let frames = records.iter().map(|root| match root {
            Root::JavaFrame { object, frame, .. } => (object.get(), *frame),
            other => panic!("{other:?}"),
        });
        assert_eq!(
            frames.collect::<Vec<_>>(),
            [(8, Some(3)), (9, Some(4)), (10, None), (21, Some(1))]
        );
    }

    #[test]
    fn a_location_replaces_none() {
        let mut notes = RootNotes::new(None, SYSTEM);
        notes.note(jni(1, 0, Some(5), None), 0, object(2));
        notes.note(local(1, 0, Some(5), Some(9)), 0, object(2));
        assert_eq!(
            notes.threads[0].frames[&0],
            (MethodId::for_test(5), Some(9))
        );
    }
}
