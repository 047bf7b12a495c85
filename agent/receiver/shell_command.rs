//! A command that gets a dump on its standard input, and whose exit code is its receipt.

use crate::message::say;
use jvm::os::command::{Command, End};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;
use writer::{Reader, Way, WriteError};

/// How long a command that takes no more may need to end, so that its exit code can be told.
const LAST_WORD: Duration = Duration::from_millis(500);

/// The command.
#[derive(Debug)]
pub(super) struct ShellCommand {
    /// For the shell.
    pub(super) text: String,
    /// How long it may run once it has got everything.
    pub(super) limit: Duration,
}

impl Way for ShellCommand {
    fn reach(&self) -> Result<(OwnedFd, Box<dyn Reader>), WriteError> {
        let (input, command) = Command::start(&self.text).map_err(|error| {
            WriteError::Refused(format!(
                "{} cannot be started: {error}; the agent runs it with /bin/sh",
                self.reader()
            ))
        })?;
        let running = Running {
            command: Some(command),
            name: self.reader(),
            limit: self.limit,
        };
        Ok((input, Box::new(running)))
    }

    fn can_begin_anew(&self) -> bool {
        true
    }

    fn reader(&self) -> String {
        format!("the command exec={}", self.text)
    }

    fn name(&self) -> PathBuf {
        format!("exec={}", self.text).into()
    }
}

/// A command that runs.
#[derive(Debug)]
struct Running {
    /// `None` once it has ended.
    command: Option<Command>,
    name: String,
    limit: Duration,
}

impl Reader for Running {
    fn finish(mut self: Box<Self>) -> Result<(), WriteError> {
        let ended = self.command.as_mut().and_then(|it| it.wait(self.limit));
        let Some(end) = ended else {
            let seconds = self.limit.as_secs();
            return Err(WriteError::Refused(format!(
                "{} received the whole dump and still runs after {seconds} s (timeout=)",
                self.name
            )));
        };
        self.command = None;
        if end == End::Code(0) {
            return Ok(());
        }
        Err(WriteError::Refused(format!(
            "{} received the whole dump and {}; check where it sent it",
            self.name, end
        )))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut command) = self.command.take() else {
            return;
        };
        match command.wait(LAST_WORD) {
            Some(end) => say(&format!("{} {} without a whole dump", self.name, end)),
            None => {
                drop(command);
                say(&format!(
                    "{} was ended, as it would not get a whole dump",
                    self.name
                ));
            }
        }
    }
}
