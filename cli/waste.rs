//! `hprof waste`: which memory holds nothing new?

mod waste_json;

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use graph::{Duplicates, Filling, GraphError, Heap, Retained, Waste};
use serde_json::Value;

use crate::heap_file::{failure, with_heap_of, GraphArguments, Loaded};
use crate::json;
use crate::number::{counted, grouped, in_units, percent};
use crate::outcome::{Failure, Verdict};
use crate::plain::plain;
use crate::table::{Side, Table};

/// Bytes of a text that are printed.
const TEXT_BYTES: usize = 200;

/// Lists memory that holds nothing new: equal strings and arrays, collections with little in them, boxed numbers
///
/// Strings and arrays of primitive values that have equal contents: all but one of them are lost. Collections of the JDK
/// that are empty or have one element: they are lost with the arrays that only they hold. Collections that use less than
/// a quarter of their array: the empty places are lost. Boxed numbers, characters and truth values: all of them are lost.
/// No byte counts twice, and objects that no root leads to are left out.
///
/// A collection or a boxed number that several fields hold counts for the first of them in the file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof waste heap.hprof --top 20")]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print at most N rows of each table; 0 for all
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Print the texts of strings, which may be secret, cut to 200 bytes
    #[arg(long)]
    strings: bool,
}

/// Reads the file and prints what is wasted.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    arguments.graph.check_is_file()?;
    with_heap_of(&arguments.graph, 3, |heap, retained, file| {
        let failed = |fault| failure(file, &fault);
        let waste = Waste::find(heap, retained).map_err(failed)?;
        file.done();
        let most = match arguments.top {
            0 => usize::MAX,
            top => top,
        };
        let answer = Answer::new((heap, retained), waste, most, arguments.strings);
        let answer = answer.map_err(failed)?;
        let mut to = BufWriter::new(io::stdout().lock());
        if arguments.json {
            json::print(&waste_json::of(&answer), &mut to)?;
        } else {
            answer.print(&mut to)?;
        }
        Ok(to.flush()?)
    })
}

/// What `--json` prints, for a heap of a file that is in memory. Errors: the file cannot be read.
pub(crate) fn answer(
    loaded: &Loaded<'_>,
    most: usize,
    with_texts: bool,
) -> Result<Value, GraphError> {
    let both = (&loaded.heap, &loaded.retained);
    let waste = Waste::find(both.0, both.1)?;
    let answer = Answer::new(both, waste, most, with_texts)?;
    Ok(waste_json::of(&answer))
}

/// What is printed.
struct Answer<'h, 'p> {
    heap: &'h Heap<'p>,
    waste: Waste,
    /// Bytes of all reachable objects.
    total_bytes: u64,
    /// Rows of each table.
    most: usize,
    /// Texts of the strings that are listed; `None` if they are not to be seen.
    texts: Option<BTreeMap<u32, String>>,
}

impl<'h, 'p> Answer<'h, 'p> {
    fn new(
        (heap, retained): (&'h Heap<'p>, &Retained),
        waste: Waste,
        most: usize,
        with_texts: bool,
    ) -> Result<Self, GraphError> {
        let strings = waste.strings.groups.iter().take(most);
        let texts = if with_texts {
            let objects: Vec<u32> = strings.map(|row| row.object).collect();
            Some(heap.strings(&objects, TEXT_BYTES)?)
        } else {
            None
        };
        Ok(Self {
            heap,
            total_bytes: retained.total_bytes(),
            most,
            texts,
            waste,
        })
    }

    fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        let (waste, total) = (&self.waste, self.total_bytes);
        let lost = waste.lost_bytes();
        writeln!(
            to,
            "{} of {} ({}) hold nothing new",
            in_units(lost),
            in_units(total),
            percent(lost, total)
        )?;
        self.print_strings(to)?;
        self.print_arrays(to)?;
        self.print_collections(to)?;
        self.print_boxed(to)
    }

    fn print_strings(&self, to: &mut dyn Write) -> io::Result<()> {
        let all = &self.waste.strings;
        head(to, "strings", all, "text")?;
        let mut table = Table::new([
            ("lost bytes", Side::Right),
            ("strings", Side::Right),
            ("length", Side::Right),
            ("one of them", Side::Left),
            (self.texts.as_ref().map_or("", |_| "text"), Side::Left),
        ]);
        for row in all.groups.iter().take(self.most) {
            let text = self.texts.as_ref().and_then(|all| all.get(&row.object));
            table.row([
                grouped(row.lost_bytes).into(),
                grouped(row.objects).into(),
                grouped(row.length.into()).into(),
                format!("{:#x}", self.heap.id(row.object)).into(),
                text.map_or_else(String::new, |text| format!("{:?}", plain(text)))
                    .into(),
            ]);
        }
        print_rows(to, &table, all.groups.len(), self.most)
    }

    fn print_arrays(&self, to: &mut dyn Write) -> io::Result<()> {
        let all = &self.waste.arrays;
        head(to, "arrays of primitive values", all, "value")?;
        let mut table = Table::new([
            ("lost bytes", Side::Right),
            ("arrays", Side::Right),
            ("length", Side::Right),
            ("one of them", Side::Left),
            ("class", Side::Left),
        ]);
        for row in all.groups.iter().take(self.most) {
            table.row([
                grouped(row.lost_bytes).into(),
                grouped(row.objects).into(),
                grouped(row.length.into()).into(),
                format!("{:#x}", self.heap.id(row.object)).into(),
                self.heap.class_name(self.heap.class(row.object)).into(),
            ]);
        }
        print_rows(to, &table, all.groups.len(), self.most)
    }

    fn print_collections(&self, to: &mut dyn Write) -> io::Result<()> {
        let rows = &self.waste.collections;
        let lost = rows.iter().map(|row| row.lost_bytes).sum();
        let objects = rows.iter().map(|row| row.objects).sum();
        let collections = counted(objects, "collection");
        writeln!(
            to,
            "\n{}: {collections} with nothing, one element or many empty places",
            in_units(lost)
        )?;
        let mut table = Table::new([
            ("lost bytes", Side::Right),
            ("objects", Side::Right),
            ("fault", Side::Left),
            ("class", Side::Left),
            ("held by", Side::Left),
        ]);
        for row in rows.iter().take(self.most) {
            table.row([
                grouped(row.lost_bytes).into(),
                grouped(row.objects).into(),
                fault(row.filling).to_owned().into(),
                self.heap.class_name(row.class).into(),
                row.holder.clone().into(),
            ]);
        }
        print_rows(to, &table, rows.len(), self.most)
    }

    fn print_boxed(&self, to: &mut dyn Write) -> io::Result<()> {
        let rows = &self.waste.boxed;
        let bytes = rows.iter().map(|row| row.bytes).sum();
        let objects = rows.iter().map(|row| row.objects).sum();
        let boxed = counted(objects, "boxed value");
        writeln!(to, "\n{}: {boxed}", in_units(bytes))?;
        let mut table = Table::new([
            ("bytes", Side::Right),
            ("objects", Side::Right),
            ("class", Side::Left),
            ("held by", Side::Left),
        ]);
        for row in rows.iter().take(self.most) {
            table.row([
                grouped(row.bytes).into(),
                grouped(row.objects).into(),
                self.heap.class_name(row.class).into(),
                row.holder.clone().into(),
            ]);
        }
        print_rows(to, &table, rows.len(), self.most)
    }
}

/// What is wrong with a collection, in a word or two.
pub(crate) fn fault(filling: Filling) -> &'static str {
    match filling {
        Filling::Empty => "empty",
        Filling::One => "one element",
        Filling::Sparse => "sparse",
    }
}

fn head(to: &mut dyn Write, what: &str, all: &Duplicates, contents: &str) -> io::Result<()> {
    writeln!(
        to,
        "\n{}: {} {what} with {}",
        in_units(all.lost_bytes),
        grouped(all.objects),
        counted(all.contents, &format!("different {contents}"))
    )
}

fn print_rows<const N: usize>(
    to: &mut dyn Write,
    table: &Table<N>,
    rows: usize,
    most: usize,
) -> io::Result<()> {
    if table.is_empty() {
        return Ok(());
    }
    table.print(to)?;
    let rest = rows.saturating_sub(most) as u64;
    if rest > 0 {
        writeln!(
            to,
            "... and {}; --top 0 prints all",
            counted(rest, "more row")
        )?;
    }
    Ok(())
}
