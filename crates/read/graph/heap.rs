//! One heap: the objects of a dump, their classes, sizes and references.

use foldhash::HashSet;
use format::{ClassName, UNIT_BYTES};
use reader::{
    Budget, ClassTable, Directory, Header, ReadError, ReferenceWidth, SiteTable, Sizes, Stacks,
};

use crate::class_facts::{AllFacts, References, NONE};
use crate::error::GraphError;
use crate::graph_view::{GraphView, Implied};
use crate::id_index::IdIndex;
use crate::input::Input;
use crate::kinds::Kind;
use crate::link::{link, Known, Linked};
use crate::parts::PartPlace;
use crate::roots::{HeapRoot, Local, Roots};
use crate::survey::{survey, Part, Survey};
use crate::twins::Twins;

/// Most objects: the highest numbers have special meanings.
const OBJECTS_MAX: u64 = 0xFFFF_FFF0;

/// Bytes of memory per object while a dump is analysed.
const OBJECT_BYTES: u64 = 40;

/// How to read a dump.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that read the file; at least 1. A compressed one is first read by a single thread.
    pub threads: usize,
    /// Whether sizes follow Eclipse MAT's rules even if the file contains the JVM's own. As in MAT,
    /// a class then keeps neither its signers nor its protection domain.
    pub by_rule: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            by_rule: false,
        }
    }
}

/// The objects of a dump, including classes, numbered from 0 in file order.
#[derive(Debug)]
pub struct Heap<'p> {
    pub(crate) input: Input<'p>,
    header: Header,
    directory: Directory,
    pub(crate) ids: IdIndex,
    pub(crate) facts: AllFacts,
    pub(crate) twins: Twins,
    sizes: Sizes,
    roots: Roots,
    pub(crate) parts: Vec<PartPlace>,
    linked: Linked,
    implied: Vec<Implied>,
    damaged: u64,
    pub(crate) threads: usize,
}

impl<'p> Heap<'p> {
    /// Reads a dump. Reads the file twice.
    ///
    /// Errors: the file cannot be read, is not a dump, or has too many objects or names.
    pub fn read(mut input: Input<'p>, options: Options) -> Result<Self, GraphError> {
        let Survey {
            header,
            sizes,
            mut directory,
            mut parts,
            damaged,
            ..
        } = survey(&mut input, options.threads)?;
        let classes = &mut directory.classes;
        add_classes(classes, &parts, header.id_bytes, input.budget())?;
        let twins = take_twins(&mut parts, classes);
        let count: u64 = parts.iter().map(|part| part.ids.count).sum();
        if count > OBJECTS_MAX {
            return Err(GraphError::TooManyObjects);
        }
        let budget = input.packed_budget();
        budget.map_or(Ok(()), |it| it.allow(count.saturating_mul(OBJECT_BYTES)))?;
        let (ids, counts) = take_ids(&mut parts);
        let mut width = ReferenceWidth::default();
        parts.iter().for_each(|part| width.merge(&part.width));
        let is_stream = sizes.is_some();
        let told = Sizes::of_facts(directory.strings.facts()).or(sizes);
        let assumed = || Sizes::assumed(header.id_bytes, width.is_narrow());
        let sizes = told.filter(|_| !options.by_rule).unwrap_or_else(assumed);
        let objects = u32::try_from(count).unwrap_or(NONE);
        let roots = Roots::new(&parts, &ids, &directory, objects);
        let facts = AllFacts::new(&directory, &ids, &sizes);
        let parts = places(parts, &counts);
        let known = Known {
            ids: &ids,
            facts: &facts,
            twins: &twins,
            roots: &roots,
            sizes: &sizes,
            classes: &directory.classes,
            told: directory.strings.facts(),
            id_bytes: header.id_bytes,
            by_rule: options.by_rule,
            reference_bytes_least: if is_stream { 1 } else { header.id_bytes },
            budget,
        };
        let linked = link(&input, &parts, known, options.threads)?;
        let implied = Implied::of_all(linked.all_kinds.all(), &facts, &roots);
        Ok(Self {
            input,
            header,
            directory,
            ids,
            facts,
            twins,
            sizes,
            roots,
            parts,
            linked,
            implied,
            damaged,
            threads: options.threads,
        })
    }

    /// The file's header.
    pub fn header(&self) -> Header {
        self.header
    }

    /// Number of objects, reachable or not.
    pub fn objects(&self) -> u32 {
        self.linked.kinds.len()
    }

    /// Number of references between objects, not counting those to an object's own class.
    pub fn references(&self) -> u64 {
        self.linked.edges.len() as u64 + self.linked.repeated
    }

    /// Number of references to ids that do not exist in the dump.
    pub fn dangling(&self) -> u64 {
        self.linked.dangling
    }

    /// Number of unreadable places in the file. Objects there are missing.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// The layout for computing sizes.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Names, stacks and classes.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The word of the redaction that leaves values out, see [`format::JvmFacts::redacted`].
    pub fn redacted(&self) -> Option<&str> {
        self.directory.strings.facts().redacted()
    }

    /// The stacks of all traces.
    pub fn stacks(&self) -> Stacks {
        self.directory.stacks()
    }

    /// The profiler's counts by site; `None` if it did not count.
    pub fn sites(&self) -> Option<SiteTable> {
        self.directory.sites()
    }

    /// The id of an object; 0 if no object has this number.
    pub fn id(&self, object: u32) -> u64 {
        self.ids.id(object)
    }

    /// The object with this id.
    pub fn object(&self, id: u64) -> Option<u32> {
        self.ids.number(id)
    }

    /// Number of the object's class.
    pub fn class(&self, object: u32) -> u32 {
        self.kind(object).map_or(NONE, |kind| kind.class)
    }

    /// The objects of the classes that `is` selects, ascending.
    pub fn objects_of(&self, is: impl Fn(u32) -> bool) -> impl Iterator<Item = u32> + '_ {
        let kinds = self.linked.all_kinds.all().iter();
        let wanted: Vec<bool> = kinds.map(|kind| is(kind.class)).collect();
        let all = match wanted.contains(&true) {
            true => self.objects(),
            false => 0,
        };
        (0..all).filter(move |object| {
            let kind = self.linked.kinds.get(*object);
            kind.is_some_and(|kind| wanted.get(kind as usize).copied().unwrap_or(false))
        })
    }

    /// Number of classes, including invented ones for primitive arrays.
    pub fn classes(&self) -> u32 {
        u32::try_from(self.facts.len()).unwrap_or(NONE)
    }

    /// Name of a class in Java form.
    pub fn class_name(&self, class: u32) -> String {
        match self.directory.classes.at(class as usize) {
            Some(found) => {
                let (table, strings) = (&self.directory.classes, &self.directory.strings);
                table.java_name(found.id, strings)
            }
            None => ClassName::from_dump(self.facts.invented_name(class).as_bytes()).to_java(),
        }
    }

    /// Id of a class's loader, 0 for the bootstrap loader; `None` for invented classes.
    pub fn loader(&self, class: u32) -> Option<u64> {
        Some(self.directory.classes.at(class as usize)?.loader)
    }

    /// The class that a class object represents; `None` for other objects.
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

    /// Of each class, whether it is the one of this name in a dump's form, or extends it.
    pub fn extending(&self, name: &str) -> Vec<bool> {
        let all = 0..self.classes();
        all.map(|class| self.extends(class, name)).collect()
    }

    /// Whether a class is that of this name, or extends it.
    pub(crate) fn extends(&self, class: u32, name: &str) -> bool {
        let (table, strings) = (&self.directory.classes, &self.directory.strings);
        let mut chain = table.chain(class as usize);
        chain.any(|above| strings.is_class(above.name, name))
    }

    /// The object's own size in bytes.
    pub fn shallow_bytes(&self, object: u32) -> u64 {
        let kind = self.kind(object);
        kind.map_or(0, |kind| u64::from(kind.units) * UNIT_BYTES)
    }

    /// Returns objects' own sizes in units.
    pub(crate) fn units(&self) -> impl Fn(u32) -> u32 + '_ {
        let (kinds, all) = (&self.linked.kinds, self.linked.all_kinds.all());
        move |object| {
            let kind = kinds.get(object);
            let kind = kind.and_then(|kind| all.get(kind as usize));
            kind.map_or(0, |kind| kind.units)
        }
    }

    #[inline]
    fn kind(&self, object: u32) -> Option<Kind> {
        let number = self.linked.kinds.get(object)?;
        self.linked.all_kinds.all().get(number as usize).copied()
    }

    /// The objects that an object refers to, without its class. Consecutive references to the same
    /// object count once. A thread's references are those in its fields and in its frames.
    pub fn targets(&self, object: u32) -> &[u32] {
        self.linked.edges.of(object)
    }

    /// The roots of the whole heap, each object once.
    pub fn roots(&self) -> &[HeapRoot] {
        &self.roots.global
    }

    /// The objects held by a thread's frames.
    pub fn locals(&self, thread: u32) -> &[Local] {
        self.roots.locals_of(thread)
    }

    /// The thread objects by serial number.
    pub fn threads(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.roots
            .threads
            .iter()
            .map(|(serial, object)| (*serial, *object))
    }

    /// Serial number of the trace of a thread's stack, see [`Heap::stacks`]; `None` if the object
    /// is not a thread of the file.
    pub fn thread_trace(&self, thread: u32) -> Option<u32> {
        self.roots.traces.get(&thread).copied()
    }

    /// Objects with the serial number of their allocation trace, ascending.
    pub fn traced(&self) -> &[(u32, u32)] {
        &self.linked.traces
    }

    /// Serial number of the trace that allocated an object; `None` if the file does not contain it.
    pub fn allocation_trace(&self, object: u32) -> Option<u32> {
        let traced = self.traced();
        let place = traced.binary_search_by_key(&object, |(object, _)| *object);
        Some(traced.get(place.ok()?)?.1)
    }

    /// The graph with this rule.
    pub(crate) fn graph(&self, rule: References) -> GraphView<'_> {
        GraphView {
            edges: &self.linked.edges,
            roots: &self.roots,
            kinds: &self.linked.kinds,
            implied: &self.implied,
            referents: match rule {
                References::All => &self.linked.referents,
                References::Strong => &[],
            },
        }
    }
}

/// Takes the ids of the parts. Returns their index, and the number of each part's objects.
fn take_ids(parts: &mut [Part]) -> (IdIndex, Vec<u64>) {
    let lists = parts.iter_mut().map(|part| std::mem::take(&mut part.ids));
    let lists: Vec<_> = lists.collect();
    let counts = lists.iter().map(|list| list.count).collect();
    (IdIndex::new(&lists), counts)
}

/// Takes the CLASS DUMPs of class objects that are instances, too; the parts no longer count them.
fn take_twins(parts: &mut [Part], classes: &ClassTable) -> Twins {
    let mut twins = Twins::default();
    let ids = parts
        .iter()
        .flat_map(|part| part.class_instances.twins(classes));
    let ids: HashSet<u64> = ids.collect();
    if !ids.is_empty() {
        let dumps = parts
            .iter_mut()
            .flat_map(|part| part.without(|class| ids.contains(&class)));
        dumps.for_each(|dump| twins.add(dump));
    }
    twins
}

/// Adds the CLASS DUMPs, in file order. Errors: they inherit too many fields.
fn add_classes(
    table: &mut ClassTable,
    parts: &[Part],
    id_bytes: u32,
    budget: Budget,
) -> Result<(), ReadError> {
    for class in parts.iter().flat_map(|part| &part.classes) {
        table.add_dump(class.offset, &class.dump);
    }
    table.resolve_within(id_bytes, budget)
}

fn places(parts: Vec<Part>, counts: &[u64]) -> Vec<PartPlace> {
    let mut first = 0_u32;
    let place = |(part, count): (Part, &u64)| {
        // Their sum was already checked.
        let count = u32::try_from(*count).unwrap_or(NONE);
        let place = PartPlace {
            first,
            count,
            ..part.place
        };
        first = first.saturating_add(count);
        place
    };
    parts.into_iter().zip(counts).map(place).collect()
}
