//! The lengths of the sub-records of a heap dump. No sub-record has a length field, so readers
//! compute where the next one starts.

/// Bytes of a tag, and of the number of a basic type.
pub const TAG_BYTES: u32 = 1;
/// Bytes of a serial, a length in elements or a size.
pub const NUMBER_BYTES: u32 = 4;
/// Bytes of a count of constants, static fields or fields, and of an index of a constant.
pub const COUNT_BYTES: u32 = 2;

/// Bytes of an INSTANCE DUMP before the values of its fields: tag, object, trace, class, bytes that
/// follow.
pub const fn instance_head_bytes(id_bytes: u32) -> u32 {
    TAG_BYTES + 2 * id_bytes + 2 * NUMBER_BYTES
}

/// Bytes of an OBJECT ARRAY DUMP before its elements: tag, object, trace, length, class.
pub const fn object_array_head_bytes(id_bytes: u32) -> u32 {
    TAG_BYTES + 2 * id_bytes + 2 * NUMBER_BYTES
}

/// Bytes of a PRIMITIVE ARRAY DUMP before its elements: tag, object, trace, length, type.
pub const fn primitive_array_head_bytes(id_bytes: u32) -> u32 {
    TAG_BYTES + id_bytes + 2 * NUMBER_BYTES + TAG_BYTES
}

/// Bytes of a CLASS DUMP before the count of its constants: tag, class, trace, superclass, loader,
/// signers, protection domain, two ids without a meaning, bytes of an instance.
pub const fn class_head_bytes(id_bytes: u32) -> u32 {
    TAG_BYTES + 7 * id_bytes + 2 * NUMBER_BYTES
}

/// Bytes of a HEAP DUMP INFO of Android: tag, number of the heap, id of its name.
pub const fn heap_info_bytes(id_bytes: u32) -> u32 {
    TAG_BYTES + NUMBER_BYTES + id_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_format() {
        let of = |id_bytes| {
            [
                instance_head_bytes(id_bytes),
                object_array_head_bytes(id_bytes),
                primitive_array_head_bytes(id_bytes),
                class_head_bytes(id_bytes),
                heap_info_bytes(id_bytes),
            ]
        };
        assert_eq!(of(4), [17, 17, 14, 37, 9]);
        assert_eq!(of(8), [25, 25, 18, 65, 13]);
    }
}
