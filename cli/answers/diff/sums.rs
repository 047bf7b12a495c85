//! What is kept of a heap to compare it with a later one.

use std::collections::BTreeMap;

use graph::{Heap, Retained, Total};

use super::places::Places;
use super::site_growth::{by_words, Sites};
use crate::answers::sites;
use crate::files::heap_file::{Loaded, SizesOf};
use crate::output::outcome::Failure;

/// The sums of one heap, all by name: objects move, and numbers differ from dump to dump.
#[derive(Debug)]
pub(crate) struct Sums {
    pub(super) classes: BTreeMap<String, Total>,
    pub(super) places: Places,
    /// By stack, if asked for.
    pub(super) sites: Option<Sites>,
    /// Bytes of all reachable objects.
    pub(crate) total_bytes: u64,
    /// How long a running JVM paused for them.
    pub(super) pause_millis: Option<u64>,
    /// Whose sizes of objects count.
    pub(crate) sizes: SizesOf,
}

impl Sums {
    /// The sums of a heap, with those of its allocation sites if asked for.
    ///
    /// Errors: the file cannot be read; no object has a stack.
    pub(crate) fn of(loaded: &Loaded, with_sites: bool) -> Result<Self, Failure> {
        let (heap, retained) = (&loaded.heap, &loaded.retained);
        let places = loaded.check(Places::of(heap, retained))?;
        let sites = match with_sites {
            true => Some(by_words(heap, &sites::rows(loaded)?)),
            false => None,
        };
        Ok(Self {
            classes: by_class(heap, retained),
            places,
            sites,
            total_bytes: retained.total_bytes(),
            pause_millis: loaded.file.pause_millis,
            sizes: SizesOf::from(heap.sizes()),
        })
    }
}

fn by_class(heap: &Heap<'_>, retained: &Retained) -> BTreeMap<String, Total> {
    let mut classes: BTreeMap<String, Total> = BTreeMap::new();
    let totals = retained.totals(heap, heap.classes(), |object| heap.class(object));
    for (class, total) in (0..).zip(totals).filter(|(_, total)| total.objects > 0) {
        let sum = classes.entry(heap.class_name(class)).or_default();
        sum.objects += total.objects;
        sum.shallow_bytes = sum.shallow_bytes.saturating_add(total.shallow_bytes);
        sum.retained_bytes = sum.retained_bytes.saturating_add(total.retained_bytes);
    }
    classes
}
