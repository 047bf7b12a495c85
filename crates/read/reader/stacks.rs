//! The stacks of a file with names: each frame once, each trace as a list of frames.

use std::collections::HashMap;
use std::rc::Rc;

use crate::budget::{bytes_of, entries};
use crate::names::Names;
use format::record::{Frame, Record};

/// One frame of a stack, with names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StackFrame {
    /// Class in Java form; empty if the file does not contain it.
    pub class: Rc<str>,
    /// Name of the method; empty if the file does not contain it.
    pub method: Rc<str>,
    /// Name of the source file, if the file contains it.
    pub source: Option<Rc<str>>,
    /// Line above 0; -1 for unknown, -2 for a compiled method, -3 for a native method.
    pub line: i32,
}

impl StackFrame {
    /// Bytes of the frame's texts.
    fn text_bytes(&self) -> u64 {
        let source = self.source.as_ref().map_or(0, |source| source.len());
        (self.class.len() + self.method.len() + source) as u64
    }
}

/// All stacks of a file by trace serial. Memory grows with the traces, not with the heap.
#[derive(Clone, Debug, Default)]
pub struct Stacks {
    frames: Vec<StackFrame>,
    traces: HashMap<u32, Box<[usize]>>,
}

impl Stacks {
    /// Stacks that are in no file: of each trace the places of its frames, top first.
    pub fn of(frames: Vec<StackFrame>, traces: HashMap<u32, Box<[usize]>>) -> Self {
        Self { frames, traces }
    }

    /// The frames of a trace, top first; none for the empty trace and for one that is not in the
    /// file.
    pub fn frames(&self, trace: u32) -> impl DoubleEndedIterator<Item = &StackFrame> + Clone {
        self.places(trace)
            .iter()
            .filter_map(|place| self.frames.get(*place))
    }

    /// Number of frames of a trace.
    pub fn depth_frames(&self, trace: u32) -> usize {
        self.places(trace).len()
    }

    /// Whether the trace has no known frames.
    pub fn is_empty(&self, trace: u32) -> bool {
        self.places(trace).is_empty()
    }

    fn places(&self, trace: u32) -> &[usize] {
        self.traces.get(&trace).map(AsRef::as_ref).unwrap_or(&[])
    }
}

/// Stacks whose names are known from the start, as in a text profile.
#[derive(Debug, Default)]
pub(crate) struct SpelledStacks {
    /// Bytes of the frames' texts, and number of frames of all traces.
    text_bytes: u64,
    depth_sum: usize,
    places: HashMap<StackFrame, usize>,
    traces: HashMap<u32, Box<[usize]>>,
}

impl SpelledStacks {
    /// Adds a trace, top frame first; of two with the same serial, the last is kept.
    pub(crate) fn add(&mut self, serial: u32, frames: Vec<StackFrame>) {
        let mut places = Vec::with_capacity(frames.len());
        for frame in frames {
            let next = self.places.len();
            let bytes = frame.text_bytes();
            let place = *self.places.entry(frame).or_insert(next);
            if place == next {
                self.text_bytes = self.text_bytes.saturating_add(bytes);
            }
            places.push(place);
        }
        self.depth_sum = self.depth_sum.saturating_add(places.len());
        self.traces.insert(serial, places.into());
    }

    /// Bytes of memory that the stacks take.
    pub(crate) fn held_bytes(&self) -> u64 {
        let frames = bytes_of::<(StackFrame, usize)>(2 * self.places.len());
        frames
            .saturating_add(self.text_bytes)
            .saturating_add(entries(self.traces.len()))
            .saturating_add(bytes_of::<usize>(self.depth_sum))
    }

    pub(crate) fn finish(self) -> Stacks {
        let mut frames: Vec<(StackFrame, usize)> = self.places.into_iter().collect();
        frames.sort_unstable_by_key(|(_, place)| *place);
        Stacks {
            frames: frames.into_iter().map(|(frame, _)| frame).collect(),
            traces: self.traces,
        }
    }
}

/// The binary records of stacks, collected until all strings are known.
#[derive(Debug, Default)]
pub(crate) struct StackRecords {
    frames: Vec<Frame>,
    /// For each frame id, the position of the last frame with it.
    places: HashMap<u64, usize>,
    traces: HashMap<u32, Vec<u64>>,
    /// For each class serial, the string id of its name.
    class_names: HashMap<u32, u64>,
    /// Number of frames of all traces.
    depth_sum: usize,
}

impl StackRecords {
    /// Stores frames, traces and class serials; ignores other records.
    pub(crate) fn add(&mut self, record: &mut Record) {
        match record {
            Record::LoadClass(load) => {
                // HotSpot may load one class under two serials; frames use either.
                self.class_names.insert(load.serial, load.name);
            }
            Record::Frame(frame) => {
                self.places.insert(frame.id, self.frames.len());
                self.frames.push(*frame);
            }
            Record::Trace(trace) => {
                self.depth_sum = self.depth_sum.saturating_add(trace.frames.len());
                self.traces
                    .insert(trace.serial, std::mem::take(&mut trace.frames));
            }
            _ => {}
        }
    }

    /// Bytes of memory that the records take, including later ones for names.
    pub(crate) fn held_bytes(&self) -> u64 {
        let frames = self.frames.len();
        let each = bytes_of::<Frame>(frames).saturating_add(bytes_of::<StackFrame>(frames));
        each.saturating_add(entries(
            frames + 2 * self.traces.len() + self.class_names.len(),
        ))
        .saturating_add(bytes_of::<[u64; 2]>(self.depth_sum))
    }

    /// Name of the class with this serial in Java form, if the file contains it.
    pub(crate) fn class_name(&self, serial: u32, names: &mut Names<'_>) -> Option<Rc<str>> {
        names.class(self.class_name_id(serial)?)
    }

    /// String id of the name of the class with this serial, if the file contains it.
    pub(crate) fn class_name_id(&self, serial: u32) -> Option<u64> {
        self.class_names.get(&serial).copied()
    }

    /// Adds names to all frames; traces omit undefined frames.
    pub(crate) fn resolve(&self, names: &mut Names<'_>) -> Stacks {
        let none: Rc<str> = Rc::from("");
        let or_none = |name: Option<Rc<str>>| name.unwrap_or_else(|| Rc::clone(&none));
        let frames = self.frames.iter().map(|frame| StackFrame {
            class: or_none(self.class_name(frame.class_serial, names)),
            method: or_none(names.text(frame.method)),
            source: names.text(frame.source),
            line: frame.line,
        });
        let frames = frames.collect();
        let place = |id: &u64| self.places.get(id).copied();
        let traces = self
            .traces
            .iter()
            .map(|(serial, ids)| (*serial, ids.iter().filter_map(place).collect()));
        Stacks {
            frames,
            traces: traces.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(method: &str) -> StackFrame {
        StackFrame {
            class: "app.Main".into(),
            method: method.into(),
            source: None,
            line: -1,
        }
    }

    #[test]
    fn spelled_frames_are_kept_once() {
        let mut spelled = SpelledStacks::default();
        spelled.add(7, vec![frame("leaf"), frame("main")]);
        spelled.add(8, vec![frame("main")]);
        spelled.add(1, vec![]);
        let stacks = spelled.finish();
        assert_eq!(stacks.frames.len(), 2);
        let methods = |trace| stacks.frames(trace).map(|frame| frame.method.as_ref());
        assert!(methods(7).eq(["leaf", "main"]));
        assert!(methods(8).eq(["main"]));
        assert!(stacks.is_empty(1) && stacks.is_empty(99));
        assert_eq!(stacks.depth_frames(7), 2);
    }
}
