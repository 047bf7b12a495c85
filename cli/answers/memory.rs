//! All memory of a JVM: what is resident, by use; and what is outside of the Java heap, by the
//! objects that hold it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use graph::{GraphError, Heap, NativeGroup, NativeKind, NativeMemory, Owner, OwnerStart};

use super::object::id;
use super::owner::owners_words;
use crate::output::table::Rows;
use crate::output::{counted, grouped, in_units, plain, shown, Cell, Sections, Table};
use crate::proc::resident::{Resident, Use};

/// The sentence names the largest holder if it has this part of the resident memory.
const SENTENCE_PART: u64 = 20;

/// Why malloc's memory is not known.
const HIDDEN: &str = ": the system hides what is in it (kernel.yama.ptrace_scope), so try as root";

/// What is asked of the system beside the heap.
#[derive(Clone, Debug)]
pub(crate) struct ProcessFacts {
    /// Its resident memory.
    pub(crate) resident: Resident,
    /// Number of its threads; 0 if that is not known.
    pub(crate) threads: u64,
}

/// The class of loaders, how many there are, and how many classes they have.
type Loaders = (String, (u64, u64));

/// The answer with `most` rows of holders and loaders. Errors: the file cannot be read.
pub(crate) fn memory<'a>(
    heap: &'a Heap<'_>,
    memory: &NativeMemory,
    process: Option<&ProcessFacts>,
    most: usize,
) -> Result<Sections<'a>, GraphError> {
    let holders = holders(heap, memory, most)?;
    let objects = 0..heap.objects();
    let heap_bytes = objects.map(|object| heap.shallow_bytes(object)).sum();
    let is_owned = |group: &&NativeGroup| group.owner.start != OwnerStart::Nothing;
    let owned = buffers(memory).filter(is_owned);
    let loaders = loaders(heap);
    let uses = process.map(|facts| uses(&facts.resident));
    let mut answer = Sections::default();
    let begin = match (process, &uses) {
        (Some(facts), Some(uses)) => process_words(&facts.resident, uses, &loaders),
        _ => format!(
            "The objects have {}, and hold {} outside of the heap in buffers, mapped files and arenas.",
            in_units(heap_bytes),
            in_units(memory.buffer_bytes())
        ),
    };
    let least = process.map_or(1, |facts| facts.resident.total() / SENTENCE_PART);
    let sentence = begin + &holder_words(holders.first(), least.max(1));
    answer.line(plain(&sentence));
    answer.fact("sentence", sentence);
    answer.fact("objects", heap.objects());
    answer.fact("object_bytes", heap_bytes);
    // Bytes of direct buffers, mapped files and arenas, and those of them that have an owner.
    answer.fact("buffer_bytes", memory.buffer_bytes());
    answer.fact("owned_bytes", owned.map(|group| group.bytes).sum::<u64>());
    answer.fact("damaged", heap.damaged());
    match process.zip(uses) {
        Some((facts, uses)) => {
            answer.line("");
            let java = (heap_bytes, u64::from(heap.objects()));
            answer.group("process", process_sections(facts, uses, memory, java));
        }
        None => answer.fact("process", Cell::Missing),
    }
    let left_out = memory.groups.len().saturating_sub(holders.len());
    answer.line(match holders.is_empty() {
        false => "\nOutside of the heap, by the objects that hold it:",
        true => "\nNo object holds memory outside of the heap.",
    });
    let table = holder_table(heap, holders).left_out(left_out);
    answer.table("holders", "holders_left_out", table.noun("row"));
    answer.line("\nClasses by their loader:");
    let table = Table::of(loaders, most)
        .right("classes", "classes", |(_, (_, classes))| *classes)
        .right("loaders", "loaders", |(_, (loaders, _))| *loaders)
        .left("of class", "class", |(class, _)| class.clone());
    answer.table("loaders", "loaders_left_out", table.noun("row"));
    Ok(answer)
}

/// The first `most` groups, each with its owner in words.
fn holders(heap: &Heap<'_>, memory: &NativeMemory, most: usize) -> Result<Vec<Holder>, GraphError> {
    let groups = memory.groups.get(..most).unwrap_or(&memory.groups);
    let owners: Vec<&Owner> = groups.iter().map(|group| &group.owner).collect();
    let words = owners_words(heap, &owners)?;
    Ok(groups.iter().cloned().zip(words).collect())
}

/// A use of resident memory.
struct UseRow {
    used_for: Use,
    bytes: u64,
    /// How many of them are a guess, by what lies beside them.
    guessed_bytes: u64,
}

/// The known uses of resident memory, most bytes first.
fn uses(resident: &Resident) -> Vec<UseRow> {
    let known = resident.bytes.iter().filter(|(it, _)| **it != Use::Unknown);
    let uses = known.map(|(used_for, bytes)| UseRow {
        used_for: *used_for,
        bytes: *bytes,
        guessed_bytes: resident.guessed.get(used_for).copied().unwrap_or(0),
    });
    let mut uses: Vec<UseRow> = uses.collect();
    uses.sort_by_key(|row| (Reverse(row.bytes), row.used_for));
    uses
}

/// The resident memory of the process by use. `java` is the heap's bytes and objects.
fn process_sections<'a>(
    facts: &ProcessFacts,
    uses: Vec<UseRow>,
    memory: &NativeMemory,
    java: (u64, u64),
) -> Sections<'a> {
    let (mut answer, resident) = (Sections::default(), &facts.resident);
    let (all, unknown) = (resident.total(), resident.of_use(Use::Unknown));
    let zip = memory.groups.iter().filter(|it| it.kind.is_estimate());
    // Within what malloc has; an estimate.
    let zip_bytes: u64 = zip.map(|group| group.bytes).sum();
    answer.fact("resident_bytes", all);
    answer.fact("unknown_bytes", unknown);
    // Whether the system hides what the memory contains, so that malloc's is not known.
    answer.json("is_hidden", resident.is_hidden);
    answer.fact("threads", facts.threads);
    answer.fact("malloc_arenas", resident.malloc_arenas);
    answer.fact("zip_bytes", zip_bytes);
    let (arenas, threads) = (resident.malloc_arenas, facts.threads);
    let words = move |row: &UseRow| {
        let words = use_words(row.used_for, java, threads, (arenas, zip_bytes));
        words + &guess_words(row.guessed_bytes)
    };
    let hidden_why = if resident.is_hidden { HIDDEN } else { "" };
    let table = Table::of(uses, usize::MAX)
        .right("resident", "bytes", |row| Cell::Bytes(row.bytes))
        .right("share", "", move |row| Cell::Share(row.bytes, all))
        .left("use", "", words)
        .hidden("use", |row| Cell::json(row.used_for))
        .hidden("guessed_bytes", |row| row.guessed_bytes);
    let last = Use::Unknown.words().to_owned() + hidden_why;
    let total = [Cell::Bytes(unknown), Cell::Share(unknown, all), last.into()];
    answer.table("uses", "", table.total(total));
    answer
}

fn use_words(
    used_for: Use,
    (heap_bytes, objects): (u64, u64),
    threads: u64,
    (arenas, zip_bytes): (u64, u64),
) -> String {
    let words = used_for.words();
    match used_for {
        Use::JavaHeap => {
            let (bytes, objects) = (in_units(heap_bytes), counted(objects, "object"));
            format!("{words}: {bytes} in {objects}")
        }
        Use::ThreadStacks => format!("{words}: {}", counted(threads, "thread")),
        Use::Malloc if zip_bytes > 0 => {
            let (arenas, zip) = (counted(arenas, "arena"), in_units(zip_bytes));
            format!("{words}: {arenas}, about {zip} in zip streams")
        }
        Use::Malloc => format!("{words}: {}", counted(arenas, "arena")),
        _ => words.to_owned(),
    }
}

/// How much of a row is a guess.
fn guess_words(bytes: u64) -> String {
    match bytes {
        0 => String::new(),
        bytes => format!(" ({} by a guess)", in_units(bytes)),
    }
}

/// Objects that hold memory outside of the heap in the same way, and the holder in words.
type Holder = (NativeGroup, String);

fn holder_table<'a>(heap: &'a Heap<'_>, holders: Vec<Holder>) -> Rows<'a, Holder> {
    Table::of(holders, usize::MAX)
        .right("bytes", "", |(group, _)| {
            let about = if group.kind.is_estimate() { "~" } else { "" };
            match group.bytes {
                0 => "?".to_owned(),
                bytes => format!("{about}{}", in_units(bytes)),
            }
        })
        .hidden("bytes", |(group, _)| group.bytes)
        .right("objects", "objects", |(group, _)| group.objects)
        .left("of class", "class", |(group, _)| {
            heap.class_name(group.class)
        })
        .left("kind", "kind", |(group, _)| kind_words(group.kind))
        .hidden("is_estimate", |(group, _)| {
            Cell::json(group.kind.is_estimate())
        })
        // One of the objects.
        .hidden("id", |(group, _)| id(heap, group.example))
        .hidden("held_by", |(_, held_by)| held_by.clone())
        .below(|(_, held_by)| vec![format!("    held by {}", plain(&shown(held_by)))])
}

pub(super) fn kind_words(kind: NativeKind) -> &'static str {
    match kind {
        NativeKind::Direct => "direct buffer",
        NativeKind::Mapped => "mapped file",
        NativeKind::Arena => "arena",
        NativeKind::Deflater | NativeKind::Inflater => "zip stream",
        NativeKind::Handle => "native handle",
    }
}

/// The groups whose sizes are known.
fn buffers(memory: &NativeMemory) -> impl Iterator<Item = &NativeGroup> {
    let is_one = |kind: NativeKind| !kind.is_estimate() && kind != NativeKind::Handle;
    memory.groups.iter().filter(move |group| is_one(group.kind))
}

/// The process: its heap, and the largest use of the rest.
fn process_words(resident: &Resident, uses: &[UseRow], loaders: &[Loaders]) -> String {
    let (all, heap) = (resident.total(), resident.of_use(Use::JavaHeap));
    let (all, heap) = (in_units(all), in_units(heap));
    let mut text = format!("{all} are resident, {heap} of them the Java heap");
    let mut others = uses.iter();
    if let Some(row) = others.find(|row| row.used_for != Use::JavaHeap) {
        let (bytes, words) = (in_units(row.bytes), row.used_for.words());
        let is_guess = row.guessed_bytes > row.bytes / 2;
        let perhaps = if is_guess { "perhaps " } else { "" };
        text.push_str(&format!(", {bytes} {perhaps}{words}"));
        if let (Use::Metaspace, Some((class, (loaders, classes)))) = (row.used_for, loaders.first())
        {
            let (classes, loaders) = (grouped(*classes), grouped(*loaders));
            text.push_str(&format!(" (most: {classes} of {loaders} {class})"));
        }
    }
    text + "."
}

/// The largest holder, if it has so many bytes.
fn holder_words(largest: Option<&Holder>, least: u64) -> String {
    let Some((group, held_by)) = largest.filter(|(group, _)| group.bytes >= least) else {
        return String::new();
    };
    let is_estimate = group.kind.is_estimate();
    let about = if is_estimate { "about " } else { "" };
    let what = counted(group.objects, kind_words(group.kind));
    let bytes = in_units(group.bytes);
    format!(" Most held outside of the heap: {about}{bytes} in {what}, by {held_by}.")
}

/// Classes by the class of their loader.
fn loaders(heap: &Heap<'_>) -> Vec<Loaders> {
    let mut classes: BTreeMap<u64, u64> = BTreeMap::new();
    for class in heap.directory().classes.iter() {
        *classes.entry(class.loader).or_default() += 1;
    }
    let mut rows: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (loader, classes) in classes {
        let class = match (loader, heap.object(loader)) {
            (0, _) => "bootstrap loader".to_owned(),
            (_, Some(object)) => heap.class_name(heap.class(object)),
            (_, None) => "(not in the dump)".to_owned(),
        };
        let row = rows.entry(class).or_default();
        *row = (row.0 + 1, row.1 + classes);
    }
    let mut rows: Vec<Loaders> = rows.into_iter().collect();
    rows.sort_by_key(|(_, (_, classes))| Reverse(*classes));
    rows
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use graph::{Input, Options};
    use sample::Dump;

    const INT: u8 = 10;
    const LONG: u8 = 11;
    const REFERENCE: u8 = 2;

    /// Three buffers in a list of a static field, a mapped file of a thread, and an open deflater.
    fn dump() -> Dump {
        let mut dump = Dump::new(8);
        let mut class = |id, name, above, fields: &[(&str, u8)], statics: &[(&str, u64)]| {
            dump.class_of(id, name, (above, 0), fields, statics);
        };
        let buffer = [("capacity", INT), ("address", LONG)];
        class(0x100, "java/nio/Buffer", Dump::OBJECT, &buffer, &[]);
        let file = [("fd", REFERENCE)];
        class(0x110, "java/nio/MappedByteBuffer", 0x100, &file, &[]);
        let view = [("att", REFERENCE)];
        class(0x120, "java/nio/DirectByteBuffer", 0x110, &view, &[]);
        let stream = [("zsRef", REFERENCE)];
        class(0x140, "java/util/zip/Deflater", Dump::OBJECT, &stream, &[]);
        let state = [("address", LONG)];
        let name = "java/util/zip/Deflater$DeflaterZStreamRef";
        class(0x150, name, Dump::OBJECT, &state, &[]);
        let statics = [("POOL", 0x3000), ("OPEN", 0x4000)];
        class(0x160, "app/Main", Dump::OBJECT, &[], &statics);
        dump.root(0x160);
        dump.object_array(0x3000, &[0x3100, 0x3200, 0x3300]);
        for (number, id) in (1..).zip([0x3100, 0x3200, 0x3300, 0x3400]) {
            let fd = if id == 0x3400 { Dump::THREAD } else { 0 };
            let address = number << 24;
            let values = [(8, 0), (8, fd), (4, 1_000_000 * number), (8, address)];
            dump.instance_with(id, 0x120, &values);
        }
        dump.local(0x3400);
        dump.instance(0x4000, 0x140, &[0x4100]);
        dump.instance_with(0x4100, 0x150, &[(8, 0x7f00)]);
        dump
    }

    fn answer(facts: Option<&ProcessFacts>) -> String {
        let input = Input::new(dump().file(false), &|_| {}).unwrap();
        let heap = Heap::read(input, Options::default()).unwrap();
        let memory = NativeMemory::find(&heap).unwrap();
        let answer = super::memory(&heap, &memory, facts, 10).unwrap();
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(json["owned_bytes"], 10_000_000);
        assert_eq!(json["holders"].as_array().unwrap().len(), 3);
        let mut text = Vec::new();
        answer.print(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_file_has_holders_only() {
        let expected = "\
The objects have 224 B, and hold 10.0 MB outside of the heap in buffers, mapped files and arenas. \
Most held outside of the heap: 6.0 MB in 3 direct buffers, by static field POOL of app.Main > \
java.lang.Object[].

Outside of the heap, by the objects that hold it:
  bytes  objects  of class                   kind
 6.0 MB        3  java.nio.DirectByteBuffer  direct buffer
    held by static field POOL of app.Main > java.lang.Object[]
 4.0 MB        1  java.nio.DirectByteBuffer  mapped file
    held by thread > java.lang.Thread
~274 kB        1  java.util.zip.Deflater     zip stream
    held by static field OPEN of app.Main

Classes by their loader:
classes  loaders  of class
      9        1  bootstrap loader
";
        assert_eq!(answer(None), expected);
    }

    #[test]
    fn a_process_has_uses_and_what_is_left() {
        let uses = [
            (Use::JavaHeap, 60_000_000),
            (Use::DirectBuffers, 30_000_000),
            (Use::Malloc, 9_000_000),
            (Use::Unknown, 1_000_000),
        ];
        let facts = ProcessFacts {
            resident: Resident {
                bytes: uses.into(),
                guessed: [(Use::Malloc, 2_000_000)].into(),
                malloc_arenas: 3,
                is_hidden: false,
            },
            threads: 17,
        };
        let text = answer(Some(&facts));
        let (uses, _) = text.split_once("\n\nOutside").unwrap();
        let expected = "\
100 MB are resident, 60.0 MB of them the Java heap, 30.0 MB direct buffers. Most held outside of \
the heap: 6.0 MB in 3 direct buffers, by static field POOL of app.Main > java.lang.Object[].

resident   share  use
 60.0 MB  60.0 %  Java heap: 224 B in 17 objects
 30.0 MB  30.0 %  direct buffers
  9.0 MB   9.0 %  malloc of the JVM and of native code: 3 arenas, about 274 kB in zip streams (2.0 MB by a guess)
  1.0 MB   1.0 %  not known";
        assert_eq!(uses, expected);
    }
}
