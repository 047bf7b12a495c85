//! What HotSpot exports of its own structures, as far as a dump asks for it.
//!
//! Nobody promises it, so it serves only for what can be left out: a field that it does not name is one the dump does
//! without.

use super::pause::unused_heap::UnusedHeap;
use crate::hotspot::vm_structs::Table;
use snapshot::classes::ResolvedReferences;

/// What the table tells, as far as this JVM exports it.
#[derive(Clone, Copy, Debug)]
pub(super) struct VmStructs {
    /// The way to what a class's constants were resolved to.
    pub(super) resolved: Option<ResolvedReferences>,
    /// Where a mirror has the number of its static references, which HotSpot lays before the other static fields.
    pub(super) static_reference_count: Option<u64>,
    /// The way to the parts of the heap that hold no object.
    pub(super) unused_heap: Option<UnusedHeap>,
}

impl VmStructs {
    /// Looks everything up.
    pub(super) fn find() -> Self {
        Self {
            resolved: resolved_references(),
            static_reference_count: static_reference_count_offset(),
            unused_heap: UnusedHeap::find(),
        }
    }
}

/// The way to what a class's constants were resolved to; `None` if this JVM does not export all of it.
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
