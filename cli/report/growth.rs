//! What grew since an earlier dump: classes, and where in the dominator tree.

use graph::{Heap, Retained};
use serde_json::{json, Value};

use super::space::Space;
use crate::class_paths::GrownPath;
use crate::date::date;
use crate::diff::{self, Growth, Row, Sums};
use crate::dump_file::DumpFile;
use crate::plain::plain;

/// Bytes of the page for the classes, and for the paths.
const CLASSES_BYTES: u64 = 60_000;
const PATHS_BYTES: u64 = 30_000;

/// Approximate bytes of a row without its names, and of a step of a path.
const ROW_BYTES: u64 = 50;
const STEP_BYTES: u64 = 6;

/// The kept facts about the earlier heap.
#[derive(Debug)]
pub(crate) struct Earlier {
    file: String,
    made: Option<String>,
    sums: Sums,
}

impl Earlier {
    /// What to keep of this heap.
    pub(super) fn of(heap: &Heap<'_>, retained: &Retained, file: &DumpFile) -> Self {
        let millis = heap.header().time_millis;
        Self {
            file: plain(&file.short_name()),
            made: (millis != 0).then(|| date(millis)),
            sums: diff::sums_by_name(heap, retained),
        }
    }

    /// What grew until this heap: classes with objects and retained bytes of both, and paths with
    /// the same.
    pub(super) fn grown(self, heap: &Heap<'_>, retained: &Retained, space: &mut Space) -> Value {
        let growth = Growth::of(self.sums, diff::sums_by_name(heap, retained));
        space.open(CLASSES_BYTES);
        let mut classes = Vec::new();
        for Row {
            class,
            before,
            after,
        } in &growth.rows
        {
            if !space.has_room() {
                break;
            }
            space.take(ROW_BYTES);
            classes.push(json!([
                space.name(class),
                before.objects,
                after.objects,
                before.retained_bytes,
                after.retained_bytes
            ]));
        }
        let (listed, rows) = (classes.len(), growth.rows.len());
        json!({
            "before": { "bytes": growth.before_bytes, "file": self.file, "made": self.made },
            "classes": classes,
            "classes_left": rows - listed,
            "paths": paths_in_json(&growth.paths, space),
        })
    }
}

fn paths_in_json(paths: &[GrownPath], space: &mut Space) -> Vec<Value> {
    space.open(PATHS_BYTES);
    let mut listed = Vec::new();
    for path in paths {
        if !space.has_room() {
            break;
        }
        let mut names = Vec::new();
        for class in &path.classes {
            space.take(STEP_BYTES);
            names.push(space.name(class));
        }
        space.take(ROW_BYTES);
        let (before, after) = (path.before, path.after);
        listed.push(json!([names, before.0, after.0, before.1, after.1]));
    }
    listed
}
