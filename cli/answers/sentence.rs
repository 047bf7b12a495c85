//! What keeps the memory, in one sentence that fits into a ticket.

use std::collections::HashMap;

use graph::{Elements, GraphError, Heap, Leaks, Path, Suspect, Way, Who, PATHS_MAX};
use reader::{RootKind, StackFrame, Stacks};

use crate::answers::object::{described, id};
use crate::answers::path::{root_name, Names, LAUNCHER};
use crate::answers::thread_frames::{frame_on, own_frame, threads_on};
use crate::output::folding::is_library;
use crate::output::frame;
use crate::output::{grouped, in_units, percent, plain, shown};

/// A line of code is named only if it allocated at least this share of the bytes, in percent.
const SHARE_LEAST: f64 = 30.0;

/// From this share on, in percent, a line allocated all of it.
const SHARE_ALL: f64 = 90.0;

/// From this share on, in percent, the objects of a class are all held in the same way.
const LIKE_ALL: u64 = 80;

/// Samples from which a share can be told.
const SAMPLES_LEAST: u64 = 3;

/// Everything needed for sentences besides the suspect.
pub(crate) struct Words<'h, 'p> {
    heap: &'h Heap<'p>,
    pub(crate) stacks: Stacks,
    /// Names of the threads on suspects' paths.
    pub(crate) threads: Names,
    /// Bytes of all reachable objects.
    pub(crate) total_bytes: u64,
}

impl<'h, 'p> Words<'h, 'p> {
    /// The words for these suspects. Errors: the file cannot be read.
    pub(crate) fn of_leaks(heap: &'h Heap<'p>, leaks: &Leaks) -> Result<Self, GraphError> {
        let paths = leaks
            .suspects
            .iter()
            .flat_map(|suspect| [&suspect.path, &suspect.example])
            .chain(leaks.native.iter().map(|native| &native.path))
            .flatten();
        let first = |path: &Path| path.steps.first().map(|step| step.object);
        let stacks = heap.stacks();
        let thread = |path: &Path| match is_thread(path) {
            true => first(path),
            false => frame_on(heap, &stacks, path),
        };
        let mut threads: Vec<u32> = paths.clone().filter_map(thread).collect();
        threads.extend(paths.flat_map(|path| threads_on(heap, path)));
        Ok(Self {
            heap,
            stacks,
            threads: heap.thread_names(&threads)?,
            total_bytes: leaks.total_bytes,
        })
    }

    /// What stands out, or that nothing does.
    pub(crate) fn verdict(&self, leaks: &Leaks, threshold_percent: u64) -> String {
        let (first, native) = (leaks.suspects.first(), leaks.native.first());
        let bytes = first.map_or(0, |first| first.bytes);
        if let Some(native) = native.filter(|native| native.group.bytes > bytes) {
            return self.native(native);
        }
        match first {
            Some(first) => self.suspect(first),
            None if self.total_bytes == 0 => "No root leads to an object of this heap.".to_owned(),
            None => format!(
                "No object or class{} retains more than {threshold_percent} % of the heap ({}): its memory is held by \
                 two or more, or spread.",
                if leaks.weights.is_empty() { "" } else { " of the program" },
                in_units(self.total_bytes)
            ),
        }
    }

    /// The sentence about one suspect: what retains how much, who holds it, what it is, and which
    /// line allocated it.
    pub(crate) fn suspect(&self, suspect: &Suspect) -> String {
        let (subject, is_one, bytes) = self.subject(suspect);
        let mut text = format!(
            "{subject} {} {} of {} ({})",
            if is_one { "retains" } else { "retain" },
            in_units(bytes),
            in_units(self.total_bytes),
            percent(bytes, self.total_bytes)
        );
        if let Some(holder) = self.held_by(suspect) {
            text.push_str(&format!(", {holder}"));
        }
        if is_much(suspect.soft_bytes, suspect.bytes) {
            let (soft, all) = (in_units(suspect.soft_bytes), in_units(suspect.bytes));
            text.push_str(&format!(
                "; {soft} of {all} there are only softly reachable"
            ));
        }
        if let Some(contents) = self.contents(suspect, is_one) {
            text.push_str(&format!("; {contents}"));
        }
        if let Some(allocated) = self.allocated(suspect) {
            text.push_str(&format!("; {allocated}"));
        }
        text.extend(self.reasons(suspect).iter().map(|it| format!("; {it}")));
        text.push('.');
        text
    }

    /// What retains the bytes, whether it is one object, and how many bytes.
    fn subject(&self, suspect: &Suspect) -> (String, bool, u64) {
        if suspect.copied_classes > 0 {
            if let Who::Class { class, objects } = suspect.who {
                let (class, objects) = (self.class(class), grouped(objects));
                let same = match suspect.copied_classes {
                    1 => "class".to_owned(),
                    many => format!("{} classes", grouped(many)),
                };
                let text = format!("{objects} {class} with the same {same}");
                return (text, false, suspect.bytes);
            }
        }
        if let (Some(pattern), Who::Class { objects, .. }) = (&suspect.pattern, &suspect.who) {
            let (objects, pattern) = (grouped(*objects), name(pattern));
            let text = format!("{objects} classes of one pattern, {pattern}*,");
            return (text, false, suspect.bytes);
        }
        if let Some(elements) = suspect.held.elements {
            let holders = suspect.held.holders.iter().rev().take(2);
            let mut text = self.objects(&elements);
            let mut bytes = elements.bytes;
            if let Some(beside) = suspect.held.beside {
                text = match suspect.held.are_entries {
                    true => {
                        let keys = self.class(elements.class);
                        format!("{} with {keys} keys", self.objects(&beside))
                    }
                    false => format!("{text} and {}", self.objects(&beside)),
                };
                bytes = bytes.saturating_add(beside.bytes);
            }
            for holder in holders {
                text.push_str(&format!(" in {}", self.objects(holder)));
            }
            return (text, false, bytes);
        }
        match suspect.who {
            Who::Object(object) => {
                let point = suspect.accumulation.unwrap_or(object);
                let bytes = suspect
                    .accumulated_bytes
                    .max(suspect.accumulation.map_or(suspect.bytes, |_| 0));
                (self.part(suspect, point), true, bytes)
            }
            Who::Class { class, objects } => {
                let text = format!("{} {}", grouped(objects), self.class(class));
                (text, objects == 1, suspect.bytes)
            }
        }
    }

    /// An object; an array with the class of the object that has it.
    fn part(&self, suspect: &Suspect, object: u32) -> String {
        let text = self.object(object);
        let heap = self.heap;
        let is_array = heap.class_name(heap.class(object)).ends_with("[]");
        let path = suspect.main_path().filter(|_| is_array);
        let before = path.and_then(|path| path.steps.iter().rev().nth(1));
        match before.map(|before| before.object) {
            Some(before) if heap.class_of_object(before).is_none() => {
                format!("{text} of a {}", self.class(heap.class(before)))
            }
            _ => text,
        }
    }

    /// `60,000 shop.Basket`.
    fn objects(&self, elements: &Elements) -> String {
        format!(
            "{} {}",
            grouped(elements.objects),
            self.class(elements.class)
        )
    }

    /// The name of a class; that of a lambda without its number.
    pub(super) fn class(&self, class: u32) -> String {
        let text = self.heap.class_name(class);
        let end = text.find("$$Lambda").map(|at| at + "$$Lambda".len());
        name(end.and_then(|end| text.get(..end)).unwrap_or(&text))
    }

    /// What it holds, if the subject does not say so.
    fn contents(&self, suspect: &Suspect, is_one: bool) -> Option<String> {
        if suspect.pattern.is_some() {
            return None;
        }
        let verb = if is_one { "it holds" } else { "they hold" };
        if let Some(elements) = suspect.held.elements {
            let of_loaders = suspect.example.as_ref();
            let of_loaders = of_loaders.filter(|_| suspect.copied_classes > 0)?;
            let (objects, field) = (self.objects(&elements), of_loaders.static_field?);
            return Some(format!("{verb} {objects} in {}", self.static_field(field)));
        }
        if let Some(shared) = suspect.held.shared {
            return Some(format!("they share {}", self.objects(&shared)));
        }
        let what = match suspect.held.below.first() {
            Some(most) => self.objects(most),
            None => {
                let most = suspect.holds.first().filter(|most| most.objects > 1)?;
                format!("{} {}", grouped(most.objects), self.class(most.class))
            }
        };
        Some(format!("{verb} {what}"))
    }

    /// See [`object`].
    pub(crate) fn object(&self, it: u32) -> String {
        object(self.heap, it)
    }

    /// The line of the application that allocated most of the bytes below a suspect, if there are
    /// enough samples, with its share.
    fn allocated(&self, suspect: &Suspect) -> Option<String> {
        let sites = &suspect.sites;
        let mut lines: HashMap<String, (f64, u64)> = HashMap::new();
        for site in &sites.sites {
            let Some(frame) = own_frame(self.stacks.frames(site.trace)) else {
                continue;
            };
            let line = lines.entry(frame::line(frame)).or_default();
            *line = (line.0 + site.bytes, line.1 + site.sampled);
        }
        let most = lines.into_iter();
        let (line, (bytes, sampled)) = most.max_by(|(a, (bytes, _)), (b, (other, _))| {
            bytes.total_cmp(other).then_with(|| b.cmp(a))
        })?;
        let share = 100.0 * bytes / sites.known_bytes.max(1.0);
        if share < SHARE_LEAST || (sites.is_sampled && sampled < SAMPLES_LEAST) {
            return None;
        }
        let line = name(&line);
        Some(match share < SHARE_ALL {
            true => format!("{share:.0} % allocated at {line}"),
            false => format!("allocated at {line}"),
        })
    }

    /// What holds a suspect, in words: `held by …`.
    fn held_by(&self, suspect: &Suspect) -> Option<String> {
        if let Some(loader) = self.loader(suspect) {
            return Some(format!("held by their class loader, a {loader}"));
        }
        let path = suspect.main_path()?;
        let first = path.steps.first()?.object;
        if is_thread(path) && path.steps.len() == 1 {
            // The first method of a thread says most of what it is for.
            let frame = own_frame(self.stack(first).rev())?;
            let verb = match suspect.who {
                Who::Class { objects, .. } if objects != 1 => "which run",
                _ => "which runs",
            };
            return Some(format!("{verb} {}", name(&frame::line(frame))));
        }
        let threads = suspect.alike.roots;
        let mut text = match is_thread(path) && threads > 1 {
            true => {
                let thread = self.holder(path)?;
                let example = match thread.starts_with("thread \"\"") {
                    true => String::new(),
                    false => format!(" such as {}", thread.trim_start_matches("thread ")),
                };
                format!("{} threads{example}", self.threads(suspect))
            }
            false => self.holder(path)?,
        };
        let (percent, held) = (suspect.alike.percent, held_by(path));
        text = match percent {
            0..LIKE_ALL => format!("{percent} % of them {held} {text}"),
            _ => format!("{held} {text}"),
        };
        if let Some((class, field)) = suspect.thread_local {
            let (field, class) = (self.field(field), self.object(class));
            text.push_str(&format!(" as the thread local {field} of {class}"));
        } else if path.thread_local.is_some() {
            text.push_str(" as a thread local");
        }
        text.push_str(&self.way(&suspect.way));
        if suspect.keeps_its_key {
            text.push_str(", where a value keeps its key");
        }
        if let Some(also) = self.also(suspect) {
            text.push_str(&format!(", and by {also}"));
        }
        Some(text)
    }

    /// The class of the loader of a suspect that is classes of a pattern.
    fn loader(&self, suspect: &Suspect) -> Option<String> {
        let class = suspect.typical.filter(|_| suspect.pattern.is_some())?;
        let loader = self.heap.loader(self.heap.class_of_object(class)?)?;
        let loader = self.heap.object(loader)?;
        Some(self.class(self.heap.class(loader)))
    }

    /// The number of threads that hold a suspect's objects in the same way.
    fn threads(&self, suspect: &Suspect) -> String {
        let roots = suspect.alike.roots;
        match suspect.who {
            // Of very many objects, the paths to some were compared.
            Who::Class { objects, .. } if roots >= PATHS_MAX as u64 && objects > roots => {
                format!("at least {}", grouped(roots))
            }
            _ => grouped(roots),
        }
    }

    /// ` through shop.Cache.entries (java.util.HashMap)`.
    pub(super) fn way(&self, way: &Way) -> String {
        let mut text = String::new();
        if let Some((class, field)) = way.owner {
            let (class, field) = (self.class(class), self.field(field));
            text.push_str(&format!(" through {class}.{field}"));
        }
        if let Some(collection) = way.collection {
            text.push_str(&format!(" ({})", self.class(collection)));
        }
        text
    }

    /// What holds the first object of a path, in words.
    pub(crate) fn holder(&self, path: &Path) -> Option<String> {
        let first = path.steps.first()?.object;
        if is_thread(path) {
            let thread = self.threads.get(&first).map_or("?", String::as_str);
            let mut text = format!("thread \"{}\"", name(thread));
            if let Some(frame) = self.frame(first, path.frame) {
                text.push_str(&format!(" in {}", name(&frame::line(frame))));
            }
            return Some(text);
        }
        // Of several static fields, the one nearest to the object says most.
        Some(match path.static_field {
            // It holds the main class of each program.
            Some((class, field))
                if self.object(class) == LAUNCHER && self.field(field) == "appClass" =>
            {
                return None
            }
            Some(field) => self.static_field(field),
            None if path.root == RootKind::VmInternal => self.of_jvm(first).to_owned(),
            None => format!("a {}", root_name(path.root)),
        })
    }

    /// What of the JVM holds an object: of all references, it holds only those that were cleared
    /// and not yet handled.
    fn of_jvm(&self, object: u32) -> &'static str {
        let references = self.heap.extending("java/lang/ref/Reference");
        match references.get(self.heap.class(object) as usize) {
            Some(true) => "the JVM's list of references to be handled",
            _ => "the JVM itself",
        }
    }

    pub(super) fn field(&self, field: u64) -> String {
        let field = self.heap.directory().strings.text(field);
        name(&field.unwrap_or_default())
    }

    /// A thread of which a frame holds something on a path, too, and what it does.
    pub(crate) fn also_held_by(&self, path: &Path) -> Option<String> {
        if is_thread(path) {
            return None;
        }
        let thread = frame_on(self.heap, &self.stacks, path)?;
        let frame = own_frame(self.stack(thread).rev())?;
        let thread = self.threads.get(&thread).map_or("?", String::as_str);
        let (thread, line) = (name(thread), name(&frame::line(frame)));
        Some(format!("thread \"{thread}\" in {line}"))
    }

    /// The stack of the thread that a path is about; of one whose field holds something only the
    /// application's first method.
    pub(crate) fn stack_of(&self, path: &Path) -> Vec<&StackFrame> {
        let Some(thread) = path.steps.first().filter(|_| is_thread(path)) else {
            return Vec::new();
        };
        let stack = self.stack(thread.object);
        match (path.steps.len(), path.frame) {
            (1, _) => stack.collect(),
            (_, None) => {
                let first = own_frame(stack.rev()).into_iter();
                first.filter(|frame| !is_library(&frame.class)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn stack(&self, thread: u32) -> impl DoubleEndedIterator<Item = &StackFrame> + Clone {
        let trace = self.heap.thread_trace(thread).unwrap_or_default();
        self.stacks.frames(trace)
    }

    /// Another static field that holds the elements of a suspect.
    pub(crate) fn also(&self, suspect: &Suspect) -> Option<String> {
        suspect.also.map(|field| self.static_field(field))
    }

    /// `the static field ALL of class shop.Cache`.
    fn static_field(&self, (class, field): (u32, u64)) -> String {
        let (field, class) = (self.field(field), self.object(class));
        format!("the static field {field} of {class}")
    }

    /// The frame of the application at which a thread's frame with this number runs.
    fn frame(&self, thread: u32, number: Option<u32>) -> Option<&StackFrame> {
        let number = usize::try_from(number?).ok()?;
        own_frame(self.stack(thread).skip(number))
    }
}

/// How a path holds its target.
pub(super) fn held_by(path: &Path) -> &'static str {
    match path.is_weak {
        true => "reached only by a weak reference from",
        false => "held by",
    }
}

/// Whether a part is worth a word: a tenth of the whole.
fn is_much(part: u64, whole: u64) -> bool {
    part > 0 && part >= whole / 10
}

/// `class app.Main` for a class object; for others the class and the id.
pub(crate) fn object(heap: &Heap<'_>, object: u32) -> String {
    let what = name(&described(heap, object));
    match heap.class_of_object(object) {
        Some(_) => what,
        None => format!("{what} {}", id(heap, object)),
    }
}

fn is_thread(path: &Path) -> bool {
    path.root == RootKind::ThreadObject
}

pub(super) fn name(text: &str) -> String {
    plain(&shown(text))
}
