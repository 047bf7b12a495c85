//! The command as users see it: output, exit codes, closed pipes.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use sample::{root, Dump};
use tempfile::TempDir;

use crate::run::{hprof, json, stdout, written};

#[test]
fn a_sound_file_is_ok() {
    let folder = TempDir::new().unwrap();
    let output = hprof(
        &["check"],
        &written(&folder, "a.hprof", &Dump::small().bytes()),
    );
    assert_eq!(output.status.code(), Some(0));
    let bytes = Dump::small().bytes().len();
    let (thousands, rest) = (bytes / 1000, bytes % 1000);
    let verdict = format!("\nOK: {thousands},{rest:03} bytes\n");
    let text = stdout(&output);
    assert!(text.ends_with(&verdict), "{text}");
}

#[test]
fn a_broken_file_names_its_errors() {
    let folder = TempDir::new().unwrap();
    let mut broken = Dump::small();
    let twice = broken.heap(1)[0].clone();
    broken.heap(1).push(twice);
    broken.heap(1).push(root(0x05, sample::OBJECT));
    as_hotspot(&mut broken);
    let file = written(&folder, "a.hprof", &broken.bytes());
    let output = hprof(&["check"], &file);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("error  duplicate-object: "), "{text}");
    assert_eq!(text.lines().last(), Some("1 error, 1 note"));
    let rule = |name: &str| text.find(&format!("  {name}  ")).unwrap();
    assert!(rule("duplicate-object") < rule("root-late"), "{text}");
    let value = json(&hprof(&["check", "--json"], &file));
    assert_eq!(value["ok"], false);
    assert_eq!(value["writer"], "HotSpot");
    assert_eq!(value["rules"][0]["rule"], "duplicate-object");
    assert_eq!(value["faults"][0]["severity"], "error");
}

/// Makes the file start like HotSpot's own: ids of strings are addresses.
fn as_hotspot(dump: &mut Dump) {
    dump.records
        .insert(0, sample::string(0x7F00_0000_1000, b"symbol"));
}

#[test]
fn what_hotspot_does_is_an_error_in_a_file_of_ours() {
    let folder = TempDir::new().unwrap();
    let mut broken = Dump::small();
    broken.heap(1).push(root(0x05, sample::OBJECT));
    let output = hprof(&["check"], &written(&folder, "a.hprof", &broken.bytes()));
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).ends_with("\n1 error\n"));
}

#[test]
fn strictness_and_number_of_faults_can_be_chosen() {
    let folder = TempDir::new().unwrap();
    let mut broken = Dump::small();
    for _ in 0..3 {
        broken.heap(1).push(root(0x05, sample::OBJECT));
    }
    as_hotspot(&mut broken);
    let file = written(&folder, "a.hprof", &broken.bytes());
    let strict = hprof(&["check", "--strict", "--top", "2"], &file);
    assert_eq!(strict.status.code(), Some(1));
    let places = |output: &Output| stdout(output).matches("ROOT STICKY CLASS after").count();
    assert_eq!(places(&strict), 2);
    for (top, count) in [("0", 3), ("9", 3), ("1", 1)] {
        let output = hprof(&["check", "--top", top], &file);
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).ends_with(" bytes, 3 notes\n"));
        assert_eq!(places(&output), count);
    }
}

#[test]
fn android_and_names_with_dots_are_noted() {
    let folder = TempDir::new().unwrap();
    let mut dump = Dump::small();
    dump.version = "JAVA PROFILE 1.0.3";
    dump.heap(0).push(root(0x89, sample::OBJECT));
    // Records without a trace refer to trace 0, which exists; roots are between objects.
    dump.records.insert(0, sample::trace(0, 0, &[]));
    let untraced = sample::instance(0x3000, 0, sample::OBJECT, &[]);
    dump.heap(1).push(untraced);
    dump.heap(1).push(root(0x05, sample::OBJECT));
    for record in &mut dump.records {
        if let (0x01, sample::Body::Bytes(bytes)) = (record.tag, &mut record.body) {
            for byte in bytes.iter_mut().skip(8).filter(|byte| **byte == b'/') {
                *byte = b'.';
            }
        }
    }
    let file = written(&folder, "a.hprof", &dump.bytes());
    let output = hprof(&["check"], &file);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("android-version") && text.contains("dotted-name"),
        "{text}"
    );
    assert!(!text.contains("core-class-missing") && !text.contains("super-zero"));
    let value = json(&hprof(&["histo", "--json"], &file));
    assert_eq!(value["classes"][0]["class"], "java.lang.Thread");
    assert_eq!(value["objects"], 27);
}

#[test]
fn damaged_files_end_with_1_and_say_so_on_stderr() {
    let folder = TempDir::new().unwrap();
    let dump = Dump::small().bytes();
    let file = written(&folder, "cut.hprof", &dump[..dump.len() - 30]);
    for arguments in [&["histo"][..], &["histo", "--json"]] {
        let output = hprof(arguments, &file);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(!output.stdout.is_empty());
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("cut.hprof: 1 damaged place"), "{message}");
    }
    assert!(!stdout(&hprof(&["check"], &file)).contains("packed"));
}

#[test]
fn standard_input_is_a_file_like_any_other() {
    use std::io::Write;
    let folder = TempDir::new().unwrap();
    let dump = Dump::small().bytes();
    let file = written(&folder, "a.hprof", &dump);
    for command in ["check", "histo"] {
        let expected = stdout(&hprof(&[command], &file));
        let last = expected.lines().last().unwrap();
        let run = |stdin: Stdio| {
            let mut child = Command::new(env!("CARGO_BIN_EXE_hprof"));
            child
                .args([command, "-"])
                .stdin(stdin)
                .stdout(Stdio::piped());
            child.spawn().unwrap()
        };
        let mut piped = run(Stdio::piped());
        piped.stdin.take().unwrap().write_all(&dump).unwrap();
        let redirected = run(std::fs::File::open(&file).unwrap().into());
        for child in [piped, redirected] {
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{command}");
            assert_eq!(stdout(&output).lines().last(), Some(last));
        }
    }
}

#[test]
fn check_and_histo_print_tables_and_json() {
    let folder = TempDir::new().unwrap();
    let file = written(&folder, "a.hprof", &Dump::small().bytes());
    let info = stdout(&hprof(&["check"], &file));
    for expected in [
        "Version      1.0.2",
        "Created      2023-11-14 22:13:20 UTC",
        "\"main\"",
        "ROOT JAVA FRAME",
    ] {
        assert!(info.contains(expected), "{info}");
    }
    let value = json(&hprof(&["check", "--json"], &file));
    assert_eq!((&value["objects"], &value["ok"]), (&8.into(), &true.into()));
    assert_eq!(value["threads"][0]["frames"][0]["class"], "app.Leaf");
    let histo = stdout(&hprof(&["histo", "--top", "1"], &file));
    assert_eq!(histo.lines().count(), 4, "{histo}");
    assert!(
        histo.ends_with("\nSizes by Eclipse MAT's rules.\n"),
        "{histo}"
    );
    let value = json(&hprof(&["histo", "--json"], &file));
    assert_eq!(value["objects"], 26);
    assert_eq!(value["classes"][0]["class"], "java.lang.Thread");
}

#[test]
fn help_shows_an_example_and_the_exit_codes() {
    for command in ["check", "histo", "sites"] {
        let help = stdout(&hprof(&[command, "--help"], Path::new("x")));
        assert!(help.contains("Example:\n  hprof ") || help.contains("Examples:\n  hprof "));
    }
    let help = stdout(&hprof(&["--help"], Path::new("x")));
    assert!(help.contains("Exit codes: 0"), "{help}");
    for line in help.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
        stdout(&command.args(arguments).output().unwrap())
    };
    assert_eq!(run(&["help"]), help);
    assert_eq!(run(&["-h"]), help);
    assert_eq!(run(&["help", "leaks"]), run(&["leaks", "--help"]));
    assert!(run(&["help", "show"]).contains(" <FILE> <CLASS|0xID>\n"));
}

#[test]
fn help_offers_a_process_id_only_where_a_command_takes_one() {
    for (command, takes) in [
        ("leaks", true),
        ("show", true),
        ("waste", false),
        ("convert", false),
    ] {
        let help = stdout(&hprof(&[command, "--help"], Path::new("x")));
        assert_eq!(help.contains("process id"), takes, "{help}");
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = TempDir::new().unwrap();
    let file = written(&folder, "a.hprof", &Dump::small().bytes());
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    command
        .arg("check")
        .arg(file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn packages_get_a_page_for_each_command_and_completions_for_each_shell() {
    let parent = TempDir::new().unwrap();
    let folder = parent.path().join("new/manual");
    let output = hprof(&["--manual"], &folder);
    assert_eq!(output.status.code(), Some(0));
    for (name, words) in [
        ("man1/hprof.1", r"hprof\-dump(1)"),
        ("man1/hprof-dump.1", r"\-\-stop\-the\-world"),
        ("completions/hprof.bash", "--stop-the-world"),
        ("completions/_hprof", "--stop-the-world"),
        ("completions/hprof.fish", "stop-the-world"),
    ] {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        assert!(text.contains(words), "{name} lacks {words}:\n{text}");
    }
}

/// The line on stderr of a command that must fail with 2.
fn refusal(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_hprof"))
        .args(arguments)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    let told = String::from_utf8(output.stderr).unwrap();
    told.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_refusal_names_what_to_do() {
    let folder = TempDir::new().unwrap();
    let dump = written(&folder, "a.hprof", &Dump::small().bytes());
    let dump = dump.to_str().unwrap();
    for (arguments, told) in [
        (&["dump", "abc"][..], "it is not a process id"),
        (
            &["sites", "4711"],
            "this command needs a file: hprof dump 4711 writes one",
        ),
        (
            &["convert", dump, "-o", "x.y"],
            "add --to hprof, text, parquet, pprof, collapsed or svg",
        ),
        (
            &["convert", dump, "-o", "x.svg", "--redact"],
            "--redact is for --to hprof",
        ),
        (
            &["check", "4711"],
            "this command needs a file: hprof dump 4711 writes one",
        ),
        (&["diff", "4711"], "hprof diff 4711 --after 10m"),
        (&["diff", dump], "name the later dump, too"),
        (
            &["show", "app.Leaf", dump],
            &format!("the file comes first: hprof show {dump} app.Leaf"),
        ),
        (
            &["show", dump, "app.Lea"],
            "no class is called app.Lea; did you mean app.Leaf?",
        ),
        (
            &["show", dump, "leaf"],
            "no class is called leaf; did you mean app.Leaf?",
        ),
        (
            &["report", dump, "-o", "/nonexistent/x"],
            "there is no folder /nonexistent; create it first",
        ),
    ] {
        let line = refusal(arguments);
        assert!(line.ends_with(told), "{arguments:?}: {line}");
    }
}

#[test]
fn wrong_usage_is_told_what_to_write() {
    let said = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
        let output = command.args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let dump = said(&["dump", "4711", "out.hprof"]);
    assert!(dump.contains("-o names the file: -o out.hprof"), "{dump}");
    let leaks = said(&["leaks", "a.hprof", "--top", "5"]);
    assert!(!leaks.contains("tip:"), "{leaks}");
    let grown = said(&["diff", "a", "b", "--fail-if-grown", "10X"]);
    assert!(grown.contains("such as 1000000 or 10MB"), "{grown}");
    let grown = said(&["diff", "a", "b", "--fail-if-grown", "10MB"]);
    assert!(grown.starts_with("hprof: a: "), "{grown}");
}

#[test]
fn a_page_has_the_name_of_its_dump() {
    let folder = TempDir::new().unwrap();
    let dump = written(&folder, "a.hprof", &Dump::small().bytes());
    let output = Command::new(env!("CARGO_BIN_EXE_hprof"))
        .arg("report")
        .arg(&dump)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(dump.with_extension("html").is_file());
}
