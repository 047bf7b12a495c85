//! The paths to suspects, and what they say: holders, ways, contents.

use reader::RootKind;

use crate::accumulation::is_less;
use crate::class_facts::References;
use crate::elements::Elements;
use crate::error::GraphError;
use crate::finder::Finder;
use crate::heap::Heap;
use crate::leaks::Leaks;
use crate::paths::{Path, Step};
use crate::search::Search;
use crate::step_links::Link;
use crate::structure::Part;
use crate::suspect::{Group, Suspect, Who, STEPS_MAX};
use crate::way::Way;

/// The class of the entries of a weak map.
const WEAK_ENTRY: &str = "java.util.WeakHashMap$Entry";

/// Most steps below an element.
const CONTENTS_MAX: usize = 5;

/// The constants of the JDK that one holder has take less: strings, modules, streams.
const CONSTANTS_MAX: u64 = 256 << 10;

/// A child that retains less than three tenths of its parent's bytes does not fill it.
const FILLS: (u64, u64) = (3, 10);

/// Most objects in the value of a weak map that are asked whether they refer to its key.
const CARRIED_MAX: usize = 256;

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
            // What each element is in is no holder of them all.
            let held = &suspect.held;
            let many = held.elements.map_or(0, |elements| elements.objects / 2);
            let around = held.holders.iter().filter(|it| it.objects > many);
            let targets = held.elements.iter().chain(around).map(|it| it.class);
            let targets: Vec<u32> = targets.collect();
            let lasting = others.iter().filter(|other| !other.is_weak);
            let fields = lasting.filter_map(|other| other.static_field);
            let also = fields
                .filter(|field| Some(*field) != path.static_field)
                .min();
            let way = Way::of(heap, structure, path, &targets, suspect.accumulation);
            let keeps_its_key = finder.keeps_its_key(path);
            let values = finder.values(suspect, path);
            (suspect.way, suspect.also, suspect.keeps_its_key) = (way, also, keeps_its_key);
            let held = &mut suspect.held;
            let is_other = |it: &Elements| values.is_none_or(|values| values.class != it.class);
            if values.is_some() && !held.beside.as_ref().is_some_and(is_other) {
                (held.beside, held.are_entries) = (values, true);
            }
        }
        for native in &mut self.native {
            native.path = paths.next().flatten();
            let way = native.path.as_ref();
            let way = way.map(|path| Way::of(heap, structure, path, &[native.group.class], None));
            native.way = way.unwrap_or_default();
        }
        self.add_contents(finder)?;
        self.name_thread_locals(heap, search)
    }

    /// Counts what static fields of the JDK hold among the weights, if it is small: each program
    /// has as much.
    pub(crate) fn leave_constants(&mut self, finder: &Finder<'_, '_>) {
        let all = std::mem::take(&mut self.suspects).into_iter();
        let (constants, suspects) = all.partition(|suspect| finder.is_constant(suspect));
        self.suspects = suspects;
        for suspect in constants {
            let (class, objects) = match suspect.who {
                Who::Object(object) => (finder.heap.class(object), 1),
                Who::Class { class, objects } => (class, objects),
            };
            match self.weights.iter_mut().find(|it| it.class == class) {
                Some(weight) => {
                    weight.objects += objects;
                    weight.bytes = weight.bytes.saturating_add(suspect.bytes);
                }
                None => self.weights.push(Group {
                    class,
                    objects,
                    bytes: suspect.bytes,
                }),
            }
        }
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
        let place = path
            .steps
            .iter()
            .rposition(|step| class(step) == WEAK_ENTRY);
        let after = place.and_then(|place| path.steps.get(place..));
        let Some([entry, value, ..]) = after else {
            return false;
        };
        if path.left_out.map(|gap| gap.behind) == place.map(|place| place + 1) {
            return false;
        }
        let (_, key) = self.heap.graph(References::All).implied(entry.object);
        key.is_some_and(|key| self.leads_to(value.object, key, entry.object))
    }

    /// Whether an object leads to another by references that keep it alive, over objects below
    /// `above`.
    fn leads_to(&self, from: u32, to: u32, above: u32) -> bool {
        let graph = self.heap.graph(References::Strong);
        let is_below = |object: u32| {
            let mut near = self.retained.dominators(object).take(CARRIED_MAX);
            near.any(|it| it == above)
        };
        let (mut seen, mut place) = (vec![from], 0);
        while let Some(object) = seen.get(place).copied() {
            place += 1;
            let targets = graph.edges.of(object);
            if object == to || targets.contains(&to) {
                return true;
            }
            for &target in targets.iter().take(CARRIED_MAX) {
                if seen.len() < CARRIED_MAX && !seen.contains(&target) && is_below(target) {
                    seen.push(target);
                }
            }
        }
        false
    }

    /// Whether a suspect is small, and nothing of the program holds it or is in it.
    fn is_constant(&self, suspect: &Suspect) -> bool {
        let is_own = |object: u32| {
            let class = self.heap.class_of_object(object);
            let class = class.unwrap_or_else(|| self.heap.class(object));
            self.structure.part(class) == Part::Own
        };
        let of_jdk = |path: &Path| {
            let is_class = path.root == RootKind::StickyClass || path.static_field.is_some();
            is_class && !path.steps.iter().any(|step| is_own(step.object))
        };
        let mut holds = suspect.holds.iter();
        suspect.bytes <= CONSTANTS_MAX
            && suspect.copied_classes == 0
            && suspect.main_path().is_some_and(of_jdk)
            && !holds.any(|group| self.structure.part(group.class) == Part::Own)
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
