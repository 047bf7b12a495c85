//! The page's requests: objects, paths, the dominator tree and names of classes, as JSON.

use std::cell::OnceCell;

use serde_json::{json, Value};

use super::http::Request;
use crate::answers::ask::Question;
use crate::answers::merged_paths::merged_paths;
use crate::answers::named;
use crate::answers::object::{links_from, Objects};
use crate::answers::show::Show;
use crate::answers::top::{group_rows, groups, By, GroupRow};
use crate::answers::values::Shown;
use crate::files::heap_file::Loaded;
use crate::output::{Failure, Table};

/// Rows of a list if the page gives no number.
const ROWS: usize = 50;

/// Most rows of a list.
const ROWS_MAX: usize = 2000;

/// Most classes that a search lists.
const CLASSES_MAX: usize = 100;

/// Most strings that a search lists.
const STRINGS_MAX: usize = 100;

/// Most objects of a class whose paths are merged.
const PATHS_MAX: usize = 1000;

/// A heap and the parts of it that may be shown.
#[derive(Debug)]
pub(super) struct Answers<'l> {
    loaded: &'l Loaded,
    shown: Shown,
    /// The objects that no other one dominates, largest retained size first.
    top: OnceCell<Vec<u32>>,
    /// The classes, largest retained size first.
    classes: OnceCell<Vec<GroupRow>>,
}

impl<'l> Answers<'l> {
    pub(super) fn new(loaded: &'l Loaded, shown: Shown) -> Self {
        Self {
            loaded,
            shown,
            top: OnceCell::new(),
            classes: OnceCell::new(),
        }
    }

    /// The answer to a question; `None` if there is no such question. Errors: what was asked for is
    /// not there.
    pub(super) fn answer(&self, request: &Request) -> Option<Result<Value, Failure>> {
        let of = |name| request.get(name).unwrap_or_default();
        Some(match request.path.as_str() {
            "show" => {
                let show = Show {
                    what: of("id").to_owned(),
                    top: rows(request),
                    strings: self.shown.has_strings(),
                };
                show.answer(self.loaded).map(|answer| json!(answer))
            }
            "tree" => self.tree(request),
            "objects" => self.objects(request),
            "search" => self.search(of("text")),
            "strings" => self.strings(of("text")),
            "paths" => self.paths(of("class")),
            _ => return None,
        })
    }

    /// The objects that an object dominates; without an id those that none dominates.
    fn tree(&self, request: &Request) -> Result<Value, Failure> {
        let retained = &self.loaded.retained;
        let Some(id) = request.get("id") else {
            let top = self.top.get_or_init(|| retained.top());
            return self.list(top, None, request);
        };
        let object = named::object_with_id(self.loaded, id)?;
        self.list(&retained.dominated(object), Some(object), request)
    }

    /// The objects of a class, largest retained size first.
    fn objects(&self, request: &Request) -> Result<Value, Failure> {
        let class = request.get("class").unwrap_or_default();
        let objects = named::objects_of(self.loaded, class)?;
        self.list(&objects, None, request)
    }

    /// The paths to the largest objects of a class, as one tree.
    fn paths(&self, class: &str) -> Result<Value, Failure> {
        let objects = named::objects_of(self.loaded, class)?;
        let some = objects.get(..PATHS_MAX).unwrap_or(&objects);
        let paths = merged_paths(&self.loaded.heap, some);
        Ok(json!(self.loaded.check(paths)?))
    }

    /// The strings whose text contains this one.
    fn strings(&self, text: &str) -> Result<Value, Failure> {
        if !self.shown.has_strings() {
            let why = "strings are hidden: hprof view --strings shows them";
            return Err(self.loaded.file.refuse(why));
        }
        let loaded = self.loaded;
        let found = loaded.check(loaded.heap.strings_with(text, STRINGS_MAX + 1))?;
        let plain = loaded.check(Objects::of(loaded, &[], self.shown))?;
        let rows = found.iter().take(STRINGS_MAX).map(|(object, text)| {
            let mut row = plain.row(*object);
            row.fact("label", &**text);
            row
        });
        let rows: Vec<_> = rows.collect();
        Ok(json!({ "has_more": found.len() > rows.len(), "strings": rows }))
    }

    /// A part of a list: objects, each with the number of those that it dominates, and how the
    /// object `above` refers to it.
    fn list(
        &self,
        objects: &[u32],
        above: Option<u32>,
        request: &Request,
    ) -> Result<Value, Failure> {
        let loaded = self.loaded;
        let from = request.get("from").and_then(|from| from.parse().ok());
        let rest = objects.get(from.unwrap_or(0)..).unwrap_or_default();
        let shown = rest.get(..rows(request)).unwrap_or(rest);
        let named = loaded.check(Objects::of(loaded, shown, self.shown))?;
        let links = above.map(|above| links_from(&loaded.heap, above, shown));
        let mut links = loaded.check(links.transpose())?.unwrap_or_default();
        let rows = shown.iter().map(|object| {
            let mut row = named.row(*object);
            row.maybe("link", links.remove(object));
            row.fact("dominates", loaded.retained.each_dominated(*object).count());
            row
        });
        Ok(json!({
            "left_out": rest.len().saturating_sub(shown.len()),
            "objects": rows.collect::<Vec<_>>(),
        }))
    }

    /// The classes whose names contain a text, and the object that has it for its id.
    fn search(&self, text: &str) -> Result<Value, Failure> {
        let (heap, retained) = (&self.loaded.heap, &self.loaded.retained);
        let classes = || group_rows(heap, retained, By::Class);
        let wanted = text.trim().to_lowercase();
        let found = self.classes.get_or_init(classes).iter();
        let found = found.filter(|row| row.name.to_lowercase().contains(&wanted));
        let found: Table<'_> = groups(found.cloned(), "class", CLASSES_MAX).into();
        let object = named::object_with_id(self.loaded, &wanted).ok();
        let plain = Objects::of(self.loaded, &[], self.shown);
        let plain = self.loaded.check(plain)?;
        Ok(json!({
            "classes": found,
            "left_out": found.left_out,
            "object": object.map(|object| plain.row(object)),
        }))
    }
}

/// How many rows a request asks for.
fn rows(request: &Request) -> usize {
    let rows = request.get("top").and_then(|top| top.parse().ok());
    rows.unwrap_or(ROWS).clamp(1, ROWS_MAX)
}
