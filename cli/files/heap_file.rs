//! A dump that is read as a graph, for commands about retained memory.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use graph::{GraphError, Heap, Input, Options, References, Retained, Sizes};
use serde::Serialize;

use crate::attach::live;
use crate::attach::memory_watch;
use crate::files::input_file::InputFile;
use crate::output::date::date;
use crate::output::{print, Failure, Sections, Verdict};
use crate::proc::process::process_named;

/// The arguments that all graph commands have.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct GraphArguments {
    /// The dump, plain or gzip; - for standard input; or the process id of a running JVM
    pub(crate) file: PathBuf,
    /// Which references keep an object alive
    #[arg(long, value_enum, default_value_t = Rule::All)]
    pub(crate) references: Rule,
    /// Which rules give the sizes of objects
    #[arg(long, value_enum, default_value_t = SizesOf::Jvm)]
    pub(crate) sizes: SizesOf,
    /// Which heap dump of a file with several, from 1 [default: the last]
    #[arg(long, value_name = "N")]
    pub(crate) dump: Option<usize>,
    /// The agent's library, for a running JVM [default: libhprof_rs.so beside this command]
    #[arg(long, value_name = "FILE")]
    pub(crate) agent: Option<PathBuf>,
}

impl GraphArguments {
    /// For commands that read values. Errors: it is not a file but a process id.
    pub(crate) fn check_is_file(&self) -> Result<(), Failure> {
        let Some(pid) = process_named(&self.file) else {
            return Ok(());
        };
        Err(Failure::Input(format!(
            "a running JVM sends no values, and its objects move: write a file with hprof dump {pid}"
        )))
    }

    /// Reads the heap, of which `passes` passes are made in all, two of them here. An answer about
    /// a part of the heap begins with the warning on stderr, and ends with this verdict.
    pub(crate) fn load(&self, passes: u64) -> Result<(Loaded, Verdict), Failure> {
        let file = opened(&self.file, self.dump, self.agent.as_deref())?;
        // Some bytes for each heap, which calls it as long as it lives; a command has one or two.
        let note = Box::leak(Box::new(file.progress(passes)));
        let loaded = Loaded::read(file, self, note)?;
        let verdict = loaded.file.verdict(loaded.heap.damaged());
        Ok((loaded, verdict))
    }
}

/// The one dump of a file; or the objects of the JVM with this process id, to be read as a file is.
pub(crate) fn opened(
    file: &Path,
    dump: Option<usize>,
    agent: Option<&Path>,
) -> Result<InputFile, Failure> {
    let Some(pid) = process_named(file) else {
        return InputFile::new(file)?.only(dump);
    };
    let name = format!("JVM {pid}");
    let (sent, pause_millis) = live::sent(pid, agent, "graph")?;
    let mut file = InputFile::of_open(Path::new(&name), sent)?;
    (file.pause_millis, file.has_values) = (pause_millis, false);
    Ok(file)
}

/// Which references keep an object alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rule {
    /// All, as in Eclipse MAT: also weak, soft, phantom and finalizer references
    All,
    /// All except the field `referent` of java.lang.ref.Reference
    Strong,
}

/// Which rules give the sizes of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SizesOf {
    /// The JVM's own where the dump has them, as dumps by this agent do; else Eclipse MAT's rules
    Jvm,
    /// Eclipse MAT's rules
    Mat,
}

impl From<Sizes> for SizesOf {
    fn from(sizes: Sizes) -> Self {
        match sizes.are_told {
            true => Self::Jvm,
            false => Self::Mat,
        }
    }
}

impl SizesOf {
    /// The words that follow "sizes by".
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Jvm => "the JVM itself",
            Self::Mat => "Eclipse MAT's rules",
        }
    }
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

/// The help of `FILE` for commands that read values, which no running JVM sends.
pub(crate) fn only_a_file(file: clap::Arg) -> clap::Arg {
    file.help("The dump, plain or gzip; - for standard input")
}

/// A heap in memory, for any number of questions.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Where it was read from.
    pub(crate) file: InputFile,
    /// Its objects.
    pub(crate) heap: Heap<'static>,
    /// Their retained sizes.
    pub(crate) retained: Retained,
    /// Which references count.
    pub(crate) rule: Rule,
}

impl Loaded {
    /// Reads the dump and computes retained sizes; `note` is told of the bytes of two passes.
    pub(crate) fn read(
        file: InputFile,
        arguments: &GraphArguments,
        note: &'static (dyn Fn(u64) + Sync),
    ) -> Result<Self, Failure> {
        let rule = arguments.references;
        let heap = heap(&file, arguments.sizes, note)?;
        file.phase("computing retained sizes");
        let retained = Retained::of(&heap, rule.references());
        let retained = retained.map_err(|fault| failure(&file, &fault))?;
        file.phase("answering");
        Ok(Self {
            file,
            heap,
            retained,
            rule,
        })
    }

    /// When a dump was made, if it tells.
    pub(crate) fn made(&self) -> Option<String> {
        let millis = self.heap.header().time_millis;
        (millis != 0).then(|| date(millis))
    }

    /// What was found in the heap; or a failure with the file's name.
    pub(crate) fn check<T>(&self, found: Result<T, GraphError>) -> Result<T, Failure> {
        found.map_err(|fault| failure(&self.file, &fault))
    }

    /// Prints an answer as JSON or as text, without the bar.
    pub(crate) fn print(&self, is_json: bool, mut answer: Sections<'_>) -> Result<(), Failure> {
        self.file.done();
        answer.maybe("pause_ms", self.file.pause_millis);
        Ok(print(is_json, answer)?)
    }
}

/// Reads the dump as a graph; `note` is told of the bytes of two passes.
pub(crate) fn heap<'n>(
    file: &InputFile,
    sizes: SizesOf,
    note: &'n (dyn Fn(u64) + Sync),
) -> Result<Heap<'n>, Failure> {
    let options = Options {
        by_rule: sizes == SizesOf::Mat,
        ..Options::default()
    };
    let failed = |fault: std::io::Error| file.refuse(fault);
    memory_watch::begin()?;
    let input = Input::new(file.raw().map_err(failed)?, note).map_err(failed)?;
    Heap::read(input, options).map_err(|fault| failure(file, &fault))
}

/// A failure of the graph, with the file's name.
pub(crate) fn failure(file: &InputFile, fault: &GraphError) -> Failure {
    file.done();
    match fault {
        GraphError::Read(fault) => file.failure(fault),
        other => file.refuse(other),
    }
}
