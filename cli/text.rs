//! `hprof text`: a binary file in the classic text layout.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use ::text::{transcribe, Settings, TextError, Transcribed};

use crate::dump_file::DumpFile;
use crate::outcome::{Failure, Verdict};
use crate::target;

/// Bytes that are written at once.
const BUFFER_BYTES: usize = 1 << 20;

/// Writes a dump or profile as text, as the JDK's HPROF agent does
///
/// The layout is that of format=a.
///
/// The text has threads, traces, and one line for each root, object and class, with a line below it
/// for each reference that is not null; then the allocation sites and CPU samples that the file
/// has. It has no primitive values, so no contents of strings.
///
/// Sizes of objects (sz) are those in a 64-bit HotSpot with compressed references, or in a 32-bit
/// one if the file's identifiers have 4 bytes. Dates are in UTC. A text heap dump is up to twice as
/// large as the file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hprof text heap.hprof | less
  hprof text heap.hprof.gz -o heap.txt")]
pub(crate) struct Arguments {
    /// The heap dump or profile, plain or gzip; - for standard input
    file: PathBuf,
    /// Which heap dump of a file with several, from 1 [default: the last]
    #[arg(long, value_name = "N")]
    dump: Option<usize>,
    /// Write to this file instead of stdout, replacing it unless it is a dump or a profile
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Reads the file and writes it as text.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let file = DumpFile::of_one(&arguments.file, arguments.dump)?;
    // Before anything is written, so that what is no dump leaves no text.
    drop(file.reader()?);
    let mut told = None;
    match &arguments.output {
        Some(path) => {
            let written = target::write_private(path, &file, |mut out| {
                transcribed(&file, &mut out, &mut told)
            });
            check(&file, written, told)
        }
        None => {
            let mut out = BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
            let written = transcribed(&file, &mut out, &mut told);
            check(&file, written.map_err(Failure::from), told)
        }
    }
}

/// What became of the reading; `None` before it has ended.
type Told = Option<Result<Transcribed, TextError>>;

/// Writes the text; how it went is in `told`. The error is that of the writing, or that there will
/// be no text.
fn transcribed(file: &DumpFile, out: &mut impl Write, told: &mut Told) -> io::Result<()> {
    let settings = Settings {
        sizes: None,
        utc_offset_seconds: 0,
        budget: file.budget(),
    };
    let written = match transcribe(&mut || file.open(), &settings, out) {
        Err(TextError::Write(error)) => Err(error),
        other => {
            let is_whole = other.is_ok();
            *told = Some(other);
            is_whole
                .then_some(())
                .ok_or_else(|| io::ErrorKind::InvalidData.into())
        }
    };
    file.done();
    written.and_then(|()| out.flush())
}

/// How the command ends: a file that cannot be read is the reason before all else.
fn check(file: &DumpFile, written: Result<(), Failure>, told: Told) -> Result<Verdict, Failure> {
    if let Some(Err(TextError::Read(error))) = &told {
        return Err(file.failure(error));
    }
    written?;
    let damaged = told.and_then(Result::ok).map_or(0, |told| told.damaged);
    Ok(file.verdict(damaged))
}
