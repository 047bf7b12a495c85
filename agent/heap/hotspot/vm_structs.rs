//! What HotSpot exports of its own structures, as far as a dump asks for it.
//!
//! Nobody promises it, so it serves only for what can be left out: a field that it does not name is one the dump does
//! without.

use super::unused_heap::UnusedHeap;
use crate::hotspot::vm_structs::Table;

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
            resolved: ResolvedReferences::find(),
            static_reference_count: static_reference_count_offset(),
            unused_heap: UnusedHeap::find(),
        }
    }
}

/// Offsets on the way from a `Klass` to its resolved references: call sites, method handles, strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResolvedReferences {
    /// In `InstanceKlass`.
    pub(super) constants: u64,
    /// In `ConstantPool`; `None` up to 8, where that has the resolved references itself.
    pub(super) cache: Option<u64>,
    /// In `ConstantPoolCache`, or `ConstantPool`: the address of a slot with the array's address.
    pub(super) resolved_references: u64,
}

impl ResolvedReferences {
    /// Looks the offsets up; `None` if this JVM does not export them all.
    fn find() -> Option<Self> {
        let table = Table::find()?;
        let constants = table.offset("InstanceKlass", "_constants")?;
        if let Some(resolved_references) = table.offset("ConstantPool", "_resolved_references") {
            return Some(Self {
                constants,
                cache: None,
                resolved_references,
            });
        }
        Some(Self {
            constants,
            cache: Some(table.offset("ConstantPool", "_cache")?),
            resolved_references: table.offset("ConstantPoolCache", "_resolved_references")?,
        })
    }
}

fn static_reference_count_offset() -> Option<u64> {
    Table::find()?.static_int("java_lang_Class", "_static_oop_field_count_offset")
}
