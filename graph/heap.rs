//! One heap: the objects of a dump, their classes, sizes and references.

use reader::{ClassTable, Directory, Header, SiteTable, Stacks};

use crate::class_facts::{AllFacts, References, NONE};
use crate::error::GraphError;
use crate::graph_view::{GraphView, Implied};
use crate::id_index::IdIndex;
use crate::input::Input;
use crate::link::{link, Known, Linked, PartPlace};
use crate::roots::{HeapRoot, Local, Roots};
use crate::sizes::{Sizes, UNIT_BYTES};
use crate::survey::{survey, Part, Survey};

/// Most objects: two numbers have meanings of their own.
const OBJECTS_MAX: u64 = 0xFFFF_FFFD;

/// Bytes of memory that one object takes while its dump is analysed.
const OBJECT_BYTES: u64 = 40;

/// How a dump is read.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that read a plain file; at least 1.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// The objects of a dump, numbered from 0 in the order of the file, classes among them.
#[derive(Debug)]
pub struct Heap<'p> {
    pub(crate) input: Input<'p>,
    header: Header,
    directory: Directory,
    pub(crate) ids: IdIndex,
    facts: AllFacts,
    sizes: Sizes,
    roots: Roots,
    pub(crate) parts: Vec<PartPlace>,
    linked: Linked,
    implied: Vec<Implied>,
    damaged: u64,
}

impl<'p> Heap<'p> {
    /// Reads a dump; the file is read twice.
    ///
    /// Errors: it cannot be read, is no dump, or has too many objects or names.
    pub fn read(input: Input<'p>, options: Options) -> Result<Self, GraphError> {
        let Survey {
            header,
            mut directory,
            mut parts,
            damaged,
        } = survey(&input, options.threads)?;
        let count: u64 = parts.iter().map(|part| part.ids.count).sum();
        if count > OBJECTS_MAX {
            return Err(GraphError::TooManyObjects);
        }
        if input.is_packed() {
            input.budget().allow(count.saturating_mul(OBJECT_BYTES))?;
        }
        let lists: Vec<_> = parts
            .iter_mut()
            .map(|part| std::mem::take(&mut part.ids))
            .collect();
        let ids = IdIndex::new(&lists);
        let highest = lists
            .iter()
            .filter_map(|list| list.bounds)
            .map(|(_, high)| high)
            .max();
        let counts: Vec<u64> = lists.iter().map(|list| list.count).collect();
        drop(lists);
        add_classes(&mut directory.classes, &parts, header.id_bytes);
        let is_narrow = parts.iter().any(|part| part.references_are_narrow);
        let sizes = Sizes::assumed(header.id_bytes, is_narrow, highest.unwrap_or(0));
        let objects = u32::try_from(count).unwrap_or(NONE);
        let roots = Roots::new(&parts, &ids, &directory, objects);
        let facts = AllFacts::new(&directory, &ids, &sizes, header.id_bytes);
        let parts = places(parts, &counts);
        let known = Known {
            ids: &ids,
            facts: &facts,
            roots: &roots,
            sizes: &sizes,
            id_bytes: header.id_bytes,
        };
        let linked = link(&input, &parts, known, options.threads)?;
        let implied = Implied::of_all(&facts, &roots);
        Ok(Self {
            input,
            header,
            directory,
            ids,
            facts,
            sizes,
            roots,
            parts,
            linked,
            implied,
            damaged,
        })
    }

    /// The file's header.
    pub fn header(&self) -> Header {
        self.header
    }

    /// Number of objects, reachable or not.
    pub fn objects(&self) -> u32 {
        u32::try_from(self.linked.classes.all().len()).unwrap_or(NONE)
    }

    /// Number of references between objects, those of objects to their classes left out.
    pub fn references(&self) -> u64 {
        self.linked.edges.len() as u64
    }

    /// References to ids that no object of the dump has.
    pub fn dangling(&self) -> u64 {
        self.linked.dangling
    }

    /// Places of the file that could not be read; what they hide is missing.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// The layout that sizes are computed by.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Names, stacks and classes.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The stacks of all traces.
    pub fn stacks(&self) -> Stacks {
        self.directory.stacks()
    }

    /// What the profiler counted by site; `None` if it did not.
    pub fn sites(&self) -> Option<SiteTable> {
        self.directory.sites()
    }

    /// The id of an object; 0 for a number that no object has.
    pub fn id(&self, object: u32) -> u64 {
        self.ids.id(object)
    }

    /// The object with this id.
    pub fn object(&self, id: u64) -> Option<u32> {
        self.ids.number(id)
    }

    /// Number of the object's class.
    pub fn class(&self, object: u32) -> u32 {
        self.linked.classes.get(object).unwrap_or(NONE)
    }

    /// Number of classes, invented ones for primitive arrays included.
    pub fn classes(&self) -> u32 {
        u32::try_from(self.facts.len()).unwrap_or(NONE)
    }

    /// Name of a class in Java's form.
    pub fn class_name(&self, class: u32) -> String {
        match self.directory.classes.at(class as usize) {
            Some(found) => {
                let (table, strings) = (&self.directory.classes, &self.directory.strings);
                table.java_name(found.id, strings)
            }
            None => reader::java_name(self.facts.invented_name(class)),
        }
    }

    /// The class that an object is, if it is a class object.
    pub fn class_of_object(&self, object: u32) -> Option<u32> {
        let table = &self.directory.classes;
        let class = table.index(self.id(object))?;
        let is_dumped = table
            .at(class)
            .is_some_and(|class| class.dump_offset.is_some());
        is_dumped.then(|| u32::try_from(class).ok()).flatten()
    }

    /// The class object of a class; `None` if it is not in the dump.
    pub fn object_of_class(&self, class: u32) -> Option<u32> {
        let object = self.facts.get(class)?.object;
        (object != NONE).then_some(object)
    }

    /// Bytes of the object itself.
    pub fn shallow_bytes(&self, object: u32) -> u64 {
        let units = self.linked.units.get(object);
        units.map_or(0, |units| u64::from(units) * UNIT_BYTES)
    }

    /// Objects that an object refers to, repetitions included, its class left out. A thread's are its fields' and its
    /// frames'.
    pub fn targets(&self, object: u32) -> &[u32] {
        self.linked.edges.of(object)
    }

    /// The roots of the whole heap, each object once.
    pub fn roots(&self) -> &[HeapRoot] {
        &self.roots.global
    }

    /// What a thread holds in its frames.
    pub fn locals(&self, thread: u32) -> &[Local] {
        self.roots.locals_of(thread)
    }

    /// The thread objects by their serials.
    pub fn threads(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.roots
            .threads
            .iter()
            .map(|(serial, object)| (*serial, *object))
    }

    /// Serial of the trace where a thread stood, see [`Heap::stacks`]; `None` if the object is no thread of the file's.
    pub fn thread_trace(&self, thread: u32) -> Option<u32> {
        self.roots.traces.get(&thread).copied()
    }

    /// Objects that carry the serial of the trace where they were allocated, ascending.
    pub fn traced(&self) -> &[(u32, u32)] {
        &self.linked.traces
    }

    /// The graph by this rule.
    pub(crate) fn graph(&self, rule: References) -> GraphView<'_> {
        GraphView {
            edges: &self.linked.edges,
            roots: &self.roots,
            classes: self.linked.classes.all(),
            implied: &self.implied,
            referents: match rule {
                References::All => &self.linked.referents,
                References::Strong => &[],
            },
        }
    }
}

/// Adds what CLASS DUMPs say, in the order of the file.
fn add_classes(table: &mut ClassTable, parts: &[Part], id_bytes: u32) {
    for class in parts.iter().flat_map(|part| &part.classes) {
        table.add_dump(class.offset, &class.dump);
    }
    table.resolve(id_bytes);
}

fn places(parts: Vec<Part>, counts: &[u64]) -> Vec<PartPlace> {
    let mut first = 0_u32;
    let place = |(part, count): (Part, &u64)| {
        // Their sum was checked.
        let count = u32::try_from(*count).unwrap_or(NONE);
        let place = PartPlace {
            start: part.start,
            end: part.end,
            first,
            count,
            checkpoints: part.checkpoints,
        };
        first = first.saturating_add(count);
        place
    };
    parts.into_iter().zip(counts).map(place).collect()
}
