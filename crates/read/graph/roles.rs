//! The role of the JDK's classes in the search for waste: strings, boxed numbers, collections.

use reader::{Class, ClassTable, FieldPlace, Layout, StringTable};

use crate::heap::Heap;

/// The role of a class.
#[derive(Clone, Debug)]
pub(crate) enum Role<'h> {
    /// A string: its array, and since JDK 9 the encoding of its characters.
    Text {
        array: FieldPlace<'h>,
        coder: Option<FieldPlace<'h>>,
    },
    /// A boxed number, character or truth value.
    Boxed,
    /// A collection: its number of elements, and the array that contains them.
    Collection {
        size: Option<FieldPlace<'h>>,
        array: Option<FieldPlace<'h>>,
    },
    /// A collection that wraps another one.
    Wrapper { inner: FieldPlace<'h> },
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
pub(crate) fn roles<'h>(heap: &'h Heap<'_>) -> Vec<Role<'h>> {
    let directory = heap.directory();
    let finder = Finder {
        table: &directory.classes,
        strings: &directory.strings,
    };
    let count = usize::try_from(heap.classes()).unwrap_or(usize::MAX);
    (0..count).map(|class| finder.role(class)).collect()
}

struct Finder<'h> {
    table: &'h ClassTable,
    strings: &'h StringTable,
}

impl<'h> Finder<'h> {
    /// The role of the class itself, or of its nearest superclass that has one.
    fn role(&self, class: usize) -> Role<'h> {
        if !matches!(self.table.layout(class), Layout::Complete { .. }) {
            return Role::Other;
        }
        let mut chain = self.table.chain(class).filter(|it| it.loader == 0);
        let role = chain.find_map(|declaring| self.own_role(class, declaring));
        role.unwrap_or(Role::Other)
    }

    /// The role that a class has by one that it is or extends.
    fn own_role(&self, class: usize, declaring: &Class) -> Option<Role<'h>> {
        let is = |name: &str| self.strings.is_class(declaring.name, name);
        let place = |name: &str| {
            let mut places = self.table.places(class);
            places.find(|it| it.is_named(self.strings, name) && it.class.id == declaring.id)
        };
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
}
