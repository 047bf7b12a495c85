//! Sites counted in a heap dump whose objects have allocation traces.

use format::{ClassName, JvmFacts};

use crate::classes::ClassTable;
use crate::heap_record::HeapRecord;
use crate::names::Names;
use crate::object_sums::{held_bytes, Kind, Sizing, Sums};
use crate::sites::{Amount, Site, SiteTable};
use crate::stacks::Stacks;

/// The objects of a dump by trace and class. Memory grows with the number of these pairs, not of
/// objects.
#[derive(Debug)]
pub(crate) struct DumpedSites {
    sums: Sums<(u32, Kind)>,
    sizing: Sizing,
}

impl DumpedSites {
    /// No objects yet, in a file with ids of this size.
    pub(crate) fn new(id_bytes: u32) -> Self {
        Self {
            sums: Sums::default(),
            sizing: Sizing::new(id_bytes),
        }
    }

    /// Starts a heap; the records before it may contain facts about the JVM.
    pub(crate) fn begin_heap(&mut self, facts: &JvmFacts) {
        self.sizing.begin_heap(facts);
    }

    /// Counts an object or array; ignores other sub-records.
    pub(crate) fn add(&mut self, record: &HeapRecord) {
        let trace = match record {
            HeapRecord::Instance(instance) => instance.trace,
            HeapRecord::ObjectArray(array) => array.trace,
            HeapRecord::PrimitiveArray(array) => array.trace,
            _ => 0,
        };
        if let Some(kind) = self.sizing.kind(record) {
            let sum = self.sums.entry((trace, kind)).or_default();
            sum.count(record, &self.sizing);
        }
    }

    /// Bytes of memory that the counts take, including later ones for names.
    pub(crate) fn held_bytes(&self) -> u64 {
        held_bytes(&self.sums)
    }

    /// The sites with names, or `None` if no object has a trace with frames.
    pub(crate) fn finish(
        self,
        stacks: &Stacks,
        (classes, facts): (&ClassTable, &JvmFacts),
        names: &mut Names<'_>,
    ) -> Option<SiteTable> {
        let (mut live, mut stackless) = (Amount::default(), Amount::default());
        let mut rows = Vec::new();
        for ((trace, kind), sum) in self.sums {
            let amount = Amount {
                bytes: self.sizing.bytes(kind, sum, classes, facts),
                objects: sum.objects,
            };
            if stacks.is_empty(trace) {
                stackless.add(amount);
                continue;
            }
            live.add(amount);
            rows.push(Site {
                class: match kind {
                    Kind::Class(id) => classes.shared_name(id, names),
                    Kind::Primitive(kind) => ClassName::array_of(kind).to_java().into(),
                },
                trace,
                live: amount,
                allocated: None,
            });
        }
        if rows.is_empty() {
            return None;
        }
        Some(SiteTable {
            stackless,
            ..SiteTable::new(rows, live, None)
        })
    }
}
