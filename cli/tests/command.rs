//! The command as users meet it: output, exit codes, closed pipes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test fails by panicking"
)]

#[path = "../../reader/tests/sample/mod.rs"]
mod sample;

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use sample::{root, Sample};
use tempfile::TempDir;

struct Files {
    dir: TempDir,
}

impl Files {
    fn new() -> Self {
        Self {
            dir: TempDir::new().unwrap(),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn hprof(arguments: &[&str], file: &PathBuf) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    command.args(arguments).arg(file).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_sound_file_is_ok() {
    let files = Files::new();
    let output = hprof(&["check"], &files.write("a.hprof", &Sample::new().bytes()));
    assert_eq!(output.status.code(), Some(0));
    let bytes = Sample::new().bytes().len();
    assert_eq!(
        stdout(&output),
        format!(
            "OK: {},{:03} bytes, 26 objects\n",
            bytes / 1000,
            bytes % 1000
        )
    );
}

#[test]
fn a_broken_file_names_its_faults() {
    let files = Files::new();
    let mut broken = Sample::new();
    broken.heap(0).push(root(0xFF, sample::ARRAY));
    let file = files.write("a.hprof", &broken.bytes());
    let output = hprof(&["check"], &file);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(
        text.contains("error  root-unknown: ROOT UNKNOWN of object 0x2020"),
        "{text}"
    );
    assert_eq!(text.lines().last(), Some("1 fault"));
    let value = json(&hprof(&["check", "--json"], &file));
    assert_eq!(value["ok"], false);
    assert_eq!(value["rules"][0]["rule"], "root-unknown");
    assert_eq!(value["faults"][0]["severity"], "error");
}

#[test]
fn leniency_and_number_of_faults_can_be_chosen() {
    let files = Files::new();
    let mut broken = Sample::new();
    for _ in 0..3 {
        broken.heap(1).push(root(0x05, sample::OBJECT));
    }
    let file = files.write("a.hprof", &broken.bytes());
    let strict = hprof(&["check", "--most", "2"], &file);
    assert_eq!(strict.status.code(), Some(1));
    assert_eq!(
        stdout(&strict).matches("ROOT STICKY CLASS behind").count(),
        2
    );
    let lenient = hprof(&["check", "--lenient"], &file);
    assert_eq!(lenient.status.code(), Some(0));
    assert!(stdout(&lenient).ends_with("26 objects, 3 notes\n"));
}

#[test]
fn info_and_histo_print_tables_and_json() {
    let files = Files::new();
    let file = files.write("a.hprof", &Sample::new().bytes());
    let info = stdout(&hprof(&["info"], &file));
    for expected in [
        "Version      1.0.2",
        "Created      2023-11-14 22:13:20 UTC",
        "\"main\"",
        "ROOT JAVA FRAME",
    ] {
        assert!(info.contains(expected), "{info}");
    }
    let stacks = stdout(&hprof(&["info", "--threads"], &file));
    assert!(stacks.contains(
        "\nthread 1 \"main\"\n    at app.Leaf.run(Leaf.java:7)\n    at app.Leaf.run(Leaf.java)\n"
    ));
    assert!(stacks.contains("at app.Leaf.run(Native Method)"));
    let value = json(&hprof(&["info", "--json"], &file));
    assert_eq!(value["threads"][0]["frames"][0]["class"], "app.Leaf");
    let histo = stdout(&hprof(&["histo", "--most", "1"], &file));
    assert_eq!(histo.lines().count(), 3, "{histo}");
    let value = json(&hprof(&["histo", "--json"], &file));
    assert_eq!(value["instances"], 26);
    assert_eq!(value["classes"][0]["class"], "java.lang.Class");
}

#[test]
fn unreadable_files_and_wrong_usage_give_2() {
    let files = Files::new();
    for command in ["check", "info", "histo", "sites", "flame"] {
        for file in [
            files.write("text", b"no dump"),
            files.dir.path().join("nowhere"),
            files.dir.path().to_owned(),
        ] {
            let output = hprof(&[command], &file);
            assert_eq!(output.status.code(), Some(2));
            let message = String::from_utf8(output.stderr).unwrap();
            assert!(
                message.starts_with("hprof: ") && message.lines().count() == 1,
                "{message}"
            );
        }
    }
    assert_eq!(
        hprof(&["check", "--no-such-option"], &PathBuf::from("x"))
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn help_shows_an_example_and_the_exit_codes() {
    for command in ["check", "info", "histo", "sites", "flame"] {
        let help = stdout(&hprof(&[command, "--help"], &PathBuf::from("x")));
        assert!(help.contains("Example:\n  hprof ") || help.contains("Examples:\n  hprof "));
    }
    assert!(stdout(&hprof(&["--help"], &PathBuf::from("x"))).contains("Exit codes: 0"));
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let files = Files::new();
    let file = files.write("a.hprof", &Sample::new().bytes());
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    command
        .arg("info")
        .arg(file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
