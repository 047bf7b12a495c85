//! `hprof list`: which JVMs run on this machine?

use std::fs;
use std::io;

use crate::output::{print, Cell, Failure, Sections, Table, Verdict};
use crate::proc::c_library::contains;
use crate::proc::jvm_options::WITH_VALUE;
use crate::proc::process::Process;
use crate::proc::reach::{has_its_thread, memory_bytes, owner, LIBRARY};

/// Lists the JVMs of this machine
///
/// A row has the process id, the user, the resident memory and the main class.
/// Containers' JVMs are among them. As root, all are listed; other users see their own.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the JVMs.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    // A process may have ended meanwhile.
    let rows = pids()?
        .into_iter()
        .filter_map(|pid| Some((pid, facts(pid)?)));
    let table = Table::of(rows, usize::MAX)
        .right("pid", "", |(pid, _): &(i32, Facts)| pid.to_string())
        .hidden("pid", |(pid, _)| i128::from(*pid))
        .right("user", "user", |(_, it)| {
            it.user.map(|user| user.to_string())
        })
        .right("memory", "resident_bytes", |(_, it)| Cell::Bytes(it.bytes))
        .left("main class", "main_class", |(_, it)| it.main.clone());
    if table.is_empty() {
        let why = "no JVM that this user may inspect runs on this machine";
        return Err(Failure::Input(why.to_owned()));
    }
    let mut answer = Sections::default();
    answer.table("jvms", "", table);
    print(arguments.json, answer)?;
    Ok(Verdict::Sound)
}

/// All processes, ascending.
fn pids() -> io::Result<Vec<i32>> {
    let names = fs::read_dir("/proc")?.filter_map(Result::ok);
    let pids = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut pids: Vec<i32> = pids.collect();
    pids.sort_unstable();
    Ok(pids)
}

/// What is listed of a JVM.
struct Facts {
    user: Option<u32>,
    /// Resident memory.
    bytes: u64,
    main: String,
}

/// The facts about a process; `None` if it is no JVM.
fn facts(pid: i32) -> Option<Facts> {
    let process = Process::find(pid).ok()?;
    // Before the map, which is empty once there is no memory.
    let status = process.text("status").ok()?;
    if !is_jvm(&process) {
        return None;
    }
    let line = process.read("cmdline").unwrap_or_default();
    Some(Facts {
        user: owner(&status).map(|(user, _)| user),
        bytes: memory_bytes(&status),
        main: main_class(&line).unwrap_or_else(|| "?".to_owned()),
    })
}

fn is_jvm(process: &Process) -> bool {
    match process.read("maps") {
        Ok(maps) => contains(&maps, LIBRARY),
        Err(_) => has_its_thread(process),
    }
}

/// The main class, module or jar of a command line; no argument of the program, which may be
/// secret.
fn main_class(line: &[u8]) -> Option<String> {
    let mut words = line.split(|byte| *byte == 0).skip(1);
    while let Some(word) = words.next() {
        match word {
            b"-jar" | b"-m" | b"--module" => return words.next().map(text),
            word if WITH_VALUE.iter().any(|it| it.as_bytes() == word) => drop(words.next()),
            word if word.starts_with(b"-") || word.starts_with(b"@") || word.is_empty() => {}
            word => return Some(text(word)),
        }
    }
    None
}

fn text(word: &[u8]) -> String {
    String::from_utf8_lossy(word).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_names_its_main_class() {
        for (line, expected) in [
            (
                "java\0-Xmx1g\0-cp\0a.jar:b\0app.Main\0secret\0",
                Some("app.Main"),
            ),
            (
                "java\0-jar\0/opt/shop.jar\0--password=x\0",
                Some("/opt/shop.jar"),
            ),
            (
                "java\0@argfile\0--module\0shop/app.Main\0",
                Some("shop/app.Main"),
            ),
            ("java\0-version\0", None),
            ("", None),
        ] {
            assert_eq!(main_class(line.as_bytes()).as_deref(), expected);
        }
    }
}
