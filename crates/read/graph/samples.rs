//! What some of a suspect's elements say: the values of their fields, and of their keys in a map.

use std::collections::{BTreeMap, HashMap};

use format::BasicType;
use rustc_hash::FxHashMap;

use crate::contents::{Contents, FieldValue};
use crate::error::GraphError;
use crate::heap::Heap;
use crate::retained::Retained;
use crate::structure::Structure;

/// Most elements that are read.
pub(crate) const SAMPLES_MAX: usize = 32;

/// Most objects of which samples are taken.
const SPREAD_MAX: usize = 512;

/// Most objects above one that are asked whether they are of its class.
const LEVELS_MAX: usize = 32;

/// Objects that are in no other are asked if they are at least this part.
const OUTER: usize = 8;

/// Most references from an element to a value, without those in what carries another object.
const DEPTH_MAX: usize = 5;

/// Most objects from an element up to the entry that has its key.
const ENTRY_DEPTH: usize = 3;

/// Most references from an element to the field that has its state.
pub(crate) const STATE_DEPTH: usize = 2;

/// Most references from an element to a value at all.
const ROUNDS_MAX: usize = 8;

/// The class of a future, and its field that has the result.
pub(crate) const FUTURE: (&str, &str) = ("java.util.concurrent.CompletableFuture", "result");

/// The name of whether the future that an element carries, or is, has its result.
pub(crate) const COMPLETED: &str = "(future)";

/// Most objects that are read for one element.
const OBJECTS_MAX: usize = 64;

/// An array with more elements is not read.
const ELEMENTS_MAX: usize = 8;

/// Most bytes that are read of an array.
const ARRAY_BYTES: usize = 512;

/// Most bytes of a text.
const TEXT_BYTES: usize = 8 << 10;

/// The name of the field of an entry that has the key.
pub(crate) const KEY: &str = "key";

/// The field of a reference that has its referent.
pub(crate) const REFERENT: &str = "referent";

/// A value that has no parts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    Truth(bool),
    Number(u64),
    Text(String),
    /// No object, in the field of a reference that has its referent.
    Nothing,
    /// An array of primitive values.
    Bytes(Vec<u8>),
    /// An object that is not read: only itself is equal to it.
    Object(u32),
}

/// Some objects of many, evenly spread.
#[derive(Debug, Default)]
pub(crate) struct Spread {
    objects: Vec<u32>,
    /// How many were passed.
    place: u64,
    /// All places that are a multiple of this power of two are kept.
    power: u32,
}

impl Spread {
    pub(crate) fn add(&mut self, object: u32) {
        let is_kept = |power: u32, place: u64| place.trailing_zeros() >= power || place == 0;
        if self.objects.len() >= SPREAD_MAX && is_kept(self.power, self.place) {
            self.power += 1;
            let mut every = [true, false].into_iter().cycle();
            self.objects.retain(|_| every.next() == Some(true));
        }
        if is_kept(self.power, self.place) {
            self.objects.push(object);
        }
        self.place += 1;
    }

    /// Those that are in no other of their class, unless these are few, as of a chain.
    pub(crate) fn samples(mut self, heap: &Heap<'_>, retained: &Retained) -> Vec<u32> {
        let is_outer = |object: &&u32| {
            let mut above = retained.dominators(**object).take(LEVELS_MAX);
            !above.any(|above| heap.class(above) == heap.class(**object))
        };
        let outer: Vec<u32> = self.objects.iter().filter(is_outer).copied().collect();
        if outer.len() * OUTER >= self.objects.len() {
            self.objects = outer;
        }
        let every = self.objects.len().div_ceil(SAMPLES_MAX).max(1);
        self.objects.into_iter().step_by(every).collect()
    }
}

/// One element.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// Its key, or itself if it is one; `None` if it is in no map.
    pub(crate) key: Option<u32>,
    /// Whether it is its key.
    pub(crate) is_key: bool,
    /// The values in it and in its key, by the names of the fields that lead there: `name`,
    /// `key.host`.
    pub(crate) values: BTreeMap<String, Value>,
    /// The objects in it and in its key that are not deep, by the same names.
    pub(crate) objects: BTreeMap<String, u32>,
}

/// An object still to be read.
struct Open {
    sample: usize,
    /// The names of the fields that led there.
    names: String,
    object: u32,
    /// How many references led there, without those in what carries another object.
    depth: usize,
}

/// Reads samples.
struct Reader<'a, 'p> {
    heap: &'a Heap<'p>,
    retained: &'a Retained,
    structure: &'a Structure,
    samples: Vec<Sample>,
    /// How many objects were read for each.
    read: Vec<usize>,
    texts: Vec<Open>,
}

/// Reads these elements; one of them is in an entry of this class. Errors: the file cannot be read.
pub(crate) fn samples(
    heap: &Heap<'_>,
    retained: &Retained,
    structure: &Structure,
    (elements, entry): (&[u32], Option<u32>),
) -> Result<Vec<Sample>, GraphError> {
    let mut reader = Reader {
        heap,
        retained,
        structure,
        samples: elements.iter().map(|_| Sample::default()).collect(),
        read: vec![0; elements.len()],
        texts: Vec::new(),
    };
    let mut open = reader.begin(elements, entry)?;
    for _ in 0..ROUNDS_MAX {
        let objects: Vec<u32> = open.iter().map(|it| it.object).collect();
        let contents = heap.contents(&objects, ARRAY_BYTES)?;
        open = open
            .iter()
            .flat_map(|it| reader.enter(it, contents.get(&it.object)))
            .collect();
    }
    for left in open {
        reader.note(left.sample, left.names, Value::Object(left.object));
    }
    reader.read_texts()?;
    Ok(reader.samples)
}

impl Reader<'_, '_> {
    /// The elements and their keys.
    fn begin(&mut self, elements: &[u32], entry: Option<u32>) -> Result<Vec<Open>, GraphError> {
        let entries = |element: &u32| -> Vec<u32> {
            let above = self.retained.dominators(*element).take(ENTRY_DEPTH);
            above.take_while(|above| self.is_entry(*above)).collect()
        };
        let mut entries: Vec<Vec<u32>> = elements.iter().map(entries).collect();
        let owned: Vec<bool> = entries.iter().map(|it| !it.is_empty()).collect();
        if let Some(class) = entry.filter(|_| owned.contains(&false)) {
            // Something else refers to the elements, too.
            let places: FxHashMap<u32, usize> = elements.iter().copied().zip(0..).collect();
            for entry in self.heap.objects_of(|it| it == class) {
                let mut targets = self.heap.targets(entry).iter();
                let place = targets.find_map(|it| places.get(it));
                let slot = place.and_then(|at| entries.get_mut(*at));
                if let Some(slot) = slot.filter(|it| it.is_empty()) {
                    slot.push(entry);
                }
            }
        }
        let known: Vec<u32> = entries.concat();
        let contents = self.heap.contents(&known, 0)?;
        let mut keys: FxHashMap<u32, u32> = FxHashMap::default();
        for (entry, contents) in &contents {
            let fields = self.heap.fields(contents);
            let key = fields.iter().find(|it| it.name == KEY);
            let key = key.and_then(|it| self.heap.object(it.value));
            keys.extend(key.map(|key| (*entry, key)));
        }
        let mut open = Vec::new();
        for (sample, (element, entries)) in elements.iter().zip(entries).enumerate() {
            let key = entries.iter().find_map(|entry| keys.get(entry).copied());
            // What is in a set, and elsewhere, is more than a key.
            let is_owned = owned.get(sample) == Some(&true);
            let key = key.filter(|key| is_owned || key != element);
            if let Some(slot) = self.samples.get_mut(sample) {
                (slot.key, slot.is_key) = (key, Some(*element) == key);
            }
            let named = key.map(|key| (KEY, key)).into_iter();
            let other = Some(("", *element)).filter(|(_, it)| Some(*it) != key);
            for (names, object) in named.chain(other) {
                open.extend(self.open(Open {
                    sample,
                    names: names.to_owned(),
                    object,
                    depth: 0,
                }));
            }
        }
        Ok(open)
    }

    /// Whether an object may be an entry of a map.
    fn is_entry(&self, object: u32) -> bool {
        let class = self.heap.class(object);
        self.heap.class_of_object(object).is_none()
            && !self.heap.class_name(class).ends_with("[]")
            && !self.structure.is_one_of_many(class)
    }

    /// An object to be read, unless it is a text, or too much was read.
    fn open(&mut self, open: Open) -> Option<Open> {
        let (heap, class) = (self.heap, self.heap.class(open.object));
        let read = self.read.get_mut(open.sample)?;
        let is_many = self.structure.is_one_of_many(class);
        let is_loader = open.names.is_empty() && self.structure.is_loader(class);
        let is_other = heap.class_of_object(open.object).is_some() || (is_many && !is_loader);
        let is_text = heap.class_name(class) == "java.lang.String";
        let is_deep = open.depth >= DEPTH_MAX && !is_text;
        if is_other || is_deep || *read >= OBJECTS_MAX {
            self.note(open.sample, open.names, Value::Object(open.object));
            return None;
        }
        *read += 1;
        if is_text {
            self.texts.push(open);
            return None;
        }
        Some(open)
    }

    /// Notes an object's values; returns the objects that it refers to.
    fn enter(&mut self, from: &Open, contents: Option<&Contents>) -> Vec<Open> {
        let class = self.heap.class(from.object);
        let carries = self.structure.carries(class);
        let is_future = from.names.is_empty() && self.heap.class_name(class) == FUTURE.0;
        let below = |name: &str| match from.names.as_str() {
            names if carries => names.to_owned(),
            "" => name.to_owned(),
            names => format!("{names}.{name}"),
        };
        let depth = from.depth + usize::from(!carries);
        let mut found = Vec::new();
        match contents {
            Some(contents @ Contents::Instance { .. }) => {
                for field in self.heap.fields(contents) {
                    let names = below(&field.name);
                    if is_future && field.name == FUTURE.1 {
                        let is_done = Value::Truth(field.value != 0);
                        self.note(from.sample, COMPLETED.to_owned(), is_done);
                    }
                    match self.value(&field) {
                        Some(value) => self.note(from.sample, names, value),
                        None => {
                            let object = self.heap.object(field.value);
                            let object = object.filter(|_| field.kind == BasicType::Object);
                            self.note_object(from.sample, &names, object);
                            found.extend(object.map(|object| (names, object)));
                        }
                    }
                }
            }
            Some(Contents::References { length, ids })
                if ids.len() == *length as usize
                    && ids.iter().filter(|id| **id != 0).count() <= ELEMENTS_MAX =>
            {
                let objects = ids.iter().enumerate();
                let objects = objects.filter_map(|(at, id)| Some((at, self.heap.object(*id)?)));
                found.extend(objects.map(|(at, it)| (below(&at.to_string()), it)));
            }
            Some(Contents::Values { length, bytes, .. })
                if bytes.len() < ARRAY_BYTES && bytes.len() >= *length as usize =>
            {
                self.note(from.sample, from.names.clone(), Value::Bytes(bytes.clone()));
            }
            _ => self.note(from.sample, from.names.clone(), Value::Object(from.object)),
        }
        let found = found.into_iter();
        let open = found.filter(|(_, object)| *object != from.object);
        let open = open.map(|(names, object)| Open {
            sample: from.sample,
            names,
            object,
            depth,
        });
        open.filter_map(|open| self.open(open)).collect()
    }

    fn value(&self, field: &FieldValue) -> Option<Value> {
        match field.kind {
            BasicType::Object if field.value == 0 && field.name == REFERENT => Some(Value::Nothing),
            BasicType::Object => None,
            BasicType::Boolean => Some(Value::Truth(field.value != 0)),
            _ => Some(Value::Number(field.value)),
        }
    }

    fn note(&mut self, sample: usize, names: String, value: Value) {
        if let Some(sample) = self.samples.get_mut(sample) {
            sample.values.entry(names).or_insert(value);
        }
    }

    fn note_object(&mut self, sample: usize, names: &str, object: Option<u32>) {
        let object = object.filter(|_| names.matches('.').count() < STATE_DEPTH + 1);
        if let (Some(sample), Some(object)) = (self.samples.get_mut(sample), object) {
            sample.objects.entry(names.to_owned()).or_insert(object);
        }
    }

    fn read_texts(&mut self) -> Result<(), GraphError> {
        let texts = std::mem::take(&mut self.texts);
        let objects: Vec<u32> = texts.iter().map(|it| it.object).collect();
        let known = self.heap.strings(&objects, TEXT_BYTES)?;
        for text in texts {
            let known = known.get(&text.object);
            // That of a longer text may differ in the rest.
            let known = known.filter(|it| it.len() < TEXT_BYTES / 2);
            let value = known.map_or(Value::Object(text.object), |it| Value::Text(it.clone()));
            self.note(text.sample, text.names, value);
        }
        Ok(())
    }
}

/// Whether a part is nearly all.
pub(crate) fn are_most(part: usize, all: usize) -> bool {
    part * 10 >= all * 9
}

/// A name as seen from an element; `None` if it is in the element's key, and that is another
/// object.
pub(crate) fn of_element(name: &str, is_key: bool) -> Option<&str> {
    match name.strip_prefix(KEY) {
        Some("") => None,
        Some(rest) if rest.starts_with('.') => rest.get(1..).filter(|_| is_key),
        _ => Some(name),
    }
}

/// The values that most samples have, by the names of the fields.
pub(crate) fn columns(samples: &[Sample]) -> Vec<(&str, Vec<&Value>)> {
    let mut columns: HashMap<&str, Vec<&Value>> = HashMap::new();
    for (name, value) in samples.iter().flat_map(|sample| &sample.values) {
        columns.entry(name).or_default().push(value);
    }
    let mut columns: Vec<(&str, Vec<&Value>)> = columns.into_iter().collect();
    columns.retain(|(_, values)| are_most(values.len(), samples.len()));
    columns.sort_by_key(|(name, _)| (name.matches('.').count(), *name));
    columns
}
