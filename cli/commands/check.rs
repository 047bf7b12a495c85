//! `hprof check`: what is in the file, and is it sound?

use std::path::PathBuf;

use reader::{CheckOptions, Fault, Origin, Report, RuleTotal, Severity};

use crate::answers::summary;
use crate::files::input_file::InputFile;
use crate::output::{counted, limit, plain, print, shown, Cell, Failure, Sections, Table, Verdict};

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
    let file = InputFile::new(&arguments.file)?;
    let options = CheckOptions {
        most: limit(arguments.top.unwrap_or(TOP)),
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
    let mut answer = Sections::default();
    summary::add(&mut answer, &summary, &file);
    add(&mut answer, &report);
    print(arguments.json, answer)?;
    Ok(Verdict::Sound.and(report.count(Severity::Error) == 0))
}

/// Adds what the check has found.
fn add<'a>(answer: &mut Sections<'a>, report: &'a Report) {
    let faults = Table::of(&report.faults, usize::MAX)
        .hidden("offset", |fault| fault.offset)
        .hidden("rule", |fault| fault.rule.id())
        .hidden("severity", |fault| word(fault.severity))
        .hidden("found", |fault| &*fault.found)
        .below(|fault| vec![line(fault)]);
    answer.table("faults", "", faults);
    let totals = Table::of(&report.totals, usize::MAX)
        .left("severity", "severity", |total| word(total.severity))
        .left("rule", "rule", |total| total.rule.id())
        .right("count", "count", |total| total.count)
        .right("first at", "", |total| Cell::Id(total.first_offset))
        .hidden("first_offset", |total| total.first_offset)
        .left("meaning", "", |total| meaning(total, report.origin));
    if !report.faults.is_empty() && !totals.is_empty() {
        answer.line("");
    }
    let has_totals = !totals.is_empty();
    answer.table("rules", "", totals);
    if has_totals {
        answer.line("");
    }
    if report.incomplete {
        answer.line("Part of the file could not be decoded, so what is missing was not judged.");
    }
    let (errors, notes) = (report.count(Severity::Error), report.count(Severity::Note));
    answer.json("ok", errors == 0);
    answer.fact("errors", errors);
    answer.fact("notes", notes);
    answer.json("incomplete", report.incomplete);
    answer.fact("writer", report.origin.name());
    let notes = match notes {
        0 => String::new(),
        notes => format!(", {}", counted(notes, "note")),
    };
    answer.line(match errors {
        0 => format!("OK: {}{notes}", counted(report.bytes, "byte")),
        errors => format!("{}{notes}", counted(errors, "error")),
    });
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
