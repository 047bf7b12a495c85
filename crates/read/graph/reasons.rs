//! Why the elements of a suspect stay, if they say so themselves.

use std::collections::HashSet;

use crate::error::GraphError;
use crate::finder::Finder;
use crate::heap::Heap;
use crate::paths::Path;
use crate::samples::{columns, samples, Sample, Value, COMPLETED, FUTURE, KEY};
use crate::suspect::{Reason, Suspect};

/// Fewer elements than these say nothing together.
const SAMPLES_LEAST: usize = 8;

/// The mark in the place of a number.
pub(crate) const NUMBER: char = '#';

/// Most references from an element to the field that has its state.
const STATE_DEPTH: usize = 2;

/// Words for the end of an object's life, as in the names of fields, and as a reader knows them.
const STATES: [(&str, &str); 17] = [
    ("cancelled", "cancelled"),
    ("canceled", "cancelled"),
    ("closed", "closed"),
    ("completed", "completed"),
    ("destroyed", "destroyed"),
    ("disposed", "disposed"),
    ("done", "done"),
    ("ended", "ended"),
    ("expired", "expired"),
    ("finished", "finished"),
    ("invalidated", "invalidated"),
    ("released", "released"),
    ("shutdown", "shut down"),
    ("stopped", "stopped"),
    ("terminated", "terminated"),
    ("unregistered", "unregistered"),
    ("unsubscribed", "unsubscribed"),
];

/// Those that an object should come to.
const OPEN: [&str; 5] = ["cancelled", "closed", "completed", "disposed", "shut down"];

impl Finder<'_, '_> {
    /// What a suspect's elements say. Errors: the file cannot be read.
    pub(crate) fn reasons(&self, suspect: &Suspect) -> Result<Vec<Reason>, GraphError> {
        let heap = self.heap;
        if suspect.some.len() < SAMPLES_LEAST || heap.redacted().is_some() {
            return Ok(Vec::new());
        }
        let entry = suspect.main_path().and_then(|path| self.entry(path));
        let some = (suspect.some.as_slice(), entry);
        let samples = samples(heap, self.retained, &self.structure, some)?;
        let mut reasons: Vec<Reason> = self.same_referent(&suspect.some).into_iter().collect();
        let waits = self.not_completed(suspect)?;
        let own = waits.or_else(|| futures(&samples));
        reasons.extend(own.or_else(|| state(&samples)));
        reasons.extend(of_contents(heap, &samples));
        Ok(reasons)
    }

    /// The class of the collection's entry that a path leads over to an element.
    fn entry(&self, path: &Path) -> Option<u32> {
        let [.., entry, _] = path.steps.as_slice() else {
            return None;
        };
        let class = self.heap.class(entry.object);
        let is_instance = self.heap.class_of_object(entry.object).is_none();
        (is_instance && self.structure.is_collection(class)).then_some(class)
    }

    /// Whether what holds the elements is a future without a result.
    fn not_completed(&self, suspect: &Suspect) -> Result<Option<Reason>, GraphError> {
        let is_future = |it: &u32| self.heap.class_name(self.heap.class(*it)) == FUTURE.0;
        let Some(future) = suspect.accumulation.filter(is_future) else {
            return Ok(None);
        };
        let contents = self.heap.contents(&[future], 0)?;
        let fields = contents.values().flat_map(|it| self.heap.fields(it));
        let mut result = fields.filter(|it| it.name == FUTURE.1);
        let is_open = result.next().is_some_and(|it| it.value == 0);
        Ok(is_open.then_some(Reason::NotCompleted))
    }

    /// The object to which all of these refer weakly.
    fn same_referent(&self, some: &[u32]) -> Option<Reason> {
        let graph = self.heap.graph(crate::class_facts::References::All);
        let mut referents = some.iter().map(|object| graph.implied(*object).1);
        let first = referents.next()??;
        let is_same = referents.all(|it| it == Some(first));
        is_same.then(|| Reason::SameReferent(self.heap.class(first)))
    }
}

/// Whether a name is under the key.
fn is_of_key(name: &str) -> bool {
    name.strip_prefix(KEY)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether all futures that the elements carry are completed, or none.
fn futures(samples: &[Sample]) -> Option<Reason> {
    let completed = |sample: &Sample| match sample.values.get(COMPLETED) {
        Some(Value::Truth(is)) => Some(*is),
        _ => None,
    };
    let first = completed(samples.first()?)?;
    let is_same = samples.iter().all(|it| completed(it) == Some(first));
    is_same.then_some(Reason::Futures(first))
}

/// Whether nearly all have come to their end, or nearly none.
fn state(samples: &[Sample]) -> Option<Reason> {
    let columns = columns(samples);
    let shallow = columns
        .iter()
        .filter(|(name, _)| !is_of_key(name) && name.matches('.').count() < STATE_DEPTH);
    shallow.clone().find_map(|(name, values)| {
        let (word, is_text) = word(name, values)?;
        let ended = values
            .iter()
            .filter(|it| is_text || matches!(it, Value::Truth(true) | Value::Number(1)))
            .count();
        match ended * 10 {
            0 if OPEN.contains(&word) => Some(Reason::State(word, false)),
            many if many >= values.len() * 9 => Some(Reason::State(word, true)),
            _ => None,
        }
    })
}

/// The word of the state that a field has by its name, or its value by that of a constant.
fn word(name: &str, values: &[&Value]) -> Option<(&'static str, bool)> {
    let known = |text: &str| {
        let text: String = text.chars().filter(char::is_ascii_alphabetic).collect();
        let text = text.to_lowercase();
        let text = text.strip_prefix("is").unwrap_or(&text).to_owned();
        STATES
            .iter()
            .find(|(field, _)| *field == text)
            .map(|it| it.1)
    };
    match values.first()? {
        // That of an atomic truth value.
        Value::Number(_) => {
            let name = name.strip_suffix(".value")?;
            let is_truth = values.iter().all(|it| matches!(it, Value::Number(0 | 1)));
            let last = name.rsplit('.').next()?;
            known(last).filter(|_| is_truth).map(|word| (word, false))
        }
        Value::Truth(_) => known(name.rsplit('.').next()?).map(|word| (word, false)),
        Value::Object(_) | Value::Bytes(_) => None,
        // The name of a constant.
        Value::Text(first) => {
            let is_constant = name.ends_with(".name") && first.chars().all(|it| it.is_uppercase());
            let is_same = values.iter().all(|it| *it == &Value::Text(first.clone()));
            known(first)
                .filter(|_| is_constant && is_same)
                .map(|word| (word, true))
        }
    }
}

/// Whether keys or elements are equal, or differ only in a number.
fn of_contents(heap: &Heap<'_>, samples: &[Sample]) -> Option<Reason> {
    let keys: HashSet<u32> = samples.iter().filter_map(|it| it.key).collect();
    let has_keys = keys.len() * 10 >= samples.len() * 9;
    if has_keys && are_equal(heap, samples, is_of_key) {
        return Some(Reason::EqualKeys);
    }
    let columns = columns(samples);
    let texts = columns.iter().filter_map(|(name, values)| {
        let texts = values.iter().map(|it| match it {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        });
        Some((*name, texts.collect::<Option<Vec<&str>>>()?))
    });
    let (of_keys, others): (Vec<_>, Vec<_>) = texts.partition(|(name, _)| is_of_key(name));
    let key = of_keys.iter().find_map(|(_, texts)| alike(texts, None));
    let other = others.iter().find_map(|(name, texts)| {
        let name = name.rsplit('.').next()?;
        alike(texts, Some(name.to_owned()))
    });
    let equal = !has_keys && are_equal(heap, samples, |name| !is_of_key(name));
    key.or(other).or(equal.then_some(Reason::Equal))
}

/// Whether the values with names that `is` selects are the same in nearly all samples, and there
/// are texts or classes among them.
fn are_equal(heap: &Heap<'_>, samples: &[Sample], is: impl Fn(&str) -> bool) -> bool {
    let of = |sample: &'_ Sample| -> Vec<(String, Value)> {
        let values = sample.values.iter().filter(|(name, _)| is(name));
        values
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    let all: Vec<Vec<(String, Value)>> = samples.iter().map(of).collect();
    let Some(middle) = all.get(all.len() / 2) else {
        return false;
    };
    let has_meaning = middle.iter().any(|(_, value)| match value {
        Value::Text(text) => !text.is_empty(),
        Value::Object(object) => heap.class_of_object(*object).is_some(),
        _ => false,
    });
    let same = all.iter().filter(|it| *it == middle).count();
    has_meaning && same * 10 >= all.len() * 9
}

/// Whether different texts are of one pattern.
fn alike(texts: &[&str], field: Option<String>) -> Option<Reason> {
    let different: HashSet<&&str> = texts.iter().collect();
    if different.len() * 10 < texts.len() * 9 {
        return None;
    }
    let is_one = |patterns: Vec<String>| {
        let middle = patterns.get(patterns.len() / 2);
        let same = patterns.iter().filter(|it| Some(*it) == middle).count();
        let has_words = middle.is_some_and(|it| it.chars().any(char::is_alphabetic));
        has_words && same * 10 >= patterns.len() * 9
    };
    let patterns: Vec<String> = texts.iter().map(|text| pattern(text)).collect();
    let listed = patterns.iter().map(|pattern| without_list(pattern));
    let listed: Vec<String> = listed.collect();
    match (is_one(patterns), is_one(listed)) {
        (true, _) => Some(Reason::Numbered(field)),
        (false, true) => Some(Reason::Listed(field)),
        _ => None,
    }
}

/// A text with a mark in the place of each number.
pub(crate) fn pattern(text: &str) -> String {
    let mut pattern = String::new();
    for letter in text.chars() {
        match letter.is_ascii_digit() {
            true if pattern.ends_with(NUMBER) => {}
            true => pattern.push(NUMBER),
            false => pattern.push(letter),
        }
    }
    pattern
}

/// A pattern whose lists have one part.
fn without_list(pattern: &str) -> String {
    let mut parts: Vec<&str> = pattern.split(',').map(str::trim).collect();
    parts.dedup();
    parts.join(",")
}
