//! Folded stacks: one line a stack, `root;...;leaf weight`, as flame graph tools read them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use reader::Stacks;

use crate::frame::method;

/// What stands for a stack without frames.
const NO_STACK: &str = "[no stack]";

/// Frames of a stack that are kept, from the top; what called them is one frame `[...]`. HotSpot's traces end here too.
const FRAMES_MAX: usize = 1024;

/// Greatest sum of weights: flame graph tools count in floating point numbers.
const TOTAL_MAX: u64 = 1 << 53;

/// Stacks, each with its weight.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    weights: BTreeMap<String, u64>,
    /// Sum of the weights.
    pub(crate) total: u64,
}

impl Folded {
    /// Adds the weight of a trace, with `leaf`, if any, on top of its frames. Nothing is added for weight 0.
    pub(crate) fn add(&mut self, stacks: &Stacks, trace: u32, leaf: Option<&str>, weight: u64) {
        let weight = weight.min(TOTAL_MAX - self.total);
        if weight == 0 {
            return;
        }
        self.total += weight;
        let stack = fold(stacks, trace, leaf);
        *self.weights.entry(stack).or_default() += weight;
    }

    /// Number of different stacks.
    pub(crate) fn len(&self) -> u64 {
        self.weights.len() as u64
    }

    /// The lines, in the order of the stacks.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let lines = self.weights.iter();
        lines.map(|(stack, weight)| format!("{stack} {weight}"))
    }

    /// Prints the lines.
    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        for line in self.lines() {
            writeln!(to, "{line}")?;
        }
        Ok(())
    }
}

fn fold(stacks: &Stacks, trace: u32, leaf: Option<&str>) -> String {
    let mut names: Vec<String> = Vec::new();
    names.extend(leaf.map(plain_name));
    let frames = stacks.frames(trace).take(FRAMES_MAX);
    names.extend(frames.map(|frame| plain_name(&method(frame))));
    match stacks.depth_frames(trace) {
        0 => names.push(NO_STACK.to_owned()),
        depth if depth > FRAMES_MAX => names.push("[...]".to_owned()),
        _ => {}
    }
    names.reverse();
    names.join(";")
}

/// A name without what has a meaning in folded stacks, on a terminal or in XML.
fn plain_name(name: &str) -> String {
    let plain = |c: char| match c {
        ';' => ':',
        '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    name.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_without_frames_has_a_name_and_weights_add_up() {
        let stacks = Stacks::default();
        let mut folded = Folded::default();
        for weight in [3, 0, 4] {
            folded.add(&stacks, 1, Some("byte[]"), weight);
        }
        folded.add(&stacks, 1, None, 5);
        let lines: Vec<String> = folded.lines().collect();
        assert_eq!(lines, ["[no stack] 5", "[no stack];byte[] 7"]);
        assert_eq!((folded.len(), folded.total), (2, 12));
    }

    #[test]
    fn sums_stay_in_their_bounds() {
        let mut folded = Folded::default();
        folded.add(&Stacks::default(), 1, None, u64::MAX);
        folded.add(&Stacks::default(), 1, None, u64::MAX);
        assert_eq!(folded.total, TOTAL_MAX);
    }

    #[test]
    fn names_cannot_break_a_line() {
        assert_eq!(plain_name("a;b\nc\u{ffff}"), "a:b\u{fffd}c\u{fffd}");
    }
}
