//! Memory that holds nothing new.

use std::collections::BTreeMap;

use graph::{BoxedWaste, CollectionWaste, Duplicates, Filling, GraphError, Heap, Unseen};

use super::ask::Question;
use super::object::id;
use crate::files::heap_file::{only_a_file, GraphArguments, Loaded};
use crate::output::screen;
use crate::output::{counted, grouped, in_units, limit, percent, plain, Failure, Sections, Table};

/// Bytes of a text that are printed.
const TEXT_BYTES: usize = 200;

/// Lists memory that holds nothing new: equal strings, empty collections
///
/// Strings and arrays of primitive values that have equal contents: all but one of them are lost.
/// Collections of the JDK that are empty or have one element: they are lost with the arrays that
/// only they hold. Collections that use less than a quarter of their array: the empty places are
/// lost. Boxed numbers, characters and truth values: all of them are lost. No byte counts twice,
/// and objects that no root leads to are left out.
///
/// A collection or a boxed number that several fields hold counts for the first of them in the
/// file.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  hprof waste heap.hprof --top 20",
    mut_arg("file", only_a_file),
    mut_arg("agent", |it| it.hide(true))
)]
pub(crate) struct Waste {
    /// Print at most N rows of each table; 0 for all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Print the texts of strings, which may be secret, cut to 200 bytes
    #[arg(long)]
    pub(crate) strings: bool,
}

impl Question for Waste {
    const PASSES: u64 = 3;

    fn check(&self, of: &GraphArguments) -> Result<(), Failure> {
        of.check_is_file()
    }

    fn answer<'a>(&self, loaded: &'a Loaded) -> Result<Sections<'a>, Failure> {
        loaded.check(waste(loaded, limit(self.top), self.strings))
    }
}

/// The wasted bytes, by kind: `most` rows of each, with the texts of strings if they may be seen.
/// Errors: the file cannot be read.
fn waste(loaded: &Loaded, most: usize, with_texts: bool) -> Result<Sections<'_>, GraphError> {
    let (heap, retained) = (&loaded.heap, &loaded.retained);
    let found = graph::Waste::find(heap, retained)?;
    let (mut answer, unseen) = (Sections::default(), found.unseen);
    let (lost, total) = (found.lost_bytes(), retained.total_bytes());
    let (of_all, share) = (in_units(total), percent(lost, total));
    let text = format!("{} of {of_all} ({share}) hold nothing new", in_units(lost));
    answer.line(screen::headline(&text));
    answer.fact("damaged", heap.damaged());
    answer.fact("lost_bytes", lost);
    answer.fact("total_bytes", total);
    if let Some(word) = heap.redacted() {
        let text = left_out(word, unseen);
        answer.fact("redacted", word);
        answer.fact("unseen", &*text);
        answer.line(text);
    }
    let mut texts = BTreeMap::new();
    if with_texts {
        let objects = found.strings.groups.iter().take(most).map(|row| row.object);
        texts = heap.strings(&objects.collect::<Vec<_>>(), TEXT_BYTES)?;
    }
    let title = if with_texts { "text" } else { "" };
    let head = (!unseen.strings).then(|| head(&found.strings, "strings", "text"));
    let titles = ["lost bytes", "strings", title, ""];
    let strings = copies(heap, found.strings, most, (head, titles, texts));
    answer.group("strings", strings);
    let what = "arrays of primitive values";
    let head = (!unseen.arrays).then(|| self::head(&found.arrays, what, "value"));
    let titles = ["lost bytes", "arrays", "", "class"];
    let arrays = copies(heap, found.arrays, most, (head, titles, BTreeMap::new()));
    answer.group("arrays", arrays);
    let is_seen = !unseen.arrays && found.zeros.objects > 0;
    let head = is_seen.then(|| {
        let arrays = counted(found.zeros.objects, "array");
        let bytes = in_units(found.zeros.lost_bytes);
        format!("\nNot counted: {bytes} in {arrays} of zeros: never written?")
    });
    let titles = ["bytes", "arrays", "", "class"];
    let zeros = copies(heap, found.zeros, most, (head, titles, BTreeMap::new()));
    answer.group("zeros", zeros);
    let shown = (most, !unseen.collections);
    collections(&mut answer, heap, found.collections, shown);
    boxed(&mut answer, heap, found.boxed, most);
    Ok(answer)
}

fn head(all: &Duplicates, what: &str, contents: &str) -> String {
    let (lost, objects) = (in_units(all.lost_bytes), grouped(all.objects));
    let different = counted(all.contents, &format!("different {contents}"));
    format!("\n{lost}: {objects} {what} with {different}")
}

/// Objects with equal contents; only in JSON if there is no first line.
fn copies<'a>(
    heap: &'a Heap<'_>,
    all: Duplicates,
    most: usize,
    (head, [bytes, what, text, class], texts): (
        Option<String>,
        [&'static str; 4],
        BTreeMap<u32, String>,
    ),
) -> Sections<'a> {
    let mut answer = Sections::default();
    answer.fact("different", all.contents);
    answer.fact("lost_bytes", all.lost_bytes);
    answer.fact("objects", all.objects);
    let quoted = texts.clone();
    let table = Table::of(all.groups, most)
        .right(bytes, "lost_bytes", |row| row.lost_bytes)
        .right(what, "objects", |row| row.objects)
        .right("length", "length", |row| row.length)
        // One of the objects.
        .left("one of them", "id", |row| id(heap, row.object))
        .left(text, "", move |row| {
            let text = quoted.get(&row.object);
            text.map(|text| format!("{:?}", plain(text)))
        })
        .optional("text", move |row| texts.get(&row.object).cloned())
        .left(class, "class", |row| {
            heap.class_name(heap.class(row.object))
        });
    let table = match head {
        Some(head) => {
            answer.line(head);
            table.noun("row")
        }
        None => table.shown(0),
    };
    answer.table("groups", "groups_left_out", table);
    answer
}

fn collections<'a>(
    answer: &mut Sections<'a>,
    heap: &'a Heap<'_>,
    rows: Vec<CollectionWaste>,
    (most, is_seen): (usize, bool),
) {
    let bytes = rows.iter().map(|row| row.lost_bytes).sum::<u64>();
    let objects = rows.iter().map(|row| row.objects).sum();
    answer.fact("collections_bytes", bytes);
    let table = Table::of(rows, most)
        .right("lost bytes", "lost_bytes", |row| row.lost_bytes)
        .right("objects", "objects", |row| row.objects)
        .left("fault", "fault", |row| fault(row.filling))
        .left("class", "class", |row| heap.class_name(row.class))
        .left("held by", "held_by", |row| row.holder.clone());
    let table = match is_seen {
        true => {
            let (lost, all) = (in_units(bytes), counted(objects, "collection"));
            answer.line(format!(
                "\n{lost}: {all} with nothing, one element or many empty places"
            ));
            table.noun("row")
        }
        false => table.shown(0),
    };
    answer.table("collections", "collections_left_out", table);
}

fn boxed<'a>(answer: &mut Sections<'a>, heap: &'a Heap<'_>, rows: Vec<BoxedWaste>, most: usize) {
    let bytes = rows.iter().map(|row| row.bytes).sum::<u64>();
    let objects = rows.iter().map(|row| row.objects).sum();
    answer.fact("boxed_bytes", bytes);
    let values = counted(objects, "boxed value");
    answer.line(format!("\n{}: {values}", in_units(bytes)));
    let table = Table::of(rows, most)
        .right("bytes", "bytes", |row| row.bytes)
        .right("objects", "objects", |row| row.objects)
        .left("class", "class", |row| heap.class_name(row.class))
        .left("held by", "held_by", |row| row.holder.clone());
    answer.table("boxed", "boxed_left_out", table.noun("row"));
}

/// What is left out of a dump with this redaction: `redacted (all): equal strings are left out`.
pub(crate) fn left_out(word: &str, unseen: Unseen) -> String {
    let kinds = [
        (unseen.strings, "equal strings"),
        (unseen.arrays, "equal arrays"),
        (unseen.collections, "collections"),
    ];
    let kinds = kinds.iter().filter(|(is_unseen, _)| *is_unseen);
    let kinds: Vec<&str> = kinds.map(|(_, kind)| *kind).collect();
    let word = plain(word);
    match kinds.is_empty() {
        true => format!("redacted ({word}): some values are missing"),
        false => format!("redacted ({word}), so left out: {}", kinds.join(", ")),
    }
}

/// The kind of a collection's waste, in a word or two.
pub(crate) fn fault(filling: Filling) -> &'static str {
    match filling {
        Filling::Empty => "empty",
        Filling::One => "one element",
        Filling::Sparse => "sparse",
    }
}
