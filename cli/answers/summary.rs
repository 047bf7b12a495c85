//! What is in the file: records, objects, roots, classes, threads, and facts about the JVM.

use std::borrow::Cow;

use reader::{KindTotal, Summary, ThreadSummary};
use serde_json::{json, Map};

use crate::files::heap_file::SizesOf;
use crate::files::input_file::InputFile;
use crate::output::date::date;
use crate::output::frame;
use crate::output::{counted, grouped, plain, shown, Cell, Failure, Sections, Table};

/// In files up to this size the names of threads are always read, which takes up to three more
/// passes.
const NAMES_BYTES: u64 = 1 << 30;

/// Reads what is in the file.
pub(crate) fn of(file: &InputFile) -> Result<Summary, Failure> {
    let mut dump = file.reader()?;
    let mut summary = reader::summarize(&mut dump).map_err(|fault| file.failure(&fault))?;
    drop(dump);
    if summary.bytes <= NAMES_BYTES {
        name_threads(&mut summary, file)?;
    }
    Ok(summary)
}

fn name_threads(summary: &mut Summary, file: &InputFile) -> Result<(), Failure> {
    for thread in &mut summary.threads {
        let is_hidden = thread.name.as_deref().is_some_and(reader::is_redacted);
        thread.name = thread.name.take().filter(|_| !is_hidden);
    }
    let threads = summary.threads.iter();
    let nameless = threads.filter(|thread| thread.name.is_none());
    let ids: Vec<u64> = nameless.map(|thread| thread.object).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let mut dump = file.reader()?;
    let (classes, strings) = (&summary.classes, &summary.strings);
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

/// Adds it, and an empty line.
pub(crate) fn add<'a>(answer: &mut Sections<'a>, summary: &'a Summary, file: &InputFile) {
    head(answer, summary, file);
    let records = summary.records.iter().map(|(name, total)| (*name, *total));
    kinds(answer, "records", "records", records);
    let records = summary.heap_records.iter();
    let records = records.map(|(name, total)| (*name, *total));
    kinds(answer, "heap_records", "heap records", records);
    let roots = summary.roots.iter();
    let roots = roots.map(|(kind, total)| (kind.name(), *total));
    kinds(answer, "roots", "roots", roots);
    let text = |id| summary.strings.text(id).map(Cow::into_owned);
    // The application's own objects, and those that it shares with others.
    let heaps = Table::of(&summary.heaps, usize::MAX)
        .left("Android's heaps", "", move |(id, _)| {
            text(**id).unwrap_or("?".into())
        })
        .hidden("name", move |(id, _)| text(**id))
        .right("objects", "objects", |(_, total)| total.count)
        .right("bytes", "bytes", |(_, total)| total.bytes);
    answer.part("heaps", heaps);
    let threads = Table::of(&summary.threads, usize::MAX)
        .right("thread", "", |thread| thread.serial.to_string())
        .right("frames", "", |thread| {
            summary.stacks.depth_frames(thread.trace)
        })
        .left("name", "", |thread| name(thread))
        .hidden("frames", |thread| {
            frame::in_json(summary.stacks.frames(thread.trace))
        })
        .hidden("name", |thread| thread.name.clone())
        .hidden("id", |thread| Cell::Id(thread.object))
        .hidden("serial", |thread| thread.serial);
    answer.part("threads", threads);
    answer.line("");
}

fn head(answer: &mut Sections<'_>, summary: &Summary, file: &InputFile) {
    let header = &summary.header;
    let size = match file.bytes {
        // An uncompressed file may be truncated, and thus contain less than its records claim.
        _ if !file.is_packed() => counted(summary.bytes, "byte"),
        packed => {
            let bytes = counted(summary.bytes, "byte");
            format!("{bytes}, packed {}", grouped(packed))
        }
    };
    let classes = || summary.classes.iter();
    let dumped = classes().filter(|class| class.dump_offset.is_some());
    let loaded = classes().filter(|class| class.serial.is_some());
    let (dumped, loaded) = (dumped.count() as u64, loaded.count() as u64);
    let (sizes, strings) = (SizesOf::from(summary.sizes), summary.strings.len() as u64);
    let object_bytes = counted(summary.object_bytes, "byte");
    let object_size = format!("{object_bytes}, by {}", sizes.words());
    let classes = format!("{} dumped, {} loaded", grouped(dumped), grouped(loaded));
    let rows = [
        ("File", plain(&file.name())),
        ("Version", header.version.number().to_owned()),
        ("Created", date(header.time_millis)),
        ("Id size", counted(u64::from(header.id_bytes), "byte")),
        ("Size", size),
        ("Objects", grouped(summary.objects)),
        ("Object size", object_size),
        ("Classes", classes),
        ("Loaders", grouped(summary.loaders)),
        ("Strings", grouped(strings)),
        ("Threads", grouped(summary.threads.len() as u64)),
    ];
    answer.lines(rows.map(|(what, value)| format!("{what:12} {value}")));
    answer.fact("file_bytes", summary.bytes);
    answer.fact("classes", dumped);
    answer.fact("damaged", summary.damaged);
    answer.json("id_bytes", header.id_bytes);
    answer.fact("loaded_classes", loaded);
    answer.fact("loaders", summary.loaders);
    answer.fact("object_bytes", summary.object_bytes);
    answer.fact("objects", summary.objects);
    answer.json("sizes", sizes);
    answer.fact("strings", strings);
    answer.fact("time_millis", header.time_millis);
    answer.fact("version", header.version.number());
    let words = summary.strings.facts().all_words();
    if !summary.strings.facts().is_empty() {
        answer.line("\nthe JVM, from the dump");
    }
    let word =
        |(name, word): (&String, &String)| format!("  {:18} {}", plain(name), plain(&shown(word)));
    answer.lines(words.iter().map(word));
    answer.json("jvm", words);
}

/// Kinds of records or roots, each under its name.
fn kinds(
    answer: &mut Sections<'_>,
    key: &'static str,
    title: &'static str,
    kinds: impl Iterator<Item = (&'static str, KindTotal)>,
) {
    let kinds: Vec<(&str, KindTotal)> = kinds.collect();
    let in_json = |(name, total): &(&str, KindTotal)| {
        let value = json!({ "count": total.count, "bytes": total.bytes });
        ((*name).to_owned(), value)
    };
    answer.json(key, kinds.iter().map(in_json).collect::<Map<_, _>>());
    let table = Table::of(kinds, usize::MAX)
        .left(title, "", |(name, _)| *name)
        .right("count", "", |(_, total)| total.count)
        .right("bytes", "", |(_, total)| total.bytes);
    answer.part("", table);
}

fn name(thread: &ThreadSummary) -> String {
    match &thread.name {
        Some(name) => format!("{:?}", shown(name)),
        None => format!("object {:#x}", thread.object),
    }
}
