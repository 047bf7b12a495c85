//! The classes with the number and size of their objects.

use std::io::{self, Write};
use std::rc::Rc;

use format::CountedClass;
use graph::Heap;
use reader::{Histogram, HistogramRow};
use serde::Serialize;

use super::object::class_names;
use super::sizes_by::SizesBy;
use crate::number::{counted, grouped};
use crate::plain::shown;
use crate::table::{Side, Table};

/// The classes with objects, largest first. Its fields are those of the JSON, in their order.
#[derive(Debug, Serialize)]
pub(crate) struct HistoAnswer {
    /// The sums over all objects.
    bytes: u64,
    classes: Vec<ClassRow>,
    damaged: u64,
    instances: u64,
    left_out: usize,
    /// How long the application paused; `None` for a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pause_ms: Option<u64>,
    sizes: SizesBy,
}

#[derive(Debug, Serialize)]
struct ClassRow {
    bytes: u64,
    /// Shared, as a hostile file may have one long name in millions of rows.
    class: Rc<str>,
    instances: u64,
    /// The loader, if another row has the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    loader: Option<String>,
}

/// A class's loader, as far as a pass over the file shows it.
fn loader_text(loader: u64) -> String {
    match loader {
        0 => "bootstrap loader".to_owned(),
        id => format!("loader {id:#x}"),
    }
}

impl HistoAnswer {
    /// The first `most` classes of a dump.
    pub(crate) fn of(histogram: Histogram, most: usize, pause_ms: Option<u64>) -> Self {
        let Histogram {
            rows,
            sizes,
            damaged,
        } = histogram;
        Self {
            damaged,
            ..Self::of_rows(rows, sizes.into(), most, pause_ms)
        }
    }

    /// The first `most` classes of a JVM that runs, as its agent has counted them.
    pub(crate) fn of_jvm(counted: Vec<CountedClass>, most: usize, pause_ms: Option<u64>) -> Self {
        let rows = counted.into_iter().map(|class| HistogramRow {
            class: class.class.into(),
            loader: Some(class.loader),
            instances: class.instances,
            bytes: class.bytes,
        });
        let rows = HistogramRow::ranked(rows.collect());
        Self::of_rows(rows, SizesBy::Jvm, most, pause_ms)
    }

    fn of_rows(
        rows: Vec<HistogramRow>,
        sizes: SizesBy,
        most: usize,
        pause_ms: Option<u64>,
    ) -> Self {
        let sum = |number: fn(&HistogramRow) -> u64| {
            let numbers = rows.iter().map(number);
            numbers.fold(0_u64, u64::saturating_add)
        };
        let (bytes, instances) = (sum(|row| row.bytes), sum(|row| row.instances));
        let left_out = rows.len().saturating_sub(most);
        let classes = rows.into_iter().take(most).map(|row| ClassRow {
            bytes: row.bytes,
            class: row.class,
            instances: row.instances,
            loader: row.loader.map(loader_text),
        });
        Self {
            bytes,
            classes: classes.collect(),
            damaged: 0,
            instances,
            left_out,
            pause_ms,
            sizes,
        }
    }

    /// As text.
    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new([
            ("instances", Side::Right),
            ("bytes", Side::Right),
            ("class", Side::Left),
        ]);
        for row in &self.classes {
            table.row([
                grouped(row.instances).into(),
                grouped(row.bytes).into(),
                match &row.loader {
                    Some(loader) => format!("{} ({loader})", shown(&row.class)).into(),
                    None => row.class.clone().into(),
                },
            ]);
        }
        let rows = counted((self.classes.len() + self.left_out) as u64, "row");
        let total = match self.left_out as u64 {
            0 => format!("total of {rows}"),
            left_out => format!(
                "total of {rows}, {} of them not shown; --top 0 prints all",
                grouped(left_out)
            ),
        };
        table.row([
            grouped(self.instances).into(),
            grouped(self.bytes).into(),
            total.into(),
        ]);
        table.print(to)?;
        writeln!(to, "Sizes by {}.", self.sizes)
    }
}

/// The classes of a heap that is in memory, with the sizes of its objects there.
pub(crate) fn of_heap(heap: &Heap<'_>) -> Histogram {
    of_objects(heap, 0..heap.objects())
}

/// The classes of these objects of a heap that is in memory.
pub(crate) fn of_objects(heap: &Heap<'_>, objects: impl Iterator<Item = u32>) -> Histogram {
    let mut counts = vec![(0_u64, 0_u64); heap.classes() as usize];
    for object in objects {
        if let Some((instances, bytes)) = counts.get_mut(heap.class(object) as usize) {
            *instances += 1;
            *bytes = bytes.saturating_add(heap.shallow_bytes(object));
        }
    }
    let row = |((class, name), (instances, bytes))| HistogramRow {
        class: name,
        loader: heap.loader(class),
        instances,
        bytes,
    };
    let counted = (0..).zip(class_names(heap)).zip(counts);
    let counted = counted.filter(|(_, (instances, _))| *instances > 0);
    Histogram {
        rows: HistogramRow::ranked(counted.map(row).collect()),
        sizes: heap.sizes(),
        damaged: heap.damaged(),
    }
}
