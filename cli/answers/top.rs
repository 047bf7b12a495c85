//! What retains the most: objects, classes, packages, loaders, threads, or stacks that allocated.

use std::collections::HashMap;
use std::rc::Rc;

use clap::ValueEnum;
use graph::{Heap, Retained, Total};

use super::loaders::{loader_name, loaders};
use super::object::{class_names, described, id};
use super::sites::sites;
use super::threads::thread_table;
use super::unreachable::unreachable;
use crate::files::heap_file::{Loaded, SizesOf};
use crate::output::table::Rows;
use crate::output::{counted, grouped, shown, Cell, Failure, Sections, Table};

/// The kind of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Single objects, dominated ones after their dominators
    #[value(skip)]
    Object,
    /// Classes
    #[value(skip)]
    Class,
    /// Packages of classes
    Package,
    /// Class loaders
    Loader,
    /// Threads
    Thread,
    /// Allocation sites, in dumps made with the agent's heap=all
    Site,
}

/// The first `most` rows, largest retained size first. Errors: the dump has no sites; the file
/// cannot be read.
pub(crate) fn top(loaded: &Loaded, by: By, most: usize) -> Result<Sections<'_>, Failure> {
    let (heap, retained) = (&loaded.heap, &loaded.retained);
    let mut answer = Sections::default();
    match by {
        By::Object => objects(&mut answer, loaded, most),
        // Its retained bytes are estimates, of a part.
        By::Site => return sites(loaded, most),
        By::Thread => {
            let table = loaded.check(thread_table(loaded, most))?;
            answer.table("rows", "left_out", table);
        }
        By::Loader => loaded.check(loaders(&mut answer, loaded, most))?,
        By::Class | By::Package => {
            let rows = group_rows(heap, retained, by);
            let noun = if by == By::Class { "class" } else { "package" };
            answer.table("rows", "left_out", groups(rows, noun, most).noun(noun));
        }
    }
    answer.json("sizes", SizesOf::from(heap.sizes()));
    answer.fact("total_bytes", retained.total_bytes());
    Ok(answer)
}

/// Objects, dominated ones after their dominators.
fn objects<'a>(answer: &mut Sections<'a>, loaded: &'a Loaded, most: usize) {
    let (heap, retained) = (&loaded.heap, &loaded.retained);
    let objects = largest(loaded, most);
    let reachable = retained.reachable();
    let left_out = (reachable as usize).saturating_sub(objects.len());
    let table = Table::of(objects, usize::MAX)
        .right("retained", "retained", |it| retained.bytes(*it))
        .right("shallow", "shallow", |it| heap.shallow_bytes(*it))
        .left("object", "id", |it| id(heap, *it))
        .left("class", "class", |it| described(heap, *it))
        .left_out(left_out)
        .noun("object");
    answer.table("objects", "left_out", table);
    let all = counted(reachable.into(), "reachable object");
    let bytes = grouped(retained.total_bytes());
    let by = SizesOf::from(heap.sizes()).words();
    answer.line(format!("{bytes} bytes in {all}; sizes by {by}"));
    unreachable(answer, loaded, "");
}

/// The largest objects. A run of nodes is one thing, unless all objects are asked for.
fn largest(loaded: &Loaded, most: usize) -> Vec<u32> {
    let (heap, retained) = (&loaded.heap, &loaded.retained);
    match most < retained.reachable() as usize {
        true => retained.largest_of(most, |object| !retained.goes_on(heap, object)),
        false => retained.largest(most),
    }
}

/// A name, with the loader if another row has the same.
pub(super) fn with_loader(name: &Rc<str>, loader: Option<&str>) -> Cell {
    match loader {
        Some(loader) => format!("{} ({loader})", shown(name)).into(),
        None => Rc::clone(name).into(),
    }
}

/// Objects that have something in common.
#[derive(Clone, Debug)]
pub(crate) struct GroupRow {
    pub(crate) name: Rc<str>,
    /// The loader of a class, if another row has the same name.
    loader: Option<String>,
    total: Total,
}

/// The first `most` groups.
pub(crate) fn groups<'a>(
    rows: impl IntoIterator<Item = GroupRow>,
    key: &'static str,
    most: usize,
) -> Rows<'a, GroupRow> {
    Table::of(rows, most)
        .right("retained", "retained", |row| row.total.retained_bytes)
        .right("shallow", "shallow", |row| row.total.shallow_bytes)
        .right("objects", "objects", |row| row.total.objects)
        .left(key, "", |row| with_loader(&row.name, row.loader.as_deref()))
        .hidden(key, |row| Rc::clone(&row.name))
        .optional("loader", |row| row.loader.clone())
}

/// The groups that have reachable objects, largest retained size first.
pub(crate) fn group_rows(heap: &Heap<'_>, retained: &Retained, by: By) -> Vec<GroupRow> {
    let (names, of_class) = named_groups(heap, by);
    let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
    let group = |object| {
        let class = heap.class(object) as usize;
        of_class.get(class).copied().unwrap_or(u32::MAX)
    };
    let totals = retained.totals(heap, count, group);
    let mut rows: Vec<(u32, Rc<str>, Total)> = (0..)
        .zip(names)
        .zip(totals)
        .map(|((group, name), total)| (group, name, total))
        .filter(|(_, _, total)| total.objects > 0)
        .collect();
    rows.sort_by(|(_, a, one), (_, b, other)| {
        let bytes = other.retained_bytes.cmp(&one.retained_bytes);
        bytes.then_with(|| a.cmp(b))
    });
    let mut counts: HashMap<Rc<str>, u32> = HashMap::new();
    if by == By::Class {
        for (_, name, _) in &rows {
            *counts.entry(Rc::clone(name)).or_default() += 1;
        }
    }
    let rows = rows.into_iter().map(|(group, name, total)| GroupRow {
        // Each class is a group, with the same number.
        loader: (counts.get(&name) > Some(&1))
            .then(|| loader_name(heap, heap.loader(group).unwrap_or(0))),
        name,
        total,
    });
    rows.collect()
}

/// The names of all groups, and each class's group number. Two classes with the same name have two
/// loaders, and two rows.
fn named_groups(heap: &Heap<'_>, by: By) -> (Vec<Rc<str>>, Vec<u32>) {
    let classes = class_names(heap);
    if by != By::Package {
        return (classes, (0..heap.classes()).collect());
    }
    let (mut names, mut numbers) = (Vec::new(), HashMap::new());
    let of_class = classes.iter().map(|class| {
        let name: Rc<str> = package(class).into();
        *numbers.entry(name).or_insert_with_key(|name| {
            names.push(Rc::clone(name));
            u32::try_from(names.len() - 1).unwrap_or(u32::MAX)
        })
    });
    let of_class = of_class.collect();
    (names, of_class)
}

/// `app.model` for `app.model.User[]`; primitive arrays have their own group.
fn package(class: &str) -> String {
    let element = class.trim_end_matches("[]");
    // The suffix of a hidden class has a slash.
    let plain = element.split('/').next().unwrap_or(element);
    match plain.rsplit_once('.') {
        Some((package, _)) => package.to_owned(),
        None if class.ends_with("[]") && element.starts_with(|c: char| c.is_lowercase()) => {
            "(primitive arrays)".to_owned()
        }
        None => "(no package)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_those_of_the_elements() {
        for (class, expected) in [
            ("app.model.User[][]", "app.model"),
            ("app.Main$$Lambda/0x0000aa.bb", "app"),
            ("int[]", "(primitive arrays)"),
            ("Main", "(no package)"),
        ] {
            assert_eq!(package(class), expected);
        }
    }
}
