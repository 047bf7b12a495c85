//! Rows of classes: what no root leads to, and one name in several loaders.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use sample::Dump;
use tempfile::TempDir;

/// Standard output of a command that reads this dump.
fn said(dump: Dump, words: &[&str]) -> String {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("a.hprof");
    std::fs::write(&file, dump.bytes()).unwrap();
    run(words, &file)
}

fn run(words: &[&str], file: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    let output = command.args(words).arg(file).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Three arrays of bytes, of which a root leads to one.
fn with_garbage() -> Dump {
    let mut dump = Dump::new(8);
    for array in 0..3 {
        dump.byte_array(0x4000 + array * 0x100, &[0; 100]);
    }
    dump.root(0x4000);
    dump
}

#[test]
fn top_says_what_no_root_leads_to_and_histo_lists_it() {
    let line = "No root leads to 240 bytes in 2 objects more; hprof histo --unreachable lists them";
    let top = said(with_garbage(), &["top"]);
    assert_eq!(top.lines().last(), Some(line));
    let json = said(with_garbage(), &["top", "--json"]);
    assert!(
        json.contains(r#""unreachable":{"bytes":240,"objects":2}"#),
        "{json}"
    );
    let histo = said(with_garbage(), &["histo", "--unreachable"]);
    let rows: Vec<&str> = histo.lines().skip(1).map(str::trim).collect();
    let expected = ["2    240  byte[]", "2    240  total of 1 row"];
    assert_eq!(rows.get(..2).unwrap(), expected, "{histo}");
    assert!(!said(Dump::new(8), &["top"]).contains("No root"));
}
