//! Classes that are made at run time, as proxies and scripts are: many of one loader, with names
//! that differ only in a number or a hash.

use std::collections::BTreeMap;

use crate::finder::{Finder, Objects};
use crate::reasons::{pattern, NUMBER};
use crate::structure::Part;

/// Fewer classes may be written by hand. Of more, a tenth of what makes a suspect is enough: most
/// of their memory is outside of the heap.
const MANY: usize = 500;

/// What stands before the last part of a generated name.
const BEFORE: [char; 2] = ['$', '_'];

impl Finder<'_, '_> {
    /// Takes classes of one pattern out of a group of class objects, if they retain enough.
    pub(crate) fn class_patterns(&self, group: &mut Objects) -> Vec<Objects> {
        let mut patterns: BTreeMap<(String, Option<u64>), Vec<u32>> = BTreeMap::new();
        for object in &group.objects {
            let Some(class) = self.heap.class_of_object(*object) else {
                continue;
            };
            if self.structure.part(class) == Part::Own {
                let name = generated(&self.heap.class_name(class));
                let key = name.map(|name| (name, self.heap.loader(class)));
                let all = key.map(|key| patterns.entry(key).or_default());
                all.into_iter().for_each(|all| all.push(*object));
            }
        }
        let many = patterns.into_iter().filter(|(_, all)| all.len() >= MANY);
        let taken = many.map(|(_, all)| (self.common_start(&all), all));
        let taken = taken.filter_map(|it| group.take(self.retained, it, self.least / 10));
        taken.collect()
    }

    /// The start that the names of these classes have in common.
    fn common_start(&self, objects: &[u32]) -> String {
        let classes = objects
            .iter()
            .filter_map(|it| self.heap.class_of_object(*it));
        let mut names = classes.map(|class| self.heap.class_name(class));
        let first = names.next().unwrap_or_default();
        let common = |end: usize, name: String| {
            let same = first.bytes().zip(name.bytes()).take(end);
            same.take_while(|(a, b)| a == b).count()
        };
        let end = names.fold(first.len(), common);
        let common = first.get(..end).unwrap_or(&first);
        let is_end = |it: char| it.is_ascii_digit() || BEFORE.contains(&it);
        common.trim_end_matches(is_end).to_owned()
    }
}

/// The name with a mark in the place of numbers and of the hashes at its end; `None` without one.
fn generated(name: &str) -> Option<String> {
    let masked = pattern(name);
    let mut rest = masked.as_str();
    while let Some((before, last)) = rest.rsplit_once(BEFORE) {
        if !last.is_empty() && !last.contains(NUMBER) {
            break;
        }
        rest = before;
    }
    let is_cut = rest.len() < masked.len();
    let name = format!("{rest}{}", if is_cut { "#" } else { "" });
    name.contains(NUMBER).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_hashes_are_one_pattern() {
        for (name, expected) in [
            ("shop.Page", None),
            ("shop.Script12", Some("shop.Script#")),
            ("Script_17959_20", Some("Script#")),
            ("shop.Cart$$Fast$$7fb24d72", Some("shop.Cart$$Fast#")),
            ("shop.V2$Page", Some("shop.V#$Page")),
        ] {
            assert_eq!(generated(name).as_deref(), expected, "{name}");
        }
    }
}
