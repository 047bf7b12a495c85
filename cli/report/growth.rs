//! What grew since an earlier dump: classes, and where in the dominator tree.

use serde_json::{json, Value};

use super::space::Space;
use crate::answer::diff::{ClassRow, DiffAnswer, PlaceRow, Sums};
use crate::date::date;
use crate::heap_file::Loaded;
use crate::outcome::Failure;
use crate::plain::plain;

/// Bytes of the page for the classes, and for the places.
const CLASSES_BYTES: u64 = 60_000;
const PLACES_BYTES: u64 = 30_000;

/// Approximate bytes of a row without its names.
const ROW_BYTES: u64 = 50;

/// The kept facts about the earlier heap.
#[derive(Debug)]
pub(crate) struct Earlier {
    file: String,
    made: Option<String>,
    sums: Sums,
}

/// What grew since an earlier heap.
#[derive(Debug)]
pub(crate) struct Growth {
    file: String,
    made: Option<String>,
    answer: DiffAnswer,
}

impl Earlier {
    /// What to keep of this heap. Errors: the file cannot be read.
    pub(super) fn of(loaded: &Loaded<'_>) -> Result<Self, Failure> {
        let millis = loaded.heap.header().time_millis;
        Ok(Self {
            file: plain(&loaded.file.short_name()),
            made: (millis != 0).then(|| date(millis)),
            sums: Sums::of(loaded, false)?,
        })
    }

    /// What grew until this heap. Errors: the file cannot be read.
    pub(super) fn until(self, loaded: &Loaded<'_>) -> Result<Growth, Failure> {
        Ok(Growth {
            file: self.file,
            made: self.made,
            answer: DiffAnswer::of(self.sums, Sums::of(loaded, false)?, usize::MAX),
        })
    }
}

impl Growth {
    /// Classes with objects and retained bytes of both heaps, and places.
    pub(super) fn in_json(&self, space: &mut Space) -> Value {
        let classes = classes_in_json(&self.answer.classes, space);
        let classes_left = self.answer.classes.len() - classes.len();
        let places = places_in_json(&self.answer.places, space);
        let places_left = self.answer.places.len() - places.len();
        json!({
            "before": { "bytes": self.answer.total_bytes_before, "file": self.file, "made": self.made },
            "classes": classes,
            "classes_left": classes_left,
            "places": places,
            "places_left": places_left,
        })
    }
}

fn classes_in_json(rows: &[ClassRow], space: &mut Space) -> Vec<Value> {
    space.open(CLASSES_BYTES);
    let mut listed = Vec::new();
    for row in rows {
        if !space.has_room() {
            break;
        }
        space.take(ROW_BYTES);
        let (before, after) = (row.before, row.after);
        listed.push(json!([
            space.name(&row.class),
            before.objects,
            after.objects,
            before.retained,
            after.retained
        ]));
    }
    listed
}

fn places_in_json(rows: &[PlaceRow], space: &mut Space) -> Vec<Value> {
    space.open(PLACES_BYTES);
    let mut listed = Vec::new();
    for row in rows {
        if !space.has_room() {
            break;
        }
        space.take(ROW_BYTES);
        listed.push(json!([
            space.name(&row.name()),
            row.depth,
            row.grown,
            row.moved,
            row.after.objects,
            row.after.retained
        ]));
    }
    listed
}
