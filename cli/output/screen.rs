//! What a terminal gets and a pipe does not: colour, and lines that end between words.

use std::borrow::Cow;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::sync::OnceLock;

use rustix::termios::tcgetwinsize;

/// Columns of a terminal that does not say how many it has.
const COLUMNS: u16 = 80;

const STRONG: &str = "1";
const FAINT: &str = "2";
const WARNING: &str = "1;31";

static OUTPUT: OnceLock<Screen> = OnceLock::new();
static MESSAGES: OnceLock<Screen> = OnceLock::new();

/// How text is written to a stream.
#[derive(Clone, Copy, Debug)]
struct Screen {
    has_colour: bool,
    /// Where lines end; `None` for what is no terminal.
    columns: Option<u16>,
}

/// A pipe or a file.
const PLAIN: Screen = Screen {
    has_colour: false,
    columns: None,
};

/// Looks where standard output and standard error lead to; `is_pasted` output is plain wherever it
/// leads. Without this call all text is plain.
pub(crate) fn find(is_pasted: bool) {
    let output = match is_pasted {
        true => PLAIN,
        false => Screen::of(io::stdout()),
    };
    // Only the first call counts.
    let _ = OUTPUT.set(output);
    let _ = MESSAGES.set(Screen::of(io::stderr()));
}

/// The first words of an answer, with lines that end between words.
pub(crate) fn headline(text: &str) -> String {
    let screen = output();
    screen.painted(&screen.wrapped(text), STRONG).into_owned()
}

/// A sentence of an answer, with lines that end between words.
pub(crate) fn prose(text: &str) -> Cow<'_, str> {
    output().wrapped(text)
}

/// The titles of a table.
pub(crate) fn title(text: &str) -> Cow<'_, str> {
    output().painted(text, STRONG)
}

/// What most readers skip.
pub(crate) fn aside(text: &str) -> Cow<'_, str> {
    output().painted(text, FAINT)
}

/// A warning in an answer.
pub(crate) fn warning(text: &str) -> String {
    let screen = output();
    screen.painted(&screen.wrapped(text), WARNING).into_owned()
}

/// A message on standard error: `hprof: …`.
pub(crate) fn message(text: &str) -> String {
    let screen = MESSAGES.get().copied().unwrap_or(PLAIN);
    let whole = format!("hprof: {text}");
    let whole = screen.wrapped(&whole);
    let rest = whole.strip_prefix("hprof:").unwrap_or_default();
    format!("{}{rest}", screen.painted("hprof:", WARNING))
}

fn output() -> Screen {
    OUTPUT.get().copied().unwrap_or(PLAIN)
}

impl Screen {
    fn of(stream: impl AsFd + IsTerminal) -> Self {
        if !stream.is_terminal() {
            return PLAIN;
        }
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_none_or(|value| value == "dumb");
        let size = tcgetwinsize(stream);
        let columns = size.map_or(0, |size| size.ws_col);
        Self {
            has_colour: !is_set("NO_COLOR") && !is_dumb,
            columns: Some(if columns == 0 { COLUMNS } else { columns }),
        }
    }

    fn painted<'t>(&self, text: &'t str, colour: &str) -> Cow<'t, str> {
        match self.has_colour {
            true => Cow::Owned(format!("\x1b[{colour}m{text}\x1b[0m")),
            false => Cow::Borrowed(text),
        }
    }

    /// The text in lines that fit, unless a single word does not.
    fn wrapped<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(columns) = self.columns.map(usize::from) else {
            return Cow::Borrowed(text);
        };
        let (mut lines, mut column) = (String::with_capacity(text.len()), 0);
        for word in text.split(' ') {
            let width = word.chars().count();
            if column > 0 {
                let fits = column + 1 + width <= columns;
                lines.push(if fits { ' ' } else { '\n' });
                column = if fits { column + 1 } else { 0 };
            }
            lines.push_str(word);
            column += width;
        }
        Cow::Owned(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NARROW: Screen = Screen {
        has_colour: true,
        columns: Some(10),
    };

    #[test]
    fn lines_end_between_words_and_no_word_is_broken() {
        let text = "ten bytes are held by shop.Session$Key in a map";
        let lines = NARROW.wrapped(text);
        assert_eq!(lines, "ten bytes\nare held\nby\nshop.Session$Key\nin a map");
        assert_eq!(lines.replace('\n', " "), text);
        assert_eq!(NARROW.wrapped("änderungen"), "änderungen");
    }

    #[test]
    fn a_pipe_gets_the_text_as_it_is() {
        assert_eq!(PLAIN.wrapped("one two three four"), "one two three four");
        assert_eq!(PLAIN.painted("one", STRONG), "one");
        assert_eq!(NARROW.painted("one", STRONG), "\x1b[1mone\x1b[0m");
        assert_eq!(message("no"), "hprof: no");
    }
}
