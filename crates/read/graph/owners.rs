//! Who holds objects: the shortest path from a static field or another root, as classes.
//!
//! Objects whose paths lead over the same classes have the same owner, so that thousands of them
//! are a few rows. Paths are shared, because the paths of a long list have more steps in total than
//! the heap has objects.

use foldhash::HashMap;
use reader::RootKind;

use crate::class_facts::NONE;
use crate::error::GraphError;
use crate::heap::Heap;
use crate::search::Search;
use crate::step_links::Link;

/// Most classes of an owner. What lies deeper counts for the object at this depth.
const CLASSES_MAX: u32 = 12;

/// The owner of objects that are held in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Where the path begins.
    pub start: OwnerStart,
    /// The classes of the objects from there to the object, without its own; neighbours of the same
    /// class count once.
    pub classes: Vec<u32>,
    /// The root where the path begins, or one of the roots if paths over these classes begin at
    /// several.
    pub root: u32,
    /// Whether they begin at several.
    pub has_roots: bool,
}

/// Where the path to an object begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerStart {
    /// A static field: the class object, and the id of the field's name.
    Static(u32, u64),
    /// A class object, but no field of it: for example, its loader.
    Class(u32),
    /// A root that is no class.
    Root(RootKind),
    /// No path: only weak references lead to the object, or none.
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    /// A class object and the object after it.
    Static(u32, u32),
    Root(RootKind),
    Nothing,
    /// An object of this class.
    Of(u32),
}

#[derive(Clone, Copy, Debug)]
struct Node {
    above: u32,
    step: Step,
    depth: u32,
    /// See [`Owner::root`].
    root: u32,
    has_roots: bool,
}

/// The owners found so far.
pub(crate) struct Owners<'s, 'h, 'p> {
    heap: &'h Heap<'p>,
    search: &'s Search<'h, 'p>,
    nodes: Vec<Node>,
    known: HashMap<(u32, Step), u32>,
    /// The node of each object that was passed, and the root.
    passed: HashMap<u32, (u32, u32)>,
}

impl<'s, 'h, 'p> Owners<'s, 'h, 'p> {
    /// No owners yet; `search` has found the objects that will be asked for.
    pub(crate) fn new(heap: &'h Heap<'p>, search: &'s Search<'h, 'p>) -> Self {
        Self {
            heap,
            search,
            nodes: Vec::new(),
            known: HashMap::default(),
            passed: HashMap::default(),
        }
    }

    /// The number of an object's owner.
    pub(crate) fn of(&mut self, object: u32) -> u32 {
        let mut path = Vec::new();
        let (mut at, mut above, mut root) = (None, None, NONE);
        for passed in self.search.climb(object) {
            if let Some((node, its_root)) = self.passed.get(&passed).copied() {
                (at, above, root) = (Some(node), Some(passed), its_root);
                break;
            }
            path.push(passed);
            root = passed;
        }
        let owner = |at: Option<u32>, owners: &mut Self, root: u32| match at {
            Some(at) => at,
            None => {
                let kind = owners.heap.root_kind(root).unwrap_or(RootKind::Unknown);
                owners.node(NONE, Step::Root(kind), root)
            }
        };
        while let Some(passed) = path.pop() {
            // A class object starts a new path, so what leads to it does not matter.
            let start = above.filter(|above| self.heap.class_of_object(*above).is_some());
            let before = match start {
                Some(class) => self.node(NONE, Step::Static(class, passed), root),
                None => owner(at, self, passed),
            };
            if path.is_empty() {
                return before;
            }
            let node = self.node(before, Step::Of(self.heap.class(passed)), root);
            self.passed.insert(passed, (node, root));
            (at, above) = (Some(node), Some(passed));
        }
        // The object itself was passed on the way to another one, or there is no path.
        match at.and_then(|at| self.nodes.get(at as usize)) {
            Some(node) => node.above,
            None => self.node(NONE, Step::Nothing, NONE),
        }
    }

    /// The node of this step after another, on a path from this root.
    fn node(&mut self, above: u32, step: Step, root: u32) -> u32 {
        let before = self.nodes.get(above as usize);
        let depth = before.map_or(0, |before| before.depth + 1);
        if before.is_some_and(|before| before.step == step) || depth > CLASSES_MAX {
            return above;
        }
        let next = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        let nodes = &mut self.nodes;
        let found = *self.known.entry((above, step)).or_insert_with(|| {
            nodes.push(Node {
                above,
                step,
                depth,
                root,
                has_roots: false,
            });
            next
        });
        if let Some(node) = self.nodes.get_mut(found as usize) {
            node.has_roots |= node.root != root;
        }
        found
    }

    /// The owners with these numbers. Errors: the file cannot be read.
    pub(crate) fn resolve(&self, numbers: &[u32]) -> Result<Vec<Owner>, GraphError> {
        let outlines: Vec<_> = numbers.iter().map(|number| self.outline(*number)).collect();
        let pairs = outlines.iter().filter_map(|(start, _)| match start {
            Step::Static(class, next) => Some((*class, *next)),
            _ => None,
        });
        let links = self.heap.links(pairs)?;
        let node = |number: &u32| self.nodes.get(*number as usize);
        let owner = |((start, classes), number): (_, &u32)| Owner {
            root: node(number).map_or(NONE, |it| it.root),
            has_roots: node(number).is_some_and(|it| it.has_roots),
            start: match start {
                Step::Static(class, next) => match links.get(class, next) {
                    Some(Link::Static(field)) => OwnerStart::Static(class, field),
                    _ => OwnerStart::Class(class),
                },
                Step::Root(kind) => OwnerStart::Root(kind),
                Step::Nothing | Step::Of(_) => OwnerStart::Nothing,
            },
            classes,
        };
        Ok(outlines.into_iter().zip(numbers).map(owner).collect())
    }

    fn outline(&self, number: u32) -> (Step, Vec<u32>) {
        let (mut at, mut classes) = (number, Vec::new());
        while let Some(node) = self.nodes.get(at as usize) {
            match node.step {
                Step::Of(class) => classes.push(class),
                start => {
                    classes.reverse();
                    return (start, classes);
                }
            }
            at = node.above;
        }
        (Step::Nothing, classes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Input, Options, References};
    use sample::Dump;

    const APP: u64 = 0x2000;
    const NODE: u64 = 0x2100;

    #[test]
    fn a_static_field_starts_a_path_and_equal_neighbours_count_once() {
        let mut dump = Dump::new(8);
        dump.class(NODE, "app/Node", Dump::OBJECT, 0, &["next"], &[]);
        let statics = [("first", 0x3000), ("other", 0x4000)];
        dump.class(APP, "app/App", Dump::OBJECT, 0, &[], &statics);
        dump.root(APP);
        dump.object_array(0x3000, &[0x3100, 0x5000]);
        dump.instance(0x3100, NODE, &[0x3200]);
        dump.instance(0x3200, NODE, &[0x3300]);
        dump.instance(0x3300, NODE, &[0x5100]);
        dump.object_array(0x4000, &[0x5200]);
        // So does a shutdown hook, and after local variables.
        let hooks = "java/lang/ApplicationShutdownHooks";
        dump.class(0x2200, hooks, Dump::OBJECT, 0, &[], &[("hooks", 0x6000)]);
        dump.root(0x2200);
        dump.object_array(0x6000, &[0x5500, 0x5600]);
        dump.local(0x5500);
        let targets = [0x5000, 0x5100, 0x5200, 0x5300, 0x5400, 0x5500, 0x5600];
        for target in targets {
            dump.instance(target, Dump::OBJECT, &[]);
        }
        // A local variable counts only where no static field leads.
        dump.local(0x5200);
        dump.local(0x5400);
        let input = Input::new(dump.file(false), &|_| {}).unwrap();
        let heap = Heap::read(input, Options::default()).unwrap();
        let number = |id: u64| heap.object(id).unwrap();
        let targets = targets.map(number);
        let search = Search::until(&heap, &targets, References::Strong);
        let mut owners = Owners::new(&heap, &search);
        let numbers = targets.map(|target| owners.of(target));
        let found: Vec<(String, Vec<String>)> = owners
            .resolve(&numbers)
            .unwrap()
            .into_iter()
            .map(|owner| {
                let start = match owner.start {
                    OwnerStart::Static(_, field) => {
                        heap.directory().strings.text(field).unwrap().into_owned()
                    }
                    other => format!("{other:?}"),
                };
                let classes = owner.classes.iter().map(|class| heap.class_name(*class));
                (start, classes.collect())
            })
            .collect();
        let array = "java.lang.Object[]".to_owned();
        let node = "app.Node".to_owned();
        let thread = vec!["java.lang.Thread".to_owned()];
        assert_eq!(
            found,
            [
                ("first".to_owned(), vec![array.clone()]),
                ("first".to_owned(), vec![array.clone(), node]),
                ("other".to_owned(), vec![array.clone()]),
                ("Nothing".to_owned(), vec![]),
                ("Root(ThreadObject)".to_owned(), thread.clone()),
                ("Root(ThreadObject)".to_owned(), thread),
                ("hooks".to_owned(), vec![array]),
            ]
        );
    }
}
