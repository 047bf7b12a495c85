//! Folded stacks: one line for each stack, `root;...;leaf weight`, as flame graph tools read them.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::{self, Write};
use std::rc::Rc;

use reader::{StackFrame, Stacks};

use crate::output::frame::{method, method_at_line};
use crate::output::{plain, shown};

/// The name for a stack without frames.
const NO_STACK: &str = "[no stack]";

/// The name for the callers that were cut off a stack.
const CUT: &str = "[...]";

/// Most frames kept of a stack, from the top; their callers become one frame `[...]`. HotSpot's
/// traces end here, too.
const FRAMES_MAX: usize = 1024;

/// Most frames of all stacks: 256 MiB. A profile's stacks share what the file contains once.
const FRAMES_SUM_MAX: usize = 1 << 26;

/// Largest sum of weights, because flame graph tools use floating-point numbers.
const TOTAL_MAX: u64 = 1 << 53;

/// Stacks, each with its weight.
#[derive(Debug, Default)]
pub(super) struct Folded {
    /// Stacks from the root, with each frame as its index in `names`.
    weights: HashMap<Box<[u32]>, u64>,
    names: Vec<Rc<str>>,
    places: HashMap<Rc<str>, u32>,
    /// Indexes of the frames' names, by the frames' addresses.
    by_frame: HashMap<usize, u32>,
    frames_sum: usize,
    /// Sum of the weights.
    pub(super) total: u64,
}

impl Folded {
    /// Adds the weight of a trace, with `leaf`, if any, on top of its frames, of which two lines of
    /// a method are two. Adds nothing for weight 0.
    ///
    /// The error is a sentence: the stacks would take too much memory.
    pub(super) fn add(
        &mut self,
        stacks: &Stacks,
        trace: u32,
        leaf: Option<&str>,
        weight: u64,
    ) -> Result<(), String> {
        let weight = weight.min(TOTAL_MAX - self.total);
        if weight == 0 {
            return Ok(());
        }
        self.total += weight;
        let stack = self.fold(stacks, trace, leaf);
        let depth = stack.len();
        let sum = self.weights.entry(stack).or_insert(0);
        // No weight is 0.
        if *sum == 0 {
            self.frames_sum += depth;
        }
        *sum += weight;
        if self.frames_sum > FRAMES_SUM_MAX {
            return Err(format!(
                "its stacks have more than {FRAMES_SUM_MAX} frames in all"
            ));
        }
        Ok(())
    }

    /// Number of different stacks.
    pub(super) fn len(&self) -> u64 {
        self.weights.len() as u64
    }

    /// Bytes of all lines.
    pub(super) fn line_bytes(&self) -> u64 {
        let frames = self.weights.keys().flatten();
        let names = frames.map(|place| self.name(*place).len() as u64 + 1);
        names.sum::<u64>() + 24 * self.len()
    }

    /// The lines, in the order of the stacks.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let mut stacks: Vec<_> = self.weights.iter().collect();
        stacks.sort_by(|a, b| self.compare(a.0, b.0));
        stacks.into_iter().map(|(stack, weight)| {
            let names: Vec<&str> = stack.iter().map(|place| self.name(*place)).collect();
            format!("{} {weight}", names.join(";"))
        })
    }

    /// Prints the lines.
    pub(super) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        for line in self.lines() {
            writeln!(to, "{line}")?;
        }
        Ok(())
    }

    fn name(&self, place: u32) -> &str {
        let name = self.names.get(place as usize);
        name.map_or(NO_STACK, AsRef::as_ref)
    }

    /// By name, frame by frame from the root.
    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        let differ = a.iter().zip(b).find(|(a, b)| a != b);
        differ.map_or(a.len().cmp(&b.len()), |(a, b)| {
            self.name(*a).cmp(self.name(*b))
        })
    }

    fn fold(&mut self, stacks: &Stacks, trace: u32, leaf: Option<&str>) -> Box<[u32]> {
        let mut stack = Vec::new();
        stack.extend(leaf.map(|leaf| self.place(leaf)));
        for frame in stacks.frames(trace).take(FRAMES_MAX) {
            stack.push(self.frame(frame, leaf.is_some()));
        }
        match stacks.depth_frames(trace) {
            0 => stack.push(self.place(NO_STACK)),
            depth if depth > FRAMES_MAX => stack.push(self.place(CUT)),
            _ => {}
        }
        stack.reverse();
        stack.into()
    }

    fn frame(&mut self, frame: &StackFrame, has_line: bool) -> u32 {
        let address = std::ptr::from_ref(frame) as usize;
        if let Some(place) = self.by_frame.get(&address) {
            return *place;
        }
        let place = match has_line {
            true => self.place(&method_at_line(frame)),
            false => self.place(&method(frame)),
        };
        self.by_frame.insert(address, place);
        place
    }

    fn place(&mut self, name: &str) -> u32 {
        let name = plain_name(name);
        if let Some(place) = self.places.get(name.as_str()) {
            return *place;
        }
        let place = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let name: Rc<str> = name.into();
        self.names.push(Rc::clone(&name));
        self.places.insert(name, place);
        place
    }
}

/// A name without characters that have a meaning in folded stacks, on a terminal or in XML, and cut
/// to the displayed length.
fn plain_name(name: &str) -> String {
    let name = shown(name).replace(';', ":");
    plain(&name.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_without_frames_has_a_name_and_weights_add_up() {
        let stacks = Stacks::default();
        let mut folded = Folded::default();
        for weight in [3, 0, 4] {
            folded.add(&stacks, 1, Some("byte[]"), weight).unwrap();
        }
        folded.add(&stacks, 1, None, 5).unwrap();
        let lines: Vec<String> = folded.lines().collect();
        assert_eq!(lines, ["[no stack] 5", "[no stack];byte[] 7"]);
        assert_eq!((folded.len(), folded.total), (2, 12));
    }

    #[test]
    fn sums_stay_in_their_bounds() {
        let mut folded = Folded::default();
        for _ in 0..2 {
            let added = folded.add(&Stacks::default(), 1, None, u64::MAX);
            added.unwrap();
        }
        assert_eq!(folded.total, TOTAL_MAX);
    }

    #[test]
    fn names_cannot_break_a_line() {
        assert_eq!(
            plain_name("a;b\nc\u{ffff}\u{202e}"),
            "a:b\u{fffd}c\u{fffd}\u{fffd}"
        );
    }
}
