//! The paths from roots to the objects of a class as one tree: what differs by object only is one.

use std::cmp::Reverse;

use graph::{GraphError, Heap, Link, Path, PATH_STEPS};

use super::object::{described, id};
use super::path::root_name;
use crate::output::{Sections, Table};

/// Most rows.
const ROWS_MAX: usize = 200;

/// Objects of one class below one place.
#[derive(Clone, Default)]
struct Place {
    /// The class of its objects; for a class object, `class` and its name.
    class: String,
    /// How an object above refers to one of them; the kind of the root at the top.
    link: String,
    /// One of them.
    example: u32,
    /// Paths through it, or to it.
    paths: u64,
    below: Vec<usize>,
}

/// The paths to these objects as a tree, each place before those below it. Errors: the file cannot
/// be read.
pub(crate) fn merged_paths<'a>(
    heap: &'a Heap<'_>,
    objects: &[u32],
) -> Result<Sections<'a>, GraphError> {
    let mut places = vec![Place::default()];
    for path in heap.paths(objects, PATH_STEPS)?.iter().flatten() {
        add(heap, &mut places, path);
    }
    let (mut rows, mut open) = (Vec::new(), vec![(0, 0)]);
    while let Some((place, depth)) = open.pop() {
        let Some(at) = places.get(place) else {
            continue;
        };
        let mut below = at.below.clone();
        below.sort_by_key(|below| places.get(*below).map_or(0, |place| place.paths));
        open.extend(below.into_iter().map(|below| (below, depth + 1)));
        rows.push((depth, at.clone()));
    }
    let mut answer = Sections::default();
    answer.fact("paths", places.first().map_or(0, |all| all.paths));
    // A place has no fewer paths than those below it, and stands before them.
    let mut ranked: Vec<(usize, (usize, Place))> = rows.into_iter().enumerate().skip(1).collect();
    let left_out = ranked.len().saturating_sub(ROWS_MAX);
    ranked.sort_by_key(|(_, (_, row))| Reverse(row.paths));
    ranked.truncate(ROWS_MAX);
    ranked.sort_by_key(|(place, _)| *place);
    let table = Table::of(ranked.into_iter().map(|(_, row)| row), ROWS_MAX)
        .hidden("depth", |(depth, _)| depth - 1)
        .hidden("class", |(_, row)| row.class.clone())
        .hidden("id", |(_, row)| id(heap, row.example))
        .hidden("link", |(_, row)| row.link.clone())
        .hidden("paths", |(_, row)| row.paths);
    answer.table("places", "left_out", table.left_out(left_out));
    Ok(answer)
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
            places.push(Place {
                class,
                link,
                example: step.object,
                ..Place::default()
            });
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
