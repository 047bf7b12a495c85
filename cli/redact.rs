//! `hprof redact`: a copy of a dump without the values that nobody else may see.

use std::io::{self, Write};
use std::path::PathBuf;

use ::redact::{redact, RedactError, Redacted};
use flate2::{write::GzEncoder, Compression};
use format::redaction::{FieldPatterns, Redacted as Word, Redaction};

use crate::dump_file::DumpFile;
use crate::number::counted;
use crate::outcome::{Failure, Verdict};
use crate::plain::plain;
use crate::screen;
use crate::target;

/// Copies a dump with zeros in place of its values
///
/// Lengths and references stay, so every reader opens the copy. docs/production.md lists what each
/// word of --redact covers. The agent's option redact= redacts a dump before it is written.
///
/// The command refuses a dump that is damaged or not whole, and replaces no file. The copy has mode
/// 0600.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hprof redact app.hprof -o shared.hprof
  hprof redact app.hprof.gz -o shared.hprof.gz --redact values --keep 'com.acme.Order#id;com.acme.*#currency'")]
pub(crate) struct Arguments {
    /// The heap dump, plain or gzip; - for standard input
    file: PathBuf,
    /// Write to this file, which must not exist yet, compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Which heap dump of a file with several, from 1 [default: the last]
    #[arg(long, value_name = "N")]
    dump: Option<usize>,
    /// What is left out: the text of strings; all primitive arrays; primitive fields, too; names
    /// of threads and source files, too
    #[arg(long, value_name = "WORD", default_value = "all", value_parser = ["strings", "arrays", "values", "all"])]
    redact: String,
    /// Fields whose value stays, as CLASS#FIELD; a star matches any letters, ; or + separates
    #[arg(long, value_name = "FIELDS", value_parser = patterns)]
    keep: Option<FieldPatterns>,
    /// Fields whose value becomes zeros in any case
    #[arg(long, value_name = "FIELDS", value_parser = patterns)]
    drop: Option<FieldPatterns>,
}

fn patterns(text: &str) -> Result<FieldPatterns, &'static str> {
    FieldPatterns::parse(text).ok_or("it takes CLASS#FIELD, as in com.acme.Order#id")
}

/// Reads the dump and writes the copy.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let file = DumpFile::of_one(&arguments.file, arguments.dump)?;
    // Before anything is written, so that what is no dump leaves no copy.
    drop(file.reader()?);
    let redaction = Redaction {
        what: Word::parse(&arguments.redact).unwrap_or(Word::All),
        keep: arguments.keep.clone().unwrap_or_default(),
        drop: arguments.drop.clone().unwrap_or_default(),
    };
    let is_packed = arguments.output.extension().is_some_and(|it| it == "gz");
    let (mut told, mut fault) = (Redacted::default(), None);
    let written = target::write_new(&arguments.output, |to| {
        let copied = if is_packed {
            let mut packed = GzEncoder::new(to, Compression::fast());
            let copied = copy(&file, &redaction, &mut packed);
            copied.and_then(|told| {
                packed.finish()?;
                Ok(told)
            })
        } else {
            copy(&file, &redaction, to)
        };
        copied.map(|copied| told = copied).map_err(|why| match why {
            RedactError::Write(fault) => fault,
            other => {
                fault = Some(other);
                io::ErrorKind::InvalidData.into()
            }
        })
    });
    file.done();
    match fault {
        Some(RedactError::Read(fault)) => return Err(file.failure(&fault)),
        Some(fault) => return Err(file.refuse(fault.to_string())),
        None => written?,
    }
    for pattern in &told.unmatched {
        let text = format!("no class has the field {pattern}");
        writeln!(io::stderr(), "{}", screen::message(&text))?;
    }
    let name = plain(&arguments.output.display().to_string());
    let (arrays, objects) = (
        counted(told.arrays, "array"),
        counted(told.objects, "object"),
    );
    let names = counted(told.texts, "name");
    writeln!(
        io::stdout(),
        "{name}: redacted: {arrays} and {objects} have zeros, {names} became stars"
    )?;
    Ok(Verdict::Sound)
}

fn copy(
    file: &DumpFile,
    redaction: &Redaction,
    to: &mut dyn Write,
) -> Result<Redacted, RedactError> {
    redact(&mut || file.open(), redaction, file.budget(), to)
}
