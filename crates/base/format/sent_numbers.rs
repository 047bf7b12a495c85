//! The number fields that a graph stream contains: sizes and addresses of memory outside of the
//! Java heap. No other value of a field is in it.

/// The class as in class files, and its fields.
const FIELDS: [(&[u8], &[&[u8]]); 8] = [
    (b"java/nio/Buffer", &[b"address", b"capacity"]),
    (
        b"sun/nio/ch/FileChannelImpl$Unmapper",
        &[b"address", b"size"],
    ),
    (
        b"jdk/internal/foreign/SegmentFactories$1",
        &[b"val$allocationBase", b"val$allocationSize"],
    ),
    (b"java/util/zip/Deflater$DeflaterZStreamRef", &[b"address"]),
    (b"java/util/zip/Inflater$InflaterZStreamRef", &[b"address"]),
    (b"java/util/zip/ZStreamRef", &[b"address"]),
    (b"com/sun/jna/Pointer", &[b"peer"]),
    (b"com/sun/jna/Memory", &[b"size"]),
];

/// Whether a graph stream contains this field of instances, if it is a number. The class's name is
/// as in class files.
pub fn is_sent(class: &[u8], field: &[u8]) -> bool {
    FIELDS
        .iter()
        .any(|(of, fields)| *of == class && fields.contains(&field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_listed_fields_are_sent() {
        assert!(is_sent(b"java/nio/Buffer", b"capacity"));
        assert!(!is_sent(b"java/nio/Buffer", b"position"));
        assert!(!is_sent(b"app/Buffer", b"capacity"));
    }
}
