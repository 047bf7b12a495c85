//! What grew between two trees of places, and what only moved from one place to another.
//!
//! Objects of a class that are new at one place, while as many bytes of the class left another,
//! count as moved: first those below the same class as before, such as the nodes of a table that
//! another field holds now, then the rest. What is below new objects is new with them. So all that
//! grew, together, is more than the growth of the heap by no object that only moved.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::places::{Kept, Name, Places};

/// A place is listed if at least the hundredth part of all growth and of all moves is there.
const LISTED_SHARE: u64 = 100;

/// A place in both heaps.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    pub(super) field: Option<String>,
    pub(super) class: String,
    /// Number of listed places above it.
    pub(super) depth: usize,
    pub(super) before: Kept,
    pub(super) after: Kept,
    /// New bytes, here and below.
    pub(super) grown_bytes: u64,
    /// Bytes that came here, or to places below, as others lost them.
    pub(super) moved_bytes: u64,
    above: usize,
    /// Places of one class have one number.
    class_number: usize,
    /// Bytes that left this place.
    lost_bytes: u64,
}

/// The places where the heap grew or to which objects moved: a tree, each place before those below
/// it. It ends where growth spreads, or where places are no longer separated.
pub(super) fn changes(before: Places, after: Places) -> Vec<Change> {
    let mut all = both(before, after);
    cancel_unseparated(&mut all);
    set_off(&mut all);
    // Each place comes after the one above it.
    for at in (1..all.len()).rev() {
        if let Some((rest, [one, ..])) = all.split_at_mut_checked(at) {
            if let Some(above) = rest.get_mut(one.above) {
                above.grown_bytes = above.grown_bytes.saturating_add(one.grown_bytes);
                above.moved_bytes = above.moved_bytes.saturating_add(one.moved_bytes);
            }
        }
    }
    listed(&all)
}

/// The places of either heap, with what each won or lost without the places below it.
fn both(before: Places, after: Places) -> Vec<Change> {
    let mut all: Vec<Change> = Vec::new();
    let mut known: HashMap<(usize, Name), usize> = HashMap::new();
    let mut classes: HashMap<String, usize> = HashMap::new();
    for (places, is_after) in [(before.0, false), (after.0, true)] {
        let mut numbers: Vec<usize> = Vec::new();
        for place in places {
            let (above, name) = (numbers.get(place.above).copied().unwrap_or(0), place.name);
            let next = classes.len();
            let class_number = *classes.entry(name.class.clone()).or_insert(next);
            let at = *known.entry((above, name.clone())).or_insert(all.len());
            if at == all.len() {
                all.push(Change {
                    class: name.class,
                    above,
                    class_number,
                    ..Change::default()
                });
            }
            numbers.push(at);
            if let Some(change) = all.get_mut(at) {
                change.field = name.field.or(place.link);
                match is_after {
                    true => change.after = place.kept,
                    false => change.before = place.kept,
                }
            }
        }
    }
    for change in &mut all {
        let (before, after) = (change.before.own_bytes, change.after.own_bytes);
        change.grown_bytes = after.saturating_sub(before);
        change.lost_bytes = before.saturating_sub(after);
    }
    all
}

/// A place that is separated in one heap only was, or is, a part of the place above.
fn cancel_unseparated(all: &mut [Change]) {
    for at in 1..all.len() {
        let Some((rest, [one, ..])) = all.split_at_mut_checked(at) else {
            continue;
        };
        let Some(above) = rest.get_mut(one.above) else {
            continue;
        };
        if one.before.objects == 0 {
            cancel(&mut one.grown_bytes, &mut above.lost_bytes);
        }
        if one.after.objects == 0 {
            cancel(&mut one.lost_bytes, &mut above.grown_bytes);
        }
    }
}

/// Takes from both what they have in common; returns it.
fn cancel(one: &mut u64, other: &mut u64) -> u64 {
    let common = (*one).min(*other);
    *one -= common;
    *other -= common;
    common
}

/// Counts what a place won as moved, as far as other places lost it.
fn set_off(all: &mut [Change]) {
    let above_class = |all: &[Change], one: &Change| all.get(one.above).map(|it| it.class_number);
    let mut by_pair: HashMap<(Option<usize>, usize), u64> = HashMap::new();
    for one in all.iter() {
        let pair = (above_class(all, one), one.class_number);
        *by_pair.entry(pair).or_default() += one.lost_bytes;
    }
    for at in 0..all.len() {
        let pair = all
            .get(at)
            .map(|one| (above_class(all, one), one.class_number));
        let lost = pair.and_then(|pair| by_pair.get_mut(&pair));
        if let (Some(one), Some(lost)) = (all.get_mut(at), lost) {
            one.moved_bytes = cancel(&mut one.grown_bytes, lost);
        }
    }
    let mut by_class: HashMap<usize, u64> = HashMap::new();
    for ((_, class), lost) in by_pair {
        *by_class.entry(class).or_default() += lost;
    }
    for at in 1..all.len() {
        let above = all.get(at).and_then(|one| all.get(one.above)).cloned();
        let (Some(one), Some(above)) = (all.get_mut(at), above) else {
            continue;
        };
        let new_bytes = below_new(one.grown_bytes, &above, one.above);
        let mut open = one.grown_bytes - new_bytes;
        if let Some(lost) = by_class.get_mut(&one.class_number) {
            one.moved_bytes += cancel(&mut open, lost);
        }
        one.grown_bytes = new_bytes + open;
    }
}

/// The part of a growth that belongs to new objects of the place above.
fn below_new(grown_bytes: u64, above: &Change, number: usize) -> u64 {
    let won_bytes = above.grown_bytes.saturating_add(above.moved_bytes);
    if number == 0 || above.after.objects <= above.before.objects || won_bytes == 0 {
        return 0;
    }
    let part = u128::from(grown_bytes) * u128::from(above.grown_bytes) / u128::from(won_bytes);
    u64::try_from(part).unwrap_or(grown_bytes)
}

fn listed(all: &[Change]) -> Vec<Change> {
    let weight = |at: usize| {
        let one = all.get(at);
        one.map_or(0, |one| one.grown_bytes.saturating_add(one.moved_bytes))
    };
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    let least = (weight(0) / LISTED_SHARE).max(1);
    for (at, one) in all.iter().enumerate().skip(1) {
        if let Some(below) = below.get_mut(one.above).filter(|_| weight(at) >= least) {
            below.push(at);
        }
    }
    let (mut rows, mut open) = (Vec::new(), vec![(0, 0)]);
    while let Some((at, depth)) = open.pop() {
        let (Some(one), Some(mut below)) = (all.get(at), below.get(at).cloned()) else {
            continue;
        };
        if at != 0 {
            rows.push(Change {
                depth: depth - 1,
                ..one.clone()
            });
        }
        if at != 0 && !below.iter().any(|it| weight(*it) >= weight(at) / 2) {
            continue;
        }
        below.sort_by_key(|at| all.get(*at).map(order));
        // The last is taken first.
        open.extend(below.into_iter().rev().map(|it| (it, depth + 1)));
    }
    rows
}

/// What grew most comes first.
pub(super) fn order(one: &Change) -> (Reverse<u64>, Reverse<u64>) {
    (Reverse(one.grown_bytes), Reverse(one.moved_bytes))
}
