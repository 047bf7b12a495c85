//! `hprof diff`: what grew between two dumps?

mod site_growth;

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use graph::{Heap, Retained, Total};
use serde_json::{json, Value};

use crate::answer::sites;
use crate::answer::sizes_by::SizesBy;
use crate::class_paths::{ClassPaths, GrownPath};
use crate::heap_file::{with_loaded, GraphArguments, Loaded, Rule, SizesOf};
use crate::json;
use crate::live::process_named;
use crate::number::grouped;
use crate::outcome::{Failure, Verdict};
use crate::plain::plain;
use crate::table::{Side, Table};
use site_growth::{SiteGrowth, Sites};

/// Lists what grew between two dumps: places in the dominator tree, and classes or allocation sites
///
/// Objects move between dumps, so classes are matched by name. Retained bytes are those of `hprof
/// top --by class`, or `--by site`. A place is told by the classes that lead to it, each kept alive
/// by the one before.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  hprof diff before.hprof after.hprof --fail-if-grown 1000000\n  hprof diff 4711 --after 10m"
)]
pub(crate) struct Arguments {
    /// The earlier dump, uncompressed or gzip; or the process id of a running JVM
    before: PathBuf,
    /// The later dump, uncompressed or gzip; or a process id
    #[arg(required_unless_present = "wait")]
    after: Option<PathBuf>,
    /// Ask the same running JVM twice, so far apart: 30s, 10m, 1h
    #[arg(long = "after", value_name = "TIME", conflicts_with = "after", value_parser = duration)]
    wait: Option<Duration>,
    /// What is listed below the places
    #[arg(long, value_enum, default_value_t = By::Class)]
    by: By,
    /// Which references keep an object alive
    #[arg(long, value_enum, default_value_t = Rule::All)]
    references: Rule,
    /// Whose sizes of objects count
    #[arg(long, value_enum, default_value_t = SizesOf::Jvm)]
    sizes: SizesOf,
    /// Print at most N places and N rows; 0 for all
    #[arg(long, value_name = "N", default_value_t = 30)]
    top: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Exit with 1 if all reachable objects together grew by more than this many bytes
    #[arg(long, value_name = "BYTES")]
    fail_if_grown: Option<u64>,
    /// The agent's library, for a running JVM [default: libhprof_rs.so beside this command]
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
}

/// What is compared beside places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Classes
    Class,
    /// Lines of code that allocated: retained bytes of each stack, an estimate with its error
    Site,
}

/// The sums of one dump.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    classes: BTreeMap<String, Total>,
    /// By stack, if asked for.
    sites: Option<Sites>,
    paths: ClassPaths,
    /// Bytes of all reachable objects.
    pub(crate) total_bytes: u64,
    sizes: SizesBy,
    /// How long a running JVM paused for them.
    pause_millis: Option<u64>,
}

/// One class in both dumps.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) class: String,
    pub(crate) before: Total,
    pub(crate) after: Total,
}

impl Row {
    fn grown_bytes(&self) -> i128 {
        change(self.before.retained_bytes, self.after.retained_bytes)
    }
}

/// How two heaps differ.
#[derive(Debug)]
pub(crate) struct Growth {
    /// The classes that differ, those that grew most first.
    pub(crate) rows: Vec<Row>,
    /// The sites that differ, if asked for.
    sites: Option<SiteGrowth>,
    /// Where in the dominator tree the heap grew, most first.
    pub(crate) paths: Vec<GrownPath>,
    /// Bytes of all reachable objects of the earlier heap.
    pub(crate) before_bytes: u64,
    after_bytes: u64,
}

impl Growth {
    /// The growth between heaps with these sums.
    pub(crate) fn of(before: Sums, after: Sums) -> Self {
        Self {
            paths: after.paths.grown_since(&before.paths),
            rows: rows(before.classes, after.classes),
            sites: before
                .sites
                .zip(after.sites)
                .map(|(before, after)| SiteGrowth::of(before, after)),
            before_bytes: before.total_bytes,
            after_bytes: after.total_bytes,
        }
    }

    fn grown_bytes(&self) -> i128 {
        change(self.before_bytes, self.after_bytes)
    }
}

/// Reads both files and prints what grew.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let began = Instant::now();
    let wait = arguments.wait.unwrap_or_default();
    if arguments.wait.is_some() && process_named(&arguments.before).is_none() {
        return Err(Failure::Input(format!(
            "{} is not a process id: --after asks a running JVM twice",
            plain(&arguments.before.display().to_string())
        )));
    }
    let (before, first) = sums(&arguments.before, arguments)?;
    // The first answer took a part of the time.
    sleep(wait.saturating_sub(began.elapsed()));
    let later = arguments.after.as_ref().unwrap_or(&arguments.before);
    let (after, second) = sums(later, arguments)?;
    if before.sizes != after.sizes {
        // If stderr is closed, nobody is there to be warned.
        let _ = writeln!(
            io::stderr(),
            "hprof: one of the two tells the JVM's own sizes, the other does not: --sizes mat compares them by the same rules"
        );
    }
    let pauses = (before.pause_millis, after.pause_millis);
    let growth = Growth::of(before, after);
    let most = match arguments.top {
        0 => usize::MAX,
        top => top,
    };
    let mut to = BufWriter::new(io::stdout().lock());
    if arguments.json {
        let mut answer = growth.in_json(most);
        if let Some(answer) = answer.as_object_mut() {
            let of = |millis: Option<u64>| Some(Value::from(millis?));
            let pauses = [("pause_ms_before", pauses.0), ("pause_ms_after", pauses.1)];
            let told = pauses.map(|(name, millis)| Some((name.to_owned(), of(millis)?)));
            answer.extend(told.into_iter().flatten());
        }
        json::print(&answer, &mut to)?;
    } else {
        growth.print(most, &mut to)?;
    }
    to.flush()?;
    let limit = arguments.fail_if_grown.map(i128::from);
    let failed = limit.is_some_and(|limit| growth.grown_bytes() > limit);
    let whole = first == Verdict::Sound && second == Verdict::Sound;
    Ok(if whole && !failed {
        Verdict::Sound
    } else {
        Verdict::Faulty
    })
}

/// A time as people write it.
fn duration(text: &str) -> Result<Duration, String> {
    let parsed: Result<jiff::SignedDuration, _> = text.parse();
    let time = parsed.ok().and_then(|time| Duration::try_from(time).ok());
    time.ok_or_else(|| "a time is written as 30s, 10m or 1h".to_owned())
}

fn sums(file: &Path, arguments: &Arguments) -> Result<(Sums, Verdict), Failure> {
    let by = arguments.by;
    let arguments = GraphArguments {
        file: file.to_owned(),
        references: arguments.references,
        sizes: arguments.sizes,
        agent: arguments.agent.clone(),
    };
    let mut sums = Sums::default();
    let verdict = with_loaded(&arguments, 2, |loaded| {
        let (heap, retained, file) = (&loaded.heap, &loaded.retained, &loaded.file);
        file.done();
        sums = sums_by_name(heap, retained);
        sums.pause_millis = file.pause_millis();
        if by == By::Site {
            let rows = sites::rows(heap, retained, file)?;
            sums.sites = Some(Sites::of(heap, &rows));
        }
        Ok(())
    })?;
    Ok((sums, verdict))
}

/// The sums of a heap that is in memory.
pub(crate) fn sums_of(loaded: &Loaded<'_>) -> Sums {
    sums_by_name(&loaded.heap, &loaded.retained)
}

/// The sums of a heap, by class name.
pub(crate) fn sums_by_name(heap: &Heap<'_>, retained: &Retained) -> Sums {
    let mut sums = Sums {
        paths: ClassPaths::of(heap, retained),
        total_bytes: retained.total_bytes(),
        sizes: SizesBy::from(heap.sizes()),
        ..Sums::default()
    };
    let totals = retained.totals(heap, heap.classes(), |object| heap.class(object));
    for (class, total) in (0..).zip(totals).filter(|(_, total)| total.objects > 0) {
        let sum = sums.classes.entry(heap.class_name(class)).or_default();
        sum.objects += total.objects;
        sum.shallow_bytes = sum.shallow_bytes.saturating_add(total.shallow_bytes);
        sum.retained_bytes = sum.retained_bytes.saturating_add(total.retained_bytes);
    }
    sums
}

/// The classes of both dumps, those that grew most first.
fn rows(before: BTreeMap<String, Total>, mut after: BTreeMap<String, Total>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (class, before) in before {
        let after = after.remove(&class).unwrap_or_default();
        rows.push(Row {
            class,
            before,
            after,
        });
    }
    rows.extend(after.into_iter().map(|(class, after)| Row {
        class,
        before: Total::default(),
        after,
    }));
    rows.retain(|row| row.before != row.after);
    rows.sort_by_key(|row| (-row.grown_bytes(), row.class.clone()));
    rows
}

fn change(before: u64, after: u64) -> i128 {
    i128::from(after) - i128::from(before)
}

/// `+1,234`, `-5` or `0`.
fn signed(change: i128) -> String {
    let size = grouped(u64::try_from(change.unsigned_abs()).unwrap_or(u64::MAX));
    match change {
        0 => size,
        1.. => format!("+{size}"),
        _ => format!("-{size}"),
    }
}

impl Growth {
    fn print(&self, most: usize, to: &mut dyn Write) -> io::Result<()> {
        for path in self.paths.iter().take(most) {
            writeln!(
                to,
                "{} bytes in {}",
                signed(path.grown_bytes().into()),
                plain(&path.classes.join(" > "))
            )?;
        }
        if !self.paths.is_empty() {
            writeln!(to)?;
        }
        match &self.sites {
            Some(sites) => sites.print(most, to)?,
            None => self.print_classes(most, to)?,
        }
        writeln!(
            to,
            "all reachable objects: {} bytes, {} before ({})",
            grouped(self.after_bytes),
            grouped(self.before_bytes),
            signed(self.grown_bytes())
        )
    }

    fn print_classes(&self, most: usize, to: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new([
            ("retained", Side::Right),
            ("now", Side::Right),
            ("objects", Side::Right),
            ("now", Side::Right),
            ("class", Side::Left),
        ]);
        for row in self.rows.iter().take(most) {
            table.row([
                signed(row.grown_bytes()).into(),
                grouped(row.after.retained_bytes).into(),
                signed(change(row.before.objects, row.after.objects)).into(),
                grouped(row.after.objects).into(),
                row.class.clone().into(),
            ]);
        }
        table.print(to)
    }

    /// What `--json` prints: at most `most` classes and paths.
    pub(crate) fn in_json(&self, most: usize) -> Value {
        let total = |total: &Total| {
            json!({
                "objects": total.objects,
                "retained": total.retained_bytes,
                "shallow": total.shallow_bytes,
            })
        };
        let of_path = |(objects, bytes): (u64, u64)| json!({"objects": objects, "retained": bytes});
        let classes = self.rows.iter().take(most).map(|row| {
            json!({ "after": total(&row.after), "before": total(&row.before), "class": row.class })
        });
        let paths = self.paths.iter().take(most).map(|path| {
            json!({ "after": of_path(path.after), "before": of_path(path.before), "classes": path.classes })
        });
        let mut answer = json!({
            "classes": classes.collect::<Vec<_>>(),
            "left_out": self.rows.len().saturating_sub(most),
            "paths": paths.collect::<Vec<_>>(),
            "paths_left_out": self.paths.len().saturating_sub(most),
            "total_bytes_after": self.after_bytes,
            "total_bytes_before": self.before_bytes,
        });
        if let (Some(sites), Some(answer)) = (&self.sites, answer.as_object_mut()) {
            let (rows, left_out) = sites.in_json(most);
            answer.insert("sites".to_owned(), rows);
            answer.insert("sites_left_out".to_owned(), left_out.into());
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_people_do() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert!(duration("-1s").is_err() && duration("soon").is_err());
    }

    #[test]
    fn changes_have_their_sign() {
        assert_eq!([signed(0), signed(1234), signed(-5)], ["0", "+1,234", "-5"]);
    }

    #[test]
    fn classes_of_either_dump_are_compared() {
        let total = |bytes| Total {
            objects: 1,
            shallow_bytes: bytes,
            retained_bytes: bytes,
        };
        let of = |all: &[(&str, u64)]| {
            all.iter()
                .map(|(class, bytes)| ((*class).to_owned(), total(*bytes)))
                .collect()
        };
        let rows = rows(
            of(&[("gone", 5), ("same", 7), ("grown", 1)]),
            of(&[("same", 7), ("grown", 9), ("new", 3)]),
        );
        let changes: Vec<_> = rows
            .iter()
            .map(|row| (row.class.as_str(), row.grown_bytes()))
            .collect();
        assert_eq!(changes, [("grown", 8), ("new", 3), ("gone", -5)]);
    }
}
