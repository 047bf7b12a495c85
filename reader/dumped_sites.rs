//! Sites counted in a heap dump whose objects have allocation traces.

use std::collections::HashMap;

use format::{BasicType, ClassName};

use crate::budget::entries;
use crate::classes::ClassTable;
use crate::heap_record::HeapRecord;
use crate::names::Names;
use crate::shallow::shallow_bytes;
use crate::sites::{Amount, Site, SiteTable};
use crate::stacks::Stacks;

/// The class of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// A class by the id of its class object.
    Class(u64),
    /// An array of this primitive type.
    Primitive(BasicType),
}

/// The objects of a dump by trace and class. Memory grows with the number of these pairs, not of objects.
#[derive(Debug, Default)]
pub(crate) struct DumpedSites {
    counts: HashMap<(u32, Kind), Amount>,
}

impl DumpedSites {
    /// Counts an object or array; ignores other sub-records.
    pub(crate) fn add(&mut self, record: &HeapRecord, id_bytes: u32) {
        let (trace, kind, payload_bytes) = match record {
            HeapRecord::Instance(instance) => (
                instance.trace,
                Kind::Class(instance.class),
                record.data_bytes(id_bytes),
            ),
            HeapRecord::ObjectArray(array) => (
                array.trace,
                Kind::Class(array.class),
                record.data_bytes(id_bytes),
            ),
            HeapRecord::PrimitiveArray(array) => {
                // Android may omit the elements in the file, but the array has them.
                let element_bytes = u64::from(array.kind.size_bytes(id_bytes));
                let payload_bytes = u64::from(array.length) * element_bytes;
                (array.trace, Kind::Primitive(array.kind), payload_bytes)
            }
            _ => return,
        };
        self.counts.entry((trace, kind)).or_default().add(Amount {
            bytes: shallow_bytes(payload_bytes),
            objects: 1,
        });
    }

    /// Bytes of memory that the counts take, including later ones for names.
    pub(crate) fn held_bytes(&self) -> u64 {
        entries(3 * self.counts.len())
    }

    /// The sites with names, or `None` if no object has a trace with frames.
    pub(crate) fn finish(
        self,
        stacks: &Stacks,
        classes: &ClassTable,
        names: &mut Names<'_>,
    ) -> Option<SiteTable> {
        let (mut live, mut stackless) = (Amount::default(), Amount::default());
        let mut rows = Vec::new();
        for ((trace, kind), amount) in self.counts {
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
