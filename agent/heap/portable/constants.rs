//! What constants were resolved to: one array a class, as HotSpot keeps them.
//!
//! JVMTI tells of each constant, not of the array that HotSpot keeps them in. Readers skip the constant pool of a CLASS DUMP, so without a
//! reference of the class's the objects would look unreachable; one field for each would make the class look large.

use super::super::catalogue::Catalogue;
use super::super::error::DumpError;
use super::class_values::StaticValue;
use super::walk::Walked;
use std::collections::HashSet;
use tables::{ObjectId, ObjectIndex, Tables, TraceId};
use writer::heap_record::ObjectArrayHeader;

/// The class of the arrays.
const ARRAY: &[u8] = b"[Ljava/lang/Object;";

impl Walked {
    /// Writes for each class that has such constants an array of them, which is an object that the JVM does not have. Not among
    /// them are other classes, which a class does not hold by its constants.
    pub(in super::super) fn write_constants(
        &mut self,
        catalogue: &Catalogue<'_>,
        tables: &Tables,
    ) -> Result<(), DumpError> {
        let class = catalogue.bootstrap_class_id(ARRAY, tables);
        let Some(class) = class.and_then(|class| catalogue.mirror(class)) else {
            return Err(DumpError::Missing("the class of arrays of objects"));
        };
        let mut mirrors: Vec<ObjectIndex> = self.class_values.keys().copied().collect();
        mirrors.sort_unstable();
        for mirror in mirrors {
            let Some(values) = self.class_values.get(&mirror) else {
                continue;
            };
            let mut met = HashSet::new();
            let constants = values.constant_pool.iter().map(|&(_, target)| target);
            let constants: Vec<ObjectIndex> = constants
                .filter(|&target| catalogue.class_of_mirror(target).is_none() && met.insert(target))
                .collect();
            if !constants.is_empty() {
                let array = self.write_array(class, &constants)?;
                if let Some(values) = self.class_values.get_mut(&mirror) {
                    values.constants = Some(array);
                }
            }
        }
        Ok(())
    }

    fn write_array(
        &mut self,
        class: ObjectIndex,
        elements: &[ObjectIndex],
    ) -> Result<ObjectIndex, DumpError> {
        let length = u32::try_from(elements.len()).map_err(|_| DumpError::TableFull)?;
        // With the widest header and references: readers that guess from gaps how wide they are must not be misled.
        let size_bytes = 24 + 8 * u64::from(length);
        let array = self.objects.push(size_bytes, Some(class), Some(length))?;
        self.objects.mark_written(array);
        let id = |index: ObjectIndex| self.objects.id(index);
        let (Some(object), Some(class)) = (id(array), id(class)) else {
            return Err(DumpError::Layout("an array"));
        };
        let bytes: Vec<u8> = elements
            .iter()
            .flat_map(|&element| id(element).map_or(0, ObjectId::get).to_be_bytes())
            .collect();
        let header = ObjectArrayHeader {
            object,
            trace: TraceId::EMPTY,
            class,
        };
        self.segments.object_array(&header, &bytes)?;
        Ok(array)
    }

    /// Tells the values of static fields.
    pub(in super::super) fn is_static(&self) -> impl Fn(ObjectIndex) -> bool + '_ {
        let values = self.class_values.values();
        let statics = values.flat_map(|values| values.statics.iter());
        let held: HashSet<ObjectIndex> = statics
            .filter_map(|&(_, value)| match value {
                StaticValue::Reference(target) => Some(target),
                StaticValue::Primitive(_) => None,
            })
            .collect();
        move |object| held.contains(&object)
    }
}
