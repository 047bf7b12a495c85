//! The second pass: class, size and references of each object.

use format::{BasicType, JvmFacts};
use reader::{Budget, ClassDump, ClassTable, ReadError, Sizes, Source};

use crate::class_facts::{AllFacts, ClassFacts};
use crate::edges::Edges;
use crate::error::GraphError;
use crate::heap_scan::scan;
use crate::id_index::IdIndex;
use crate::input::Input;
use crate::kinds::{Kind, KindNumbers, Kinds};
use crate::parts::{in_order, PartPlace};
use crate::roots::Roots;
use crate::twins::Twins;
use crate::visitor::{id_at, id_in, Head, Visitor};

/// Traces up to this serial have no frames: 0 is none, 1 the empty trace.
const LAST_EMPTY_TRACE: u32 = 1;

/// References whose targets are looked up together.
const IDS_AT_ONCE: usize = 1 << 12;

/// Prefetch distance, in ids.
const IDS_AHEAD: usize = 16;

/// The most memory for one reference: its target here, and a pair in the search of dominators.
const REFERENCE_BYTES: u64 = 12;

/// The inputs of the second pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    pub(crate) ids: &'a IdIndex,
    pub(crate) facts: &'a AllFacts,
    pub(crate) twins: &'a Twins,
    pub(crate) roots: &'a Roots,
    pub(crate) sizes: &'a Sizes,
    pub(crate) classes: &'a ClassTable,
    /// The facts about the JVM in the file.
    pub(crate) told: &'a JvmFacts,
    pub(crate) id_bytes: u32,
    /// See [`crate::Options::by_rule`].
    pub(crate) by_rule: bool,
    /// The least bytes of a reference in the file.
    pub(crate) reference_bytes_least: u32,
    /// The memory limit for references, if the file's size does not limit them.
    pub(crate) budget: Option<Budget>,
}

impl Known<'_> {
    /// Checks whether there is memory for this many references.
    fn allow(&self, references: usize) -> Result<(), ReadError> {
        let held_bytes = (references as u64).saturating_mul(REFERENCE_BYTES);
        self.budget
            .map_or(Ok(()), |budget| budget.allow(held_bytes))
    }

    /// The size of an object in the stream, otherwise the size by the rule.
    fn told_or(&self, told: u32, by_rule: u32) -> u32 {
        match told {
            0 => by_rule,
            _ if !self.sizes.are_told => by_rule,
            told => told,
        }
    }
}

/// The results of the second pass, by the objects' numbers.
#[derive(Debug)]
pub(crate) struct Linked {
    pub(crate) edges: Edges,
    /// Number of each object's kind.
    pub(crate) kinds: KindNumbers,
    pub(crate) all_kinds: Kinds,
    /// Objects that carry the trace where they were allocated, ascending.
    pub(crate) traces: Vec<(u32, u32)>,
    /// References that do not keep their target alive: from, to; ascending.
    pub(crate) referents: Vec<(u32, u32)>,
    /// Number of references to ids that do not exist.
    pub(crate) dangling: u64,
    /// Number of references that repeat the one before: they are not stored.
    pub(crate) repeated: u64,
}

impl Linked {
    fn append(&mut self, chunk: &Chunk) {
        self.edges.append(&chunk.targets, &chunk.ends);
        let numbers = self.all_kinds.take_in(&chunk.all_kinds);
        for kind in &chunk.kinds {
            self.kinds
                .push(numbers.get(*kind as usize).copied().unwrap_or(0));
        }
        self.traces.extend_from_slice(&chunk.traces);
        self.referents.extend_from_slice(&chunk.referents);
        self.dangling += chunk.dangling;
        self.repeated += chunk.repeated;
    }
}

/// The objects of one part.
#[derive(Debug, Default)]
struct Chunk {
    targets: Vec<u32>,
    ends: Vec<u64>,
    /// Number of each object's kind, in this chunk's own numbering.
    kinds: Vec<u32>,
    all_kinds: Kinds,
    traces: Vec<(u32, u32)>,
    referents: Vec<(u32, u32)>,
    dangling: u64,
    repeated: u64,
    /// The error if there are too many references.
    excess: Option<ReadError>,
}

/// Follows the references of one part's objects.
struct Linker<'a> {
    known: Known<'a>,
    chunk: Chunk,
    /// References whose targets are looked up together, so that the memory accesses overlap.
    ids: Vec<u64>,
    /// The last reference of this object; 0 before the first.
    last_id: u64,
    /// Number of `ends` that already count found objects only, not dangling ids.
    ends_known: usize,
    /// Number of the next object.
    next: u32,
    /// The class that was looked up last.
    last_class: (u64, u32),
}

impl Linker<'_> {
    /// Starts the next object; the references of the one before have all been added.
    fn begin(&mut self, class: u32, units: u32, trace: u32) {
        self.close();
        let kind = self.chunk.all_kinds.number(Kind { class, units });
        self.chunk.kinds.push(kind);
        if trace > LAST_EMPTY_TRACE {
            self.chunk.traces.push((self.next, trace));
        }
        for local in self.known.roots.locals_of(self.next) {
            self.refer(self.known.ids.id(local.object));
        }
        self.next = self.next.saturating_add(1);
    }

    /// Ends the references of the last object.
    fn close(&mut self) {
        if self.chunk.ends.len() < self.chunk.kinds.len() {
            let end = self.chunk.targets.len() + self.ids.len();
            self.chunk.ends.push(end as u64);
        }
        self.last_id = 0;
    }

    #[inline]
    fn refer(&mut self, id: u64) {
        if id == 0 {
            return;
        }
        // An array filled with one object counts as one reference.
        if id == self.last_id {
            self.repeat(id);
            return;
        }
        self.last_id = id;
        self.ids.push(id);
        if self.ids.len() == IDS_AT_ONCE {
            self.look_up();
        }
    }

    fn repeat(&mut self, id: u64) {
        match self.known.ids.number(id) {
            Some(_) => self.chunk.repeated += 1,
            None => self.chunk.dangling += 1,
        }
    }

    /// Looks up the objects that have the ids.
    fn look_up(&mut self) {
        let wanted = self.chunk.targets.len() + self.ids.len();
        if let Err(excess) = self.known.allow(wanted) {
            self.chunk.excess = Some(excess);
            self.ids.clear();
            return;
        }
        let (known, chunk) = (self.known.ids, &mut self.chunk);
        let first = chunk.targets.len();
        let mut dangling = Vec::new();
        for (place, id) in self.ids.iter().enumerate() {
            if let Some(ahead) = self.ids.get(place + IDS_AHEAD) {
                known.prefetch(*ahead);
            }
            match known.number(*id) {
                Some(target) => chunk.targets.push(target),
                None => dangling.push((first + place) as u64),
            }
        }
        self.ids.clear();
        chunk.dangling += dangling.len() as u64;
        if !dangling.is_empty() {
            for end in chunk.ends.iter_mut().skip(self.ends_known) {
                *end -= dangling.partition_point(|place| place < end) as u64;
            }
        }
        self.ends_known = chunk.ends.len();
    }

    /// Ends the part.
    fn finish(mut self) -> Chunk {
        self.close();
        self.look_up();
        self.chunk
    }

    #[inline]
    fn class(&mut self, id: u64) -> u32 {
        if self.last_class.0 != id {
            self.last_class = (id, self.known.facts.number(id));
        }
        self.last_class.1
    }

    #[inline]
    fn refer_fields(&mut self, facts: &ClassFacts, data: &[u8]) {
        for offset in &facts.references {
            self.refer(id_in(data, *offset as usize, self.known.id_bytes));
        }
    }

    fn refer_all<const ID: usize>(&mut self, ids: &[u8]) {
        for id in ids.chunks_exact(ID) {
            self.refer(id_at::<ID>(id, 0));
        }
    }
}

impl Visitor for Linker<'_> {
    fn class(&mut self, _: u64, dump: ClassDump, own: Option<&[u8]>) {
        let known = self.known;
        let facts = own.and_then(|own| Some((known.facts.get(known.facts.of_classes)?, own)));
        let serial = known.classes.get(dump.class).and_then(|class| class.serial);
        let units = known
            .sizes
            .class_object_units(serial, &dump.statics, known.told);
        let own_units = facts.map_or(0, |(facts, _)| facts.units);
        let units = units.saturating_add(own_units);
        self.begin(known.facts.of_classes, units, dump.trace);
        let of_code = match known.by_rule {
            true => [0, 0],
            false => [dump.signers, dump.protection_domain],
        };
        let constants = dump.constants.iter().map(|value| (value.kind, value.value));
        let statics = dump.statics.iter().map(|value| (value.kind, value.value));
        let values = constants.chain(statics);
        let ids = values.filter_map(|(kind, id)| (kind == BasicType::Object).then_some(id));
        let kept = [dump.super_class, dump.loader].into_iter().chain(of_code);
        for id in kept.chain(ids) {
            self.refer(id);
        }
        if let Some((facts, own)) = facts {
            self.refer_fields(facts, own);
        }
    }

    #[inline]
    fn instance(&mut self, _: u64, head: Head, data: &[u8]) {
        let class = self.class(head.class);
        let known = self.known;
        let Some(facts) = known.facts.get(class) else {
            return;
        };
        let object = self.next;
        self.begin(class, known.told_or(head.units, facts.units), head.trace);
        self.refer_fields(facts, data);
        let id = |offset: u32| id_in(data, offset as usize, known.id_bytes);
        if let Some(referent) = facts
            .referent
            .and_then(|offset| known.ids.number(id(offset)))
        {
            self.chunk.referents.push((object, referent));
        }
    }

    fn array(&mut self, _: u64, head: Head, length: u32, kind: BasicType) {
        let class = match kind {
            BasicType::Object => self.class(head.class),
            kind => self.known.facts.of_array(kind),
        };
        let units = self.known.sizes.array_units(length, kind);
        self.begin(class, self.known.told_or(head.units, units), head.trace);
    }

    fn elements(&mut self, ids: &[u8]) {
        match self.known.id_bytes {
            4 => self.refer_all::<4>(ids),
            _ => self.refer_all::<8>(ids),
        }
    }
}

/// Links the objects of all parts. `threads` threads read a file that is not a stream.
pub(crate) fn link(
    input: &Input<'_>,
    parts: &[PartPlace],
    known: Known<'_>,
    threads: usize,
) -> Result<Linked, GraphError> {
    let count = parts.iter().map(|part| part.count).sum();
    // A reference from a thread's frame is a record of its own that contains an id.
    let bytes: u64 = parts.iter().map(|part| part.end - part.start).sum();
    let most_references =
        usize::try_from(bytes / u64::from(known.reference_bytes_least)).unwrap_or(0);
    let mut linked = Linked {
        edges: Edges::with_room(count, most_references)?,
        kinds: KindNumbers::with_room(count)?,
        all_kinds: Kinds::default(),
        traces: Vec::new(),
        referents: Vec::new(),
        dangling: 0,
        repeated: 0,
    };
    let read = |window: &mut Source<'_>, part: &PartPlace| chunk(window, part, known);
    in_order(input, parts, threads, read, |chunk| {
        known.allow(linked.edges.len() + chunk.targets.len())?;
        linked.append(&chunk);
        Ok(())
    })?;
    Ok(linked)
}

fn chunk(window: &mut Source<'_>, part: &PartPlace, known: Known<'_>) -> Result<Chunk, GraphError> {
    let count = part.count as usize;
    let mut linker = Linker {
        known,
        chunk: Chunk {
            targets: Vec::with_capacity(count * 2),
            ends: Vec::with_capacity(count),
            kinds: Vec::with_capacity(count),
            ..Chunk::default()
        },
        ids: Vec::with_capacity(IDS_AT_ONCE),
        last_id: 0,
        ends_known: 0,
        next: part.first,
        last_class: (0, known.facts.number(0)),
    };
    scan(window, part.end, known.id_bytes, known.twins, &mut linker)?;
    let mut chunk = linker.finish();
    match chunk.excess.take() {
        Some(excess) => Err(excess.into()),
        None => Ok(chunk),
    }
}
