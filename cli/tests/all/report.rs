//! The page of `hprof report`: its size is bounded, it replaces no dump, and names cannot execute
//! in it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use sample::{instance, load_class, root, string, ClassDump, Dump, OBJECT};
use serde_json::Value;
use tempfile::TempDir;

/// Largest page, whatever the heap is.
const PAGE_BYTES_MAX: usize = 2_000_000;

fn report(dump: &Path, page: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
    command.arg("report").arg(dump).arg("-o").arg(page);
    command.output().unwrap()
}

fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// The answers in a page, with their texts in place of the numbers of names.
fn answers(page: &str) -> Value {
    let data = data(page);
    unpacked(&data["answers"], data["names"].as_array().unwrap())
}

fn unpacked(packed: &Value, names: &[Value]) -> Value {
    let list = |row: &Value| unpacked(row, names);
    match packed {
        Value::String(text) if text.starts_with("0x") => packed.clone(),
        Value::String(number) => names[usize::from_str_radix(number, 16).unwrap()].clone(),
        Value::Array(rows) => rows.iter().map(list).collect(),
        Value::Object(object) => match object.get("keys").and_then(Value::as_array) {
            Some(keys) => {
                let row = |row: &Value| -> Value {
                    let cells = row.as_array().unwrap().iter().map(list);
                    let keys = keys.iter().map(|key| key.as_str().unwrap().to_owned());
                    keys.zip(cells).collect()
                };
                object["rows"].as_array().unwrap().iter().map(row).collect()
            }
            None => object
                .iter()
                .map(|(key, it)| (key.clone(), list(it)))
                .collect(),
        },
        other => other.clone(),
    }
}

/// A heap with this many classes with long, hostile names, and an object of each.
fn with_classes(count: u32) -> Vec<u8> {
    let mut sample = Dump::small();
    let (mut names, mut objects) = (Vec::new(), Vec::new());
    for number in 0..count {
        let id = |base: u64| base + u64::from(number) * 16;
        let (name, class, object) = (id(0x100_0000), id(0x1000_0000), id(0x2000_0000));
        let text = format!("app/C{number}</script><b>{}", "&<>".repeat(200));
        names.push(string(name, text.as_bytes()));
        names.push(load_class(1000 + number, class, name));
        objects.push(ClassDump::new(class, OBJECT).bytes());
        objects.push(instance(object, 1, class, &[]));
        objects.push(root(0x05, object));
    }
    let heap = sample.records.iter().position(|record| record.tag == 0x1C);
    sample.records.splice(heap.unwrap()..heap.unwrap(), names);
    sample.heap(1).extend(objects);
    sample.bytes()
}

#[test]
fn a_heap_with_many_classes_makes_a_small_page() {
    let folder = TempDir::new().unwrap();
    let (dump, page) = (folder.path().join("a.hprof"), folder.path().join("a.html"));
    std::fs::write(&dump, with_classes(20_000)).unwrap();
    let output = report(&dump, &page);
    assert!(output.status.success(), "{output:?}");
    let mode = std::fs::metadata(&page).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.len() <= PAGE_BYTES_MAX, "{}", page.len());
    assert_eq!(page.matches("</script").count(), 2);
    let classes = &answers(&page)["classes"];
    let rows = classes["rows"].as_array().unwrap().len() as u64;
    let rest = classes["left_out"].as_u64().unwrap();
    assert!(
        rest > 0 && rows > 100 && rows + rest > 20_000,
        "{rows} {rest}"
    );
}

#[test]
fn a_page_has_what_is_outside_of_the_heap() {
    let folder = TempDir::new().unwrap();
    let (file, page) = (folder.path().join("a.hprof"), folder.path().join("a.html"));
    let memory = |dump: &Dump| {
        std::fs::write(&file, dump.bytes()).unwrap();
        assert!(report(&file, &page).status.success());
        answers(&std::fs::read_to_string(&page).unwrap())["memory"].clone()
    };
    let mut dump = Dump::new(8);
    assert!(memory(&dump).is_null());
    let fields = [("capacity", 10), ("address", 11)];
    dump.class_of(0x100, "java/nio/Buffer", (Dump::OBJECT, 0), &fields, &[]);
    let name = "java/nio/DirectByteBuffer";
    dump.class_of(0x110, name, (0x100, 0), &[], &[]);
    dump.instance_with(0x1000, 0x110, &[(4, 5000), (8, 0x7000)]);
    dump.root(0x1000);
    let memory = memory(&dump);
    assert!(memory["process"].is_null());
    assert_eq!(memory["holders"][0]["bytes"], 5000, "{memory}");
}

#[test]
fn threads_have_their_stacks_and_the_classes_add_up() {
    let folder = TempDir::new().unwrap();
    let (dump, page) = (folder.path().join("a.hprof"), folder.path().join("a.html"));
    std::fs::write(&dump, Dump::small().bytes()).unwrap();
    assert!(report(&dump, &page).status.success());
    let page = std::fs::read_to_string(&page).unwrap();
    let answers = answers(&page);
    let threads = answers["threads"]["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 2);
    let depth = |thread: &Value| thread["frames"].as_array().unwrap().len();
    assert!(threads.iter().any(|it| depth(it) > 0), "{threads:?}");
    let rows = answers["classes"]["rows"].as_array().unwrap();
    let own: u64 = rows
        .iter()
        .map(|row| row["shallow"].as_u64().unwrap())
        .sum();
    assert_eq!(own, data(&page)["bytes"].as_u64().unwrap());
}

#[test]
fn a_page_of_two_dumps_tells_what_grew() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (before, after, page) = (path("a.hprof"), path("b.hprof"), path("page.html"));
    std::fs::write(&before, with_classes(3)).unwrap();
    std::fs::write(&after, with_classes(5)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_hprof"))
        .arg("report")
        .args([&before, &after])
        .arg("-o")
        .arg(&page)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let page = std::fs::read_to_string(&page).unwrap();
    let data = data(&page);
    assert_eq!(data["before"]["file"], "a.hprof");
    let growth = &answers(&page)["growth"];
    let grew = growth["classes"].as_array().unwrap();
    let is_new = |row: &&Value| row["before"]["objects"] == 0 && row["after"]["objects"] == 1;
    assert_eq!(grew.iter().filter(is_new).count(), 2, "{growth}");
    assert_eq!(growth["places"].as_array().unwrap().len(), 2, "{growth}");
    assert!(growth["total_bytes_before"].as_u64() < data["bytes"].as_u64());
}

#[test]
fn waste_is_in_the_page_and_growth_only_of_two_dumps() {
    let folder = TempDir::new().unwrap();
    let (dump, page) = (folder.path().join("a.hprof"), folder.path().join("a.html"));
    std::fs::write(&dump, Dump::small().bytes()).unwrap();
    assert!(report(&dump, &page).status.success());
    let answers = answers(&std::fs::read_to_string(&page).unwrap());
    let waste = &answers["waste"];
    assert!(waste["lost_bytes"].is_u64(), "{waste}");
    assert!(answers["growth"].is_null());
}
