//! What a mirror (an instance of `java.lang.Class`) holds besides the class's static fields.
//!
//! A CLASS DUMP has places for the loader, the signers and the protection domain. Everything else becomes a static
//! field with a name in angle brackets, as HotSpot's own dumps do with `<resolved_references>` and `<init_lock>`.
//! Without it, objects held only by a mirror would look unreachable.

use crate::classes::{ClassMap, FieldId};
use crate::layout::{instance_offset, ObjectLayout};
use crate::mappings::Mappings;
use crate::memory::Memory;
use crate::walk::Marks;
use format::BasicType;
use tables::{ClassId, StringId, Tables};

/// What a reference in a mirror means in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The class's loader, or an array's element class. The tables already have both.
    Known,
    /// For an array class, its element class. For other classes, from JDK 9 on, the lock that threads hold while
    /// they initialise the class: HotSpot uses the same field for both.
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

/// The fields of mirrors. Made before the fork.
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
    /// Describes the fields of `java.lang.Class` and interns the names that only CLASS DUMPs use. `field_ids` are in
    /// the order of the row's fields.
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
    /// Finds the injected references: places between the declared fields at which every mirror holds null or the
    /// address of an object. Static fields start at `end`.
    pub fn find(
        fields: &MirrorFields,
        end: u64,
        memory: impl Memory,
        layout: &ObjectLayout,
        classes: &ClassMap,
        marks: &Marks,
        mappings: &Mappings,
    ) -> Self {
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
        // A value that is not a reference may point anywhere, even to unallocated parts of the heap.
        let is_object = |address: u64| {
            marks.covers(address)
                && mappings.are_readable(address, 16)
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
        memory: impl Memory + 'r,
        layout: &'r ObjectLayout,
        classes: &'r ClassMap,
        tables: &'r Tables,
    ) -> impl Iterator<Item = (Role, u64)> + 'r {
        let load = move |place: u64| layout.oops.load(memory, mirror + place);
        let declared = self.declared.iter().map(move |&(place, role)| {
            let target = load(place);
            let role = match role {
                Role::ComponentOrInitLock => {
                    self.injected_role(target, memory, layout, classes, tables)
                }
                role => role,
            };
            (role, target)
        });
        let injected = self.injected.iter().map(move |&place| {
            let target = load(place);
            (
                self.injected_role(target, memory, layout, classes, tables),
                target,
            )
        });
        declared
            .chain(injected)
            .filter(|&(role, target)| target != 0 && role != Role::Known)
    }

    /// The mirror of an array class's element class; `None` if this JDK keeps it elsewhere.
    pub fn component(
        &self,
        mirror: u64,
        memory: impl Memory,
        layout: &ObjectLayout,
    ) -> Option<u64> {
        let mut declared = self.declared.iter();
        let (place, _) = declared.find(|(_, role)| *role == Role::ComponentOrInitLock)?;
        Some(layout.oops.load(memory, mirror + place))
    }

    /// The role of an injected reference, decided by its target's class.
    fn injected_role(
        &self,
        target: u64,
        memory: impl Memory,
        layout: &ObjectLayout,
        classes: &ClassMap,
        tables: &Tables,
    ) -> Role {
        if target == 0 {
            return Role::Known;
        }
        let class = classes.get(layout.class_word(memory, target));
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
