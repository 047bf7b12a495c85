//! Switches of HotSpot that do not go well with the agent: it warns of them at the start.

use crate::message::say;
use hotspot::flags;

/// Warns about those that end the process before HotSpot reports an OutOfMemoryError to the agent.
pub(crate) fn tell() {
    for name in ["ExitOnOutOfMemoryError", "CrashOnOutOfMemoryError"] {
        if flags::is_on(name) == Some(true) {
            say(&format!(
                "-XX:+{name} ends the JVM before it reports an OutOfMemoryError to the agent, so there will be no dump: \
                 use oom=exit instead, or -XX:+HeapDumpOnOutOfMemoryError"
            ));
        }
    }
    let command = flags::text("OnOutOfMemoryError");
    if let Some(command) = command.filter(|command| kills(command)) {
        say(&format!(
            "-XX:OnOutOfMemoryError='{command}' kills the JVM before it reports an OutOfMemoryError to the agent, so there will \
             be no dump: use oom=exit instead, a signal that the JVM answers (kill %p), or -XX:+HeapDumpOnOutOfMemoryError"
        ));
    }
}

/// Whether HotSpot runs a command at an OutOfMemoryError, which it does before it informs the
/// agent.
pub(crate) fn has_command_at_error() -> bool {
    flags::text("OnOutOfMemoryError").is_some_and(|command| !command.is_empty())
}

/// Warns if HotSpot records classes for its archive while the agent rewrites them.
pub(crate) fn tell_of_training() {
    let records = flags::text("AOTMode").is_some_and(|mode| mode == "record");
    if records || flags::text("AOTCacheOutput").is_some() {
        say(
            "HotSpot records an AOT cache and leaves out each class that the agent rewrites, and may crash at its end: \
             record without cpu=times, cpu=old and sampling=0",
        );
    }
}

/// Whether these commands send a process the signal 9, which nobody can answer.
fn kills(commands: &str) -> bool {
    let is_separator = |letter: char| letter.is_whitespace() || "'\";&|()".contains(letter);
    let mut words = commands
        .split(is_separator)
        .filter(|word| !word.is_empty())
        .skip_while(|word| !word.ends_with("kill") && !word.ends_with("killall"));
    let is_kill = |name: &str| {
        let name = name.to_ascii_uppercase();
        matches!(name.as_str(), "9" | "KILL" | "SIGKILL")
    };
    let mut is_name_next = false;
    words.any(|word| {
        if std::mem::take(&mut is_name_next) && is_kill(word) {
            return true;
        }
        is_name_next = matches!(word, "-s" | "-n" | "--signal");
        let option = word.strip_prefix("--signal=").or(word.strip_prefix('-'));
        option.is_some_and(|name| is_kill(name) || name.strip_prefix('s').is_some_and(is_kill))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signal_that_nobody_answers_is_found() {
        for command in [
            "kill -9 %p",
            "/bin/kill -KILL %p",
            "echo out of memory; kill -s SIGKILL %p",
            "sh -c 'kill -sigkill %p'",
            "pkill -s9 java",
            "kill --signal KILL %p",
            "kill --signal=9 %p",
            "killall -9 java",
        ] {
            assert!(kills(command), "{command}");
        }
        for command in [
            "kill %p",
            "kill -QUIT %p",
            "kill -s TERM %p",
            "logger -9 %p",
            "tail -n 9 log",
            "",
        ] {
            assert!(!kills(command), "{command}");
        }
    }
}
