//! `hprof check`: what is in the file, and is it sound?

mod summary;
mod summary_json;

use std::io::{self, Write};
use std::path::PathBuf;

use reader::{CheckOptions, Fault, Origin, Report, RuleTotal, Severity, Summary};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use crate::dump_file::DumpFile;
use crate::number::{counted, grouped};
use crate::outcome::{Failure, Verdict};
use crate::plain::{plain, shown};
use crate::stdout::print_answer;
use crate::table::{Side, Table};

/// Number of errors described without `--top`.
const TOP: usize = 20;

/// Says what is in a dump, and whether it keeps the format's rules
///
/// Sizes of objects are those of `hprof histo`. Dumps by this agent also have facts about their
/// JVM. Names of threads come from START THREAD records or from the thread objects; these are
/// searched in files up to 1 GiB. `hprof threads` prints stacks.
///
/// Then it checks lengths, order, ids, references, classes, frames, traces,
/// threads and roots. Prints how often each rule is broken, the first places in detail, and finally
/// one line: `OK: ...` or `N errors`.
///
/// An error means that the data is wrong, or that a common reader cannot read the file. A note
/// means that the file's writer is known to break this rule, and that readers can cope: examples
/// are HotSpot's references to missing objects and roots after objects, record times and class
/// names with dots from the JDK's HPROF agent (Java 8 and earlier), and Android's own records. The
/// start of the file identifies the writer, which --json names. --strict turns notes into errors,
/// which they always are in dumps by hprof-rs.
///
/// Exit codes: 0 no errors, 1 errors, 2 wrong usage or unreadable file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof check heap.hprof")]
pub(crate) struct Arguments {
    /// The dump, plain or gzip; - for standard input
    file: PathBuf,
    /// Which heap dump of a file with several is described, from 1 [default: the last]
    #[arg(long, value_name = "N")]
    dump: Option<usize>,
    /// Turn notes into errors
    #[arg(long)]
    strict: bool,
    /// Describe at most N errors, then N notes; 0 for all [default: 20 errors]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Checks the file and prints the result.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let file = DumpFile::new(&arguments.file)?;
    let options = CheckOptions {
        most: match arguments.top {
            None => TOP,
            Some(0) => usize::MAX,
            Some(top) => top,
        },
        strict: arguments.strict,
        budget: file.budget(),
    };
    let mut report =
        reader::check(&mut || file.open(), options).map_err(|fault| file.failure(&fault))?;
    if arguments.top.is_none() {
        report
            .faults
            .retain(|fault| fault.severity == Severity::Error);
    }
    // All of the file is checked.
    let file = file.only(arguments.dump)?;
    let summary = summary::of(&file)?;
    file.done();
    let both = InJson(&summary, &report);
    print_answer(arguments.json, &both, |to| {
        summary::print(&summary, &file, to)?;
        print(&report, to)
    })?;
    Ok(match report.count(Severity::Error) {
        0 => Verdict::Sound,
        _ => Verdict::Faulty,
    })
}

fn print(report: &Report, to: &mut dyn Write) -> io::Result<()> {
    for fault in &report.faults {
        writeln!(to, "{}", line(fault))?;
    }
    print_totals(report, to)?;
    if report.incomplete {
        writeln!(
            to,
            "Part of the file could not be decoded, so what is missing was not judged."
        )?;
    }
    let (errors, notes) = (report.count(Severity::Error), report.count(Severity::Note));
    let notes = match notes {
        0 => String::new(),
        notes => format!(", {}", counted(notes, "note")),
    };
    if errors > 0 {
        return writeln!(to, "{}{notes}", counted(errors, "error"));
    }
    let bytes = counted(report.bytes, "byte");
    writeln!(to, "OK: {bytes}{notes}")
}

fn print_totals(report: &Report, to: &mut dyn Write) -> io::Result<()> {
    if report.totals.is_empty() {
        return Ok(());
    }
    let columns = [
        ("severity", Side::Left),
        ("rule", Side::Left),
        ("count", Side::Right),
        ("first at", Side::Right),
        ("meaning", Side::Left),
    ];
    let mut table = Table::new(columns);
    for total in &report.totals {
        table.row([
            word(total.severity).to_owned().into(),
            total.rule.id().to_owned().into(),
            grouped(total.count).into(),
            format!("{:#x}", total.first_offset).into(),
            meaning(total, report.origin).into(),
        ]);
    }
    if !report.faults.is_empty() {
        writeln!(to)?;
    }
    table.print(to)?;
    writeln!(to)
}

fn meaning(total: &RuleTotal, origin: Origin) -> String {
    let meaning = total.rule.meaning();
    match (total.severity, total.rule.habit(origin)) {
        (Severity::Note, Some(writer)) => format!("{meaning} So does {writer}."),
        _ => meaning.to_owned(),
    }
}

fn line(fault: &Fault) -> String {
    let (offset, severity, rule) = (fault.offset, word(fault.severity), fault.rule.id());
    format!(
        "{offset:#012x}  {severity:5}  {rule}: {}",
        plain(&shown(&fault.found))
    )
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Note => "note",
    }
}

/// What `--json` prints.
struct InJson<'a>(&'a Summary, &'a Report);

impl Serialize for InJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(summary, report) = self;
        let faults = report.faults.iter().map(|fault| {
            json!({
                "offset": fault.offset,
                "rule": fault.rule.id(),
                "severity": word(fault.severity),
                "found": fault.found,
            })
        });
        let totals = report.totals.iter().map(|total| {
            json!({
                "rule": total.rule.id(),
                "severity": word(total.severity),
                "count": total.count,
                "first_offset": total.first_offset,
            })
        });
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("ok", &(report.count(Severity::Error) == 0))?;
        map.serialize_entry("errors", &report.count(Severity::Error))?;
        map.serialize_entry("notes", &report.count(Severity::Note))?;
        map.serialize_entry("incomplete", &report.incomplete)?;
        map.serialize_entry("writer", report.origin.name())?;
        map.serialize_entry("rules", &totals.collect::<Vec<_>>())?;
        map.serialize_entry("faults", &faults.collect::<Vec<_>>())?;
        summary_json::entries(summary, &mut map)?;
        map.end()
    }
}
