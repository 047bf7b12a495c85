//! CLASS DUMP records of a snapshot, with the static fields read from the mirrors.

use crate::classes::{Class, ClassFacts, MirrorReferences, Names, ResolvedReferences, Role, Shape};
use crate::memory::{Memory, ProcessMemory};
use crate::{Failure, Snapshot};
use format::sub_record::{ClassDump, Field, HeapRecord, Static};
use format::{BasicType, EMPTY_TRACE_SERIAL};
use std::collections::HashSet;
use tables::{class_chain, ClassId, ClassRow, LoaderId, ObjectId, ObjectTable, Tables};
use writer::heap_record;
use writer::{Deliver, Segments};

/// The objects that the snapshot's classes refer to.
#[derive(Debug, Default)]
pub struct ClassReferences {
    /// For each class, its mirror followed by the objects that the class refers to.
    pub objects: Vec<u64>,
    /// End index of each class's run in `objects`.
    ends: Vec<usize>,
}

impl ClassReferences {
    fn add(&mut self, mirror_and_objects: impl Iterator<Item = u64>) {
        self.objects.extend(mirror_and_objects);
        self.ends.push(self.objects.len());
    }

    /// The objects referred to by the classes whose mirrors satisfy `is_wanted`.
    pub fn of(&self, is_wanted: impl Fn(u64) -> bool) -> HashSet<u64> {
        let mut start = 0;
        let mut found = HashSet::new();
        for &end in &self.ends {
            let objects = self.objects.get(start..end).unwrap_or_default();
            if let Some((_, held)) = objects
                .split_first()
                .filter(|(&mirror, _)| is_wanted(mirror))
            {
                found.extend(held);
            }
            start = end;
        }
        found
    }
}

/// Writes the CLASS DUMP of every class of a snapshot.
#[derive(Debug)]
pub struct ClassDumps<'d, M = ProcessMemory> {
    /// The heap.
    pub snapshot: &'d Snapshot<M>,
    /// The classes as the parent described them before the fork.
    pub facts: &'d ClassFacts,
    /// The tables with the classes' rows.
    pub tables: &'d Tables,
    /// The addresses of class loaders.
    pub objects: &'d ObjectTable,
    /// The references found in mirrors.
    pub references: &'d MirrorReferences,
    /// Names for references that have no field name of their own.
    pub names: Names,
    /// Offsets for finding a class's resolved references; `None` if the JVM does not reveal them.
    pub resolved: Option<ResolvedReferences>,
    /// Offset in a mirror of the number of static references; `None` if the JVM does not reveal it.
    pub static_reference_count: Option<u64>,
    /// Offset in a mirror at which static fields start.
    pub static_fields: u64,
}

impl<M: Memory> ClassDumps<'_, M> {
    /// Writes all records in class order. Adds the objects that classes refer to to `starts`.
    pub fn write(
        &self,
        segments: &mut Segments<impl Deliver>,
        starts: &mut ClassReferences,
    ) -> Result<(), Failure> {
        let mut held = HashSet::new();
        for class in self.snapshot.classes.classes() {
            self.write_one(class, segments, starts, &mut held)?;
        }
        Ok(())
    }

    fn write_one(
        &self,
        class: &Class,
        segments: &mut Segments<impl Deliver>,
        starts: &mut ClassReferences,
        held: &mut HashSet<(Option<LoaderId>, u64)>,
    ) -> Result<(), Failure> {
        let row = self.tables.classes.get(class.id);
        let Some(row) = row.filter(|_| class.mirror != 0) else {
            return Ok(());
        };
        let (mut signers, mut protection_domain) = (0, 0);
        let mut statics = self.statics(class, &row)?;
        for (role, target) in self.mirror_references(class.mirror) {
            // Many classes share module and package names: it is enough that one class of the same
            // loader (which keeps all its classes alive) refers to them.
            if let Role::Extra(name) = role {
                if !held.contains(&(row.loader, target)) {
                    statics.push(reference(name, target));
                }
                if !self.is_hidden(&row) {
                    held.insert((row.loader, target));
                }
            }
        }
        // An array class gets these from its element class.
        for (role, target) in self.mirror_references(self.element_mirror(class.mirror)) {
            match role {
                Role::Signers => signers = target,
                Role::ProtectionDomain => protection_domain = target,
                Role::Known | Role::ComponentOrInitLock | Role::Extra(_) => {}
            }
        }
        statics.extend(
            self.unlinked_statics(class, &row)
                .into_iter()
                .map(|target| reference(self.names.unlinked_static, target)),
        );
        statics.extend(
            self.resolved_references(class)
                .map(|array| reference(self.names.resolved_references, array)),
        );
        let dump = ClassDump {
            class: class.mirror,
            trace: EMPTY_TRACE_SERIAL,
            super_class: row.super_class.map_or(0, |class| self.mirror(class)),
            loader: self.loader(&row).map_or(0, ObjectId::get),
            signers,
            protection_domain,
            instance_bytes: self.instance_bytes(class.id),
            fields: fields(&row),
            statics,
            ..ClassDump::default()
        };
        let targets = dump.statics.iter();
        let targets = targets.filter(|field| field.kind == BasicType::Object);
        let targets = targets.map(|field| field.value);
        let all = [dump.loader, signers, protection_domain].into_iter();
        let targets = all.chain(targets).filter(|&target| target != 0);
        starts.add([class.mirror].into_iter().chain(targets));
        let record = HeapRecord::Class(Box::new(dump));
        segments.record(|out| heap_record::encode(&record, out))?;
        Ok(())
    }

    /// Whether the class is hidden, so that its loader may not keep it alive. The names of hidden
    /// classes end in a number after a dot (after a slash up to JDK 14).
    fn is_hidden(&self, row: &ClassRow) -> bool {
        let signature = self.tables.strings.get(row.signature).unwrap_or_default();
        let last = signature
            .rsplit(|&byte| byte == b'.' || byte == b'/')
            .next();
        last.and_then(|last| last.first())
            .is_some_and(u8::is_ascii_digit)
    }

    /// For an array class, the mirror of its innermost element class; for other classes, their own
    /// mirror.
    fn element_mirror(&self, mirror: u64) -> u64 {
        let mut element = mirror;
        // An array has at most 255 dimensions.
        for _ in 0..255 {
            match self.component(element) {
                Some(component) => element = component,
                None => break,
            }
        }
        element
    }

    fn component(&self, mirror: u64) -> Option<u64> {
        let snapshot = self.snapshot;
        let class = snapshot.classes.class_of_mirror(mirror)?;
        let class = snapshot.classes.classes().get(class.index())?;
        if !matches!(class.shape, Shape::ObjectArray) {
            return None;
        }
        let component = self.references.component(mirror, snapshot)?;
        snapshot.classes.class_of_mirror(component)?;
        Some(component)
    }

    fn mirror_references(&self, mirror: u64) -> impl Iterator<Item = (Role, u64)> + '_ {
        self.references.of(mirror, self.snapshot, self.tables)
    }

    /// The declared static fields in class-file order.
    fn statics(&self, class: &Class, row: &ClassRow) -> Result<Vec<Static>, Failure> {
        let (memory, layout) = (self.snapshot.memory, &self.snapshot.layout);
        let (mut statics, values) = (Vec::new(), &self.snapshot.values);
        let fields = row.own_fields().iter().zip(self.facts.field_ids(class.id));
        for (field, id) in fields.filter(|(field, _)| field.is_static) {
            let place = layout
                .static_place(memory, class.mirror, id.bits())
                .ok_or(Failure::Unexplained("the place of a static field"))?;
            let bits = layout.oops.value(memory, place, field.basic_type);
            let is_reference = field.basic_type == BasicType::Object;
            if is_reference {
                for decision in values.decisions(self.tables, row, field) {
                    self.snapshot.decide_over(decision, bits);
                }
            }
            let is_kept = is_reference || values.keeps_value(self.tables, row, field);
            statics.push(Static {
                name: field.name.into(),
                kind: field.basic_type,
                value: match field.basic_type {
                    _ if !is_kept => 0,
                    BasicType::Boolean => u64::from(bits != 0),
                    _ => bits,
                },
            });
        }
        Ok(statics)
    }

    /// The static references of a class that is not linked. JVMTI does not report the fields of
    /// such a class.
    fn unlinked_statics(&self, class: &Class, row: &ClassRow) -> Vec<u64> {
        /// A class file cannot declare this many static references.
        const MOST: u32 = 1 << 16;
        let snapshot = self.snapshot;
        let Some(offset) = self.static_reference_count.filter(|_| row.fields.is_none()) else {
            return Vec::new();
        };
        let count = snapshot.memory.u32(class.mirror + offset);
        if matches!(class.shape, Shape::ObjectArray | Shape::PrimitiveArray(_)) || count > MOST {
            return Vec::new();
        }
        let start = class.mirror + self.static_fields;
        let width = snapshot.layout.oops.width_bytes();
        (0..u64::from(count))
            .map(|index| {
                snapshot
                    .layout
                    .oops
                    .load(snapshot.memory, start + index * width)
            })
            .filter(|&target| snapshot.marks.covers(target))
            .collect()
    }

    /// The array of the class's resolved constants; `None` if it has none, or if the JVM does not
    /// reveal its position.
    fn resolved_references(&self, class: &Class) -> Option<u64> {
        let offsets = self.resolved?;
        if matches!(class.shape, Shape::ObjectArray | Shape::PrimitiveArray(_)) {
            return None;
        }
        let snapshot = self.snapshot;
        let follow = |address: u64| {
            (address % 8 == 0 && snapshot.mappings.is_readable(address))
                .then(|| snapshot.memory.u64(address))
        };
        let klass = snapshot.layout.klass(snapshot.memory, class.mirror);
        let constants = follow(klass + offsets.constants)?;
        let holder = match offsets.cache {
            Some(cache) => follow(constants.checked_add(cache)?)?,
            None => constants,
        };
        let slot = follow(holder.checked_add(offsets.resolved_references)?)?;
        let array = snapshot.memory.decoded(follow(slot)?);
        let is_array = |array: u64| {
            let word = snapshot.layout.class_word(snapshot.memory, array);
            let class = snapshot.classes.get(word);
            class.is_some_and(|class| class.shape == Shape::ObjectArray)
        };
        let is_there = snapshot.marks.covers(array) && snapshot.mappings.are_readable(array, 16);
        (is_there && is_array(array)).then_some(array)
    }

    /// The superclass's size if the class is not linked: such a class has no fields in the file.
    fn instance_bytes(&self, class: ClassId) -> u32 {
        let size = |class: ClassId| {
            let class = self.snapshot.classes.classes().get(class.index())?;
            match class.shape {
                Shape::Instance { data_bytes, .. } => Some(data_bytes),
                _ => None,
            }
        };
        class_chain(&self.tables.classes, class)
            .into_iter()
            .find_map(size)
            .unwrap_or(0)
    }

    fn loader(&self, row: &ClassRow) -> Option<ObjectId> {
        self.objects.id(*self.tables.loaders.get(row.loader?)?)
    }

    /// 0 if there is none.
    fn mirror(&self, class: ClassId) -> u64 {
        let class = self.snapshot.classes.classes().get(class.index());
        class.map_or(0, |class| class.mirror)
    }
}

/// The fields of an instance that the class declares.
fn fields(row: &ClassRow) -> Vec<Field> {
    let fields = row.own_fields().iter().filter(|field| !field.is_static);
    let fields = fields.map(|field| Field {
        name: field.name.into(),
        kind: field.basic_type,
    });
    fields.collect()
}

fn reference(name: tables::StringId, value: u64) -> Static {
    Static {
        name: name.into(),
        kind: BasicType::Object,
        value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::{ClassMap, FieldId, MirrorFields, Slot};
    use crate::mappings::Mappings;
    use crate::memory::BufferMemory;
    use tables::{Field, StringId};

    /// Numbers of the classes; the class word is the number plus one.
    const CLASS: usize = 0;
    const THING: usize = 1;
    const THINGS: usize = 2;
    const ROWS_OF_THINGS: usize = 3;
    const INTS: usize = 4;
    const UNLINKED: usize = 5;
    const SIGNATURES: [&str; 6] = [
        "Ljava/lang/Class;",
        "LThing;",
        "[LThing;",
        "[[LThing;",
        "[I",
        "LUnlinked;",
    ];

    /// Words of a mirror: header, component type, signers, `Klass`, number of static references,
    /// module, static fields.
    const MIRROR_WORDS: usize = 10;
    const COMPONENT: usize = 2;
    const SIGNERS: usize = 3;
    const KLASS: usize = 4;
    const COUNT: usize = 5;
    const MODULE: usize = 6;
    const STATICS: usize = 7;
    /// After the mirrors: the `Klass` of `Thing`, its constants and their cache, a slot, the ids of
    /// its static fields.
    const THING_KLASS: usize = SIGNATURES.len() * MIRROR_WORDS;
    const CONSTANTS: usize = THING_KLASS + 2;
    const CACHE: usize = CONSTANTS + 2;
    const SLOT: usize = CACHE + 1;
    const IDS: usize = SLOT + 1;
    /// Then an array of things, and one of numbers.
    const ARRAY: usize = IDS + 4;
    const NUMBERS: usize = ARRAY + 4;
    const WORDS: usize = NUMBERS + 3;

    const RESOLVED: ResolvedReferences = ResolvedReferences {
        constants: 8,
        cache: Some(8),
        resolved_references: 0,
    };

    struct Heap(Vec<u64>);

    impl Heap {
        fn new() -> Self {
            // One word more than is mapped.
            let mut heap = Self(vec![0; WORDS + 1]);
            for class in 0..SIGNATURES.len() {
                let mirror = class * MIRROR_WORDS;
                (heap.0[mirror], heap.0[mirror + 1]) = (1, 1);
            }
            heap.0[THINGS * MIRROR_WORDS + COMPONENT] = heap.mirror(THING);
            heap.0[ROWS_OF_THINGS * MIRROR_WORDS + COMPONENT] = heap.mirror(THINGS);
            let thing = THING * MIRROR_WORDS;
            heap.0[thing + SIGNERS] = heap.at(ARRAY);
            heap.0[thing + KLASS] = heap.at(THING_KLASS);
            heap.0[thing + STATICS] = heap.at(ARRAY);
            heap.0[thing + STATICS + 1] = 7;
            heap.0[THING_KLASS + 1] = heap.at(CONSTANTS);
            heap.0[CONSTANTS + 1] = heap.at(CACHE);
            heap.0[CACHE] = heap.at(SLOT);
            (heap.0[SLOT], heap.0[WORDS]) = (heap.at(ARRAY), heap.at(ARRAY));
            for (id, field) in [(IDS, STATICS), (IDS + 2, STATICS + 1)] {
                (heap.0[id], heap.0[id + 1]) = (heap.at(THING_KLASS), field as u64 * 8);
            }
            (heap.0[ARRAY], heap.0[ARRAY + 1]) = (1, THINGS as u64 + 1);
            (heap.0[NUMBERS], heap.0[NUMBERS + 1]) = (1, INTS as u64 + 1);
            heap
        }

        fn at(&self, word: usize) -> u64 {
            self.0.as_ptr() as u64 + word as u64 * 8
        }

        fn mirror(&self, class: usize) -> u64 {
            self.at(class * MIRROR_WORDS)
        }

        fn snapshot(&self) -> Snapshot<BufferMemory<'_>> {
            let mut snapshot = Snapshot::of_words(&self.0, Vec::new());
            let instance = |data_bytes| Shape::Instance {
                fields: Vec::new(),
                data_bytes,
                references: Vec::new(),
                primitive_arrays: Vec::new(),
                heap_bytes: 16,
            };
            let shapes = vec![
                instance(0),
                instance(24),
                Shape::ObjectArray,
                Shape::ObjectArray,
                Shape::PrimitiveArray(BasicType::Int),
                Shape::Unknown,
            ];
            let mut classes = ClassMap::of_shapes(shapes);
            for class in 0..SIGNATURES.len() {
                classes = classes.with_mirror(id(CLASS), self.mirror(class), id(class));
            }
            snapshot.classes = classes;
            snapshot.layout.klass_in_mirror = 8 * KLASS as u64;
            snapshot.layout.static_ids.offset = 8;
            let (start, end) = (self.at(0), self.at(WORDS));
            snapshot.mappings = Mappings::parse(format!("{start:x}-{end:x} rw-p 0 0 0").as_bytes());
            snapshot
        }

        /// The result of `body` for this heap.
        fn look<R>(&self, body: impl FnOnce(&ClassDumps<'_, BufferMemory<'_>>) -> R) -> R {
            let (tables, facts) = described(self);
            let snapshot = self.snapshot();
            let ids = [COMPONENT, SIGNERS, MODULE]
                .map(|word| FieldId::of_bits((word as u64 * 8) << 2 | 2));
            let fields = MirrorFields::of(id(CLASS), &ids, &tables);
            let static_fields = 8 * STATICS as u64;
            let references = MirrorReferences::find(&fields, static_fields, &snapshot);
            body(&ClassDumps {
                snapshot: &snapshot,
                facts: &facts,
                tables: &tables,
                objects: &ObjectTable::default(),
                references: &references,
                names: fields.names(),
                resolved: Some(RESOLVED),
                static_reference_count: Some(8 * COUNT as u64),
                static_fields,
            })
        }
    }

    fn id(class: usize) -> ClassId {
        ClassId::from_index(class).expect("an id")
    }

    /// Rows and facts: mirrors declare three references, `Thing` a static reference and a static
    /// number.
    fn described(heap: &Heap) -> (Tables, ClassFacts) {
        let (tables, mut facts) = (Tables::default(), ClassFacts::new(id(CLASS)));
        let intern = |text: &str| tables.strings.intern(text.as_bytes());
        let field = |name, basic_type, is_static| Field {
            name: intern(name),
            basic_type,
            is_primitive_array: false,
            is_static,
        };
        for (class, signature) in SIGNATURES.into_iter().enumerate() {
            let fields = match class {
                CLASS => vec![
                    field("componentType", BasicType::Object, false),
                    field("signers", BasicType::Object, false),
                    field("module", BasicType::Object, false),
                ],
                THING => vec![
                    field("held", BasicType::Object, true),
                    field("number", BasicType::Long, true),
                ],
                _ => Vec::new(),
            };
            let ids = match class {
                THING => vec![heap.at(IDS), heap.at(IDS + 2)],
                _ => Vec::new(),
            };
            facts.push(Slot::of_handle(0), ids.into_iter().map(FieldId::of_bits));
            tables.classes.add(ClassRow {
                signature: intern(signature),
                name: intern(signature),
                loader: None,
                super_class: (class == UNLINKED).then(|| id(THING)),
                fields: (class != UNLINKED).then_some(fields),
            });
        }
        (tables, facts)
    }

    fn class<'s, M>(dumps: &'s ClassDumps<'_, M>, number: usize) -> &'s Class {
        &dumps.snapshot.classes.classes()[number]
    }

    #[test]
    fn static_fields_have_the_values_of_their_mirror() {
        let mut heap = Heap::new();
        let statics = |heap: &Heap| {
            heap.look(|dumps| {
                let row = dumps.tables.classes.get(id(THING)).expect("a row");
                let statics = dumps.statics(class(dumps, THING), &row);
                statics.map(|all| all.iter().map(|one| one.value).collect::<Vec<_>>())
            })
        };
        let expected = vec![heap.at(ARRAY), 7];
        assert_eq!(statics(&heap), Ok(expected));
        // The id of another class's field.
        heap.0[IDS + 2] += 8;
        let failure = Failure::Unexplained("the place of a static field");
        assert_eq!(statics(&heap), Err(failure));
    }

    #[test]
    fn an_array_class_leads_to_its_innermost_elements() {
        let mut heap = Heap::new();
        // In other classes this field holds the lock.
        heap.0[THING * MIRROR_WORDS + COMPONENT] = heap.mirror(INTS);
        heap.look(|dumps| {
            let thing = heap.mirror(THING);
            for class in [THING, THINGS, ROWS_OF_THINGS] {
                assert_eq!(dumps.element_mirror(heap.mirror(class)), thing);
            }
            assert_eq!(dumps.element_mirror(heap.mirror(INTS)), heap.mirror(INTS));
        });
    }

    #[test]
    fn resolved_references_are_an_array_of_references() {
        let found = |heap: &Heap, resolved, number| {
            heap.look(|dumps| {
                let dumps = ClassDumps { resolved, ..*dumps };
                dumps.resolved_references(class(&dumps, number))
            })
        };
        let mut heap = Heap::new();
        let array = heap.at(ARRAY);
        assert_eq!(found(&heap, Some(RESOLVED), THING), Some(array));
        assert_eq!(found(&heap, None, THING), None);
        // Without a cache, as in JDK 8, the constants contain the slot themselves.
        heap.0[CONSTANTS] = heap.at(SLOT);
        let without_cache = ResolvedReferences {
            cache: None,
            ..RESOLVED
        };
        assert_eq!(found(&heap, Some(without_cache), THING), Some(array));
        for class in [THINGS, INTS] {
            heap.0[class * MIRROR_WORDS + KLASS] = heap.at(THING_KLASS);
            assert_eq!(found(&heap, Some(RESOLVED), class), None);
        }
        // An address between two words, followed by the array's class word.
        heap.0[ARRAY + 2] = (THINGS as u64 + 1) << 32;
        for not_an_array in [heap.at(NUMBERS), heap.at(ARRAY) + 12, 0] {
            heap.0[SLOT] = not_an_array;
            assert_eq!(found(&heap, Some(RESOLVED), THING), None);
        }
        for not_a_place in [heap.at(SLOT) + 4, heap.at(WORDS), 0] {
            heap.0[CACHE] = not_a_place;
            assert_eq!(found(&heap, Some(RESOLVED), THING), None);
        }
    }

    #[test]
    fn a_class_that_is_not_linked_has_its_static_references() {
        let found = |heap: &Heap, number| {
            heap.look(|dumps| {
                let row = dumps.tables.classes.get(id(number)).expect("a row");
                dumps.unlinked_statics(class(dumps, number), &row)
            })
        };
        let mut heap = Heap::new();
        let unlinked = UNLINKED * MIRROR_WORDS;
        (heap.0[unlinked + STATICS], heap.0[unlinked + STATICS + 1]) =
            (heap.at(ARRAY), heap.at(NUMBERS));
        assert_eq!(found(&heap, UNLINKED), []);
        heap.0[unlinked + COUNT] = 1;
        assert_eq!(found(&heap, UNLINKED), [heap.at(ARRAY)]);
        heap.0[unlinked + COUNT] = 3;
        // The third value is not an object.
        heap.0[unlinked + STATICS + 2] = heap.at(ARRAY) + 4;
        assert_eq!(found(&heap, UNLINKED), [heap.at(ARRAY), heap.at(NUMBERS)]);
        heap.0[unlinked + COUNT] = (1 << 16) + 1;
        assert_eq!(found(&heap, UNLINKED), []);
        // The static references of a linked class are declared.
        heap.0[THING * MIRROR_WORDS + COUNT] = 1;
        assert_eq!(found(&heap, THING), []);
        heap.look(|dumps| {
            assert_eq!(dumps.instance_bytes(id(THING)), 24);
            assert_eq!(dumps.instance_bytes(id(UNLINKED)), 24);
            assert_eq!(dumps.instance_bytes(id(INTS)), 0);
        });
    }

    #[test]
    fn hidden_classes_have_a_number_behind_their_name() {
        Heap::new().look(|dumps| {
            let is_hidden = |signature: &str| {
                let signature: StringId = dumps.tables.strings.intern(signature.as_bytes());
                dumps.is_hidden(&ClassRow {
                    signature,
                    name: signature,
                    loader: None,
                    super_class: None,
                    fields: None,
                })
            };
            assert!(is_hidden("LA$$Lambda.0x7f01;") && is_hidden("LA$$Lambda/12;"));
            assert!(!is_hidden("Lp/A1;") && !is_hidden("[I") && !is_hidden("Lp/A.b;"));
        });
    }

    #[test]
    fn each_class_has_a_record_and_holds_its_objects() {
        let mut heap = Heap::new();
        for class in [THING, INTS] {
            heap.0[class * MIRROR_WORDS + MODULE] = heap.at(NUMBERS);
        }
        let bytes = std::sync::Mutex::new(Vec::new());
        let mut segments = Segments::new(|more: Vec<u8>| {
            bytes.lock().expect("no panic").extend(more);
            Ok(())
        });
        let mut starts = ClassReferences::default();
        heap.look(|dumps| dumps.write(&mut segments, &mut starts))
            .expect("written");
        assert!(segments.finish().is_ok());
        assert!(!bytes.lock().expect("no panic").is_empty());
        // Its signers, a static field and the resolved constants are all the same array; the other
        // object is its module.
        let held = starts.of(|mirror| mirror == heap.mirror(THING));
        assert_eq!(held, HashSet::from([heap.at(ARRAY), heap.at(NUMBERS)]));
        // An array class has the signers of its elements.
        let held = starts.of(|mirror| mirror == heap.mirror(ROWS_OF_THINGS));
        assert_eq!(held, HashSet::from([heap.at(ARRAY)]));
        // The first class of a loader refers to what all of them share.
        assert!(starts.of(|mirror| mirror == heap.mirror(INTS)).is_empty());
        let mirrors = (0..SIGNATURES.len()).map(|class| heap.mirror(class));
        let objects = starts.objects;
        assert!(mirrors.into_iter().all(|mirror| objects.contains(&mirror)));
    }
}
