//! The names of threads, read from the thread objects.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read};

use format::BasicType;

use crate::budget::{Budget, ENTRY_BYTES};
use crate::classes::ClassTable;
use crate::dump::{DumpReader, Event};
use crate::error::ReadError;
use crate::heap_record::HeapRecord;
use crate::strings::StringTable;

/// Longest name read, in bytes of its array.
const NAME_BYTES_MAX: u64 = 4096;

/// Largest instance that is read; threads and strings are far smaller.
const INSTANCE_BYTES_MAX: u64 = 1 << 16;

/// Opens the file again for each pass.
type Open<'o, 'r> = dyn FnMut() -> io::Result<Box<dyn Read + 'r>> + 'o;

/// An object's data as in the file.
#[derive(Debug)]
struct Object {
    /// Class of an instance; 0 for an array.
    class: u64,
    /// Type of a primitive array's elements.
    elements: Option<BasicType>,
    data: Vec<u8>,
}

/// The inputs for looking names up.
#[derive(Clone, Copy, Debug)]
struct Fields<'a> {
    classes: &'a ClassTable,
    strings: &'a StringTable,
    id_bytes: u32,
}

/// Names of thread objects by id: the field `name` of `java.lang.Thread`, then `value` of `java.lang.String`.
///
/// Reads the file three times, because objects come in any order; `open` as in [`crate::check()`]. `classes`
/// and `strings` come from [`crate::summarize`]. A name that cannot be found is omitted. Errors: I/O only.
pub fn thread_names(
    open: &mut Open<'_, '_>,
    classes: &mut ClassTable,
    strings: &StringTable,
    threads: &[u64],
    budget: Budget,
) -> Result<HashMap<u64, String>, ReadError> {
    let mut first = reader(open, budget)?;
    let id_bytes = first.header().id_bytes;
    classes.resolve(id_bytes);
    let fields = Fields {
        classes,
        strings,
        id_bytes,
    };
    let wanted = threads.iter().copied().collect();
    let mut names: HashMap<u64, u64> = HashMap::new();
    for (thread, object) in objects(&mut first, &wanted)? {
        names.extend(
            fields
                .value(&object, "java/lang/Thread", "name")
                .map(|name| (thread, name)),
        );
    }
    let wanted = names.values().copied().collect();
    let texts = objects(&mut reader(open, budget)?, &wanted)?;
    let values = |text: &Object| fields.value(text, "java/lang/String", "value");
    let wanted = texts.values().filter_map(values).collect();
    let arrays = objects(&mut reader(open, budget)?, &wanted)?;
    let text_of = |name: &u64| {
        let text = texts.get(name)?;
        let coder = fields.value(text, "java/lang/String", "coder");
        decoded(arrays.get(&values(text)?)?, coder)
    };
    Ok(names
        .iter()
        .filter_map(|(thread, name)| Some((*thread, text_of(name)?)))
        .collect())
}

fn reader<'r>(open: &mut Open<'_, 'r>, budget: Budget) -> Result<DumpReader<'r>, ReadError> {
    let opened = open().map_err(|source| ReadError::Io { offset: 0, source })?;
    Ok(DumpReader::new(opened)?.with_budget(budget))
}

/// One pass: the data of the wanted instances and primitive arrays, unless they are too large.
fn objects(
    dump: &mut DumpReader<'_>,
    wanted: &HashSet<u64>,
) -> Result<HashMap<u64, Object>, ReadError> {
    let id_bytes = dump.header().id_bytes;
    let mut found = HashMap::new();
    let mut held_bytes = 0_u64;
    if wanted.is_empty() {
        return Ok(found);
    }
    while let Some(event) = dump.next_event()? {
        let Event::Heap(_, record) = event else {
            continue;
        };
        let (id, class, elements, most) = match &record {
            HeapRecord::Instance(instance) => {
                (instance.object, instance.class, None, INSTANCE_BYTES_MAX)
            }
            HeapRecord::PrimitiveArray(array) => {
                (array.object, 0, Some(array.kind), NAME_BYTES_MAX)
            }
            _ => continue,
        };
        if record.data_bytes(id_bytes) <= most && wanted.contains(&id) {
            let mut data = Vec::new();
            dump.read_data(&mut data)?;
            held_bytes = held_bytes.saturating_add(data.len() as u64 + 2 * ENTRY_BYTES);
            dump.budget().allow(held_bytes)?;
            let object = Object {
                class,
                elements,
                data,
            };
            found.entry(id).or_insert(object);
        }
    }
    Ok(found)
}

impl Fields<'_> {
    /// The raw value of this class's field with this name, or `None`.
    fn value(&self, object: &Object, owner: &str, name: &str) -> Option<u64> {
        let mut rest = object.data.as_slice();
        for class in self.classes.chain(self.classes.index(object.class)?) {
            let is_owner = self.strings.is_class(class.name, owner);
            for field in &class.fields {
                let size = field.kind.size_bytes(self.id_bytes) as usize;
                let (value, after) = rest.split_at_checked(size)?;
                rest = after;
                if is_owner && self.strings.bytes(field.name) == Some(name.as_bytes()) {
                    return Some(
                        value
                            .iter()
                            .fold(0, |number, byte| (number << 8) | u64::from(*byte)),
                    );
                }
            }
        }
        None
    }
}

/// The text in a string's array: `char[]` until JDK 8; since then Latin-1 bytes, or UTF-16 if the coder is 1.
fn decoded(array: &Object, coder: Option<u64>) -> Option<String> {
    let pairs = array.data.chunks_exact(2);
    // HotSpot writes a char[] as chars, but a byte[] in the machine's byte order: little-endian on all but a
    // few.
    let from = |order: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = pairs
            .filter_map(|pair| pair.try_into().ok().map(order))
            .collect();
        String::from_utf16_lossy(&units)
    };
    match (array.elements?, coder) {
        (BasicType::Char, _) => Some(from(u16::from_be_bytes)),
        (BasicType::Byte, Some(1)) => Some(from(u16::from_le_bytes)),
        (BasicType::Byte, _) => Some(array.data.iter().copied().map(char::from).collect()),
        _ => None,
    }
}
