//! Memory that holds nothing new.

use std::io::{self, Write};

use graph::{Duplicates, Filling, GraphError, Heap, Retained, Unseen, Waste};
use serde::Serialize;

use super::object::id;
use crate::number::{counted, grouped, in_units, percent};
use crate::plain::plain;
use crate::screen;
use crate::table::{Cell, Side, Table};

/// Bytes of a text that are printed.
const TEXT_BYTES: usize = 200;

/// The wasted bytes, by kind, most bytes first.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct WasteAnswer {
    arrays: CopiesAnswer,
    boxed: Vec<BoxedRow>,
    boxed_left_out: usize,
    collections: Vec<CollectionRow>,
    collections_left_out: usize,
    damaged: u64,
    lost_bytes: u64,
    /// The word of the redaction, if values are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted: Option<String>,
    strings: CopiesAnswer,
    /// Bytes of all reachable objects.
    total_bytes: u64,
    #[serde(skip)]
    totals: Totals,
    /// Arrays with nothing but zeros, which do not count as lost.
    zeros: CopiesAnswer,
}

/// Sums over all rows, of which only the text has more than the rows.
#[derive(Clone, Debug)]
struct Totals {
    boxed: u64,
    boxed_bytes: u64,
    collections: u64,
    collections_bytes: u64,
    with_texts: bool,
    unseen: Unseen,
}

/// Objects with equal contents.
#[derive(Clone, Debug, Serialize)]
struct CopiesAnswer {
    different: u64,
    groups: Vec<CopiesRow>,
    groups_left_out: usize,
    lost_bytes: u64,
    objects: u64,
}

#[derive(Clone, Debug, Serialize)]
struct CopiesRow {
    class: String,
    /// One of the objects.
    id: String,
    length: u32,
    lost_bytes: u64,
    objects: u64,
    /// The text of a string, if it may be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct CollectionRow {
    class: String,
    fault: &'static str,
    held_by: String,
    lost_bytes: u64,
    objects: u64,
}

#[derive(Clone, Debug, Serialize)]
struct BoxedRow {
    bytes: u64,
    class: String,
    held_by: String,
    objects: u64,
}

impl WasteAnswer {
    /// `most` rows of each kind, with the texts of strings if they may be seen. Errors: the file
    /// cannot be read.
    pub(crate) fn of(
        (heap, retained): (&Heap<'_>, &Retained),
        waste: Waste,
        most: usize,
        with_texts: bool,
    ) -> Result<Self, GraphError> {
        let collections = waste.collections.iter().take(most);
        let boxed = waste.boxed.iter().take(most);
        Ok(Self {
            arrays: CopiesAnswer::of(heap, &waste.arrays, most),
            boxed: boxed
                .map(|row| BoxedRow {
                    bytes: row.bytes,
                    class: heap.class_name(row.class),
                    held_by: row.holder.clone(),
                    objects: row.objects,
                })
                .collect(),
            boxed_left_out: waste.boxed.len().saturating_sub(most),
            collections: collections
                .map(|row| CollectionRow {
                    class: heap.class_name(row.class),
                    fault: fault(row.filling),
                    held_by: row.holder.clone(),
                    lost_bytes: row.lost_bytes,
                    objects: row.objects,
                })
                .collect(),
            collections_left_out: waste.collections.len().saturating_sub(most),
            damaged: heap.damaged(),
            lost_bytes: waste.lost_bytes(),
            redacted: heap.redacted().map(str::to_owned),
            strings: CopiesAnswer::of_strings(heap, &waste.strings, most, with_texts)?,
            total_bytes: retained.total_bytes(),
            zeros: CopiesAnswer::of(heap, &waste.zeros, most),
            totals: Totals {
                boxed: waste.boxed.iter().map(|row| row.objects).sum(),
                boxed_bytes: waste.boxed.iter().map(|row| row.bytes).sum(),
                collections: waste.collections.iter().map(|row| row.objects).sum(),
                collections_bytes: waste.collections.iter().map(|row| row.lost_bytes).sum(),
                with_texts,
                unseen: waste.unseen,
            },
        })
    }

    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        let (lost, total) = (self.lost_bytes, self.total_bytes);
        let (of_all, share) = (in_units(total), percent(lost, total));
        let text = format!("{} of {of_all} ({share}) hold nothing new", in_units(lost));
        writeln!(to, "{}", screen::headline(&text))?;
        if let Some(word) = &self.redacted {
            writeln!(to, "{}", left_out(word, self.totals.unseen))?;
        }
        self.print_copies(to)?;
        if !self.totals.unseen.collections {
            self.print_collections(to)?;
        }
        self.print_boxed(to)
    }

    fn print_copies(&self, to: &mut dyn Write) -> io::Result<()> {
        if !self.totals.unseen.strings {
            self.strings.head("strings", "text", to)?;
            let title = if self.totals.with_texts { "text" } else { "" };
            let titles = ["lost bytes", "strings", title];
            self.strings.print(titles, to, |row| {
                let text = row.text.as_ref();
                text.map_or_else(String::new, |text| format!("{:?}", plain(text)))
            })?;
        }
        if self.totals.unseen.arrays {
            return Ok(());
        }
        self.arrays
            .head("arrays of primitive values", "value", to)?;
        let class = |row: &CopiesRow| row.class.clone();
        self.arrays
            .print(["lost bytes", "arrays", "class"], to, class)?;
        if self.zeros.objects == 0 {
            return Ok(());
        }
        let arrays = counted(self.zeros.objects, "array");
        let bytes = in_units(self.zeros.lost_bytes);
        writeln!(
            to,
            "\nNot counted: {bytes} in {arrays} of zeros: never written?"
        )?;
        self.zeros.print(["bytes", "arrays", "class"], to, class)
    }

    fn print_collections(&self, to: &mut dyn Write) -> io::Result<()> {
        let lost = in_units(self.totals.collections_bytes);
        let all = counted(self.totals.collections, "collection");
        writeln!(
            to,
            "\n{lost}: {all} with nothing, one element or many empty places"
        )?;
        let mut table = Table::new([
            ("lost bytes", Side::Right),
            ("objects", Side::Right),
            ("fault", Side::Left),
            ("class", Side::Left),
            ("held by", Side::Left),
        ]);
        for row in &self.collections {
            table.row([
                grouped(row.lost_bytes).into(),
                grouped(row.objects).into(),
                row.fault.to_owned().into(),
                row.class.clone().into(),
                row.held_by.clone().into(),
            ]);
        }
        print_rows(to, &table, self.collections_left_out)
    }

    fn print_boxed(&self, to: &mut dyn Write) -> io::Result<()> {
        let boxed = counted(self.totals.boxed, "boxed value");
        writeln!(to, "\n{}: {boxed}", in_units(self.totals.boxed_bytes))?;
        let mut table = Table::new([
            ("bytes", Side::Right),
            ("objects", Side::Right),
            ("class", Side::Left),
            ("held by", Side::Left),
        ]);
        for row in &self.boxed {
            table.row([
                grouped(row.bytes).into(),
                grouped(row.objects).into(),
                row.class.clone().into(),
                row.held_by.clone().into(),
            ]);
        }
        print_rows(to, &table, self.boxed_left_out)
    }
}

impl CopiesAnswer {
    fn of(heap: &Heap<'_>, all: &Duplicates, most: usize) -> Self {
        let groups = all.groups.iter().take(most).map(|row| CopiesRow {
            class: heap.class_name(heap.class(row.object)),
            id: id(heap, row.object),
            length: row.length,
            lost_bytes: row.lost_bytes,
            objects: row.objects,
            text: None,
        });
        Self {
            different: all.contents,
            groups: groups.collect(),
            groups_left_out: all.groups.len().saturating_sub(most),
            lost_bytes: all.lost_bytes,
            objects: all.objects,
        }
    }

    fn of_strings(
        heap: &Heap<'_>,
        all: &Duplicates,
        most: usize,
        with_texts: bool,
    ) -> Result<Self, GraphError> {
        let mut answer = Self::of(heap, all, most);
        if with_texts {
            let objects = all.groups.iter().take(most).map(|row| row.object);
            let objects: Vec<u32> = objects.collect();
            let mut texts = heap.strings(&objects, TEXT_BYTES)?;
            for (row, object) in answer.groups.iter_mut().zip(objects) {
                row.text = texts.remove(&object);
            }
        }
        Ok(answer)
    }

    fn head(&self, what: &str, contents: &str, to: &mut dyn Write) -> io::Result<()> {
        let (lost, objects) = (in_units(self.lost_bytes), grouped(self.objects));
        let different = counted(self.different, &format!("different {contents}"));
        writeln!(to, "\n{lost}: {objects} {what} with {different}")
    }

    /// The rows, whose last cell is `last`.
    fn print(
        &self,
        [bytes, what, title]: [&str; 3],
        to: &mut dyn Write,
        last: impl Fn(&CopiesRow) -> String,
    ) -> io::Result<()> {
        let mut table = Table::new([
            (bytes, Side::Right),
            (what, Side::Right),
            ("length", Side::Right),
            ("one of them", Side::Left),
            (title, Side::Left),
        ]);
        for row in &self.groups {
            let cells = [
                grouped(row.lost_bytes),
                grouped(row.objects),
                grouped(row.length.into()),
                row.id.clone(),
                last(row),
            ];
            table.row(cells.map(Cell::from));
        }
        print_rows(to, &table, self.groups_left_out)
    }
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

fn print_rows<const N: usize>(
    to: &mut dyn Write,
    table: &Table<N>,
    left_out: usize,
) -> io::Result<()> {
    if table.is_empty() {
        return Ok(());
    }
    table.print(to)?;
    if left_out > 0 {
        let rest = counted(left_out as u64, "more row");
        writeln!(to, "... and {rest}; --top 0 prints all")?;
    }
    Ok(())
}
