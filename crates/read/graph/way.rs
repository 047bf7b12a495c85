//! The way from a holder to what it holds: the field of the program's own object on it, and the
//! collection.

use crate::heap::Heap;
use crate::paths::{Path, Step};
use crate::step_links::Link;
use crate::structure::{Part, Structure};

/// Steps from a thread to the value of a thread local variable: map, table, entry.
const THREAD_LOCAL_STEPS: usize = 4;

/// What a developer knows of a way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// The last object of the program before the target: its class, and the id of the name of the
    /// field that leads on.
    pub owner: Option<(u32, u64)>,
    /// The class of the first collection after it.
    pub collection: Option<u32>,
    /// The classes of the program's objects before the target, outermost first.
    pub classes: Vec<u32>,
}

impl Way {
    /// That of a path, from its nearest static field or its thread on, to objects of these classes,
    /// which fan out at `point`.
    pub(crate) fn of(
        heap: &Heap<'_>,
        structure: &Structure,
        path: &Path,
        targets: &[u32],
        point: Option<u32>,
    ) -> Self {
        let (steps, start) = (path.steps.as_slice(), start(path));
        let is_point = |step: &Step| Some(step.object) == point;
        let gap = path.left_out.map(|gap| gap.behind);
        // The link after a gap is that of an object left out.
        let part = match gap.filter(|gap| *gap > start) {
            Some(gap) if steps.iter().skip(gap).any(is_point) => gap..steps.len(),
            gap => start..gap.unwrap_or(steps.len()),
        };
        let steps = steps.get(part).unwrap_or_default();
        let class = |step: &Step| heap.class(step.object);
        let is_collection = |step: &Step| {
            let is_structure = structure.part(class(step)) == Part::Structure;
            is_structure && structure.is_collection(class(step))
        };
        // What lies behind a collection is what it holds. That of an object of the JDK, as the keys
        // of a selector, is not the program's.
        let is_of_value = |place: usize| {
            let before = steps.iter().take(place).rev();
            let mut parts = before.map(|step| structure.part(class(step)));
            parts.find(|part| *part != Part::Structure) == Some(Part::Value)
        };
        let places = (0..).zip(steps);
        let held = places.filter(|(place, step)| is_collection(step) && !is_of_value(*place));
        let held: Vec<usize> = held.map(|(place, _)| place).collect();
        // Collections before that where they fan out have little but the next one, as a registry
        // of servers has the server. An object of the program fans out into those that it has.
        let fan = steps.iter().position(is_point);
        let is_own = |step: &&Step| structure.part(class(step)) == Part::Own;
        let end = fan.and_then(|fan| {
            let mut behind = held.iter().filter(|place| **place > fan);
            let own = steps.get(fan).filter(is_own).and_then(|_| behind.next());
            own.or_else(|| held.iter().rfind(|place| **place <= fan))
        });
        let end = end.or(held.first()).copied();
        let before = steps.get(..=end.unwrap_or(steps.len())).unwrap_or(steps);
        let owner = before
            .windows(2)
            .enumerate()
            .rev()
            .find_map(|(place, two)| {
                let [owner, next] = two else { return None };
                let is_own =
                    structure.part(class(owner)) == Part::Own && !targets.contains(&class(owner));
                match next.link {
                    Some(Link::Field(field)) if is_own => Some((place, (class(owner), field))),
                    _ => None,
                }
            });
        let after = owner.map_or(0, |(place, _)| place + 1);
        let after = steps.get(after..).unwrap_or_default().iter();
        let collections = after.filter(|step| is_collection(step)).map(class);
        let collections: Vec<u32> = collections.collect();
        let is_own = |class: &u32| structure.part(*class) == Part::Own && !targets.contains(class);
        let mut classes: Vec<u32> = steps.iter().map(class).filter(is_own).collect();
        classes.dedup();
        let mut outer = collections.iter();
        let outer = outer.find(|class| !structure.is_nested(**class));
        Self {
            owner: owner.map(|(_, owner)| owner),
            collection: outer.or(collections.first()).copied(),
            classes,
        }
    }
}

/// The step at which a way begins: that of the nearest static field, else of the value of a thread
/// local variable, else of what the thread or another root refers to.
fn start(path: &Path) -> usize {
    let is_static = |step: &Step| matches!(step.link, Some(Link::Static(_)));
    match (path.steps.iter().rposition(is_static), path.thread_local) {
        (Some(start), _) => start,
        (None, Some(_)) => THREAD_LOCAL_STEPS,
        (None, None) => usize::from(path.root == reader::RootKind::ThreadObject),
    }
}
