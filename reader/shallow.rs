//! The size of an object, as far as a dump shows it.

/// Assumed size of an object's header; HPROF does not contain it.
const OBJECT_HEADER_BYTES: u64 = 16;

/// Sizes are rounded up to a multiple of this.
const ALIGNMENT_BYTES: u64 = 8;

/// Estimated bytes of an object whose fields or elements take `payload_bytes` in the file: adds a
/// header of 16 bytes, and rounds up to 8. A reference counts as one identifier, so a JVM with
/// compressed references uses less than this.
pub fn shallow_bytes(payload_bytes: u64) -> u64 {
    payload_bytes
        .checked_add(OBJECT_HEADER_BYTES)
        .and_then(|bytes| bytes.checked_next_multiple_of(ALIGNMENT_BYTES))
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_are_rounded_up() {
        assert_eq!(super::shallow_bytes(0), 16);
        assert_eq!(super::shallow_bytes(1), 24);
        assert_eq!(super::shallow_bytes(8), 24);
        assert_eq!(super::shallow_bytes(u64::MAX - 17), u64::MAX);
    }
}
