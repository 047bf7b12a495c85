//! Objects in a list, each with the reference that joins it to the object the list is about.

use std::collections::{HashMap, HashSet};

use graph::{GraphError, Heap};
use serde::Serialize;

use super::object::ObjectRow;

/// An object in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ListedRow {
    #[serde(flatten)]
    pub(crate) object: ObjectRow,
    /// The reference: `.table`, `[7]`; `None` if neither refers to the other directly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
}

/// How an object refers to those of these that it refers to. Errors: the file cannot be read.
pub(crate) fn links_from(
    heap: &Heap<'_>,
    from: u32,
    to: &[u32],
) -> Result<HashMap<u32, String>, GraphError> {
    let wanted: HashSet<u32> = to.iter().copied().collect();
    let locals = heap.locals(from).iter().map(|local| &local.object);
    let direct = heap.targets(from).iter().chain(locals);
    let direct: HashSet<u32> = direct.copied().filter(|it| wanted.contains(it)).collect();
    let links = heap.links(direct.iter().map(|to| (from, *to)))?;
    let text = |to: u32| Some((to, heap.link_text(links.get(from, to)?)));
    Ok(direct.into_iter().filter_map(text).collect())
}

/// How each of these objects refers to another. Errors: the file cannot be read.
pub(crate) fn links_to(
    heap: &Heap<'_>,
    from: &[u32],
    to: u32,
) -> Result<HashMap<u32, String>, GraphError> {
    let links = heap.links(from.iter().map(|from| (*from, to)))?;
    let text = |from: &u32| Some((*from, heap.link_text(links.get(*from, to)?)));
    Ok(from.iter().filter_map(text).collect())
}
