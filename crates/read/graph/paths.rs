//! How an object is kept alive: a short path from a root, through what lasts if there is such a
//! path.

use reader::RootKind;
use rustc_hash::FxHashMap;

use crate::class_facts::{References, NONE};
use crate::error::GraphError;
use crate::heap::Heap;
use crate::search::Search;
use crate::step_links::{Link, Links};

/// The most steps that are worth showing: a third of them from the root, the rest towards the
/// target.
pub const PATH_STEPS: usize = 36;

/// The class of the entries in a thread's map of its thread local variables.
const THREAD_LOCAL_ENTRY: &str = "java.lang.ThreadLocal$ThreadLocalMap$Entry";

/// An object on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The object.
    pub object: u32,
    /// How the object before it refers to it; `None` for the first.
    pub link: Option<Link>,
}

/// The middle of a long path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Number of steps shown before it.
    pub behind: usize,
    /// Number of objects left out.
    pub objects: u64,
    /// The most frequent class among them.
    pub class: u32,
    /// Number of objects of that class.
    pub of_class: u64,
}

/// A path from a root to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The root first, the target last; a long path has only both ends.
    pub steps: Vec<Step>,
    /// The part left out between them.
    pub left_out: Option<LeftOut>,
    /// The static field nearest to the target, even if it is left out: the class object, and the id
    /// of the field's name.
    pub static_field: Option<(u32, u64)>,
    /// Why the first object is a root.
    pub root: RootKind,
    /// The frame of the thread at the start that holds the second object, 0 for the top; `None` if
    /// no frame does, or the file does not say which.
    pub frame: Option<u32>,
    /// The thread local variable in whose value it leads, even if it is left out.
    pub thread_local: Option<u32>,
    /// Whether it contains a reference that does not keep its target alive. Such a path is returned
    /// only if there is no other.
    pub is_weak: bool,
}

/// A path whose references are not yet known.
struct Outline {
    /// Each object, and the one before it.
    steps: Vec<(Option<u32>, u32)>,
    left_out: Option<LeftOut>,
    /// The class objects on it, nearest to the target first, and the object after each.
    classes: Vec<(u32, u32)>,
    root: RootKind,
    frame: Option<u32>,
    thread_local: Option<u32>,
    is_weak: bool,
}

impl Outline {
    /// The path over these objects, shortened to `most` steps. `None` if it has no root.
    fn new(heap: &Heap<'_>, objects: &[u32], is_weak: bool, most: usize) -> Option<Self> {
        let pairs = objects.windows(2).rev().filter_map(|pair| match pair {
            [from, to] => Some((*from, *to)),
            _ => None,
        });
        let classes = pairs.filter(|(from, _)| heap.class_of_object(*from).is_some());
        let mut head = (most / 3).max(1);
        // What holds a long run of nodes says more than some of them.
        let middle = objects.get(head..objects.len().saturating_sub(most.saturating_sub(head)));
        let middle = middle.filter(|middle| !middle.is_empty());
        if let Some(run) = middle.map(|middle| LeftOut::of(heap, middle, head).class) {
            let rest = objects.iter().skip(head).take(most / 3);
            let before = rest.take_while(|object| heap.class(**object) != run);
            let before = before.count();
            head += before * usize::from(before < most / 3);
        }
        let tail = most.saturating_sub(head).max(1);
        let mut behind = objects.len().saturating_sub(tail);
        // A gap of one object would take as much space as the object.
        if behind <= head + 1 {
            behind = head;
        }
        let middle = objects.get(head..behind).unwrap_or_default();
        let left_out = (!middle.is_empty()).then(|| LeftOut::of(heap, middle, head));
        let steps = objects.iter().enumerate();
        let steps = steps.filter(|(place, _)| !(head..behind).contains(place));
        let steps = steps.map(|(place, object)| {
            let above = place.checked_sub(1).and_then(|above| objects.get(above));
            (above.copied(), *object)
        });
        Some(Self {
            steps: steps.collect(),
            left_out,
            classes: classes.collect(),
            root: heap.root_kind(*objects.first()?)?,
            frame: frame(heap, objects),
            thread_local: thread_local(heap, objects),
            is_weak,
        })
    }

    /// The references whose fields are needed.
    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let steps = self.steps.iter();
        let steps = steps.filter_map(|(from, to)| Some(((*from)?, *to)));
        steps.chain(self.classes.iter().copied())
    }

    fn path(self, links: &Links) -> Path {
        let field = |(from, to): &(u32, u32)| match links.get(*from, *to) {
            Some(Link::Static(name)) => Some((*from, name)),
            _ => None,
        };
        let step = |(from, object): &(Option<u32>, u32)| Step {
            object: *object,
            link: from.map(|from| links.get(from, *object).unwrap_or(Link::OfClass)),
        };
        Path {
            steps: self.steps.iter().map(step).collect(),
            left_out: self.left_out,
            static_field: self.classes.iter().find_map(field),
            root: self.root,
            frame: self.frame,
            thread_local: self.thread_local,
            is_weak: self.is_weak,
        }
    }
}

/// The frame of the first object, a thread, that holds the second.
fn frame(heap: &Heap<'_>, objects: &[u32]) -> Option<u32> {
    let (thread, held) = (objects.first()?, objects.get(1)?);
    let mut locals = heap.locals(*thread).iter();
    locals.find_map(|local| local.frame.filter(|_| local.object == *held))
}

/// The key of the first entry of a thread's map on the way.
fn thread_local(heap: &Heap<'_>, objects: &[u32]) -> Option<u32> {
    let is_entry = |object: &&u32| heap.class_name(heap.class(**object)) == THREAD_LOCAL_ENTRY;
    // A thread, its map, the map's table, an entry.
    let entry = objects.iter().take(4).find(is_entry)?;
    let (_, key) = heap.graph(References::All).implied(*entry);
    key
}

impl LeftOut {
    fn of(heap: &Heap<'_>, objects: &[u32], behind: usize) -> Self {
        let mut classes: FxHashMap<u32, u64> = FxHashMap::default();
        for object in objects {
            *classes.entry(heap.class(*object)).or_default() += 1;
        }
        let most = classes
            .into_iter()
            .max_by_key(|(class, count)| (*count, *class));
        let (class, of_class) = most.unwrap_or((NONE, 0));
        Self {
            behind,
            objects: objects.len() as u64,
            class,
            of_class,
        }
    }
}

impl Heap<'_> {
    /// A path from a root to each of these objects, using only references that keep objects alive
    /// if possible; `None` for unreachable objects. Of all paths it is the shortest that no thread
    /// is on, else the shortest through a field of a thread, else through a frame. Each path is
    /// shortened to `most` steps.
    ///
    /// Errors: the file cannot be read.
    pub fn paths(&self, objects: &[u32], most: usize) -> Result<Vec<Option<Path>>, GraphError> {
        let mut search = Search::new(self, References::Strong);
        self.paths_by(&mut search, objects, most)
    }

    /// The same with a search by strong references, which goes on from where it is.
    pub(crate) fn paths_by(
        &self,
        strong: &mut Search<'_, '_>,
        objects: &[u32],
        most: usize,
    ) -> Result<Vec<Option<Path>>, GraphError> {
        let outline = |search: &Search<'_, '_>, object: u32, is_weak: bool| {
            Outline::new(self, &search.to(object), is_weak, most)
        };
        strong.find(objects);
        let all = objects.iter().map(|object| outline(strong, *object, false));
        let mut found: Vec<Option<Outline>> = all.collect();
        if found.iter().any(Option::is_none) {
            let search = Search::until(self, objects, References::All);
            for (object, path) in objects.iter().zip(&mut found) {
                if path.is_none() {
                    *path = outline(&search, *object, true);
                }
            }
        }
        let pairs = found.iter().flatten().flat_map(Outline::pairs);
        let links = self.links(pairs)?;
        let path = |outline: Option<Outline>| outline.map(|outline| outline.path(&links));
        Ok(found.into_iter().map(path).collect())
    }

    /// Why an object is a root of the whole heap; `None` if it is not.
    pub fn root_kind(&self, object: u32) -> Option<RootKind> {
        let place = self
            .roots()
            .binary_search_by_key(&object, |root| root.object);
        self.roots().get(place.ok()?).map(|root| root.kind)
    }
}
