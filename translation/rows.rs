//! Rows of our tables for the classes, frames, stacks and threads of HotSpot's file.

use crate::survey::Survey;
use crate::{Known, KnownByReference, Settings, Surroundings, ThreadNames, TranslateError};
use format::{mutf8, LINE_NATIVE, LINE_UNKNOWN};
use reader::{Budget, ClassTable, Root, RootKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::HashMap;
use tables::{
    ClassId, ClassRow, Frame, FrameId, Line, ObjectTable, StringId, Tables, ThreadId, ThreadRow,
    Trace, TraceId,
};

/// A thread of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveThread {
    /// Its row.
    pub(crate) id: ThreadId,
    /// The thread object.
    pub(crate) object: u64,
    /// Its stack.
    pub(crate) trace: TraceId,
    /// Number of frames of that stack in our file.
    pub(crate) depth_frames: u32,
}

/// The rows for HotSpot's ids and numbers.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    strings: HashMap<u64, StringId>,
    /// The class object of each class.
    class_objects: HashMap<ClassId, u64>,
    /// Classes by class object and by HotSpot's serial number.
    by_object: HashMap<u64, ClassId>,
    by_serial: HashMap<u32, ClassId>,
    /// The traces that allocated the sampled objects.
    pub(crate) allocated: FxHashMap<u64, TraceId>,
    /// Objects that do not belong in a dump.
    pub(crate) agents: FxHashSet<u64>,
    names: HashMap<u64, ThreadNames>,
    own_thread: Option<u64>,
    /// Threads by HotSpot's serial number, in its order.
    pub(crate) threads: Vec<(u32, LiveThread)>,
}

/// The inputs for the rows.
pub(crate) struct Source<'d> {
    pub(crate) survey: &'d mut Survey,
    pub(crate) tables: &'d Tables,
    pub(crate) objects: &'d mut ObjectTable,
    pub(crate) settings: &'d Settings,
}

impl Rows {
    /// Fills the tables. `known`: the facts by the agent's own references, whose roots are removed
    /// from the survey.
    pub(crate) fn fill(
        mut source: Source<'_>,
        known: &KnownByReference,
        surroundings: &dyn Surroundings,
    ) -> Result<Self, TranslateError> {
        let mut rows = Self::default();
        rows.join(source.survey, known);
        rows.classes(&source)?;
        rows.threads(&mut source, surroundings)?;
        rows.leave_out_own(source.survey);
        rows.names_of_fields(&source);
        Ok(rows)
    }

    /// The class object of a class.
    pub(crate) fn class_object(&self, class: ClassId) -> Option<u64> {
        self.class_objects.get(&class).copied()
    }

    /// The row of a name; the empty string for id 0.
    pub(crate) fn string(&self, id: u64) -> Option<StringId> {
        self.strings.get(&id).copied()
    }

    /// Reads the targets of the agent's own references.
    fn join(&mut self, survey: &mut Survey, known: &KnownByReference) {
        let (allocated, names) = (&mut self.allocated, &mut self.names);
        let (class_objects, own_thread) = (&mut self.class_objects, &mut self.own_thread);
        let agents = &mut self.agents;
        survey.roots.retain(|root| {
            let Some(known) = root.reference.and_then(|reference| known.get(&reference)) else {
                return true;
            };
            match known {
                Known::Class(class) => drop(class_objects.insert(*class, root.object)),
                Known::Allocated(trace) => drop(allocated.insert(root.object, *trace)),
                Known::Thread(thread) => drop(names.insert(root.object, thread.clone())),
                Known::OwnThread => *own_thread = Some(root.object),
                Known::Agents => drop(agents.insert(root.object)),
            }
            false
        });
        // The agent may have another reference to an object that it created, besides the known one.
        let agents = &self.agents;
        survey.roots.retain(|root| !agents.contains(&root.object));
        let by_object = class_objects.iter();
        self.by_object = by_object.map(|(&class, &object)| (object, class)).collect();
    }

    fn intern(&mut self, id: u64, source: &Source<'_>) -> StringId {
        let strings = &source.tables.strings;
        let text = source.survey.strings.bytes(id).unwrap_or_default();
        *self
            .strings
            .entry(id)
            .or_insert_with(|| strings.intern(text))
    }

    /// Adds the classes: those known to the agent already have rows, and get HotSpot's names.
    fn classes(&mut self, source: &Source<'_>) -> Result<(), TranslateError> {
        let classes = &source.tables.classes;
        for loaded in &source.survey.loaded {
            let name = self.intern(loaded.name, source);
            let known = self.by_object.get(&loaded.class).copied();
            let class = match known {
                Some(class) => class,
                None => classes.add(ClassRow {
                    signature: name,
                    name,
                    loader: None,
                    super_class: None,
                    fields: None,
                }),
            };
            if let Some(row) = classes.get(class).filter(|row| row.name != name) {
                let row = ClassRow {
                    name,
                    ..(*row).clone()
                };
                classes.replace(class, row);
            }
            self.by_object.insert(loaded.class, class);
            self.by_serial.insert(loaded.serial, class);
            self.class_objects.insert(class, loaded.class);
        }
        if self.by_serial.is_empty() {
            return Err(TranslateError::unreadable("it names no classes"));
        }
        Ok(())
    }

    fn threads(
        &mut self,
        source: &mut Source<'_>,
        surroundings: &dyn Surroundings,
    ) -> Result<(), TranslateError> {
        let is_thread = |root: &&Root| root.kind == RootKind::ThreadObject;
        let roots: Vec<Root> = source
            .survey
            .roots
            .iter()
            .filter(is_thread)
            .copied()
            .collect();
        self.name_others(&roots, source, surroundings)?;
        let unnamed = ThreadNames::default();
        for root in &roots {
            let names = self.names.get(&root.object).unwrap_or(&unnamed);
            let strings = &source.tables.strings;
            let row = ThreadRow {
                object: source.objects.push_at(root.object)?,
                name: strings.intern(&names.name),
                group: strings.intern(&names.group),
                parent_group: strings.intern(&names.parent_group),
                trace: TraceId::EMPTY,
            };
            let id = source.tables.threads.add(row.clone());
            let frames = self.stack(root.trace, source);
            let depth_frames = u32::try_from(frames.len()).unwrap_or(u32::MAX);
            let trace = source.tables.traces.intern(Trace {
                thread: Some(id),
                frames,
            });
            source
                .tables
                .threads
                .replace(id, ThreadRow { trace, ..row });
            let thread = LiveThread {
                id,
                object: root.object,
                trace,
                depth_frames,
            };
            self.threads
                .extend(root.thread_serial.map(|serial| (serial, thread)));
        }
        Ok(())
    }

    /// The frames of a thread, up to the wanted depth.
    fn stack(&mut self, trace: Option<u32>, source: &Source<'_>) -> Vec<FrameId> {
        let trace = trace.and_then(|serial| source.survey.traces.get(&serial));
        let ids = trace.map_or(&[][..], |trace| trace.frames.as_slice());
        let most = source
            .settings
            .depth_frames
            .map_or(usize::MAX, |depth| depth as usize);
        let frames = ids.iter().take(most).filter_map(|id| {
            let frame = source.survey.frames.get(id)?;
            self.frame(frame, source)
        });
        frames.collect()
    }

    fn frame(&mut self, frame: &reader::Frame, source: &Source<'_>) -> Option<FrameId> {
        let mut method = self.intern(frame.method, source);
        let mut class = self.by_serial.get(&frame.class_serial).copied();
        if class.is_none() {
            // HotSpot has no number for some classes. No frame may be missing, because roots count
            // them.
            method = source.tables.strings.intern(b"<unknown>");
            class = self.by_serial.values().copied().min();
        }
        let row = Frame {
            class: class?,
            method,
            signature: self.intern(frame.signature, source),
            source: self.intern(frame.source, source),
            line: line(frame.line, source.settings.line_numbers),
        };
        Some(source.tables.frames.intern(row))
    }

    /// Reads the names of threads that JVMTI does not list (such as virtual ones) from their
    /// objects.
    fn name_others(
        &mut self,
        threads: &[Root],
        source: &Source<'_>,
        surroundings: &dyn Surroundings,
    ) -> Result<(), TranslateError> {
        let objects = threads.iter().map(|root| root.object);
        let others: Vec<u64> = objects
            .filter(|object| !self.names.contains_key(object))
            .collect();
        if others.is_empty() {
            return Ok(());
        }
        let survey = &*source.survey;
        let mut classes = ClassTable::default();
        for loaded in &survey.loaded {
            classes.add_load(loaded);
        }
        for class in &survey.classes {
            classes.add_dump(0, class);
        }
        let strings = &survey.strings;
        let open = &mut || Ok(surroundings.open());
        let names = reader::thread_names(open, &mut classes, strings, &others, Budget::default());
        for (object, name) in names? {
            let names = ThreadNames {
                name: mutf8::from_units(name.encode_utf16()),
                ..ThreadNames::default()
            };
            self.names.insert(object, names);
        }
        Ok(())
    }

    /// Removes the agent's own local references, which are not roots of the application.
    fn leave_out_own(&self, survey: &mut Survey) {
        let own = self.threads.iter();
        let own = own.filter(|(_, thread)| Some(thread.object) == self.own_thread);
        let Some(&(serial, _)) = own.clone().next() else {
            return;
        };
        survey.roots.retain(|root| {
            let is_outermost = matches!(root.frame_number, None | Some(0 | u32::MAX));
            !(root.kind == RootKind::JniLocal && root.thread_serial == Some(serial) && is_outermost)
        });
    }

    /// Adds the names that only class records use: all strings precede those records.
    fn names_of_fields(&mut self, source: &Source<'_>) {
        for class in &source.survey.classes {
            let statics = class.statics.iter().map(|field| field.name);
            let fields = class.fields.iter().map(|field| field.name);
            for name in statics.chain(fields) {
                self.intern(name, source);
            }
        }
    }
}

fn line(number: i32, wanted: bool) -> Line {
    match (number, u32::try_from(number)) {
        (LINE_NATIVE, _) => Line::Native,
        (LINE_UNKNOWN.., Ok(number)) if wanted => Line::Number(number),
        _ => Line::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbers_or_nothing() {
        assert_eq!(line(7, true), Line::Number(7));
        assert_eq!(line(7, false), Line::Unknown);
        assert_eq!(line(LINE_NATIVE, false), Line::Native);
        assert_eq!(line(LINE_UNKNOWN, true), Line::Unknown);
        assert_eq!(line(-2, true), Line::Unknown);
    }
}
