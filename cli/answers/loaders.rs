//! Class loaders: what each keeps with its classes, and which are copies.

use graph::{GraphError, Heap, LoaderTotal};

use super::object::described;
use super::owner::owners_words;
use crate::files::heap_file::Loaded;
use crate::output::{grouped, plain, shown, Cell, Sections, Table};

/// Most ids of copies in an answer.
const IDS: usize = 10;

/// Adds the `most` loaders that retain most: each with its classes and their static fields, or
/// several that are alike. Errors: there is no memory; the file cannot be read.
pub(super) fn loaders<'a>(
    answer: &mut Sections<'a>,
    loaded: &'a Loaded,
    most: usize,
) -> Result<(), GraphError> {
    let heap = &loaded.heap;
    let (totals, left_out) = LoaderTotal::largest(heap, &loaded.retained, most)?;
    let owners: Vec<_> = totals.iter().filter_map(|it| it.owner.as_ref()).collect();
    let mut words = owners_words(heap, &owners)?.into_iter();
    let has_copies = totals.iter().any(|total| total.same_classes > 0);
    let rows = totals.into_iter().map(|total| {
        // Who holds most of the loaders.
        let held_by = total.owner.as_ref().and_then(|_| words.next());
        (total, held_by)
    });
    let table = Table::of(rows, usize::MAX)
        .right("retained", "retained", |(row, _)| row.retained_bytes)
        .right("shallow", "shallow", |(row, _)| row.shallow_bytes)
        .right("objects", "objects", |(row, _)| row.objects)
        .right("classes", "classes", |(row, _)| row.classes)
        .left("loader", "", |(row, _)| copies(heap, row))
        .hidden("loader", |(row, _)| loader(heap, row))
        .hidden("loaders", |(row, _)| row.loaders.len())
        .hidden("same_classes", |(row, _)| row.same_classes)
        .hidden("held_so", |(row, _)| row.owned)
        .hidden("held_by", |(_, held_by)| held_by.clone())
        .hidden("ids", |(row, _)| {
            let ids = row.loaders.iter().filter(|id| **id != 0).take(IDS);
            Cell::json(ids.map(|id| format!("{id:#x}")).collect::<Vec<_>>())
        })
        .below(|(row, held_by)| {
            let line = |holder: &String| held_so(row, holder);
            held_by.iter().map(line).collect()
        });
    answer.table("rows", "left_out", table.left_out(left_out).noun("row"));
    if has_copies {
        answer.line(
            "Copies define the same classes, as redeployed applications leave behind: of these, one can be in use.",
        );
    }
    Ok(())
}

/// The loader; of several their class.
fn loader(heap: &Heap<'_>, row: &LoaderTotal) -> String {
    let first = row.loaders.first().copied().unwrap_or(0);
    match (row.loaders.as_slice(), heap.object(first)) {
        ([_, _, ..], Some(object)) => described(heap, object),
        _ => loader_name(heap, first),
    }
}

/// `6 copies of app.Loader: the same 12 classes`
fn copies(heap: &Heap<'_>, row: &LoaderTotal) -> String {
    let (loader, loaders) = (loader(heap, row), grouped(row.loaders.len() as u64));
    match (row.loaders.len(), row.same_classes) {
        (1, _) => loader,
        (_, 0) => format!("{loaders} {loader}"),
        (_, 1) => format!("{loaders} copies of {loader}: the same class"),
        (_, many) => format!(
            "{loaders} copies of {loader}: the same {} classes",
            grouped(many)
        ),
    }
}

/// `    held by thread "main"`
fn held_so(row: &LoaderTotal, holder: &str) -> String {
    let (holder, loaders) = (plain(&shown(holder)), row.loaders.len() as u64);
    match row.owned < loaders {
        true => {
            let (some, all) = (grouped(row.owned), grouped(loaders));
            format!("    {some} of {all} held by {holder}")
        }
        false => format!("    held by {holder}"),
    }
}

/// The name of the loader with this id.
pub(super) fn loader_name(heap: &Heap<'_>, loader: u64) -> String {
    match heap.object(loader) {
        _ if loader == 0 => "bootstrap loader".to_owned(),
        Some(object) => format!("{} {loader:#x}", described(heap, object)),
        None => format!("(not in the dump) {loader:#x}"),
    }
}
