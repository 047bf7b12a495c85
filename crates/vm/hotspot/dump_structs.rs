//! What HotSpot exports about its own structures (`vmStructs`), as far as a dump needs it.
//!
//! The export is not guaranteed, so it serves only for what can be left out: the dump does without
//! a field that is not exported.

use crate::unused_heap::UnusedHeap;
use crate::vm_structs::Table;
use snapshot::classes::{ResolvedReferences, SizePlaces};

/// The exported values that a dump uses.
#[derive(Clone, Copy, Debug)]
pub struct VmStructs {
    /// How to find what a class's constants were resolved to.
    pub resolved: Option<ResolvedReferences>,
    /// Offset in a mirror of the number of static references, which HotSpot places before the other
    /// static fields.
    pub static_reference_count: Option<u64>,
    /// Where classes have their sizes.
    pub size_places: SizePlaces,
    /// How to find the parts of the heap without objects.
    pub unused_heap: Option<UnusedHeap>,
}

impl VmStructs {
    /// Looks everything up.
    pub fn find() -> Self {
        Self {
            resolved: resolved_references(),
            static_reference_count: static_reference_count_offset(),
            size_places: size_places().unwrap_or_default(),
            unused_heap: UnusedHeap::find(),
        }
    }
}

/// How to find what a class's constants were resolved to; `None` if this JVM does not export all of
/// it.
fn resolved_references() -> Option<ResolvedReferences> {
    let table = Table::find()?;
    let constants = table.offset("InstanceKlass", "_constants")?;
    if let Some(resolved_references) = table.offset("ConstantPool", "_resolved_references") {
        return Some(ResolvedReferences {
            constants,
            cache: None,
            resolved_references,
        });
    }
    Some(ResolvedReferences {
        constants,
        cache: Some(table.offset("ConstantPool", "_cache")?),
        resolved_references: table.offset("ConstantPoolCache", "_resolved_references")?,
    })
}

fn static_reference_count_offset() -> Option<u64> {
    Table::find()?.static_int("java_lang_Class", "_static_oop_field_count_offset")
}

fn size_places() -> Option<SizePlaces> {
    let table = Table::find()?;
    Some(SizePlaces {
        in_klass: table.offset("Klass", "_layout_helper"),
        in_mirror: table.static_int("java_lang_Class", "_oop_size_offset"),
    })
}
