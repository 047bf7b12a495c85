//! Converts modified UTF-8, in which the JVM returns names, to true UTF-8, which readers decode.
//!
//! Modified UTF-8 (JVM specification, 4.4.7) writes NUL as `C0 80` and a character beyond U+FFFF as
//! two surrogates of three bytes each; a surrogate may also stand alone.

use std::borrow::Cow;

/// The longest text returned, in bytes: some readers fail on a UTF8 record of 32 KiB or more,
/// including the record's header and id.
pub const MAX_TEXT_BYTES: usize = 32 * 1024 - 32;

/// The same text in true UTF-8, at most [`MAX_TEXT_BYTES`] long and cut between characters.
///
/// A surrogate that stands alone becomes its escape, the six characters `\uD800`, so that two names
/// that differ only there still differ. A byte that is no modified UTF-8 becomes U+FFFD. Never
/// fails; plain ASCII is returned as it is, without a copy.
pub fn to_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.is_ascii() {
        return Cow::Borrowed(bytes.get(..MAX_TEXT_BYTES).unwrap_or(bytes));
    }
    Cow::Owned(decode(bytes, MAX_TEXT_BYTES).into_bytes())
}

/// The same text, not cut. Bytes that are true UTF-8 are returned as they are: some writers of
/// dumps use it.
pub fn to_text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(decode(bytes, usize::MAX)),
    }
}

/// The modified UTF-8 of UTF-16 units: each unit is encoded separately, and 0 in two bytes.
#[allow(clippy::cast_possible_truncation)] // each byte takes seven bits or fewer
pub fn from_units(units: impl IntoIterator<Item = u16>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for unit in units {
        let low = 0x80 | (unit & 0x3F) as u8;
        match unit {
            1..=0x7F => bytes.push(unit as u8),
            0 | 0x80..=0x7FF => bytes.extend([0xC0 | (unit >> 6) as u8, low]),
            _ => {
                let middle = 0x80 | ((unit >> 6) & 0x3F) as u8;
                bytes.extend([0xE0 | (unit >> 12) as u8, middle, low]);
            }
        }
    }
    bytes
}

/// The characters that fit into `most_bytes`.
fn decode(bytes: &[u8], most_bytes: usize) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((piece, after)) = next_piece(rest) {
        rest = after;
        let before = text.len();
        match piece {
            Piece::Char(character) => text.push(character),
            Piece::LoneSurrogate(unit) => text.push_str(&format!("\\u{unit:04X}")),
        }
        if text.len() > most_bytes {
            text.truncate(before);
            break;
        }
    }
    text
}

enum Piece {
    Char(char),
    LoneSurrogate(u16),
}

/// The first character and the bytes after it; `None` at the end.
fn next_piece(bytes: &[u8]) -> Option<(Piece, &[u8])> {
    let (&first, after_one) = bytes.split_first()?;
    if first.is_ascii() {
        return Some((Piece::Char(char::from(first)), after_one));
    }
    let Some((unit, after)) = next_unit(bytes) else {
        return Some((Piece::Char(char::REPLACEMENT_CHARACTER), after_one));
    };
    if let Some(character) = char::from_u32(u32::from(unit)) {
        return Some((Piece::Char(character), after));
    }
    if let Some((low, after_pair)) = next_unit(after) {
        if let Some(Ok(character)) = char::decode_utf16([unit, low]).next() {
            return Some((Piece::Char(character), after_pair));
        }
    }
    Some((Piece::LoneSurrogate(unit), after))
}

/// The UTF-16 unit that two or three bytes stand for, in its shortest form or as `C0 80`.
fn next_unit(bytes: &[u8]) -> Option<(u16, &[u8])> {
    match *bytes {
        [0xC0, 0x80, ref after @ ..] => Some((0, after)),
        [a @ 0xC2..=0xDF, b @ 0x80..=0xBF, ref after @ ..] => {
            Some(((low_bits(a, 0x1F) << 6) | low_bits(b, 0x3F), after))
        }
        [a @ 0xE0..=0xEF, b @ 0x80..=0xBF, c @ 0x80..=0xBF, ref after @ ..] => {
            let unit = (low_bits(a, 0x0F) << 12) | (low_bits(b, 0x3F) << 6) | low_bits(c, 0x3F);
            (unit >= 0x800).then_some((unit, after))
        }
        _ => None,
    }
}

fn low_bits(byte: u8, mask: u8) -> u16 {
    u16::from(byte & mask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(bytes: &[u8]) -> String {
        String::from_utf8(to_utf8(bytes).into_owned()).unwrap()
    }

    #[test]
    fn nul_and_pairs_become_characters() {
        assert_eq!(text(&[b'a', 0xC0, 0x80, b'b']), "a\0b");
        assert_eq!(text(&[0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80]), "\u{1F600}");
        assert_eq!(
            text("Gr\u{fc}\u{df}e \u{4e16}".as_bytes()),
            "Gr\u{fc}\u{df}e \u{4e16}"
        );
    }

    #[test]
    fn lone_surrogates_stay_distinct() {
        assert_eq!(text(&[0xED, 0xA0, 0x80]), "\\uD800");
        assert_eq!(text(&[0xED, 0xB0, 0x80, b'x']), "\\uDC00x");
        // Two high ones, then a pair: only the last two belong together.
        let bytes = [0xED, 0xA0, 0xBD, 0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80];
        assert_eq!(text(&bytes), "\\uD83D\u{1F600}");
    }

    #[test]
    fn what_is_malformed_is_replaced() {
        assert_eq!(text(&[b'a', 0xFF, b'b']), "a\u{FFFD}b");
        assert_eq!(text(&[0xE4, 0xB8]), "\u{FFFD}\u{FFFD}");
        assert_eq!(text(&[0xC1, 0x81]), "\u{FFFD}\u{FFFD}");
        assert_eq!(text(&[0xE0, 0x80, 0x80]), "\u{FFFD}".repeat(3));
    }

    #[test]
    fn true_utf8_stays_and_nothing_is_cut() {
        assert_eq!(to_text("a\u{1F600}".as_bytes()), "a\u{1F600}");
        assert_eq!(to_text(&[0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80]), "\u{1F600}");
        assert_eq!(to_text(&[0xC0, 0x80].repeat(40_000)).len(), 40_000);
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(to_utf8(&[b'a'; 40_000]).len(), 32_736);
        let long = "\u{4e16}".repeat(20_000);
        let cut = text(long.as_bytes());
        assert!(cut.len() <= MAX_TEXT_BYTES && cut.len() > MAX_TEXT_BYTES - 3);
        assert!(long.starts_with(&cut));
    }

    #[test]
    fn units_become_modified_utf8() {
        let units: Vec<u16> = "aé€😀\0".encode_utf16().collect();
        assert_eq!(
            from_units(units),
            b"a\xC3\xA9\xE2\x82\xAC\xED\xA0\xBD\xED\xB8\x80\xC0\x80"
        );
    }

    /// Modified UTF-8 of any UTF-16, written out independently of the code above.
    fn modified(units: &[u16]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for &unit in units {
            let [high, low] = unit.to_be_bytes();
            match unit {
                1..=0x7F => bytes.push(low),
                0 | 0x80..=0x7FF => {
                    bytes.extend([0xC0 | (high << 2) | (low >> 6), 0x80 | (low & 0x3F)]);
                }
                _ => bytes.extend([
                    0xE0 | (high >> 4),
                    0x80 | ((high & 0x0F) << 2) | (low >> 6),
                    0x80 | (low & 0x3F),
                ]),
            }
        }
        bytes
    }

    proptest! {
        #[test]
        fn any_bytes_become_utf8(bytes: Vec<u8>) {
            prop_assert!(std::str::from_utf8(&to_utf8(&bytes)).is_ok());
        }

        #[test]
        fn ascii_is_unchanged(plain in "[\\x00-\\x7F]*") {
            prop_assert_eq!(&*to_utf8(plain.as_bytes()), plain.as_bytes());
        }

        #[test]
        fn well_formed_text_survives(plain: String) {
            let units: Vec<u16> = plain.encode_utf16().collect();
            prop_assert_eq!(text(&modified(&units)), plain);
        }

        #[test]
        fn any_utf16_keeps_its_characters(units: Vec<u16>) {
            let expected: String = char::decode_utf16(units.iter().copied())
                .map(|unit| match unit {
                    Ok(character) => character.to_string(),
                    Err(lone) => format!("\\u{:04X}", lone.unpaired_surrogate()),
                })
                .collect();
            prop_assert_eq!(text(&modified(&units)), expected);
        }
    }
}
