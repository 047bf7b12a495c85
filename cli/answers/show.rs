//! What an object is, what it holds, and what refers to it.

use std::collections::HashMap;

use format::BasicType;
use graph::{Contents, Dominator, Entries, FieldValue, GraphError, PATH_STEPS};
use serde::Serialize;
use serde_json::{json, Value};

use super::labels::{Labels, STRING_BYTES};
use super::listed::{links_from, links_to, ListedRow};
use super::object::ObjectRow;
use super::path::PathAnswer;
use super::values::{may_be_redacted, type_name, value, values, Shown};
use crate::files::heap_file::Loaded;
use crate::output::cell::Cell;
use crate::output::frame;
use crate::output::number::{counted, grouped};
use crate::output::plain::{plain, shown};
use crate::output::sections::Sections;

/// Most bytes read of an array's elements.
const ARRAY_BYTES: usize = 16 << 20;

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

#[derive(Serialize)]
struct Element {
    index: usize,
    #[serde(flatten)]
    object: Option<Referred>,
}

/// The object with this number; of each list, the first `most`, and of the fields the first
/// `fields`. Errors: the file cannot be read.
pub(crate) fn show<'a>(
    loaded: &Loaded,
    object: u32,
    (most, fields): (usize, usize),
    shown: Shown,
) -> Result<Sections<'a>, GraphError> {
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
    let mut answer = page.head(object);
    match contents {
        Some(contents) => answer.group("contents", page.contents(&contents)),
        None => answer.fact("contents", Cell::Missing),
    }
    if let Some(entries) = entries {
        answer.group("entries", page.entries(&entries));
    }
    page.text(&mut answer, object)?;
    let links = links_to(heap, referrers_shown, object)?;
    let by = |row: &ListedRow, link: &str| format!("{} {link}", name(&row.object));
    answer.group("referrers", page.list("referrers", &referrers, &links, by));
    let links = links_from(heap, object, dominated_shown)?;
    let by = |row: &ListedRow, link: &str| format!("{link}  {}", name(&row.object));
    answer.group("dominates", page.list("dominates", &dominated, &links, by));
    let path = heap
        .paths(&[object], PATH_STEPS)?
        .into_iter()
        .flatten()
        .next();
    let path = path.map(|path| PathAnswer::of(heap, &path));
    answer.lines(path.iter().flat_map(PathAnswer::lines));
    answer.json("path", path);
    page.allocated(&mut answer, object);
    Ok(answer)
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
struct Page<'l> {
    loaded: &'l Loaded,
    most: usize,
    fields: usize,
    shown: Shown,
    labels: Labels,
}

impl Page<'_> {
    /// The object itself.
    fn head<'a>(&self, object: u32) -> Sections<'a> {
        let (heap, retained) = (&self.loaded.heap, &self.loaded.retained);
        let mut answer = Sections::default();
        let row = self.object(object);
        answer.line(name(&row));
        answer.line(format!("  shallow   {}", grouped(row.shallow)));
        answer.line(format!("  retained  {}", grouped(row.retained)));
        answer.facts(row);
        let reachable = retained.is_reachable(object);
        let dominator = match retained.dominator(object) {
            Dominator::Object(above) => Some(self.object(above)),
            Dominator::Unreachable | Dominator::Roots => None,
        };
        let words = match &dominator {
            Some(above) => name(above),
            None if reachable => "none: the object is a root, or two or more hold it".to_owned(),
            None => "none: no root leads to the object".to_owned(),
        };
        answer.line(format!("  dominator {words}"));
        answer.json("dominator", dominator);
        answer.json("reachable", reachable);
        let root = heap.root_kind(object).map(|kind| kind.name());
        answer.lines(root.map(|kind| format!("  root      {kind}")));
        answer.fact("root", root);
        answer
    }

    /// The text of a string, if it may be shown.
    fn text(&self, answer: &mut Sections<'_>, object: u32) -> Result<(), GraphError> {
        let mut text = None;
        if self.shown.has_strings() {
            let heap = &self.loaded.heap;
            text = heap.strings(&[object], STRING_BYTES)?.remove(&object);
        }
        let line = |text: &String| format!("  text \"{}\"", plain(text));
        answer.lines(text.as_ref().map(line));
        answer.fact("text", text);
        Ok(())
    }

    /// The stack that allocated it, if the dump has it.
    fn allocated(&self, answer: &mut Sections<'_>, object: u32) {
        let (stacks, trace) = (
            self.loaded.heap.stacks(),
            self.loaded.heap.allocation_trace(object),
        );
        if let Some(trace) = trace {
            answer.line("  allocated:");
            let line = |frame| format!("    at {}", plain(&frame::line(frame)));
            answer.lines(stacks.frames(trace).map(line));
        }
        let frames = trace.map(|trace| frame::in_json(stacks.frames(trace)));
        answer.fact("allocated", frames);
    }

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

    /// Objects, in words that have the reference, too, if there is one.
    fn list<'a>(
        &self,
        title: &str,
        objects: &[u32],
        links: &HashMap<u32, String>,
        words: impl Fn(&ListedRow, &str) -> String,
    ) -> Sections<'a> {
        let row = |object: &u32| ListedRow {
            object: self.object(*object),
            link: links.get(object).cloned(),
        };
        let rows: Vec<ListedRow> = objects.iter().take(self.most).map(row).collect();
        let all = counted(objects.len() as u64, "object");
        let mut answer = Sections::default();
        answer.line(format!("  {title}: {all}"));
        answer.lines(rows.iter().map(|row| {
            let words = match &row.link {
                Some(link) => words(row, plain(link).trim_start()),
                None => name(&row.object),
            };
            format!("    {words}  retains {}", grouped(row.object.retained))
        }));
        answer.fact("left_out", objects.len().saturating_sub(rows.len()));
        answer.json("objects", rows);
        answer
    }

    /// The objects that are shown of the entries.
    fn in_entries(&self, entries: &Entries) -> Vec<u32> {
        let ids = entries.first.iter();
        let ids = ids.flat_map(|entry| entry.key.into_iter().chain([entry.value]));
        ids.filter_map(|id| self.loaded.heap.object(id)).collect()
    }

    /// What the program has put into it, if it is a collection of the JDK. Those without keys have
    /// none.
    fn entries<'a>(&self, entries: &Entries) -> Sections<'a> {
        let (mut answer, mut rows) = (Sections::default(), Vec::new());
        answer.line(match entries.all.max(entries.first.len() as u64) {
            1 => "  1 entry:".to_owned(),
            all => format!("  {} entries:", grouped(all)),
        });
        for entry in &entries.first {
            let value = self.referred(entry.value);
            let (mut words, mut row) = (String::new(), json!({ "value": value }));
            if let Some(key) = entry.key.map(|key| self.referred(key)) {
                words = format!("{} => ", referred(key.as_ref()));
                row = json!({ "key": key, "value": value });
            }
            answer.line(format!("    {words}{}", referred(value.as_ref())));
            rows.push(row);
        }
        answer.fact("left_out", entries.all.saturating_sub(rows.len() as u64));
        answer.json("entries", rows);
        answer
    }

    /// What the object holds.
    fn contents<'a>(&self, contents: &Contents) -> Sections<'a> {
        match contents {
            Contents::References { length, ids } => self.elements(*length, ids),
            Contents::Values {
                length,
                kind,
                bytes,
            } => {
                let mut answer = Sections::default();
                answer.line(format!("  {}:", counted((*length).into(), "element")));
                let values = values(*kind, bytes).take(self.most);
                let values = self.shown.has_strings().then(|| values.collect());
                let text = values.as_ref().map(|values: &Vec<String>| values.join(" "));
                let text = text.as_deref().unwrap_or("(--strings prints them)");
                answer.line(format!("    {text}"));
                answer.fact("length", *length);
                answer.fact("type", type_name(*kind));
                answer.json("values", values);
                answer
            }
            Contents::Class(..) | Contents::Instance { .. } => {
                let (mut answer, mut rows) = (Sections::default(), Vec::new());
                let fields = self.loaded.heap.fields(contents);
                answer.line(format!("  {}:", counted(fields.len() as u64, "field")));
                for field in fields.iter().take(self.fields) {
                    let (held, row) = self.field(field);
                    answer.line(format!("    {} = {held}", plain(&shown(&field.name))));
                    rows.push(row);
                }
                answer.fact("left_out", fields.len().saturating_sub(rows.len()));
                answer.json("fields", rows);
                answer
            }
        }
    }

    /// The elements of an array that are not null. How many are null is not known if the array is
    /// too long to be read to its end.
    fn elements<'a>(&self, length: u32, ids: &[u64]) -> Sections<'a> {
        let (mut answer, mut rows) = (Sections::default(), Vec::new());
        let is_whole = ids.len() == length as usize;
        let nulls = is_whole.then(|| ids.iter().filter(|id| **id == 0).count() as u64);
        let all = counted(length.into(), "element");
        answer.line(match nulls {
            None | Some(0) => format!("  {all}:"),
            Some(nulls) => format!("  {all}, {} of them null:", grouped(nulls)),
        });
        let held = ids.iter().enumerate().filter(|(_, id)| **id != 0);
        for (index, id) in held.take(self.most) {
            let object = self.referred(*id);
            answer.line(format!("    [{index}] {}", referred(object.as_ref())));
            rows.push(Element { index, object });
        }
        answer.json("elements", rows);
        answer.fact("length", length);
        answer.fact("nulls", nulls);
        answer
    }

    /// What a field holds, in words and in JSON; a value as Java prints it, if it may be shown.
    fn field(&self, field: &FieldValue) -> (String, Value) {
        let (name, kind) = (&field.name, type_name(field.kind));
        if field.kind == BasicType::Object {
            let object = self.referred(field.value);
            let words = referred(object.as_ref());
            return (
                words,
                json!({ "name": name, "object": object, "type": kind }),
            );
        }
        let value = matches!(self.shown, Shown::Values { .. }).then(|| {
            let hidden = may_be_redacted(&self.loaded.heap, field.value);
            let hint = if hidden { " (or redacted)" } else { "" };
            format!("{}{hint}", value(field.kind, field.value))
        });
        let row = json!({ "name": name, "type": kind, "value": value });
        (value.unwrap_or_default(), row)
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
