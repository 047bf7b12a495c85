//! Text from a file, made harmless for a terminal.

/// The text with its control characters replaced: a hostile file must not move the cursor.
pub(crate) fn plain(text: &str) -> String {
    let harmless = |c: char| {
        if c.is_control() {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    text.chars().map(harmless).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn escapes_are_replaced() {
        assert_eq!(super::plain("a\u{1b}[2Jé"), "a\u{fffd}[2Jé");
    }
}
