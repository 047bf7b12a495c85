//! All memory of a JVM: what is resident, by use; and what is outside of the Java heap, by the
//! objects that hold it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use graph::{GraphError, Heap, NativeGroup, NativeKind, NativeMemory, Owner, OwnerStart};
use serde::Serialize;
use serde_json::Value;

use super::object::id;
use super::owner::owners_words;
use crate::number::{counted, grouped, in_units, percent};
use crate::plain::{plain, shown};
use crate::resident::{Resident, Use};
use crate::table::{Side, Table};

/// A row with less than this part of the largest one is left out, unless all are asked for.
const SMALL: u64 = 1000;
/// So is one with less than a page: the JVM's own counters have buffers of 8 bytes.
const PAGE_BYTES: u64 = 4096;
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

/// The answer. Its fields are those of the JSON.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MemoryAnswer {
    sentence: String,
    /// `None` for a file.
    process: Option<ProcessAnswer>,
    /// Objects of the heap, and their bytes.
    objects: u64,
    heap_bytes: u64,
    /// Bytes of direct buffers, mapped files and arenas, and those of them that have an owner.
    buffer_bytes: u64,
    owned_bytes: u64,
    holders: Vec<Holder>,
    holders_left_out: usize,
    /// Classes by the class of their loader, most classes first.
    loaders: Vec<Loaders>,
    damaged: u64,
}

#[derive(Clone, Debug, Serialize)]
struct ProcessAnswer {
    resident_bytes: u64,
    unknown_bytes: u64,
    /// Whether the system hides what the memory contains, so that malloc's is not known.
    is_hidden: bool,
    threads: u64,
    malloc_arenas: u64,
    /// Bytes of zip streams within what malloc has; an estimate.
    zip_bytes: u64,
    uses: Vec<UseRow>,
}

#[derive(Clone, Debug, Serialize)]
struct UseRow {
    #[serde(rename = "use")]
    used_for: Use,
    bytes: u64,
    /// How many of them are a guess, by what lies beside them.
    guessed_bytes: u64,
}

/// Objects that hold memory outside of the heap in the same way.
#[derive(Clone, Debug, Serialize)]
struct Holder {
    kind: &'static str,
    class: String,
    objects: u64,
    bytes: u64,
    is_estimate: bool,
    held_by: String,
    /// One of the objects.
    id: String,
}

#[derive(Clone, Debug, Serialize)]
struct Loaders {
    class: String,
    loaders: u64,
    classes: u64,
}

impl MemoryAnswer {
    /// `most` rows of holders and loaders. Errors: the file cannot be read.
    pub(crate) fn of(
        heap: &Heap<'_>,
        memory: &NativeMemory,
        process: Option<&ProcessFacts>,
        most: usize,
    ) -> Result<Self, GraphError> {
        let largest = memory.groups.first().map_or(0, |group| group.bytes);
        let least = (largest / SMALL).max(PAGE_BYTES);
        let is_worth =
            |group: &&NativeGroup| most == usize::MAX || group.bytes == 0 || group.bytes >= least;
        let groups = memory.groups.iter().filter(is_worth).take(most);
        let groups: Vec<&NativeGroup> = groups.collect();
        let owners: Vec<&Owner> = groups.iter().map(|group| &group.owner).collect();
        let words = owners_words(heap, &owners)?.into_iter();
        let holders = groups.into_iter().zip(words);
        let holders: Vec<Holder> = holders
            .map(|(group, words)| Holder::of(heap, group, words))
            .collect();
        let objects = 0..heap.objects();
        let heap_bytes = objects.map(|object| heap.shallow_bytes(object)).sum();
        let is_owned = |group: &&NativeGroup| group.owner.start != OwnerStart::Nothing;
        let owned = buffers(memory).filter(is_owned);
        let process = process.map(|facts| ProcessAnswer::of(facts, memory));
        let loaders = loaders(heap, most);
        Ok(Self {
            sentence: sentence(
                process.as_ref().map(|process| (process, &*loaders)),
                memory,
                holders.first(),
                heap_bytes,
            ),
            process,
            objects: heap.objects().into(),
            heap_bytes,
            buffer_bytes: memory.buffer_bytes(),
            owned_bytes: owned.map(|group| group.bytes).sum(),
            holders_left_out: memory.groups.len().saturating_sub(holders.len()),
            holders,
            loaders,
            damaged: heap.damaged(),
        })
    }

    /// As JSON.
    pub(crate) fn in_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// As text.
    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "{}", plain(&self.sentence))?;
        if let Some(process) = &self.process {
            writeln!(to)?;
            self.print_uses(process, to)?;
        }
        self.print_holders(to)?;
        self.print_loaders(to)
    }

    fn print_uses(&self, process: &ProcessAnswer, to: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new([
            ("resident", Side::Right),
            ("share", Side::Right),
            ("use", Side::Left),
        ]);
        let mut row = |bytes: u64, words: String| {
            let share = percent(bytes, process.resident_bytes);
            table.row([in_units(bytes).into(), share.into(), words.into()]);
        };
        for it in &process.uses {
            let words = self.use_words(process, it.used_for);
            row(it.bytes, words + &guess_words(it.guessed_bytes));
        }
        let hidden = if process.is_hidden { HIDDEN } else { "" };
        row(
            process.unknown_bytes,
            Use::Unknown.words().to_owned() + hidden,
        );
        table.print(to)
    }

    fn use_words(&self, process: &ProcessAnswer, used_for: Use) -> String {
        let words = used_for.words();
        match used_for {
            Use::JavaHeap => format!(
                "{words}: {} in {}",
                in_units(self.heap_bytes),
                counted(self.objects, "object")
            ),
            Use::ThreadStacks => format!("{words}: {}", counted(process.threads, "thread")),
            Use::Malloc if process.zip_bytes > 0 => format!(
                "{words}: {}, about {} in zip streams",
                counted(process.malloc_arenas, "arena"),
                in_units(process.zip_bytes)
            ),
            Use::Malloc => format!("{words}: {}", counted(process.malloc_arenas, "arena")),
            _ => words.to_owned(),
        }
    }

    fn print_holders(&self, to: &mut dyn Write) -> io::Result<()> {
        if self.holders.is_empty() {
            writeln!(to, "\n{}", self.no_holders())?;
            return self.print_rest(to);
        }
        writeln!(to, "\nOutside of the heap, by the objects that hold it:")?;
        let mut table = Table::new([
            ("bytes", Side::Right),
            ("objects", Side::Right),
            ("of class", Side::Left),
            ("kind", Side::Left),
        ]);
        for holder in &self.holders {
            let about = if holder.is_estimate { "~" } else { "" };
            let bytes = match holder.bytes {
                0 => "?".to_owned(),
                bytes => format!("{about}{}", in_units(bytes)),
            };
            table.row([
                bytes.into(),
                grouped(holder.objects).into(),
                holder.class.clone().into(),
                holder.kind.to_owned().into(),
            ]);
        }
        table.print_with(to, |row, to| match self.holders.get(row) {
            Some(holder) => writeln!(to, "    held by {}", plain(&shown(&holder.held_by))),
            None => Ok(()),
        })?;
        self.print_rest(to)
    }

    fn no_holders(&self) -> &'static str {
        match self.holders_left_out {
            0 => "No object holds memory outside of the heap.",
            _ => "No holder has a page of memory outside of the heap.",
        }
    }

    fn print_rest(&self, to: &mut dyn Write) -> io::Result<()> {
        match self.holders_left_out {
            0 => Ok(()),
            rest => writeln!(
                to,
                "... and {}; --top 0 prints all",
                counted(rest as u64, "more row")
            ),
        }
    }

    fn print_loaders(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "\nClasses by their loader:")?;
        let mut table = Table::new([
            ("classes", Side::Right),
            ("loaders", Side::Right),
            ("of class", Side::Left),
        ]);
        for row in &self.loaders {
            table.row([
                grouped(row.classes).into(),
                grouped(row.loaders).into(),
                row.class.clone().into(),
            ]);
        }
        table.print(to)
    }
}

/// How much of a row is a guess.
fn guess_words(bytes: u64) -> String {
    match bytes {
        0 => String::new(),
        bytes => format!(" ({} by a guess)", in_units(bytes)),
    }
}

impl ProcessAnswer {
    fn of(facts: &ProcessFacts, memory: &NativeMemory) -> Self {
        let resident = &facts.resident;
        let known = resident.bytes.iter().filter(|(it, _)| **it != Use::Unknown);
        let mut uses: Vec<UseRow> = known
            .map(|(used_for, bytes)| UseRow {
                used_for: *used_for,
                bytes: *bytes,
                guessed_bytes: resident.guessed.get(used_for).copied().unwrap_or(0),
            })
            .collect();
        uses.sort_by_key(|row| (std::cmp::Reverse(row.bytes), row.used_for));
        let zip = memory.groups.iter().filter(|it| it.kind.is_estimate());
        Self {
            resident_bytes: resident.total(),
            unknown_bytes: resident.of_use(Use::Unknown),
            is_hidden: resident.is_hidden,
            threads: facts.threads,
            malloc_arenas: resident.malloc_arenas,
            zip_bytes: zip.map(|group| group.bytes).sum(),
            uses,
        }
    }
}

impl Holder {
    fn of(heap: &Heap<'_>, group: &NativeGroup, held_by: String) -> Self {
        Self {
            kind: kind_words(group.kind),
            class: heap.class_name(group.class),
            objects: group.objects,
            bytes: group.bytes,
            is_estimate: group.kind.is_estimate(),
            held_by,
            id: id(heap, group.example),
        }
    }
}

fn kind_words(kind: NativeKind) -> &'static str {
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
fn process_words(process: &ProcessAnswer, loaders: &[Loaders]) -> String {
    let of_use = |used_for: Use| process.uses.iter().find(|row| row.used_for == used_for);
    let (all, heap) = (process.resident_bytes, of_use(Use::JavaHeap));
    let mut text = format!(
        "{} are resident, {} of them the Java heap",
        in_units(all),
        in_units(heap.map_or(0, |row| row.bytes))
    );
    let mut others = process.uses.iter();
    if let Some(row) = others.find(|row| row.used_for != Use::JavaHeap) {
        let (bytes, words) = (in_units(row.bytes), row.used_for.words());
        let perhaps = if row.guessed_bytes > row.bytes / 2 {
            "perhaps "
        } else {
            ""
        };
        text.push_str(&format!(", {bytes} {perhaps}{words}"));
        if let (Use::Metaspace, Some(most)) = (row.used_for, loaders.first()) {
            let (classes, loaders) = (grouped(most.classes), grouped(most.loaders));
            text.push_str(&format!(" (most: {classes} of {loaders} {})", most.class));
        }
    }
    text.push('.');
    text
}

/// The process or the heap, and the largest holder, in one or two sentences.
fn sentence(
    process: Option<(&ProcessAnswer, &[Loaders])>,
    memory: &NativeMemory,
    largest: Option<&Holder>,
    heap_bytes: u64,
) -> String {
    let mut text = match process {
        Some((process, loaders)) => process_words(process, loaders),
        None => format!(
            "The objects have {}, and hold {} outside of the heap in buffers, mapped files and arenas.",
            in_units(heap_bytes),
            in_units(memory.buffer_bytes())
        ),
    };
    let least = process.map_or(1, |(process, _)| process.resident_bytes / SENTENCE_PART);
    if let Some(holder) = largest.filter(|holder| holder.bytes >= least.max(1)) {
        let about = if holder.is_estimate { "about " } else { "" };
        let plural = if holder.objects == 1 { "" } else { "s" };
        text.push_str(&format!(
            " Most held outside of the heap: {about}{} in {} {}{plural}, by {}.",
            in_units(holder.bytes),
            grouped(holder.objects),
            holder.kind,
            holder.held_by
        ));
    }
    text
}

/// Classes by the class of their loader.
fn loaders(heap: &Heap<'_>, most: usize) -> Vec<Loaders> {
    let mut classes: BTreeMap<u64, u64> = BTreeMap::new();
    for class in heap.directory().classes.iter() {
        *classes.entry(class.loader).or_default() += 1;
    }
    let mut rows: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (loader, classes) in classes {
        let class = match (loader, heap.object(loader)) {
            (0, _) => "(boot loader)".to_owned(),
            (_, Some(object)) => heap.class_name(heap.class(object)),
            (_, None) => "(not in the dump)".to_owned(),
        };
        let row = rows.entry(class).or_default();
        *row = (row.0 + 1, row.1 + classes);
    }
    let mut rows: Vec<Loaders> = rows
        .into_iter()
        .map(|(class, (loaders, classes))| Loaders {
            class,
            loaders,
            classes,
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.classes));
    rows.truncate(most);
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
        let answer = MemoryAnswer::of(&heap, &memory, facts, 10).unwrap();
        assert_eq!(answer.owned_bytes, 10_000_000);
        assert!(answer.in_json().get("holders").is_some());
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
      9        1  (boot loader)
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
