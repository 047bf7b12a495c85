//! The `hprof` command: looks into HPROF heap dumps.
#![forbid(unsafe_code)]

mod check;
mod date;
mod dump_file;
mod histo;
mod info;
mod number;
mod outcome;
mod plain;
mod table;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Looks into heap dumps in HPROF format, as jcmd, jmap, the JVM itself and hprof-rs write them.
///
/// Reads versions 1.0.1, 1.0.2 and Android's 1.0.3, plain or gzip, of any size: files are streamed, and memory
/// is used for names and ids only.
#[derive(Debug, Parser)]
#[command(name = "hprof", version, after_help = EXIT_CODES, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str =
    "Exit codes: 0 all is well; 1 `check` found errors; 2 wrong usage, or the file cannot be read.";

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
    Info(info::Arguments),
    Histo(histo::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Check(arguments) => check::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Histo(arguments) => histo::run(&arguments),
    };
    outcome::exit_code(result)
}
