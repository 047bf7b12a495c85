//! What retains the most: objects, classes, packages, loaders, threads, or stacks that allocated.

use std::collections::HashMap;
use std::io::{self, Write};
use std::rc::Rc;

use clap::ValueEnum;
use graph::{Heap, Retained, Total};
use serde::Serialize;
use serde_json::Value;

use super::loaders::{loader_name, print_loaders, LoaderRow};
use super::object::{class_names, ObjectRow};
use super::rows::{cut, Rows};
use super::sites::SitesAnswer;
use super::sizes_by::SizesBy;
use super::threads::{print_rows, ThreadRow};
use super::unreachable::Unreachable;
use crate::heap_file::{failure, Loaded};
use crate::number::{counted, grouped};
use crate::outcome::Failure;
use crate::plain::shown;
use crate::table::{Cell, Side, Table};

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

/// The rows, largest retained size first.
#[derive(Clone, Debug)]
pub(crate) enum TopAnswer {
    Objects(Objects),
    Groups(By, Rows<GroupRow>),
    Loaders(Rows<LoaderRow>),
    Threads(Rows<ThreadRow>),
    Sites(SitesAnswer),
}

/// [`Rows`] of objects.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Objects {
    left_out: usize,
    objects: Vec<ObjectRow>,
    sizes: SizesBy,
    total_bytes: u64,
    unreachable: Unreachable,
}

/// Objects that have something in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct GroupRow {
    #[serde(flatten)]
    name: Group,
    /// The loader of a class, if another row has the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    loader: Option<String>,
    objects: u64,
    retained: u64,
    shallow: u64,
}

/// The common property, with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Group {
    Class(Rc<str>),
    Package(Rc<str>),
}

impl TopAnswer {
    /// The first `most` rows. Errors: the dump has no sites; the file cannot be read.
    pub(crate) fn of(loaded: &Loaded<'_>, by: By, most: usize) -> Result<Self, Failure> {
        let (heap, retained) = (&loaded.heap, &loaded.retained);
        Ok(match by {
            By::Object => Self::Objects(Objects::of(loaded, most)),
            By::Site => Self::Sites(SitesAnswer::of((heap, retained), &loaded.file, most)?),
            By::Thread => Self::Threads(
                Rows::threads(loaded, most).map_err(|fault| failure(&loaded.file, &fault))?,
            ),
            By::Loader => Self::Loaders(
                Rows::loaders(loaded, most).map_err(|fault| failure(&loaded.file, &fault))?,
            ),
            By::Class | By::Package => Self::Groups(by, Rows::groups(loaded, by, most)),
        })
    }

    /// As JSON.
    pub(crate) fn in_json(&self) -> Value {
        match self {
            Self::Objects(answer) => serde_json::to_value(answer),
            Self::Groups(_, answer) => serde_json::to_value(answer),
            Self::Loaders(answer) => serde_json::to_value(answer),
            Self::Threads(answer) => serde_json::to_value(answer),
            Self::Sites(answer) => return answer.in_json(),
        }
        .unwrap_or_default()
    }

    /// As text.
    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Objects(answer) => answer.print(to),
            Self::Groups(by, answer) => answer.print(*by, to),
            Self::Loaders(answer) => print_loaders(&answer.rows, to),
            Self::Threads(answer) => print_rows(&answer.rows, to),
            Self::Sites(answer) => answer.print(to),
        }
    }
}

impl Objects {
    fn of(loaded: &Loaded<'_>, most: usize) -> Self {
        let (heap, retained) = (&loaded.heap, &loaded.retained);
        let objects = largest(loaded, most);
        Self {
            objects: objects
                .iter()
                .map(|object| ObjectRow::of(heap, retained, *object))
                .collect(),
            ..Self::below(loaded, objects.len())
        }
    }

    /// What stands below this many rows.
    fn below(loaded: &Loaded<'_>, listed: usize) -> Self {
        let (heap, retained) = (&loaded.heap, &loaded.retained);
        Self {
            left_out: (retained.reachable() as usize).saturating_sub(listed),
            objects: Vec::new(),
            sizes: heap.sizes().into(),
            total_bytes: retained.total_bytes(),
            unreachable: Unreachable::of(heap, retained),
        }
    }

    fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new([
            ("retained", Side::Right),
            ("shallow", Side::Right),
            ("object", Side::Left),
            ("class", Side::Left),
        ]);
        for row in &self.objects {
            table.row([
                grouped(row.retained).into(),
                grouped(row.shallow).into(),
                row.id.clone().into(),
                row.class.clone().into(),
            ]);
        }
        table.print(to)?;
        let all = self.left_out.saturating_add(self.objects.len());
        let all = counted(all as u64, "reachable object");
        let (bytes, by) = (grouped(self.total_bytes), self.sizes);
        writeln!(to, "{bytes} bytes in {all}; sizes by {by}")?;
        self.unreachable.print(to)
    }
}

/// Prints the JSON of all objects, row by row: a dump has more objects than fit into memory as an
/// answer.
pub(crate) fn stream_objects(
    loaded: &Loaded<'_>,
    most: usize,
    to: &mut dyn Write,
) -> io::Result<()> {
    let (heap, retained) = (&loaded.heap, &loaded.retained);
    let objects = largest(loaded, most);
    let below = Objects::below(loaded, objects.len());
    writeln!(to, "{{\"objects\":[")?;
    for (place, object) in objects.into_iter().enumerate() {
        let row = ObjectRow::of(heap, retained, object);
        to.write_all(if place == 0 { b"" } else { b"," })?;
        serde_json::to_writer(&mut *to, &row)?;
        writeln!(to)?;
    }
    write!(to, "],\"left_out\":{},\"sizes\":", below.left_out)?;
    serde_json::to_writer(&mut *to, &below.sizes)?;
    write!(
        to,
        ",\"total_bytes\":{},\"unreachable\":",
        below.total_bytes
    )?;
    serde_json::to_writer(&mut *to, &below.unreachable)?;
    if let Some(millis) = loaded.file.pause_millis() {
        write!(to, ",\"pause_ms\":{millis}")?;
    }
    writeln!(to, "}}")
}

/// The largest objects. A run of nodes is one thing, unless all objects are asked for.
fn largest(loaded: &Loaded<'_>, most: usize) -> Vec<u32> {
    let (heap, retained) = (&loaded.heap, &loaded.retained);
    match most < retained.reachable() as usize {
        true => retained.largest_of(most, |object| !retained.goes_on(heap, object)),
        false => retained.largest(most),
    }
}

impl Rows<GroupRow> {
    fn groups(loaded: &Loaded<'_>, by: By, most: usize) -> Self {
        let mut rows = group_rows(&loaded.heap, &loaded.retained, by);
        let mut left_out = 0;
        cut(&mut rows, &mut left_out, most);
        Self::new(loaded, rows, left_out)
    }

    fn print(&self, by: By, to: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new([
            ("retained", Side::Right),
            ("shallow", Side::Right),
            ("objects", Side::Right),
            (title(by), Side::Left),
        ]);
        for row in &self.rows {
            table.row([
                grouped(row.retained).into(),
                grouped(row.shallow).into(),
                grouped(row.objects).into(),
                row.text(),
            ]);
        }
        table.print(to)
    }
}

impl GroupRow {
    /// The group's name.
    pub(crate) fn name(&self) -> &str {
        self.name.text()
    }

    /// The name, with the loader if there is one.
    fn text(&self) -> Cell {
        match &self.loader {
            Some(loader) => format!("{} ({loader})", shown(self.name())).into(),
            None => Rc::clone(self.name.text()).into(),
        }
    }
}

impl Group {
    fn new(by: By, name: Rc<str>) -> Self {
        match by {
            By::Package => Self::Package(name),
            _ => Self::Class(name),
        }
    }

    fn text(&self) -> &Rc<str> {
        match self {
            Self::Class(name) | Self::Package(name) => name,
        }
    }
}

/// The title of the rows' column.
fn title(by: By) -> &'static str {
    match by {
        By::Package => "package",
        _ => "class",
    }
}

/// The classes, largest retained size first.
pub(crate) fn class_rows(heap: &Heap<'_>, retained: &Retained) -> Vec<GroupRow> {
    group_rows(heap, retained, By::Class)
}

/// The groups that have reachable objects, largest retained size first.
fn group_rows(heap: &Heap<'_>, retained: &Retained, by: By) -> Vec<GroupRow> {
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
        name: Group::new(by, name),
        objects: total.objects,
        retained: total.retained_bytes,
        shallow: total.shallow_bytes,
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
