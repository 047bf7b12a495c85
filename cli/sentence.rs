//! What keeps the memory, in one sentence that fits into a ticket.

use std::collections::BTreeMap;

use graph::{GraphError, Heap, Leaks, Path, Suspect, Who};
use reader::{RootKind, StackFrame, Stacks};

use crate::answer::path::root_name;
use crate::frame;
use crate::number::{counted, grouped, in_units, percent};
use crate::plain::{plain, shown};

/// Packages whose frames show how something was allocated, but not why.
pub(crate) const PLUMBING: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "kotlin."];

/// Everything needed for sentences besides the suspect.
pub(crate) struct Words<'h, 'p> {
    heap: &'h Heap<'p>,
    stacks: Stacks,
    /// Names of the threads on suspects' paths.
    threads: BTreeMap<u32, String>,
    total_bytes: u64,
}

impl<'h, 'p> Words<'h, 'p> {
    /// The words for these suspects. Errors: the file cannot be read.
    pub(crate) fn of_leaks(heap: &'h Heap<'p>, leaks: &Leaks) -> Result<Self, GraphError> {
        let paths = leaks
            .suspects
            .iter()
            .filter_map(|suspect| suspect.path.as_ref());
        let first = |path: &Path| path.steps.first().map(|step| step.object);
        let threads: Vec<u32> = paths
            .filter(|path| is_thread(path))
            .filter_map(first)
            .collect();
        Ok(Self {
            heap,
            stacks: heap.stacks(),
            threads: heap.thread_names(&threads)?,
            total_bytes: leaks.total_bytes,
        })
    }

    /// What stands out, or that nothing does.
    pub(crate) fn verdict(&self, leaks: &Leaks, threshold_percent: u64) -> String {
        match leaks.suspects.first() {
            Some(first) => self.suspect(first),
            None => format!(
                "No object or class retains more than {threshold_percent} % of the heap ({}): its memory is held by two \
                 or more, or spread.",
                in_units(self.total_bytes)
            ),
        }
    }

    /// The sentence about one suspect.
    pub(crate) fn suspect(&self, suspect: &Suspect) -> String {
        let heap = self.heap;
        let who = match suspect.who {
            Who::Object(object) => self.object(object),
            Who::Class { class, objects } => {
                let instances = counted(objects, "object");
                format!("{instances} of {}", name(&heap.class_name(class)))
            }
        };
        let verb = match suspect.who {
            Who::Class { objects, .. } if objects != 1 => "retain",
            _ => "retains",
        };
        let mut text = format!(
            "{who} {verb} {} of {} ({})",
            in_units(suspect.bytes),
            in_units(self.total_bytes),
            percent(suspect.bytes, self.total_bytes)
        );
        if let Some(holder) = suspect.path.as_ref().and_then(|path| self.holder(path)) {
            text.push_str(&format!(", held by {holder}"));
        }
        if let Some(point) = suspect
            .accumulation
            .filter(|point| suspect.who != Who::Object(*point))
        {
            text.push_str(&format!(", accumulated in {}", self.object(point)));
        }
        if let Some(group) = suspect.holds.first() {
            let class = name(&heap.class_name(group.class));
            text.push_str(&format!("; it holds {} {class}", grouped(group.objects)));
            if let Some(frame) = self.allocated(suspect, group.class) {
                text.push_str(&format!(", allocated at {}", name(&frame::line(frame))));
            }
        }
        text.push('.');
        text
    }

    /// See [`object`].
    pub(crate) fn object(&self, it: u32) -> String {
        object(self.heap, it)
    }

    /// The frame of the application in the trace that allocated most of this class's bytes held by
    /// the suspect.
    fn allocated(&self, suspect: &Suspect, class: u32) -> Option<&StackFrame> {
        let of_class = |(found, _, _): &&(u32, u32, u64)| *found == class;
        let (_, trace, _) = suspect.traces.iter().find(of_class)?;
        let mut frames = self.stacks.frames(*trace);
        let is_plumbing = |frame: &&StackFrame| {
            PLUMBING
                .iter()
                .any(|package| frame.class.starts_with(package))
        };
        let own = frames.clone().find(|frame| !is_plumbing(frame));
        own.or_else(|| frames.next())
    }

    /// Bytes of all reachable objects.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// The stacks of the dump.
    pub(crate) fn stacks(&self) -> &Stacks {
        &self.stacks
    }

    /// What holds the first object of a path, in words.
    pub(crate) fn holder(&self, path: &Path) -> Option<String> {
        let first = path.steps.first()?.object;
        if is_thread(path) {
            let thread = self.threads.get(&first).map_or("?", String::as_str);
            return Some(format!("thread \"{}\"", name(thread)));
        }
        // Of several static fields, the one nearest to the object says most.
        Some(match path.static_field {
            Some((class, field)) => {
                let field = self.heap.directory().strings.text(field);
                let field = name(&field.unwrap_or_default());
                format!("the static field {field} of {}", self.object(class))
            }
            None => format!("a {}", root_name(path.root)),
        })
    }
}

/// `class app.Main` for a class object; for others the class and the id.
pub(crate) fn object(heap: &Heap<'_>, object: u32) -> String {
    match heap.class_of_object(object) {
        Some(class) => format!("class {}", name(&heap.class_name(class))),
        None => {
            let class = heap.class_name(heap.class(object));
            format!("{} {:#x}", name(&class), heap.id(object))
        }
    }
}

fn is_thread(path: &Path) -> bool {
    path.root == RootKind::ThreadObject
}

fn name(text: &str) -> String {
    plain(&shown(text))
}
