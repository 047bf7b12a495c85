//! The stacks of a file in words: each frame once, each trace as a list of frames.

use std::collections::HashMap;

use crate::java_name::java_name;
use crate::record::{Frame, Record};
use crate::strings::StringTable;

/// One frame of a stack, in words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StackFrame {
    /// Class in Java's form; empty if the file does not tell.
    pub class: String,
    /// Name of the method; empty if the file does not tell.
    pub method: String,
    /// Name of the source file, if the file tells it.
    pub source: Option<String>,
    /// Line above 0; -1 not known, -2 compiled method, -3 native method.
    pub line: i32,
}

/// All stacks of a file by the serials of their traces. Memory grows with the traces, not with the heap.
#[derive(Clone, Debug, Default)]
pub struct Stacks {
    frames: Vec<StackFrame>,
    traces: HashMap<u32, Box<[usize]>>,
}

impl Stacks {
    /// The frames of a trace, top first; none for the empty trace and for one that is not in the file.
    pub fn frames(&self, trace: u32) -> impl DoubleEndedIterator<Item = &StackFrame> + Clone {
        self.places(trace)
            .iter()
            .filter_map(|place| self.frames.get(*place))
    }

    /// Number of frames of a trace.
    pub fn depth_frames(&self, trace: u32) -> usize {
        self.places(trace).len()
    }

    /// Whether nothing is known of where this trace stood.
    pub fn is_empty(&self, trace: u32) -> bool {
        self.places(trace).is_empty()
    }

    fn places(&self, trace: u32) -> &[usize] {
        self.traces.get(&trace).map(AsRef::as_ref).unwrap_or(&[])
    }
}

/// Stacks that come frame by frame in words, as in a text profile.
#[derive(Debug, Default)]
pub(crate) struct SpelledStacks {
    places: HashMap<StackFrame, usize>,
    traces: HashMap<u32, Box<[usize]>>,
}

impl SpelledStacks {
    /// Adds a trace, top frame first; the last of two with one serial stays.
    pub(crate) fn add(&mut self, serial: u32, frames: Vec<StackFrame>) {
        let mut places = Vec::with_capacity(frames.len());
        for frame in frames {
            let next = self.places.len();
            places.push(*self.places.entry(frame).or_insert(next));
        }
        self.traces.insert(serial, places.into());
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

/// The binary records that stacks are made of, gathered until the strings are all there.
#[derive(Debug, Default)]
pub(crate) struct StackRecords {
    frames: Vec<Frame>,
    /// Frame id to the place of the last frame with it.
    places: HashMap<u64, usize>,
    traces: HashMap<u32, Vec<u64>>,
    /// Class serial to the string id of its name.
    class_names: HashMap<u32, u64>,
}

impl StackRecords {
    /// Keeps what a record says of frames, traces and class serials; other records are passed over.
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
                self.traces
                    .insert(trace.serial, std::mem::take(&mut trace.frames));
            }
            _ => {}
        }
    }

    /// Name of the class with this serial in Java's form, if the file tells it.
    pub(crate) fn class_name(&self, serial: u32, strings: &StringTable) -> Option<String> {
        let name = strings.text(*self.class_names.get(&serial)?)?;
        Some(java_name(&name))
    }

    /// Puts names to all frames; frames that are nowhere are left out of their traces.
    pub(crate) fn resolve(&self, strings: &StringTable) -> Stacks {
        let frames = self.frames.iter().map(|frame| self.spell(frame, strings));
        let place = |id: &u64| self.places.get(id).copied();
        let traces = self
            .traces
            .iter()
            .map(|(serial, ids)| (*serial, ids.iter().filter_map(place).collect()));
        Stacks {
            frames: frames.collect(),
            traces: traces.collect(),
        }
    }

    fn spell(&self, frame: &Frame, strings: &StringTable) -> StackFrame {
        let text = |id| strings.text(id).map(|text| text.into_owned());
        StackFrame {
            class: self
                .class_name(frame.class_serial, strings)
                .unwrap_or_default(),
            method: text(frame.method).unwrap_or_default(),
            source: text(frame.source),
            line: frame.line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(method: &str) -> StackFrame {
        StackFrame {
            class: "app.Main".to_owned(),
            method: method.to_owned(),
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
        let methods = |trace| stacks.frames(trace).map(|frame| frame.method.as_str());
        assert!(methods(7).eq(["leaf", "main"]));
        assert!(methods(8).eq(["main"]));
        assert!(stacks.is_empty(1) && stacks.is_empty(99));
        assert_eq!(stacks.depth_frames(7), 2);
    }
}
