//! Memory that holds nothing new.

use std::collections::BTreeMap;

use graph::{BoxedWaste, CollectionWaste, Duplicates, Filling, GraphError, Heap, Unseen, Waste};

use super::object::id;
use crate::files::heap_file::Loaded;
use crate::output::number::{counted, grouped, in_units, percent};
use crate::output::plain::plain;
use crate::output::screen;
use crate::output::sections::Sections;
use crate::output::table::Table;

/// Bytes of a text that are printed.
const TEXT_BYTES: usize = 200;

/// The wasted bytes, by kind: `most` rows of each, with the texts of strings if they may be seen.
/// Errors: the file cannot be read.
pub(crate) fn waste(
    loaded: &Loaded,
    most: usize,
    with_texts: bool,
) -> Result<Sections<'_>, GraphError> {
    let (heap, retained) = (&loaded.heap, &loaded.retained);
    let found = Waste::find(heap, retained)?;
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
    answer.group(
        "strings",
        copies(heap, found.strings, most, (head, titles, texts)),
    );
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
    collections(
        &mut answer,
        heap,
        found.collections,
        (most, !unseen.collections),
    );
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
        })
        .done();
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
        .left("held by", "held_by", |row| row.holder.clone())
        .done();
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
        .left("held by", "held_by", |row| row.holder.clone())
        .done();
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
