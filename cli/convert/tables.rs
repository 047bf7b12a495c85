//! A dump as tables that any SQL engine reads.

mod folder;
mod heap_tables;
mod small_tables;
mod table_file;

use graph::FieldTable;

use crate::files::heap_file::Loaded;
use crate::files::input_file::bare;
use crate::output::{grouped, percent, Failure, Verdict};

use super::arguments::Arguments;
use folder::Folder;

/// Passes over the file: two for the graph, one for rows, one for strings.
const PASSES: u64 = 4;

/// Reads the dump and writes the tables.
pub(super) fn write(arguments: &Arguments) -> Result<Verdict, Failure> {
    let in_place = |failure: Failure| failure.of_target(&arguments.output);
    let folder = Folder::new(&arguments.output).map_err(|fault| in_place(fault.into()))?;
    let (loaded, verdict) = arguments.graph.load(PASSES)?;
    let file = &loaded.file;
    let bare_name = || String::from_utf8_lossy(bare(file.short_name().as_bytes())).into_owned();
    let export = Export {
        loaded: &loaded,
        name: arguments.name.clone().unwrap_or_else(bare_name),
        strings: arguments.strings,
    };
    let bytes = export.write(folder).map_err(in_place)?;
    arguments.tell(&format!(
        "{} tables, {} bytes, {} of the file",
        folder::TABLES.len(),
        grouped(bytes),
        percent(bytes, file.bytes)
    ))?;
    Ok(verdict)
}

/// What is written.
struct Export<'h> {
    loaded: &'h Loaded,
    /// The value of the column `dump`.
    name: String,
    strings: bool,
}

impl Export<'_> {
    /// Writes all tables; their bytes.
    fn write(&self, folder: Folder) -> Result<u64, Failure> {
        let fields = self.loaded.check(FieldTable::new(&self.loaded.heap))?;
        let heap = self.write_heap(folder.path(), &fields)?;
        let strings = self.write_strings(folder.path())?;
        let small = self.write_small(folder.path(), &fields)?;
        self.loaded.file.done();
        folder.finish()?;
        Ok(heap + strings + small)
    }
}
