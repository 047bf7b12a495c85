//! Why a suspect does not look like a leak, although it is large beside the rest.

use std::collections::BTreeMap;

use format::BasicType;

use crate::class_facts::References;
use crate::contents::{Contents, FieldValue};
use crate::error::GraphError;
use crate::finder::Finder;
use crate::paths::{Path, Step};
use crate::retained::Dominator;
use crate::samples::are_most;
use crate::step_links::Link;
use crate::structure::Part;
use crate::suspect::{Calm, Reason, Suspect, Who};

/// A heap in which nothing is larger is that of a JVM and its libraries.
const LITTLE: u64 = 1_000_000;

/// Less than this is a cache or a table of the program rather than a leak, unless a reason says
/// otherwise.
const SMALL: u64 = 4_000_000;

/// Parts of the names of fields that have the most elements that a collection may have.
const MOST: [&str; 4] = ["max", "limit", "capacity", "bound"];

/// Parts of the names of fields that count what is in an array.
const COUNTS: [&str; 5] = ["count", "fill", "length", "size", "used"];

/// An array may be filled from this part on; a smaller number counts something else.
const FILLED: u64 = 8;

/// The entry of a map that drops the values of keys that are gone when it is used next.
const DROPPING: &str = "java/util/WeakHashMap$Entry";

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
        if are_copies(suspect) {
            return Ok(None);
        }
        if self.named_bytes(suspect) < LITTLE && !is_local(suspect) {
            return Ok(Some(Calm::Little));
        }
        let Some(path) = suspect.main_path() else {
            return Ok(None);
        };
        if self.is_stale(&suspect.some) {
            return Ok(Some(Calm::Stale));
        }
        if let Some(array) = self.array(suspect, path) {
            return Ok(self.used(path, array)?.is_none().then_some(Calm::Array));
        }
        if self.is_fixed(path) {
            return Ok(Some(Calm::Fixed));
        }
        let Some(elements) = suspect.held.elements else {
            return Ok(None);
        };
        let most = self.most(path, elements.objects)?;
        Ok(most.map(|(most, field)| Calm::Full(most, field)))
    }

    /// The bytes of which a suspect's sentence speaks, without those that are softly reachable.
    fn named_bytes(&self, suspect: &Suspect) -> u64 {
        // The point has its number in the sentence, unless what is around it is much more.
        let point = suspect
            .accumulation
            .map_or(0, |_| suspect.accumulated_bytes);
        let bytes = match suspect.who {
            Who::Object(_) if point > suspect.bytes / 2 => point,
            _ => suspect.bytes,
        };
        let bytes = bytes.saturating_sub(suspect.soft_bytes);
        let held = &suspect.held;
        let named = held.elements.into_iter().chain(held.beside);
        match named.map(|it| it.bytes).fold(0, u64::saturating_add) {
            named if named > 0 && bytes < SMALL => bytes.min(named),
            _ => bytes,
        }
    }

    /// Whether a suspect is so small that only a reason makes it one.
    pub(crate) fn is_small(&self, suspect: &Suspect) -> bool {
        let is_one_of_many = match suspect.who {
            Who::Class { class, .. } => self.structure.is_one_of_many(class),
            Who::Object(_) => false,
        };
        let is_redacted = self.heap.redacted().is_some();
        let is_known = are_copies(suspect) || is_one_of_many || is_redacted || is_local(suspect);
        !is_known && self.named_bytes(suspect) < SMALL
    }

    /// Whether a reason speaks for a leak. That texts differ in a number is one of objects, but
    /// not of texts: many tables have such.
    pub(crate) fn shows_growth(&self, suspect: &Suspect) -> bool {
        let held = &suspect.held;
        let elements = held.elements.filter(|_| held.beside.is_none());
        let are_values = elements.is_some_and(|it| self.structure.part(it.class) == Part::Value);
        let is_weak = |it: &Reason| match it {
            Reason::Numbered(_) | Reason::Listed(_) => are_values,
            Reason::Filled(..) | Reason::Unused(..) => true,
            _ => false,
        };
        suspect.reasons.iter().any(|it| !is_weak(it))
    }

    /// Whether nothing tells a leak from data that the program needs: texts with numbers, or that
    /// differ in one, are those of data, too.
    pub(crate) fn is_open(&self, suspect: &Suspect) -> bool {
        let is_weak = |it: &Reason| matches!(it, Reason::Numbered(_) | Reason::OneOf(..));
        let is_known = are_copies(suspect) || is_local(suspect) || suspect.keeps_its_key;
        !is_known && (suspect.reasons.iter().all(is_weak) || !self.shows_growth(suspect))
    }

    /// Whether nearly all of these are values of a weak map whose keys are gone.
    fn is_stale(&self, some: &[u32]) -> bool {
        let graph = self.heap.graph(References::All);
        let is_stale = |object: &&u32| match self.retained.dominator(**object) {
            Dominator::Object(entry) => {
                let is_entry = self.heap.extends(self.heap.class(entry), DROPPING);
                is_entry && graph.implied(entry).1.is_none()
            }
            Dominator::Roots | Dominator::Unreachable => false,
        };
        let stale = some.iter().filter(is_stale).count();
        stale > 0 && are_most(stale, some.len())
    }

    /// How much of a suspect's array is used, and the field that says so.
    pub(crate) fn filled(&self, suspect: &Suspect) -> Result<Option<Reason>, GraphError> {
        let path = suspect.main_path();
        let array = path.and_then(|path| Some((path, self.array(suspect, path)?)));
        match array {
            Some((path, array)) => self.used(path, array),
            None => Ok(None),
        }
    }

    /// What a field of an array's holder counts, if that is a part of its length: the holder may
    /// have replaced a smaller one, and may replace this one.
    fn used(&self, path: &Path, array: u32) -> Result<Option<Reason>, GraphError> {
        let place = path.steps.iter().rposition(|step| step.object == array);
        let holder = place.and_then(|place| path.steps.get(place.checked_sub(1)?));
        let Some(holder) = holder.map(|step| step.object) else {
            return Ok(None);
        };
        let contents = self.heap.contents(&[holder, array], 0)?;
        let length = match contents.get(&array) {
            Some(Contents::Values { length, .. } | Contents::References { length, .. }) => {
                u64::from(*length)
            }
            _ => return Ok(None),
        };
        let fields = contents.get(&holder).map(|it| self.heap.fields(it));
        let mut fields = fields.into_iter().flatten();
        let is_part = |it: &FieldValue| {
            is_number(it, &COUNTS) && it.value >= length / FILLED && it.value < length
        };
        let field = fields.find(is_part);
        Ok(field.map(|it| Reason::Filled(it.value, length, it.name)))
    }

    /// The one array of primitive values that a suspect is, but none that a buffer of the JDK
    /// replaces by a larger one; or an array of them that a static field has.
    fn array(&self, suspect: &Suspect, path: &Path) -> Option<u32> {
        let class = |object: u32| self.heap.class(object);
        let name = |object: u32| self.heap.class_name(class(object));
        let is_values = |it: u32| self.structure.part(it) == Part::Value;
        let is_primitive = |object: u32| name(object).ends_with("[]") && is_values(class(object));
        if let Some(elements) = suspect.held.elements {
            let (_, [table, _]) = path.steps.split_last_chunk::<2>()?;
            let is_table = matches!(table.link, Some(Link::Static(_)))
                && is_primitive(elements.example)
                && name(table.object).ends_with("[][]");
            return is_table.then_some(table.object);
        }
        let point = suspect.accumulation?;
        let holder = path.steps.iter().rev().nth(1);
        let is_buffer = holder.is_some_and(|it| {
            self.heap.class_of_object(it.object).is_none() && name(it.object).starts_with("java.")
        });
        (is_primitive(point) && !is_buffer).then_some(point)
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

    /// The most elements that something on a path may have, if it has about as many, and the field
    /// that says so.
    fn most(
        &self,
        path: &Path,
        elements: u64,
    ) -> Result<Option<(u64, Option<String>)>, GraphError> {
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
                    let most = Some(u64::from(*length));
                    let most = most.filter(|most| is_queue && is_near(most));
                    most.map(|most| (most, None))
                }
                Some(contents @ Contents::Instance { .. }) => {
                    let fields = self.heap.fields(contents).into_iter();
                    let mut most = fields.filter(|it| is_number(it, &MOST));
                    let most = most.find(|it| is_near(&it.value) && is_round(it.value));
                    most.map(|field| (field.value, Some(field.name)))
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

/// Whether a suspect is classes, or loaders, of which a program needs one.
fn are_copies(suspect: &Suspect) -> bool {
    suspect.copied_classes > 0 || suspect.pattern.is_some()
}

/// Whether a thread holds a suspect as the value of a variable that no static field has: it stays
/// for ever.
fn is_local(suspect: &Suspect) -> bool {
    let path = suspect.main_path();
    path.is_some_and(|path| path.thread_local.is_some()) && suspect.thread_local.is_none()
}

/// Whether a field has a number, and one of these parts in its name.
fn is_number(field: &FieldValue, parts: &[&str]) -> bool {
    let name = field.name.to_lowercase();
    let is_number = matches!(field.kind, BasicType::Int | BasicType::Long);
    is_number && parts.iter().any(|part| name.contains(part))
}

/// Whether a person may have chosen a number: the largest one that a program has seen is mostly
/// not round.
fn is_round(number: u64) -> bool {
    let mut digits = number;
    while digits > 0 && digits % 10 == 0 {
        digits /= 10;
    }
    let bits = number.checked_shr(number.trailing_zeros()).unwrap_or(0);
    digits < 100 || bits < 8 || (digits < 1_000 && number >= 10_000)
}
