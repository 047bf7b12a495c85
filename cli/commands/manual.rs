//! `hprof --manual`: writes what packages carry beside the command: its manual pages, and
//! completions for shells.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;
use clap_complete::Shell;

use crate::output::{Failure, Verdict};

/// Shells whose completions are written.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// Writes the files that describe this command: the pages to `man1`, the completions beside it.
pub(crate) fn write(folder: &Path, command: Command) -> Result<Verdict, Failure> {
    let pages = made(folder, "man1")?;
    let completions = made(folder, "completions")?;
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
