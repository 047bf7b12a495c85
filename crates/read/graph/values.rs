//! The values of a map whose keys have most of its bytes.

use crate::elements::{Elements, ALIKE};
use crate::finder::Finder;
use crate::paths::Path;
use crate::retained::Dominator;
use crate::step_links::Link;
use crate::structure::Part;
use crate::suspect::{Suspect, Who};

/// The name of the field of an entry that has the key, in all maps of the JDK.
const KEY: &[u8] = b"key";

impl Finder<'_, '_> {
    /// The values of the map whose keys are a suspect's elements, if they are as many and of one
    /// class. `path` leads to one of the keys.
    pub(crate) fn values(&self, suspect: &Suspect, path: &Path) -> Option<Elements> {
        let is_own = |class: u32| self.structure.part(class) == Part::Own;
        let keys = suspect.held.elements.filter(|it| !is_own(it.class))?;
        let [.., entry, key] = path.steps.as_slice() else {
            return None;
        };
        let Some(Link::Field(field)) = key.link else {
            return None;
        };
        let is_key = self.heap.directory().strings.bytes(field) == Some(KEY);
        // The link after a gap is that of an object left out.
        let gap = path.left_out.map(|gap| gap.behind + 1);
        if !is_key || gap == Some(path.steps.len()) {
            return None;
        }
        let (entry, key) = (entry.object, key.object);
        let targets = self.heap.targets(entry).iter().copied();
        let mut values = targets.filter(|it| *it != key && self.is_value(*it, entry));
        let value = values.next()?;
        let values = self.all_values(suspect, self.heap.class(entry), self.heap.class(value))?;
        let difference = values.objects.abs_diff(keys.objects);
        (difference.saturating_mul(ALIKE) <= keys.objects).then_some(values)
    }

    /// Whether an entry alone holds an object that is no entry.
    fn is_value(&self, object: u32, entry: u32) -> bool {
        let name = |object: u32| self.heap.class_name(self.heap.class(object));
        let (name, of_entry) = (name(object), name(entry));
        let is_entry = match (name.split_once('$'), of_entry.split_once('$')) {
            (Some((map, _)), Some((of_entry, _))) => map == of_entry,
            _ => name == of_entry,
        };
        !is_entry && self.retained.dominator(object) == Dominator::Object(entry)
    }

    /// The objects of a class that entries of this class hold.
    fn all_values(&self, suspect: &Suspect, entries: u32, class: u32) -> Option<Elements> {
        let (heap, retained) = (self.heap, self.retained);
        let from = match suspect.who {
            Who::Object(object) => suspect.accumulation.unwrap_or(object),
            Who::Class { .. } => return None,
        };
        let is_one = |object: &u32| {
            let holder = retained.dominator(*object);
            let is_entry = matches!(holder, Dominator::Object(it) if heap.class(it) == entries);
            heap.class(*object) == class && is_entry
        };
        let mut all = Elements::none(class, from);
        for object in retained.subtree(from).filter(is_one) {
            all.add(retained.bytes(object));
            all.example = object;
        }
        Some(all)
    }
}
