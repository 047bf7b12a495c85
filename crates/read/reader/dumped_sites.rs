//! Sites counted in a heap dump whose objects have allocation traces.

use format::{BasicType, ClassName, JvmFacts};

use crate::directory::Directory;
use crate::live_sites::Counted;
use crate::names::Names;
use crate::object_sums::{held_bytes, Kind, Sizing, Sums};
use crate::sites::{Amount, SiteTable};
use crate::stacks::Stacks;
use format::sub_record::HeapRecord;

/// The objects of a dump by trace, class and size. Memory grows with the number of these, not of
/// objects.
#[derive(Debug)]
pub(crate) struct DumpedSites {
    /// The number of bits of an array's size is the last.
    sums: Sums<(u32, Kind, u32)>,
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
        let array_bits = |length: u32, kind: BasicType| {
            let bytes = u64::from(length) * u64::from(kind.size_bytes(4)) + 16;
            u64::BITS - bytes.leading_zeros()
        };
        let (trace, bits) = match record {
            HeapRecord::Instance(instance) => (instance.trace, 0),
            HeapRecord::ObjectArray(array) => {
                (array.trace, array_bits(array.length, BasicType::Object))
            }
            HeapRecord::PrimitiveArray(array) | HeapRecord::NoData(array) => {
                (array.trace, array_bits(array.length, array.kind))
            }
            _ => (0, 0),
        };
        if let Some(kind) = self.sizing.kind(record) {
            let sum = self.sums.entry((trace, kind, bits)).or_default();
            sum.count(record, &self.sizing);
        }
    }

    /// Bytes of memory that the counts take, including later ones for names.
    pub(crate) fn held_bytes(&self) -> u64 {
        held_bytes(&self.sums)
    }

    /// The sites with names, or `None` if no object has a trace with frames. `recorded` is what the
    /// profiler counted.
    pub(crate) fn finish(
        self,
        stacks: &Stacks,
        directory: &Directory,
        names: &mut Names<'_>,
        recorded: Option<&SiteTable>,
    ) -> Option<SiteTable> {
        let counted = self.sums.iter().map(|((trace, kind, bits), sum)| {
            let (class, number) = match kind {
                Kind::Class(id) => (directory.classes.shared_name(*id, names), *id),
                Kind::Primitive(kind) => (
                    ClassName::array_of(*kind).to_java().into(),
                    // No class has such an id.
                    u64::MAX - u64::from(kind.code()),
                ),
            };
            Counted {
                class,
                stratum: (number, *bits),
                trace: (!stacks.is_empty(*trace)).then_some(*trace),
                amount: Amount {
                    bytes: self.sizing.bytes(*kind, *sum, directory),
                    objects: sum.objects,
                },
            }
        });
        SiteTable::of_heap(&counted.collect::<Vec<_>>(), recorded)
    }
}
