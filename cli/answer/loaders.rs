//! Class loaders: what each keeps with its classes, and which are copies.

use std::io::{self, Write};

use graph::{GraphError, Heap, LoaderTotal};
use serde::Serialize;

use super::object::described;
use super::owner::owners_words;
use super::rows::Rows;
use crate::heap_file::Loaded;
use crate::number::grouped;
use crate::plain::{plain, shown};
use crate::table::{Side, Table};

/// Most ids of copies in an answer.
const IDS: usize = 10;

/// A loader with its classes and their static fields; or several that are alike.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LoaderRow {
    /// The loader; of several their class.
    loader: String,
    loaders: u64,
    /// Number of classes that each of several loaders defines.
    same_classes: u64,
    /// Number of classes of the loaders, and of their objects.
    classes: u64,
    objects: u64,
    retained: u64,
    shallow: u64,
    /// Who holds most of the loaders, and how many of them.
    held_by: Option<String>,
    held_so: u64,
    ids: Vec<String>,
}

impl Rows<LoaderRow> {
    /// The `most` loaders that retain most. Errors: there is no memory; the file cannot be read.
    pub(super) fn loaders(loaded: &Loaded<'_>, most: usize) -> Result<Self, GraphError> {
        let (totals, left_out) = LoaderTotal::largest(&loaded.heap, &loaded.retained, most)?;
        let owners: Vec<_> = totals.iter().filter_map(|it| it.owner.as_ref()).collect();
        let mut words = owners_words(&loaded.heap, &owners)?.into_iter();
        let mut rows = Vec::with_capacity(totals.len());
        for total in &totals {
            let held_by = total.owner.as_ref().and_then(|_| words.next());
            rows.push(LoaderRow::of(&loaded.heap, total, held_by));
        }
        Ok(Self::new(loaded, rows, left_out))
    }
}

impl LoaderRow {
    fn of(heap: &Heap<'_>, total: &LoaderTotal, held_by: Option<String>) -> Self {
        let ids = total.loaders.iter().filter(|id| **id != 0).take(IDS);
        let first = total.loaders.first().copied().unwrap_or(0);
        Self {
            loader: match (total.loaders.as_slice(), heap.object(first)) {
                ([_, _, ..], Some(object)) => described(heap, object),
                _ => loader_name(heap, first),
            },
            loaders: total.loaders.len() as u64,
            same_classes: total.same_classes,
            classes: total.classes,
            objects: total.objects,
            retained: total.retained_bytes,
            shallow: total.shallow_bytes,
            held_by,
            held_so: total.owned,
            ids: ids.map(|id| format!("{id:#x}")).collect(),
        }
    }

    /// `6 copies of app.Loader: the same 12 classes`
    fn name(&self) -> String {
        let (loaders, classes) = (grouped(self.loaders), grouped(self.same_classes));
        match (self.loaders, self.same_classes) {
            (1, _) => self.loader.clone(),
            (_, 0) => format!("{loaders} {}", self.loader),
            (_, 1) => format!("{loaders} copies of {}: the same class", self.loader),
            _ => format!(
                "{loaders} copies of {}: the same {classes} classes",
                self.loader
            ),
        }
    }
}

/// Prints the loaders, each with what holds it.
pub(super) fn print_loaders(rows: &[LoaderRow], to: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new([
        ("retained", Side::Right),
        ("shallow", Side::Right),
        ("objects", Side::Right),
        ("classes", Side::Right),
        ("loader", Side::Left),
    ]);
    for row in rows {
        table.row([
            grouped(row.retained).into(),
            grouped(row.shallow).into(),
            grouped(row.objects).into(),
            grouped(row.classes).into(),
            row.name().into(),
        ]);
    }
    table.print_with(to, |place, to| {
        let Some((row, holder)) = rows
            .get(place)
            .and_then(|row| Some((row, row.held_by.as_ref()?)))
        else {
            return Ok(());
        };
        let holder = plain(&shown(holder));
        match row.held_so < row.loaders {
            true => {
                let (some, all) = (grouped(row.held_so), grouped(row.loaders));
                writeln!(to, "    {some} of {all} held by {holder}")
            }
            false => writeln!(to, "    held by {holder}"),
        }
    })?;
    if rows.iter().any(|row| row.same_classes > 0) {
        writeln!(
            to,
            "Copies define the same classes, as redeployed applications leave behind: of these, one can be in use."
        )?;
    }
    Ok(())
}

/// The name of the loader with this id.
pub(super) fn loader_name(heap: &Heap<'_>, loader: u64) -> String {
    match heap.object(loader) {
        _ if loader == 0 => "bootstrap loader".to_owned(),
        Some(object) => format!("{} {loader:#x}", described(heap, object)),
        None => format!("(not in the dump) {loader:#x}"),
    }
}
