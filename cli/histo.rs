//! `hprof histo`: how many objects of each class, and how large?

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use reader::Histogram;
use serde_json::json;

use crate::dump_file::DumpFile;
use crate::number::{counted, grouped};
use crate::outcome::{Failure, Verdict};
use crate::table::{Side, Table};

/// Lists the classes of a dump with the number and the size of their objects, largest first
///
/// `bytes` is an estimate of the shallow size, since HPROF tells no sizes: 16 bytes of header, plus the
/// fields or elements with references counted at the file's id size, rounded up to 8. `java.lang.Class` counts
/// every dumped class, without its static fields.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof histo --most 30 heap.hprof")]
pub(crate) struct Arguments {
    /// The dump, plain or gzip
    file: PathBuf,
    /// Print at most N classes; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    most: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads the file and prints the classes.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let file = DumpFile::new(&arguments.file)?;
    let histogram = Histogram::read(&mut file.reader()?).map_err(|fault| file.failure(&fault))?;
    file.done();
    let most = match arguments.most {
        0 => usize::MAX,
        most => most,
    };
    let mut to = BufWriter::new(io::stdout().lock());
    if arguments.json {
        print_json(&histogram, most, &mut to)?;
    } else {
        print(&histogram, most, &mut to)?;
    }
    to.flush()?;
    Ok(Verdict::Sound)
}

fn print(histogram: &Histogram, most: usize, to: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new([
        ("instances", Side::Right),
        ("bytes", Side::Right),
        ("class", Side::Left),
    ]);
    for row in histogram.rows.iter().take(most) {
        table.row([
            grouped(row.instances),
            grouped(row.bytes),
            row.class.clone(),
        ]);
    }
    table.row([
        grouped(histogram.instances()),
        grouped(histogram.bytes()),
        format!("total of {}", counted(histogram.rows.len() as u64, "row")),
    ]);
    table.print(to)?;
    if histogram.damaged > 0 {
        let places = counted(histogram.damaged, "damaged place");
        writeln!(
            to,
            "Warning: {places}; what they hide is not counted. See `hprof check`."
        )?;
    }
    Ok(())
}

fn print_json(histogram: &Histogram, most: usize, to: &mut dyn Write) -> io::Result<()> {
    let rows = histogram.rows.iter().take(most).map(|row| {
        json!({
            "class": row.class,
            "instances": row.instances,
            "bytes": row.bytes,
        })
    });
    let value = json!({
        "instances": histogram.instances(),
        "bytes": histogram.bytes(),
        "damaged": histogram.damaged,
        "classes": rows.collect::<Vec<_>>(),
    });
    writeln!(to, "{value:#}")
}
