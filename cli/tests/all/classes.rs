//! Rows of classes: what no root leads to, and one name in several loaders.

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
    let top = said(with_garbage(), &["histo", "--objects"]);
    assert_eq!(top.lines().last(), Some(line));
    let json = said(with_garbage(), &["histo", "--objects", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let expected = serde_json::json!({ "bytes": 240, "objects": 2 });
    assert_eq!(json["unreachable"], expected, "{json}");
    let histo = said(with_garbage(), &["histo", "--unreachable"]);
    let rows: Vec<&str> = histo.lines().skip(1).map(str::trim).collect();
    let expected = ["2    240  byte[]", "2    240  total of 1 row"];
    assert_eq!(rows.get(..2).unwrap(), expected, "{histo}");
    assert!(!said(Dump::new(8), &["histo", "--objects"]).contains("No root"));
}

/// A class by the bootstrap loader and by another one, each with an object; one only by the other.
fn with_loaders() -> Dump {
    const LOADER: u64 = 0x3000;
    let mut dump = Dump::new(8);
    dump.class(0x2000, "app/Loader", Dump::OBJECT, 0, &[], &[]);
    dump.instance(LOADER, 0x2000, &[]);
    for (class, name, loader) in [(1, "Config", 0), (2, "Config", LOADER), (3, "Main", LOADER)] {
        let id = 0x2000 + class * 0x10;
        dump.class(id, &format!("app/{name}"), Dump::OBJECT, loader, &[], &[]);
        dump.instance(id + 0x2000, id, &[]);
        dump.root(id + 0x2000);
    }
    dump
}

#[test]
fn classes_of_one_name_have_their_loaders() {
    let names = |words: &[&str]| {
        let output = said(with_loaders(), words);
        let lines = output.lines().filter(|line| line.contains("app."));
        let names = lines.filter_map(|line| Some(line.split_once("app.")?.1.to_owned()));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    let config = |loader: &str| format!("Config ({loader})");
    let (boot, own) = (config("bootstrap loader"), config("loader 0x3000"));
    assert_eq!(names(&["histo"]), [&boot, &own, "Loader", "Main"]);
    let own = config("app.Loader 0x3000");
    let top: Vec<String> = names(&["histo", "--retained"]);
    assert_eq!(top, [own.as_str(), &boot, "Loader", "Main"]);
    let json = said(with_loaders(), &["histo", "--json"]);
    assert_eq!(json.matches("\"loader\": ").count(), 2, "{json}");
}

/// Two copies of an application, each with an object that a thread holds and a cache that two
/// classes hold.
fn redeployed() -> Dump {
    let mut dump = Dump::new(8);
    dump.class(0x2000, "app/Loader", Dump::OBJECT, 0, &[], &[]);
    for (loader, cache) in [(0x3000, 0x5000), (0x4000, 0x6000)] {
        dump.instance(loader, 0x2000, &[]);
        for (class, name) in [(loader + 0x10, "app/App"), (loader + 0x20, "app/Part")] {
            dump.class(
                class,
                name,
                Dump::OBJECT,
                loader,
                &["part"],
                &[("all", cache)],
            );
        }
        dump.byte_array(cache, &[0; 10_000]);
        dump.instance(loader + 0x30, loader + 0x10, &[loader + 0x20]);
        dump.local(loader + 0x30);
    }
    dump
}

#[test]
fn copies_of_a_loader_are_one_row_with_their_holder() {
    let top = said(redeployed(), &["histo", "--by", "loader"]);
    let mut lines = top.lines().skip(1);
    let (row, below) = (lines.next().unwrap(), lines.next().unwrap());
    assert!(row.trim_start().starts_with("20,"), "{top}");
    let copies = "2 copies of app.Loader: the same 2 classes";
    assert!(row.ends_with(copies), "{top}");
    assert_eq!(below.trim(), "held by thread > java.lang.Thread > app.App");
    let json = said(redeployed(), &["histo", "--by", "loader", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let row = &json["rows"][0];
    assert_eq!((&row["loaders"], &row["held_so"]), (&2.into(), &2.into()));
    assert_eq!(row["ids"], serde_json::json!(["0x3000", "0x4000"]));
}
