//! The names of threads, from the thread objects.

use std::collections::HashMap;

use foldhash::HashSet;
use format::BasicType;

use crate::budget::{Budget, ENTRY_BYTES};
use crate::classes::ClassTable;
use crate::dump::{DumpReader, Event, Open};
use crate::error::ReadError;
use crate::heap_places::HeapPlaces;
use crate::java_text::{is_redacted, JavaText, REDACTED_NAME};
use crate::strings::StringTable;
use format::sub_record::HeapRecord;

/// Longest name read, in bytes of its array.
const NAME_BYTES_MAX: u64 = 4096;

/// Largest instance that is read; threads and strings are far smaller.
const INSTANCE_BYTES_MAX: u64 = 1 << 16;

/// Finds the objects with these ids.
type Find<'f> = dyn FnMut(&HashSet<u64>) -> Result<HashMap<u64, Object>, ReadError> + 'f;

/// An object's data as in the file.
#[derive(Debug)]
struct Object {
    /// Class of an instance; 0 for an array.
    class: u64,
    /// Type of a primitive array's elements.
    elements: Option<BasicType>,
    data: Vec<u8>,
}

/// The inputs for the lookup of names.
#[derive(Clone, Copy, Debug)]
struct Fields<'a> {
    classes: &'a ClassTable,
    strings: &'a StringTable,
}

/// Names of thread objects by id: the field `name` of `java.lang.Thread`, which is a `char[]` or a
/// `java.lang.String`, whose field `value` has the characters.
///
/// Reads the file three times, because objects come in any order; `open` as in [`crate::check()`].
/// `classes` and `strings` come from [`crate::summarize`]. A name that cannot be found is omitted.
/// Errors: I/O only.
pub fn thread_names(
    open: &mut Open<'_, '_>,
    classes: &ClassTable,
    strings: &StringTable,
    threads: &[u64],
    budget: Budget,
) -> Result<HashMap<u64, String>, ReadError> {
    let fields = Fields { classes, strings };
    fields.names(threads, &mut |wanted| {
        if wanted.is_empty() {
            return Ok(HashMap::new());
        }
        let mut dump = DumpReader::open(open, budget)?;
        let mut found = Objects::new(wanted, budget);
        while let Some(event) = dump.next_event()? {
            found.event(&event, &mut dump)?;
        }
        Ok(found.by_id)
    })
}

/// Like [`thread_names`], but reads only the parts of a file that contain the objects according to
/// `places`. `classes`, `strings` and `places` come from [`crate::summarize`] for the same file.
/// Returns no names for a stream.
pub fn thread_names_at(
    dump: &mut DumpReader<'_>,
    places: &HeapPlaces,
    classes: &ClassTable,
    strings: &StringTable,
    threads: &[u64],
) -> Result<HashMap<u64, String>, ReadError> {
    let fields = Fields { classes, strings };
    let end = dump.file_end();
    fields.names(threads, &mut |wanted| {
        let mut found = Objects::new(wanted, dump.budget());
        let mut ids: Vec<u64> = wanted.iter().copied().collect();
        ids.sort_unstable();
        for record in places.of(&ids) {
            dump.aim(record..end)?;
            while let Some(event) = dump.next_event()? {
                if event == Event::HeapEnd {
                    break;
                }
                found.event(&event, dump)?;
            }
        }
        Ok(found.by_id)
    })
}

/// The wanted instances and primitive arrays found so far, except large ones. If two have the same
/// id, the first is kept.
struct Objects<'w> {
    wanted: &'w HashSet<u64>,
    by_id: HashMap<u64, Object>,
    held_bytes: u64,
    budget: Budget,
}

impl<'w> Objects<'w> {
    fn new(wanted: &'w HashSet<u64>, budget: Budget) -> Self {
        Self {
            wanted,
            by_id: HashMap::new(),
            held_bytes: 0,
            budget,
        }
    }

    /// Examines the event that `dump` returned last.
    fn event(&mut self, event: &Event, dump: &mut DumpReader<'_>) -> Result<(), ReadError> {
        let Event::Heap(_, record) = event else {
            return Ok(());
        };
        let (id, class, elements, most) = match record {
            HeapRecord::Instance(instance) => {
                (instance.object, instance.class, None, INSTANCE_BYTES_MAX)
            }
            HeapRecord::PrimitiveArray(array) | HeapRecord::NoData(array) => {
                (array.object, 0, Some(array.kind), NAME_BYTES_MAX)
            }
            _ => return Ok(()),
        };
        let is_small = record.data_bytes(dump.header().id_bytes) <= most;
        if is_small && self.wanted.contains(&id) {
            let mut data = Vec::new();
            dump.read_data(&mut data)?;
            let bytes = data.len() as u64 + 2 * ENTRY_BYTES;
            self.held_bytes = self.held_bytes.saturating_add(bytes);
            self.budget.allow(self.held_bytes)?;
            let object = Object {
                class,
                elements,
                data,
            };
            self.by_id.entry(id).or_insert(object);
        }
        Ok(())
    }
}

impl Fields<'_> {
    /// The names of these threads; `find` returns the wanted objects that exist.
    fn names(
        &self,
        threads: &[u64],
        find: &mut Find<'_>,
    ) -> Result<HashMap<u64, String>, ReadError> {
        let wanted = threads.iter().copied().collect();
        let mut names: HashMap<u64, u64> = HashMap::new();
        for (thread, object) in find(&wanted)? {
            let name = self.value(&object, "java/lang/Thread", "name");
            names.extend(name.map(|name| (thread, name)));
        }
        let wanted: HashSet<u64> = names.values().copied().collect();
        let texts = find(&wanted)?;
        let value = |text: &Object| self.value(text, "java/lang/String", "value");
        let wanted: HashSet<u64> = texts.values().filter_map(value).collect();
        let arrays = find(&wanted)?;
        let text_of = |name: &u64| {
            let text = texts.get(name)?;
            // Up to early JDK 8, a thread's name is a char[].
            let (text, array) = match text.elements {
                Some(_) => (JavaText::default(), text),
                None => {
                    let field = |name: &str| self.value(text, "java/lang/String", name);
                    (JavaText::of(field), arrays.get(&value(text)?)?)
                }
            };
            let name = text.decoded(array.elements?, &array.data)?;
            Some(match is_redacted(&name) {
                true => REDACTED_NAME.to_owned(),
                false => name,
            })
        };
        let names = names.iter();
        Ok(names
            .filter_map(|(thread, name)| Some((*thread, text_of(name)?)))
            .collect())
    }

    /// The raw value of this class's field with this name, or `None`.
    fn value(&self, object: &Object, owner: &str, name: &str) -> Option<u64> {
        let mut places = self.classes.places(self.classes.index(object.class)?);
        let is_of = |class: u64| self.strings.is_class(class, owner);
        let field = places.find(|it| it.is_named(self.strings, name) && is_of(it.class.name));
        field?.value(&object.data)
    }
}
