//! Why a suspect does not look like a leak, although it is large beside the rest.

use std::collections::BTreeMap;

use format::BasicType;

use crate::contents::Contents;
use crate::error::GraphError;
use crate::finder::Finder;
use crate::paths::{Path, Step};
use crate::retained::Dominator;
use crate::step_links::Link;
use crate::structure::Part;
use crate::suspect::{Calm, Suspect, Who};

/// A heap in which nothing is larger is that of a JVM and its libraries.
const LITTLE: u64 = 1_000_000;

/// Parts of the names of fields that have the most elements that a collection may have.
const MOST: [&str; 4] = ["max", "limit", "capacity", "bound"];

/// A queue of the JDK that has an array of a fixed length.
const QUEUE: &str = "java.util.concurrent.ArrayBlockingQueue";

/// Collections of the JDK that cannot be changed.
const FIXED: [&str; 2] = [
    "java.util.Collections$Unmodifiable",
    "java.util.ImmutableCollections$",
];

impl Finder<'_, '_> {
    /// Why a suspect does not look like a leak; `None` if it does. Errors: the file cannot be read.
    pub(crate) fn calm(&self, suspect: &Suspect) -> Result<Option<Calm>, GraphError> {
        if suspect.copied_classes > 0 || suspect.pattern.is_some() {
            return Ok(None);
        }
        let path = suspect.main_path();
        // The value of a thread local variable that no static field has stays for ever.
        let is_local = path.is_some_and(|path| path.thread_local.is_some());
        let is_local = is_local && suspect.thread_local.is_none();
        // The point has its number in the sentence, unless what is around it is much more.
        let point = suspect
            .accumulation
            .map_or(0, |_| suspect.accumulated_bytes);
        let bytes = match suspect.who {
            Who::Object(_) if point > suspect.bytes / 2 => point,
            _ => suspect.bytes,
        };
        if bytes.saturating_sub(suspect.soft_bytes) < LITTLE && !is_local {
            return Ok(Some(Calm::Little));
        }
        let Some(path) = path else {
            return Ok(None);
        };
        if self.is_array(suspect, path) {
            return Ok(Some(Calm::Array));
        }
        if self.is_fixed(path) {
            return Ok(Some(Calm::Fixed));
        }
        let Some(elements) = suspect.held.elements else {
            return Ok(None);
        };
        Ok(self.most(path, elements.objects)?.map(Calm::Full))
    }

    /// Whether a suspect is one array of primitive values, but none that a buffer of the JDK
    /// replaces by a larger one, or some of them in an array that a static field has.
    fn is_array(&self, suspect: &Suspect, path: &Path) -> bool {
        let class = |object: u32| self.heap.class(object);
        let name = |object: u32| self.heap.class_name(class(object));
        let is_values = |it: u32| self.structure.part(it) == Part::Value;
        let is_primitive = |object: u32| name(object).ends_with("[]") && is_values(class(object));
        if let Some(elements) = suspect.held.elements {
            let Some((_, [table, _])) = path.steps.split_last_chunk::<2>() else {
                return false;
            };
            let is_static = matches!(table.link, Some(Link::Static(_)));
            return is_static
                && is_primitive(elements.example)
                && name(table.object).ends_with("[][]");
        }
        let Some(point) = suspect.accumulation else {
            return false;
        };
        let holder = path.steps.iter().rev().nth(1);
        let is_buffer = holder.is_some_and(|it| {
            self.heap.class_of_object(it.object).is_none() && name(it.object).starts_with("java.")
        });
        is_primitive(point) && !is_buffer
    }

    /// Whether the last collection on a path cannot be changed, and alone holds what it wraps.
    fn is_fixed(&self, path: &Path) -> bool {
        let name = |step: &Step| self.heap.class_name(self.heap.class(step.object));
        let is_fixed = |step: &Step| FIXED.iter().any(|start| name(step).starts_with(start));
        let Some(place) = path.steps.iter().rposition(is_fixed) else {
            return false;
        };
        let is_gap = path.left_out.is_some_and(|gap| gap.behind > place);
        let Some([fixed, next, rest @ ..]) = path.steps.get(place..) else {
            return false;
        };
        let class = |step: &Step| self.heap.class(step.object);
        let is_collection =
            |step: &&Step| self.structure.is_collection(class(step)) && !name(step).contains('$');
        let owns = self.retained.dominator(next.object) == Dominator::Object(fixed.object);
        !is_gap && owns && !rest.iter().any(|step| is_collection(&step))
    }

    /// The most elements that something on a path may have, if it has about as many.
    fn most(&self, path: &Path, elements: u64) -> Result<Option<u64>, GraphError> {
        let objects: Vec<u32> = path.steps.iter().map(|step| step.object).collect();
        let is_instance = |object: &u32| self.heap.class_of_object(*object).is_none();
        let objects: Vec<u32> = objects.into_iter().filter(is_instance).collect();
        let contents: BTreeMap<u32, Contents> = self.heap.contents(&objects, 0)?;
        let is_near = |most: &u64| {
            let left = most.checked_sub(elements);
            left.is_some_and(|left| left.saturating_mul(100) <= elements)
        };
        let class = |object: u32| self.heap.class_name(self.heap.class(object));
        for (place, object) in objects.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|place| objects.get(place));
            let found = match contents.get(object) {
                Some(Contents::References { length, .. }) => {
                    let is_queue = before.is_some_and(|before| class(*before) == QUEUE);
                    Some(u64::from(*length)).filter(|most| is_queue && is_near(most))
                }
                Some(contents @ Contents::Instance { .. }) => {
                    let fields = self.heap.fields(contents).into_iter();
                    let mut most = fields.filter(|field| {
                        let name = field.name.to_lowercase();
                        let is_number = matches!(field.kind, BasicType::Int | BasicType::Long);
                        is_number && MOST.iter().any(|part| name.contains(part))
                    });
                    most.find_map(|field| Some(field.value).filter(is_near))
                }
                _ => None,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}
