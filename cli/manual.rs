//! `hprof manual`: writes what packages carry beside the command: its manual pages, and completions
//! for shells.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;
use clap_complete::Shell;

use crate::outcome::{Failure, Verdict};

/// Shells whose completions are written.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// Writes the manual pages and the completions for shells, for packages
///
/// The pages go to DIR/man1, one for each command. The completions of bash, zsh and fish go to
/// DIR/completions.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder; created if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes the files that describe this command.
pub(crate) fn run(arguments: &Arguments, command: Command) -> Result<Verdict, Failure> {
    let pages = made(&arguments.folder, "man1")?;
    let completions = made(&arguments.folder, "completions")?;
    let mut completed = command.clone();
    for shell in SHELLS {
        clap_complete::generate_to(shell, &mut completed, "hprof", &completions)
            .map_err(|error| Failure::writing(&completions, error))?;
    }
    clap_mangen::generate_to(command, &pages).map_err(|error| Failure::writing(&pages, error))?;
    Ok(Verdict::Sound)
}

fn made(folder: &Path, name: &str) -> Result<PathBuf, Failure> {
    let folder = folder.join(name);
    fs::create_dir_all(&folder).map_err(|error| Failure::writing(&folder, error))?;
    Ok(folder)
}
