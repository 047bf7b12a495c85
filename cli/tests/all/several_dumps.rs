//! A file with several heap dumps, as the JDK's agent writes them: each command reads one.

use std::path::Path;
use std::process::{Command, Output};

use sample::Dump;
use tempfile::TempDir;

use crate::run;

/// A record of the JDK's agent: settings.
const SETTINGS: [u8; 15] = [0x0E, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0];

/// A dump whose static field holds this many arrays.
fn dump(arrays: u64) -> Vec<u8> {
    let mut dump = Dump::new(8);
    dump.class(
        0x2000,
        "app/Cache",
        Dump::OBJECT,
        0,
        &[],
        &[("all", 0x3000)],
    );
    dump.root(0x2000);
    dump.object_array(
        0x3000,
        &(0..arrays)
            .map(|at| 0x4000 + at * 0x100)
            .collect::<Vec<_>>(),
    );
    (0..arrays).for_each(|at| dump.byte_array(0x4000 + at * 0x100, &[7; 100]));
    dump.bytes()
}

/// A file with two dumps, of three and of five arrays, and the settings in front.
fn two() -> Vec<u8> {
    let header = b"JAVA PROFILE 1.0.2\0".len() + 12;
    let (one, other) = (dump(3), dump(5));
    [&one[..header], &SETTINGS, &one[header..], &other[header..]].concat()
}

fn run(words: &[&str], file: &Path, rest: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    command.args(words).arg(file).args(rest).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn each_command_reads_the_last_dump_and_says_so() {
    let folder = TempDir::new().unwrap();
    let plain = folder.path().join("a.hprof");
    let packed = folder.path().join("a.hprof.gz");
    std::fs::write(&plain, two()).unwrap();
    std::fs::write(&packed, run::packed(&two())).unwrap();
    let (copy, page) = (folder.path().join("r.hprof"), folder.path().join("r.html"));
    for file in [&plain, &packed] {
        for (words, rest) in [
            (&["histo"][..], &[][..]),
            (&["check"], &[]),
            (&["histo", "--retained"], &[]),
            (&["leaks"], &[]),
            (&["show"], &["0x3000"]),
            (&["threads"], &[]),
            (&["waste"], &[]),
            (&["convert"], &["-o", "-", "--to", "text"]),
            (
                &["convert"],
                &["--redact=arrays", "-o", copy.to_str().unwrap()],
            ),
            (&["report"], &["-o", page.to_str().unwrap()]),
            (&["diff"], &[plain.to_str().unwrap()]),
        ] {
            let output = run(words, file, rest);
            let message = text(&output.stderr);
            let said = message.contains("2 heap dumps, made 1970-01-01");
            assert!(
                said && message.contains("this is number 2"),
                "{words:?}: {message}"
            );
            // The check is of both, which have the same objects.
            let is_done = output.status.success() || words == ["check"];
            assert!(is_done, "{words:?}: {message}");
        }
        for (number, arrays) in [("1", 3), ("2", 5)] {
            let output = run(&["histo", "--dump", number, "--json"], file, &[]);
            let row = format!("\"class\": \"byte[]\",\n      \"objects\": {arrays}");
            assert!(text(&output.stdout).contains(&row), "{number}: {output:?}");
        }
        let output = run(&["histo", "--dump", "3"], file, &[]);
        assert!(text(&output.stderr).contains("it has 2 heap dumps"));
        assert_eq!(output.status.code(), Some(2));
        std::fs::remove_file(&copy).unwrap();
    }
}

#[test]
fn a_file_with_one_dump_says_nothing() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("a.hprof");
    std::fs::write(&file, dump(3)).unwrap();
    let output = run(&["histo", "--dump", "1"], &file, &[]);
    assert_eq!(
        (text(&output.stderr), output.status.code()),
        (String::new(), Some(0))
    );
    let output = run(&["histo", "--dump", "2"], &file, &[]);
    assert!(text(&output.stderr).contains("it has one heap dump"));
}
