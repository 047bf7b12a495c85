//! `hprof convert --to text`: every kind of file in the layout of the JDK's agent.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use sample::{bytes, record, root, Dump};
use tempfile::TempDir;

use crate::run::{hprof, packed, written};

/// The text of a file that is sound.
fn text(dump: &[u8]) -> String {
    let folder = TempDir::new().unwrap();
    let output = hprof(
        &["convert", "-o", "-", "--to", "text"],
        &written(&folder, "a", dump),
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The sample with a profile.
fn profile() -> Vec<u8> {
    let mut sample = Dump::small();
    let samples = bytes().u4(9).u4(2).u4(6).u4(2).u4(3).u4(4);
    sample.records.push(record(0x0D, samples));
    let row = bytes().u1(0).u4(18).u4(4).u4(4000).u4(100).u4(9000).u4(225);
    let sites = bytes().u2(0).u4(0).u4(5000).u4(110);
    let sites = sites.u8(50_000).u8(300).u4(1);
    sample.records.push(record(0x06, sites.all(&row.0)));
    sample.bytes()
}

#[test]
fn a_dump_has_its_threads_stacks_objects_and_profiles() {
    let text = text(&profile());
    for line in [
        "THREAD START (obj=2000, id = 1, name=\"main\", group=\"\")",
        "TRACE 2:\n\tapp.Leaf.run(Leaf.java:7)\n\tapp.Leaf.run(Leaf.java:Unknown line)",
        "TRACE 1:\n\t<empty>",
        "ROOT 2000 (kind=<thread>, id=1, trace=2)",
        "OBJ 2000 (sz=16, trace=1, class=java.lang.Thread@1028)\n\tname\t\t2030",
        "CLS 1038 (name=app.Leaf, trace=1)\n\tsuper\t\t1030",
        "HEAP DUMP END\nCPU SAMPLES BEGIN (total = 9) ",
        "   1 66.67% 66.67%       6     2 app.Leaf.run",
        "   2 33.33% 100.00%       3     4 app.Leaf.run",
        "    1 80.00% 80.00%      4000  100      9000   225     4 app.Leaf",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(text.ends_with("SITES END\n"));
}

#[test]
fn plain_packed_and_piped_files_have_one_text() {
    let folder = TempDir::new().unwrap();
    let plain = profile();
    let expected = text(&plain);
    assert_eq!(text(&packed(&plain)), expected);
    let input = written(&folder, "a.hprof", &plain);
    let mut piped = Command::new(env!("CARGO_BIN_EXE_hprof"));
    let piped = piped.args(["convert", "-", "-o", "-", "--to", "text"]);
    let piped = piped.stdin(File::open(&input).unwrap());
    assert_eq!(piped.output().unwrap().stdout, expected.as_bytes());
    let target = folder.path().join("a.txt");
    let written = hprof(&["convert", "-o", target.to_str().unwrap()], &input);
    assert_eq!(written.status.code(), Some(0));
    assert_eq!(fs::read(&target).unwrap(), expected.as_bytes());
    let mode = fs::metadata(&target).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn android_and_narrow_ids_are_read() {
    let mut android = Dump::small();
    android.version = "JAVA PROFILE 1.0.3";
    android.heap(0).push(root(0x89, sample::OBJECT));
    assert!(text(&android.bytes()).contains("ROOT 1000 (kind=<unknown>)\n"));
    let mut narrow = Dump::empty(4);
    narrow.version = "JAVA PROFILE 1.0.1";
    narrow.class(0x10, "app/Node", 0, 0, &["self"], &[]);
    narrow.instance_of(0x20, 0x10, &[0x20], 1);
    let text = text(&narrow.bytes());
    let object = "OBJ 20 (sz=16, trace=1, class=app.Node@10)\n\tself\t\t20\n";
    assert!(text.contains(object), "{text}");
}

#[test]
fn a_cut_file_gives_what_it_has_and_what_is_no_dump_gives_no_file() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("a.txt");
    let to_target = &["convert", "-o", target.to_str().unwrap()];
    let mut cut = Dump::small().bytes();
    cut.truncate(cut.len() - 20);
    let output = hprof(to_target, &written(&folder, "cut", &cut));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = fs::read_to_string(&target).unwrap();
    assert!(text.ends_with("HEAP DUMP END\n"));
    fs::remove_file(&target).unwrap();
    for no_dump in [&b"something else"[..], text.as_bytes()] {
        let output = hprof(to_target, &written(&folder, "none", no_dump));
        assert_eq!(output.status.code(), Some(2));
        assert!(!target.exists());
    }
}
