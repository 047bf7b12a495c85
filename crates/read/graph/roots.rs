//! Roots: why objects are alive although no other object refers to them.
//!
//! As in Eclipse MAT, objects in a thread's frames are held by the thread object, not by the
//! virtual root.

use std::collections::{BTreeMap, HashMap};

use reader::{Directory, Root, RootKind};

use crate::id_index::IdIndex;
use crate::object_set::ObjectSet;
use crate::survey::Part;

/// A root of the whole heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapRoot {
    /// Number of the object.
    pub object: u32,
    /// Why it is a root.
    pub kind: RootKind,
}

/// An object that a thread holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// Number of the object.
    pub object: u32,
    /// How the thread holds it.
    pub kind: RootKind,
    /// Number of the frame in the thread's stack, 0 for the top; `None` if the file has none.
    pub frame: Option<u32>,
}

/// All roots of a dump.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    /// Roots of the whole heap by object, each object once, with its first kind in the file.
    pub(crate) global: Vec<HeapRoot>,
    /// The objects held by each thread object, by the thread object's number.
    locals: BTreeMap<u32, Vec<Local>>,
    /// A bit for each object: whether it is a root of the whole heap.
    is_root: ObjectSet,
    /// The thread objects by serial number.
    pub(crate) threads: BTreeMap<u32, u32>,
    /// Serial numbers of the thread objects' stack traces, by object number.
    pub(crate) traces: BTreeMap<u32, u32>,
}

impl Roots {
    /// The roots in all parts.
    pub(crate) fn new(parts: &[Part], ids: &IdIndex, directory: &Directory, objects: u32) -> Self {
        let mut roots = Self {
            is_root: ObjectSet::with_room(objects),
            ..Self::default()
        };
        let all = || parts.iter().flat_map(|part| &part.roots);
        let threads: HashMap<u32, u32> = all()
            .filter(|root| root.kind == RootKind::ThreadObject)
            .filter_map(|root| Some((root.thread_serial?, ids.number(root.object)?)))
            .collect();
        for root in all().filter(|root| root.kind != RootKind::Unreachable) {
            let Some(object) = ids.number(root.object) else {
                continue;
            };
            let serial = root.thread_serial;
            let holder = serial.and_then(|serial| threads.get(&serial));
            match holder {
                Some(thread) if root.kind != RootKind::ThreadObject && *thread != object => {
                    let local = Local {
                        object,
                        kind: root.kind,
                        frame: root.frame_number.filter(|number| *number != u32::MAX),
                    };
                    roots.locals.entry(*thread).or_default().push(local);
                }
                // No reference is at the address of its own object: our agent's mark.
                _ if root.reference == Some(root.object) => {
                    roots.add(object, RootKind::VmInternal);
                }
                _ => roots.add(object, root.kind),
            }
        }
        if !all().any(|root| root.kind == RootKind::StickyClass) {
            roots.add_boot_classes(ids, directory);
        }
        roots.global.sort_by_key(|root| root.object);
        let trace = |root: &Root| Some((ids.number(root.object)?, root.trace?));
        roots.traces = all().filter_map(trace).collect();
        roots.threads = threads.into_iter().collect();
        roots
    }

    /// MAT's rule for files without system classes: all classes of the bootstrap loader are roots.
    fn add_boot_classes(&mut self, ids: &IdIndex, directory: &Directory) {
        let all = directory.classes.iter();
        for class in all.filter(|class| class.loader == 0) {
            let name = directory.strings.bytes(class.name).unwrap_or_default();
            let is_array = name.starts_with(b"[") || name.ends_with(b"]");
            if let (false, Some(object)) = (is_array, ids.number(class.id)) {
                self.add(object, RootKind::StickyClass);
            }
        }
    }

    fn add(&mut self, object: u32, kind: RootKind) {
        if self.is_root.insert(object) {
            self.global.push(HeapRoot { object, kind });
        }
    }

    /// Whether an object is a root of the whole heap.
    pub(crate) fn is_root(&self, object: u32) -> bool {
        self.is_root.contains(object)
    }

    /// The objects that a thread object holds; none for other objects.
    #[inline]
    pub(crate) fn locals_of(&self, object: u32) -> &[Local] {
        // Threads are roots, so the bit saves the lookup for nearly all objects.
        if !self.is_root(object) {
            return &[];
        }
        self.locals.get(&object).map_or(&[], Vec::as_slice)
    }
}
