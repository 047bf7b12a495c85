//! `hprof sites` and the profiles of `hprof convert` as users see them. Their expected output is in
//! `profiles/`; `BLESS=1` rewrites it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use sample::{Dump, Record};
use tempfile::TempDir;

use crate::run::{hprof, profile, stdout, written};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/profiles");

/// Text profiles of the JDK 8 agent.
const TEXT: &str = "java.hprof.txt";
const TIMES: &str = "times.hprof.txt";

/// The one line on stderr of a command that must fail.
fn failure(arguments: &[&str], file: &Path) -> String {
    let output = hprof(arguments, file);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(stdout(&output), "");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("hprof: ") && message.lines().count() == 1);
    message
}

/// Compares a command's output with a file in `profiles/`.
fn assert_golden(name: &str, arguments: &[&str], file: &Path) {
    let output = hprof(arguments, file);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let golden = Path::new(FOLDER).join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&golden, &output.stdout).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap();
    assert_eq!(stdout(&output), expected, "{name}");
}

fn text(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// The sample without its heap.
fn without_heap(mut sample: Dump) -> Dump {
    let heap = |record: &Record| matches!(record.tag, 0x1C | 0x2C);
    sample.records.retain(|record| !heap(record));
    sample
}

#[test]
fn a_text_profile_lists_its_sites() {
    assert_golden("sites.out", &["sites"], &text(TEXT));
    let garbage = ["sites", "--allocated", "--top", "2", "--depth", "1"];
    assert_golden("sites_allocated.out", &garbage, &text(TEXT));
    let json = ["sites", "--json", "--top", "1"];
    assert_golden("sites_json.out", &json, &text(TEXT));
}

#[test]
fn records_come_before_the_heap_dump_unless_asked_for() {
    let folder = TempDir::new().unwrap();
    let file = written(&folder, "a.hprof", &profile().bytes());
    assert_golden("sites_recorded.out", &["sites"], &file);
    assert_golden("sites_dumped.out", &["sites", "--from", "dump"], &file);
    let alone = written(&folder, "b.hprof", &Dump::small().bytes());
    let (dumped, asked) = (
        hprof(&["sites"], &alone),
        hprof(&["sites", "--from=dump"], &file),
    );
    assert_eq!(stdout(&dumped), stdout(&asked));
}

#[test]
fn stacks_fold() {
    let folder = TempDir::new().unwrap();
    let file = written(&folder, "a.hprof", &profile().bytes());
    assert_golden(
        "sites_folded.out",
        &["convert", "-o", "-", "--to", "collapsed", "--from=sites"],
        &text(TEXT),
    );
    let allocated = [
        "convert",
        "-o",
        "-",
        "--to",
        "collapsed",
        "--from=allocated",
    ];
    assert_golden("sites_allocated_folded.out", &allocated, &file);
    assert_golden(
        "cpu_folded.out",
        &["convert", "-o", "-", "--to", "collapsed"],
        &text(TEXT),
    );
    assert_golden(
        "times_folded.out",
        &["convert", "-o", "-", "--to", "collapsed"],
        &text(TIMES),
    );
    let samples = hprof(&["convert", "-o", "-", "--to", "collapsed"], &file);
    assert_eq!(
        stdout(&samples),
        "app.Leaf.run;app.Leaf.run 9\n",
        "lines are no part of a flame graph, so that both traces are one stack"
    );
}

#[test]
fn folded_stacks_go_to_a_file() {
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("out.folded");
    let arguments = ["convert", "--from=sites", "-o", to.to_str().unwrap()];
    let output = hprof(&arguments, &text(TEXT));
    let said = stdout(&output);
    assert!(
        said.ends_with("out.folded: 6 stacks, 383,064 bytes\n"),
        "{said}"
    );
    let golden = std::fs::read_to_string(text("sites_folded.out")).unwrap();
    assert_eq!(std::fs::read_to_string(&to).unwrap(), golden);
}

#[test]
fn packed_files_are_unpacked() {
    let folder = TempDir::new().unwrap();
    let plain = std::fs::read(text(TEXT)).unwrap();
    // Several members, as written by HotSpot and hprof-rs.
    let mut packed = Vec::new();
    for part in plain.chunks(100) {
        let mut to = flate2::write::GzEncoder::new(&mut packed, flate2::Compression::fast());
        to.write_all(part).unwrap();
        to.finish().unwrap();
    }
    let file = written(&folder, "a.txt.gz", &packed);
    assert_golden("sites.out", &["sites"], &file);
    assert_golden(
        "cpu_folded.out",
        &["convert", "-o", "-", "--to", "collapsed"],
        &file,
    );
}

#[test]
fn a_flame_graph_is_drawn() {
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("out.svg");
    let path = to.to_str().unwrap();
    let binary = written(&folder, "a.hprof", &profile().bytes());
    for (from, file, title, frame) in [
        (
            "--from=samples",
            text(TEXT),
            "CPU samples: java.hprof.txt",
            "Demo.work (6 samples, 3.90%)",
        ),
        (
            "--from=samples",
            text(TEXT),
            "154 samples; 60 more have no stack in the file",
            "Demo.deep (26 samples, 16.88%)",
        ),
        (
            "--from=times",
            text(TIMES),
            "CPU time by method: times.hprof.txt",
            "Demo.work (979 ms, ",
        ),
        (
            "--from=samples",
            binary,
            "CPU samples: a.hprof",
            "app.Leaf.run (9 samples, 100.00%)",
        ),
        (
            "--from=sites",
            text(TEXT),
            "Live bytes by allocation site: ",
            "byte[] (278,400 bytes, ",
        ),
    ] {
        let output = hprof(&["convert", from, "-o", path], &file);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let svg = std::fs::read_to_string(&to).unwrap();
        assert!(svg.trim_end().ends_with("</svg>"));
        for expected in [title, frame] {
            assert!(svg.contains(expected), "no {expected:?} in {svg}");
        }
    }
}

#[test]
fn a_picture_goes_to_a_pipe_too_and_is_always_the_same() {
    let (first, second) = (
        hprof(&["convert", "-o", "-", "--to", "svg"], &text(TEXT)),
        hprof(&["convert", "-o", "-", "--to", "svg"], &text(TEXT)),
    );
    assert!(stdout(&first).contains("<svg"));
    assert_eq!(first.stdout, second.stdout);
}

#[test]
fn names_are_harmless_in_every_output() {
    let folder = TempDir::new().unwrap();
    let hostile = "a;b <script>&\u{1b}[2J";
    let mut sample = profile();
    let at = sample.records.iter().position(|record| match &record.body {
        sample::Body::Bytes(body) => body.ends_with(b"run"),
        sample::Body::Heap(_) => false,
    });
    let id = sample.name("run");
    sample.records[at.unwrap()] = sample::string(id, hostile.as_bytes());
    let file = written(&folder, "a.hprof", &sample.bytes());
    for arguments in [
        vec!["sites"],
        vec!["convert", "-o", "-", "--to", "collapsed"],
        vec!["convert", "-o", "-", "--to", "svg"],
    ] {
        assert!(!stdout(&hprof(&arguments, &file)).contains('\u{1b}'));
    }
    let folded = stdout(&hprof(&["convert", "-o", "-", "--to", "collapsed"], &file));
    assert_eq!(folded.lines().count(), 1);
    assert_eq!(folded.matches(';').count(), 1);
    assert!(!stdout(&hprof(&["convert", "-o", "-", "--to", "svg"], &file)).contains("b <script>"));
}

#[test]
fn a_file_without_sites_tells_how_to_get_them() {
    let folder = TempDir::new().unwrap();
    let mut plain = Dump::small();
    let at = plain.place(1, 0x21, sample::LEAF_OBJECT);
    // Every object has the empty trace, as in HotSpot's own dumps.
    plain.heap(1)[at][9..13].copy_from_slice(&1_u32.to_be_bytes());
    let file = written(&folder, "a.hprof", &plain.bytes());
    assert!(failure(&["sites"], &file).ends_with(
        "a.hprof: no allocation sites: none were recorded, and no object of the heap dump carries the stack \
         where it was allocated. Record them with the agent's option heap=sites or heap=all\n"
    ));
    let message = failure(&["convert", "-o", "/nowhere/x.svg"], &file);
    assert!(message.contains("neither a CPU profile nor allocation sites. Record them"));
    let empty = written(&folder, "b.hprof", &without_heap(Dump::small()).bytes());
    assert!(failure(&["sites"], &empty).contains("and there is no heap dump"));
    assert!(failure(&["sites"], &text(TIMES)).contains("none were recorded"));
}

#[test]
fn a_source_that_is_not_there_is_named() {
    let folder = TempDir::new().unwrap();
    let dump = written(&folder, "a.hprof", &Dump::small().bytes());
    let sites = written(&folder, "b.hprof", &without_heap(profile()).bytes());
    for (arguments, file, expected) in [
        (
            vec!["sites", "--from", "sites"],
            &dump,
            "the heap dump has some: --from dump",
        ),
        (
            vec!["sites", "--from", "dump"],
            &sites,
            "there are recorded sites: --from sites",
        ),
        (vec!["sites", "--allocated"], &dump, "leave --allocated out"),
        (
            vec!["convert", "-o", "-", "--to", "svg", "--from=samples"],
            &dump,
            "no CPU samples",
        ),
        (
            vec!["convert", "-o", "-", "--to", "svg", "--from=times"],
            &sites,
            "no CPU TIME section",
        ),
        (
            vec!["convert", "-o", "-", "--to", "svg", "--from=dump"],
            &sites,
            "--from sites",
        ),
    ] {
        let message = failure(&arguments, file);
        assert!(message.contains(expected), "{message}");
    }
    for (from, expected) in [
        ("sites", "app.Leaf 32"),
        ("dump", "app.Leaf 32"),
        ("samples", "app.Leaf.run 9"),
    ] {
        let file = written(&folder, "c.hprof", &profile().bytes());
        let folded = stdout(&hprof(
            &["convert", "-o", "-", "--to", "collapsed", "--from", from],
            &file,
        ));
        assert!(folded.contains(expected), "{folded}");
    }
}

#[test]
fn outputs_that_cannot_be_written_give_2() {
    let file = text(TEXT);
    for arguments in [
        ["convert", "-o", "/nowhere/x.svg"],
        ["convert", "-o", "/nowhere/x.folded"],
    ] {
        assert!(failure(&arguments, &file).contains("cannot write /nowhere/x"));
    }
}

#[test]
fn damage_is_warned_of() {
    let folder = TempDir::new().unwrap();
    let whole = std::fs::read_to_string(text(TEXT)).unwrap();
    let cut = written(
        &folder,
        "a.txt",
        whole.split("SITES END").next().unwrap().as_bytes(),
    );
    for arguments in [
        &["sites"][..],
        &["convert", "-o", "-", "--to", "collapsed", "--from=sites"],
        &["convert", "-o", "-", "--to", "svg", "--from=sites"],
    ] {
        let output = hprof(arguments, &cut);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(!output.stdout.is_empty());
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("a.txt: 1 damaged place"), "{message}");
    }
}

#[test]
fn other_commands_name_those_that_read_text() {
    for command in ["check", "histo"] {
        let message = failure(&[command], &text(TEXT));
        assert!(message
            .ends_with("a text profile (format=a): only hprof sites and hprof convert read it\n"));
    }
}

#[test]
fn what_grew_is_told_by_the_code_that_allocated_it() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut sample = Dump::small();
    std::fs::write(path("before"), sample.bytes()).unwrap();
    sample.heap(0).push(sample::root(0x05, 0x9000_0000));
    let leaf = sample::instance(0x9000_0000, 4, sample::LEAF, &[0; 17]);
    sample.heap(1).push(leaf);
    std::fs::write(path("after"), sample.bytes()).unwrap();
    let hprof = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
        command.args(arguments).output().unwrap()
    };
    let output = hprof(&["diff", "--by", "site", &path("before"), &path("after")]);
    let text = String::from_utf8(output.stdout).unwrap();
    // Of two instances, neither alone holds the class with its static field of 8 bytes.
    let grown =
        "  +24      0        64            +1        2  app.Leaf\n        at app.Leaf.run(Leaf.java)\n";
    assert!(text.contains(grown), "{text}");
    let total = text.lines().next().unwrap();
    assert!(total.ends_with(" (+32)"), "{text}");
    let output = hprof(&[
        "diff",
        "--by",
        "site",
        "--json",
        &path("before"),
        &path("after"),
    ]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["sites"][0]["before"]["retained"], 40);
    assert_eq!(answer["sites"].as_array().unwrap().len(), 1);
    sample.replace_object(&sample::instance(0x9000_0000, 1, sample::LEAF, &[0; 17]));
    let leaf = sample::instance(sample::LEAF_OBJECT, 1, sample::LEAF, &[0; 17]);
    sample.replace_object(&leaf);
    std::fs::write(path("without"), sample.bytes()).unwrap();
    let output = hprof(&["diff", "--by", "site", &path("before"), &path("without")]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("without: no allocation sites"),
        "{message}"
    );
}
