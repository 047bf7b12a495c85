//! The contents of single objects, read again from their positions in the file.

use std::collections::BTreeMap;

use format::BasicType;
use reader::ClassDump;

use crate::error::GraphError;
use crate::heap::Heap;
use crate::heap_scan::scan;
use crate::parts::PartPlace;
use crate::visitor::{id_in, Head, Visitor};

/// The contents of one object.
#[derive(Clone, Debug)]
pub enum Contents {
    /// A class: its static fields and their names, and the bytes of the fields that the class
    /// object has itself in the dump of a native image.
    Class(Box<ClassDump>, Vec<u8>),
    /// An instance: the bytes of its fields' values, nearest class first.
    Instance {
        /// Id of its class.
        class: u64,
        /// Field values as in the file.
        data: Vec<u8>,
    },
    /// An array of references.
    References {
        /// Number of elements.
        length: u32,
        /// Ids of the first elements; 0 is null.
        ids: Vec<u64>,
    },
    /// An array of primitive values.
    Values {
        /// Number of elements.
        length: u32,
        /// Type of the elements.
        kind: BasicType,
        /// The first elements as in the file, big-endian.
        bytes: Vec<u8>,
    },
}

/// A field of an object and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldValue {
    /// Id of the class that declares it.
    pub class: u64,
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: BasicType,
    /// The value as raw bits; an id for references.
    pub value: u64,
}

/// Collects the wanted objects.
struct Finder<'a> {
    id_bytes: u32,
    /// Number of the next object.
    next: u32,
    /// The wanted objects, ascending.
    wanted: &'a [u32],
    /// Most bytes kept of an array's elements.
    most_bytes: usize,
    found: BTreeMap<u32, Contents>,
    /// The array whose elements are being read.
    open: Option<u32>,
}

impl Finder<'_> {
    /// Counts an object; returns its number if it is wanted.
    #[inline]
    fn object(&mut self) -> Option<u32> {
        let number = self.next;
        self.next = self.next.saturating_add(1);
        self.open = None;
        self.wanted.binary_search(&number).is_ok().then_some(number)
    }

    fn note(&mut self, number: Option<u32>, contents: impl FnOnce() -> Contents) {
        if let Some(number) = number {
            self.found.insert(number, contents());
            self.open = Some(number);
        }
    }

    fn open(&mut self) -> Option<&mut Contents> {
        self.found.get_mut(&self.open?)
    }
}

impl Visitor for Finder<'_> {
    fn class(&mut self, _: u64, dump: ClassDump, own: Option<&[u8]>) {
        let number = self.object();
        let own = own.unwrap_or_default();
        self.note(number, || Contents::Class(Box::new(dump), own.to_vec()));
    }

    fn instance(&mut self, _: u64, head: Head, data: &[u8]) {
        let number = self.object();
        self.note(number, || Contents::Instance {
            class: head.class,
            data: data.to_vec(),
        });
    }

    fn array(&mut self, _: u64, _: Head, length: u32, kind: BasicType) {
        let number = self.object();
        self.note(number, || match kind {
            BasicType::Object => Contents::References {
                length,
                ids: Vec::new(),
            },
            kind => Contents::Values {
                length,
                kind,
                bytes: Vec::new(),
            },
        });
    }

    fn elements(&mut self, bytes: &[u8]) {
        let (id_bytes, most) = (self.id_bytes, self.most_bytes);
        if let Some(Contents::References { ids, .. }) = self.open() {
            let left = (most / id_bytes as usize).saturating_sub(ids.len());
            let all = bytes.chunks_exact(id_bytes as usize);
            ids.extend(all.take(left).map(|id| id_in(id, 0, id_bytes)));
        }
    }

    fn values(&mut self, values: &[u8]) {
        let most = self.most_bytes;
        if let Some(Contents::Values { bytes, .. }) = self.open() {
            let left = most.saturating_sub(bytes.len());
            bytes.extend_from_slice(values.get(..left).unwrap_or(values));
        }
    }
}

impl Heap<'_> {
    /// The contents of these objects; at most `most_bytes` bytes of each array. Reads all of a file
    /// that is compressed as one gzip member.
    ///
    /// Errors: the file cannot be read.
    pub fn contents(
        &self,
        objects: &[u32],
        most_bytes: usize,
    ) -> Result<BTreeMap<u32, Contents>, GraphError> {
        let mut wanted = objects.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let mut finder = Finder {
            id_bytes: self.header().id_bytes,
            next: 0,
            wanted: &wanted,
            most_bytes,
            found: BTreeMap::new(),
            open: None,
        };
        self.seek(&wanted, &mut finder, |finder, next| finder.next = next)?;
        Ok(finder.found)
    }

    /// Visits these objects, which must ascend, and their neighbours. Errors: the file cannot be
    /// read.
    pub(crate) fn seek<V: Visitor>(
        &self,
        wanted: &[u32],
        visitor: &mut V,
        aim: impl Fn(&mut V, u32),
    ) -> Result<(), GraphError> {
        let id_bytes = self.header().id_bytes;
        let mut window = if self.input.is_stream() {
            self.input.whole()?
        } else {
            self.input.parts()
        };
        let mut left = wanted;
        while let Some(first) = left.first() {
            let Some(run) = self.run_of(*first) else {
                break;
            };
            let behind = left.partition_point(|object| *object < run.behind);
            left = left.get(behind..).unwrap_or_default();
            aim(visitor, run.first);
            window.aim(run.start..run.end)?;
            scan(&mut window, run.end, id_bytes, &self.twins, visitor)?;
        }
        Ok(())
    }

    /// The neighbours of an object that are read together with it.
    fn run_of(&self, object: u32) -> Option<Run> {
        let behind = self.parts.partition_point(|part| part.first <= object);
        let part: &PartPlace = self
            .parts
            .get(..behind)?
            .iter()
            .rev()
            .find(|part| part.count > 0)?;
        let at = object
            .checked_sub(part.first)
            .filter(|at| *at < part.count)?;
        let behind = part.checkpoints.partition_point(|place| place.first <= at);
        let start = part.checkpoints.get(behind.checked_sub(1)?)?;
        let next = part.checkpoints.get(behind);
        Some(Run {
            start: start.offset,
            end: next.map_or(part.end, |next| next.offset),
            first: part.first + start.first,
            behind: part.first + next.map_or(part.count, |next| next.first),
        })
    }

    /// The fields of an instance with their values, nearest class first; the static fields of a
    /// class; none for an array.
    pub fn fields(&self, contents: &Contents) -> Vec<FieldValue> {
        match contents {
            Contents::Class(dump, own) => {
                let field = |value: &reader::Static| {
                    let field = reader::Field {
                        name: value.name,
                        kind: value.kind,
                    };
                    self.field(dump.class, field, value.value)
                };
                let statics = dump.statics.iter().map(field);
                let of_classes = Some(self.facts.of_classes).filter(|_| !own.is_empty());
                let own = of_classes.map(|class| self.values(class as usize, own));
                statics.chain(own.into_iter().flatten()).collect()
            }
            Contents::Instance { class, data } => {
                let class = self.directory().classes.index(*class);
                let values = class.map(|class| self.values(class, data));
                values.into_iter().flatten().collect()
            }
            Contents::References { .. } | Contents::Values { .. } => Vec::new(),
        }
    }

    /// The values of an instance's fields of this name, nearest class first.
    pub(crate) fn named<'a>(
        &'a self,
        contents: &'a Contents,
        name: &'a str,
    ) -> impl Iterator<Item = u64> + 'a {
        let directory = self.directory();
        let (class, data) = match contents {
            Contents::Instance { class, data } => (directory.classes.index(*class), &**data),
            _ => (None, &[][..]),
        };
        let places = class
            .into_iter()
            .flat_map(|it| directory.classes.places(it));
        let places = places.filter(move |it| it.is_named(&directory.strings, name));
        places.map(move |it| it.value(data).unwrap_or(0))
    }

    /// The fields of an instance of the class with this number, and their values in `data`.
    fn values<'a>(&'a self, class: usize, data: &'a [u8]) -> impl Iterator<Item = FieldValue> + 'a {
        self.directory().classes.places(class).map(|place| {
            let value = place.value(data).unwrap_or(0);
            self.field(place.class.id, place.field, value)
        })
    }

    fn field(&self, class: u64, field: reader::Field, value: u64) -> FieldValue {
        let name = self.directory().strings.text(field.name);
        FieldValue {
            class,
            name: name.unwrap_or_default().into_owned(),
            kind: field.kind,
            value,
        }
    }
}

/// Consecutive objects in the file.
struct Run {
    start: u64,
    end: u64,
    /// Number of the first object.
    first: u32,
    /// Number after the last one.
    behind: u32,
}
