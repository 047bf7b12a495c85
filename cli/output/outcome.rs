//! How a command ends: its exit code, and one line on stderr if it failed.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use reader::ReadError;

use crate::output::plain::plain;
use crate::output::screen;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// It was asked for the impossible, or a file could not be read or written; the message names
    /// it.
    #[error("{0}")]
    Input(String),
    /// The output could not be written.
    #[error("cannot write: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// A failure to read this file.
    pub(crate) fn reading(path: &Path, fault: impl fmt::Display) -> Self {
        Self::Input(format!("{}: {fault}", plain(&path.display().to_string())))
    }

    /// A failure to write this file.
    pub(crate) fn writing(path: &Path, fault: impl fmt::Display) -> Self {
        let name = plain(&path.display().to_string());
        Self::Input(format!("cannot write {name}: {fault}"))
    }

    /// The failure where all output goes to this file.
    pub(crate) fn of_target(self, path: &Path) -> Self {
        match self {
            Self::Output(fault) => Self::writing(path, fault),
            other => other,
        }
    }
}

/// Whether a finished command found the file sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No problems.
    Sound,
    /// `check` found errors, or another command met damaged places.
    Faulty,
}

impl Verdict {
    /// Whether both are sound.
    pub(crate) fn and(self, other: bool) -> Self {
        match other {
            true => self,
            false => Self::Faulty,
        }
    }
}

/// Turns the end of a command into an exit code. A reader that closes the pipe, such as `head`, is
/// not a failure.
pub(crate) fn exit_code(result: Result<Verdict, Failure>) -> ExitCode {
    let message = match result {
        Ok(Verdict::Sound) => return ExitCode::SUCCESS,
        Ok(Verdict::Faulty) => return ExitCode::from(1),
        Err(Failure::Output(fault)) if fault.kind() == ErrorKind::BrokenPipe => {
            return ExitCode::SUCCESS
        }
        Err(failure) => failure.to_string(),
    };
    // If stderr is also closed, nothing can be reported.
    let _ = writeln!(io::stderr(), "{}", screen::message(&message));
    ExitCode::from(2)
}

/// The problem with a file, without the offset 0 of a file that could not even be opened.
pub(crate) fn reason(fault: &ReadError) -> String {
    match fault {
        ReadError::Io { offset: 0, source } => source.to_string(),
        other => other.to_string(),
    }
}
