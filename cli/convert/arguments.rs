//! What is to be converted, into which form, and where it goes.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use flate2::{write::GzEncoder, Compression};
use format::redaction::FieldPatterns;

use crate::files::heap_file::{only_a_file, GraphArguments, Rule, SizesOf};
use crate::files::input_file::{InputFile, STDIN};
use crate::files::target;
use crate::output::{plain, Failure};

/// The name of standard output.
const STDOUT: &str = STDIN;

/// Bytes that are written to standard output at once.
const BUFFER_BYTES: usize = 1 << 20;

/// Writes a dump redacted, as text or tables, or its flame graph
///
/// The name of OUT says what is written, with .gz compressed; --to says it for other names.
///
/// hprof (.hprof): of an Android dump (1.0.3) a copy that all tools read (1.0.2): Android's own
/// roots become roots of unknown kind, arrays without elements become empty. With --redact, a copy
/// with zeros in place of values: lengths and references stay, so every reader opens it.
/// docs/production.md lists what each word covers. A dump that is damaged or not whole is refused.
///
/// text (.txt): the layout of format=a: threads, traces, a line for each root, object, class and
/// reference, allocation sites and CPU samples; no primitive values. Dates are in UTC.
///
/// parquet (a folder): tables for DuckDB, Spark and other engines. All have a column `dump` first,
/// so that those of many JVMs can be read as one. Of the heap's strings, only the names of threads
/// are there without --strings.
///
/// svg, collapsed (.folded), pprof (.pb.gz, .pprof): CPU time, or else the live bytes of allocation
/// sites, as a flame graph for a browser, as folded stacks, or for `go tool pprof`. These also read
/// text profiles (format=a).
///
/// A dump or a profile is never replaced. Files have mode 0600.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:
  hprof convert app.hprof -o shared.hprof.gz --redact=values --keep 'com.acme.Order#id'
  hprof convert cpu.hprof -o cpu.svg         then open cpu.svg in a browser
  hprof convert heap.hprof -o heap.svg --from holders
  hprof convert shop.hprof -o exports/shop/  then duckdb -c \"SELECT * FROM 'exports/*/dump.parquet'\"
  hprof convert heap.hprof -o - --to text | less",
    mut_arg("file", only_a_file),
    mut_arg("agent", |it| it.hide(true))
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) graph: GraphArguments,
    /// Write to this file or folder; - for standard output
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: PathBuf,
    /// What to write [default: what the name of OUT says]
    #[arg(long, value_enum, value_name = "FORM")]
    pub(super) to: Option<Form>,
    /// Leave out the text of strings; all primitive arrays; primitive fields, too; names of threads
    /// and source files, too
    #[arg(long, value_name = "WORD", num_args = 0..=1, require_equals = true, default_missing_value = "all", value_parser = ["strings", "arrays", "values", "all"])]
    pub(super) redact: Option<String>,
    /// Fields whose value stays, as CLASS#FIELD; a star matches any letters, ; or + separates
    #[arg(long, value_name = "FIELDS", value_parser = patterns, requires = "redact")]
    pub(super) keep: Option<FieldPatterns>,
    /// Fields whose value becomes zeros in any case
    #[arg(long, value_name = "FIELDS", value_parser = patterns, requires = "redact")]
    pub(super) drop: Option<FieldPatterns>,
    /// Value of the column `dump` [default: the file's name without .hprof and .gz]
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Also write the texts of strings, which may be secret, each cut to 4,096 bytes
    #[arg(long)]
    pub(super) strings: bool,
    /// What to draw, if the file has several [default: the first of these in the file]
    #[arg(long, value_enum, value_name = "SOURCE")]
    pub(super) from: Option<Source>,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    Hprof,
    Text,
    Parquet,
    Pprof,
    Collapsed,
    Svg,
}

/// What can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Source {
    /// CPU samples
    Samples,
    /// Times of methods; only in text profiles
    Times,
    /// Live bytes, as the profiler counted them
    Sites,
    /// Live bytes of the heap dump's objects that have a stack
    Dump,
    /// All bytes ever allocated, as the profiler counted them
    Allocated,
    /// Retained bytes of the heap dump, below static fields, threads and other roots
    Holders,
}

/// Ends of names, without `.gz`.
const ENDS: [(&str, Form); 8] = [
    (".hprof", Form::Hprof),
    (".txt", Form::Text),
    (".parquet", Form::Parquet),
    (".pb", Form::Pprof),
    (".pprof", Form::Pprof),
    (".collapsed", Form::Collapsed),
    (".folded", Form::Collapsed),
    (".svg", Form::Svg),
];

impl Form {
    pub(super) fn of(path: &Path) -> Option<Self> {
        let name = path.to_string_lossy();
        if path.is_dir() || name.ends_with('/') {
            return Some(Self::Parquet);
        }
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let known = ENDS.into_iter().find(|(end, _)| name.ends_with(end));
        known.map(|(_, form)| form)
    }
}

fn patterns(text: &str) -> Result<FieldPatterns, &'static str> {
    FieldPatterns::parse(text).ok_or("it takes CLASS#FIELD, as in com.acme.Order#id")
}

impl Arguments {
    /// An option that means nothing for this form, and the forms that it is for.
    pub(super) fn misplaced(&self, form: Form) -> Option<(&'static str, &'static str)> {
        let (is_dump, is_tables) = (form == Form::Hprof, form == Form::Parquet);
        let is_profile = matches!(form, Form::Pprof | Form::Collapsed | Form::Svg);
        let graph = &self.graph;
        let given = [
            ("--redact", self.redact.is_some(), is_dump, "hprof"),
            ("--name", self.name.is_some(), is_tables, "parquet"),
            ("--strings", self.strings, is_tables, "parquet"),
            (
                "--references",
                graph.references != Rule::All,
                is_tables,
                "parquet",
            ),
            ("--sizes", graph.sizes != SizesOf::Jvm, is_tables, "parquet"),
            (
                "--from",
                self.from.is_some(),
                is_profile,
                "pprof, collapsed or svg",
            ),
        ];
        given
            .into_iter()
            .find_map(|(option, is_given, fits, forms)| {
                (is_given && !fits).then_some((option, forms))
            })
    }

    pub(super) fn input(&self) -> Result<InputFile, Failure> {
        InputFile::new(&self.graph.file)?.only(self.graph.dump)
    }

    /// Writes what `content` makes, whole or not at all, unless it goes to standard output.
    pub(super) fn write<T>(
        &self,
        input: &InputFile,
        form: Form,
        content: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        // A profile for pprof is compressed already.
        let is_packed = form != Form::Pprof && self.output.extension().is_some_and(|it| it == "gz");
        let content = |to: &mut dyn Write| {
            if !is_packed {
                return content(to);
            }
            let mut packed = GzEncoder::new(to, Compression::fast());
            let made = content(&mut packed)?;
            packed.finish()?;
            Ok(made)
        };
        let made = match form {
            _ if self.is_to_stdout() => {
                let mut to = BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
                content(&mut to).and_then(|made| Ok(to.flush().map(|()| made)?))
            }
            Form::Hprof => target::write_new(&self.output, content),
            _ => target::write(&self.output, input, content),
        };
        input.done();
        made
    }

    fn is_to_stdout(&self) -> bool {
        self.output.as_os_str() == STDOUT
    }

    /// Says in a line what was written.
    pub(super) fn tell(&self, what: &str) -> Result<(), Failure> {
        if !self.is_to_stdout() {
            let name = plain(&self.output.display().to_string());
            writeln!(io::stdout(), "{name}: {what}")?;
        }
        Ok(())
    }
}
