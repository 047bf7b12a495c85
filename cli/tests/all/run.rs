//! Runs the command on files that tests make.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flate2::{write::GzEncoder, Compression};
use sample::{bytes, record, Dump};
use tempfile::TempDir;

/// Runs the command with these words and the file.
pub(crate) fn hprof(words: &[&str], file: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    command.args(words).arg(file).output().unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut to = GzEncoder::new(Vec::new(), Compression::fast());
    to.write_all(bytes).unwrap();
    to.finish().unwrap()
}

pub(crate) fn written(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The sample with a profile: 18 is the serial of app.Leaf, trace 4 has two frames, trace 1 none.
pub(crate) fn profile() -> Dump {
    let mut sample = Dump::small();
    let leaf = bytes().u1(0).u4(18).u4(4).u4(4000).u4(100).u4(9000).u4(225);
    let ints = bytes().u1(10).u4(0).u4(1).u4(48).u4(2).u4(30_000).u4(5);
    let sites = bytes().u2(0).u4(0).u4(5000).u4(110).u8(50_000).u8(300);
    let sites = sites.u4(2).all(&leaf.0).all(&ints.0);
    sample.records.push(record(0x06, sites));
    let samples = bytes().u4(9).u4(2).u4(6).u4(2).u4(3).u4(4);
    sample.records.push(record(0x0D, samples));
    sample
}
