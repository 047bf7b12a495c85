//! A dump as tables that any SQL engine reads.

mod folder;
mod heap_tables;
mod small_tables;
mod table_file;

use std::io;

use graph::{FieldTable, Heap, Retained};

use crate::dump_file::DumpFile;
use crate::heap_file::failure;
use crate::number::{grouped, percent};
use crate::outcome::{Failure, Verdict};

use super::order::Arguments;
use folder::Folder;

/// Passes over the file: two for the graph, one for rows, one for strings.
const PASSES: u64 = 4;

/// Reads the dump and writes the tables.
pub(super) fn write(arguments: &Arguments) -> Result<Verdict, Failure> {
    let to = &arguments.output;
    let written = |fault: io::Error| Failure::writing(to, fault);
    let folder = Folder::new(to).map_err(written)?;
    let (loaded, verdict) = arguments.graph.load(PASSES)?;
    let file = &loaded.file;
    let name = arguments.name.clone();
    let export = Export {
        heap: &loaded.heap,
        retained: &loaded.retained,
        file,
        name: name.unwrap_or_else(|| dump_name(&file.short_name())),
        rule: arguments.graph.references.name(),
        strings: arguments.strings,
    };
    let bytes = match export.write(&folder) {
        Ok(bytes) => bytes,
        Err(Fault::Reading(fault)) => return Err(failure(file, &fault)),
        Err(Fault::Writing(fault)) => return Err(written(fault)),
    };
    file.done();
    folder.finish().map_err(written)?;
    arguments.tell(&format!(
        "{} tables, {} bytes, {} of the file",
        folder::TABLES.len(),
        grouped(bytes),
        percent(bytes, file.bytes)
    ))?;
    Ok(verdict)
}

/// What went wrong on the way from the dump to the tables.
enum Fault {
    Reading(graph::GraphError),
    Writing(io::Error),
}

impl From<graph::GraphError> for Fault {
    fn from(fault: graph::GraphError) -> Self {
        Self::Reading(fault)
    }
}

impl From<io::Error> for Fault {
    fn from(fault: io::Error) -> Self {
        Self::Writing(fault)
    }
}

/// The result of an export.
struct Export<'h, 'p> {
    heap: &'h Heap<'p>,
    retained: &'h Retained,
    file: &'h DumpFile,
    /// The value of the column `dump`.
    name: String,
    /// The rule for references.
    rule: &'static str,
    strings: bool,
}

impl Export<'_, '_> {
    /// Writes all tables; their bytes.
    fn write(&self, folder: &Folder) -> Result<u64, Fault> {
        let fields = FieldTable::new(self.heap)?;
        let traces = self.write_heap(folder.path(), &fields)?;
        let strings = self.write_strings(folder.path())?;
        Ok(traces + strings + self.write_small(folder.path(), &fields)?)
    }
}

/// The file's name without the endings that name its form.
fn dump_name(file: &str) -> String {
    let name = file.strip_suffix(".gz").unwrap_or(file);
    name.strip_suffix(".hprof").unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::dump_name;

    #[test]
    fn a_dump_is_called_as_its_file() {
        for (file, name) in [
            ("a.hprof", "a"),
            ("a.b.hprof.gz", "a.b"),
            ("x.gz", "x"),
            ("plain", "plain"),
        ] {
            assert_eq!(dump_name(file), name);
        }
    }
}
