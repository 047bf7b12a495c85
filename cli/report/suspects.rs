//! The suspects, each with the path from a root to it.

use graph::{Heap, Leaks, Path, Suspect, Who};
use serde_json::{json, Value};

use super::space::{cut, Space};
use super::stacks;
use crate::answer::path::root_name;
use crate::number::counted;
use crate::sentence::Words;

/// Bytes of the page for all suspects.
const SPACE_BYTES: u64 = 100_000;

/// Approximate bytes of a step in a path, without its names.
const STEP_BYTES: u64 = 40;

/// Approximate bytes of a suspect, without its names and steps.
const SUSPECT_BYTES: u64 = 400;

/// Classes of what the program put into a suspect.
const KEEPS_MAX: usize = 5;

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
    let mut keeps = Vec::new();
    for elements in suspect.held.below.iter().take(KEEPS_MAX) {
        let class = space.name(&heap.class_name(elements.class));
        keeps.push(json!([class, elements.objects, elements.bytes]));
    }
    let mut traces = Vec::new();
    for site in suspect.sites.sites.iter().take(TRACES_MAX) {
        let class = space.name(&heap.class_name(site.class));
        let frames = stacks::frames(words.stacks(), site.trace, space);
        traces.push(json!([class, site.sampled, frames]));
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
        "path": suspect.main_path().map(|path| path_in_json(heap, path, words, space)),
        "holds": holds,
        "keeps": keeps,
        "traces": traces,
    })
}

/// Each step: how the object before it refers to it, what it is, and its id. One stands for what is
/// left out: how many objects, the class of most of them, and how many are of it.
fn path_in_json(heap: &Heap<'_>, path: &Path, words: &Words<'_, '_>, space: &mut Space) -> Value {
    let mut steps = Vec::new();
    for (place, step) in path.steps.iter().enumerate() {
        if let Some(middle) = path.left_out.filter(|middle| middle.behind == place) {
            let class = space.name(&heap.class_name(middle.class));
            space.take(STEP_BYTES);
            let told = [middle.objects, u64::from(class), middle.of_class];
            steps.push(json!({ "left_out": told }));
        }
        let link = step.link.map(|link| heap.link_text(link));
        let link = link.map(|link| space.name(&cut(&link)));
        let name = match heap.class_of_object(step.object) {
            Some(class) => space.name(&format!("class {}", heap.class_name(class))),
            None => space.name(&heap.class_name(heap.class(step.object))),
        };
        space.take(STEP_BYTES);
        steps.push(json!([link, name, format!("{:x}", heap.id(step.object))]));
    }
    let root = words.holder(path).unwrap_or_else(|| root_name(path.root));
    json!({ "root": cut(&root_name(path.root)), "holder": root, "weak": path.is_weak, "steps": steps })
}
