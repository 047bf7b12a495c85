//! Stacks: reconciles the stacks captured before the walk with the frames that the walk saw, and
//! those that the forked copy has read.
//!
//! JVMTI returns whole stacks only outside the walk, and the walk reports only frames with
//! references. The copy reads whole stacks where it knows how. Elsewhere, as the thread may have
//! run in between, a captured stack is shifted until it fits.

use jvm::method::MethodId;
use jvm::stack::StackFrame;
use std::collections::BTreeMap;

/// Frames that the walk reported, by depth from the top.
pub(in crate::heap) type SeenFrames = BTreeMap<u32, (MethodId, Option<i64>)>;

/// Most frames of one stack. A deeper one would be a fault of the JVM and is cut.
const MOST_FRAMES: usize = 1 << 20;

/// A stack that the copy has read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::heap) struct ReadStack {
    /// The frames, the top first; `None` for one that has no name.
    pub(in crate::heap) frames: Vec<Option<StackFrame>>,
    /// Whether these are all frames.
    pub(in crate::heap) is_whole: bool,
}

impl ReadStack {
    /// Whether nothing that the walk saw contradicts it.
    fn fits(&self, seen: &SeenFrames) -> bool {
        let is_same = |(&depth, &(method, _)): (&u32, &(MethodId, Option<i64>))| match self
            .frames
            .get(depth as usize)
        {
            Some(frame) => frame.is_none_or(|frame| frame.method == method),
            None => !self.is_whole,
        };
        seen.iter().all(is_same)
    }
}

/// The stack at the moment of the walk, the top first; `None` for a frame that nobody knows.
pub(in crate::heap) fn stack_of(
    captured: &[StackFrame],
    seen: &SeenFrames,
    read: Option<ReadStack>,
) -> Vec<Option<StackFrame>> {
    let Some(read) = read.filter(|read| read.fits(seen)) else {
        return agree(captured, seen);
    };
    if read.is_whole && read.frames.iter().all(Option::is_some) {
        return read.frames;
    }
    let named = (0..).zip(&read.frames);
    let named = named.filter_map(|(depth, frame)| Some((depth, (*frame)?)));
    let named = named.map(|(depth, frame)| (depth, (frame.method, Some(frame.location))));
    // In a whole stack, a method that only the walk saw, perhaps counted from another top, fills no
    // gap.
    let mut all = match read.is_whole {
        true => SeenFrames::new(),
        false => seen.clone(),
    };
    all.extend(named);
    let mut stack = agree(captured, &all);
    if read.is_whole {
        stack.resize(read.frames.len(), None);
        for (&depth, &(method, _)) in seen {
            if let Some(frame) = stack.get_mut(depth as usize) {
                *frame = frame.filter(|frame| frame.method == method);
            }
        }
    }
    stack
}

/// The stack according to what was captured and what the walk saw.
///
/// Frames that the walk saw stay at their depth. The captured frames are shifted by the number of
/// frames with which most of them agree. Captured frames above one that disagrees are dropped,
/// because the thread has left them.
fn agree(captured: &[StackFrame], seen: &SeenFrames) -> Vec<Option<StackFrame>> {
    let shift = best_shift(captured, seen);
    let at = |depth: usize| captured.get(depth.checked_add_signed(shift)?).copied();
    let deepest_lie = seen
        .iter()
        .rev()
        .map(|(&depth, &(method, _))| (depth as usize, method))
        .find(|&(depth, method)| at(depth).is_none_or(|frame| frame.method != method))
        .map(|(depth, _)| depth);
    let kept = captured.len().saturating_add_signed(-shift);
    let seen_depth = seen
        .last_key_value()
        .map_or(0, |(&depth, _)| depth as usize + 1);
    (0..kept.max(seen_depth).min(MOST_FRAMES))
        .map(|depth| {
            let trusted = deepest_lie.is_none_or(|lie| depth > lie);
            let own = at(depth).filter(|_| trusted);
            match u32::try_from(depth).ok().and_then(|depth| seen.get(&depth)) {
                Some(&(method, Some(location))) => Some(StackFrame { method, location }),
                Some(&(method, None)) => Some(
                    own.filter(|frame| frame.method == method)
                        .unwrap_or(StackFrame {
                            method,
                            location: -1,
                        }),
                ),
                None => own,
            }
        })
        .collect()
}

/// How many captured frames at the top the thread has left since (positive), or how many it has
/// entered (negative).
fn best_shift(captured: &[StackFrame], seen: &SeenFrames) -> isize {
    let agreeing = |shift: isize| {
        seen.iter()
            .filter(|(&depth, (method, _))| {
                let place = (depth as usize).checked_add_signed(shift);
                place
                    .and_then(|place| captured.get(place))
                    .is_some_and(|frame| frame.method == *method)
            })
            .count()
    };
    let all = seen.len();
    if captured.is_empty() || agreeing(0) == all {
        return 0;
    }
    let span = isize::try_from(captured.len().max(seen.len()).min(MOST_SHIFT)).unwrap_or(0);
    let mut best = (agreeing(0), 0);
    for distance in 1..=span {
        for shift in [distance, -distance] {
            let count = agreeing(shift);
            if count > best.0 {
                best = (count, shift);
            }
        }
        if best.0 == all {
            break;
        }
    }
    best.1
}

/// Largest shift that is tried: only milliseconds pass between capture and walk.
const MOST_SHIFT: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(method: usize, location: i64) -> StackFrame {
        StackFrame {
            method: MethodId::for_test(method),
            location,
        }
    }

    fn stack(methods: &[usize]) -> Vec<StackFrame> {
        methods.iter().map(|&method| frame(method, 0)).collect()
    }

    fn seen(frames: &[(u32, usize, i64)]) -> SeenFrames {
        frames
            .iter()
            .map(|&(depth, method, location)| (depth, (MethodId::for_test(method), Some(location))))
            .collect()
    }

    fn methods(stack: &[Option<StackFrame>]) -> Vec<Option<StackFrame>> {
        stack
            .iter()
            .map(|f| f.map(|f| StackFrame { location: 0, ..f }))
            .collect()
    }

    #[test]
    fn a_thread_that_stood_still_keeps_its_stack() {
        let captured = stack(&[1, 2, 3]);
        let same: Vec<_> = captured.iter().copied().map(Some).collect();
        assert_eq!(agree(&captured, &SeenFrames::new()), same);
        assert_eq!(agree(&captured, &seen(&[(1, 2, 0)])), same);
    }

    #[test]
    fn the_walks_location_is_the_newer_one() {
        let found = agree(&stack(&[1, 2]), &seen(&[(0, 1, 33)]));
        assert_eq!(found, [Some(frame(1, 33)), Some(frame(2, 0))]);
    }

    #[test]
    fn frames_that_were_left_are_dropped() {
        let found = agree(&stack(&[9, 8, 2, 3]), &seen(&[(0, 2, 0), (1, 3, 0)]));
        assert_eq!(methods(&found), [Some(frame(2, 0)), Some(frame(3, 0))]);
    }

    #[test]
    fn frames_that_were_entered_are_known_only_where_they_hold_something() {
        let found = agree(&stack(&[2, 3]), &seen(&[(1, 7, 4), (2, 2, 0), (3, 3, 0)]));
        assert_eq!(
            methods(&found),
            [
                None,
                Some(frame(7, 0)),
                Some(frame(2, 0)),
                Some(frame(3, 0))
            ]
        );
    }

    #[test]
    fn above_a_frame_that_disagrees_nothing_captured_is_believed() {
        let found = agree(
            &stack(&[1, 2, 3, 4]),
            &seen(&[(1, 9, 0), (2, 3, 0), (3, 4, 0)]),
        );
        assert_eq!(
            methods(&found),
            [
                None,
                Some(frame(9, 0)),
                Some(frame(3, 0)),
                Some(frame(4, 0))
            ]
        );
    }

    #[test]
    fn a_thread_that_was_not_captured_has_what_the_walk_saw() {
        let found = agree(&[], &seen(&[(2, 5, 1)]));
        assert_eq!(found, [None, None, Some(frame(5, 1))]);
    }

    fn read(methods: &[Option<usize>], is_whole: bool) -> ReadStack {
        let frames = methods.iter().map(|method| Some(frame((*method)?, 5)));
        ReadStack {
            frames: frames.collect(),
            is_whole,
        }
    }

    #[test]
    fn a_stack_that_was_read_is_the_stack() {
        let captured = stack(&[1, 2, 3]);
        let whole = read(&[Some(7), Some(2)], true);
        let found = stack_of(&captured, &seen(&[(1, 2, 0)]), Some(whole.clone()));
        assert_eq!(found, whole.frames);
        assert_eq!(stack_of(&captured, &seen(&[]), Some(read(&[], true))), []);
    }

    #[test]
    fn a_stack_that_contradicts_the_walk_is_not_believed() {
        let captured = stack(&[1, 2]);
        let as_captured: Vec<_> = captured.iter().copied().map(Some).collect();
        for (methods, is_whole) in [(&[Some(1), Some(7)][..], false), (&[Some(1)], true)] {
            let found = stack_of(
                &captured,
                &seen(&[(1, 2, 0)]),
                Some(read(methods, is_whole)),
            );
            assert_eq!(found, as_captured, "{methods:?}");
        }
    }

    #[test]
    fn what_was_not_read_is_taken_from_the_others() {
        // A frame without a name, which was captured, and one that nobody knows.
        let named = [None, Some(2), None, Some(3)];
        let found = stack_of(&stack(&[4, 2, 6, 3]), &seen(&[]), Some(read(&named, true)));
        assert_eq!(
            methods(&found),
            [4, 2, 6, 3].map(|method| Some(frame(method, 0)))
        );
        let found = stack_of(&stack(&[5]), &seen(&[]), Some(read(&named, true)));
        assert_eq!(methods(&found), named.map(|method| Some(frame(method?, 0))));
        // What the walk saw is not enough, and refutes what was captured.
        let told = seen(&[(0, 9, 0), (2, 6, 0)]);
        let found = stack_of(&stack(&[4, 2, 6, 3]), &told, Some(read(&named, true)));
        let expected = [None, Some(2), Some(6), Some(3)];
        assert_eq!(
            methods(&found),
            expected.map(|method| Some(frame(method?, 0)))
        );
        let found = stack_of(&[], &told, Some(read(&named, true)));
        assert_eq!(methods(&found), named.map(|method| Some(frame(method?, 0))));
        // The rest of a virtual thread, of which the walk saw a frame.
        let found = stack_of(&[], &seen(&[(2, 9, 0)]), Some(read(&[Some(1)], false)));
        assert_eq!(
            methods(&found),
            [Some(frame(1, 0)), None, Some(frame(9, 0))]
        );
    }

    #[test]
    fn a_method_without_a_location_takes_the_captured_one() {
        let mut told = SeenFrames::new();
        told.insert(0, (MethodId::for_test(1), None));
        assert_eq!(agree(&[frame(1, 12)], &told), [Some(frame(1, 12))]);
        assert_eq!(agree(&[frame(2, 12)], &told), [Some(frame(1, -1))]);
    }
}
