//! `hprof convert`: an Android dump becomes one of version 1.0.2. It is what Android's hprof-conv
//! makes, byte by byte, but for arrays without elements, whose length hprof-conv forgets to change.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sample::{bytes, primitive_array, root, segment, string, Dump, Record, ARRAY, FLAGS, MAIN};
use tempfile::TempDir;

/// Android's sub-records, each with what becomes of it.
fn pairs() -> Vec<(Vec<u8>, Vec<u8>)> {
    let unknown = || root(0xFF, ARRAY);
    let mut pairs: Vec<_> = [0x89, 0x8A, 0x8B, 0x8C, 0x8D]
        .map(|tag| (root(tag, ARRAY), unknown()))
        .into();
    pairs.push((bytes().u1(0x8E).u8(ARRAY).u4(1).u4(2).0, unknown()));
    pairs.push((bytes().u1(0xFE).u4(1).u8(3).0, Vec::new()));
    let without = bytes().u1(0xC3).u8(0x5000).u4(1).u4(7).u1(10).0;
    pairs.push((without, primitive_array(0x5000, 10, 0, &[])));
    pairs.push((root(0x05, FLAGS), root(0x05, FLAGS)));
    pairs
}

/// The sample with one more segment; the dump of Android and the one of version 1.0.2.
fn samples() -> (Vec<u8>, Vec<u8>) {
    let with = |version: &'static str, sub_records: Vec<Vec<u8>>| {
        let mut sample = Dump::small();
        sample.version = version;
        let place = sample.records.len() - 1;
        let timed = Record {
            time: 77,
            ..segment(sub_records)
        };
        sample.records.insert(place, timed);
        sample.bytes()
    };
    let (android, plain) = pairs().into_iter().unzip();
    (
        with("JAVA PROFILE 1.0.3", android),
        with("JAVA PROFILE 1.0.2", plain),
    )
}

fn convert(from: &Path, to: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    command.arg("convert").arg(from).arg("-o").arg(to);
    command.output().unwrap()
}

fn paths(folder: &TempDir) -> (PathBuf, PathBuf) {
    (
        folder.path().join("android"),
        folder.path().join("plain.hprof"),
    )
}

#[test]
fn what_is_androids_alone_is_changed() {
    let folder = TempDir::new().unwrap();
    let (from, to) = paths(&folder);
    let (android, plain) = samples();
    std::fs::write(&from, &android).unwrap();
    let output = convert(&from, &to);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.ends_with(": version 1.0.2; changed or left out: 8 records that only Android has\n")
    );
    assert!(std::fs::read(&to).unwrap() == plain);
}

#[test]
fn info_tells_androids_heaps() {
    let folder = TempDir::new().unwrap();
    let (from, _) = paths(&folder);
    let heap = |name: u64| bytes().u1(0xFE).u4(1).u8(name).0;
    let array = |id: u64| primitive_array(id, 8, 16, &[7; 16]);
    let mut sample = Dump::small();
    sample.version = "JAVA PROFILE 1.0.3";
    let place = sample.records.len() - 1;
    let all = vec![
        heap(0x901),
        array(0x6000),
        array(0x6100),
        heap(0x902),
        array(0x6200),
    ];
    sample.records.insert(place, segment(all));
    sample.records.insert(0, string(0x901, b"zygote"));
    sample.records.insert(0, string(0x902, b"app"));
    std::fs::write(&from, sample.bytes()).unwrap();
    let told = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
        let output = command.arg("check").args(more).arg(&from).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let answer: serde_json::Value = serde_json::from_str(&told(&["--json"])).unwrap();
    let heaps = serde_json::json!([
        { "bytes": 64, "name": "zygote", "objects": 2 },
        { "bytes": 32, "name": "app", "objects": 1 },
    ]);
    assert_eq!(answer["heaps"], heaps);
    assert!(told(&[]).contains("zygote"));
}

#[test]
fn large_arrays_are_not_kept_in_memory() {
    let folder = TempDir::new().unwrap();
    let (from, to) = paths(&folder);
    let large = primitive_array(0x6000, 8, 3 << 20, &vec![7; 3 << 20]);
    let small = root(0x8D, MAIN);
    let mut sample = Dump::small();
    sample.version = "JAVA PROFILE 1.0.3";
    let place = sample.records.len() - 1;
    let all = segment(vec![small.clone(), large.clone(), small]);
    sample.records.insert(place, all);
    std::fs::write(&from, sample.bytes()).unwrap();
    assert_eq!(convert(&from, &to).status.code(), Some(0));
    let unknown = root(0xFF, MAIN);
    sample.version = "JAVA PROFILE 1.0.2";
    sample.records[place] = segment(vec![unknown.clone(), large]);
    sample.records.insert(place + 1, segment(vec![unknown]));
    assert!(std::fs::read(&to).unwrap() == sample.bytes());
}

#[test]
fn other_dumps_and_broken_ones_are_refused() {
    let folder = TempDir::new().unwrap();
    let (from, to) = paths(&folder);
    let (android, plain) = samples();
    std::fs::write(&from, &plain).unwrap();
    let output = convert(&from, &to);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not an Android dump"));
    for length in (0..android.len()).step_by(29) {
        std::fs::write(&from, &android[..length]).unwrap();
        let output = convert(&from, &to);
        // A file may end between two records.
        if output.status.code() != Some(0) {
            assert_eq!(output.status.code(), Some(2), "{length}: {output:?}");
            assert!(!to.exists());
        } else {
            std::fs::remove_file(&to).unwrap();
        }
    }
    let mut strange = android;
    let place = strange.len() - 9 - 9;
    strange[place] = 0x99;
    std::fs::write(&from, &strange).unwrap();
    let output = convert(&from, &to);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("it is damaged at offset"));
    assert!(!to.exists());
    // A dump is not replaced, not even by one.
    std::fs::write(&to, &plain).unwrap();
    std::fs::write(&from, samples().0).unwrap();
    assert_eq!(convert(&from, &to).status.code(), Some(2));
}
