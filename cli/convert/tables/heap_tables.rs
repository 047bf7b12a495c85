//! The large tables: objects, references, strings.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use graph::{FieldTable, GraphError, Heap, Kind as ObjectKind, Retained, Rows};

use super::table_file::{Columns, TableFile};
use super::Export;
use crate::answers::object::above;
use crate::output::outcome::Failure;

/// Rows that are gathered before they are written.
const GROUP_ROWS: usize = 1 << 20;

/// Bytes of a string that are written.
const TEXT_BYTES: usize = 4096;

/// The two tables that grow with the heap.
struct Growing<'h, 'p, 't> {
    heap: &'h Heap<'p>,
    retained: &'h Retained,
    /// Number of dominators of each object.
    depths: Vec<u32>,
    object: TableFile<'t>,
    reference: TableFile<'t>,
    /// Rows that are not written yet.
    gathered: Rows,
}

impl Export<'_> {
    /// Writes objects and references; their bytes.
    pub(super) fn write_heap(&self, folder: &Path, fields: &FieldTable) -> Result<u64, Failure> {
        let mut tables = Growing {
            heap: &self.loaded.heap,
            retained: &self.loaded.retained,
            depths: self.loaded.retained.depths(),
            object: TableFile::new(folder, "object", &self.name),
            reference: TableFile::new(folder, "reference", &self.name),
            gathered: Rows::default(),
        };
        let mut writing = Ok(());
        let read = self.loaded.heap.rows(fields, |rows| {
            writing = tables.take(rows);
            match &writing {
                Ok(()) => Ok(()),
                // Ends the pass; the fault itself is reported below.
                Err(fault) => Err(GraphError::from(io::Error::from(fault.kind()))),
            }
        });
        writing?;
        self.loaded.check(read)?;
        tables.write()?;
        Ok(tables.object.close()? + tables.reference.close()?)
    }

    /// Writes the strings; their bytes.
    pub(super) fn write_strings(&self, folder: &Path) -> Result<u64, Failure> {
        let mut table = TableFile::new(folder, "string", &self.name);
        let (heap, retained) = (&self.loaded.heap, &self.loaded.retained);
        let all = self
            .loaded
            .check(heap.string_rows(retained, self.strings))?;
        let none = all.is_empty().then_some(&[][..]);
        for rows in all.chunks(GROUP_ROWS).chain(none) {
            let objects: Vec<u32> = rows.iter().map(|row| row.object).collect();
            let mut texts = BTreeMap::new();
            if self.strings {
                texts = self.loaded.check(heap.strings(&objects, TEXT_BYTES))?;
            }
            table.write(
                Columns::default()
                    .ascending("n", objects.iter().copied())
                    .numbers("length", rows.iter().map(|row| row.length))
                    .ascending_longs("hash", rows.iter().map(|row| row.hash))
                    .texts("value", objects.iter().map(|object| texts.remove(object))),
            )?;
        }
        Ok(table.close()?)
    }
}

impl Growing<'_, '_, '_> {
    fn take(&mut self, mut rows: Rows) -> io::Result<()> {
        let all = &mut self.gathered;
        if all.kinds.is_empty() {
            *all = rows;
        } else {
            all.ids.append(&mut rows.ids);
            all.kinds.append(&mut rows.kinds);
            all.lengths.append(&mut rows.lengths);
            all.offsets.append(&mut rows.offsets);
            all.traces.append(&mut rows.traces);
            all.sources.append(&mut rows.sources);
            all.targets.append(&mut rows.targets);
            all.fields.append(&mut rows.fields);
            all.places.append(&mut rows.places);
        }
        if all.kinds.len().max(all.sources.len()) < GROUP_ROWS {
            return Ok(());
        }
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.gathered);
        let (heap, retained) = (self.heap, self.retained);
        let count = u32::try_from(rows.kinds.len()).unwrap_or(u32::MAX);
        let numbers = || rows.first..rows.first.saturating_add(count);
        let kind = |kind: &ObjectKind| {
            Some(match kind {
                ObjectKind::Class => "class",
                ObjectKind::Instance => "instance",
                ObjectKind::References => "object array",
                ObjectKind::Values => "primitive array",
            })
        };
        let reachable = |object: &u32| retained.is_reachable(*object);
        let bytes = |object| Some(object).filter(reachable).map(|it| retained.bytes(it));
        let depth = |object: u32| {
            let object = Some(object).filter(reachable)?;
            self.depths.get(object as usize).copied()
        };
        let trace = |trace: &u32| (*trace > 1).then_some(*trace);
        self.object.write(
            Columns::default()
                .ascending("n", numbers())
                .ascending_longs("id", rows.ids.iter().copied())
                .numbers("class", numbers().map(|object| heap.class(object)))
                .texts("kind", rows.kinds.iter().map(kind))
                .longs(
                    "shallow",
                    numbers().map(|object| heap.shallow_bytes(object)),
                )
                .numbers("length", rows.lengths.iter().copied())
                .longs("retained", numbers().map(bytes))
                .ascending("dominator", numbers().map(|object| above(retained, object)))
                .numbers("depth", numbers().map(depth))
                .numbers("trace", rows.traces.iter().map(trace))
                .ascending_longs("offset", rows.offsets.iter().copied()),
        )?;
        self.write_references(&rows)
    }

    /// Writes them by field, and for each field by source: what a field of neighbours refers to
    /// often lies as far apart as the neighbours do, and equal differences take little room.
    fn write_references(&mut self, rows: &Rows) -> io::Result<()> {
        let mut order: Vec<usize> = (0..rows.sources.len()).collect();
        order.sort_by_key(|row| rows.fields.get(*row));
        self.reference.write(
            Columns::default()
                .ascending("source", taken(&rows.sources, &order))
                .ascending("target", taken(&rows.targets, &order))
                .numbers("field", taken(&rows.fields, &order))
                .ascending("index", taken(&rows.places, &order)),
        )
    }
}

/// The values in this order.
fn taken<'v, T: Copy>(values: &'v [T], order: &'v [usize]) -> impl Iterator<Item = T> + 'v {
    order.iter().filter_map(|row| values.get(*row).copied())
}
