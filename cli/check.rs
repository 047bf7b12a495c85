//! `hprof check`: is the file sound?

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use reader::{CheckOptions, Fault, Report, Severity};
use serde_json::{json, Value};

use crate::dump_file::DumpFile;
use crate::number::{counted, grouped};
use crate::outcome::{Failure, Verdict};
use crate::plain::plain;
use crate::table::{Side, Table};

/// Checks a dump against the format and against what readers need
///
/// Reads the file twice and judges lengths, order, ids, references, classes, frames, traces, threads and roots.
/// Prints the first faults by offset, then how often each rule is broken, and at last one line: `OK: ...` or
/// `N faults`. A note is no fault.
///
/// Exit codes: 0 no errors, 1 errors, 2 wrong usage or unreadable file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof check --lenient heap.hprof")]
pub(crate) struct Arguments {
    /// The dump, plain or gzip
    file: PathBuf,
    /// Treat as notes what HotSpot's own dumps do, such as references to objects that are not there
    #[arg(long)]
    lenient: bool,
    /// Describe at most N faults one by one; the others are only counted
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Checks the file and prints what was found.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let file = DumpFile::new(&arguments.file)?;
    let options = CheckOptions {
        most: arguments.most,
        lenient: arguments.lenient,
    };
    let report =
        reader::check(&mut || file.open(), options).map_err(|fault| file.failure(&fault))?;
    file.done();
    let mut to = BufWriter::new(io::stdout().lock());
    if arguments.json {
        writeln!(to, "{:#}", in_json(&report))?;
    } else {
        print(&report, &mut to)?;
    }
    to.flush()?;
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
        return writeln!(to, "{}{notes}", counted(errors, "fault"));
    }
    let bytes = counted(report.bytes, "byte");
    let objects = counted(report.objects, "object");
    writeln!(to, "OK: {bytes}, {objects}{notes}")
}

fn print_totals(report: &Report, to: &mut dyn Write) -> io::Result<()> {
    if report.totals.is_empty() {
        return Ok(());
    }
    let columns = [
        ("rule", Side::Left),
        ("severity", Side::Left),
        ("count", Side::Right),
        ("first at", Side::Right),
        ("meaning", Side::Left),
    ];
    let mut table = Table::new(columns);
    for total in &report.totals {
        table.row([
            total.rule.id().to_owned(),
            word(total.severity).to_owned(),
            grouped(total.count),
            format!("{:#x}", total.first_offset),
            total.rule.meaning().to_owned(),
        ]);
    }
    if !report.faults.is_empty() {
        writeln!(to)?;
    }
    table.print(to)?;
    writeln!(to)
}

fn line(fault: &Fault) -> String {
    let (offset, severity, rule) = (fault.offset, word(fault.severity), fault.rule.id());
    format!(
        "{offset:#012x}  {severity:5}  {rule}: {}",
        plain(&fault.found)
    )
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Note => "note",
    }
}

fn in_json(report: &Report) -> Value {
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
    json!({
        "ok": report.count(Severity::Error) == 0,
        "errors": report.count(Severity::Error),
        "notes": report.count(Severity::Note),
        "incomplete": report.incomplete,
        "version": report.header.version.number(),
        "bytes": report.bytes,
        "objects": report.objects,
        "rules": totals.collect::<Vec<_>>(),
        "faults": faults.collect::<Vec<_>>(),
    })
}
