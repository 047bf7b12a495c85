//! What HotSpot exports about its own structures (`vmStructs`), as far as a dump needs it.
//!
//! The export is not guaranteed, so it serves only for what can be left out: the dump does without
//! a field that is not exported.

use crate::layouts::{ClassSizes, ResolvedInCache, ResolvedInPool};
use crate::unused_heap::UnusedHeap;
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
        let sizes = ClassSizes::find().ok();
        Self {
            resolved: resolved_references(),
            static_reference_count: sizes.and_then(|sizes| sizes.static_reference_count),
            size_places: sizes.map_or_else(SizePlaces::default, |sizes| SizePlaces {
                in_klass: sizes.in_klass,
                in_mirror: sizes.in_mirror,
            }),
            unused_heap: UnusedHeap::find(),
        }
    }
}

/// How to find what a class's constants were resolved to; `None` if this JVM does not export all of
/// it.
fn resolved_references() -> Option<ResolvedReferences> {
    if let Ok(at) = ResolvedInPool::find() {
        return Some(ResolvedReferences {
            constants: at.constants,
            cache: None,
            resolved_references: at.references,
        });
    }
    let at = ResolvedInCache::find().ok()?;
    Some(ResolvedReferences {
        constants: at.constants,
        cache: Some(at.cache),
        resolved_references: at.references,
    })
}
