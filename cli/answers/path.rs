//! The path from a root to an object.

use std::collections::BTreeMap;

use graph::{Heap, LeftOut, Path, UNKNOWN_CLASS};
use reader::RootKind;
use serde_json::{json, Value};

use super::object::{described, id, CLASS};
use crate::output::{grouped, plain, shown, Sections};

/// The JVM's launcher, and its static field that has the main class.
pub(crate) const LAUNCHER: &str = "class sun.launcher.LauncherHelper";
const APP_CLASS: &str = ".appClass (static)";

/// A step of a path, as a line of text and in JSON.
pub(super) type Step = (String, Value);

/// The names of threads, by the objects' numbers.
pub(crate) type Names = BTreeMap<u32, String>;

/// Adds a path from the root to the object, if there is one: each object, how the one before refers
/// to it, and whether a reference on it does not keep an object alive.
pub(super) fn add(answer: &mut Sections<'_>, heap: &Heap<'_>, path: Option<&Path>, names: &Names) {
    let in_json = path.map(|path| {
        let steps = path.steps.iter().enumerate().flat_map(|(place, one)| {
            let gap = path.left_out.filter(|gap| gap.behind == place);
            let gap = gap.map(|gap| left_out(heap, gap));
            gap.into_iter().chain([step(heap, one, names)])
        });
        let steps: Vec<Step> = steps.collect();
        answer.lines(lines(path.root, path.is_weak, &steps));
        let objects: Vec<Value> = steps.into_iter().map(|(_, row)| row).collect();
        json!({ "objects": objects, "root": path.root.name(), "weak": path.is_weak })
    });
    answer.json("path", in_json);
}

/// An object of a path.
pub(super) fn step(heap: &Heap<'_>, step: &graph::Step, names: &Names) -> Step {
    let (class, id) = (described(heap, step.object), id(heap, step.object));
    let link = step.link.map(|link| heap.link_text(link));
    object(&class, &id, link.as_deref(), names.get(&step.object))
}

/// `.table  java.util.HashMap$Node[] 0x7f`; how the object before refers to it is `None` for the
/// first. A thread has a name, if it is known.
fn object(class: &str, id: &str, link: Option<&str>, name: Option<&String>) -> Step {
    let by = link.map(|link| plain(link) + "  ").unwrap_or_default();
    let mut line = by + &plain(&shown(class));
    if !class.starts_with(CLASS) || class == UNKNOWN_CLASS {
        line += &format!(" {id}");
        line.extend(name.map(|name| format!(" \"{}\"", plain(name))));
    }
    let mut row = json!({ "class": class, "id": id, "link": link });
    if let (Some(name), Some(row)) = (name, row.as_object_mut()) {
        row.insert("name".to_owned(), json!(name));
    }
    (line, row)
}

/// `... 9,999,964 more objects, 9,999,964 of them app.Entry`.
fn left_out(heap: &Heap<'_>, gap: LeftOut) -> Step {
    let class = heap.class_name(gap.class);
    let (all, of_class) = (grouped(gap.objects), grouped(gap.of_class));
    let name = plain(&shown(&class));
    let line = format!("... {all} more objects, {of_class} of them {name}");
    let row = json!({ "class": class, "left_out": gap.objects, "of_class": gap.of_class });
    (line, row)
}

/// The text, below a suspect. What begins at the JVM's launcher is told from the main class on: the
/// launcher is no cause.
fn lines(root: RootKind, is_weak: bool, steps: &[Step]) -> Vec<String> {
    let told = |at: usize, key: &str| steps.get(at)?.1.get(key)?.as_str();
    let is_launched = told(0, "class") == Some(LAUNCHER) && told(1, "link") == Some(APP_CLASS);
    let weak = if is_weak { ", by a weak reference" } else { "" };
    let (head, steps) = match (told(1, "class"), steps) {
        (Some(main), [_, _, below @ ..]) if is_launched && !below.is_empty() => {
            let main = plain(&shown(main));
            (format!("  path from the main class:\n    {main}"), below)
        }
        _ => (
            format!("  path from a root ({}{weak}):", root_name(root)),
            steps,
        ),
    };
    let steps = steps.iter().map(|(line, _)| format!("    {line}"));
    [head].into_iter().chain(steps).collect()
}

/// The kind of a root in lower case: `JNI global reference`.
pub(crate) fn root_name(kind: RootKind) -> String {
    match kind {
        RootKind::JniGlobal => "JNI global reference".to_owned(),
        RootKind::StickyClass => "system class".to_owned(),
        RootKind::ThreadObject => "thread".to_owned(),
        RootKind::MonitorUsed => "monitor in use".to_owned(),
        RootKind::Unknown => "root of unknown kind".to_owned(),
        RootKind::VmInternal => "the JVM itself".to_owned(),
        other => other.name().to_lowercase(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_a_line() {
        let object = |class: &str, link: Option<&str>| object(class, "0x7f", link, None).0;
        for (line, expected) in [
            (object("app.Main[]", None), "app.Main[] 0x7f"),
            (object(UNKNOWN_CLASS, None), "class not in the dump 0x7f"),
            (object("app.Main", Some(".next")), ".next  app.Main 0x7f"),
            (
                object("class app.Main", Some(".it (static)")),
                ".it (static)  class app.Main",
            ),
            (
                object("app.\u{1b}Main", Some(".\u{1b}x")),
                ".\u{fffd}x  app.\u{fffd}Main 0x7f",
            ),
        ] {
            assert_eq!(line, expected);
        }
        let thread = super::object("app.Worker", "0x7f", None, Some(&"main".to_owned()));
        assert_eq!(thread.0, "app.Worker 0x7f \"main\"");
        assert_eq!(thread.1.get("name").unwrap(), "main");
    }

    #[test]
    fn the_launcher_is_no_cause() {
        let text = |first: &str| {
            let steps = [
                object(first, "0x7f", None, None),
                object("class app.Main", "0x7f", Some(APP_CLASS), None),
                object("app.Cache", "0x7f", Some(".CACHE (static)"), None),
            ];
            lines(RootKind::StickyClass, false, &steps).join("\n")
        };
        let main = text(LAUNCHER);
        let lines: Vec<&str> = main.lines().map(str::trim).collect();
        let static_field = ".CACHE (static)  app.Cache 0x7f";
        assert_eq!(
            lines,
            ["path from the main class:", "class app.Main", static_field]
        );
        let other = text("class app.Other");
        assert!(other.starts_with("  path from a root (system class):\n    class app.Other\n"));
    }

    #[test]
    fn every_root_has_words_by_its_name() {
        for &kind in RootKind::ALL {
            let words = format!("({}, by a weak reference):", root_name(kind));
            assert!(lines(kind, true, &[]).join("").ends_with(&words));
        }
    }
}
