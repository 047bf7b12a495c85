//! Plain facts: the catalogue's classes and fields as numbers that can be read without a JVM.

use super::catalogue::Catalogue;
use jvm::field::FieldId;
use snapshot::classes::{ClassFacts, FieldId as FieldBits, MirrorFields, Slot};
use snapshot::layout::instance_offset;

/// The classes of the catalogue, for the forked child.
pub(in crate::heap) fn class_facts(catalogue: &Catalogue<'_>) -> ClassFacts {
    let mut facts = ClassFacts::new(catalogue.class_class);
    for class in catalogue.ids() {
        let Some(mirror) = catalogue.handle(class) else {
            break;
        };
        let mirror = Slot::of_handle(mirror.handle().bits());
        facts.push(mirror, field_bits(catalogue.field_ids(class)));
    }
    facts
}

/// The fields of `java.lang.Class`.
pub(in crate::heap) fn mirror_fields(catalogue: &Catalogue<'_>) -> MirrorFields {
    let class = catalogue.class_class;
    let field_ids: Vec<_> = field_bits(catalogue.field_ids(class)).collect();
    MirrorFields::of(class, &field_ids, catalogue.tables)
}

/// The offset of an instance field of a bootstrap loader's class; `None` if it has no such field.
pub(in crate::heap) fn field_offset(
    catalogue: &Catalogue<'_>,
    signature: &[u8],
    name: &[u8],
) -> Option<u64> {
    let tables = catalogue.tables;
    let class = catalogue.bootstrap_class_id(signature)?;
    let row = tables.classes.get(class)?;
    let name = tables.strings.intern(name);
    let mut fields = row.own_fields().iter().zip(catalogue.field_ids(class));
    let (_, id) = fields.find(|(field, _)| field.name == name && !field.is_static)?;
    instance_offset(id.bits()).map(u64::from)
}

fn field_bits(ids: &[FieldId]) -> impl Iterator<Item = FieldBits> + '_ {
    ids.iter().map(|id| FieldBits::of_bits(id.bits()))
}
