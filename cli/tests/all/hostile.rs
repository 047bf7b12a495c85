//! Files made to exhaust memory, and outputs that would destroy a dump.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use flate2::{write::GzEncoder, Compression};
use sample::{bytes, frame, instance, load_class, record, root, string, trace, Dump};
use tempfile::TempDir;

use crate::run::profile;

/// Address space of the command: its budget is 256 MiB, and the tables built from that take no more
/// than this.
const LIMIT_KIB: u32 = 1 << 20;
/// The same where 1,000 rows have one long name: with copies of it, they would need more.
const ONCE_KIB: u32 = 256 << 10;

/// Bytes of the longest name.
const NAME_BYTES: usize = 1 << 20;

/// A compressed file that starts with the header, a name of 1 MiB with id 9, and the empty trace.
fn packed(folder: &TempDir, name: &str, fill: impl FnOnce(&mut dyn FnMut(&[u8]))) -> PathBuf {
    let path = folder.path().join(name);
    let file = BufWriter::new(std::fs::File::create(&path).unwrap());
    let mut to = GzEncoder::new(file, Compression::fast());
    let mut empty = Dump::small();
    empty.records = vec![string(9, &vec![b'n'; NAME_BYTES]), trace(1, 0, &[])];
    to.write_all(&empty.bytes()).unwrap();
    fill(&mut |more| to.write_all(more).unwrap());
    to.finish().unwrap().flush().unwrap();
    path
}

/// The bytes of records without a header.
fn raw(records: Vec<sample::Record>) -> Vec<u8> {
    let mut none = Dump::small();
    none.records = Vec::new();
    let head = none.bytes().len();
    none.records = records;
    none.bytes().split_off(head)
}

/// Runs the command with little memory. It must end by itself, whatever it finds. Its output is
/// discarded.
fn run(arguments: &[&str], file: &Path) -> Output {
    run_within(LIMIT_KIB, arguments, file)
}

fn run_within(limit_kib: u32, arguments: &[&str], file: &Path) -> Output {
    let line = format!("ulimit -v {limit_kib}; exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &line, env!("CARGO_BIN_EXE_hprof")])
        .args(arguments)
        .arg(file)
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    assert!(
        matches!(code, Some(0..=2)),
        "{arguments:?} {}: {:?} {message}",
        file.display(),
        output.status
    );
    assert!(!message.contains("allocation"), "{message}");
    output
}

#[test]
fn a_long_name_that_many_threads_stand_in_is_kept_once() {
    let folder = TempDir::new().unwrap();
    let file = packed(&folder, "threads.gz", |add| {
        add(&raw(vec![
            load_class(1, 0x1000, 9),
            frame(1, 9, 9, 9, 1, 1),
            trace(2, 0, &[1; 2000]),
        ]));
        let threads = (1..=50).map(|serial| bytes().u1(8).u8(0x1000).u4(serial).u4(2).0);
        add(&raw(vec![
            sample::segment(threads.collect()),
            sample::end(),
        ]));
    });
    for arguments in [&["check"][..], &["convert", "-o", "-", "--to", "text"]] {
        run(arguments, &file);
    }
}

#[test]
fn a_long_name_of_many_classes_is_kept_once() {
    let folder = TempDir::new().unwrap();
    let file = packed(&folder, "classes.gz", |add| {
        let ids = (1..=1_000_u64).map(|number| (number as u32, 0x10_0000 + 8 * number));
        add(&raw(ids
            .clone()
            .map(|(serial, id)| load_class(serial, id, 9))
            .collect()));
        let objects =
            ids.flat_map(|(_, id)| [instance(id << 20, 1, id, &[]), root(0x05, id << 20)]);
        add(&raw(vec![
            sample::segment(objects.collect()),
            sample::end(),
        ]));
    });
    run_within(ONCE_KIB, &["histo", "--top", "1"], &file);
    for rows in ["500", "0"] {
        run_within(ONCE_KIB, &["histo", "--top", rows], &file);
        run_within(ONCE_KIB, &["histo", "--retained", "--top", rows], &file);
    }
    run_within(ONCE_KIB, &["histo", "--sizes", "mat"], &file);
    run_within(ONCE_KIB, &["waste"], &file);
    let tables = folder.path().join("tables");
    let words = ["convert", "--to", "parquet", "-o", tables.to_str().unwrap()];
    run_within(ONCE_KIB, &words, &file);
    run_within(ONCE_KIB, &["check"], &file);
    let page = folder.path().join("page.html");
    let page = page.to_str().unwrap();
    run_within(ONCE_KIB, &["report", "-o", page], &file);
}

#[test]
fn a_long_name_of_many_sites_is_kept_once() {
    let folder = TempDir::new().unwrap();
    let file = packed(&folder, "sites.gz", |add| {
        add(&raw(vec![
            load_class(1, 0x1000, 9),
            frame(1, 9, 9, 9, 1, 1),
        ]));
        for serial in 2..1002_u32 {
            let stack = vec![1; serial as usize - 1];
            add(&raw(vec![trace(serial, 0, &stack)]));
        }
        let mut sites = bytes().u2(0).u4(0).u4(1).u4(1).u8(1).u8(1).u4(100_000);
        for number in 0..100_000 {
            let row = bytes().u1(0).u4(1).u4(2 + number % 1000);
            sites = sites.all(&row.u4(number).u4(1).u4(number).u4(1).0);
        }
        add(&raw(vec![record(0x06, sites)]));
    });
    run(&["sites", "--top", "1"], &file);
    run(&["sites", "--top", "0", "--depth", "2"], &file);
    let profile = folder.path().join("x.pb.gz");
    let profile = profile.to_str().unwrap();
    run(&["convert", "--from=sites", "-o", profile], &file);
    let picture = folder.path().join("x.svg");
    let output = run(&["convert", "-o", picture.to_str().unwrap()], &file);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("too many stacks for a picture"),
        "{message}"
    );
}

#[test]
fn a_long_name_of_many_frames_is_kept_once() {
    let folder = TempDir::new().unwrap();
    let file = packed(&folder, "frames.gz", |add| {
        add(&raw(vec![load_class(1, 0x1000, 9)]));
        add(&raw((1..=200_000)
            .map(|id| frame(id, 9, 9, 9, 1, 1))
            .collect()));
        add(&raw(vec![
            trace(2, 0, &[1, 2, 3]),
            record(0x0D, bytes().u4(5).u4(1).u4(5).u4(2)),
        ]));
    });
    run(&["convert", "-o", "-", "--to", "svg"], &file);
    run(&["convert", "-o", "-", "--to", "collapsed"], &file);
    run(&["check"], &file);
}

#[test]
fn a_bomb_of_arrays_is_read_in_little_memory() {
    let folder = TempDir::new().unwrap();
    // Two million arrays, and one that claims to have 4 GiB.
    let file = packed(&folder, "arrays.gz", |add| {
        let ids = (0..100_000).map(|at| 0x1000_0000 + at * 16);
        let arrays = ids.map(|id| sample::primitive_array(id, 8, 0, &[]));
        let segment = raw(vec![sample::segment(arrays.collect())]);
        for _ in 0..20 {
            add(&segment);
        }
        let claim = sample::primitive_array(0x10, 8, u32::MAX, &[1; 100]);
        add(&raw(vec![sample::segment(vec![claim]), sample::end()]));
    });
    let output = run(&["waste"], &file);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("1 damaged place"), "{message}");
    let tables = folder.path().join("tables");
    let output = run(
        &["convert", "--to", "parquet", "-o", tables.to_str().unwrap()],
        &file,
    );
    assert_eq!(output.status.code(), Some(1));
}

fn hprof(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    command.args(arguments).output().unwrap()
}

#[test]
fn no_output_takes_the_place_of_a_dump() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (input, other, packed) = (path("in.hprof"), path("other.hprof"), path("p.gz"));
    let (hard, link) = (path("hard"), path("link"));
    let dump = profile().bytes();
    std::fs::write(&input, &dump).unwrap();
    std::fs::write(&other, &dump).unwrap();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&dump).unwrap();
    let gzip = gzip.finish().unwrap();
    std::fs::write(&packed, &gzip).unwrap();
    std::fs::hard_link(&input, &hard).unwrap();
    std::os::unix::fs::symlink(&input, &link).unwrap();
    for target in [&input, &other, &packed, &hard, &link] {
        for read in [&input, &link] {
            for form in ["svg", "collapsed", "pprof", "text", "hprof", "parquet"] {
                let redact = (form == "hprof").then_some("--redact");
                let words = ["convert", read, "-o", target, "--to", form];
                let output = hprof(&words.into_iter().chain(redact).collect::<Vec<_>>());
                assert_eq!(output.status.code(), Some(2), "{form}");
                let message = String::from_utf8(output.stderr).unwrap();
                let refused = format!("cannot write {target}: ");
                assert!(message.contains(&refused), "{form}: {message}");
            }
            let output = hprof(&["report", read, "-o", target]);
            assert_eq!(output.status.code(), Some(2), "{output:?}");
        }
    }
    assert!(std::fs::read(&input).unwrap() == dump && std::fs::read(&other).unwrap() == dump);
    assert!(std::fs::read(&packed).unwrap() == gzip);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 5);
}

/// Only root can make such a link.
#[test]
fn no_output_goes_through_a_link_of_another_user() {
    const NOBODY: u32 = 65_534;
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (input, heap) = (path("in.hprof"), path("heap.hprof"));
    let (own, real) = (path("own"), path("real"));
    std::fs::write(&input, profile().bytes()).unwrap();
    std::fs::write(&heap, Dump::small().bytes()).unwrap();
    std::fs::write(&own, "own").unwrap();
    std::fs::create_dir(&real).unwrap();
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, path(name)).unwrap();
        std::os::unix::fs::lchown(path(name), Some(NOBODY), None)
    };
    if link("own", "link").and(link("real", "folder")).is_err() {
        return;
    }
    // One of this user's leads to one of another user's.
    std::os::unix::fs::symlink("link", path("further")).unwrap();
    for target in ["link", "further", "folder/new", "./folder/../link"] {
        let target = path(target);
        for arguments in [
            &["convert", &input, "--to", "svg", "-o", &target][..],
            &["convert", &heap, "--to", "text", "-o", &target],
            &["report", &heap, "-o", &target],
            &["convert", &heap, "--to", "parquet", "-o", &target],
        ] {
            let output = hprof(arguments);
            assert_eq!(output.status.code(), Some(2), "{arguments:?}");
            let message = String::from_utf8(output.stderr).unwrap();
            let is_told = message.contains("is a symbolic link of another user");
            assert!(is_told, "{arguments:?}: {message}");
        }
    }
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "own");
    assert_eq!(std::fs::read_dir(&real).unwrap().count(), 0);
}

#[test]
fn an_output_is_replaced_through_links_and_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (input, old, link) = (path("in.hprof"), path("old.svg"), path("link.svg"));
    std::fs::write(&input, profile().bytes()).unwrap();
    std::fs::write(&old, "old").unwrap();
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("old.svg", &link).unwrap();
    assert_eq!(
        hprof(&["convert", &input, "-o", &link]).status.code(),
        Some(0)
    );
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(std::fs::read_to_string(&old).unwrap().contains("<svg"));
    assert_eq!(
        std::fs::metadata(&old).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(
        hprof(&["convert", &input, "-o", "/dev/null", "--to", "svg"])
            .status
            .code(),
        Some(0)
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}
