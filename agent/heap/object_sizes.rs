//! The sizes of objects in this JVM's heap, measured by making some.

use format::{BasicType, ObjectSizes};
use jvm::env::Env;
use jvm::jni::Jni;
use jvm::object::Object;
use std::sync::OnceLock;

/// More than HotSpot's largest `ObjectAlignmentInBytes`, which is 256.
const MOST_BYTES: usize = 512;
/// References in the array that shows their width: enough that the total is aligned for any width.
const REFERENCES: usize = 512;
/// The longest header of an object: two words.
const MOST_HEADER_BYTES: u64 = 16;
/// The element count, which an array has between its header and its elements.
const LENGTH_BYTES: u64 = 4;

/// What was measured.
static SIZES: OnceLock<ObjectSizes> = OnceLock::new();

/// The sizes in this JVM, measured once; `None` if it cannot make arrays of a few bytes.
///
/// Leaves local references in the frame.
pub(super) fn measure(env: &Env, jni: &Jni<'_>) -> Option<ObjectSizes> {
    if let Some(sizes) = SIZES.get() {
        return Some(*sizes);
    }
    let size = |array: &Object<'_>| env.object_size_bytes(array).ok();
    let bytes = |count: usize| {
        let array = jni.new_primitive_array(BasicType::Byte, &vec![0; count])?;
        size(&array)
    };
    let references = |count: usize| {
        let element = jni.new_primitive_array(BasicType::Byte, &[])?;
        let class = jni.class_of(&element)?;
        size(&jni.new_object_array(&class, &vec![None; count])?)
    };
    let (sizes, at) = (bytes(0)?, references(0)?);
    let grown = (1..=MOST_BYTES).find_map(|count| {
        let grown = bytes(count)?;
        (grown > sizes).then_some((count, grown))
    });
    let sizes = explain(sizes, grown?, at, references(REFERENCES)?)?;
    Some(*SIZES.get_or_init(|| sizes))
}

/// Interprets the measured sizes: of an array of no bytes, of the first larger byte array and its
/// length, and of arrays of no references and of [`REFERENCES`].
fn explain(
    empty_bytes: u64,
    (bytes, grown_bytes): (usize, u64),
    empty_references: u64,
    many_references: u64,
) -> Option<ObjectSizes> {
    let reference_bytes = many_references.checked_sub(empty_references)? / REFERENCES as u64;
    // One byte less would still have had the smaller size.
    let array_header_bytes = (empty_bytes + 1).checked_sub(bytes as u64)?;
    Some(ObjectSizes {
        // The rest is padding before the elements, which up to JDK 21 start at a multiple of 8.
        header_bytes: array_header_bytes
            .checked_sub(LENGTH_BYTES)?
            .min(MOST_HEADER_BYTES),
        array_header_bytes: array_header_bytes.checked_next_multiple_of(reference_bytes)?,
        value_header_bytes: array_header_bytes,
        reference_bytes,
        alignment_bytes: grown_bytes.checked_sub(empty_bytes)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes measured in a JVM with these properties. The first two are the bytes before the
    /// elements of byte and of reference arrays.
    fn found(
        before_bytes: u64,
        before_references: u64,
        reference_bytes: u64,
        alignment: u64,
    ) -> ObjectSizes {
        let aligned = |bytes: u64| bytes.next_multiple_of(alignment);
        let of_bytes = |count: usize| aligned(before_bytes + count as u64);
        let of_references = |count| aligned(before_references + count * reference_bytes);
        let grown = (1..).find(|&count| of_bytes(count) > of_bytes(0)).unwrap();
        explain(
            of_bytes(0),
            (grown, of_bytes(grown)),
            of_references(0),
            of_references(REFERENCES as u64),
        )
        .unwrap()
    }

    #[test]
    fn every_layout_of_hotspot_is_found() {
        for (before_bytes, before_references, header_bytes, reference_bytes, alignment_bytes) in [
            // Compressed class pointers, with compressed and with wide references.
            (16, 16, 12, 4, 8),
            (16, 16, 12, 8, 8),
            (16, 16, 12, 4, 16),
            // Compact headers.
            (12, 12, 8, 4, 8),
            (12, 16, 8, 8, 8),
            // Wide class pointers, up to 21 and later.
            (24, 24, 16, 8, 8),
            (24, 24, 16, 4, 8),
            (20, 24, 16, 8, 8),
            (20, 20, 16, 4, 32),
        ] {
            let expected = ObjectSizes {
                header_bytes,
                array_header_bytes: before_references,
                value_header_bytes: before_bytes,
                reference_bytes,
                alignment_bytes,
            };
            let found = found(
                before_bytes,
                before_references,
                reference_bytes,
                alignment_bytes,
            );
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn nonsense_is_no_answer() {
        assert_eq!(explain(0, (9, 8), 16, 16), None);
        assert_eq!(explain(16, (1, 24), 16, 15), None);
    }
}
