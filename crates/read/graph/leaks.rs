//! Leak suspects: single objects that retain much, and classes whose objects do so together.
//!
//! Suspects are found by the rule of Eclipse MAT. An object without a dominator is a suspect if it
//! retains more than a certain share of the heap; so is a class if its objects without a
//! dominator do so together. From a suspect, we descend the dominator tree as long as a single
//! child retains nearly everything. The object whose bytes spread over several children is the
//! *accumulation point*. What it holds is described by [`crate::elements`].

use crate::class_facts::References;
use crate::error::GraphError;
use crate::finder::{Finder, Objects, GROUPS_MAX};
use crate::heap::Heap;
use crate::loader_copies::LoaderCopies;
use crate::native_memory::NativeMemory;
use crate::retained::Retained;
use crate::search::Search;
use crate::softly::SoftlyHeld;
use crate::structure::Structure;
use crate::suspect::{Calm, Group, NativeSuspect, Suspect};
use crate::tops::Tops;

/// The share of the heap from which an object or a class is a suspect.
pub const THRESHOLD_PERCENT: u64 = 10;

/// Classes whose objects are part of each program's weight: they are suspects only one by one.
const WEIGHTS: [&str; 3] = [
    "java.lang.Class",
    "java.util.zip.ZipFile$Source",
    "java.util.jar.JarFile",
];

/// Most suspects whose elements are asked.
const ASKED: usize = 3;

/// The result.
#[derive(Clone, Debug)]
pub struct Leaks {
    /// Bytes of all reachable objects.
    pub total_bytes: u64,
    /// The suspects, those first that retain most without what is only softly reachable; none if
    /// nothing stands out.
    pub suspects: Vec<Suspect>,
    /// Classes whose objects retain as much as a suspect, but in each program, as objects and
    /// retained bytes.
    pub weights: Vec<Group>,
    /// Bytes that only soft references keep. If they are as many as a suspect's, the suspects are
    /// found without them.
    pub soft_bytes: u64,
    /// The memory outside of the heap, by owner, most bytes first, if direct buffers, mapped files
    /// and arenas have a share of the heap's bytes from which they would be a suspect.
    pub native: Vec<NativeSuspect>,
}

impl Leaks {
    /// Finds suspects with more than `percent` percent of the heap. Errors: the file cannot be
    /// read.
    pub fn find(heap: &Heap<'_>, retained: &Retained, percent: u64) -> Result<Self, GraphError> {
        let least = retained.total_bytes() / 100 * percent.min(100);
        Self::above(heap, retained, least)
    }

    /// Finds suspects with more than `least` bytes.
    fn above(heap: &Heap<'_>, retained: &Retained, least: u64) -> Result<Self, GraphError> {
        let total_bytes = retained.total_bytes();
        let structure = Structure::of(heap);
        let copies = LoaderCopies::of(heap, retained, least);
        let tops = Tops::of(heap, retained, &structure, &copies, least);
        let soft = SoftlyHeld::of(heap, retained, &tops.passed);
        let soft_bytes = soft.below(|_| true);
        if soft_bytes > least {
            // What a cache keeps until memory runs out must not hide a leak.
            let strong = Retained::of(heap, References::Strong)?;
            let leaks = Self::above(heap, &strong, least)?;
            if !leaks.suspects.is_empty() {
                return Ok(Self {
                    total_bytes,
                    soft_bytes,
                    ..leaks
                });
            }
        }
        let finder = Finder {
            heap,
            retained,
            soft,
            structure,
            tops,
            least,
        };
        let (mut large, mut groups) = finder.candidates();
        large.retain(|object| !finder.only_hold(&[*object], &copies));
        groups.retain(|group| !finder.only_hold(&group.objects, &copies));
        let is_weight = |group: &Objects| WEIGHTS.contains(&&*heap.class_name(group.class));
        let (mut weights, mut groups) = groups.into_iter().partition::<Vec<_>, _>(is_weight);
        groups.extend(weights.iter_mut().flat_map(|it| finder.class_patterns(it)));
        let objects = large.iter().map(|object| finder.object(*object));
        let mut suspects: Vec<Suspect> = objects.collect();
        // One search for all: it is the most that suspects cost.
        let mut search = Search::new(heap, References::Strong);
        suspects.extend(finder.groups(&groups, &copies, &mut search));
        suspects.sort_by_key(|suspect| {
            let bytes = suspect.bytes.saturating_sub(suspect.soft_bytes);
            std::cmp::Reverse((bytes, suspect.bytes))
        });
        let mut leaks = Self {
            total_bytes,
            suspects,
            weights: weights.iter().map(Objects::group).collect(),
            soft_bytes,
            native: Vec::new(),
        };
        let native = NativeMemory::largest(heap, least)?;
        leaks.native = native
            .into_iter()
            .filter(|group| group.bytes > 0)
            .take(GROUPS_MAX)
            .map(NativeSuspect::new)
            .collect();
        leaks.add_paths(&finder, &mut search)?;
        leaks.leave_constants(&finder);
        leaks.judge(&finder)?;
        Ok(leaks)
    }

    /// Asks the elements, and tells what looks like no leak, which comes last.
    fn judge(&mut self, finder: &Finder<'_, '_>) -> Result<(), GraphError> {
        for suspect in &mut self.suspects {
            suspect.calm = finder.calm(suspect)?;
        }
        let open = self.suspects.iter_mut().filter(|it| it.calm.is_none());
        for (place, suspect) in open.enumerate() {
            let is_small = finder.is_small(suspect);
            let is_asked = is_small || place < ASKED;
            if is_asked && suspect.pattern.is_none() {
                suspect.reasons = finder.reasons(suspect)?;
            }
            let is_calm = is_small && !finder.shows_growth(suspect);
            suspect.calm = is_calm.then_some(Calm::Small);
            suspect.is_open = is_asked && !is_calm && finder.is_open(suspect);
        }
        self.suspects.sort_by_key(|suspect| suspect.calm.is_some());
        Ok(())
    }
}
