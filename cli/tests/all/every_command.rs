//! Every command that reads a dump, on files that are none, are cut, or are made to exhaust memory:
//! each ends with a message and an exit code, in little memory.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use flate2::{write::GzEncoder, Compression};
use rustix::process::{kill_process, Pid, Signal};
use sample::{bytes, instance, load_class, ClassDump, Dump};
use tempfile::TempDir;

use crate::run::{packed, written};

/// Address space of the command: its budget is 256 MiB, and the tables built from that take no more
/// than this.
const LIMIT_KIB: u32 = 1 << 20;

/// The commands, with `FILE` for the dump and `OUT` for what is not there yet.
const COMMANDS: [&str; 25] = [
    "check FILE",
    "histo FILE",
    "sites FILE",
    "convert FILE -o - --to svg",
    "convert FILE -o - --to text",
    "leaks FILE",
    "memory FILE",
    "histo --objects FILE",
    "histo --retained FILE",
    "histo --by package --json FILE",
    "histo --by loader FILE",
    "histo --by thread FILE",
    "histo --by site FILE",
    "show FILE app.Leaf",
    "show FILE 0x10",
    "threads FILE",
    "waste FILE",
    "diff FILE FILE",
    "report FILE -o OUT",
    "convert FILE -o OUT --to parquet",
    "convert FILE -o OUT --to hprof --redact",
    "convert FILE -o OUT --to hprof --redact=strings",
    "convert FILE -o OUT --to hprof",
    "mcp FILE",
    "view FILE",
];

/// Questions to `hprof mcp`.
const QUESTIONS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"leaks","arguments":{}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"waste","arguments":{}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"show","arguments":{"of":"0x10"}}}
"#;

/// Address space for a file that decompresses to more than that.
const SMALL_KIB: u32 = 96 << 10;

/// What a command said, and its exit code.
#[derive(Debug)]
struct Said {
    code: i32,
    out: String,
    err: String,
}

/// Each way to read a large file: one command where others ask the same reader for more.
fn one_of_each() -> impl Iterator<Item = &'static str> {
    let again = [
        "histo --",
        "show FILE 0x10",
        "threads",
        "diff",
        "waste",
        "svg",
        "=strings",
    ];
    COMMANDS
        .into_iter()
        .filter(move |it| !again.iter().any(|word| it.contains(word)))
}

fn run(folder: &TempDir, command: &str, file: &Path) -> Said {
    run_within(LIMIT_KIB, folder, command, file)
}

fn run_within(limit_kib: u32, folder: &TempDir, command: &str, file: &Path) -> Said {
    let (file, out) = (file.to_str().unwrap(), folder.path().join("out"));
    let words = command.split(' ').map(|word| match word {
        "FILE" => file,
        "OUT" => out.to_str().unwrap(),
        word => word,
    });
    let line = format!("ulimit -v {limit_kib}; exec \"$0\" \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &line, env!("CARGO_BIN_EXE_hprof")])
        .args(words)
        // Else each thread reserves 64 MiB of addresses.
        .env("MALLOC_ARENA_MAX", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = hear(&mut child, command);
    assert!(
        (0..=2).contains(&said.code) && !said.err.contains("panicked"),
        "{command} {file}: {said:?}"
    );
    assert!(
        !said.err.contains("memory allocation"),
        "{command}: {said:?}"
    );
    if out.is_dir() {
        fs::remove_dir_all(&out).unwrap();
    } else if out.exists() {
        fs::remove_file(&out).unwrap();
    }
    said
}

/// Waits for the end of a command. A server is asked, and ended with SIGTERM: whoever started the
/// tests may have SIGINT ignored.
fn hear(child: &mut Child, command: &str) -> Said {
    let mut to = child.stdin.take().unwrap();
    if command.starts_with("mcp") {
        // It may have ended before.
        let _ = to.write_all(QUESTIONS.as_bytes());
    }
    drop(to);
    let mut err = child.stderr.take().unwrap();
    let hearing = std::thread::spawn(move || {
        let mut text = Vec::new();
        err.read_to_end(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    });
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    if command.starts_with("view") && out.read_line(&mut text).unwrap() > 0 {
        kill_process(Pid::from_child(child), Signal::TERM).unwrap();
    }
    let mut rest = Vec::new();
    out.read_to_end(&mut rest).unwrap();
    Said {
        code: child.wait().unwrap().code().unwrap_or(-1),
        out: text + &String::from_utf8_lossy(&rest),
        err: hearing.join().unwrap(),
    }
}

/// The subcommands of `hprof --help`, but those that read no dump.
fn readers_of_dumps() -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_hprof"))
        .arg("--help")
        .output();
    let help = String::from_utf8(output.unwrap().stdout).unwrap();
    let (list, _) = help.split_once("\nhprof help COMMAND").unwrap();
    let names = list.lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        (!name.is_empty()).then(|| name.to_owned())
    });
    names
        .filter(|name| !["dump", "list"].contains(&name.as_str()))
        .collect()
}

#[test]
fn no_command_is_left_out_here_or_in_its_page() {
    let page = include_str!("../../../docs/hprof-command.md");
    let commands = readers_of_dumps();
    assert!(commands.len() > 10, "{commands:?}");
    for name in commands {
        let is_here = COMMANDS
            .iter()
            .any(|it| it.split(' ').next() == Some(&name));
        assert!(is_here, "{name} reads dumps and is not among COMMANDS");
        assert!(
            page.contains(&format!("`{name} ")),
            "{name} has no row in its page"
        );
    }
}

fn must_be_refused(folder: &TempDir, name: &str) {
    for command in COMMANDS {
        let said = run(folder, command, &folder.path().join(name));
        assert_eq!(said.code, 2, "{command} {name}: {said:?}");
        let words = format!("{name}: ");
        assert!(said.err.starts_with("hprof: "), "{command}: {said:?}");
        assert!(said.err.contains(&words), "{command} {name}: {said:?}");
        assert_eq!(said.err.lines().count(), 1, "{command} {name}: {said:?}");
    }
}

#[test]
fn what_is_no_dump_is_refused_by_name() {
    let folder = TempDir::new().unwrap();
    let sound = Dump::small().bytes();
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("byte", vec![b'J']),
        ("magic", sound[..18].to_vec()),
        ("other", b"precious notes, no dump at all\n".to_vec()),
        ("empty.gz", packed(b"")),
        ("cut.gz", packed(&sound)[..12].to_vec()),
        ("other.gz", packed(b"precious")),
    ] {
        written(&folder, name, &bytes);
        must_be_refused(&folder, name);
    }
    fs::create_dir(folder.path().join("folder")).unwrap();
    must_be_refused(&folder, "folder");
    must_be_refused(&folder, "nowhere");
}

#[test]
fn a_dump_that_is_cut_anywhere_is_told_of() {
    let folder = TempDir::new().unwrap();
    let sound = Dump::small().bytes();
    for part in 1..8 {
        let cut = &sound[..sound.len() * part / 8];
        for (name, bytes) in [("cut", cut.to_vec()), ("cut.gz", packed(cut))] {
            let file = written(&folder, name, &bytes);
            for command in COMMANDS {
                let said = run(&folder, command, &file);
                let is_told =
                    said.code == 0 || said.err.contains(name) || command.starts_with("check");
                assert!(is_told, "{command} {part}: {said:?}");
            }
        }
    }
}

/// How many changed dumps every command reads; `make fuzz` sets more.
fn fuzz_rounds() -> u64 {
    let rounds = std::env::var("HPROF_FUZZ_ROUNDS");
    rounds.map_or(2, |rounds| rounds.parse().unwrap())
}

/// The dump with some bytes changed, cut out or repeated; the same for the same number.
fn changed(sound: &[u8], number: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(number);
    let mut bytes = sound.to_vec();
    for _ in 0..random.usize(1..6) {
        let at = random.usize(..bytes.len());
        let end = bytes.len().min(at + random.usize(1..40));
        match random.u8(..5) {
            0 => bytes[at] = [0, 1, 0x7F, 0x80, 0xFF][random.usize(..5)],
            1 => bytes[at] ^= 1 << random.u8(..8),
            2 => bytes[at..end].fill(0xFF),
            3 => drop(bytes.drain(at..end)),
            _ => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }
    bytes
}

#[test]
fn changed_bytes_make_no_command_fail_in_another_way() {
    let folder = TempDir::new().unwrap();
    let sound = Dump::small().bytes();
    for number in 0..fuzz_rounds() {
        let file = written(
            &folder,
            &format!("changed.{number}"),
            &changed(&sound, number),
        );
        for command in COMMANDS {
            run(&folder, command, &file);
        }
        fs::remove_file(file).unwrap();
    }
}

/// A chain of classes with one field of this type each.
fn chain(classes: u32, kind: u8) -> Vec<u8> {
    let mut sample = Dump::small();
    let id = |number: u32| 0x10_0000 + u64::from(number) * 16;
    let loads = (1..=classes).map(|number| load_class(100 + number, id(number), 1));
    sample.records.splice(0..0, loads.collect::<Vec<_>>());
    let mut above = sample::OBJECT;
    let dumps = (1..=classes).map(|number| {
        let mut dump = ClassDump::new(id(number), above);
        dump.fields = vec![(1, kind)];
        above = id(number);
        dump.bytes()
    });
    sample.heap(0).extend(dumps);
    sample.heap(1).push(instance(0x9000_0000, 1, above, &[]));
    sample.bytes()
}

#[test]
fn classes_that_inherit_too_much_are_refused() {
    let folder = TempDir::new().unwrap();
    for (name, kind) in [("references.gz", 2), ("bytes.gz", 8)] {
        let file = written(&folder, name, &packed(&chain(25_000, kind)));
        for command in COMMANDS {
            let said = run(&folder, command, &file);
            let is_told = said.err.contains(name) || said.code < 2;
            assert!(is_told, "{command}: {said:?}");
            let is_refused = said.err.contains("MiB of memory");
            let asks_for_sizes = ["histo", "leaks", "show", "parquet", "report"];
            let asks = asks_for_sizes.iter().any(|word| command.contains(word));
            assert!(is_refused || !asks, "{command}: {said:?}");
        }
    }
}

#[test]
fn a_bomb_of_names_takes_little_memory() {
    const NAME_BYTES: u32 = 1 << 16;
    let folder = TempDir::new().unwrap();
    let mut to = GzEncoder::new(Vec::new(), Compression::fast());
    // The header is all that stands before the names.
    to.write_all(&Dump::small().bytes()[..31]).unwrap();
    let text = vec![b'n'; NAME_BYTES as usize];
    for id in 0..4_600 {
        let head = bytes().u1(1).u4(0).u4(8 + NAME_BYTES).u8(id);
        to.write_all(&head.all(&text).0).unwrap();
    }
    let file = written(&folder, "bomb.gz", &to.finish().unwrap());
    for command in one_of_each() {
        let said = run(&folder, command, &file);
        // A copy needs no table of names.
        let is_copied = command.contains("redact") && said.code == 0;
        let is_refused = said.code == 2 && said.err.contains("bomb.gz: ");
        let is_answered = command.starts_with("mcp") && said.out.contains("MiB of memory");
        assert!(
            is_copied || is_refused || is_answered,
            "{command}: {said:?}"
        );
    }
}

#[test]
fn what_expands_to_more_than_the_memory_is_read_in_parts() {
    const ARRAY_BYTES: usize = 100 << 20;
    let folder = TempDir::new().unwrap();
    let mut sample = Dump::small();
    let zeros = vec![0; ARRAY_BYTES];
    let array = sample::primitive_array(0x9000_0000, 8, ARRAY_BYTES as u32, &zeros);
    sample.heap(1).push(array);
    let file = written(&folder, "bomb.gz", &packed(&sample.bytes()));
    assert!(fs::metadata(&file).unwrap().len() < 2 << 20);
    // The text of so many zeros would take a minute.
    for command in one_of_each().filter(|it| !it.contains("text")) {
        let said = run_within(SMALL_KIB, &folder, command, &file);
        assert!(
            said.code == 0 || said.err.contains("bomb.gz"),
            "{command}: {said:?}"
        );
    }
}

/// An array of this many references, which lead to the first objects in turn.
fn references(to: u64, count: u32) -> Vec<u8> {
    let mut sample = Dump::small();
    let object = |at: u64| 0x9000_0000 + at % to * 8;
    let elements: Vec<u64> = (0..u64::from(count)).map(object).collect();
    let objects = (0..to).map(|at| instance(object(at), 1, sample::OBJECT, &[]));
    sample.heap(1).extend(objects);
    let array = sample::object_array(0x9100_0000, sample::OBJECT_ARRAY, &elements);
    sample.heap(1).push(array);
    sample.heap(1).push(sample::root(0x05, 0x9100_0000));
    packed(&sample.bytes())
}

/// The commands that keep references.
fn graph_commands() -> impl Iterator<Item = &'static &'static str> {
    let words = ["leaks", "report", "mcp"];
    COMMANDS
        .iter()
        .filter(move |it| words.iter().any(|word| it.starts_with(word)))
}

#[test]
fn an_array_filled_with_one_object_takes_little_memory() {
    let folder = TempDir::new().unwrap();
    let file = written(&folder, "filled.gz", &references(1, 12 << 20));
    for command in graph_commands() {
        let said = run_within(SMALL_KIB, &folder, command, &file);
        assert_eq!(said.code, 0, "{command}: {said:?}");
    }
}

#[test]
fn a_bomb_of_references_is_refused() {
    let folder = TempDir::new().unwrap();
    let file = written(&folder, "bomb.gz", &references(2, 24 << 20));
    for command in graph_commands() {
        let said = run(&folder, command, &file);
        let told = said.err + &said.out;
        assert!(told.contains("MiB of memory"), "{command}: {told}");
        assert_eq!(said.code == 2, !command.starts_with("mcp"), "{command}");
    }
}

#[test]
fn counts_that_nothing_backs_and_loops_end() {
    let folder = TempDir::new().unwrap();
    let files = claims().into_iter().chain([("loops", loops())]);
    for (name, bytes) in files {
        for (name, bytes) in [
            (name.to_owned(), bytes.clone()),
            (format!("{name}.gz"), packed(&bytes)),
        ] {
            let file = written(&folder, &name, &bytes);
            for command in COMMANDS {
                let said = run(&folder, command, &file);
                let is_told =
                    said.code == 0 || said.err.contains(&name) || command.starts_with("check");
                assert!(is_told, "{command} {name}: {said:?}");
            }
        }
    }
}

/// Files with the largest count or length where nothing follows.
fn claims() -> [(&'static str, Vec<u8>); 9] {
    let most = |tag: u8, head: sample::Bytes| {
        let mut sample = Dump::small();
        sample.records.insert(0, sample::record(tag, head));
        sample.bytes()
    };
    let in_heap = |bytes: Vec<u8>| {
        let mut sample = Dump::small();
        sample.heap(1).push(bytes);
        sample.bytes()
    };
    let class_of = |id: u64| bytes().u1(0x20).u8(id).u4(1).all(&[0; 7 * 8]).u4(0);
    [
        ("frames", most(0x05, bytes().u4(9).u4(0).u4(u32::MAX))),
        (
            "sites",
            most(0x06, bytes().u2(0).all(&[0; 28]).u4(u32::MAX)),
        ),
        ("samples", most(0x0D, bytes().u4(9).u4(u32::MAX))),
        (
            "bytes",
            in_heap(sample::primitive_array(0x9000, 11, u32::MAX, &[])),
        ),
        (
            "elements",
            in_heap(
                bytes()
                    .u1(0x22)
                    .u8(0x9000)
                    .u4(1)
                    .u4(u32::MAX)
                    .u8(sample::OBJECT_ARRAY)
                    .0,
            ),
        ),
        (
            "data",
            in_heap(
                bytes()
                    .u1(0x21)
                    .u8(0x9000)
                    .u4(1)
                    .u8(sample::LEAF)
                    .u4(u32::MAX)
                    .0,
            ),
        ),
        ("constants", in_heap(class_of(0x9000).u2(u16::MAX).0)),
        ("statics", in_heap(class_of(0x9000).u2(0).u2(u16::MAX).0)),
        (
            "fields",
            in_heap(class_of(0x9000).u2(0).u2(0).u2(u16::MAX).0),
        ),
    ]
}

/// Classes that are above each other and themselves, a class whose loader is of that class, and
/// arrays that hold each other.
fn loops() -> Vec<u8> {
    let mut sample = Dump::small();
    let classes = [(0x9000, 0x9008), (0x9008, 0x9000), (0x9010, 0x9010)];
    let loads = classes
        .iter()
        .zip(100..)
        .map(|((id, _), serial)| load_class(serial, *id, 1));
    sample.records.splice(0..0, loads.collect::<Vec<_>>());
    for (id, above) in classes {
        let mut class = ClassDump::new(id, above);
        class.slots[0] = 0x9100;
        class.fields = vec![(1, 2)];
        sample.heap(0).push(class.bytes());
    }
    let array = |id, held| sample::object_array(id, sample::OBJECT_ARRAY, held);
    sample.heap(1).extend([
        instance(0x9100, 1, 0x9000, &0x9100_u64.to_be_bytes()),
        instance(0x9108, 1, 0x9010, &0x9100_u64.to_be_bytes()),
        array(0x9200, &[0x9208, 0x9200]),
        array(0x9208, &[0x9200, 0x9108]),
    ]);
    sample.heap(1).push(sample::root(0x05, 0x9200));
    sample.bytes()
}
