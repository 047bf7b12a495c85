//! Signals that end a command while it writes: nothing temporary stays.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{kill_process, Pid, Signal};
use sample::Dump;
use tempfile::TempDir;

/// Enough that a command writes for a while.
const OBJECTS: u64 = 300_000;

fn dump(folder: &Path) {
    let mut dump = Dump::new(8);
    for number in 1..=OBJECTS {
        dump.instance(number << 16, Dump::OBJECT, &[]);
    }
    fs::write(folder.join("in.hprof"), dump.bytes()).unwrap();
}

/// The temporary names in a folder.
fn temporary(folder: &Path) -> usize {
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name());
    let is_one = |name: &std::ffi::OsString| name.to_string_lossy().starts_with(".hprof-");
    names.filter(is_one).count()
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_child(child);
    kill_process(pid, signal).unwrap();
}

/// Sends a signal to a command, begun by `shell`, that has a temporary name. How it ended.
fn ended(folder: &Path, shell: &str, arguments: &str, signal: Signal) -> ExitStatus {
    loop {
        // A script that runs the tests in the background has SIGINT ignored.
        let mut command = Command::new("env");
        let line = format!("{shell} exec \"$0\" {arguments}");
        let signals = "--default-signal=INT,TERM,HUP";
        let command = command.args([signals, "sh", "-c", &line, env!("CARGO_BIN_EXE_hprof")]);
        let mut child = command
            .current_dir(folder)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while temporary(folder) == 0 && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        if child.try_wait().unwrap().is_none() {
            send(&child, Signal::STOP);
            let is_caught = temporary(folder) > 0;
            send(&child, signal);
            send(&child, Signal::CONT);
            let status = child.wait().unwrap();
            if is_caught {
                return status;
            }
        }
        // It was done before it could be caught.
        let _ = fs::remove_file(folder.join("out"));
        let _ = fs::remove_dir_all(folder.join("out"));
    }
}

#[test]
fn no_temporary_name_stays() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    dump(folder);
    for arguments in [
        "convert in.hprof --to text -o out",
        "convert in.hprof --redact --to hprof -o out",
        "convert in.hprof --to parquet -o out",
    ] {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            ended(folder, "trap - INT TERM HUP;", arguments, signal);
            assert_eq!(temporary(folder), 0, "{arguments}, {signal:?}");
            let _ = fs::remove_file(folder.join("out"));
            let _ = fs::remove_dir_all(folder.join("out"));
        }
    }
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    dump(folder);
    let status = ended(
        folder,
        "trap '' HUP;",
        "convert in.hprof --to text -o out",
        Signal::HUP,
    );
    assert!(status.success(), "{status}");
    assert!(folder.join("out").exists());
}
