//! Why the elements of a suspect stay, if they say so themselves.

use std::collections::{BTreeSet, HashSet};

use crate::error::GraphError;
use crate::finder::Finder;
use crate::heap::Heap;
use crate::paths::Path;
use crate::samples::{
    are_most, columns, of_element, samples, Sample, Value, COMPLETED, FUTURE, KEY, REFERENT,
    STATE_DEPTH,
};
use crate::suspect::{Reason, Suspect};

/// Fewer elements than these say nothing together.
const SAMPLES_LEAST: usize = 8;

/// The mark in the place of a number.
pub(crate) const NUMBER: char = '#';

/// Most fields on the way from an element to a text in which they differ, or are alike.
const TEXT_DEPTH: usize = 3;

/// A shorter word is no hexadecimal number unless it has digits alone.
const HEX_LEAST: usize = 4;

/// Words for the end of an object's life, as in the names of fields, and as a reader knows them.
const STATES: [(&str, &str); 22] = [
    ("aborted", "aborted"),
    ("cancelled", "cancelled"),
    ("canceled", "cancelled"),
    ("closed", "closed"),
    ("completed", "completed"),
    ("deregistered", "deregistered"),
    ("destroyed", "destroyed"),
    ("disposed", "disposed"),
    ("done", "done"),
    ("ended", "ended"),
    ("evicted", "evicted"),
    ("executed", "executed"),
    ("expired", "expired"),
    ("finished", "finished"),
    ("invalidated", "invalidated"),
    ("released", "released"),
    ("removed", "removed"),
    ("shutdown", "shut down"),
    ("stopped", "stopped"),
    ("terminated", "terminated"),
    ("unregistered", "unregistered"),
    ("unsubscribed", "unsubscribed"),
];

/// Those that an object should come to.
const OPEN: [&str; 5] = ["cancelled", "closed", "completed", "disposed", "shut down"];

/// Most reasons that are given.
const REASONS_MAX: usize = 2;

/// The word for the value of a field that has an object's state.
type StateOf = fn(u64) -> Option<&'static str>;

/// Classes of the JDK, the field that has their state, and the words for what is an end.
const JDK_STATES: [(&str, &str, StateOf); 3] = [
    ("java/util/concurrent/FutureTask", "state", |it| match it {
        2 | 3 => Some("done"),
        4..=6 => Some("cancelled"),
        _ => None,
    }),
    ("java/util/TimerTask", "state", |it| match it {
        2 => Some("executed"),
        3 => Some("cancelled"),
        _ => None,
    }),
    ("java/util/concurrent/CompletableFuture", FUTURE.1, |it| {
        (it != 0).then_some("completed")
    }),
];

impl Finder<'_, '_> {
    /// What a suspect's elements say. Errors: the file cannot be read.
    pub(crate) fn reasons(&self, suspect: &Suspect) -> Result<Vec<Reason>, GraphError> {
        let heap = self.heap;
        let registered = self.registered(suspect);
        if heap.redacted().is_some() {
            return Ok(registered.into_iter().collect());
        }
        let filled = self.filled(suspect)?;
        if filled.is_some() || suspect.some.len() < SAMPLES_LEAST {
            return Ok(registered.into_iter().chain(filled).collect());
        }
        let entry = suspect.main_path().and_then(|path| self.entry(path));
        let some = (suspect.some.as_slice(), entry);
        let samples = samples(heap, self.retained, &self.structure, some)?;
        let mut end = state(&samples, true);
        if end.is_none() {
            end = self.shared_end(&suspect.some, &samples)?;
        }
        if suspect.copied_classes > 0 {
            // Loaders of the same are alike in everything else, and few are ever closed.
            return Ok(registered.into_iter().chain(end).collect());
        }
        let end = end.or_else(|| state(&samples, false));
        let mut reasons: Vec<Reason> = self.same_referent(&suspect.some).into_iter().collect();
        let own = self.not_completed(suspect)?.or_else(|| futures(&samples));
        reasons.extend(self.own_weak_keys(&suspect.some, &samples));
        reasons.extend(own.or(end));
        reasons.extend(match self.tag(suspect, &samples)? {
            None => of_contents(heap, &samples),
            tag => tag,
        });
        if reasons.is_empty() {
            reasons.extend(self.jdk_state(&suspect.some)?);
        }
        if reasons.is_empty() {
            reasons.extend(self.mostly_empty(&suspect.some)?);
        }
        if reasons.is_empty() {
            reasons.extend(have_same_values(heap, &samples).then_some(Reason::SameValues));
        }
        reasons.truncate(REASONS_MAX);
        Ok(registered.into_iter().chain(reasons).collect())
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

    /// The end that elements, or objects that each of them is in, have come to by a field of the
    /// JDK.
    fn jdk_state(&self, some: &[u32]) -> Result<Option<Reason>, GraphError> {
        let (heap, retained) = (self.heap, self.retained);
        for level in 0..=STATE_DEPTH {
            let at = |it: &u32| {
                let mut way = std::iter::once(*it).chain(retained.dominators(*it));
                way.nth(level)
            };
            let objects: BTreeSet<u32> = some.iter().filter_map(at).collect();
            let objects: Vec<u32> = objects.into_iter().collect();
            let Some(first) = objects
                .first()
                .filter(|_| are_most(objects.len(), some.len()))
            else {
                continue;
            };
            let of_class = |(class, ..): &&(&str, &str, StateOf)| {
                objects
                    .iter()
                    .all(|it| heap.extends(heap.class(*it), class))
            };
            let Some((class, field, word)) = JDK_STATES.iter().find(of_class) else {
                continue;
            };
            let contents = heap.contents(&objects, 0)?;
            let fields = contents.values().flat_map(|it| heap.fields(it));
            let values = fields.filter(|it| it.name == *field).map(|it| it.value);
            let words: Vec<Option<&str>> = values.map(word).collect();
            let same = |word| words.iter().filter(|it| **it == word).count();
            let part = (level > 0).then(|| heap.class_name(heap.class(*first)));
            let found = words
                .get(words.len() / 2)
                .copied()
                .filter(|it| are_most(same(*it), words.len()));
            match found {
                Some(Some(word)) => return Ok(Some(Reason::State(word, true, part))),
                Some(None) if class.ends_with("CompletableFuture") => {
                    return Ok(Some(Reason::State("completed", false, part)))
                }
                _ => {}
            }
        }
        Ok(None)
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

/// Whether nearly all have come to their end, or none.
fn state(samples: &[Sample], is_end: bool) -> Option<Reason> {
    let is_key = samples.iter().all(|it| it.is_key);
    let columns = columns(samples);
    let shallow = columns.iter().filter_map(|(name, values)| {
        let name = of_element(name, is_key)?;
        // That of a constant is none of its fields.
        let field = name.strip_suffix(".name").unwrap_or(name);
        (field.matches('.').count() < STATE_DEPTH).then_some((name, values))
    });
    let cleared = shallow.clone().any(|(name, values)| {
        let is_none = values.iter().filter(|it| ***it == Value::Nothing).count();
        name.ends_with(REFERENT) && are_most(is_none, samples.len())
    });
    if cleared {
        return is_end.then_some(Reason::Cleared);
    }
    shallow.into_iter().find_map(|(name, values)| {
        let (word, field, is_text) = word(name, values)?;
        let ended = values
            .iter()
            .filter(|it| is_text || matches!(it, Value::Truth(true) | Value::Number(1)))
            .count();
        let is_found = match is_end {
            true => are_most(ended, values.len()),
            false => ended == 0 && OPEN.contains(&word),
        };
        is_found.then(|| Reason::State(word, is_end, part(field)))
    })
}

/// What has a field: `None` if it is the element.
pub(crate) fn part(field: &str) -> Option<String> {
    field.rsplit_once('.').map(|(part, _)| part.to_owned())
}

/// The word of the state that a field has by its name, or its value by that of a constant; the
/// field's name, and whether its value is that of a constant.
fn word<'n>(name: &'n str, values: &[&Value]) -> Option<(&'static str, &'n str, bool)> {
    let last = |name: &str| end(name.rsplit('.').next()?);
    match values.first()? {
        // That of an atomic truth value.
        Value::Number(_) => {
            let field = name.strip_suffix(".value")?;
            let is_truth = values.iter().all(|it| matches!(it, Value::Number(0 | 1)));
            last(field)
                .filter(|_| is_truth)
                .map(|word| (word, field, false))
        }
        Value::Truth(_) => last(name).map(|word| (word, name, false)),
        Value::Object(_) | Value::Bytes(_) | Value::Nothing => None,
        // The name of a constant.
        Value::Text(first) => {
            let field = name.strip_suffix(".name")?;
            let is_constant = first.chars().all(|it| it.is_uppercase() || it == '_');
            let is_same = values.iter().all(|it| *it == &Value::Text(first.clone()));
            let word = end(first).filter(|_| is_constant && is_same);
            word.map(|word| (word, field, true))
        }
    }
}

/// The end that a name is about.
pub(crate) fn end(name: &str) -> Option<&'static str> {
    let text: String = name.chars().filter(char::is_ascii_alphabetic).collect();
    let text = text.to_lowercase();
    let text = text.strip_prefix("is").unwrap_or(&text);
    let mut states = STATES.iter();
    states.find(|(field, _)| *field == text).map(|it| it.1)
}

/// Whether keys or elements are equal, or differ only in a number.
fn of_contents(heap: &Heap<'_>, samples: &[Sample]) -> Option<Reason> {
    let keys: HashSet<u32> = samples.iter().filter_map(|it| it.key).collect();
    let has_keys = are_most(keys.len(), samples.len());
    if has_keys && are_equal(heap, samples, |name, _| is_of_key(name)) {
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
    let is_near = |name: &str| name.matches('.').count() < TEXT_DEPTH;
    let mut near = others.iter().filter(|(name, _)| is_near(name));
    let other = near.find_map(|(name, texts)| {
        let name = name.rsplit('.').next()?;
        alike(texts, Some(name.to_owned()))
    });
    let equal = !has_keys && are_equal(heap, samples, |name, _| !is_of_key(name));
    let is_near_key = |name: &str, value: &Value| {
        let is_class = |it: &u32| heap.class_of_object(*it).is_some();
        let is_said = !matches!(value, Value::Object(object) if !is_class(object));
        is_of_key(name) && is_near(name) && is_said
    };
    let alike = has_keys && are_equal(heap, samples, is_near_key);
    let same = equal.then_some(Reason::Equal);
    let same = same.or(alike.then_some(Reason::AlikeKeys));
    key.or(other).or(same)
}

/// Whether the values in nearly all samples' own fields are the same.
fn have_same_values(heap: &Heap<'_>, samples: &[Sample]) -> bool {
    let is_key = samples.iter().all(|it| it.is_key);
    are_equal(heap, samples, |name, value| {
        let is_own = of_element(name, is_key).is_some_and(|it| !it.contains('.'));
        is_own && !matches!(value, Value::Object(_))
    })
}

/// Whether the values that `is` selects are the same in nearly all samples, and there are texts or
/// classes among them.
fn are_equal(heap: &Heap<'_>, samples: &[Sample], is: impl Fn(&str, &Value) -> bool) -> bool {
    let of = |sample: &'_ Sample| -> Vec<(String, Value)> {
        let values = sample.values.iter();
        // A hash that an object keeps is mostly that of itself.
        let is_hash = |name: &str| name.to_lowercase().contains("hash");
        let values = values.filter(|(name, value)| {
            is(name, value) && !(is_hash(name) && matches!(value, Value::Number(_)))
        });
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
    has_meaning && are_most(same, all.len())
}

/// Whether different texts are of one pattern.
fn alike(texts: &[&str], field: Option<String>) -> Option<Reason> {
    let different: HashSet<&&str> = texts.iter().collect();
    if !are_most(different.len(), texts.len()) {
        return None;
    }
    let is_one = |patterns: Vec<String>| {
        let middle = patterns.get(patterns.len() / 2);
        let same = patterns.iter().filter(|it| Some(*it) == middle).count();
        let has_words = middle.is_some_and(|it| it.chars().any(|letter| letter != NUMBER));
        // An id made at random differs in each by design.
        let has_letters = |text: &str| text.contains(char::is_alphabetic);
        let is_id =
            middle.is_some_and(|it| !has_letters(it)) && texts.iter().any(|it| has_letters(it));
        has_words && !is_id && are_most(same, patterns.len())
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

/// A text with a mark in the place of each number, also of a hexadecimal one.
pub(crate) fn pattern(text: &str) -> String {
    let is_word = |letter: char| letter.is_ascii_alphanumeric();
    let mut pattern = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end.max(first.len_utf8()));
        rest = behind;
        let is_hex = word.len() >= HEX_LEAST && word.chars().all(|it| it.is_ascii_hexdigit());
        if is_hex && word.contains(|it: char| it.is_ascii_digit()) {
            pattern.push(NUMBER);
            continue;
        }
        for letter in word.chars() {
            match letter.is_ascii_digit() {
                true if pattern.ends_with(NUMBER) => {}
                true => pattern.push(NUMBER),
                false => pattern.push(letter),
            }
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
