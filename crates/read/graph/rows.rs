//! Objects and references as rows, part by part in file order, for export into tables.

use std::collections::BTreeMap;

use format::BasicType;
use reader::{ClassDump, FieldPlace, Source, Static};

use crate::class_facts::NONE;
use crate::contents::Contents;
use crate::error::GraphError;
use crate::heap::Heap;
use crate::heap_scan::scan;
use crate::parts::{in_order, PartPlace};
use crate::visitor::{id_in, Head, Visitor};

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A class object.
    Class,
    /// An object that is neither a class nor an array.
    Instance,
    /// An array of references.
    References,
    /// An array of primitive values.
    Values,
}

/// A field of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRow {
    /// Number of the class that declares it.
    pub class: u32,
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: BasicType,
    /// Whether it is a static field.
    pub is_static: bool,
}

/// The objects of one part of the file and their references.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Number of the first object; the others follow.
    pub first: u32,
    /// The id of each object.
    pub ids: Vec<u64>,
    /// The kind of each object.
    pub kinds: Vec<Kind>,
    /// Number of elements; `None` if the object is not an array.
    pub lengths: Vec<Option<u32>>,
    /// Offset of each object's record in the uncompressed file.
    pub offsets: Vec<u64>,
    /// Serials of the traces where the objects were allocated; 0 for none.
    pub traces: Vec<u32>,
    /// The source of each reference.
    pub sources: Vec<u32>,
    /// The target of each reference.
    pub targets: Vec<u32>,
    /// Number of the field; `None` for elements, and for references of a class other than static
    /// fields.
    pub fields: Vec<Option<u32>>,
    /// Index of the element; `None` for fields.
    pub places: Vec<Option<u32>>,
}

/// The numbers of all fields.
#[derive(Clone, Debug, Default)]
pub struct FieldTable {
    /// All fields: instance fields by class, then static fields by class.
    pub rows: Vec<FieldRow>,
    /// By class number: offset and number of each reference field of an instance, including
    /// inherited ones.
    references: Vec<Box<[(u32, u32)]>>,
    /// By class number: number of the first static field.
    statics: BTreeMap<u32, u32>,
}

impl FieldTable {
    /// The fields of all classes. Errors: the file cannot be read.
    pub fn new(heap: &Heap<'_>) -> Result<Self, GraphError> {
        let directory = heap.directory();
        let name = |id: u64| directory.strings.text(id).unwrap_or_default().into_owned();
        let mut table = Self::default();
        let mut firsts = Vec::new();
        for (class, declaring) in (0..).zip(directory.classes.iter()) {
            firsts.push(table.next());
            let fields = declaring.fields.iter().map(|field| FieldRow {
                class,
                name: name(field.name),
                kind: field.kind,
                is_static: false,
            });
            table.rows.extend(fields);
        }
        let classes: Vec<u32> = (0..heap.classes()).collect();
        let objects: Vec<u32> = classes
            .iter()
            .filter_map(|it| heap.object_of_class(*it))
            .collect();
        let dumps = heap.contents(&objects, 0)?;
        for class in &classes {
            let dump = heap.object_of_class(*class).and_then(|at| dumps.get(&at));
            if let Some(Contents::Class(dump, _)) = dump {
                table.statics.insert(*class, table.next());
                let row = |field: &Static| FieldRow {
                    class: *class,
                    name: name(field.name),
                    kind: field.kind,
                    is_static: true,
                };
                table.rows.extend(dump.statics.iter().map(row));
            }
            table.references.push(references(heap, *class, &firsts));
        }
        Ok(table)
    }

    fn next(&self) -> u32 {
        u32::try_from(self.rows.len()).unwrap_or(NONE)
    }
}

/// Offset and number of each reference field of a class's instances.
fn references(heap: &Heap<'_>, class: u32, firsts: &[u32]) -> Box<[(u32, u32)]> {
    let places = heap.directory().classes.places(class as usize);
    let places = places.filter(|it| it.field.kind == BasicType::Object);
    let number = |it: FieldPlace<'_>| {
        let first = firsts.get(it.class_number).copied().unwrap_or(NONE);
        (it.bytes.start, first.saturating_add(it.number.into()))
    };
    places.map(number).collect()
}

impl Heap<'_> {
    /// Reads the file once more and passes the rows of each part to `take`, in order.
    ///
    /// Errors: the file cannot be read, or the errors of `take`.
    pub fn rows(
        &self,
        fields: &FieldTable,
        take: impl FnMut(Rows) -> Result<(), GraphError>,
    ) -> Result<(), GraphError> {
        let read = |window: &mut Source<'_>, part: &PartPlace| {
            let mut collector = Collector {
                heap: self,
                fields,
                rows: Rows {
                    first: part.first,
                    ..Rows::default()
                },
                place: 0,
            };
            let id_bytes = self.header().id_bytes;
            scan(window, part.end, id_bytes, &self.twins, &mut collector)?;
            Ok(collector.rows)
        };
        in_order(&self.input, &self.parts, self.threads, read, take)
    }
}

/// Collects the rows of one part.
struct Collector<'a, 'p> {
    heap: &'a Heap<'p>,
    fields: &'a FieldTable,
    rows: Rows,
    /// Index of the next element of the last array.
    place: u32,
}

impl Collector<'_, '_> {
    fn object(&mut self, offset: u64, head: (u64, u32), kind: Kind, length: Option<u32>) {
        self.place = 0;
        self.rows.ids.push(head.0);
        self.rows.kinds.push(kind);
        self.rows.lengths.push(length);
        self.rows.offsets.push(offset);
        self.rows.traces.push(head.1);
    }

    fn refer(&mut self, id: u64, field: Option<u32>, place: Option<u32>) {
        if let Some(target) = self.heap.object(id).filter(|_| id != 0) {
            let before = u32::try_from(self.rows.kinds.len()).unwrap_or(NONE);
            let rows = &mut self.rows;
            rows.sources.push(rows.first.saturating_add(before) - 1);
            rows.targets.push(target);
            rows.fields.push(field);
            rows.places.push(place);
        }
    }

    /// Refers to what the fields of an instance of this class hold.
    fn refer_fields(&mut self, class: u32, data: &[u8]) {
        let fields = self.fields;
        for (at, number) in fields.references.get(class as usize).into_iter().flatten() {
            self.refer(self.id(data, *at), Some(*number), None);
        }
    }

    fn id(&self, bytes: &[u8], at: u32) -> u64 {
        id_in(bytes, at as usize, self.heap.header().id_bytes)
    }
}

impl Visitor for Collector<'_, '_> {
    fn class(&mut self, offset: u64, dump: ClassDump, own: Option<&[u8]>) {
        self.object(offset, (dump.class, dump.trace), Kind::Class, None);
        let kept = [
            dump.super_class,
            dump.loader,
            dump.signers,
            dump.protection_domain,
        ];
        let constants = dump.constants.iter().map(|value| (value.kind, value.value));
        let constants =
            constants.filter_map(|(kind, id)| (kind == BasicType::Object).then_some(id));
        for id in kept.into_iter().chain(constants) {
            self.refer(id, None, None);
        }
        let class = self.heap.directory().classes.index(dump.class);
        let class = class.and_then(|class| u32::try_from(class).ok());
        let first = class.and_then(|class| self.fields.statics.get(&class));
        for (place, value) in (0_u32..).zip(&dump.statics) {
            if value.kind == BasicType::Object {
                let number = first.map(|first| first.saturating_add(place));
                self.refer(value.value, number, None);
            }
        }
        if let Some(own) = own {
            self.refer_fields(self.heap.facts.of_classes, own);
        }
    }

    fn instance(&mut self, offset: u64, head: Head, data: &[u8]) {
        self.object(offset, (head.object, head.trace), Kind::Instance, None);
        self.refer_fields(self.heap.facts.number(head.class), data);
    }

    fn array(&mut self, offset: u64, head: Head, length: u32, kind: BasicType) {
        let kind = match kind {
            BasicType::Object => Kind::References,
            _ => Kind::Values,
        };
        self.object(offset, (head.object, head.trace), kind, Some(length));
    }

    fn elements(&mut self, ids: &[u8]) {
        for id in ids.chunks_exact(self.heap.header().id_bytes as usize) {
            let place = self.place;
            self.place = place.saturating_add(1);
            self.refer(self.id(id, 0), None, Some(place));
        }
    }
}
