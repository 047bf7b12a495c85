//! `hprof convert --to parquet`: tables that are whole, say what is in the dump, and tell no text
//! unasked.

use sample::{wasteful, Dump};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Row;
use tempfile::TempDir;

fn export(dump: &Path, to: &Path, rest: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    let command = command.arg("convert").arg(dump).arg("-o").arg(to);
    let command = command.args(["--to", "parquet"]);
    command.args(rest).output().unwrap()
}

fn dump(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("shop.hprof.gz");
    fs::write(&path, wasteful::dump(8).bytes()).unwrap();
    path
}

fn rows(folder: &Path, table: &str) -> Vec<Row> {
    let file = File::open(folder.join(format!("{table}.parquet"))).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(Result::unwrap).collect()
}

/// The values of these columns as text, row by row.
fn texts(folder: &Path, table: &str, columns: &[&str]) -> Vec<String> {
    let text = |row: Row| {
        let value = |name: &&str| {
            let column = row.get_column_iter().find(|(column, _)| column == name);
            column.unwrap().1.to_string()
        };
        columns.iter().map(value).collect::<Vec<_>>().join(" ")
    };
    rows(folder, table).into_iter().map(text).collect()
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut names: Vec<_> = entries
        .map(|it| it.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn tables_say_what_is_in_the_dump() {
    let folder = TempDir::new().unwrap();
    let (dump, to) = (dump(&folder), folder.path().join("out"));
    let output = export(&dump, &to, &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(files(&to).len(), 10);
    assert_eq!(files(folder.path()), ["out", "shop.hprof.gz"]);
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(
        (mode(&to), mode(&to.join("string.parquet"))),
        (0o700, 0o600)
    );
    let all = texts(
        &to,
        "dump",
        &["dump", "file", "objects", "dangling", "rule"],
    );
    assert_eq!(all, [r#""shop" "shop.hprof.gz" 34 0 "all""#]);
    // The owner, by its id.
    let objects = texts(
        &to,
        "object",
        &["id", "class", "kind", "shallow", "retained", "dominator"],
    );
    let owner = objects
        .iter()
        .find(|row| row.starts_with("28672 "))
        .unwrap();
    let classes = texts(&to, "class", &["class", "name", "instances"]);
    let class = owner.split(' ').nth(1).unwrap();
    assert!(
        classes.contains(&format!("{class} \"app.Owner\" 1")),
        "{classes:?}"
    );
    assert!(owner.contains("\"instance\" 32"), "{owner}");
    let fields = texts(&to, "field", &["class", "name", "static", "type"]);
    assert!(fields.contains(&format!("{class} \"tags\" false \"object\"")));
    assert!(fields.contains(&format!("{class} \"LAST\" true \"object\"")));
    // Two of the places of the map's table are in use, and have their numbers.
    let references = texts(&to, "reference", &["field", "index"]);
    let elements = references.iter().filter(|row| row.starts_with("null"));
    let elements: Vec<_> = elements.filter(|row| !row.ends_with("null")).collect();
    assert_eq!(elements, ["null 0", "null 0", "null 1"]);
    // Garbage is there, and retains nothing.
    assert!(objects
        .iter()
        .any(|row| row.starts_with("17664 ") && row.ends_with("null null")));
}

#[test]
fn a_line_that_is_not_known_has_no_value() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("lines.hprof");
    for (line, expected) in [(17, "17"), (u32::MAX, "null"), (u32::MAX - 2, "null")] {
        let mut dump = Dump::new(8);
        dump.stack(7, ("run", "Main.java", line));
        dump.instance_of(0x9000, Dump::OBJECT, &[], 7);
        dump.root(0x9000);
        fs::write(&file, dump.bytes()).unwrap();
        let to = folder.path().join("out");
        assert_eq!(export(&file, &to, &[]).status.code(), Some(0));
        assert_eq!(texts(&to, "frame", &["line"]), [expected]);
    }
}

#[test]
fn texts_are_told_only_on_request() {
    let folder = TempDir::new().unwrap();
    let (dump, to) = (dump(&folder), folder.path().join("out"));
    assert_eq!(export(&dump, &to, &[]).status.code(), Some(0));
    let hidden = texts(&to, "string", &["length", "value"]);
    assert_eq!(hidden, ["7 null", "7 null", "7 null", "5 null", "3 null"]);
    let hashes = texts(&to, "string", &["hash"]);
    assert_eq!(
        hashes,
        ["0", "0", "0", "1", "2"],
        "they tell nothing of the texts"
    );
    // The next export takes the place of this one.
    assert_eq!(export(&dump, &to, &["--strings"]).status.code(), Some(0));
    let shown = texts(&to, "string", &["value"]);
    assert_eq!(shown[0], format!("\"{}\"", wasteful::SECRET));
    assert_eq!(files(folder.path()), ["out", "shop.hprof.gz"]);
}

#[test]
fn nothing_else_is_replaced() {
    let folder = TempDir::new().unwrap();
    let dump = dump(&folder);
    let (other, empty, file) = (
        folder.path().join("other"),
        folder.path().join("empty"),
        folder.path().join("file"),
    );
    fs::create_dir(&other).unwrap();
    fs::write(other.join("object.parquet"), "mine").unwrap();
    fs::create_dir(&empty).unwrap();
    fs::write(&file, "mine").unwrap();
    for to in [&other, &file, &dump] {
        let output = export(&dump, to, &[]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write"));
    }
    let output = export(&dump, &folder.path().join("none").join("out"), &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("none; create it first"), "{told}");
    assert_eq!(files(&other), ["object.parquet"]);
    assert_eq!(
        export(&dump, &empty, &["--name", "a b"]).status.code(),
        Some(0)
    );
    assert_eq!(texts(&empty, "dump", &["dump"]), ["\"a b\""]);
    assert_eq!(
        files(folder.path()),
        ["empty", "file", "other", "shop.hprof.gz"]
    );
}

#[test]
fn a_file_that_is_cut_is_told_and_one_that_is_none_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let whole = wasteful::dump(8).bytes();
    let (cut, to) = (folder.path().join("cut"), folder.path().join("out"));
    fs::write(&cut, &whole[..whole.len() - 40]).unwrap();
    assert_eq!(export(&cut, &to, &[]).status.code(), Some(1));
    assert_eq!(texts(&to, "dump", &["damaged"]), ["1"]);
    let old = fs::read(to.join("dump.parquet")).unwrap();
    for bytes in [&whole[..0], &whole[..31], b"something else"] {
        fs::write(&cut, bytes).unwrap();
        assert_eq!(export(&cut, &to, &[]).status.code(), Some(2));
        assert_eq!(fs::read(to.join("dump.parquet")).unwrap(), old);
    }
    assert_eq!(files(folder.path()), ["cut", "out"]);
}
