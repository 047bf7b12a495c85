//! A dump file from the outside: what is on disk after each way it can end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::fs;

use writer::{Deliver, DumpFile, Target, WriteError, Written};

#[test]
fn objects_come_after_the_head_whenever_they_were_sent() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.hprof");
    let dump = DumpFile::create(Target::new(&path)).unwrap();
    let mut objects = dump.objects_sender();
    objects.deliver(b"one ".to_vec()).unwrap();
    dump.head(b"head ".to_vec()).unwrap();
    objects.deliver(b"two ".to_vec()).unwrap();
    let written = dump.finish().unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes, b"head one two \x2C\0\0\0\0\0\0\0\0");
    assert_eq!(
        written,
        Written {
            path,
            bytes: bytes.len() as u64
        }
    );
    assert_eq!(objects.deliver(vec![1]), Err(WriteError::Closed));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_dump_given_up_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let target = Target::new(directory.path().join("a.hprof"));
    let dump = DumpFile::create(target.clone()).unwrap();
    dump.head(vec![1; 100]).unwrap();
    // A sender that outlives the dump must not keep it waiting.
    let mut objects = dump.objects_sender();
    dump.abandon();
    assert_eq!(objects.deliver(vec![1]), Err(WriteError::Closed));
    drop(DumpFile::create(target).unwrap());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}
