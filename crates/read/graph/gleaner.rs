//! The third pass: the contents of objects that may be waste, as hashes and counts.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use format::BasicType;
use reader::{ClassDump, FieldPlace, Source};
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::class_facts::NONE;
use crate::error::GraphError;
use crate::heap::Heap;
use crate::heap_scan::scan;
use crate::holder::{self, Holder};
use crate::parts::{in_order, PartPlace};
use crate::retained::Retained;
use crate::roles::{roles, Role};
use crate::visitor::{id_in, Head, Visitor};

/// A string: its object, its array, and the encoding of its characters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text {
    pub(crate) object: u32,
    pub(crate) array: u32,
    pub(crate) coder: u8,
}

impl Text {
    /// Number of characters of an array of this length: since JDK 9, two bytes may be one.
    pub(crate) fn length(self, array_length: u32) -> u32 {
        match self.coder {
            0 => array_length,
            _ => array_length / 2,
        }
    }
}

/// A collection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Collection {
    pub(crate) object: u32,
    /// The array of its elements; [`NONE`] without one.
    pub(crate) array: u32,
    /// Its size field; `None` if it has none.
    pub(crate) size: Option<u32>,
}

/// An array of references.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    pub(crate) object: u32,
    pub(crate) length: u32,
    /// Number of elements that are not null.
    pub(crate) used: u32,
}

/// An array of primitive values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values {
    pub(crate) object: u32,
    /// Number of elements.
    pub(crate) length: u32,
    /// Hash of type, length and values.
    pub(crate) hash: (u64, u64),
}

/// The results of the pass for reachable objects. Each list is ascending by its first object.
#[derive(Debug, Default)]
pub(crate) struct Gleaned {
    pub(crate) values: Vec<Values>,
    /// Arrays of values with elements, all of them zero.
    pub(crate) zeros: Vec<u32>,
    pub(crate) texts: Vec<Text>,
    pub(crate) collections: Vec<Collection>,
    /// Collections that wrap another one, and that one.
    pub(crate) wrappers: Vec<(u32, u32)>,
    pub(crate) boxed: Vec<u32>,
    pub(crate) slots: Vec<Slots>,
    /// The holders of strings, boxed numbers and collections, in file order.
    pub(crate) holders: Vec<(u32, Holder)>,
}

impl Gleaned {
    fn append(&mut self, mut more: Self) {
        self.values.append(&mut more.values);
        self.zeros.append(&mut more.zeros);
        self.texts.append(&mut more.texts);
        self.collections.append(&mut more.collections);
        self.wrappers.append(&mut more.wrappers);
        self.boxed.append(&mut more.boxed);
        self.slots.append(&mut more.slots);
        self.holders.append(&mut more.holders);
    }
}

/// The known facts about classes.
struct Known<'a, 'p> {
    heap: &'a Heap<'p>,
    retained: &'a Retained,
    roles: Vec<Role<'a>>,
    fields: Vec<Box<[(u32, Holder)]>>,
    wants_holders: bool,
    /// Keys of the hash.
    keys: (u64, u64),
}

/// Examines the objects of one part.
struct Gleaner<'a, 'p> {
    known: &'a Known<'a, 'p>,
    gleaned: Gleaned,
    /// Number of the next object.
    next: u32,
    /// The array of values being read.
    values: Option<OpenValues>,
    /// Class of the array of references being read; [`NONE`] if it is not reachable.
    elements_of: u32,
}

/// An array of values, of which a part is read.
struct OpenValues {
    object: u32,
    length: u32,
    /// The hash so far.
    hasher: SipHasher13,
    /// Whether all values so far are zero.
    are_zeros: bool,
}

/// Random keys for a hash.
pub(crate) fn new_keys() -> (u64, u64) {
    let key = || RandomState::new().build_hasher().finish();
    (key(), key())
}

/// Reads the file once more. Errors: it cannot be read.
pub(crate) fn glean(
    heap: &Heap<'_>,
    retained: &Retained,
    keys: (u64, u64),
    wants_holders: bool,
) -> Result<Gleaned, GraphError> {
    let known = Known {
        heap,
        retained,
        roles: roles(heap),
        fields: if wants_holders {
            holder::fields(heap)
        } else {
            Vec::new()
        },
        wants_holders,
        keys,
    };
    let read = |window: &mut Source<'_>, part: &PartPlace| {
        let mut gleaner = Gleaner {
            known: &known,
            gleaned: Gleaned::default(),
            next: part.first,
            values: None,
            elements_of: NONE,
        };
        let id_bytes = heap.header().id_bytes;
        scan(window, part.end, id_bytes, &heap.twins, &mut gleaner)?;
        gleaner.close();
        Ok(gleaner.gleaned)
    };
    let mut gleaned = Gleaned::default();
    in_order(&heap.input, &heap.parts, heap.threads, read, |part| {
        gleaned.append(part);
        Ok(())
    })?;
    Ok(gleaned)
}

impl Gleaner<'_, '_> {
    /// Starts the next object; returns its number if it is reachable.
    fn object(&mut self) -> Option<u32> {
        self.close();
        let number = self.next;
        self.next = self.next.saturating_add(1);
        self.known.retained.is_reachable(number).then_some(number)
    }

    /// Ends an array.
    fn close(&mut self) {
        self.elements_of = NONE;
        if let Some(OpenValues {
            object,
            length,
            hasher,
            are_zeros,
        }) = self.values.take()
        {
            if are_zeros && length > 0 {
                self.gleaned.zeros.push(object);
            }
            let hash = hasher.finish128();
            self.gleaned.values.push(Values {
                object,
                length,
                hash: (hash.h1, hash.h2),
            });
        }
    }

    fn id_bytes(&self) -> u32 {
        self.known.heap.header().id_bytes
    }

    fn id(&self, bytes: &[u8], at: u32) -> u64 {
        id_in(bytes, at as usize, self.id_bytes())
    }

    /// Adds the holder of an object, if the object is of interest.
    fn held(&mut self, id: u64, holder: Holder) {
        if !self.known.wants_holders {
            return;
        }
        let heap = self.known.heap;
        let Some(object) = heap.object(id).filter(|_| id != 0) else {
            return;
        };
        let role = self.known.roles.get(heap.class(object) as usize);
        if role.is_some_and(|role| !matches!(role, Role::Other)) {
            self.gleaned.holders.push((object, holder));
        }
    }

    /// Adds an object as the holder of what its fields refer to.
    fn hold_by_fields(&mut self, object: u32, data: &[u8]) {
        let known = self.known;
        let class = known.heap.class(object) as usize;
        for (offset, holder) in known.fields.get(class).into_iter().flatten() {
            self.held(self.id(data, *offset), *holder);
        }
    }

    fn note(&mut self, object: u32, role: &Role<'_>, data: &[u8]) {
        let heap = self.known.heap;
        let value = |field: &FieldPlace<'_>| field.value(data).unwrap_or(0);
        let held = |field: &FieldPlace<'_>| {
            let id = Some(value(field)).filter(|id| *id != 0);
            id.and_then(|id| heap.object(id))
        };
        let gleaned = &mut self.gleaned;
        match role {
            Role::Text { array, coder } => {
                let coder = coder.as_ref().map_or(0, value);
                let coder = u8::try_from(coder).unwrap_or(u8::MAX);
                gleaned.texts.extend(held(array).map(|array| Text {
                    object,
                    array,
                    coder,
                }));
            }
            Role::Boxed => gleaned.boxed.push(object),
            Role::Collection { size, array } => {
                let size = size.as_ref().map(value);
                gleaned.collections.push(Collection {
                    object,
                    array: array.as_ref().and_then(held).unwrap_or(NONE),
                    size: size.map(|size| u32::try_from(size).unwrap_or(u32::MAX)),
                });
            }
            Role::Wrapper { inner } => {
                gleaned
                    .wrappers
                    .extend(held(inner).map(|inner| (object, inner)));
            }
            Role::Other => {}
        }
    }
}

impl Visitor for Gleaner<'_, '_> {
    fn class(&mut self, _: u64, dump: ClassDump, own: Option<&[u8]>) {
        let class = self.known.heap.directory().classes.index(dump.class);
        let class = class.and_then(|class| u32::try_from(class).ok());
        if let (Some(object), Some(class)) = (self.object(), class) {
            for (place, value) in (0..).zip(&dump.statics) {
                if value.kind == BasicType::Object {
                    self.held(value.value, Holder::Static(class, place));
                }
            }
            if let Some(own) = own {
                self.hold_by_fields(object, own);
            }
        }
    }

    fn instance(&mut self, _: u64, _: Head, data: &[u8]) {
        let Some(object) = self.object() else {
            return;
        };
        self.hold_by_fields(object, data);
        let known = self.known;
        match known.roles.get(known.heap.class(object) as usize) {
            None | Some(Role::Other) => {}
            Some(role) => self.note(object, role, data),
        }
    }

    fn array(&mut self, _: u64, _: Head, length: u32, kind: BasicType) {
        let Some(object) = self.object() else {
            return;
        };
        if kind == BasicType::Object {
            self.elements_of = self.known.heap.class(object);
            let used = 0;
            self.gleaned.slots.push(Slots {
                object,
                length,
                used,
            });
            return;
        }
        let (first, second) = self.known.keys;
        let mut hasher = SipHasher13::new_with_keys(first, second);
        hasher.write(&[kind.code()]);
        hasher.write(&length.to_be_bytes());
        self.values = Some(OpenValues {
            object,
            length,
            hasher,
            are_zeros: true,
        });
    }

    fn elements(&mut self, ids: &[u8]) {
        if self.elements_of == NONE {
            return;
        }
        let holder = Holder::Element(self.elements_of);
        let mut used = 0;
        for id in ids.chunks_exact(self.id_bytes() as usize) {
            let id = self.id(id, 0);
            used += u32::from(id != 0);
            self.held(id, holder);
        }
        if let Some(slots) = self.gleaned.slots.last_mut() {
            slots.used = slots.used.saturating_add(used);
        }
    }

    fn values(&mut self, bytes: &[u8]) {
        if let Some(open) = &mut self.values {
            open.hasher.write(bytes);
            open.are_zeros = open.are_zeros && bytes.iter().all(|byte| *byte == 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_does_not_depend_on_how_the_bytes_come() {
        let bytes: Vec<u8> = (0..100).collect();
        let hash = |pieces: usize| {
            let mut hasher = SipHasher13::new_with_keys(1, 2);
            bytes.chunks(pieces).for_each(|piece| hasher.write(piece));
            hasher.finish128().as_u128()
        };
        for pieces in [1, 3, 8, 9, 64] {
            assert_eq!(hash(pieces), hash(100));
        }
    }
}
