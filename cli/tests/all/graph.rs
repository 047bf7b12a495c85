//! `hprof leaks`, `histo --retained` and `show` as users see them.

use std::path::PathBuf;
use std::process::{Command, Output};

use sample::{wasteful, Dump};
use serde_json::Value;
use tempfile::TempDir;

use crate::run::{packed, stdout as text, written};

const CACHE: u64 = 0x2000;

/// A class that holds a hundred objects through a static field.
fn cache() -> Dump {
    let mut dump = Dump::new(8);
    dump.class(0x2100, "app/Entry", Dump::OBJECT, 0, &["next"], &[]);
    dump.class(CACHE, "app/Cache", Dump::OBJECT, 0, &[], &[("ALL", 0x3000)]);
    dump.root(0x2100);
    dump.root(CACHE);
    let ids: Vec<u64> = (0..100).map(|number| 0x10_0000 + number * 64).collect();
    ids.iter().for_each(|id| dump.instance(*id, 0x2100, &[0]));
    dump.object_array(0x3000, &ids);
    dump
}

fn hprof(arguments: &[&str], file: &PathBuf, rest: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    command
        .args(arguments)
        .arg(file)
        .args(rest)
        .output()
        .unwrap()
}

#[test]
fn the_sentence_comes_first() {
    let dir = TempDir::new().unwrap();
    let output = hprof(&["leaks"], &written(&dir, "a.hprof", &cache().bytes()), &[]);
    assert_eq!(output.status.code(), Some(0));
    let sentence =
        "100 app.Entry retain 1.6 kB of 2.0 kB (78.4 %), held by the static field ALL of class app.Cache; \
         this does not look like a leak: it is less than 1 MB.";
    assert_eq!(text(&output).lines().next(), Some(sentence));
}

#[test]
fn what_the_jvm_itself_holds_is_no_reference_of_native_code() {
    const REFERENCE: u64 = 0x2200;
    const HOLDER: u64 = 0x2300;
    let dir = TempDir::new().unwrap();
    for (holder, reference, words) in [
        (Dump::OBJECT, 0x9000, "a JNI global reference"),
        (Dump::OBJECT, 0x4000, "the JVM itself"),
        (REFERENCE, 0x9000, "a JNI global reference"),
        (
            REFERENCE,
            0x4000,
            "the JVM's list of references to be handled",
        ),
    ] {
        let mut dump = Dump::new(8);
        dump.class(0x2100, "app/Entry", Dump::OBJECT, 0, &["next"], &[]);
        let (name, fields) = ("java/lang/ref/Reference", &["referent"]);
        dump.class(REFERENCE, name, Dump::OBJECT, 0, fields, &[]);
        dump.class(HOLDER, "app/Holder", holder, 0, &["all"], &[]);
        for class in [0x2100, REFERENCE, HOLDER] {
            dump.root(class);
        }
        let ids: Vec<u64> = (0..100).map(|number| 0x10_0000 + number * 64).collect();
        ids.iter().for_each(|id| dump.instance(*id, 0x2100, &[0]));
        dump.object_array(0x3000, &ids);
        let inherited: &[u64] = if holder == REFERENCE { &[0] } else { &[] };
        dump.instance(0x4000, HOLDER, &[&[0x3000], inherited].concat());
        dump.add(dump.to().root(0x01, 0x4000).id(reference));
        let output = text(&hprof(
            &["leaks"],
            &written(&dir, "a.hprof", &dump.bytes()),
            &[],
        ));
        let sentence = output.lines().next().unwrap_or_default();
        assert!(sentence.contains(&format!("held by {words}")), "{sentence}");
    }
}

#[test]
fn nothing_that_stands_out_is_said() {
    let dir = TempDir::new().unwrap();
    let mut dump = Dump::new(8);
    // Each is under ten percent and has its own class.
    for number in 0..40 {
        let class = 0x20_0000 + number * 64;
        dump.class(class, &format!("app/C{number}"), Dump::OBJECT, 0, &[], &[]);
        dump.root(class);
        dump.instance(0x30_0000 + number * 64, class, &[]);
        dump.root(0x30_0000 + number * 64);
    }
    let output = hprof(&["leaks"], &written(&dir, "a.hprof", &dump.bytes()), &[]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text(&output).starts_with("No object or class retains more than 10 % of the heap (656 B)")
    );
}

#[test]
fn objects_are_listed_with_what_they_retain() {
    let dir = TempDir::new().unwrap();
    let output = hprof(
        &["histo", "--objects", "--json", "--top", "2"],
        &written(&dir, "a.hprof", &cache().bytes()),
        &[],
    );
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let array = serde_json::json!({
        "class": "java.lang.Object[]", "id": "0x3000", "retained": 100 * 16 + 416, "shallow": 416,
    });
    assert_eq!(json["objects"][1], array);
    assert_eq!(json["objects"][0]["class"], "class app.Cache");
}

#[test]
fn groups_are_listed() {
    let dir = TempDir::new().unwrap();
    let file = written(&dir, "a.hprof", &cache().bytes());
    for (by, row) in [
        (
            &["--retained"][..],
            "     1,600    1,600      100  app.Entry",
        ),
        (&["--by", "package"], "     1,600    1,600      100  app"),
        (
            &["--by", "loader"],
            "     2,024    2,040      107        5  bootstrap loader",
        ),
    ] {
        let output = hprof(&["histo"], &file, by);
        assert!(
            text(&output).lines().any(|line| line.trim() == row.trim()),
            "{}",
            text(&output)
        );
    }
}

/// Two threads: one holds an object of its own by a frame, and both hold the same one.
fn two_threads() -> Dump {
    let mut dump = Dump::new(8);
    dump.class_of(
        0x2200,
        "java/lang/String",
        (Dump::OBJECT, 0),
        &[("value", 2), ("coder", 8)],
        &[],
    );
    dump.class(0x2300, "app/Worker", Dump::THREAD_CLASS, 0, &["name"], &[]);
    dump.root(0x2200);
    dump.root(0x2300);
    dump.byte_array(0x4000, b"worker-1");
    dump.instance_with(0x4040, 0x2200, &[(8, 0x4000), (1, 0)]);
    dump.instance(0x4080, 0x2300, &[0x4040]);
    // Thread 2 has its object, and two frames.
    let words = |tag: u8, id: u64, serial: u32, frame: u32| {
        let mut bytes = vec![tag];
        bytes.extend_from_slice(&id.to_be_bytes());
        bytes.extend_from_slice(&serial.to_be_bytes());
        bytes.extend_from_slice(&frame.to_be_bytes());
        bytes
    };
    dump.sub_record(&words(format::RootKind::ThreadObject.tag(), 0x4080, 2, 1));
    dump.byte_array(0x5000, &[7; 1000]);
    dump.byte_array(0x6000, &[7; 3000]);
    for (serial, held) in [(2, 0x5000), (2, 0x5000), (2, 0x6000), (1, 0x6000)] {
        dump.sub_record(&words(format::RootKind::JavaFrame.tag(), held, serial, 0));
    }
    dump
}

#[test]
fn a_thread_has_what_it_alone_keeps_alive() {
    let dir = TempDir::new().unwrap();
    let file = written(&dir, "a.hprof", &two_threads().bytes());
    let output = hprof(&["histo", "--by", "thread"], &file, &[]);
    let expected = "retained  frames  objects  thread\n   1,080   1,016        4  \"worker-1\" app.Worker 0x4080\n      16       0        1  \"?\" java.lang.Thread 0x1300\n";
    assert_eq!(text(&output), expected);
    let output = hprof(
        &["histo", "--by", "thread", "--json", "--top", "1"],
        &file,
        &[],
    );
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let worker = serde_json::json!({
        "class": "app.Worker", "frames": 1016, "id": "0x4080", "objects": 4, "retained": 1080, "thread": "worker-1",
    });
    assert_eq!(
        (&json["rows"], &json["left_out"]),
        (&serde_json::json!([worker]), &1.into())
    );
}

#[test]
fn a_path_has_its_fields() {
    let dir = TempDir::new().unwrap();
    let file = written(&dir, "a.hprof", &cache().bytes());
    let output = text(&hprof(&["show"], &file, &["0x100040"]));
    let expected = "  path from a root (root of unknown kind):\n    class app.Cache\n    \
                    .ALL (static)  java.lang.Object[] 0x3000\n    [1]  app.Entry 0x100040\n";
    assert!(output.ends_with(expected), "{output}");
}

/// A list of entries, of which a root holds the first, and the id of its last.
fn list(length: u64) -> (Dump, String) {
    let entry = |number: u64| 0x10_0000 + number * 32;
    let mut dump = Dump::new(8);
    dump.class(0x2100, "app/Entry", Dump::OBJECT, 0, &["next"], &[]);
    dump.root(0x2100);
    for number in 0..length {
        let next = if number + 1 < length {
            entry(number + 1)
        } else {
            0
        };
        dump.instance(entry(number), 0x2100, &[next]);
    }
    dump.root(entry(0));
    (dump, format!("{:#x}", entry(length - 1)))
}

#[test]
fn the_nodes_of_a_list_are_told_by_their_number() {
    let dir = TempDir::new().unwrap();
    let (dump, _) = list(10_000);
    let output = text(&hprof(
        &["leaks"],
        &written(&dir, "a.hprof", &dump.bytes()),
        &[],
    ));
    assert!(
        output.starts_with("10,000 app.Entry retain 160 kB of "),
        "{output}"
    );
    let row = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let row = output
        .lines()
        .map(row)
        .find(|line| line.ends_with(" app.Entry"));
    assert_eq!(row.as_deref(), Some("10,000 160,000 app.Entry"), "{output}");
}

#[test]
fn the_middle_of_a_long_path_is_counted() {
    let dir = TempDir::new().unwrap();
    let (dump, last) = list(10_000);
    let file = written(&dir, "a.hprof", &dump.bytes());
    let told = "    ... 9,964 more objects, 9,964 of them app.Entry";
    let output = text(&hprof(&["show"], &file, &[&last]));
    let is_step = |line: &&str| line.starts_with("    .next  app.Entry");
    assert_eq!(output.lines().filter(is_step).count(), 35, "{output}");
    assert!(output.contains(told), "{output}");
    let output = hprof(&["show", "--json"], &file, &[&last]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let objects = json["path"]["objects"].as_array().unwrap();
    let middle = serde_json::json!({ "class": "app.Entry", "left_out": 9_964, "of_class": 9_964 });
    assert_eq!((objects.len(), &objects[12]), (37, &middle));
    assert_eq!(objects[36]["id"], last);
}

#[test]
fn a_path_has_the_stack_that_allocated_the_object() {
    let dir = TempDir::new().unwrap();
    let mut dump = cache();
    dump.stack(5, ("put", "Cache.java", 7));
    dump.instance_of(0x4000, 0x2100, &[0], 5);
    dump.root(0x4000);
    let file = written(&dir, "a.hprof", &dump.bytes());
    let output = text(&hprof(&["show"], &file, &["0x4000"]));
    let (_, stack) = output.split_once("\n  allocated:\n    at ").unwrap();
    assert!(stack.ends_with(".put(Cache.java:7)\n"), "{output}");
    let output = hprof(&["show", "--json"], &file, &["0x4000"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["allocated"][0]["line"], 7);
    // The others have none.
    let output = hprof(&["show", "--json"], &file, &["0x100040"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["allocated"], Value::Null);
}

#[test]
fn what_is_not_there_is_told() {
    let dir = TempDir::new().unwrap();
    let whole = cache().bytes();
    let path = written(&dir, "a.hprof", &whole);
    for (what, message) in [
        ("0x99", "no object has the id 0x99"),
        ("0xzz", "0xzz is not an id"),
        ("app.Missing", "no class is called app.Missing"),
    ] {
        let output = hprof(&["show"], &path, &[what]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(message));
    }
    let output = hprof(&["histo", "--by", "site"], &path, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr)
        .contains("no allocation sites: no object of the heap dump"));
    // A truncated file is analysed as far as it goes.
    let cut = written(&dir, "a.hprof", &whole[..whole.len() - 40]);
    let output = hprof(&["histo", "--objects"], &cut, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("damaged place"));
    let profile = written(&dir, "a.hprof", &whole[..31]);
    assert_eq!(hprof(&["leaks"], &profile, &[]).status.code(), Some(2));
}

#[test]
fn a_hidden_class_has_the_names_that_other_tools_print() {
    let dir = TempDir::new().unwrap();
    let mut dump = cache();
    dump.class(0x8000, "app/Main$$Lambda+0x7f01", Dump::OBJECT, 0, &[], &[]);
    dump.instance(0x8100, 0x8000, &[]);
    dump.root(0x8100);
    let path = written(&dir, "a.hprof", &dump.bytes());
    for name in [
        "app.Main$$Lambda/0x7f01",
        "app.Main$$Lambda+0x7f01",
        "app/Main$$Lambda+0x7f01",
        "Lapp/Main$$Lambda.0x7f01;",
    ] {
        let shown = text(&hprof(&["show"], &path, &[name]));
        assert!(shown.contains("app.Main$$Lambda/0x7f01"), "{name}");
    }
}

#[test]
fn an_answer_about_a_part_of_a_heap_says_so_first() {
    let dir = TempDir::new().unwrap();
    let bytes = cache().bytes();
    let output = hprof(
        &["leaks"],
        &written(&dir, "a.hprof", &bytes[..bytes.len() - 20]),
        &[],
    );
    assert_eq!(output.status.code(), Some(1));
    let first = "The dump has 1 damaged place; this is about the rest:";
    assert_eq!(text(&output).lines().next(), Some(first));
}

#[test]
fn arrays_of_zeros_have_a_line_of_their_own() {
    let dir = TempDir::new().unwrap();
    let mut dump = wasteful::dump(8);
    for id in [0x9_0000, 0x9_1000] {
        dump.byte_array(id, &[0; 5000]);
        dump.root(id);
    }
    let shown = text(&hprof(
        &["waste"],
        &written(&dir, "a.hprof", &dump.bytes()),
        &[],
    ));
    let line = "\nNot counted: 10.0 kB in 2 arrays of zeros: never written?\n";
    assert!(shown.contains(line), "{shown}");
    assert!(
        shown.contains("\n10,032       2   5,000  0x90000      byte[]\n"),
        "{shown}"
    );
}

#[test]
fn of_a_class_the_object_that_retains_most_is_shown() {
    let dir = TempDir::new().unwrap();
    let mut dump = cache();
    dump.object_array(0x3100, &[]);
    dump.root(0x3100);
    let file = written(&dir, "a.hprof", &dump.bytes());
    let shown = text(&hprof(&["show"], &file, &["java.lang.Object[]"]));
    let by_id = text(&hprof(&["show"], &file, &["0x3000"]));
    let first = "1 more java.lang.Object[] retain less; this one:\n";
    assert_eq!(shown, format!("{first}{by_id}"));
    let json = text(&hprof(&["show", "--json"], &file, &["java.lang.Object[]"]));
    assert_eq!(json, text(&hprof(&["show", "--json"], &file, &["0x3000"])));
    let output = hprof(&["show"], &file, &["Cach"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no class is called Cach; "), "{said}");
}

#[test]
fn elements_that_are_null_are_counted_and_texts_stand_beside_strings() {
    let dir = TempDir::new().unwrap();
    let mut dump = wasteful::dump(8);
    dump.object_array(0x9_0000, &[0, 0x4000, 0, 0]);
    dump.root(0x9_0000);
    let file = written(&dir, "a.hprof", &dump.bytes());
    let shown = text(&hprof(&["show", "--strings"], &file, &["0x90000"]));
    let elements = "  4 elements, 3 of them null:\n    [1] java.lang.String 0x4000 \"hunter2\"\n";
    assert!(shown.contains(elements), "{shown}");
    let hidden = text(&hprof(&["show"], &file, &["0x90000"]));
    assert!(
        hidden.contains("    [1] java.lang.String 0x4000\n"),
        "{hidden}"
    );
}

#[test]
fn an_object_is_shown() {
    let dir = TempDir::new().unwrap();
    let output = hprof(
        &["show", "--top", "1"],
        &written(&dir, "a.hprof", &cache().bytes()),
        &["0x3000"],
    );
    let expected = "java.lang.Object[] 0x3000\n  shallow   416\n  retained  2,016\n  dominator class app.Cache 0x2000\n  \
                    100 elements:\n    [0] app.Entry 0x100000\n  referrers: 1 object\n    class app.Cache 0x2000 .ALL (static)  \
                    retains 2,024\n  dominates: 100 objects\n    [0]  app.Entry 0x100000  retains 16\n  \
                    path from a root (root of unknown kind):\n    class app.Cache\n    .ALL (static)  \
                    java.lang.Object[] 0x3000\n";
    assert_eq!(text(&output), expected);
    let output = hprof(
        &["show"],
        &written(&dir, "a.hprof", &cache().bytes()),
        &["0x2000"],
    );
    assert!(text(&output).contains("  1 field:\n    ALL = java.lang.Object[] 0x3000\n"));
}

#[test]
fn threads_have_what_they_hold() {
    let dir = TempDir::new().unwrap();
    let mut dump = cache();
    dump.object_array(0x5000, &[0, 0]);
    dump.local(0x5000);
    let output = hprof(&["threads"], &written(&dir, "a.hprof", &dump.bytes()), &[]);
    let expected = "\"?\" java.lang.Thread 0x1300 retains 40 bytes\n        holds java.lang.Object[] 0x5000, which \
                    retains 24\n\n";
    assert_eq!(text(&output), expected);
    let output = hprof(
        &["threads", "--json"],
        &written(&dir, "a.hprof", &cache().bytes()),
        &[],
    );
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["threads"][0]["other_locals"], serde_json::json!([]));
}

#[test]
fn waste_is_listed_and_texts_only_on_request() {
    let dir = TempDir::new().unwrap();
    let file = written(&dir, "a.hprof", &wasteful::dump(8).bytes());
    let lines = text(&hprof(&["waste"], &file, &[]));
    for row in [
        "72 3 7 0x4000",
        "120 2 100 0x5000 byte[]",
        "248 1 sparse java.util.HashMap app.Owner#all",
        "40 1 empty java.util.HashSet app.Owner#seen",
        "16 1 java.lang.Integer app.Owner#LAST (static)",
    ] {
        let is_row = |line: &str| line.split_whitespace().eq(row.split_whitespace());
        assert!(lines.lines().any(is_row), "{row}\n{lines}");
    }
    assert!(lines.starts_with("640 B of "), "{lines}");
    let in_json = text(&hprof(&["waste", "--json"], &file, &[]));
    assert!(!lines.contains(wasteful::SECRET) && !in_json.contains(wasteful::SECRET));
    let json: Value = serde_json::from_str(&in_json).unwrap();
    assert_eq!(json["lost_bytes"], 640);
    let group = serde_json::json!({
        "class": "java.lang.String", "id": "0x4000", "length": 7, "lost_bytes": 72, "objects": 3,
    });
    assert_eq!(json["strings"]["groups"], serde_json::json!([group]));
    let shown = text(&hprof(&["waste", "--strings"], &file, &[]));
    assert!(shown.contains("0x4000       \"hunter2\"\n"), "{shown}");
    let json = text(&hprof(&["waste", "--strings", "--json"], &file, &[]));
    assert!(json.contains("\"text\": \"hunter2\""), "{json}");
    let cut = text(&hprof(&["waste", "--top", "1"], &file, &[]));
    assert!(
        cut.contains("... and 3 more rows; --top 0 prints all"),
        "{cut}"
    );
}

#[test]
fn a_path_over_a_weak_reference_says_so() {
    let dir = TempDir::new().unwrap();
    let mut dump = Dump::new(8);
    let (reference, weak) = (0x2200, 0x2300);
    let fields = ["referent", "queue", "next", "discovered"];
    dump.class(
        reference,
        "java/lang/ref/Reference",
        Dump::OBJECT,
        0,
        &fields,
        &[],
    );
    dump.class(weak, "java/lang/ref/WeakReference", reference, 0, &[], &[]);
    dump.class(0x2100, "app/Entry", Dump::OBJECT, 0, &[], &[]);
    for class in [reference, weak, 0x2100] {
        dump.root(class);
    }
    dump.instance(0x3000, weak, &[0x3100, 0, 0, 0]);
    dump.instance(0x3100, 0x2100, &[]);
    dump.instance(0x3200, 0x2100, &[]);
    dump.root(0x3000);
    dump.root(0x3200);
    let file = written(&dir, "a.hprof", &dump.bytes());
    let root = |object| {
        let output = text(&hprof(&["show"], &file, &[object]));
        let (_, root) = output.split_once("path from a root (").unwrap();
        root.lines().next().unwrap().to_owned()
    };
    assert_eq!(
        root("0x3100"),
        "root of unknown kind, by a weak reference):"
    );
    assert_eq!(root("0x3200"), "root of unknown kind):");
}

/// The dump with its heap in one record, whose length the writer has not come to write; without the
/// last `cut` bytes.
fn unfinished(dump: Dump, cut: usize) -> Vec<u8> {
    let bytes = dump.bytes();
    let (mut before, mut heap, mut at) = (bytes[..31].to_vec(), Vec::new(), 31);
    while at < bytes.len() {
        let length = u32::from_be_bytes(bytes[at + 5..at + 9].try_into().unwrap()) as usize;
        let (record, body) = (&bytes[at..at + 9 + length], at + 9);
        match record[0] {
            format::record::HEAP_DUMP_SEGMENT => {
                heap.extend_from_slice(&bytes[body..body + length])
            }
            format::record::HEAP_DUMP_END => {}
            _ => before.extend_from_slice(record),
        }
        at = body + length;
    }
    before.extend_from_slice(&[format::record::HEAP_DUMP, 0, 0, 0, 0, 0, 0, 0, 0]);
    heap.truncate(heap.len() - cut);
    [before, heap].concat()
}

#[test]
fn a_heap_whose_length_was_not_written_is_read_by_all_commands() {
    let dir = TempDir::new().unwrap();
    let rows = |bytes: &[u8]| {
        let file = written(&dir, "a.hprof", bytes);
        let rows = |arguments: &[&str]| {
            let output = text(&hprof(arguments, &file, &[]));
            output
                .lines()
                .find(|line| line.contains("app.Entry"))
                .map(str::to_owned)
        };
        [rows(&["histo"]), rows(&["histo", "--retained"])]
    };
    let whole = rows(&cache().bytes());
    assert!(whole.iter().all(Option::is_some), "{whole:?}");
    assert_eq!(rows(&unfinished(cache(), 0)), whole);
    assert_eq!(rows(&packed(&unfinished(cache(), 0))), whole);
    // The last array is cut, and the entries come before it.
    let [histo, _] = rows(&unfinished(cache(), 8));
    assert_eq!(histo, whole[0]);
    let output = text(&hprof(
        &["leaks"],
        &written(&dir, "a.hprof", &unfinished(cache(), 8)),
        &[],
    ));
    assert!(!output.is_empty());
}
