//! `hprof convert --redact`: copies of dumps, plain and compressed.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use flate2::read::MultiGzDecoder;
use sample::{wasteful, Dump};
use serde_json::{json, Value};
use tempfile::TempDir;

use crate::run::{packed, written};

fn hprof(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    let command = command.args(["convert", "--to", "hprof"]).args(arguments);
    if !arguments.iter().any(|it| it.starts_with("--redact")) {
        command.arg("--redact");
    }
    command.current_dir(folder).output().unwrap()
}

#[test]
fn a_copy_is_private_and_sound_plain_or_compressed() {
    let folder = TempDir::new().unwrap();
    written(&folder, "a.gz", &packed(&Dump::small().bytes()));
    let output = hprof(&["a.gz", "-o", "b.hprof"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let line = "b.hprof: redacted: 2 arrays and 3 objects have zeros, 1 name became stars\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), line);
    let copy = folder.path().join("b.hprof");
    assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let copy = fs::read(copy).unwrap();
    said("check", &folder.path().join("b.hprof"), &["--strict"]);
    assert!(!copy.windows(8).any(|it| it == b"\0m\0a\0i\0n"));
    let output = hprof(&["b.hprof", "-o", "c.gz"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let mut unpacked = Vec::new();
    let file = fs::File::open(folder.path().join("c.gz")).unwrap();
    MultiGzDecoder::new(file)
        .read_to_end(&mut unpacked)
        .unwrap();
    assert!(unpacked == copy);
}

/// What a command of hprof says about a file.
fn said(command: &str, file: &Path, rest: &[&str]) -> String {
    let mut hprof = Command::new(env!("CARGO_BIN_EXE_hprof"));
    let output = hprof.arg(command).arg(file).args(rest).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{command}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_answer_says_that_values_are_missing() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("plain"), wasteful::dump(8).bytes()).unwrap();
    for (word, left_out) in [
        ("strings", "equal strings"),
        ("arrays", "equal strings, equal arrays"),
        ("all", "equal strings, equal arrays, collections"),
    ] {
        let output = hprof(
            &["plain", "-o", word, &format!("--redact={word}")],
            folder.path(),
        );
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let waste = said("waste", &path(word), &[]);
        let line = format!("redacted ({word}), so left out: {left_out}");
        assert_eq!(waste.lines().nth(1), Some(&*line), "{waste}");
        assert!(!waste.contains("different text"), "{waste}");
        let waste: Value = serde_json::from_str(&said("waste", &path(word), &["--json"])).unwrap();
        assert_eq!(
            (&waste["redacted"], &waste["strings"]["lost_bytes"]),
            (&json!(word), &json!(0))
        );
        let mut check = Command::new(env!("CARGO_BIN_EXE_hprof"));
        let info = check.arg("check").arg(path(word)).output().unwrap();
        let info = String::from_utf8(info.stdout).unwrap();
        let told = info
            .lines()
            .any(|line| line.split_whitespace().eq(["redacted", word]));
        assert!(told, "{info}");
        said(
            "report",
            &path(word),
            &["-o", path("page").to_str().unwrap()],
        );
        let page = fs::read_to_string(path("page")).unwrap();
        assert!(page.contains(&format!(r#""redacted":"{word}""#)) && page.contains(&line));
        fs::remove_file(path("page")).unwrap();
    }
    assert!(!said("waste", &path("plain"), &[]).contains("redacted"));
    // The stronger word counts.
    let output = hprof(&["strings", "-o", "both", "--redact=arrays"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(said("waste", &path("both"), &[]).contains("redacted (arrays)"));
}

#[test]
fn a_zero_of_a_redacted_dump_is_no_fact() {
    let folder = TempDir::new().unwrap();
    let mut dump = Dump::new(8);
    let (class, holder, fields) = (0x2100, 0x2200, [("value", 10)]);
    dump.class_of(class, "java/lang/Integer", (Dump::OBJECT, 0), &fields, &[]);
    dump.class(holder, "app/Holder", Dump::OBJECT, 0, &["count"], &[]);
    dump.instance_with(0x3000, class, &[(4, 17)]);
    dump.instance(0x3100, holder, &[0x3000]);
    dump.root(0x3100);
    let path = |name: &str| folder.path().join(name);
    fs::write(path("plain"), dump.bytes()).unwrap();
    let output = hprof(&["plain", "-o", "all"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for (file, number, holder) in [
        ("plain", "value = 17\n", "0x3000 \"17\"\n"),
        ("all", "value = 0 (or redacted)\n", "0x3000\n"),
    ] {
        let shown = said("show", &path(file), &["0x3000"]);
        assert!(shown.contains(number), "{shown}");
        let shown = said("show", &path(file), &["0x3100"]);
        assert!(
            shown.contains(&format!("count = java.lang.Integer {holder}")),
            "{shown}"
        );
    }
}

#[test]
fn nothing_is_replaced_and_nothing_half_is_left() {
    let folder = TempDir::new().unwrap();
    let dump = Dump::small().bytes();
    fs::write(folder.path().join("a"), &dump).unwrap();
    fs::write(folder.path().join("cut"), &dump[..dump.len() - 9]).unwrap();
    fs::write(folder.path().join("there"), b"precious").unwrap();
    for (arguments, why) in [
        (&["a", "-o", "there"][..], "it exists"),
        (&["a", "-o", "a"], "it exists"),
        (&["cut", "-o", "b"], "its heap dump has no end"),
        (&["there", "-o", "b"], "not an HPROF file"),
        (&["a", "-o", "b", "--keep", "noHash"], "CLASS#FIELD"),
    ] {
        let output = hprof(arguments, folder.path());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(why), "{said}");
    }
    assert_eq!(fs::read(folder.path().join("there")).unwrap(), b"precious");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn a_pattern_that_fits_nothing_is_told() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a"), Dump::small().bytes()).unwrap();
    let output = hprof(&["a", "-o", "b", "--keep", "app.Leaf#w"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, "hprof: no class has the field app.Leaf#w\n");
}
