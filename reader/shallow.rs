//! How large an object is, as far as a dump can tell.

/// Bytes of an object's header that are assumed; HPROF does not say.
const OBJECT_HEADER_BYTES: u64 = 16;

/// Multiple that sizes are rounded up to.
const ALIGNMENT_BYTES: u64 = 8;

/// Estimated bytes of an object whose fields or elements take `payload_bytes` in the file: a header
/// of 16 bytes more, rounded up to 8. References count as one identifier, so that a JVM
/// with compressed references uses less than this.
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
