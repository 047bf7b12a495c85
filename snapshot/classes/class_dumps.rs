//! CLASS DUMP records of a snapshot, with the static fields read from the mirrors.

use crate::classes::{Class, ClassFacts, MirrorReferences, Names, ResolvedReferences, Role, Shape};
use crate::mappings::Mappings;
use crate::memory::{Memory, ProcessMemory};
use crate::{Failure, Snapshot};
use format::BasicType;
use std::collections::HashSet;
use tables::{class_chain, ClassId, ClassRow, LoaderId, ObjectId, ObjectTable, Tables};
use writer::heap_record::{ClassDump, StaticField, Value};
use writer::{Deliver, Segments};

/// The objects that the snapshot's classes refer to.
#[derive(Debug, Default)]
pub struct ClassReferences {
    /// For each class, its mirror followed by the objects that the class refers to.
    objects: Vec<u64>,
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

    /// All mirrors and all objects that their classes refer to.
    pub fn into_objects(self) -> Vec<u64> {
        self.objects
    }
}

/// Makes the CLASS DUMP of every class of a snapshot.
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
    /// How to find a class's resolved references; `None` if the JVM does not say.
    pub resolved: Option<ResolvedReferences>,
    /// Offset in a mirror of the number of static references; `None` if the JVM does not say.
    pub static_reference_count: Option<u64>,
    /// Offset in a mirror at which static fields start.
    pub static_fields: u64,
    /// The process's mappings.
    pub mappings: &'d Mappings,
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
        let (Some(row), Some(object)) = (
            self.tables.classes.get(class.id),
            ObjectId::new(class.mirror),
        ) else {
            return Ok(());
        };
        let (mut signers, mut protection_domain) = (None, None);
        let mut statics = self.statics(class, &row)?;
        for (role, target) in self.mirror_references(class.mirror) {
            // Module and package names are shared by many classes: it is enough that one class of the same loader
            // (which keeps all its classes alive) refers to them.
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
                Role::Signers => signers = Some(target),
                Role::ProtectionDomain => protection_domain = Some(target),
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
        let instance_fields = row.own_fields().iter().filter(|field| !field.is_static);
        let fields: Vec<_> = instance_fields
            .map(|field| (field.name, field.basic_type))
            .collect();
        let record = ClassDump {
            class: object,
            super_class: row.super_class.and_then(|class| self.mirror(class)),
            loader: row
                .loader
                .and_then(|loader| self.objects.id(self.tables.loaders.get(loader)?)),
            signers: signers.and_then(ObjectId::new),
            protection_domain: protection_domain.and_then(ObjectId::new),
            instance_size_bytes: self.instance_size_bytes(class.id),
            statics: &statics,
            fields: &fields,
        };
        segments.record(|out| record.encode(out))?;
        let fixed = [object.get()].into_iter();
        let loader = record.loader.map(ObjectId::get);
        let fixed = fixed.chain(loader).chain(signers).chain(protection_domain);
        let statics = statics.iter().filter_map(|field| match field.value {
            Value::Object(Some(target)) => Some(target.get()),
            _ => None,
        });
        starts.add(fixed.chain(statics));
        Ok(())
    }

    /// Whether the class is hidden, so that its loader may not keep it alive. The names of hidden classes end in a
    /// number after a dot (after a slash up to JDK 14).
    fn is_hidden(&self, row: &ClassRow) -> bool {
        let signature = self.tables.strings.get(row.signature).unwrap_or_default();
        let last = signature
            .rsplit(|&byte| byte == b'.' || byte == b'/')
            .next();
        last.and_then(|last| last.first())
            .is_some_and(u8::is_ascii_digit)
    }

    /// For an array class, the mirror of its innermost element class; for other classes, their own mirror.
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
        let component = self
            .references
            .component(mirror, snapshot.memory, &snapshot.layout)?;
        snapshot.classes.class_of_mirror(component)?;
        Some(component)
    }

    fn mirror_references(&self, mirror: u64) -> impl Iterator<Item = (Role, u64)> + '_ {
        let snapshot = self.snapshot;
        self.references.of(
            mirror,
            snapshot.memory,
            &snapshot.layout,
            &snapshot.classes,
            self.tables,
        )
    }

    /// The declared static fields in class-file order.
    fn statics(&self, class: &Class, row: &ClassRow) -> Result<Vec<StaticField>, Failure> {
        let (memory, layout) = (self.snapshot.memory, &self.snapshot.layout);
        let mut statics = Vec::new();
        let fields = row.own_fields().iter().zip(self.facts.field_ids(class.id));
        for (field, id) in fields.filter(|(field, _)| field.is_static) {
            let place = layout
                .static_place(memory, class.mirror, id.bits())
                .ok_or(Failure::Unexplained("the place of a static field"))?;
            let bits = layout.oops.value(memory, place, field.basic_type);
            let value = if self.snapshot.primitive_fields || field.basic_type == BasicType::Object {
                Value::of_bits(field.basic_type, bits)
            } else {
                Value::zero(field.basic_type)
            };
            statics.push(StaticField {
                name: field.name,
                value,
            });
        }
        Ok(statics)
    }

    /// The static references of a class that is not linked. JVMTI does not report the fields of such a class.
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

    /// The array of the class's resolved constants; `None` if it has none, or if the JVM does not say where it is.
    fn resolved_references(&self, class: &Class) -> Option<u64> {
        let offsets = self.resolved?;
        if matches!(class.shape, Shape::ObjectArray | Shape::PrimitiveArray(_)) {
            return None;
        }
        let snapshot = self.snapshot;
        let follow = |address: u64| {
            (address % 8 == 0 && self.mappings.is_readable(address))
                .then(|| snapshot.memory.u64(address))
        };
        let klass = snapshot.layout.klass(snapshot.memory, class.mirror);
        let constants = follow(klass + offsets.constants)?;
        let holder = match offsets.cache {
            Some(cache) => follow(constants.checked_add(cache)?)?,
            None => constants,
        };
        let slot = follow(holder.checked_add(offsets.resolved_references)?)?;
        let array = follow(slot)?;
        let is_array = |array: u64| {
            let word = snapshot.layout.class_word(snapshot.memory, array);
            let class = snapshot.classes.get(word);
            class.is_some_and(|class| class.shape == Shape::ObjectArray)
        };
        (snapshot.marks.covers(array) && is_array(array)).then_some(array)
    }

    /// The superclass's size if the class is not linked: such a class has no fields in the file.
    fn instance_size_bytes(&self, class: ClassId) -> u32 {
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

    fn mirror(&self, class: ClassId) -> Option<ObjectId> {
        let class = self.snapshot.classes.classes().get(class.index())?;
        ObjectId::new(class.mirror)
    }
}

fn reference(name: tables::StringId, target: u64) -> StaticField {
    StaticField {
        name,
        value: Value::Object(ObjectId::new(target)),
    }
}
