//! The `hprof` command: makes JVMs dump their heaps, and analyses HPROF heap dumps.
#![forbid(unsafe_code)]

mod answers;
mod attach;
mod commands;
mod convert;
mod files;
mod mcp;
mod output;
mod page;
mod proc;

use std::path::PathBuf;
use std::process::ExitCode;

use answers::Questions;
use commands::{check, diff, dump, histo, list, manual, memory, overview, sites};
use output::{outcome, screen};
use page::{report, view};
use proc::ended;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// Makes heap dumps of running JVMs, and says what keeps their memory
///
/// It analyses heap dumps and profiles in HPROF format, as written by jcmd, jmap, the JVM itself
/// and hprof-rs.
///
/// Reads versions 1.0.1, 1.0.2 and Android's 1.0.3, plain or gzip, of any size, from a file or from
/// standard input (-). Most commands stream the file and keep names, stacks and ids in memory;
/// those about retained memory need 30 to 40 bytes for each object. `sites` and `convert`
/// also read text profiles (format=a).
#[derive(Debug, Parser)]
#[command(name = "hprof", version, after_help = EXIT_CODES, max_term_width = 100)]
#[command(arg_required_else_help = true, args_conflicts_with_subcommands = true)]
struct Arguments {
    /// Write the manual pages, and completions for bash, zsh and fish, to this folder
    #[arg(long, value_name = "DIR")]
    manual: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

const EXIT_CODES: &str = "\
Exit codes: 0 success; 1 the file is damaged: `check` found errors, or another command could read only a part of it; \
2 wrong usage, the file cannot be read, or it lacks what was asked for.";

#[derive(Debug, Subcommand)]
enum Command {
    List(list::Arguments),
    Dump(dump::Arguments),
    #[command(flatten)]
    Ask(Questions),
    Histo(histo::Arguments),
    Diff(diff::Arguments),
    Memory(memory::Arguments),
    Report(report::Arguments),
    View(view::Arguments),
    Mcp(mcp::Arguments),
    Check(check::Arguments),
    Sites(sites::Arguments),
    Convert(convert::Arguments),
}

fn main() -> ExitCode {
    screen::find(std::env::args_os().any(|it| it == "--markdown"));
    // Without it, a signal leaves temporary files.
    let _ = ended::begin();
    let matches = overview::in_groups(Arguments::command()).try_get_matches();
    let matches = matches.unwrap_or_else(|fault| advised(fault).exit());
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|fault| fault.exit());
    if let Some(folder) = arguments.manual {
        return outcome::exit_code(manual::write(&folder, Arguments::command()));
    }
    let Some(command) = arguments.command else {
        return ExitCode::SUCCESS;
    };
    let result = match command {
        Command::Dump(arguments) => dump::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Ask(question) => question.run(),
        Command::Histo(arguments) => histo::run(&arguments),
        Command::Memory(arguments) => memory::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::Sites(arguments) => sites::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
    };
    outcome::exit_code(result)
}

/// The fault with the advice that helps. The one to pass an option as a value never does.
fn advised(mut fault: clap::Error) -> clap::Error {
    if fault.kind() != ErrorKind::UnknownArgument {
        return fault;
    }
    fault.remove(ContextKind::Suggested);
    let is_dump = std::env::args_os().nth(1).is_some_and(|it| it == "dump");
    let file = match fault.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(file)) if is_dump && !file.starts_with('-') => file.clone(),
        _ => return fault,
    };
    let advice = vec![format!("-o names the file: -o {file}").into()];
    fault.insert(ContextKind::Suggested, ContextValue::StyledStrs(advice));
    fault
}
