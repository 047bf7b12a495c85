//! A dump that is read as a graph, for commands about retained memory.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use graph::{GraphError, Heap, Input, Options, References, Retained};

use crate::dump_file::DumpFile;
use crate::outcome::{Failure, Verdict};

/// The arguments that all graph commands have.
#[derive(Debug, clap::Args)]
pub(crate) struct GraphArguments {
    /// The dump, uncompressed or gzip; - for standard input
    pub(crate) file: PathBuf,
    /// Which references keep an object alive
    #[arg(long, value_enum, default_value_t = Rule::All)]
    pub(crate) references: Rule,
}

/// Which references keep an object alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rule {
    /// All, as in Eclipse MAT: also weak, soft, phantom and finalizer references
    All,
    /// All except the field `referent` of java.lang.ref.Reference
    Strong,
}

impl Rule {
    fn references(self) -> References {
        match self {
            Self::All => References::All,
            Self::Strong => References::Strong,
        }
    }

    /// The rule's name in the option.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Strong => "strong",
        }
    }
}

/// Reads the dump and computes retained sizes, then calls `answer` to print.
pub(crate) fn with_heap(
    arguments: &GraphArguments,
    answer: impl FnOnce(&Heap<'_>, &Retained, &DumpFile) -> Result<(), Failure>,
) -> Result<Verdict, Failure> {
    with_heap_of(arguments, 2, |heap, retained, file| {
        file.done();
        answer(heap, retained, file)
    })
}

/// As [`with_heap`], for an answer that reads the file again: `passes` times in all, two of them before. The bar is the
/// answer's to take off the screen.
pub(crate) fn with_heap_of(
    arguments: &GraphArguments,
    passes: u64,
    answer: impl FnOnce(&Heap<'_>, &Retained, &DumpFile) -> Result<(), Failure>,
) -> Result<Verdict, Failure> {
    let file = DumpFile::new(&arguments.file)?;
    let note = file.progress(passes);
    let raw = file
        .raw()
        .map_err(|fault| reading(&arguments.file, &fault))?;
    let input = Input::new(raw, &note).map_err(|fault| reading(&arguments.file, &fault))?;
    let heap = Heap::read(input, Options::default()).map_err(|fault| failure(&file, &fault))?;
    let rule = arguments.references.references();
    let retained = Retained::of(&heap, rule).map_err(|fault| failure(&file, &fault))?;
    answer(&heap, &retained, &file)?;
    Ok(file.verdict(heap.damaged()))
}

fn reading(path: &Path, fault: &std::io::Error) -> Failure {
    Failure::reading(path, fault)
}

/// A failure of the graph, with the file's name.
pub(crate) fn failure(file: &DumpFile, fault: &GraphError) -> Failure {
    file.done();
    match fault {
        GraphError::Read(fault) => file.failure(fault),
        other => file.refuse(other),
    }
}
