//! The classes of a file: their names, superclasses and fields, and the layout of their instances.

use std::rc::Rc;

use foldhash::HashMap;
use format::BasicType;

use crate::budget::{bytes_of, entries, Budget};
use crate::error::ReadError;
use crate::names::Names;
use crate::strings::StringTable;
use format::record::LoadClass;
use format::sub_record::{ClassDump, Field};

/// A class, from LOAD CLASS and CLASS DUMP.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// Id of the class object.
    pub id: u64,
    /// Serial from LOAD CLASS; `None` without one.
    pub serial: Option<u32>,
    /// String id of the name; 0 without LOAD CLASS.
    pub name: u64,
    /// Offset of the CLASS DUMP; `None` without one, and then the fields below are empty.
    pub dump_offset: Option<u64>,
    /// Id of the superclass; 0 for none.
    pub super_class: u64,
    /// Id of the class loader; 0 for the bootstrap loader.
    pub loader: u64,
    /// Bytes of an instance according to CLASS DUMP.
    pub instance_bytes: u32,
    /// Instance fields declared by this class, in file order.
    pub fields: Box<[Field]>,
}

/// The sequence of field values in a class's instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Not computed yet.
    #[default]
    Unknown,
    /// All superclasses are known.
    Complete {
        /// Sum of the field sizes of the class and its superclasses.
        data_bytes: u64,
        /// Number of fields that are references.
        references: u64,
    },
    /// A superclass has no CLASS DUMP.
    SuperMissing,
    /// The class is its own superclass.
    Cycle,
}

/// What [`ClassTable::resolve`] computes for a class.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    layout: Layout,
    /// The nearest superclass that declares fields.
    next: Option<usize>,
}

/// All classes of a file by id, in order of appearance.
#[derive(Debug, Default)]
pub struct ClassTable {
    classes: Vec<Class>,
    chains: Vec<Chain>,
    by_id: HashMap<u64, usize>,
    /// Number of fields of all classes.
    fields: usize,
    /// Bytes of an identifier in instances.
    id_bytes: u32,
}

impl ClassTable {
    /// Adds a LOAD CLASS; false if the class already had one (the first is kept).
    pub fn add_load(&mut self, load: &LoadClass) -> bool {
        let added = self.update(load.class, |class| {
            let new = class.serial.is_none();
            if new {
                class.serial = Some(load.serial);
                class.name = load.name;
            }
            new
        });
        added == Some(true)
    }

    /// Adds a CLASS DUMP; false if the class already had one (the first is kept).
    pub fn add_dump(&mut self, offset: u64, dump: &ClassDump) -> bool {
        let added = self.update(dump.class, |class| {
            let new = class.dump_offset.is_none();
            if new {
                class.dump_offset = Some(offset);
                class.super_class = dump.super_class;
                class.loader = dump.loader;
                class.instance_bytes = dump.instance_bytes;
                class.fields = dump.fields.as_slice().into();
            }
            new
        });
        if added == Some(true) {
            self.fields = self.fields.saturating_add(dump.fields.len());
        }
        added == Some(true)
    }

    /// Adds the CLASS DUMPs of other segments of the same heap. Of two of one class, the first in
    /// the file is kept.
    pub(crate) fn merge(&mut self, other: Self) {
        for dump in other.classes {
            let is_earlier = |class: &Class| match (dump.dump_offset, class.dump_offset) {
                (Some(new), old) => old.is_none_or(|old| new < old),
                (None, _) => false,
            };
            let (fields, mut replaced) = (dump.fields.len(), None);
            self.update(dump.id, |class| {
                if is_earlier(class) {
                    replaced = Some(class.fields.len());
                    *class = Class {
                        serial: class.serial,
                        name: class.name,
                        ..dump
                    };
                }
            });
            if let Some(replaced) = replaced {
                self.fields = (self.fields + fields).saturating_sub(replaced);
            }
        }
    }

    /// Number of a class for [`ClassTable::at`], or `None` if neither record has this id.
    pub fn index(&self, id: u64) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    /// The class with this number.
    pub fn at(&self, index: usize) -> Option<&Class> {
        self.classes.get(index)
    }

    /// The class with this id.
    pub fn get(&self, id: u64) -> Option<&Class> {
        self.at(self.index(id)?)
    }

    /// Whether there is a CLASS DUMP with this id.
    pub fn is_dumped(&self, id: u64) -> bool {
        self.get(id)
            .is_some_and(|class| class.dump_offset.is_some())
    }

    /// All classes in order of appearance.
    pub fn iter(&self) -> impl Iterator<Item = &Class> {
        self.classes.iter()
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Bytes of memory that the classes take, including layouts.
    pub(crate) fn held_bytes(&self) -> u64 {
        let count = self.classes.len();
        let each = bytes_of::<Class>(count).saturating_add(bytes_of::<Chain>(count));
        each.saturating_add(entries(count))
            .saturating_add(bytes_of::<Field>(self.fields))
    }

    /// The name in Java form, or `class 0x…` if the file does not have it.
    pub fn java_name(&self, id: u64, strings: &StringTable) -> String {
        self.get(id)
            .and_then(|class| strings.class_name(class.name))
            .map_or_else(|| format!("class {id:#x}"), |name| name.to_java())
    }

    /// Like [`ClassTable::java_name`], but each name is made only once.
    pub(crate) fn shared_name(&self, id: u64, names: &mut Names<'_>) -> Rc<str> {
        self.get(id)
            .and_then(|class| names.class(class.name))
            .unwrap_or_else(|| format!("class {id:#x}").into())
    }

    /// Computes the layouts. Call it after all classes are added, and again if more are added.
    pub fn resolve(&mut self, id_bytes: u32) {
        self.id_bytes = id_bytes;
        self.chains = vec![Chain::default(); self.classes.len()];
        let mut path = Vec::new();
        for start in 0..self.classes.len() {
            let mut above = self.climb(start, &mut path);
            while let Some(index) = path.pop() {
                self.settle(index, above);
                above = self.link(index);
            }
        }
    }

    /// Computes the layouts, for callers that then visit all fields of each class. A chain of
    /// thousands of classes has more fields than time and memory allow. Errors:
    /// [`ReadError::TooMuch`].
    pub fn resolve_within(&mut self, id_bytes: u32, budget: Budget) -> Result<(), ReadError> {
        self.resolve(id_bytes);
        let of_one = |chain: &Chain| match chain.layout {
            Layout::Complete { data_bytes, .. } => data_bytes,
            _ => 0,
        };
        let sum = |all: u64, chain| all.saturating_add(of_one(chain));
        budget.allow(self.chains.iter().fold(0, sum))
    }

    /// The layout of a class's instances; [`Layout::Unknown`] before [`ClassTable::resolve`] or for
    /// no class.
    pub fn layout(&self, index: usize) -> Layout {
        self.chains
            .get(index)
            .map_or(Layout::Unknown, |chain| chain.layout)
    }

    /// The class and those of its superclasses that declare fields, nearest first. It includes all
    /// of them only if the layout is complete.
    pub fn chain(&self, index: usize) -> impl Iterator<Item = &Class> {
        self.numbered_chain(index).map(|(_, class)| class)
    }

    pub(crate) fn numbered_chain(&self, index: usize) -> impl Iterator<Item = (usize, &Class)> {
        let mut next = Some(index);
        std::iter::from_fn(move || {
            let at = next?;
            next = self.chains.get(at)?.next;
            Some((at, self.classes.get(at)?))
        })
    }

    /// Bytes of an identifier in instances.
    pub(crate) fn id_bytes(&self) -> u32 {
        self.id_bytes
    }

    /// Calls `change` with the class of this id. Adds the class if it is new.
    fn update<T>(&mut self, id: u64, change: impl FnOnce(&mut Class) -> T) -> Option<T> {
        let end = self.classes.len();
        let index = *self.by_id.entry(id).or_insert(end);
        if index == end {
            self.classes.push(Class {
                id,
                ..Class::default()
            });
        }
        self.classes.get_mut(index).map(change)
    }

    /// Climbs from a class to one whose chain is known, or to the end, and adds the classes before
    /// to `path`. Returns the chain for the last of them.
    fn climb(&mut self, start: usize, path: &mut Vec<usize>) -> Chain {
        let mut at = start;
        loop {
            match self.chains.get_mut(at) {
                // Until it is settled: only a class below itself meets it again before.
                Some(chain) if chain.layout == Layout::Unknown => chain.layout = Layout::Cycle,
                _ => return self.link(at),
            }
            path.push(at);
            let class = self.classes.get(at);
            let is_dumped = class.is_some_and(|class| class.dump_offset.is_some());
            let super_class = class.map_or(0, |class| class.super_class);
            let layout = match self.index(super_class) {
                Some(above) if is_dumped && super_class != 0 => {
                    at = above;
                    continue;
                }
                _ if is_dumped && super_class == 0 => Layout::Complete {
                    data_bytes: 0,
                    references: 0,
                },
                _ => Layout::SuperMissing,
            };
            let next = None;
            return Chain { layout, next };
        }
    }

    /// The chain for a direct subclass of this class.
    fn link(&self, index: usize) -> Chain {
        let chain = self.chains.get(index).copied().unwrap_or_default();
        let has_fields = self.at(index).is_some_and(|class| !class.fields.is_empty());
        Chain {
            next: if has_fields { Some(index) } else { chain.next },
            ..chain
        }
    }

    /// Sets the chain of a class by the one for a direct subclass of its superclass.
    fn settle(&mut self, index: usize, mut chain: Chain) {
        match &mut chain.layout {
            Layout::Complete {
                data_bytes,
                references,
            } => {
                for field in self.at(index).into_iter().flat_map(|class| &class.fields) {
                    let bytes = field.kind.size_bytes(self.id_bytes).into();
                    *data_bytes = data_bytes.saturating_add(bytes);
                    *references += u64::from(field.kind == BasicType::Object);
                }
            }
            // A broken chain must not be walked, because it may be endless.
            _ => chain.next = None,
        }
        if let Some(slot) = self.chains.get_mut(index) {
            *slot = chain;
        }
    }
}
