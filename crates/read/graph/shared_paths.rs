//! The shortest paths to many objects, and the number of paths through each object.
//!
//! Shared objects are stored once: for example, the paths through two lists of the same objects
//! have more steps in total than the heap has objects.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::class_facts::NONE;
use crate::search::Search;

/// An object on paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed {
    /// The object.
    pub(crate) object: u32,
    /// Number of paths through it or to it.
    pub(crate) paths: u64,
    /// Sum of the bytes at the ends of these paths.
    pub(crate) ends: u64,
    /// Index of the object before it.
    above: u32,
    /// Index of the next object on most of its paths; 0 for none.
    below: u32,
}

impl Passed {
    fn new(object: u32, above: u32) -> Self {
        Self {
            object,
            paths: 0,
            ends: 0,
            above,
            below: 0,
        }
    }
}

/// The objects on the paths, each after its predecessor. Index 0 stands before the roots.
#[derive(Debug)]
pub(crate) struct SharedPaths(Vec<Passed>);

impl SharedPaths {
    /// The paths found by a search to these objects, each with its bytes.
    pub(crate) fn new(search: &Search<'_, '_>, ends: impl Iterator<Item = (u32, u64)>) -> Self {
        let mut all = vec![Passed::new(NONE, 0)];
        let mut places: FxHashMap<u32, u32> = FxHashMap::default();
        let mut path = Vec::new();
        for (object, bytes) in ends {
            let mut at = 0;
            for object in search.climb(object) {
                if let Some(known) = places.get(&object) {
                    at = *known;
                    break;
                }
                path.push(object);
            }
            for object in path.drain(..).rev() {
                let above = at;
                // There are at most as many as objects.
                at = u32::try_from(all.len()).unwrap_or(NONE);
                places.insert(object, at);
                all.push(Passed::new(object, above));
            }
            if let Some(end) = all.get_mut(at as usize).filter(|_| at > 0) {
                end.paths += 1;
                end.ends = end.ends.saturating_add(bytes);
            }
        }
        let mut paths = Self(all);
        paths.add_up();
        paths
    }

    fn add_up(&mut self) {
        for place in (1..self.0.len()).rev() {
            let Some(passed) = self.0.get(place).copied() else {
                return;
            };
            let above = self.0.get(passed.above as usize);
            let rival = above.and_then(|above| self.behind(above));
            let weight = |passed: &Passed| (passed.paths, Reverse(passed.object));
            let is_heavier = rival.is_none_or(|rival| weight(&passed) > weight(rival));
            if let Some(above) = self.0.get_mut(passed.above as usize) {
                above.paths += passed.paths;
                above.ends = above.ends.saturating_add(passed.ends);
                if is_heavier {
                    above.below = u32::try_from(place).unwrap_or(NONE);
                }
            }
        }
    }

    fn behind(&self, passed: &Passed) -> Option<&Passed> {
        let below = Some(passed.below).filter(|below| *below > 0);
        self.0.get(below? as usize)
    }

    /// The main path: from a root on, always the next object on most of the remaining paths.
    pub(crate) fn main(&self) -> impl Iterator<Item = &Passed> {
        let first = self.0.first().and_then(|top| self.behind(top));
        std::iter::successors(first, |passed| self.behind(passed))
    }
}
