//! What an object is, what it holds, and what refers to it.

use std::collections::HashMap;
use std::io::{self, Write};

use format::BasicType;
use graph::{Contents, Dominator, Entries, Entry, FieldValue, GraphError, PATH_STEPS};
use serde::Serialize;

use super::labels::{Labels, STRING_BYTES};
use super::listed::{links_from, links_to, ListedRow};
use super::object::ObjectRow;
use super::path::PathAnswer;
use super::values::{may_be_redacted, type_name, value, values, Shown};
use crate::frame::Frame;
use crate::heap_file::Loaded;
use crate::number::{counted, grouped};
use crate::plain::{plain, shown};

/// Most bytes read of an array's elements.
const ARRAY_BYTES: usize = 16 << 20;

/// An object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ShowAnswer {
    #[serde(flatten)]
    object: ObjectRow,
    /// The stack that allocated it, if the dump has it.
    allocated: Option<Vec<Frame>>,
    contents: Option<ContentsRow>,
    /// The objects of which it is the dominator.
    dominates: Listed,
    dominator: Option<ObjectRow>,
    /// What the program has put into it, if it is a collection of the JDK.
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<EntriesRow>,
    /// The shortest path from a root.
    path: Option<PathAnswer>,
    /// Whether a root leads to it.
    reachable: bool,
    /// The objects that refer to it.
    referrers: Listed,
    /// The kind of root that it is, as HPROF names it.
    root: Option<&'static str>,
    /// The text of a string, if it may be shown.
    text: Option<String>,
}

/// The first objects of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Listed {
    left_out: usize,
    objects: Vec<ListedRow>,
}

/// The first entries of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct EntriesRow {
    entries: Vec<EntryRow>,
    left_out: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct EntryRow {
    /// `None` is null; absent if the collection has no keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Option<Referred>>,
    value: Option<Referred>,
}

/// What an object holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum ContentsRow {
    References {
        /// Those that are not null.
        elements: Vec<ElementRow>,
        length: u32,
        /// `None` if the array is too long to be read to its end.
        nulls: Option<u64>,
    },
    Values {
        length: u32,
        #[serde(rename = "type")]
        kind: String,
        /// `None` if they may not be shown.
        values: Option<Vec<String>>,
    },
    Fields {
        fields: Vec<FieldRow>,
        left_out: usize,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct ElementRow {
    index: usize,
    #[serde(flatten)]
    object: Referred,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct FieldRow {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(flatten)]
    held: Held,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Held {
    /// `None` is null.
    Object(Option<Referred>),
    /// As Java prints it; `None` if it may not be shown.
    Value(Option<String>),
}

/// The target of a reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum Referred {
    Object(ObjectRow),
    /// It is not in the dump.
    Missing {
        id: String,
    },
}

impl ShowAnswer {
    /// The object with this number; of each list, the first `most` and of the fields the first
    /// `fields`. Errors: the file cannot be read.
    pub(crate) fn of(
        loaded: &Loaded<'_>,
        object: u32,
        (most, fields): (usize, usize),
        shown: Shown,
    ) -> Result<Self, GraphError> {
        let (heap, retained) = (&loaded.heap, &loaded.retained);
        let contents = heap.contents(&[object], ARRAY_BYTES)?.remove(&object);
        let refers = |from: &u32| heap.targets(*from).contains(&object);
        let referrers: Vec<u32> = (0..heap.objects()).filter(refers).collect();
        let dominated = retained.dominated(object);
        let entries = match most {
            0 => None,
            most => heap.entries(object, most)?,
        };
        let mut page = Page {
            loaded,
            most,
            fields,
            shown,
            labels: Labels::default(),
        };
        let referrers_shown = referrers.get(..most).unwrap_or(&referrers);
        let dominated_shown = dominated.get(..most).unwrap_or(&dominated);
        let listed = referrers_shown.iter().chain(dominated_shown).copied();
        let held = contents.iter().flat_map(|contents| page.held(contents));
        let held = held.chain(entries.iter().flat_map(|entries| page.in_entries(entries)));
        let named: Vec<u32> = [object].into_iter().chain(listed).chain(held).collect();
        page.labels = Labels::of(heap, &named, shown)?;
        let to_it = links_to(heap, referrers_shown, object)?;
        let from_it = links_from(heap, object, dominated_shown)?;
        let text = match shown.has_strings() {
            true => heap.strings(&[object], STRING_BYTES)?.remove(&object),
            false => None,
        };
        let paths = heap.paths(&[object], PATH_STEPS)?;
        let path = paths.into_iter().flatten().next();
        let trace = heap.allocation_trace(object);
        Ok(Self {
            object: page.object(object),
            allocated: trace.map(|it| heap.stacks().frames(it).map(Frame::of).collect()),
            contents: contents.map(|contents| page.contents(&contents)),
            dominates: page.list(&dominated, &from_it),
            dominator: match retained.dominator(object) {
                Dominator::Object(above) => Some(page.object(above)),
                Dominator::Unreachable | Dominator::Roots => None,
            },
            entries: entries.map(|entries| page.entries(&entries)),
            path: path.map(|path| PathAnswer::of(heap, &path)),
            reachable: retained.is_reachable(object),
            referrers: page.list(&referrers, &to_it),
            root: heap.root_kind(object).map(|kind| kind.name()),
            text,
        })
    }

    /// As text.
    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "{}", name(&self.object))?;
        writeln!(to, "  shallow   {}", grouped(self.object.shallow))?;
        writeln!(to, "  retained  {}", grouped(self.object.retained))?;
        let dominator = match &self.dominator {
            Some(above) => name(above),
            None if self.reachable => {
                "none: the object is a root, or two or more hold it".to_owned()
            }
            None => "none: no root leads to the object".to_owned(),
        };
        writeln!(to, "  dominator {dominator}")?;
        if let Some(kind) = self.root {
            writeln!(to, "  root      {kind}")?;
        }
        if let Some(contents) = &self.contents {
            contents.print(to)?;
        }
        if let Some(entries) = &self.entries {
            entries.print(to)?;
        }
        if let Some(text) = &self.text {
            writeln!(to, "  text \"{}\"", plain(text))?;
        }
        let object = |row: &ListedRow| name(&row.object);
        let by = |row: &ListedRow| row.link.as_deref().map(plain);
        self.referrers.print("referrers", to, |row| {
            let link = by(row).map(|link| format!(" {}", link.trim_start()));
            format!("{}{}", object(row), link.unwrap_or_default())
        })?;
        self.dominates.print("dominates", to, |row| {
            let link = by(row).map(|link| format!("{}  ", link.trim_start()));
            format!("{}{}", link.unwrap_or_default(), object(row))
        })?;
        if let Some(path) = &self.path {
            path.print(to)?;
        }
        if let Some(frames) = &self.allocated {
            writeln!(to, "  allocated:")?;
            for frame in frames {
                writeln!(to, "    at {}", plain(&frame.line()))?;
            }
        }
        Ok(())
    }
}

impl Listed {
    fn print(
        &self,
        title: &str,
        to: &mut dyn Write,
        words: impl Fn(&ListedRow) -> String,
    ) -> io::Result<()> {
        let all = self.objects.len().saturating_add(self.left_out);
        writeln!(to, "  {title}: {}", counted(all as u64, "object"))?;
        for row in &self.objects {
            let bytes = grouped(row.object.retained);
            writeln!(to, "    {}  retains {bytes}", words(row))?;
        }
        Ok(())
    }
}

impl EntriesRow {
    fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        let all = self.left_out.saturating_add(self.entries.len() as u64);
        match all {
            1 => writeln!(to, "  1 entry:")?,
            all => writeln!(to, "  {} entries:", grouped(all))?,
        }
        for EntryRow { key, value } in &self.entries {
            let key = key
                .as_ref()
                .map(|key| format!("{} => ", referred(key.as_ref())));
            let key = key.unwrap_or_default();
            writeln!(to, "    {key}{}", referred(value.as_ref()))?;
        }
        Ok(())
    }
}

impl ContentsRow {
    fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::References {
                elements,
                length,
                nulls,
            } => {
                let all = counted((*length).into(), "element");
                match nulls {
                    None | Some(0) => writeln!(to, "  {all}:")?,
                    Some(nulls) => writeln!(to, "  {all}, {} of them null:", grouped(*nulls))?,
                }
                for row in elements {
                    writeln!(to, "    [{}] {}", row.index, referred(Some(&row.object)))?;
                }
            }
            Self::Values { length, values, .. } => {
                writeln!(to, "  {}:", counted((*length).into(), "element"))?;
                let values = values.as_ref().map(|values| values.join(" "));
                let values = values.as_deref().unwrap_or("(--strings prints them)");
                writeln!(to, "    {values}")?;
            }
            Self::Fields { fields, left_out } => {
                let all = fields.len().saturating_add(*left_out);
                writeln!(to, "  {}:", counted(all as u64, "field"))?;
                for field in fields {
                    let held = match &field.held {
                        Held::Object(object) => referred(object.as_ref()),
                        Held::Value(value) => value.clone().unwrap_or_default(),
                    };
                    writeln!(to, "    {} = {held}", plain(&shown(&field.name)))?;
                }
            }
        }
        Ok(())
    }
}

fn name(object: &ObjectRow) -> String {
    let label = object.label.as_ref();
    let label = label.map_or(String::new(), |label| format!(" \"{}\"", plain(label)));
    format!("{} {}{label}", plain(&shown(&object.class)), object.id)
}

fn referred(to: Option<&Referred>) -> String {
    match to {
        None => "null".to_owned(),
        Some(Referred::Object(object)) => name(object),
        Some(Referred::Missing { id }) => format!("{id} (not in the dump)"),
    }
}

/// Makes the parts of the answer.
struct Page<'l, 'n> {
    loaded: &'l Loaded<'n>,
    most: usize,
    fields: usize,
    shown: Shown,
    labels: Labels,
}

impl Page<'_, '_> {
    /// The objects that are shown of the contents.
    fn held(&self, contents: &Contents) -> Vec<u32> {
        let heap = &self.loaded.heap;
        let ids: Vec<u64> = match contents {
            Contents::References { ids, .. } => {
                let held = ids.iter().copied().filter(|id| *id != 0);
                held.take(self.most).collect()
            }
            Contents::Values { .. } => Vec::new(),
            Contents::Class(..) | Contents::Instance { .. } => {
                let fields = heap.fields(contents).into_iter().take(self.fields);
                let fields = fields.filter(|field| field.kind == BasicType::Object);
                fields.map(|field| field.value).collect()
            }
        };
        ids.into_iter().filter_map(|id| heap.object(id)).collect()
    }

    fn object(&self, object: u32) -> ObjectRow {
        ObjectRow {
            label: self.labels.get(object),
            ..ObjectRow::of(&self.loaded.heap, &self.loaded.retained, object)
        }
    }

    fn list(&self, objects: &[u32], links: &HashMap<u32, String>) -> Listed {
        let shown = objects.iter().take(self.most);
        let row = |object: &u32| ListedRow {
            object: self.object(*object),
            link: links.get(object).cloned(),
        };
        Listed {
            left_out: objects.len().saturating_sub(self.most),
            objects: shown.map(row).collect(),
        }
    }

    /// The objects that are shown of the entries.
    fn in_entries(&self, entries: &Entries) -> Vec<u32> {
        let ids = entries.first.iter();
        let ids = ids.flat_map(|entry| entry.key.into_iter().chain([entry.value]));
        ids.filter_map(|id| self.loaded.heap.object(id)).collect()
    }

    fn entries(&self, entries: &Entries) -> EntriesRow {
        let row = |entry: &Entry| EntryRow {
            key: entry.key.map(|key| self.referred(key)),
            value: self.referred(entry.value),
        };
        EntriesRow {
            left_out: entries.all.saturating_sub(entries.first.len() as u64),
            entries: entries.first.iter().map(row).collect(),
        }
    }

    fn contents(&self, contents: &Contents) -> ContentsRow {
        match contents {
            Contents::References { length, ids } => {
                let held = ids.iter().enumerate();
                let held = held.filter_map(|(index, id)| {
                    let object = self.referred(*id)?;
                    Some(ElementRow { index, object })
                });
                ContentsRow::References {
                    elements: held.take(self.most).collect(),
                    length: *length,
                    nulls: (ids.len() == *length as usize)
                        .then(|| ids.iter().filter(|id| **id == 0).count() as u64),
                }
            }
            Contents::Values {
                length,
                kind,
                bytes,
            } => {
                let values = || values(*kind, bytes).take(self.most).collect();
                ContentsRow::Values {
                    length: *length,
                    kind: type_name(*kind),
                    values: self.shown.has_strings().then(values),
                }
            }
            Contents::Class(..) | Contents::Instance { .. } => {
                let fields = self.loaded.heap.fields(contents);
                let shown = fields.iter().take(self.fields);
                ContentsRow::Fields {
                    left_out: fields.len().saturating_sub(self.fields),
                    fields: shown.map(|field| self.field(field)).collect(),
                }
            }
        }
    }

    fn field(&self, field: &FieldValue) -> FieldRow {
        FieldRow {
            name: field.name.clone(),
            kind: type_name(field.kind),
            held: match (field.kind, self.shown) {
                (BasicType::Object, _) => Held::Object(self.referred(field.value)),
                (_, Shown::References) => Held::Value(None),
                (kind, Shown::Values { .. }) => {
                    let hidden = may_be_redacted(&self.loaded.heap, field.value);
                    let hint = if hidden { " (or redacted)" } else { "" };
                    Held::Value(Some(format!("{}{hint}", value(kind, field.value))))
                }
            },
        }
    }

    fn referred(&self, id: u64) -> Option<Referred> {
        match self.loaded.heap.object(id) {
            _ if id == 0 => None,
            Some(object) => Some(Referred::Object(self.object(object))),
            None => Some(Referred::Missing {
                id: format!("{id:#x}"),
            }),
        }
    }
}
