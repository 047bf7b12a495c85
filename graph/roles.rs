//! The role of the JDK's classes in the search for waste: strings, boxed numbers, collections.

use format::BasicType;
use reader::{Class, ClassTable, Layout, StringTable};

use crate::heap::Heap;

/// A field's position in the bytes of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: u32,
    pub(crate) kind: BasicType,
}

/// The role of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A string: its array, and since JDK 9 the encoding of its characters.
    Text { array: Place, coder: Option<Place> },
    /// A boxed number, character or truth value.
    Boxed,
    /// A collection: its number of elements, and the array that contains them.
    Collection {
        size: Option<Place>,
        array: Option<Place>,
    },
    /// A collection that wraps another one.
    Wrapper { inner: Place },
    /// Anything else.
    Other,
}

/// The collections of the JDK: class, field of the size, field of the array. Without a size field,
/// the size is the number of elements in the array.
const COLLECTIONS: [(&str, &str, &str); 12] = [
    ("java/util/ArrayList", "size", "elementData"),
    ("java/util/Vector", "elementCount", "elementData"),
    ("java/util/ArrayDeque", "", "elements"),
    ("java/util/PriorityQueue", "size", "queue"),
    ("java/util/LinkedList", "size", ""),
    ("java/util/HashMap", "size", "table"),
    ("java/util/Hashtable", "count", "table"),
    ("java/util/WeakHashMap", "size", "table"),
    ("java/util/IdentityHashMap", "size", "table"),
    ("java/util/TreeMap", "size", ""),
    (
        "java/util/concurrent/ConcurrentHashMap",
        "baseCount",
        "table",
    ),
    ("java/util/concurrent/CopyOnWriteArrayList", "", "array"),
];

/// Collections that store their elements in another one: class, its field. `Properties` is one
/// since JDK 9.
const WRAPPERS: [(&str, &str); 4] = [
    ("java/util/HashSet", "map"),
    ("java/util/TreeSet", "m"),
    ("java/util/Properties", "map"),
    ("java/util/concurrent/CopyOnWriteArraySet", "al"),
];

/// The classes of numbers, characters and truth values.
const BOXES: [&str; 8] = [
    "java/lang/Boolean",
    "java/lang/Byte",
    "java/lang/Character",
    "java/lang/Double",
    "java/lang/Float",
    "java/lang/Integer",
    "java/lang/Long",
    "java/lang/Short",
];

/// The role of each class by its number.
pub(crate) fn roles(heap: &Heap<'_>) -> Vec<Role> {
    let directory = heap.directory();
    let finder = Finder {
        table: &directory.classes,
        strings: &directory.strings,
        id_bytes: heap.header().id_bytes,
    };
    let count = usize::try_from(heap.classes()).unwrap_or(usize::MAX);
    (0..count).map(|class| finder.role(class)).collect()
}

struct Finder<'h> {
    table: &'h ClassTable,
    strings: &'h StringTable,
    id_bytes: u32,
}

impl Finder<'_> {
    /// The role of the class itself, or of its nearest superclass that has one.
    fn role(&self, class: usize) -> Role {
        if !matches!(self.table.layout(class), Layout::Complete { .. }) {
            return Role::Other;
        }
        let mut at = 0;
        for class in self.table.chain(class) {
            if class.loader == 0 {
                if let Some(role) = self.own_role(class, at) {
                    return role;
                }
            }
            let own = u32::try_from(class.own_bytes(self.id_bytes)).unwrap_or(u32::MAX);
            at = at.saturating_add(own);
        }
        Role::Other
    }

    /// The role of this class itself, whose fields start at `at`.
    fn own_role(&self, class: &Class, at: u32) -> Option<Role> {
        let is = |name: &str| self.strings.is_class(class.name, name);
        let place = |name: &str| self.place(class, at, name);
        if is("java/lang/String") {
            // Up to JDK 6, strings shared arrays, each using a part.
            let shares = place("offset").is_some();
            return place("value").filter(|_| !shares).map(|array| Role::Text {
                array,
                coder: place("coder"),
            });
        }
        if BOXES.iter().any(|name| is(name)) {
            return Some(Role::Boxed);
        }
        let mut wrappers = WRAPPERS.iter().filter(|(name, _)| is(name));
        if let Some(inner) = wrappers.find_map(|(_, field)| place(field)) {
            return Some(Role::Wrapper { inner });
        }
        let (_, size, array) = COLLECTIONS.iter().find(|(name, _, _)| is(name))?;
        let (size, array) = (place(size), place(array));
        (size.is_some() || array.is_some()).then_some(Role::Collection { size, array })
    }

    fn place(&self, class: &Class, at: u32, name: &str) -> Option<Place> {
        let mut offset = at;
        for field in &class.fields {
            if self.strings.bytes(field.name) == Some(name.as_bytes()) {
                return Some(Place {
                    offset,
                    kind: field.kind,
                });
            }
            offset = offset.saturating_add(field.kind.size_bytes(self.id_bytes));
        }
        None
    }
}

impl Place {
    /// The value in an instance's data as raw bits; 0 if the data is too short.
    pub(crate) fn value(self, data: &[u8], id_bytes: u32) -> u64 {
        let start = self.offset as usize;
        let end = start + self.kind.size_bytes(id_bytes) as usize;
        let bytes = data.get(start..end).unwrap_or_default();
        bytes
            .iter()
            .fold(0, |value, byte| (value << 8) | u64::from(*byte))
    }
}
