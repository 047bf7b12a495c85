//! What is in the file: records, objects, roots, classes, threads, and facts about the JVM.

use std::io::{self, Write};

use format::JvmFacts;
use reader::{KindTotal, Summary, ThreadSummary};

use crate::answer::sizes_by::SizesBy;
use crate::date::date;
use crate::dump_file::DumpFile;
use crate::number::{counted, grouped};
use crate::outcome::Failure;
use crate::plain::{plain, shown};
use crate::table::{Side, Table};

/// In files up to this size the names of threads are always read, which takes up to three more
/// passes.
const NAMES_BYTES: u64 = 1 << 30;

/// Reads what is in the file.
pub(super) fn of(file: &DumpFile) -> Result<Summary, Failure> {
    let mut dump = file.reader()?;
    let mut summary = reader::summarize(&mut dump).map_err(|fault| file.failure(&fault))?;
    drop(dump);
    if summary.bytes <= NAMES_BYTES {
        name_threads(&mut summary, file)?;
    }
    Ok(summary)
}

fn name_threads(summary: &mut Summary, file: &DumpFile) -> Result<(), Failure> {
    for thread in &mut summary.threads {
        let is_hidden = thread.name.as_deref().is_some_and(reader::is_redacted);
        thread.name = thread.name.take().filter(|_| !is_hidden);
    }
    let nameless = summary
        .threads
        .iter()
        .filter(|thread| thread.name.is_none());
    let ids: Vec<u64> = nameless.map(|thread| thread.object).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let mut dump = file.reader()?;
    let (classes, strings) = (&mut summary.classes, &summary.strings);
    let names = if dump.is_of_file() {
        reader::thread_names_at(&mut dump, &summary.places, classes, strings, &ids)
    } else {
        drop(dump);
        reader::thread_names(&mut || file.open(), classes, strings, &ids, file.budget())
    };
    let mut names = names.map_err(|fault| file.failure(&fault))?;
    for thread in &mut summary.threads {
        let found = || names.remove(&thread.object).map(Into::into);
        thread.name = thread.name.take().or_else(found);
    }
    Ok(())
}

/// Prints it, and an empty line.
pub(super) fn print(summary: &Summary, file: &DumpFile, to: &mut dyn Write) -> io::Result<()> {
    print_head(summary, file, to)?;
    print_kinds(
        "records",
        summary.records.iter().map(|(name, total)| (*name, *total)),
        to,
    )?;
    print_kinds(
        "heap records",
        summary
            .heap_records
            .iter()
            .map(|(name, total)| (*name, *total)),
        to,
    )?;
    print_kinds(
        "roots",
        summary
            .roots
            .iter()
            .map(|(kind, total)| (kind.name(), *total)),
        to,
    )?;
    print_heaps(summary, to)?;
    print_threads(summary, to)?;
    writeln!(to)
}

/// Android's heaps: the application's own objects, and those that it shares with others.
fn print_heaps(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    if summary.heaps.is_empty() {
        return Ok(());
    }
    let mut table = Table::new([
        ("Android's heaps", Side::Left),
        ("objects", Side::Right),
        ("bytes", Side::Right),
    ]);
    for (name, total) in &summary.heaps {
        let name = summary.strings.text(*name).unwrap_or("?".into());
        table.row([
            name.into_owned().into(),
            grouped(total.count).into(),
            grouped(total.bytes).into(),
        ]);
    }
    writeln!(to)?;
    table.print(to)
}

fn print_head(summary: &Summary, file: &DumpFile, to: &mut dyn Write) -> io::Result<()> {
    let header = &summary.header;
    let size = match file.bytes {
        // An uncompressed file may be truncated, and thus contain less than its records claim.
        _ if !file.is_packed() => counted(summary.bytes, "byte"),
        packed => format!(
            "{}, packed {}",
            counted(summary.bytes, "byte"),
            grouped(packed)
        ),
    };
    let dumped = summary
        .classes
        .iter()
        .filter(|class| class.dump_offset.is_some())
        .count();
    let loaded = summary
        .classes
        .iter()
        .filter(|class| class.serial.is_some())
        .count();
    let (dumped, loaded) = (grouped(dumped as u64), grouped(loaded as u64));
    let rows = [
        ("File", plain(&file.name())),
        ("Version", header.version.number().to_owned()),
        ("Created", date(header.time_millis)),
        ("Id size", counted(u64::from(header.id_bytes), "byte")),
        ("Size", size),
        ("Objects", grouped(summary.objects)),
        (
            "Object size",
            format!(
                "{}, by {}",
                counted(summary.object_bytes, "byte"),
                SizesBy::from(summary.sizes)
            ),
        ),
        ("Classes", format!("{dumped} dumped, {loaded} loaded")),
        ("Loaders", grouped(summary.loaders)),
        ("Strings", grouped(summary.strings.len() as u64)),
        ("Threads", grouped(summary.threads.len() as u64)),
    ];
    for (what, value) in rows {
        writeln!(to, "{what:12} {value}")?;
    }
    print_facts(summary.strings.facts(), to)
}

/// The dump's facts about its JVM.
fn print_facts(facts: &JvmFacts, to: &mut dyn Write) -> io::Result<()> {
    if facts.is_empty() {
        return Ok(());
    }
    writeln!(to, "\nthe JVM, from the dump")?;
    for (name, word) in facts.all_words() {
        writeln!(to, "  {:18} {}", plain(&name), plain(&shown(&word)))?;
    }
    Ok(())
}

fn print_kinds(
    title: &str,
    kinds: impl Iterator<Item = (&'static str, KindTotal)>,
    to: &mut dyn Write,
) -> io::Result<()> {
    let mut table = Table::new([
        (title, Side::Left),
        ("count", Side::Right),
        ("bytes", Side::Right),
    ]);
    for (name, total) in kinds {
        table.row([
            name.to_owned().into(),
            grouped(total.count).into(),
            grouped(total.bytes).into(),
        ]);
    }
    if table.is_empty() {
        return Ok(());
    }
    writeln!(to)?;
    table.print(to)
}

fn print_threads(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new([
        ("thread", Side::Right),
        ("frames", Side::Right),
        ("name", Side::Left),
    ]);
    for thread in &summary.threads {
        let frames = grouped(summary.stacks.depth_frames(thread.trace) as u64);
        table.row([
            thread.serial.to_string().into(),
            frames.into(),
            name(thread).into(),
        ]);
    }
    if table.is_empty() {
        return Ok(());
    }
    writeln!(to)?;
    table.print(to)
}

fn name(thread: &ThreadSummary) -> String {
    match &thread.name {
        Some(name) => format!("{:?}", shown(name)),
        None => format!("object {:#x}", thread.object),
    }
}
