//! Names in a line of text: true UTF-8 that never breaks a line, a column or quotes.
//!
//! The JVM allows nearly every character in a name, and a program gives its threads any name it
//! likes. Characters that would break a line become `\u` and four digits, as in Java source; a name
//! without them is written as it is. Bytes are modified or true UTF-8.

use std::fmt::{self, Formatter, Write};

use crate::mutf8::to_text;

/// A name in a line of columns, which readers split at blanks: no blanks, no control characters.
#[derive(Clone, Copy, Debug)]
pub struct Word<'a>(pub &'a [u8]);

impl fmt::Display for Word<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match plain(self.0) {
            Some(text) => out.write_str(text),
            None => write_word(&to_text(self.0), out),
        }
    }
}

/// A name at a place where blanks do no harm, such as a source file: no control characters.
#[derive(Clone, Copy, Debug)]
pub struct Phrase<'a>(pub &'a [u8]);

impl fmt::Display for Phrase<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write_escaped(&to_text(self.0), out, breaks_line)
    }
}

/// A name that stands between double quotes: these and the backslash are escaped by a backslash.
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'a>(pub &'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for piece in to_text(self.0).split_inclusive(['"', '\\']) {
            let plain = piece.strip_suffix(['"', '\\']).unwrap_or(piece);
            write_escaped(plain, out, breaks_line)?;
            if let Some(last @ ('"' | '\\')) = piece.chars().next_back() {
                write!(out, "\\{last}")?;
            }
        }
        Ok(())
    }
}

/// Writes text as a [`Word`].
pub(crate) fn write_word(text: &str, out: &mut impl Write) -> fmt::Result {
    write_escaped(text, out, |character| {
        character.is_whitespace() || breaks_line(character)
    })
}

/// The same as text if it is ASCII that needs no escape, as nearly all names are.
pub(crate) fn plain(bytes: &[u8]) -> Option<&str> {
    if !bytes.iter().all(u8::is_ascii_graphic) {
        return None;
    }
    std::str::from_utf8(bytes).ok()
}

/// Control characters, and the two separators that some readers take for the end of a line.
fn breaks_line(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

/// Writes in one piece what lies between two escapes.
fn write_escaped(text: &str, out: &mut impl Write, escaped: fn(char) -> bool) -> fmt::Result {
    for piece in text.split_inclusive(escaped) {
        let Some(last) = piece.chars().next_back().filter(|&last| escaped(last)) else {
            out.write_str(piece)?;
            continue;
        };
        out.write_str(piece.strip_suffix(last).unwrap_or(piece))?;
        write!(out, "\\u{:04X}", u32::from(last))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_names_are_unchanged() {
        for name in ["main", "a.b$C", "Gr\u{fc}\u{df}e\u{4e16}", "x\\y"] {
            assert_eq!(Word(name.as_bytes()).to_string(), name);
        }
        assert_eq!(
            Quoted(b"Finalizer thread-1").to_string(),
            "Finalizer thread-1"
        );
        assert_eq!(Phrase(b"<Unknown Source>").to_string(), "<Unknown Source>");
    }

    #[test]
    fn what_would_break_the_file_is_escaped() {
        assert_eq!(Word(b"two words\n").to_string(), "two\\u0020words\\u000A");
        assert_eq!(Word(&[b'a', 0xC0, 0x80]).to_string(), "a\\u0000");
        assert_eq!(
            Phrase("My File\u{2028}.java".as_bytes()).to_string(),
            "My File\\u2028.java"
        );
        assert_eq!(
            Quoted(b"\"a\" b\\\r\n\"\"").to_string(),
            r#"\"a\" b\\\u000D\u000A\"\""#
        );
        // A surrogate that stands alone was escaped before.
        assert_eq!(Word(&[0xED, 0xA0, 0x80]).to_string(), "\\uD800");
    }

    proptest! {
        #[test]
        fn any_bytes_stay_one_word(bytes in proptest::collection::vec(any::<u8>(), 1..200)) {
            let word = Word(&bytes).to_string();
            prop_assert_eq!(word.split_whitespace().count(), 1);
            prop_assert_eq!(word.lines().count(), 1);
        }

        #[test]
        fn a_quoted_name_ends_at_the_first_bare_quote(name in "[\"\\\\a\n ]{0,12}") {
            let line = format!("\"{}\", rest=\"\"", Quoted(name.as_bytes()));
            let mut plain = String::new();
            let mut characters = line.strip_prefix('"').unwrap().chars();
            while let Some(character) = characters.next().filter(|&c| c != '"') {
                plain.extend(match character {
                    '\\' => characters.next(),
                    other => Some(other),
                });
            }
            prop_assert_eq!(characters.as_str(), ", rest=\"\"");
            prop_assert_eq!(plain, name.replace('\n', "u000A"));
        }
    }
}
