//! The index beside a dump: the same answers, and never another file's or another dump's.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use sample::Dump;
use tempfile::TempDir;

const CACHE: u64 = 0x2000;

/// A class that holds objects through a static field, in a file that is large enough for an index.
fn dump(objects: u64) -> Vec<u8> {
    let mut dump = Dump::new(8);
    dump.class(0x2100, "app/Entry", Dump::OBJECT, 0, &["next"], &[]);
    dump.class(CACHE, "app/Cache", Dump::OBJECT, 0, &[], &[("ALL", 0x3000)]);
    dump.root(0x2100);
    dump.root(CACHE);
    let ids: Vec<u64> = (0..objects).map(|number| 0x10_0000 + number * 64).collect();
    ids.iter().for_each(|id| dump.instance(*id, 0x2100, &[0]));
    dump.object_array(0x3000, &ids);
    dump.object_array(0x7000_0000, &vec![0; 1_100_000]);
    dump.root(0x7000_0000);
    dump.bytes()
}

fn made(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("a.hprof");
    fs::write(&path, dump(100)).unwrap();
    path
}

fn index(dump: &Path) -> PathBuf {
    dump.with_extension("hprof.index")
}

fn hprof(arguments: &[&str], file: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    let output = command.args(arguments).arg(file).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    let is_told =
        said.starts_with("from the index a.hprof.index of 2") && said.lines().count() == 1;
    assert!(said.is_empty() || is_told, "{said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Whether the answer is told to come from the index.
fn is_kept(arguments: &[&str], file: &Path) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    let output = command.args(arguments).arg(file).output().unwrap();
    String::from_utf8(output.stderr)
        .unwrap()
        .contains("from the index")
}

const QUESTIONS: [&[&str]; 13] = [
    &["leaks"],
    &["leaks", "--json"],
    &["leaks", "--sizes", "mat"],
    &["top"],
    &["top", "--json", "--top", "3"],
    &["top", "--by", "class", "--top", "2"],
    &["top", "--by", "class", "--json", "--top", "1"],
    &["top", "--by", "package"],
    &["top", "--by", "loader", "--json"],
    &["top", "--by", "thread"],
    &["top", "--by", "thread", "--json", "--top", "1"],
    &["top", "--references", "strong"],
    &["top", "--top", "0", "--json"],
];

#[test]
fn the_answers_are_those_of_the_dump() {
    let folder = TempDir::new().unwrap();
    let file = made(&folder);
    let without = |question: &[&str]| hprof(&[question, &["--no-index"]].concat(), &file);
    let expected: Vec<String> = QUESTIONS.iter().map(|question| without(question)).collect();
    assert!(!index(&file).exists());
    for _ in 0..2 {
        for (question, expected) in QUESTIONS.iter().zip(&expected) {
            assert_eq!(hprof(question, &file), *expected, "{question:?}");
        }
    }
    let facts = fs::metadata(index(&file)).unwrap();
    assert_eq!(facts.permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn an_index_is_read_and_printed_with_care() {
    let folder = TempDir::new().unwrap();
    let file = made(&folder);
    let by_class = ["top", "--by", "class"];
    let expected = hprof(&by_class, &file);
    let text = fs::read_to_string(index(&file)).unwrap();
    fs::write(index(&file), text.replace("app.Cache", "app\\u001b[2J")).unwrap();
    // It was read, as the dump does not have this name; but nothing reaches the terminal.
    assert_eq!(
        hprof(&by_class, &file),
        expected.replace("app.Cache", "app\u{fffd}[2J")
    );
    assert!(!hprof(&["leaks"], &file).contains('\u{1b}'));
}

#[test]
fn no_other_file_is_taken_or_replaced() {
    let folder = TempDir::new().unwrap();
    let file = made(&folder);
    let expected = hprof(&["top"], &file);
    let sound = fs::read_to_string(index(&file)).unwrap();
    let answers = sound.find("\"answers\"").unwrap();
    for (text, is_replaced) in [
        (String::new(), false),
        ("precious".to_owned(), false),
        (sound[..sound.len() / 2].to_owned(), true),
        (format!("{}\"answers\":[]}}\n", &sound[..answers]), true),
        (format!("{}\"answers\":{{}}}}\n", &sound[..answers]), true),
        (sound.replace("\"bytes\":", "\"bytes\":1"), true),
        (sound.replace("\"3 ", "\"3 0"), true),
        (sound.replace(":[{", ":[[[{"), true),
        (sound.replace("\"retained\":", "\"retained\":-"), true),
        (sound.replace("\"objects\":", "\"object\":"), true),
    ] {
        fs::write(index(&file), &text).unwrap();
        assert_eq!(hprof(&["top"], &file), expected, "{text:.300}");
        let after = fs::read_to_string(index(&file)).unwrap();
        assert_eq!(after != text, is_replaced, "{text:.300}");
    }
    fs::remove_file(index(&file)).unwrap();
    let pipe = Command::new("mkfifo").arg(index(&file)).status().unwrap();
    assert!(pipe.success());
    assert_eq!(hprof(&["top"], &file), expected);
    fs::remove_file(index(&file)).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    std::os::unix::fs::symlink(&elsewhere, index(&file)).unwrap();
    assert_eq!(hprof(&["top"], &file), expected);
    assert!(!elsewhere.exists());
}

#[test]
fn a_file_that_others_may_write_is_not_taken() {
    let folder = TempDir::new().unwrap();
    let file = made(&folder);
    let expected = hprof(&["leaks"], &file);
    let text = fs::read_to_string(index(&file)).unwrap();
    let planted = text.replace("app.Cache", "app.Other");
    fs::write(index(&file), &planted).unwrap();
    fs::set_permissions(index(&file), fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(hprof(&["leaks"], &file), expected);
    assert_eq!(fs::read_to_string(index(&file)).unwrap(), planted);
}

#[test]
fn a_dump_without_a_name_of_its_own_is_known_by_its_file() {
    let folder = TempDir::new().unwrap();
    let file = made(&folder);
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let expected = hprof(&["top"], &link);
    assert!(index(&file).exists());
    fs::remove_file(index(&file)).unwrap();
    // A file of the name that stands for standard input is another one.
    fs::write(folder.path().join("-"), dump(101)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    command.args(["top", "-"]).current_dir(folder.path());
    let output = command.stdin(fs::File::open(&file).unwrap()).output();
    assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), expected);
    assert!(!folder.path().join("-.index").exists());
}

#[test]
fn a_dump_that_has_changed_is_read_again() {
    let folder = TempDir::new().unwrap();
    let file = made(&folder);
    let first = hprof(&["top"], &file);
    fs::write(&file, dump(101)).unwrap();
    let second = hprof(&["top"], &file);
    assert_ne!(first, second);
    assert_eq!(hprof(&["top", "--no-index"], &file), second);
    assert_eq!(hprof(&["top"], &file), second);
}

#[test]
fn an_answer_tells_that_it_was_kept() {
    let folder = TempDir::new().unwrap();
    let file = made(&folder);
    for question in [
        &["leaks"][..],
        &["top"],
        &["top", "--by", "class", "--json"],
    ] {
        fs::remove_file(index(&file)).ok();
        assert!(!is_kept(question, &file));
        assert!(is_kept(question, &file));
        assert!(!is_kept(&[question, &["--no-index"]].concat(), &file));
    }
}

/// Neither its length nor its time nor its ends tell that a byte in the middle is another one.
#[test]
fn a_dump_that_was_changed_in_place_is_read_again() {
    let folder = TempDir::new().unwrap();
    let file = made(&folder);
    hprof(&["top"], &file);
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    let opened = fs::File::options().write(true).open(&file).unwrap();
    opened
        .write_all_at(&[0, 0, 0, 0, 0, 0x10, 0, 0], 5_000_000)
        .unwrap();
    opened.set_modified(modified).unwrap();
    drop(opened);
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), modified);
    assert!(!is_kept(&["top"], &file));
    assert!(is_kept(&["top"], &file));
}

#[test]
fn another_threshold_is_another_question() {
    let folder = TempDir::new().unwrap();
    let file = made(&folder);
    let usual = hprof(&["leaks"], &file);
    assert!(
        usual.starts_with("java.lang.Object[] 0x70000000 retains"),
        "{usual}"
    );
    // The index has the usual answer now.
    for arguments in [
        &["leaks", "--threshold", "100"][..],
        &["leaks", "--threshold", "100", "--no-index"],
    ] {
        let answer = hprof(arguments, &file);
        assert!(
            answer.starts_with("No object or class retains more than 100 %"),
            "{answer}"
        );
    }
    let json = hprof(&["leaks", "--threshold", "100", "--json"], &file);
    assert!(json.contains("\"threshold_percent\": 100"), "{json}");
    assert_eq!(hprof(&["leaks"], &file), usual);
}
