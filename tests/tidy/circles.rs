//! No module imports one that imports it, directly or through others.
//!
//! A module that only hands on what its parts export is no link: the import counts for the part
//! that defines the item. Items of a crate's first file are left out, as it declares all modules.

use super::imports::{imported, module, paths, without_comments};
use super::{code, is_test, members, rust_files};
use std::collections::{BTreeMap, BTreeSet};

type Module = Vec<String>;

/// The modules of a crate with their code.
struct Crate(BTreeMap<Module, String>);

impl Crate {
    fn of(folder: &str) -> Self {
        let outside = ["tests", "examples", "fuzz"];
        let files = rust_files(folder).into_iter().filter(|path| {
            let is_outside = |part: &std::ffi::OsStr| outside.iter().any(|it| part == *it);
            !is_test(path) && !path.iter().any(is_outside) && !path.ends_with("build.rs")
        });
        let text = |path: &_| without_comments(&code(path));
        Self(
            files
                .map(|path| (module(&path, folder), text(&path)))
                .collect(),
        )
    }

    /// The paths that a module names, those of its own parts included.
    fn named(&self, module: &Module, text: &str) -> Vec<Module> {
        let mut found = imported(text, module);
        let parts = self
            .0
            .keys()
            .filter(|it| it.split_last().is_some_and(|(_, above)| above == module));
        for part in parts.filter_map(|part| part.last()) {
            for (at, _) in text.match_indices(&format!("{part}::")) {
                let (before, rest) = text.split_at(at);
                if !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                    let whole = |rest: Vec<String>| [module.clone(), rest].concat();
                    found.extend(paths(rest).into_iter().map(whole));
                }
            }
        }
        found
    }

    /// The items that modules hand on, with the paths from which they have them.
    fn handed_on(&self) -> BTreeMap<Module, Module> {
        let mut found = BTreeMap::new();
        for (module, text) in &self.0 {
            let exports = uses(text).filter(|line| line.starts_with("pub"));
            for path in exports.flat_map(|line| self.named(module, line)) {
                if let Some(name) = path.last() {
                    let handed = module.iter().chain([name]).cloned().collect();
                    found.insert(handed, path.clone());
                }
            }
        }
        found
    }

    /// The module that defines what a path names.
    fn home(&self, path: &[String], handed_on: &BTreeMap<Module, Module>) -> Module {
        let mut path = path.to_vec();
        // An item is handed on a few times at most.
        for _ in 0..5 {
            let ends = 1..=path.len();
            let Some((end, from)) = ends
                .rev()
                .find_map(|end| Some((end, handed_on.get(path.get(..end)?)?)))
            else {
                break;
            };
            if self.0.contains_key(path.get(..end).unwrap_or_default()) {
                break;
            }
            path = [from.as_slice(), path.get(end..).unwrap_or_default()].concat();
        }
        while !self.0.contains_key(&path) && path.pop().is_some() {}
        path
    }

    /// The imports between modules, as pairs.
    fn links(&self) -> BTreeSet<(Module, Module)> {
        let handed_on = self.handed_on();
        let mut found = BTreeSet::new();
        for (module, text) in &self.0 {
            let mut text = text.clone();
            for line in uses(&text.clone()).filter(|line| line.starts_with("pub")) {
                text = text.replace(line, "");
            }
            let named = self.named(module, &text);
            let homes = named.iter().map(|path| self.home(path, &handed_on));
            let others = homes.filter(|home| home != module && !home.is_empty());
            found.extend(others.map(|home| (module.clone(), home)));
        }
        found.retain(|(from, _)| !from.is_empty());
        found
    }
}

/// The `use` items of a text, with their visibility.
fn uses(text: &str) -> impl Iterator<Item = &str> {
    let items = text.split_inclusive(';').map(str::trim_start);
    items
        .map(|item| {
            item.rsplit_once("\n\n")
                .map_or(item, |(_, last)| last.trim_start())
        })
        .filter(|item| {
            let rest = item.strip_prefix("pub").map_or(*item, |rest| {
                rest.strip_prefix('(')
                    .and_then(|it| it.split_once(") "))
                    .map_or(rest, |(_, rest)| rest)
            });
            rest.trim_start().starts_with("use ")
        })
}

/// The links that are part of a circle, or lie between two.
fn circles(mut links: BTreeSet<(Module, Module)>) -> BTreeSet<(Module, Module)> {
    loop {
        let before = links.len();
        let from: BTreeSet<Module> = links.iter().map(|(from, _)| from.clone()).collect();
        let to: BTreeSet<Module> = links.iter().map(|(_, to)| to.clone()).collect();
        links.retain(|link| from.contains(&link.1) && to.contains(&link.0));
        if links.len() == before {
            return links;
        }
    }
}

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let folders = members().into_iter().filter(|it| it != "benches");
    for folder in folders.chain(["agent".to_owned()]) {
        let links = Crate::of(&folder).links();
        let found = circles(links);
        let lines = found
            .iter()
            .map(|(from, to)| format!("{} imports {}", from.join("/"), to.join("/")));
        assert!(
            found.is_empty(),
            "{folder}:\n{}",
            lines.collect::<Vec<_>>().join("\n")
        );
    }
}

#[test]
fn a_circle_is_found_through_what_modules_hand_on() {
    let file = |path: &str, text: &str| {
        let parts = path.split('/').filter(|part| !part.is_empty());
        (parts.map(str::to_owned).collect(), text.to_owned())
    };
    let files = [
        file("", "mod a;\nmod b;\npub use a::inner::Thing;\n"),
        file("a", "mod inner;\n\npub(super) use inner::{Other, Thing};\n"),
        file(
            "a/inner",
            "use crate::b::Rule;\npub struct Thing;\npub struct Other;",
        ),
        file("b", "use crate::{a::Other, c};\npub struct Rule;"),
        file("c", "fn f() { super::d::f() }"),
        file("d", "pub fn f() {}"),
    ];
    let found = circles(Crate(files.into()).links());
    let names = found
        .iter()
        .map(|(from, to)| format!("{} {}", from.join("/"), to.join("/")));
    assert_eq!(names.collect::<Vec<_>>(), ["a/inner b", "b a/inner"]);
}
