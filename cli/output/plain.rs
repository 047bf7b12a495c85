//! Text from a file or from a JVM, made safe to print on a terminal.

use std::borrow::Cow;

/// Most characters printed of one name; JSON has all.
pub(crate) const SHOWN_CHARS: usize = 1000;

/// The text, with control characters and characters that change the text's direction replaced: a
/// hostile file must neither move the cursor nor reorder neighbouring text.
pub(crate) fn plain(text: &str) -> String {
    text.replace(is_harmful, "\u{fffd}")
}

/// Whether a character controls a terminal instead of being displayed.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061C}'
                | '\u{200E}'
                | '\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2066}'..='\u{2069}'
        )
}

/// The text as safe as [`plain`] makes it, or so many of its characters and a mark.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let mut chars = text.chars();
    let mut start: String = chars.by_ref().take(most).collect();
    if chars.next().is_some() {
        start.push('…');
    }
    plain(&start)
}

/// The text, or its start and a mark if it is longer than [`SHOWN_CHARS`].
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if text.len() <= SHOWN_CHARS || text.chars().nth(SHOWN_CHARS).is_none() {
        return Cow::Borrowed(text);
    }
    let mut cut: String = text.chars().take(SHOWN_CHARS - 1).collect();
    cut.push('…');
    Cow::Owned(cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_turns_are_replaced() {
        assert_eq!(plain("a\u{1b}[2Jé"), "a\u{fffd}[2Jé");
        for turn in [
            '\u{202A}', '\u{202E}', '\u{2066}', '\u{2069}', '\u{200E}', '\u{200F}', '\u{061C}',
        ] {
            assert_eq!(plain(&format!("a{turn}b")), "a\u{fffd}b");
        }
        assert_eq!(plain("אב ج"), "אב ج");
    }

    #[test]
    fn long_names_are_cut() {
        let (fits, long) = ("é".repeat(SHOWN_CHARS), "é".repeat(SHOWN_CHARS + 1));
        assert_eq!(shown(&fits), fits);
        assert_eq!(shown(&long).chars().count(), SHOWN_CHARS);
    }
}
