//! Faults (broken rules) in a file: the first ones in full, all of them counted.

use std::collections::{BTreeMap, BinaryHeap};

use super::origin::Origin;
use super::rule::{Rule, Severity};
use crate::header::Header;

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Its severity for this check.
    pub severity: Severity,
    /// Offset in the (uncompressed) file.
    pub offset: u64,
    /// The broken rule.
    pub rule: Rule,
    /// One sentence: what was found.
    pub found: String,
}

/// How often one rule was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleTotal {
    /// The rule.
    pub rule: Rule,
    /// Its severity for this check.
    pub severity: Severity,
    /// Number of faults.
    pub count: u64,
    /// Offset of the first fault.
    pub first_offset: u64,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file's header.
    pub header: Header,
    /// The file's writer; the faults typical of it are not errors.
    pub origin: Origin,
    /// Bytes of the (uncompressed) file.
    pub bytes: u64,
    /// Objects, arrays and classes in it.
    pub objects: u64,
    /// The first faults, errors before notes, each by offset; as many as requested.
    pub faults: Vec<Fault>,
    /// Every broken rule, errors first, then by offset.
    pub totals: Vec<RuleTotal>,
    /// Whether parts of the file could not be decoded. Missing things, and references to them, were
    /// then not checked.
    pub incomplete: bool,
}

impl Report {
    /// Number of faults of this severity.
    pub fn count(&self, severity: Severity) -> u64 {
        let of_kind = self
            .totals
            .iter()
            .filter(|total| total.severity == severity);
        of_kind.map(|total| total.count).sum()
    }
}

/// Collects faults in bounded memory, whatever their number.
#[derive(Debug)]
pub(crate) struct Faults {
    most: usize,
    origin: Origin,
    strict: bool,
    /// The `most` first in order, as a heap with the last of them on top.
    lowest: BinaryHeap<Fault>,
    totals: BTreeMap<Rule, (u64, u64)>,
}

impl Faults {
    pub(crate) fn new(most: usize, origin: Origin, strict: bool) -> Self {
        Self {
            most,
            origin,
            strict,
            lowest: BinaryHeap::new(),
            totals: BTreeMap::new(),
        }
    }

    /// Counts a fault; `found` is only called for faults that are kept.
    pub(crate) fn add(&mut self, rule: Rule, offset: u64, found: impl FnOnce() -> String) {
        let total = self.totals.entry(rule).or_insert((0, offset));
        total.0 += 1;
        total.1 = total.1.min(offset);
        let severity = rule.severity(self.origin, self.strict);
        let full = self.lowest.len() >= self.most;
        let last = self.lowest.peek().map(|last| (last.severity, last.offset));
        if full && last.is_none_or(|last| last <= (severity, offset)) {
            return;
        }
        if full {
            self.lowest.pop();
        }
        self.lowest.push(Fault {
            severity,
            offset,
            rule,
            found: found(),
        });
    }

    /// The faults kept and the totals.
    pub(crate) fn finish(self) -> (Vec<Fault>, Vec<RuleTotal>) {
        let mut totals: Vec<_> = self
            .totals
            .into_iter()
            .map(|(rule, (count, first_offset))| RuleTotal {
                rule,
                severity: rule.severity(self.origin, self.strict),
                count,
                first_offset,
            })
            .collect();
        totals.sort_by_key(|total| (total.severity, total.first_offset));
        (self.lowest.into_sorted_vec(), totals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_offsets_are_kept_and_all_counted() {
        let mut faults = Faults::new(2, Origin::HotSpot, false);
        for offset in [50, 10, 40, 20, 30] {
            faults.add(Rule::DuplicateObject, offset, || offset.to_string());
        }
        faults.add(Rule::RootDangling, 5, String::new);
        let (kept, totals) = faults.finish();
        assert_eq!(
            kept.iter().map(|fault| fault.offset).collect::<Vec<_>>(),
            [10, 20]
        );
        assert_eq!((totals[0].count, totals[0].first_offset), (5, 10));
        assert_eq!(totals[1].severity, Severity::Note);
    }

    #[test]
    fn none_may_be_asked_for() {
        let mut faults = Faults::new(0, Origin::HotSpot, true);
        faults.add(Rule::RootZero, 1, String::new);
        assert!(faults.finish().0.is_empty());
    }
}
