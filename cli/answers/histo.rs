//! The classes with the number and size of their objects.

use std::rc::Rc;

use format::CountedClass;
use graph::Heap;
use reader::{Histogram, HistogramRow};

use super::object::class_names;
use super::top::with_loader;
use crate::files::heap_file::SizesOf;
use crate::output::{counted, grouped, Sections, Table};

/// The first `most` classes of a dump, largest first.
pub(crate) fn histogram<'a>(found: Histogram, most: usize) -> Sections<'a> {
    of_rows(found.rows, found.sizes.into(), most, found.damaged)
}

/// The first `most` classes of a JVM that runs, as its agent has counted them.
pub(crate) fn of_jvm<'a>(counted: Vec<CountedClass>, most: usize) -> Sections<'a> {
    let rows = counted.into_iter().map(|class| HistogramRow {
        class: class.class.into(),
        loader: Some(class.loader),
        instances: class.instances,
        bytes: class.bytes,
    });
    of_rows(HistogramRow::ranked(rows.collect()), SizesOf::Jvm, most, 0)
}

fn of_rows<'a>(rows: Vec<HistogramRow>, sizes: SizesOf, most: usize, damaged: u64) -> Sections<'a> {
    let sum = |number: fn(&HistogramRow) -> u64| {
        let numbers = rows.iter().map(number);
        numbers.fold(0_u64, u64::saturating_add)
    };
    let (bytes, instances) = (sum(|row| row.bytes), sum(|row| row.instances));
    let all = counted(rows.len() as u64, "row");
    let total = match rows.len().saturating_sub(most) as u64 {
        0 => format!("total of {all}"),
        left_out => format!(
            "total of {all}, {} of them not shown; --top 0 prints all",
            grouped(left_out)
        ),
    };
    let table = Table::of(rows, most)
        .right("instances", "objects", |row| row.instances)
        .right("bytes", "bytes", |row| row.bytes)
        .left("class", "", |row| {
            let loader = row.loader.map(loader_text);
            with_loader(&row.class, loader.as_deref())
        })
        .hidden("class", |row| Rc::clone(&row.class))
        .optional("loader", |row| row.loader.map(loader_text))
        .total([instances.into(), bytes.into(), total.into()]);
    let mut answer = Sections::default();
    answer.table("classes", "left_out", table);
    answer.fact("object_bytes", bytes);
    answer.fact("damaged", damaged);
    answer.fact("objects", instances);
    answer.json("sizes", sizes);
    answer.line(format!("Sizes by {}.", sizes.words()));
    answer
}

/// A class's loader, as far as a pass over the file shows it.
fn loader_text(loader: u64) -> String {
    match loader {
        0 => "bootstrap loader".to_owned(),
        id => format!("loader {id:#x}"),
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
