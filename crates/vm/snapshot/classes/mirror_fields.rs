//! The references in a mirror (an instance of `java.lang.Class`) other than the class's static
//! fields.
//!
//! A CLASS DUMP has fields for the loader, the signers and the protection domain. Every other
//! reference becomes a static field with a name in angle brackets, as HotSpot's own dumps do with
//! `<resolved_references>` and `<init_lock>`. Without it, objects held only by a mirror would look
//! unreachable.

use crate::classes::FieldId;
use crate::layout::instance_offset;
use crate::memory::Memory;
use crate::Snapshot;
use format::BasicType;
use tables::{ClassId, StringId, Tables};

/// What a reference in a mirror means in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The class's loader, or an array's element class. The tables already have both.
    Known,
    /// For an array class, its element class. For other classes, from JDK 9 on, the lock that
    /// threads hold while they initialise the class: HotSpot uses the same field for both.
    ComponentOrInitLock,
    /// Its signers.
    Signers,
    /// Its protection domain.
    ProtectionDomain,
    /// A static field with this invented name.
    Extra(StringId),
}

/// A field that the class file of `java.lang.Class` declares.
#[derive(Clone, Copy, Debug)]
struct Declared {
    offset: u32,
    width_bytes: u32,
    /// `None` for primitive types.
    role: Option<Role>,
}

/// The fields of mirrors. Created before the fork.
#[derive(Debug)]
pub struct MirrorFields {
    declared: Vec<Declared>,
    names: Names,
}

/// Invented names.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// For the array of the class's resolved constants.
    pub resolved_references: StringId,
    init_lock: StringId,
    source_file: StringId,
    injected: StringId,
    /// For a static reference of a class that is not linked, because its field name is unknown.
    pub unlinked_static: StringId,
}

impl MirrorFields {
    /// Describes the fields of `java.lang.Class` and interns the names that only CLASS DUMPs use.
    /// `field_ids` are in the order of the row's fields.
    pub fn of(class: ClassId, field_ids: &[FieldId], tables: &Tables) -> Self {
        let intern = |text: &str| tables.strings.intern(text.as_bytes());
        let names = Names {
            resolved_references: intern("<resolved_references>"),
            init_lock: intern("<init_lock>"),
            source_file: intern("<source_file>"),
            injected: intern("<injected>"),
            unlinked_static: intern("<static>"),
        };
        let row = tables.classes.get(class);
        let fields = row.as_deref().map_or(&[][..], |row| row.own_fields());
        let declared = fields
            .iter()
            .zip(field_ids)
            .filter(|(field, _)| !field.is_static)
            .filter_map(|(field, id)| {
                let is_reference = field.basic_type == BasicType::Object;
                Some(Declared {
                    offset: instance_offset(id.bits())?,
                    width_bytes: field.basic_type.size_bytes(8),
                    role: is_reference.then(|| role(field.name, tables)),
                })
            })
            .collect();
        Self { declared, names }
    }

    /// All names that no record other than CLASS DUMP uses.
    pub fn invented(&self) -> Vec<StringId> {
        let names = self.names;
        let extra = self.declared.iter().filter_map(|field| match field.role {
            Some(Role::Extra(name)) => Some(name),
            _ => None,
        });
        [
            names.resolved_references,
            names.init_lock,
            names.source_file,
            names.injected,
            names.unlinked_static,
        ]
        .into_iter()
        .chain(extra)
        .collect()
    }

    /// The invented names.
    pub fn names(&self) -> Names {
        self.names
    }
}

fn role(name: StringId, tables: &Tables) -> Role {
    let text = tables.strings.get(name).unwrap_or_default();
    match &*text {
        b"classLoader" => Role::Known,
        b"componentType" => Role::ComponentOrInitLock,
        b"signers" => Role::Signers,
        b"protectionDomain" => Role::ProtectionDomain,
        other => {
            let invented = [b"<", other, b">"].concat();
            Role::Extra(tables.strings.intern(&invented))
        }
    }
}

/// The references in a snapshot's mirrors: the declared ones and those that HotSpot injects.
#[derive(Debug)]
pub struct MirrorReferences {
    declared: Vec<(u64, Role)>,
    injected: Vec<u64>,
    names: Names,
}

impl MirrorReferences {
    /// Finds the injected references: the positions between the declared fields at which every
    /// mirror contains null or the address of an object. Static fields start at `end`.
    pub fn find(fields: &MirrorFields, end: u64, snapshot: &Snapshot<impl Memory>) -> Self {
        let (memory, layout) = (snapshot.memory, &snapshot.layout);
        let classes = &snapshot.classes;
        let width = layout.oops.width_bytes();
        let reference_bytes = u32::try_from(width).unwrap_or(8);
        let is_taken = |place: u64| {
            let own = place..place + width;
            let overlaps = |start: u64, bytes: u64| start < own.end && own.start < start + bytes;
            overlaps(layout.klass_in_mirror, 8)
                || fields.declared.iter().any(|field| {
                    let bytes = field.role.map_or(field.width_bytes, |_| reference_bytes);
                    overlaps(u64::from(field.offset), u64::from(bytes))
                })
        };
        // A value that is not a reference may point anywhere, even to unallocated parts of the
        // heap.
        let is_object = |address: u64| {
            snapshot.marks.covers(address)
                && snapshot.mappings.are_readable(address, 16)
                && classes.get(layout.class_word(memory, address)).is_some()
        };
        let holds_references = |place: u64| {
            let mut some = false;
            classes.classes().iter().all(|class| {
                let target = layout.oops.load(memory, class.mirror + place);
                some |= target != 0;
                target == 0 || is_object(target)
            }) && some
        };
        let injected = (8..end)
            .step_by(reference_bytes as usize)
            .filter(|&place| place + width <= end && !is_taken(place) && holds_references(place))
            .collect();
        let declared = fields
            .declared
            .iter()
            .filter_map(|field| Some((u64::from(field.offset), field.role?)))
            .collect();
        Self {
            declared,
            injected,
            names: fields.names,
        }
    }

    /// The references of this mirror that are not null, each with its role.
    pub fn of<'r>(
        &'r self,
        mirror: u64,
        snapshot: &'r Snapshot<impl Memory>,
        tables: &'r Tables,
    ) -> impl Iterator<Item = (Role, u64)> + 'r {
        let oops = snapshot.layout.oops;
        let load = move |place: u64| oops.load(snapshot.memory, mirror + place);
        let declared = self.declared.iter().map(move |&(place, role)| {
            let target = load(place);
            let role = match role {
                Role::ComponentOrInitLock => self.injected_role(target, snapshot, tables),
                role => role,
            };
            (role, target)
        });
        let injected = self.injected.iter().map(move |&place| {
            let target = load(place);
            (self.injected_role(target, snapshot, tables), target)
        });
        declared
            .chain(injected)
            .filter(|&(role, target)| target != 0 && role != Role::Known)
    }

    /// The mirror of an array class's element class; `None` if this JDK keeps it elsewhere.
    pub fn component(&self, mirror: u64, snapshot: &Snapshot<impl Memory>) -> Option<u64> {
        let mut declared = self.declared.iter();
        let (place, _) = declared.find(|(_, role)| *role == Role::ComponentOrInitLock)?;
        Some(snapshot.layout.oops.load(snapshot.memory, mirror + place))
    }

    /// The role of an injected reference, decided by its target's class.
    fn injected_role(
        &self,
        target: u64,
        snapshot: &Snapshot<impl Memory>,
        tables: &Tables,
    ) -> Role {
        if target == 0 {
            return Role::Known;
        }
        let word = snapshot.layout.class_word(snapshot.memory, target);
        let class = snapshot.classes.get(word);
        let signature = class
            .and_then(|class| tables.classes.get(class.id))
            .and_then(|row| tables.strings.get(row.signature))
            .unwrap_or_default();
        match &*signature {
            b"Ljava/lang/Class;" => Role::Known,
            b"[I" => Role::Extra(self.names.init_lock),
            b"Ljava/security/ProtectionDomain;" => Role::ProtectionDomain,
            b"Ljava/lang/String;" => Role::Extra(self.names.source_file),
            [b'[', ..] => Role::Signers,
            _ => Role::Extra(self.names.injected),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::{ClassMap, Shape};
    use crate::mappings::Mappings;
    use crate::memory::BufferMemory;
    use tables::{ClassRow, Field};

    /// Signatures of the classes. Their class words are 1, 2 and so on, and each has a mirror of
    /// [`MIRROR_WORDS`].
    const SIGNATURES: [&str; 6] = [
        "Ljava/lang/Class;",
        "LThing;",
        "[I",
        "[Ljava/lang/Object;",
        "Ljava/lang/String;",
        "Ljava/security/ProtectionDomain;",
    ];
    /// Numbers of the classes.
    const CLASS: usize = 0;
    const THING: usize = 1;
    const INTS: usize = 2;
    const OBJECTS: usize = 3;
    const STRING: usize = 4;
    const DOMAIN: usize = 5;

    /// The declared fields of a mirror, by offset. At 40 is its `Klass`, at 56 a number, and from
    /// 64 on are injected references.
    const DECLARED: [(&str, BasicType, u64); 6] = [
        ("classLoader", BasicType::Object, 16),
        ("componentType", BasicType::Object, 24),
        ("hash", BasicType::Int, 32),
        ("name", BasicType::Object, 48),
        ("signers", BasicType::Object, 88),
        ("protectionDomain", BasicType::Object, 96),
    ];
    const MIRROR_WORDS: usize = 15;
    const INJECTED: usize = 8;
    const ALWAYS_NULL: usize = 9;
    const NUMBER: usize = 7;
    const OF_ONE_MIRROR: usize = 10;
    /// Where static fields start, in bytes. The word there holds an object, half of it before this
    /// end.
    const END: u64 = 108;

    /// Mirrors, followed by an object of each class.
    struct Heap(Vec<u64>);

    impl Heap {
        fn new() -> Self {
            let objects = SIGNATURES.len() * MIRROR_WORDS;
            let mut heap = Self(vec![0; objects + SIGNATURES.len() * 4]);
            for class in 0..SIGNATURES.len() {
                let thing = heap.object(THING);
                let mirror = class * MIRROR_WORDS;
                heap.0[mirror] = 1;
                heap.0[mirror + 1] = 1;
                // Neither is a reference, though both look like one.
                (heap.0[mirror + 4], heap.0[mirror + 5]) = (thing, thing);
                heap.0[mirror + NUMBER] = thing + 4;
                heap.0[mirror + INJECTED] = heap.object(DOMAIN);
                heap.0[mirror + 13] = thing;
                heap.0[objects + class * 4] = 1;
                heap.0[objects + class * 4 + 1] = class as u64 + 1;
            }
            heap.0[OF_ONE_MIRROR] = heap.object(STRING);
            heap
        }

        fn mirror(&self, class: usize) -> u64 {
            self.0.as_ptr() as u64 + (class * MIRROR_WORDS * 8) as u64
        }

        fn object(&self, class: usize) -> u64 {
            self.mirror(SIGNATURES.len()) + class as u64 * 32
        }

        fn snapshot(&self) -> Snapshot<BufferMemory<'_>> {
            let mut snapshot = Snapshot::of_words(&self.0, Vec::new());
            let shapes = SIGNATURES.map(|_| Shape::Unknown).to_vec();
            let mut classes = ClassMap::of_shapes(shapes);
            for class in 0..SIGNATURES.len() {
                let id = |index| ClassId::from_index(index).expect("an id");
                classes = classes.with_mirror(id(CLASS), self.mirror(class), id(class));
            }
            snapshot.classes = classes;
            snapshot.layout.klass_in_mirror = 40;
            let (start, end) = (self.mirror(0), self.object(SIGNATURES.len()));
            snapshot.mappings = Mappings::parse(format!("{start:x}-{end:x} rw-p 0 0 0").as_bytes());
            snapshot
        }
    }

    fn tables() -> Tables {
        let tables = Tables::default();
        for signature in SIGNATURES {
            let intern = |text: &str| tables.strings.intern(text.as_bytes());
            let field = |&(name, basic_type, _): &(&str, BasicType, u64)| Field {
                name: intern(name),
                basic_type,
                is_primitive_array: false,
                is_static: false,
            };
            let signature = intern(signature);
            tables.classes.add(ClassRow {
                signature,
                name: signature,
                loader: None,
                super_class: None,
                fields: Some(DECLARED.iter().map(field).collect()),
            });
        }
        tables
    }

    fn found(heap: &Heap, tables: &Tables) -> MirrorReferences {
        let ids = DECLARED.map(|(.., offset)| FieldId::of_bits(offset << 2 | 2));
        let class = ClassId::from_index(CLASS).expect("an id");
        let fields = MirrorFields::of(class, &ids, tables);
        let snapshot = heap.snapshot();
        MirrorReferences::find(&fields, END, &snapshot)
    }

    /// The references of a mirror, each with its role's name and the class of its target.
    fn references(heap: &Heap, class: usize) -> Vec<(String, usize)> {
        let tables = tables();
        let (found, snapshot) = (found(heap, &tables), heap.snapshot());
        let (memory, layout) = (snapshot.memory, &snapshot.layout);
        let all = found.of(heap.mirror(class), &snapshot, &tables);
        all.map(|(role, target)| {
            let name = match role {
                Role::Extra(name) => {
                    String::from_utf8_lossy(&tables.strings.get(name).expect("a name")).into_owned()
                }
                role => format!("{role:?}"),
            };
            let class = usize::try_from(layout.class_word(memory, target)).expect("small") - 1;
            (name, class)
        })
        .collect()
    }

    fn named(expected: &[(&str, usize)]) -> Vec<(String, usize)> {
        let owned = |&(name, class): &(&str, usize)| (name.to_owned(), class);
        expected.iter().map(owned).collect()
    }

    #[test]
    fn injected_references_are_where_all_mirrors_have_an_object_or_null() {
        let found = found(&Heap::new(), &tables());
        assert_eq!(
            found.injected,
            [8 * INJECTED as u64, 8 * OF_ONE_MIRROR as u64]
        );
        let mut heap = Heap::new();
        let string = heap.object(STRING);
        // An address between two words, followed by a class word.
        let words = usize::try_from(string - heap.mirror(0)).expect("small") / 8;
        heap.0[words + 2] = (STRING as u64 + 1) << 32;
        let after = heap.object(SIGNATURES.len());
        for not_an_object in [string + 8, string + 12, after] {
            heap.0[5 * MIRROR_WORDS + OF_ONE_MIRROR] = not_an_object;
            assert_eq!(super::tests::found(&heap, &tables()).injected, [64]);
        }
        assert!(heap
            .0
            .iter()
            .skip(ALWAYS_NULL)
            .step_by(MIRROR_WORDS)
            .take(6)
            .all(|&it| it == 0));
    }

    #[test]
    fn each_reference_of_a_mirror_has_its_role() {
        let mut heap = Heap::new();
        let targets = [THING, INTS, STRING, OBJECTS, DOMAIN].map(|class| heap.object(class));
        for (word, target) in [2, 3, 6, 11, 12].into_iter().zip(targets) {
            heap.0[word] = target;
        }
        let expected = [
            ("<init_lock>", INTS),
            ("<name>", STRING),
            ("Signers", OBJECTS),
            ("ProtectionDomain", DOMAIN),
            ("ProtectionDomain", DOMAIN),
            ("<source_file>", STRING),
        ];
        assert_eq!(references(&heap, 0), named(&expected));
        // An array class refers to the mirror of its elements in the field of the lock.
        heap.0[3] = heap.mirror(THING);
        let (tables, snapshot) = (tables(), heap.snapshot());
        let component = found(&heap, &tables).component(heap.mirror(0), &snapshot);
        assert_eq!(component, Some(heap.mirror(THING)));
        assert_eq!(references(&heap, 0), named(&expected[1..]));
    }

    #[test]
    fn what_is_injected_is_named_by_its_class() {
        let mut heap = Heap::new();
        for (target, name) in [
            (THING, "<injected>"),
            (INTS, "<init_lock>"),
            (OBJECTS, "Signers"),
            (STRING, "<source_file>"),
        ] {
            heap.0[THING * MIRROR_WORDS + INJECTED] = heap.object(target);
            assert_eq!(references(&heap, THING), named(&[(name, target)]));
        }
    }
}
