//! `hprof histo`: how many objects of each class, and how large?

use std::cmp::Reverse;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use graph::Heap;
use reader::{Histogram, HistogramRow};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{json, Value};

use crate::answer::sizes_by::SizesBy;
use crate::dump_file::DumpFile;
use crate::heap_file::{heap, opened_jvm, SizesOf};
use crate::json::{self, List};
use crate::live::process_named;
use crate::number::{counted, grouped};
use crate::outcome::{Failure, Verdict};
use crate::table::{Side, Table};

/// Lists the classes of a dump with the number and size of their objects, largest first
///
/// `bytes` is what the objects take by themselves. HPROF contains no sizes; dumps by this agent tell those of the JVM.
/// Others have them by Eclipse MAT's rules. `java.lang.Class` counts every dumped class with its static fields.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof histo --top 30 heap.hprof")]
pub(crate) struct Arguments {
    /// The dump, uncompressed or gzip; - for standard input; or the process id of a running JVM
    file: PathBuf,
    /// The agent's library, for a running JVM [default: libhprof_rs.so beside this command]
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
    /// Print at most N classes; 0 for all
    #[arg(long, alias = "most", value_name = "N", default_value_t = 0)]
    top: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads the file and prints the classes.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let (file, histogram) = match process_named(&arguments.file) {
        Some(pid) => of_jvm(pid, arguments.agent.as_deref())?,
        None => {
            let file = DumpFile::new(&arguments.file)?;
            let histogram = Histogram::read(&mut file.reader()?);
            let histogram = histogram.map_err(|fault| file.failure(&fault))?;
            (file, histogram)
        }
    };
    file.done();
    let top = match arguments.top {
        0 => usize::MAX,
        top => top,
    };
    let mut to = BufWriter::new(io::stdout().lock());
    if arguments.json {
        let histogram = &histogram;
        let pause_millis = file.pause_millis();
        let answer = InJson {
            histogram,
            top,
            pause_millis,
        };
        json::print(&answer, &mut to)?;
    } else {
        print(&histogram, top, &mut to)?;
    }
    to.flush()?;
    Ok(file.verdict(histogram.damaged))
}

/// The classes of a JVM that runs, with the sizes that it tells.
fn of_jvm(pid: i32, agent: Option<&Path>) -> Result<(DumpFile, Histogram), Failure> {
    let file = opened_jvm(pid, agent)?;
    let note = file.progress(2);
    let histogram = of_heap(&heap(&file, SizesOf::Jvm, &note)?);
    Ok((file, histogram))
}

/// The classes of a heap that is in memory, with the sizes of its objects there.
fn of_heap(heap: &Heap<'_>) -> Histogram {
    let mut counts = vec![(0_u64, 0_u64); heap.classes() as usize];
    for object in 0..heap.objects() {
        if let Some((instances, bytes)) = counts.get_mut(heap.class(object) as usize) {
            *instances += 1;
            *bytes = bytes.saturating_add(heap.shallow_bytes(object));
        }
    }
    let row = |(class, (instances, bytes)): (u32, (u64, u64))| HistogramRow {
        class: heap.class_name(class).into(),
        instances,
        bytes,
    };
    let counted = (0..)
        .zip(counts)
        .filter(|(_, (instances, _))| *instances > 0);
    let mut rows: Vec<HistogramRow> = counted.map(row).collect();
    rows.sort_by(|a, b| {
        let key = |row: &HistogramRow| (Reverse(row.bytes), Reverse(row.instances));
        key(a).cmp(&key(b)).then_with(|| a.class.cmp(&b.class))
    });
    Histogram {
        rows,
        sizes: heap.sizes(),
        damaged: heap.damaged(),
    }
}

/// What `--json` prints, for a heap that is in memory. The sizes are those of `hprof top`.
pub(crate) fn answer(heap: &Heap<'_>, top: usize) -> serde_json::Result<Value> {
    let histogram = &of_heap(heap);
    serde_json::to_value(InJson {
        histogram,
        top,
        pause_millis: None,
    })
}

fn print(histogram: &Histogram, top: usize, to: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new([
        ("instances", Side::Right),
        ("bytes", Side::Right),
        ("class", Side::Left),
    ]);
    for row in histogram.rows.iter().take(top) {
        table.row([
            grouped(row.instances).into(),
            grouped(row.bytes).into(),
            row.class.clone().into(),
        ]);
    }
    let rows = counted(histogram.rows.len() as u64, "row");
    let total = match histogram.rows.len().saturating_sub(top) as u64 {
        0 => format!("total of {rows}"),
        left_out => format!(
            "total of {rows}, {} of them not shown; --top 0 prints all",
            grouped(left_out)
        ),
    };
    table.row([
        grouped(histogram.instances()).into(),
        grouped(histogram.bytes()).into(),
        total.into(),
    ]);
    table.print(to)?;
    writeln!(to, "Sizes by {}.", SizesBy::from(histogram.sizes))
}

/// The histogram as JSON, with up to `top` classes.
#[derive(Debug)]
struct InJson<'h> {
    histogram: &'h Histogram,
    top: usize,
    pause_millis: Option<u64>,
}

impl Serialize for InJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let rows = self.histogram.rows.iter().take(self.top).map(|row| {
            let HistogramRow {
                class,
                instances,
                bytes,
            } = row;
            json!({ "class": **class, "instances": instances, "bytes": bytes })
        });
        let left_out = self.histogram.rows.len().saturating_sub(self.top);
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("bytes", &self.histogram.bytes())?;
        map.serialize_entry("classes", &List(rows))?;
        map.serialize_entry("damaged", &self.histogram.damaged)?;
        map.serialize_entry("instances", &self.histogram.instances())?;
        map.serialize_entry("left_out", &left_out)?;
        if let Some(millis) = self.pause_millis {
            map.serialize_entry("pause_ms", &millis)?;
        }
        map.serialize_entry("sizes", &SizesBy::from(self.histogram.sizes))?;
        map.end()
    }
}
