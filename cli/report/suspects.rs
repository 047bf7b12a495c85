//! The suspects, each with the path from a root to it.

use graph::{Heap, Leaks, Path, Suspect, Who};
use serde_json::{json, Value};

use super::space::{cut, Space};
use super::stacks;
use crate::number::counted;
use crate::sentence::{root_name, Words};

/// Bytes of the page for all suspects.
const SPACE_BYTES: u64 = 100_000;

/// Approximate bytes of a step in a path, without its names.
const STEP_BYTES: u64 = 40;

/// Approximate bytes of a suspect, without its names and steps.
const SUSPECT_BYTES: u64 = 400;

/// Objects shown at each end of a path.
const PATH_HEAD: usize = 12;
const PATH_TAIL: usize = 24;

/// Stacks shown of a suspect.
const TRACES_MAX: usize = 3;

/// The suspects, most bytes first.
pub(crate) fn in_json(
    heap: &Heap<'_>,
    leaks: &Leaks,
    words: &Words<'_, '_>,
    space: &mut Space,
) -> Vec<Value> {
    space.open(SPACE_BYTES);
    let mut listed = Vec::new();
    for suspect in &leaks.suspects {
        if !space.has_room() {
            break;
        }
        listed.push(in_words(heap, suspect, words, space));
    }
    listed
}

fn in_words(heap: &Heap<'_>, suspect: &Suspect, words: &Words<'_, '_>, space: &mut Space) -> Value {
    let sentence = words.suspect(suspect);
    space.take(SUSPECT_BYTES + 6 * sentence.len() as u64);
    let object = match suspect.who {
        Who::Object(object) => Some(object),
        Who::Class { .. } => None,
    };
    let id = |object: u32| format!("{:x}", heap.id(object));
    let mut holds = Vec::new();
    for group in &suspect.holds {
        let class = space.name(&heap.class_name(group.class));
        holds.push(json!([class, group.objects, group.bytes]));
    }
    let mut traces = Vec::new();
    for (class, trace, objects) in suspect.traces.iter().take(TRACES_MAX) {
        let class = space.name(&heap.class_name(*class));
        let frames = stacks::frames(words.stacks(), *trace, space);
        traces.push(json!([class, objects, frames]));
    }
    let who = match suspect.who {
        Who::Object(object) => words.object(object),
        Who::Class { class, objects } => {
            format!(
                "{} of {}",
                counted(objects, "object"),
                heap.class_name(class)
            )
        }
    };
    json!({
        "who": cut(&who),
        "sentence": sentence,
        "bytes": suspect.bytes,
        "id": object.map(id),
        "point": suspect.accumulation.map(id),
        "path": suspect.path.as_ref().map(|path| path_in_json(heap, path, words, space)),
        "holds": holds,
        "traces": traces,
    })
}

/// Each step: how the object before it refers to it, what it is, and its id. A number stands for that many
/// omitted steps.
fn path_in_json(heap: &Heap<'_>, path: &Path, words: &Words<'_, '_>, space: &mut Space) -> Value {
    let count = path.objects.len();
    let left_out = count.saturating_sub(PATH_HEAD + PATH_TAIL);
    let mut steps = Vec::new();
    for (place, object) in path.objects.iter().enumerate() {
        if left_out > 1 && (PATH_HEAD..PATH_HEAD + left_out).contains(&place) {
            if place == PATH_HEAD {
                steps.push(json!(left_out));
            }
            continue;
        }
        let link = place.checked_sub(1).and_then(|place| path.links.get(place));
        let link = link.map(|link| space.name(&cut(&link.to_string())));
        let name = match heap.class_of_object(*object) {
            Some(class) => space.name(&format!("class {}", heap.class_name(class))),
            None => space.name(&heap.class_name(heap.class(*object))),
        };
        space.take(STEP_BYTES);
        steps.push(json!([link, name, format!("{:x}", heap.id(*object))]));
    }
    let root = words.holder(path).unwrap_or_else(|| root_name(path.root));
    json!({ "root": cut(&root_name(path.root)), "holder": root, "weak": path.is_weak, "steps": steps })
}
