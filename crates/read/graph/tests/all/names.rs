//! Names of threads and texts of strings, as JDKs and Android's runtimes have stored them. The
//! graph and the reader agree.

use std::io::{self, Read};

use graph::{Heap, Input, Options};
use reader::{summarize, thread_names, Budget, DumpReader};
use sample::{file_of, Dump};

const STRING: u64 = 0x2000;
const THREADS: u64 = 0x2100;
const TEXT: u64 = 0x3000;
const CHARS: u64 = 0x3100;
const THREAD: u64 = 0x3200;

/// A thread whose name is this object.
fn with_thread(mut dump: Dump, name: u64) -> Dump {
    dump.class(THREADS, "java/lang/Thread", Dump::OBJECT, 0, &["name"], &[]);
    dump.instance(THREAD, THREADS, &[name]);
    dump.sub_record(&[&[8], &THREAD.to_be_bytes()[..], &[0, 0, 0, 2, 0, 0, 0, 1]].concat());
    dump
}

/// A string as up to JDK 6: a part of an array.
fn with_shared(mut dump: Dump, offset: u64, count: u64, chars: &str) -> Dump {
    let fields = [("hash", 10), ("count", 10), ("offset", 10), ("value", 2)];
    dump.class_of(STRING, "java/lang/String", (Dump::OBJECT, 0), &fields, &[]);
    dump.char_array(CHARS, chars);
    dump.instance_with(TEXT, STRING, &[(4, 0), (4, count), (4, offset), (8, CHARS)]);
    dump
}

/// The name of the thread, by the graph and by the reader.
fn name(dump: Dump) -> Option<String> {
    let bytes = dump.bytes();
    let mut open = || -> io::Result<Box<dyn Read + '_>> { Ok(Box::new(bytes.as_slice())) };
    let summary = summarize(&mut DumpReader::new(open().unwrap()).unwrap()).unwrap();
    let (classes, strings) = (&summary.classes, &summary.strings);
    let names = thread_names(&mut open, classes, strings, &[THREAD], Budget::default());
    let heap = Heap::read(
        Input::new(file_of(&bytes), &|_| ()).unwrap(),
        Options::default(),
    )
    .unwrap();
    let thread = heap.object(THREAD).unwrap();
    let by_graph = heap.thread_names(&[thread]).unwrap().remove(&thread);
    assert_eq!(names.unwrap().remove(&THREAD), by_graph);
    by_graph
}

#[test]
fn a_name_may_be_an_array_of_chars() {
    let mut dump = Dump::new(8);
    dump.char_array(CHARS, "worker-7");
    assert_eq!(name(with_thread(dump, CHARS)).as_deref(), Some("worker-7"));
}

#[test]
fn a_redacted_name_says_so() {
    let mut dump = Dump::new(8);
    dump.char_array(CHARS, "\0\0\0\0");
    let hidden = name(with_thread(dump, CHARS));
    assert_eq!(hidden.as_deref(), Some("(redacted)"));
}

#[test]
fn a_string_ends_within_a_shared_array() {
    let text = "user=bob;password=secret";
    let dump = with_shared(Dump::new(8), 5, 3, text);
    assert_eq!(name(with_thread(dump, TEXT)).as_deref(), Some("bob"));
    let long = "x".repeat(5000) + text;
    let dump = with_shared(Dump::new(8), 5005, 3, &long).file(false);
    let heap = Heap::read(Input::new(dump, &|_| ()).unwrap(), Options::default()).unwrap();
    let string = heap.object(TEXT).unwrap();
    assert_eq!(heap.strings(&[string], 200).unwrap()[&string], "bob");
}
