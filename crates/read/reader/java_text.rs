//! The text of Java strings: which part of an array it is, and in which encoding.

use format::BasicType;

/// Where a string's characters are in its array, by the fields of `java.lang.String`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JavaText {
    /// Since JDK 9: 0 for Latin-1, 1 for UTF-16.
    coder: Option<u64>,
    /// Up to JDK 6, and on Android up to 5.1: the first character and the number of characters, as
    /// several strings may share an array.
    part: Option<(usize, usize)>,
}

impl JavaText {
    /// The text of a string with these fields; `field` returns a field's value by name.
    pub fn of(field: impl Fn(&str) -> Option<u64>) -> Self {
        // The values are signed numbers; a negative one in a hostile file is no place in an array.
        let number = |name| usize::try_from(field(name)?).ok();
        Self {
            coder: field("coder"),
            part: number("offset").zip(number("count")),
        }
    }

    /// The bytes of a `char[]` before the text.
    pub fn bytes_before(&self) -> usize {
        self.part.map_or(0, |(first, _)| first.saturating_mul(2))
    }

    /// The text in an array with these elements, of which the last ones may be missing. `None` if
    /// no string has such an array.
    pub fn decoded(&self, kind: BasicType, elements: &[u8]) -> Option<String> {
        let from = |order: fn([u8; 2]) -> u16| {
            let pairs = elements.chunks_exact(2);
            let units = pairs.filter_map(|pair| pair.first_chunk().copied().map(order));
            let (first, count) = self.part.unwrap_or((0, usize::MAX));
            let units: Vec<u16> = units.skip(first).take(count).collect();
            String::from_utf16_lossy(&units)
        };
        match (kind, self.coder) {
            (BasicType::Char, _) => Some(from(u16::from_be_bytes)),
            // HotSpot writes a char[] as chars, but a byte[] in the machine's byte order:
            // little-endian on all but a few.
            (BasicType::Byte, Some(1)) => Some(from(u16::from_le_bytes)),
            (BasicType::Byte, _) => Some(elements.iter().copied().map(char::from).collect()),
            _ => None,
        }
    }
}

/// The name of a thread whose name a redaction has hidden.
pub const REDACTED_NAME: &str = "(redacted)";

/// Whether a redaction has left only NULs or stars of a text.
pub fn is_redacted(text: &str) -> bool {
    let all = |left: u8| text.bytes().all(|byte| byte == left);
    !text.is_empty() && (all(0) || all(b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(fields: &[(&str, u64)], kind: BasicType, elements: &[u8]) -> Option<String> {
        let field = |name: &str| Some(fields.iter().find(|(field, _)| *field == name)?.1);
        JavaText::of(field).decoded(kind, elements)
    }

    #[test]
    fn each_jdk_has_its_encoding() {
        let chars = "mañana".encode_utf16();
        let (high_first, low_first): (Vec<_>, Vec<_>) = chars
            .map(|unit| (unit.to_be_bytes(), unit.to_le_bytes()))
            .unzip();
        let expected = Some("mañana".to_owned());
        assert_eq!(
            text(&[], BasicType::Char, high_first.as_flattened()),
            expected
        );
        let wide = text(&[("coder", 1)], BasicType::Byte, low_first.as_flattened());
        assert_eq!(wide, expected);
        let narrow = text(&[("coder", 0)], BasicType::Byte, b"ma\xF1ana");
        assert_eq!(narrow, expected);
        assert_eq!(text(&[], BasicType::Long, &[0; 8]), None);
    }

    #[test]
    fn a_shared_array_is_not_shown_beyond_the_string() {
        let shared: Vec<u8> = b"user=bob;password"
            .iter()
            .flat_map(|byte| [0, *byte])
            .collect();
        let part = |offset, count| {
            let fields = [("offset", offset), ("count", count)];
            text(&fields, BasicType::Char, &shared).unwrap()
        };
        assert_eq!(part(5, 3), "bob");
        assert_eq!(part(9, 100), "password");
        assert_eq!(part(0, 0), "");
        assert_eq!(part(1 << 40, 3), "");
        assert_eq!(part(0xFFFF_FFFF, 0xFFFF_FFFF), "");
    }

    #[test]
    fn what_a_redaction_leaves_is_known() {
        assert!(is_redacted("\0\0\0\0") && is_redacted("***"));
        for name in ["", "main", "a\0"] {
            assert!(!is_redacted(name));
        }
    }
}
