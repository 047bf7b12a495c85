//! Hash tables that are none of the JDK, known by their form: an array of nodes, each with a key, a
//! value, and a next node.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::heap::Heap;

/// The start of the name of a node's field that has the next one.
const NEXT: &[u8] = b"next";

/// Names of the fields of a node that have what is in it.
const KEY: &str = "key";
const VALUES: [&str; 2] = ["value", "val"];

/// A table may be in a segment of a map.
const LEVELS: usize = 2;

/// The classes of a heap.
struct Classes<'a, 'p> {
    heap: &'a Heap<'p>,
    /// Their names, by number.
    names: &'a [String],
    /// The class of arrays of objects of a class, by that one's name.
    arrays: FxHashMap<&'a str, Vec<u32>>,
}

/// The classes of nodes, tables and maps among those of the program that `is_own` tells, all with
/// these names.
pub(crate) fn own_maps(
    heap: &Heap<'_>,
    names: &[String],
    is_own: impl Fn(u32) -> bool,
) -> FxHashSet<u32> {
    let mut arrays: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
    for (class, name) in (0..).zip(names) {
        if let Some(element) = name.strip_suffix("[]") {
            arrays.entry(element).or_default().push(class);
        }
    }
    let classes = Classes {
        heap,
        names,
        arrays,
    };
    let own = (0..heap.classes()).filter(|class| is_own(*class));
    let mut inner: Vec<u32> = own.filter(|class| classes.is_node(*class)).collect();
    let mut found: FxHashSet<u32> = inner.iter().copied().collect();
    for _ in 0..LEVELS {
        let tables: FxHashSet<u32> = inner.iter().flat_map(|it| classes.arrays_of(*it)).collect();
        let packages: FxHashSet<&str> = inner.iter().map(|it| classes.package(*it)).collect();
        let may_hold = |class: u32| {
            is_own(class) && !found.contains(&class) && packages.contains(classes.package(class))
        };
        inner = classes.holders(&tables, &may_hold);
        found.extend(&inner);
    }
    found
}

impl<'a> Classes<'a, '_> {
    /// Whether objects of a class have a key, a value and a next one, and there are arrays of them.
    fn is_node(&self, class: u32) -> bool {
        let directory = self.heap.directory();
        let strings = &directory.strings;
        let has = |is: &dyn Fn(&[u8]) -> bool| {
            let mut places = directory.classes.places(class as usize);
            places.any(|it| strings.bytes(it.field.name).is_some_and(is))
        };
        has(&|name| name.starts_with(NEXT))
            && has(&|name| name == KEY.as_bytes())
            && has(&|name| VALUES.iter().any(|it| name == it.as_bytes()))
            && self.arrays_of(class).next().is_some()
    }

    /// The classes of arrays of a class, or one that it extends.
    fn arrays_of(&self, class: u32) -> impl Iterator<Item = u32> + '_ {
        let table = &self.heap.directory().classes;
        let chain = table.chain(class as usize);
        let names = chain.map(|it| table.java_name(it.id, &self.heap.directory().strings));
        let own = names.take_while(|name| name != "java.lang.Object");
        own.flat_map(|name| {
            self.arrays
                .get(name.as_str())
                .into_iter()
                .flatten()
                .copied()
        })
    }

    fn package(&self, class: u32) -> &'a str {
        let name = self.names.get(class as usize);
        let package = name.and_then(|name| name.rsplit_once('.'));
        package.map_or("", |(package, _)| package)
    }

    /// The classes of the objects that refer to such arrays.
    fn holders(&self, arrays: &FxHashSet<u32>, may_hold: &dyn Fn(u32) -> bool) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        if arrays.is_empty() {
            return found;
        }
        for object in self.heap.objects_of(may_hold) {
            let class = self.heap.class(object);
            let mut targets = self.heap.targets(object).iter();
            let is_one = |it: &u32| arrays.contains(&self.heap.class(*it));
            if !found.contains(&class) && targets.any(is_one) {
                found.push(class);
            }
        }
        found
    }
}
