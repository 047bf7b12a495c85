//! The contents of a dump: its records by kind, its objects, roots, classes and threads.

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use crate::classes::ClassTable;
use crate::damage::Damage;
use crate::directory::Directory;
use crate::dump::DumpReader;
use crate::error::ReadError;
use crate::gather::{gather, Gathered};
use crate::header::Header;
use crate::heap_places::HeapPlaces;
use crate::heap_totals::{KindTotal, ThreadRoot};
use crate::names::Names;
use crate::sizes::Sizes;
use crate::stacks::Stacks;
use crate::strings::StringTable;
use format::RootKind;

/// A thread with a root in the dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSummary {
    /// Serial of the thread.
    pub serial: u32,
    /// Id of the thread object.
    pub object: u64,
    /// Name from START THREAD, if there is one; see also [`crate::thread_names`].
    pub name: Option<Rc<str>>,
    /// Serial of its stack trace, see [`Summary::stacks`].
    pub trace: u32,
}

/// The contents of a dump.
#[derive(Debug)]
pub struct Summary {
    /// The file's header.
    pub header: Header,
    /// Bytes of the (uncompressed) file.
    pub bytes: u64,
    /// Top-level records by the format text's names.
    pub records: BTreeMap<&'static str, KindTotal>,
    /// Sub-records other than roots by the format text's names.
    pub heap_records: BTreeMap<&'static str, KindTotal>,
    /// Roots by kind.
    pub roots: BTreeMap<RootKind, KindTotal>,
    /// Android's heaps (app, image, zygote) by the ids of their names: objects, and the sum of
    /// their shallow sizes. Empty for other dumps.
    pub heaps: BTreeMap<u64, KindTotal>,
    /// Objects and arrays, without class objects.
    pub objects: u64,
    /// Sum of their shallow sizes, see [`Sizes`].
    pub object_bytes: u64,
    /// The layout by which sizes were computed.
    pub sizes: Sizes,
    /// Number of class loaders of dumped classes, including the bootstrap loader.
    pub loaders: u64,
    /// Threads by serial.
    pub threads: Vec<ThreadSummary>,
    /// All stacks, including those of the threads.
    pub stacks: Stacks,
    /// The classes.
    pub classes: ClassTable,
    /// The strings.
    pub strings: StringTable,
    /// The segments that contain the objects.
    pub places: HeapPlaces,
    /// The first damaged places.
    pub damage: Vec<Damage>,
    /// Number of damaged places.
    pub damaged: u64,
}

/// Reads a whole dump once, with several threads if its file allows it. Errors: I/O, or too many
/// names or fields; damaged places are listed.
pub fn summarize(dump: &mut DumpReader<'_>) -> Result<Summary, ReadError> {
    let gathered = gather(dump)?;
    let objects = Objects::of(&gathered);
    let mut names = Names::new(&gathered.directory.strings);
    let stacks = gathered.directory.stacks.resolve(&mut names);
    let threads = threads(&gathered, &mut names);
    dump.budget().allow(names.bytes())?;
    let Gathered {
        directory: Directory {
            classes, strings, ..
        },
        heap,
        totals,
        ..
    } = gathered;
    Ok(Summary {
        header: dump.header(),
        bytes: dump.offset(),
        records: totals,
        heap_records: heap.records.by_name(),
        roots: heap.records.roots(),
        heaps: objects.heaps,
        objects: objects.all.count,
        object_bytes: objects.all.bytes,
        sizes: heap.sizing.sizes(),
        loaders: loaders(&classes),
        threads,
        stacks,
        classes,
        strings,
        places: heap.places,
        damage: heap.damage,
        damaged: heap.damaged,
    })
}

/// The threads of the heap dump, with the names that START THREAD gives them.
fn threads(gathered: &Gathered, names: &mut Names<'_>) -> Vec<ThreadSummary> {
    let thread = |(&serial, root): (&u32, &ThreadRoot)| {
        let start = gathered.started.get(&serial);
        ThreadSummary {
            serial,
            object: root.object,
            name: start.and_then(|start| names.text(start.name)),
            trace: root.trace,
        }
    };
    gathered.heap.threads.iter().map(thread).collect()
}

/// Objects and arrays, without class objects, and the sums of their sizes.
#[derive(Debug, Default)]
struct Objects {
    all: KindTotal,
    /// By the ids of the names of Android's heaps.
    heaps: BTreeMap<u64, KindTotal>,
}

impl Objects {
    fn of(gathered: &Gathered) -> Self {
        let (heap, directory) = (&gathered.heap, &gathered.directory);
        let mut objects = Self::default();
        for ((name, kind), sum) in &heap.sums {
            let total = KindTotal {
                count: sum.objects,
                bytes: heap.sizing.bytes(*kind, *sum, directory),
            };
            objects.all.add_all(total);
            if let Some(name) = name {
                objects.heaps.entry(*name).or_default().add_all(total);
            }
        }
        objects
    }
}

/// Number of class loaders of dumped classes.
fn loaders(classes: &ClassTable) -> u64 {
    let dumped = classes.iter().filter(|class| class.dump_offset.is_some());
    let loaders: HashSet<u64> = dumped.map(|class| class.loader).collect();
    loaders.len() as u64
}
