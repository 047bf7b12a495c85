//! The path from a root to an object.

use std::collections::BTreeMap;

use graph::{Heap, Path, UNKNOWN_CLASS};
use reader::RootKind;
use serde::{Serialize, Serializer};

use super::object::{described, id, CLASS};
use crate::output::number::grouped;
use crate::output::plain::{plain, shown};
use crate::output::sections::Sections;

/// The JVM's launcher, and its static field that has the main class.
pub(crate) const LAUNCHER: &str = "class sun.launcher.LauncherHelper";
const APP_CLASS: &str = ".appClass (static)";

/// A path: each object, and how the one before refers to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PathAnswer {
    /// From the root to the object.
    pub(crate) objects: Vec<Step>,
    /// The kind of the root, as HPROF names it.
    #[serde(serialize_with = "by_name")]
    pub(crate) root: RootKind,
    /// Whether a reference on it does not keep an object alive.
    pub(crate) weak: bool,
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Step {
    /// Objects that are left out.
    Gap {
        /// Their most frequent class.
        class: String,
        /// How many there are.
        left_out: u64,
        /// How many of them are of the class.
        of_class: u64,
    },
    /// An object.
    Object {
        /// Its class, or which class object it is.
        class: String,
        /// Its id.
        id: String,
        /// How the object before refers to it; `None` for the first.
        link: Option<String>,
        /// The name of a thread, if it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
}

/// The names of threads, by the objects' numbers.
pub(crate) type Names = BTreeMap<u32, String>;

impl PathAnswer {
    pub(crate) fn of(heap: &Heap<'_>, path: &Path, names: &Names) -> Self {
        let steps = path.steps.iter().enumerate();
        let steps = steps.flat_map(|(place, step)| {
            let middle = path.left_out.filter(|middle| middle.behind == place);
            let middle = middle.map(|middle| Step::Gap {
                class: heap.class_name(middle.class),
                left_out: middle.objects,
                of_class: middle.of_class,
            });
            middle.into_iter().chain([Step::of(heap, step, names)])
        });
        Self {
            objects: steps.collect(),
            root: path.root,
            weak: path.is_weak,
        }
    }

    /// Adds the path, if there is one.
    pub(super) fn add(path: Option<Self>, answer: &mut Sections<'_>) {
        answer.lines(path.iter().flat_map(Self::lines));
        answer.json("path", path);
    }

    /// As lines of text, below a suspect.
    fn lines(&self) -> Vec<String> {
        let (head, steps) = match self.launched() {
            Some((main, rest)) => {
                let main = plain(&shown(main));
                (format!("  path from the main class:\n    {main}"), rest)
            }
            None => (
                format!("  path from a root ({}):", self.root()),
                &*self.objects,
            ),
        };
        let steps = steps.iter().map(|step| format!("    {}", step.line()));
        [head].into_iter().chain(steps).collect()
    }

    /// The main class and the steps below it, if the path begins at what the JVM's launcher holds:
    /// that is no cause.
    fn launched(&self) -> Option<(&str, &[Step])> {
        let (first, rest) = self.objects.split_first()?;
        let is_launcher = matches!(first, Step::Object { class, .. } if class == LAUNCHER);
        match rest.split_first()? {
            (Step::Object { class, link, .. }, below) if is_launcher && !below.is_empty() => {
                (link.as_deref() == Some(APP_CLASS)).then_some((class, below))
            }
            _ => None,
        }
    }

    /// The kind of the root in words, and whether the path is weak:
    /// `JNI global reference, by a weak reference`.
    fn root(&self) -> String {
        let weak = if self.weak {
            ", by a weak reference"
        } else {
            ""
        };
        root_name(self.root) + weak
    }
}

fn by_name<S: Serializer>(root: &RootKind, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(root.name())
}

impl Step {
    pub(super) fn of(heap: &Heap<'_>, step: &graph::Step, names: &Names) -> Self {
        Self::Object {
            class: described(heap, step.object),
            id: id(heap, step.object),
            link: step.link.map(|link| heap.link_text(link)),
            name: names.get(&step.object).cloned(),
        }
    }

    /// A line of text: `.table  java.util.HashMap$Node[] 0x7f`, or
    /// `... 9,999,964 more objects, 9,999,964 of them app.Entry`.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Gap {
                class,
                left_out,
                of_class,
            } => format!(
                "... {} more objects, {} of them {}",
                grouped(*left_out),
                grouped(*of_class),
                plain(&shown(class))
            ),
            Self::Object {
                class,
                id,
                link,
                name,
            } => {
                let by = link
                    .as_ref()
                    .map(|link| plain(link) + "  ")
                    .unwrap_or_default();
                match class.starts_with(CLASS) && class != UNKNOWN_CLASS {
                    true => format!("{by}{}", plain(&shown(class))),
                    false => {
                        let name = name.as_ref().map(|name| format!(" \"{}\"", plain(name)));
                        let (class, name) = (plain(&shown(class)), name.unwrap_or_default());
                        format!("{by}{class} {}{name}", plain(id))
                    }
                }
            }
        }
    }
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
        let object = |class: &str, link: Option<&str>| Step::Object {
            class: class.to_owned(),
            id: "0x7f".to_owned(),
            link: link.map(str::to_owned),
            name: None,
        };
        for (step, expected) in [
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
            assert_eq!(step.line(), expected);
        }
    }

    #[test]
    fn the_launcher_is_no_cause() {
        let step = |class: &str, link: Option<&str>| Step::Object {
            class: class.to_owned(),
            id: "0x7f".to_owned(),
            link: link.map(str::to_owned),
            name: None,
        };
        let text = |first: &str| {
            let objects = vec![
                step(first, None),
                step("class app.Main", Some(APP_CLASS)),
                step("app.Cache", Some(".CACHE (static)")),
            ];
            let path = PathAnswer {
                objects,
                root: RootKind::StickyClass,
                weak: false,
            };
            path.lines().join("\n")
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
            let path = PathAnswer {
                objects: Vec::new(),
                root: kind,
                weak: true,
            };
            let words = format!("{}, by a weak reference", root_name(kind));
            assert_eq!(path.root(), words);
        }
    }
}
