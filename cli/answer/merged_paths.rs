//! The paths from roots to the objects of a class as one tree: what differs by object only is one.

use std::cmp::Reverse;

use graph::{GraphError, Heap, Link, Path, PATH_STEPS};
use serde::Serialize;

use super::object::{described, id};
use super::path::root_name;

/// Most rows.
const ROWS_MAX: usize = 200;

/// The tree, each place before those below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct MergedPaths {
    /// Objects whose paths are in it.
    paths: u64,
    places: Vec<PlaceRow>,
    /// Places that are left out, those with the fewest paths.
    left_out: usize,
}

/// Objects of one class below one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct PlaceRow {
    /// How many places are above it.
    depth: usize,
    /// The class of its objects; for a class object, `class` and its name.
    class: String,
    /// One of them.
    id: String,
    /// How an object above refers to one of them; the kind of the root at the top.
    link: String,
    /// Paths through it, or to it.
    paths: u64,
}

/// A place while paths are added.
struct Place {
    class: String,
    link: String,
    example: u32,
    paths: u64,
    below: Vec<usize>,
}

impl MergedPaths {
    /// The paths to these objects. Errors: the file cannot be read.
    pub(crate) fn of(heap: &Heap<'_>, objects: &[u32]) -> Result<Self, GraphError> {
        let mut places = vec![Place::new(String::new(), String::new(), 0)];
        for path in heap.paths(objects, PATH_STEPS)?.iter().flatten() {
            add(heap, &mut places, path);
        }
        let paths = places.first().map_or(0, |all| all.paths);
        let (mut rows, mut open) = (Vec::new(), vec![(0, 0)]);
        while let Some((place, depth)) = open.pop() {
            let Some(at) = places.get(place) else {
                continue;
            };
            if depth > 0 {
                rows.push(at.row(heap, depth - 1));
            }
            let mut below = at.below.clone();
            below.sort_by_key(|below| places.get(*below).map_or(0, |place| place.paths));
            open.extend(below.into_iter().map(|below| (below, depth + 1)));
        }
        let left_out = rows.len().saturating_sub(ROWS_MAX);
        // A place has no fewer paths than those below it, and stands before them.
        let mut ranked: Vec<(usize, PlaceRow)> = rows.into_iter().enumerate().collect();
        ranked.sort_by_key(|(_, row)| Reverse(row.paths));
        ranked.truncate(ROWS_MAX);
        ranked.sort_by_key(|(place, _)| *place);
        Ok(Self {
            paths,
            left_out,
            places: ranked.into_iter().map(|(_, row)| row).collect(),
        })
    }
}

impl Place {
    fn new(class: String, link: String, example: u32) -> Self {
        Self {
            class,
            link,
            example,
            paths: 0,
            below: Vec::new(),
        }
    }

    fn row(&self, heap: &Heap<'_>, depth: usize) -> PlaceRow {
        PlaceRow {
            depth,
            class: self.class.clone(),
            id: id(heap, self.example),
            link: self.link.clone(),
            paths: self.paths,
        }
    }
}

/// Adds a path; a step like the one before it, such as `.next` in a chain, stays at its place.
fn add(heap: &Heap<'_>, places: &mut Vec<Place>, path: &Path) {
    let mut at = 0;
    count(places, at);
    for step in &path.steps {
        let class = described(heap, step.object);
        let link = match step.link {
            None => root_name(path.root),
            Some(Link::Element(_)) => "[\u{2026}]".to_owned(),
            Some(link) => heap.link_text(link),
        };
        let is_like = |place: &Place| place.class == class && place.link == link;
        let Some(above) = places.get(at) else {
            return;
        };
        if is_like(above) {
            continue;
        }
        let mut known = above.below.iter().copied();
        let known = known.find(|below| places.get(*below).is_some_and(is_like));
        at = known.unwrap_or_else(|| {
            let next = places.len();
            places.push(Place::new(class, link, step.object));
            if let Some(above) = places.get_mut(at) {
                above.below.push(next);
            }
            next
        });
        count(places, at);
    }
}

fn count(places: &mut [Place], at: usize) {
    if let Some(place) = places.get_mut(at) {
        place.paths += 1;
    }
}
