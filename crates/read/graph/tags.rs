//! The one of several tags or labels, or of the texts in a key, that has another value in each
//! element.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::error::GraphError;
use crate::finder::Finder;
use crate::samples::{are_most, columns, samples, Sample, Value};
use crate::structure::Part;
use crate::suspect::{Reason, Suspect};

/// Fields that have the name of a tag.
const NAMES: [&str; 5] = ["key", "k", "label", "name", "tag"];

/// Parts of the names of fields that list the names of tags.
const LISTS: [&str; 4] = ["key", "label", "name", "tag"];

/// A longer text is no name.
const NAME_BYTES: usize = 40;

/// Most references from an element or its entry to a text in a list.
const LIST_DEPTH: usize = 2;

/// How texts of one place differ between samples.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variety {
    /// In nearly all of them.
    Each,
    /// They are at most half as many as the samples.
    Few,
    Some,
}

impl Finder<'_, '_> {
    /// Which tag differs, if it is one. Errors: the file cannot be read.
    pub(crate) fn tag(
        &self,
        suspect: &Suspect,
        all: &[Sample],
    ) -> Result<Option<Reason>, GraphError> {
        if let Some(name) = of_pairs(all) {
            return Ok(Some(Reason::Tag(name)));
        }
        let Some((place, count)) = of_lists(all) else {
            return Ok(None);
        };
        let (heap, structure) = (self.heap, &self.structure);
        let steps = suspect.main_path().into_iter().flat_map(|it| &it.steps);
        let is_own = |it: &u32| structure.part(heap.class(*it)) == Part::Own;
        let holders: Vec<u32> = steps.map(|it| it.object).filter(is_own).collect();
        let holders = samples(heap, self.retained, structure, (&holders, None))?;
        let mut names = holders.iter().flat_map(|it| names(it, count));
        let name = names.find_map(|names| names.get(place).map(|name| (*name).to_owned()));
        Ok(Some(Reason::OneOf(count, name)))
    }
}

/// The name of the tag that differs, if elements have lists of names and values.
fn of_pairs(samples: &[Sample]) -> Option<String> {
    let mut tags: HashMap<&str, HashMap<usize, &str>> = HashMap::new();
    for (number, sample) in samples.iter().enumerate() {
        for texts in texts(sample).values() {
            let (tag, value) = match texts.as_slice() {
                [(field, tag), (_, value)] | [(_, value), (field, tag)]
                    if NAMES.contains(field) =>
                {
                    (*tag, *value)
                }
                _ => continue,
            };
            if is_name(tag) {
                tags.entry(tag).or_default().insert(number, value);
            }
        }
    }
    tags.retain(|_, values| are_most(values.len(), samples.len()));
    let all = tags.iter();
    let all = all.map(|(tag, values)| (*tag, variety(values.values().copied())));
    one(all).map(str::to_owned)
}

/// The place of the text that differs in a list, and their number.
fn of_lists(samples: &[Sample]) -> Option<(usize, usize)> {
    let mut lists: BTreeMap<&str, BTreeMap<usize, Variety>> = BTreeMap::new();
    for (name, values) in columns(samples) {
        let is_near = name.matches('.').count() <= LIST_DEPTH;
        let Some((list, place)) = place(name).filter(|_| is_near) else {
            continue;
        };
        let texts = values.iter().filter_map(|value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let places = lists.entry(list).or_default();
        places.insert(place, variety(texts));
    }
    lists.into_values().find_map(|places| {
        let count = places.len();
        let is_list = count > 1 && places.keys().copied().eq(0..count);
        let place = one(places.into_iter())?;
        is_list.then_some((place, count))
    })
}

/// The lists of so many names in an object.
fn names(holder: &Sample, count: usize) -> Vec<Vec<&str>> {
    let mut lists: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
    for (name, value) in &holder.values {
        if let (Some((list, place)), Value::Text(text)) = (place(name), value) {
            lists.entry(list).or_default().push((place, text));
        }
    }
    let is_of_names = |list: &str, texts: &[(usize, &str)]| {
        let field = list.split('.').next().unwrap_or_default().to_lowercase();
        texts.len() == count
            && LISTS.iter().any(|part| field.contains(part))
            && texts.iter().all(|(_, text)| is_name(text))
    };
    lists.retain(|list, texts| is_of_names(list, texts));
    let lists = lists.into_values().map(|mut texts| {
        texts.sort_unstable();
        texts.into_iter().map(|(_, text)| text).collect()
    });
    lists.collect()
}

/// The fields with texts of each object in an array, by the object's name.
fn texts(sample: &Sample) -> BTreeMap<&str, Vec<(&str, &str)>> {
    let mut objects: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (name, value) in &sample.values {
        if let (Some((object, field)), Value::Text(text)) = (name.rsplit_once('.'), value) {
            if place(object).is_some() {
                objects.entry(object).or_default().push((field, text));
            }
        }
    }
    objects
}

/// The name of an array, and the place in it.
fn place(name: &str) -> Option<(&str, usize)> {
    let (list, place) = name.rsplit_once('.')?;
    Some((list, place.parse().ok()?))
}

/// The only one that differs in each, if the others differ little.
fn one<T>(all: impl Iterator<Item = (T, Variety)>) -> Option<T> {
    let mut found = None;
    for (it, variety) in all {
        match variety {
            Variety::Few => {}
            Variety::Each if found.is_none() => found = Some(it),
            Variety::Each | Variety::Some => return None,
        }
    }
    found
}

fn variety<'a>(texts: impl Iterator<Item = &'a str>) -> Variety {
    let texts: Vec<&str> = texts.collect();
    let different: HashSet<&&str> = texts.iter().collect();
    match different.len() {
        many if !texts.is_empty() && are_most(many, texts.len()) => Variety::Each,
        few if few > 0 && few * 2 <= texts.len() => Variety::Few,
        _ => Variety::Some,
    }
}

/// Whether a text, the same in all elements, is a name that a program has in its code.
fn is_name(text: &str) -> bool {
    let is_part = |it: char| it.is_ascii_alphanumeric() || "_.-".contains(it);
    text.len() <= NAME_BYTES
        && text.starts_with(|it: char| it.is_ascii_alphabetic())
        && text.chars().all(is_part)
}
