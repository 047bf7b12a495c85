//! The paths to suspects, and what they say: holders, ways, contents.

use crate::accumulation::is_less;
use crate::class_facts::References;
use crate::error::GraphError;
use crate::finder::Finder;
use crate::heap::Heap;
use crate::leaks::Leaks;
use crate::paths::{Path, Step};
use crate::retained::Dominator;
use crate::suspect::Suspect;
use crate::way::Way;

/// The class of the entries of a weak map.
const WEAK_ENTRY: &str = "java.util.WeakHashMap$Entry";

/// Most steps below an element.
const CONTENTS_MAX: usize = 5;

/// A child that retains less than three tenths of its parent's bytes does not fill it.
const FILLS: (u64, u64) = (3, 10);

/// Most steps of a suspect's path.
pub(crate) const STEPS_MAX: usize = 18;

impl Leaks {
    pub(crate) fn add_paths(&mut self, finder: &Finder<'_, '_>) -> Result<(), GraphError> {
        let (heap, structure) = (finder.heap, &finder.structure);
        let ends = |suspect: &Suspect| {
            let end = suspect.accumulation.or(suspect.typical);
            [end, suspect.example_object()]
        };
        let buffers = self.native.iter().map(|native| native.group.example);
        let wanted = self.suspects.iter().flat_map(ends).flatten();
        let wanted: Vec<u32> = wanted.chain(buffers).collect();
        let mut paths = heap.paths(&wanted, STEPS_MAX)?.into_iter();
        for suspect in &mut self.suspects {
            let [end, example] = ends(suspect);
            suspect.path = end.and_then(|_| paths.next().flatten());
            suspect.example = example.and_then(|_| paths.next().flatten());
            let target = suspect.held.elements.map(|elements| elements.class);
            let way = suspect.main_path();
            let way = way.map(|path| Way::of(heap, structure, path, target));
            suspect.way = way.unwrap_or_default();
            let path = suspect.main_path();
            suspect.keeps_its_key = path.is_some_and(|path| finder.keeps_its_key(path));
        }
        for native in &mut self.native {
            native.path = paths.next().flatten();
            let way = native.path.as_ref();
            let way = way.map(|path| Way::of(heap, structure, path, Some(native.group.class)));
            native.way = way.unwrap_or_default();
        }
        self.add_other_holders(finder)?;
        self.add_contents(finder)?;
        self.name_thread_locals(heap)
    }

    /// Finds a second path to elements that their first holder does not dominate.
    fn add_other_holders(&mut self, finder: &Finder<'_, '_>) -> Result<(), GraphError> {
        let other = |suspect: &Suspect| {
            let path = suspect.example.as_ref()?.steps.as_slice();
            let [.., before, last] = path else {
                return None;
            };
            let dominator = finder.retained.dominator(last.object);
            let is_alone = dominator == Dominator::Object(before.object);
            (!is_alone).then(|| finder.other_referrer(last.object, before.object))?
        };
        let others: Vec<Option<u32>> = self.suspects.iter().map(other).collect();
        let wanted: Vec<u32> = others.iter().copied().flatten().collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let mut paths = finder.heap.paths(&wanted, STEPS_MAX)?.into_iter();
        for (suspect, _) in self
            .suspects
            .iter_mut()
            .zip(others)
            .filter(|(_, it)| it.is_some())
        {
            let first = suspect.main_path().and_then(|path| path.static_field);
            let other = paths.next().flatten().and_then(|path| path.static_field);
            suspect.also = other.filter(|other| Some(*other) != first);
        }
        Ok(())
    }

    /// Descends from each example to what it mostly holds.
    fn add_contents(&mut self, finder: &Finder<'_, '_>) -> Result<(), GraphError> {
        let ways: Vec<Vec<u32>> = self.suspects.iter().map(|it| finder.contents(it)).collect();
        let pairs = ways.iter().flat_map(|way| way.windows(2));
        let pairs = pairs.filter_map(|two| match two {
            [from, to] => Some((*from, *to)),
            _ => None,
        });
        let links = finder.heap.links(pairs)?;
        for (suspect, way) in self.suspects.iter_mut().zip(&ways) {
            let befores = std::iter::once(None).chain(way.iter().map(|object| Some(*object)));
            let steps = befores.zip(way).map(|(before, object)| Step {
                object: *object,
                link: before.and_then(|before| links.get(before, *object)),
            });
            suspect.contents = steps.collect();
        }
        Ok(())
    }

    fn name_thread_locals(&mut self, heap: &Heap<'_>) -> Result<(), GraphError> {
        let key = |suspect: &Suspect| suspect.main_path().and_then(|path| path.thread_local);
        let keys: Vec<u32> = self.suspects.iter().filter_map(key).collect();
        if keys.is_empty() {
            return Ok(());
        }
        let mut paths = heap.paths(&keys, STEPS_MAX)?.into_iter();
        for suspect in &mut self.suspects {
            if key(suspect).is_some() {
                let path = paths.next().flatten();
                suspect.thread_local = path.and_then(|path| path.static_field);
            }
        }
        Ok(())
    }
}

impl Finder<'_, '_> {
    /// Whether a path leads over the value of a weak map's entry that also holds the entry's key.
    fn keeps_its_key(&self, path: &Path) -> bool {
        let class = |step: &Step| self.heap.class_name(self.heap.class(step.object));
        let mut pairs = path.steps.windows(2);
        let entry = pairs.find(|two| two.first().is_some_and(|it| class(it) == WEAK_ENTRY));
        let Some([entry, value]) = entry else {
            return false;
        };
        let (_, key) = self.heap.graph(References::All).implied(entry.object);
        let is_key = |step: &Step| Some(step.object) == key;
        let mut above = key
            .into_iter()
            .flat_map(|key| self.retained.dominators(key));
        path.steps.iter().any(is_key) || above.any(|at| at == value.object)
    }

    /// The first object but this one that refers to an object.
    fn other_referrer(&self, object: u32, but: u32) -> Option<u32> {
        let graph = self.heap.graph(References::Strong);
        let mut all = (0..self.heap.objects()).filter(|from| *from != but);
        all.find(|from| graph.edges.of(*from).contains(&object))
    }

    /// One of the elements and what mostly fills it, from outside in.
    fn contents(&self, suspect: &Suspect) -> Vec<u32> {
        let Some(elements) = suspect.held.elements else {
            return Vec::new();
        };
        let below = |object: &u32| {
            let child = self.retained.largest_dominated(*object)?;
            let (bytes, all) = (self.retained.bytes(child), self.retained.bytes(*object));
            (!is_less(bytes, FILLS, all)).then_some(child)
        };
        let way = std::iter::successors(Some(elements.example), below);
        way.take(CONTENTS_MAX).collect()
    }
}
