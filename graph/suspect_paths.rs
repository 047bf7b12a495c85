//! The paths to suspects, and what they say: holders, ways, contents.

use crate::accumulation::is_less;
use crate::class_facts::References;
use crate::error::GraphError;
use crate::finder::Finder;
use crate::heap::Heap;
use crate::leaks::Leaks;
use crate::paths::{Path, Step};
use crate::search::Search;
use crate::step_links::Link;
use crate::suspect::{Suspect, STEPS_MAX};
use crate::way::Way;

/// The class of the entries of a weak map.
const WEAK_ENTRY: &str = "java.util.WeakHashMap$Entry";

/// Most steps below an element.
const CONTENTS_MAX: usize = 5;

/// A child that retains less than three tenths of its parent's bytes does not fill it.
const FILLS: (u64, u64) = (3, 10);

/// Most objects that refer to an element and are asked who holds them.
const HOLDERS_MAX: usize = 4;

/// The objects to which a suspect's paths lead.
struct Ends {
    /// The accumulation point, or the typical object.
    end: Option<u32>,
    /// One of the elements.
    example: Option<u32>,
    /// Objects that refer to it.
    others: Vec<u32>,
}

impl Ends {
    fn all(&self) -> impl Iterator<Item = u32> + '_ {
        let ends = self.end.into_iter().chain(self.example);
        ends.chain(self.others.iter().copied())
    }
}

impl Leaks {
    pub(crate) fn add_paths(
        &mut self,
        finder: &Finder<'_, '_>,
        search: &mut Search<'_, '_>,
    ) -> Result<(), GraphError> {
        let (heap, structure) = (finder.heap, &finder.structure);
        let ends: Vec<Ends> = self.suspects.iter().map(|it| finder.ends(it)).collect();
        let buffers = self.native.iter().map(|native| native.group.example);
        let wanted: Vec<u32> = ends.iter().flat_map(Ends::all).chain(buffers).collect();
        let mut paths = heap.paths_by(search, &wanted, STEPS_MAX)?.into_iter();
        for (suspect, ends) in self.suspects.iter_mut().zip(ends) {
            suspect.path = ends.end.and_then(|_| paths.next().flatten());
            suspect.example = ends.example.and_then(|_| paths.next().flatten());
            let others: Vec<Path> = paths.by_ref().take(ends.others.len()).flatten().collect();
            let Some(path) = suspect.main_path() else {
                continue;
            };
            let target = suspect.held.elements.map(|elements| elements.class);
            let lasting = others.iter().filter(|other| !other.is_weak);
            let fields = lasting.filter_map(|other| other.static_field);
            let also = fields
                .filter(|field| Some(*field) != path.static_field)
                .min();
            let way = Way::of(heap, structure, path, target);
            let keeps_its_key = finder.keeps_its_key(path);
            (suspect.way, suspect.also, suspect.keeps_its_key) = (way, also, keeps_its_key);
        }
        for native in &mut self.native {
            native.path = paths.next().flatten();
            let way = native.path.as_ref();
            let way = way.map(|path| Way::of(heap, structure, path, Some(native.group.class)));
            native.way = way.unwrap_or_default();
        }
        self.add_contents(finder)?;
        self.name_thread_locals(heap, search)
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

    fn name_thread_locals(
        &mut self,
        heap: &Heap<'_>,
        search: &mut Search<'_, '_>,
    ) -> Result<(), GraphError> {
        let key = |suspect: &Suspect| suspect.main_path().and_then(|path| path.thread_local);
        let keys: Vec<u32> = self.suspects.iter().filter_map(key).collect();
        if keys.is_empty() {
            return Ok(());
        }
        let mut paths = heap.paths_by(search, &keys, STEPS_MAX)?.into_iter();
        for suspect in &mut self.suspects {
            if key(suspect).is_some() {
                let path = paths.next().flatten();
                suspect.thread_local = path.and_then(|path| match path.steps.last()?.link {
                    Some(Link::Static(_)) => path.static_field,
                    _ => None,
                });
            }
        }
        Ok(())
    }
}

impl Finder<'_, '_> {
    /// Whether a path leads over the value of a weak map's entry that also holds the entry's key.
    fn keeps_its_key(&self, path: &Path) -> bool {
        let class = |step: &Step| self.heap.class_name(self.heap.class(step.object));
        let place = path.steps.iter().position(|step| class(step) == WEAK_ENTRY);
        let after = place.and_then(|place| path.steps.get(place..));
        let Some([entry, value, ..]) = after else {
            return false;
        };
        if path.left_out.map(|gap| gap.behind) == place.map(|place| place + 1) {
            return false;
        }
        let (_, key) = self.heap.graph(References::All).implied(entry.object);
        let is_key = |step: &Step| Some(step.object) == key;
        let mut above = key
            .into_iter()
            .flat_map(|key| self.retained.dominators(key));
        let mut after = after.into_iter().flatten();
        after.any(is_key) || above.any(|at| at == value.object)
    }

    /// The objects to which paths are needed.
    fn ends(&self, suspect: &Suspect) -> Ends {
        let example = suspect.example_object();
        let elements = suspect.held.elements;
        Ends {
            end: suspect.accumulation.or(suspect.typical),
            example,
            others: elements.map_or_else(Vec::new, |it| self.holders(it.example)),
        }
    }

    /// Some of the objects that refer to an object, if none of them dominates it.
    fn holders(&self, object: u32) -> Vec<u32> {
        let graph = self.heap.graph(References::Strong);
        let refers = |from: &u32| graph.edges.of(*from).contains(&object);
        let dominator = self.retained.dominators(object).next();
        if dominator.is_some_and(|dominator| refers(&dominator)) {
            return Vec::new();
        }
        let all = (0..self.heap.objects()).filter(refers);
        all.take(HOLDERS_MAX).collect()
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
