//! Ends that elements have come to by an object that they share, and what else single objects say.

use std::collections::{BTreeMap, HashMap};

use format::BasicType;

use crate::class_facts::References;
use crate::contents::{Contents, FieldValue};
use crate::error::GraphError;
use crate::finder::Finder;
use crate::reasons::{end, part};
use crate::registered::words;
use crate::samples::{are_most, of_element, Sample, Value, STATE_DEPTH};
use crate::suspect::Reason;

/// Last words of the names of classes whose objects wait for an end, or tell of it.
const TELLS: [&str; 4] = ["callback", "event", "hook", "task"];

/// Fields that count what is in an array.
const COUNTS: [&str; 8] = [
    "count", "fill", "len", "length", "pos", "position", "size", "used",
];

/// A shorter array is no buffer.
const BUFFER: u32 = 1_000;

/// Less than this part of a buffer is little.
const LITTLE: u64 = 8;

impl Finder<'_, '_> {
    /// The end that elements have come to, if in one field nearly all have the same object, and its
    /// class, or the constant that has it, is named after an end; or the same number in a field for
    /// a state.
    pub(crate) fn shared_end(
        &self,
        some: &[u32],
        samples: &[Sample],
    ) -> Result<Option<Reason>, GraphError> {
        let heap = self.heap;
        let is_key = samples.iter().all(|it| it.is_key);
        let Some(middle) = samples.get(samples.len() / 2) else {
            return Ok(None);
        };
        let are_shared = |has_it: &dyn Fn(&Sample) -> bool| {
            are_most(
                samples.iter().filter(|it| has_it(it)).count(),
                samples.len(),
            )
        };
        let mut shared: Vec<(&str, Value)> = Vec::new();
        for (name, object) in &middle.objects {
            let has_it = |it: &Sample| it.objects.get(name) == Some(object);
            if heap.class_of_object(*object).is_none() && are_shared(&has_it) {
                shared.push((name, Value::Object(*object)));
            }
        }
        for (name, value) in &middle.values {
            let has_it = |it: &Sample| it.values.get(name) == Some(value);
            if matches!(value, Value::Number(_)) && is_state(name) && are_shared(&has_it) {
                shared.push((name, value.clone()));
            }
        }
        for (name, value) in shared {
            let Some(name) = of_element(name, is_key) else {
                continue;
            };
            let holder = part(name).and_then(|it| middle.objects.get(&it).copied());
            let holder = holder.or(some.first().copied());
            let word = match value {
                Value::Object(it) => match of_class(&heap.class_name(heap.class(it))) {
                    None => {
                        let of = [Some(it), holder].into_iter().flatten();
                        self.constant(heap.id(it), true, of.map(|it| heap.class(it)))?
                    }
                    word => word,
                },
                Value::Number(number) => self.constant(number, false, self.around(holder))?,
                _ => None,
            };
            if let Some(word) = word {
                return Ok(Some(Reason::State(word, true, part(name))));
            }
        }
        Ok(None)
    }

    /// The class of an object, those that it extends, and those around them: there the numbers of
    /// its states have names.
    fn around(&self, object: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        let (heap, directory) = (self.heap, self.heap.directory());
        let class = object.map(|it| heap.class(it) as usize);
        let chain = class.into_iter().flat_map(|it| directory.classes.chain(it));
        let names = chain.map(|it| directory.classes.java_name(it.id, &directory.strings));
        let names: Vec<String> = names.collect();
        (0..heap.classes()).filter(move |class| {
            let name = heap.class_name(*class);
            let mut inner = names.iter().filter_map(|it| it.strip_prefix(&name));
            inner.any(|rest| rest.is_empty() || rest.starts_with('$'))
        })
    }

    /// The end by which a static field of these classes that has a value is named; by a number only
    /// that of a constant.
    fn constant(
        &self,
        value: u64,
        is_object: bool,
        of: impl Iterator<Item = u32>,
    ) -> Result<Option<&'static str>, GraphError> {
        let heap = self.heap;
        let classes: Vec<u32> = of.filter_map(|it| heap.object_of_class(it)).collect();
        let contents = heap.contents(&classes, 0)?;
        let fields: Vec<FieldValue> = contents.values().flat_map(|it| heap.fields(it)).collect();
        let of_kind = |it: &&FieldValue| match it.kind {
            BasicType::Object => is_object,
            BasicType::Boolean => false,
            _ => !is_object && !it.name.contains(char::is_lowercase),
        };
        let (own, others): (Vec<&FieldValue>, Vec<&FieldValue>) = fields
            .iter()
            .filter(of_kind)
            .partition(|it| it.value == value);
        // `ST_CLOSED` beside `ST_OPEN`.
        let is_one_of = |set: &str| others.iter().any(|it| it.name.starts_with(set));
        let named = |it: &FieldValue| match it.name.rsplit_once('_') {
            Some((set, last)) if is_one_of(set) => end(last),
            _ => end(&it.name),
        };
        Ok(own.into_iter().find_map(named))
    }

    /// Whether nearly all are values of weak keys whose referents only they hold.
    pub(crate) fn own_weak_keys(&self, some: &[u32], samples: &[Sample]) -> Option<Reason> {
        let graph = self.heap.graph(References::All);
        let above = |it: u32| self.retained.dominators(it);
        let holds = |(element, sample): &(&u32, &Sample)| {
            let key = sample.key.filter(|_| !sample.is_key);
            let Some((key, referent)) = key.and_then(|key| Some((key, graph.implied(key).1?)))
            else {
                return false;
            };
            // If weak references count, their entry is above both, and the key not above it.
            let entry = above(**element).next();
            let is_both = entry == above(key).next() && entry == above(referent).next();
            is_both || above(referent).any(|above| above == **element)
        };
        let holding = some.iter().zip(samples).filter(holds).count();
        (holding > 0 && are_most(holding, some.len())).then_some(Reason::OwnWeakKey)
    }

    /// How much is used of the array that each of these has, or is, if that is little.
    pub(crate) fn mostly_empty(&self, some: &[u32]) -> Result<Option<Reason>, GraphError> {
        let heap = self.heap;
        let is_array = |it: u32| heap.class_name(heap.class(it)).ends_with("[]");
        let holder = |it: &u32| match is_array(*it) {
            true => self.retained.dominators(*it).next(),
            false => Some(*it),
        };
        let holders: Vec<u32> = some.iter().filter_map(holder).collect();
        let contents = heap.contents(&holders, 0)?;
        let fields: BTreeMap<u32, Vec<FieldValue>> = contents
            .iter()
            .map(|(object, contents)| (*object, heap.fields(contents)))
            .collect();
        let array = |fields: &[FieldValue]| {
            let objects = fields.iter().filter(|it| it.kind == BasicType::Object);
            let mut objects = objects.filter_map(|it| heap.object(it.value));
            objects.find(|it| is_array(*it))
        };
        let arrays: Vec<u32> = fields.values().filter_map(|it| array(it)).collect();
        let arrays: HashMap<u32, u32> = heap
            .contents(&arrays, 0)?
            .into_iter()
            .filter_map(|(array, contents)| match contents {
                Contents::Values { length, .. } => Some((array, length)),
                _ => None,
            })
            .collect();
        let used = |fields: &Vec<FieldValue>| {
            let length = arrays.get(&array(fields)?).filter(|it| **it >= BUFFER)?;
            let count = fields.iter().find(|it| COUNTS.contains(&&*it.name))?;
            let is_little = count.value.saturating_mul(LITTLE) < u64::from(*length);
            is_little.then(|| (u64::from(*length), count.value, count.name.clone()))
        };
        let mut used: Vec<(u64, u64, String)> = fields.values().filter_map(used).collect();
        used.sort_unstable();
        let is_found = !used.is_empty() && are_most(used.len(), some.len());
        let middle = used.into_iter().nth(some.len() / 2).filter(|_| is_found);
        Ok(middle.map(|(length, count, field)| Reason::Unused(count, length, field)))
    }
}

/// Whether a field that is not deep is for a state, by its name.
fn is_state(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default().to_lowercase();
    let is_near = name.matches('.').count() <= STATE_DEPTH;
    is_near && (last.ends_with("state") || last.ends_with("status"))
}

/// The end with which the name of a class begins.
fn of_class(name: &str) -> Option<&'static str> {
    let name = name.rsplit(['.', '$']).next()?;
    let words = words(name);
    let last = words.last()?;
    let tells = words.len() > 1 && (last.ends_with("er") || TELLS.contains(&&**last));
    end(words.first()?).filter(|_| !tells)
}
