//! Sites: objects and bytes by class and allocating stack.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

use format::{BasicType, ClassName};

use crate::budget::bytes_of;
use crate::names::Names;
use crate::stacks::StackRecords;
use format::record::{AllocSite, AllocSites};

/// [`AllocSites::flags`]: the record contains only changes since the one before it.
const INCREMENTAL: u16 = 1;

/// A number of objects and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Sum of their sizes.
    pub bytes: u64,
    /// Their number.
    pub objects: u64,
}

impl Amount {
    /// Adds another amount; the sum saturates at `u64::MAX`.
    pub(crate) fn add(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.objects = self.objects.saturating_add(other.objects);
    }

    /// The larger of each number.
    pub(crate) fn at_least(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.max(other.bytes),
            objects: self.objects.max(other.objects),
        }
    }
}

/// The objects of one class allocated by one stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Class in Java's form, for example `java.lang.String` or `int[]`.
    pub class: Rc<str>,
    /// Serial of their allocation trace, see [`crate::Stacks::frames`].
    pub trace: u32,
    /// The live objects.
    pub live: Amount,
    /// All objects ever allocated; `None` if the file does not contain the number.
    pub allocated: Option<Amount>,
}

/// All sites in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteTable {
    /// The sites by live bytes, then live objects, largest first; equal ones by class and trace.
    pub rows: Vec<Site>,
    /// Total of live objects; more than the sum of the rows if the writer omitted small sites.
    pub live: Amount,
    /// Total of allocated objects; `None` if the file does not contain the number.
    pub allocated: Option<Amount>,
    /// Live objects without a stack, which are in no row; only in a heap dump.
    pub stackless: Amount,
    /// Objects of the heap dump that carry a stack, of which the live ones are estimated; none if
    /// the profiler counted those.
    pub carried: Amount,
}

impl SiteTable {
    /// A table with these rows, sorted, and the larger of their sums and the writer's totals.
    pub(crate) fn new(mut rows: Vec<Site>, live: Amount, allocated: Option<Amount>) -> Self {
        rows.sort_by(|a, b| {
            let key = |site: &Site| (site.live.bytes, site.live.objects);
            let names = || compare_names(&a.class, &b.class).then(a.trace.cmp(&b.trace));
            key(b).cmp(&key(a)).then_with(names)
        });
        let (mut live_sum, mut allocated_sum) = (Amount::default(), Amount::default());
        for row in &rows {
            live_sum.add(row.live);
            allocated_sum.add(row.allocated.unwrap_or_default());
        }
        Self {
            rows,
            live: live.at_least(live_sum),
            allocated: allocated.map(|total| total.at_least(allocated_sum)),
            stackless: Amount::default(),
            carried: Amount::default(),
        }
    }
}

/// The key of an ALLOC SITES row: array type, class serial, trace.
type SiteKey = (u8, u32, u32);

/// The ALLOC SITES records of a file: each is a complete report, or the changes since the one
/// before.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteRecords {
    rows: HashMap<SiteKey, AllocSite>,
    live: Amount,
    allocated: Amount,
    seen: bool,
}

impl SiteRecords {
    /// Adds the next record: an incremental one replaces some rows, a complete one all rows.
    pub(crate) fn add(&mut self, record: &AllocSites) {
        self.seen = true;
        if record.flags & INCREMENTAL == 0 {
            self.rows.clear();
        }
        for site in &record.sites {
            let key = (site.array_type, site.class_serial, site.trace);
            self.rows.insert(key, *site);
        }
        self.live = amount(record.live_bytes, record.live_objects);
        self.allocated = Amount {
            bytes: record.allocated_bytes,
            objects: record.allocated_objects,
        };
    }

    /// Bytes of memory that the rows take, including later ones for names.
    pub(crate) fn held_bytes(&self) -> u64 {
        bytes_of::<(SiteKey, AllocSite, [Site; 2])>(self.rows.len())
    }

    /// The sites with names, or `None` if there was no record.
    pub(crate) fn finish(&self, stacks: &StackRecords, names: &mut Names<'_>) -> Option<SiteTable> {
        if !self.seen {
            return None;
        }
        let rows = self.rows.values().map(|site| Site {
            class: class_name(site, stacks, names),
            trace: site.trace,
            live: amount(site.live_bytes, site.live_objects),
            allocated: Some(amount(site.allocated_bytes, site.allocated_objects)),
        });
        Some(SiteTable::new(
            rows.collect(),
            self.live,
            Some(self.allocated),
        ))
    }
}

/// Compares names; a name is not compared with itself letter by letter.
pub(crate) fn compare_names(a: &Rc<str>, b: &Rc<str>) -> Ordering {
    if Rc::ptr_eq(a, b) {
        Ordering::Equal
    } else {
        a.cmp(b)
    }
}

fn amount(bytes: u32, objects: u32) -> Amount {
    Amount {
        bytes: bytes.into(),
        objects: objects.into(),
    }
}

/// The class by its serial; without one (for objects older than the profiler) by the type of the
/// array.
fn class_name(site: &AllocSite, stacks: &StackRecords, names: &mut Names<'_>) -> Rc<str> {
    if let Some(name) = stacks.class_name(site.class_serial, names) {
        return name;
    }
    match BasicType::from_code(site.array_type) {
        Some(kind) if kind != BasicType::Object => ClassName::array_of(kind).to_java().into(),
        _ => format!("class serial {}", site.class_serial).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strings::StringTable;

    fn site(class_serial: u32, live: u32) -> AllocSite {
        AllocSite {
            array_type: 8,
            class_serial,
            trace: 7,
            live_bytes: live,
            live_objects: 1,
            allocated_bytes: 2 * live,
            allocated_objects: 2,
        }
    }

    fn record(flags: u16, sites: Vec<AllocSite>) -> AllocSites {
        AllocSites {
            flags,
            cutoff: 0.0,
            live_bytes: 50,
            live_objects: 9,
            allocated_bytes: 0,
            allocated_objects: 0,
            sites,
        }
    }

    fn live_bytes(records: SiteRecords) -> Vec<u64> {
        let table = records.finish(
            &StackRecords::default(),
            &mut Names::new(&StringTable::default()),
        );
        let rows = table.unwrap().rows;
        rows.iter().map(|row| row.live.bytes).collect()
    }

    #[test]
    fn a_complete_report_replaces_the_one_before() {
        let mut records = SiteRecords::default();
        records.add(&record(0, vec![site(1, 10), site(2, 20)]));
        records.add(&record(0, vec![site(2, 30)]));
        assert_eq!(live_bytes(records), [30]);
    }

    #[test]
    fn an_incremental_report_replaces_its_rows_only() {
        let mut records = SiteRecords::default();
        records.add(&record(0, vec![site(1, 10), site(2, 20)]));
        records.add(&record(INCREMENTAL, vec![site(1, 40)]));
        assert_eq!(live_bytes(records), [40, 20]);
    }

    #[test]
    fn totals_are_the_writers_unless_its_rows_exceed_them() {
        let mut records = SiteRecords::default();
        records.add(&record(0, vec![site(0, 10)]));
        let table = records.finish(
            &StackRecords::default(),
            &mut Names::new(&StringTable::default()),
        );
        let table = table.unwrap();
        let amounts = (table.live, table.allocated.unwrap());
        let expected = [(50, 9), (20, 2)].map(|(bytes, objects)| Amount { bytes, objects });
        assert_eq!(amounts, (expected[0], expected[1]));
        assert_eq!(&*table.rows[0].class, "byte[]");
        let none = SiteRecords::default().finish(
            &StackRecords::default(),
            &mut Names::new(&StringTable::default()),
        );
        assert_eq!(none, None);
    }
}
