//! What an object is, what it holds, and what refers to it.

use std::collections::HashMap;
use std::path::Path;

use format::BasicType;
use graph::{Contents, Entries, FieldValue, GraphError, PATH_STEPS};
use serde_json::{json, Value};

use super::ask::Question;
use super::labels::STRING_BYTES;
use super::named::meant;
use super::object::{above, links_from, LinkTexts, Objects};
use super::path::{self, Names};
use super::values::{may_be_redacted, type_name, value, values, Shown};
use crate::files::heap_file::{GraphArguments, Loaded};
use crate::output::frame;
use crate::output::{counted, grouped, limit, plain, shown, Cell, Failure, Sections};
use crate::proc::process::process_named;

/// Most bytes read of an array's elements.
const ARRAY_BYTES: usize = 16 << 20;

/// Shows an object: its fields, its referrers, the path from a root
///
/// Also its sizes, its dominator, its elements, and the objects that it dominates.
/// Objects also refer to their class; these are not listed as a class's referrers. Strings and
/// values of arrays may be secret, so they are only printed with `--strings`; a running JVM sends
/// no values at all.
///
/// The path is the shortest one, and names the fields on it. References that do not keep an object
/// alive (weak, soft, phantom, finalizer) are only used if no other path leads to it. A dump has
/// the stack that allocated the object if the agent kept it (`heap=all`), by default for a sample.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  hprof show heap.hprof 0x7f1c3a80\n  hprof show heap.hprof com.acme.Cache",
    mut_arg("file", |it| it.index(1))
)]
pub(crate) struct Show {
    /// The object's id, as `hprof histo --objects` lists it; or a class: then its object that
    /// retains most
    #[arg(value_name = "CLASS|0xID", index = 2)]
    pub(crate) what: String,
    /// Print at most N elements, referrers and dominated objects; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// Print strings and the values of primitive arrays
    #[arg(long)]
    pub(crate) strings: bool,
}

impl Question for Show {
    fn check(&self, of: &GraphArguments) -> Result<(), Failure> {
        let (file, what) = (&of.file, plain(&self.what));
        if !Path::new(&what).is_file() || file.exists() || process_named(file).is_some() {
            return Ok(());
        }
        let file = plain(&file.display().to_string());
        let why = format!("the file comes first: hprof show {what} {file}");
        Err(Failure::Input(why))
    }

    fn answer<'a>(&self, loaded: &'a Loaded) -> Result<Sections<'a>, Failure> {
        let (object, others) = meant(loaded, &self.what)?;
        let mut answer = Sections::default();
        if others > 0 {
            let (others, what) = (grouped(others), plain(&self.what));
            answer.line(format!("{others} more {what} retain less; this one:"));
        }
        let shown = Shown::of(loaded, self.strings);
        let filled = show(&mut answer, loaded, object, limit(self.top), shown);
        loaded.check(filled.map(|()| answer))
    }
}

/// Adds the object with this number, and the first `most` of each list. Errors: the file cannot be
/// read.
fn show(
    answer: &mut Sections<'_>,
    loaded: &Loaded,
    object: u32,
    most: usize,
    shown: Shown,
) -> Result<(), GraphError> {
    let (heap, retained) = (&loaded.heap, &loaded.retained);
    let contents = heap.contents(&[object], ARRAY_BYTES)?.remove(&object);
    let refers = |from: &u32| heap.targets(*from).contains(&object);
    let referrers: Vec<u32> = (0..heap.objects()).filter(refers).collect();
    let dominated = retained.dominated(object);
    let entries = heap.entries(object, most)?;
    let referrers_shown = referrers.get(..most).unwrap_or(&referrers);
    let dominated_shown = dominated.get(..most).unwrap_or(&dominated);
    let mut named: Vec<u32> = [&[object], referrers_shown, dominated_shown].concat();
    let of_contents = contents.iter().flat_map(|it| held(loaded, it, most));
    let of_entries = entries.iter().flat_map(|it| &it.first);
    let of_entries = of_entries.flat_map(|entry| entry.key.into_iter().chain([entry.value]));
    let held = of_contents.chain(of_entries).filter(|id| *id != 0);
    named.extend(held.filter_map(|id| heap.object(id)));
    let page = Page {
        objects: Objects::of(loaded, &named, shown)?,
        most,
        shown,
    };
    page.head(answer, object);
    match contents {
        Some(contents) => answer.group("contents", page.contents(&contents)),
        None => answer.fact("contents", Cell::Missing),
    }
    if let Some(entries) = entries {
        answer.group("entries", page.entries(&entries));
    }
    page.text(answer, object)?;
    let links = heap.links(referrers_shown.iter().map(|from| (*from, object)))?;
    let text = |from: &u32| Some((*from, heap.link_text(links.get(*from, object)?)));
    let links: LinkTexts = referrers_shown.iter().filter_map(text).collect();
    let words = |name: &str, link: &str| format!("{name} {link}");
    let list = page.list("referrers", &referrers, &links, words);
    answer.group("referrers", list);
    let links = links_from(heap, object, dominated_shown)?;
    let words = |name: &str, link: &str| format!("{link}  {name}");
    let list = page.list("dominates", &dominated, &links, words);
    answer.group("dominates", list);
    let path = heap.paths(&[object], PATH_STEPS)?.pop().flatten();
    path::add(answer, heap, path.as_ref(), &Names::new());
    page.allocated(answer, object);
    Ok(())
}

/// Ids of the objects that are shown of the contents.
fn held(loaded: &Loaded, contents: &Contents, most: usize) -> Vec<u64> {
    match contents {
        Contents::References { ids, .. } => {
            let held = ids.iter().copied().filter(|id| *id != 0);
            held.take(most).collect()
        }
        Contents::Values { .. } => Vec::new(),
        Contents::Class(..) | Contents::Instance { .. } => {
            let fields = loaded.heap.fields(contents).into_iter();
            let fields = fields.filter(|field| field.kind == BasicType::Object);
            fields.map(|field| field.value).collect()
        }
    }
}

/// Rows under a key, after a line that counts them.
fn list<'a>(
    head: String,
    key: &'static str,
    rows: impl Iterator<Item = (String, Value)>,
) -> (Sections<'a>, usize) {
    let (lines, rows): (Vec<String>, Vec<Value>) = rows.unzip();
    let (mut answer, count) = (Sections::default(), rows.len());
    answer.line(head);
    answer.lines(lines.into_iter().map(|line| format!("    {line}")));
    answer.json(key, rows);
    (answer, count)
}

/// Makes the parts of the answer.
struct Page<'l> {
    objects: Objects<'l>,
    most: usize,
    shown: Shown,
}

impl Page<'_> {
    /// The object itself.
    fn head(&self, answer: &mut Sections<'_>, object: u32) {
        let (heap, retained) = (&self.objects.loaded.heap, &self.objects.loaded.retained);
        answer.line(self.objects.name(object));
        let (shallow, bytes) = (heap.shallow_bytes(object), retained.bytes(object));
        answer.line(format!("  shallow   {}", grouped(shallow)));
        answer.line(format!("  retained  {}", grouped(bytes)));
        answer.extend(self.objects.row(object));
        let reachable = retained.is_reachable(object);
        let dominator = above(retained, object);
        let words = match dominator {
            Some(above) => self.objects.name(above),
            None if reachable => "none: the object is a root, or two or more hold it".to_owned(),
            None => "none: no root leads to the object".to_owned(),
        };
        answer.line(format!("  dominator {words}"));
        answer.json("dominator", dominator.map(|above| self.objects.row(above)));
        answer.json("reachable", reachable);
        let root = heap.root_kind(object).map(|kind| kind.name());
        answer.lines(root.map(|kind| format!("  root      {kind}")));
        answer.fact("root", root);
    }

    /// The text of a string, if it may be shown.
    fn text(&self, answer: &mut Sections<'_>, object: u32) -> Result<(), GraphError> {
        let mut text = None;
        if self.shown.has_strings() {
            let heap = &self.objects.loaded.heap;
            text = heap.strings(&[object], STRING_BYTES)?.remove(&object);
        }
        let line = |text: &String| format!("  text \"{}\"", plain(text));
        answer.lines(text.as_ref().map(line));
        answer.fact("text", text);
        Ok(())
    }

    /// The stack that allocated it, if the dump has it.
    fn allocated(&self, answer: &mut Sections<'_>, object: u32) {
        let heap = &self.objects.loaded.heap;
        let (stacks, trace) = (heap.stacks(), heap.allocation_trace(object));
        if let Some(trace) = trace {
            answer.line("  allocated:");
            let line = |frame| format!("    at {}", plain(&frame::line(frame)));
            answer.lines(stacks.frames(trace).map(line));
        }
        let frames = trace.map(|trace| frame::in_json(stacks.frames(trace)));
        answer.fact("allocated", frames);
    }

    /// Objects, in words that have the reference, too, if there is one.
    fn list<'a>(
        &self,
        title: &str,
        all: &[u32],
        links: &HashMap<u32, String>,
        words: impl Fn(&str, &str) -> String,
    ) -> Sections<'a> {
        let retained = &self.objects.loaded.retained;
        let rows = all.iter().take(self.most).map(|object| {
            let (mut text, mut row) = (self.objects.name(*object), self.objects.row(*object));
            if let Some(link) = links.get(object) {
                text = words(&text, plain(link).trim_start());
                row.fact("link", &**link);
            }
            let bytes = grouped(retained.bytes(*object));
            (format!("{text}  retains {bytes}"), json!(row))
        });
        let head = format!("  {title}: {}", counted(all.len() as u64, "object"));
        let (mut answer, count) = list(head, "objects", rows);
        answer.fact("left_out", all.len().saturating_sub(count));
        answer
    }

    /// What the program has put into it, if it is a collection of the JDK. Those without keys have
    /// none.
    fn entries<'a>(&self, entries: &Entries) -> Sections<'a> {
        let head = match entries.all.max(entries.first.len() as u64) {
            1 => "  1 entry:".to_owned(),
            all => format!("  {} entries:", grouped(all)),
        };
        let rows = entries.first.iter().map(|entry| {
            let (words, value) = self.objects.target(entry.value);
            match entry.key.map(|key| self.objects.target(key)) {
                Some((key, in_json)) => (
                    format!("{key} => {words}"),
                    json!({ "key": in_json, "value": value }),
                ),
                None => (words, json!({ "value": value })),
            }
        });
        let (mut answer, count) = list(head, "entries", rows);
        answer.fact("left_out", entries.all.saturating_sub(count as u64));
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
            // The text has all of them.
            Contents::Class(..) | Contents::Instance { .. } => {
                let fields = self.objects.loaded.heap.fields(contents);
                let head = format!("  {}:", counted(fields.len() as u64, "field"));
                let (lines, mut rows): (Vec<String>, Vec<Value>) =
                    fields.iter().map(|field| self.field(field)).unzip();
                rows.truncate(self.most);
                let mut answer = Sections::default();
                answer.line(head);
                answer.lines(lines);
                answer.fact("left_out", fields.len().saturating_sub(rows.len()));
                answer.json("fields", rows);
                answer
            }
        }
    }

    /// The elements of an array that are not null. How many are null is not known if the array is
    /// too long to be read to its end.
    fn elements<'a>(&self, length: u32, ids: &[u64]) -> Sections<'a> {
        let is_whole = ids.len() == length as usize;
        let nulls = is_whole.then(|| ids.iter().filter(|id| **id == 0).count() as u64);
        let all = counted(length.into(), "element");
        let head = match nulls {
            None | Some(0) => format!("  {all}:"),
            Some(nulls) => format!("  {all}, {} of them null:", grouped(nulls)),
        };
        let held = ids.iter().enumerate().filter(|(_, id)| **id != 0);
        let rows = held.take(self.most).map(|(index, id)| {
            let (words, mut row) = self.objects.target(*id);
            if let Some(row) = row.as_object_mut() {
                row.insert("index".to_owned(), json!(index));
            }
            (format!("[{index}] {words}"), row)
        });
        let (mut answer, _) = list(head, "elements", rows);
        answer.fact("length", length);
        answer.fact("nulls", nulls);
        answer
    }

    /// What a field holds, in words and in JSON; a value as Java prints it, if it may be shown.
    fn field(&self, field: &FieldValue) -> (String, Value) {
        let (name, kind) = (&field.name, type_name(field.kind));
        let (words, row) = if field.kind == BasicType::Object {
            let (words, object) = self.objects.target(field.value);
            let row = json!({ "name": name, "object": object, "type": kind });
            (words, row)
        } else {
            let value = matches!(self.shown, Shown::Values { .. }).then(|| {
                let hidden = may_be_redacted(&self.objects.loaded.heap, field.value);
                let hint = if hidden { " (or redacted)" } else { "" };
                format!("{}{hint}", value(field.kind, field.value))
            });
            let row = json!({ "name": name, "type": kind, "value": value });
            (value.unwrap_or_default(), row)
        };
        (format!("    {} = {words}", plain(&shown(name))), row)
    }
}
