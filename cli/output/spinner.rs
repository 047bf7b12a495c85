//! What moves on the screen while a JVM works, if somebody watches.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};

/// A spinner with a message.
pub(crate) fn spinner() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}");
    ProgressBar::new_spinner()
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}
