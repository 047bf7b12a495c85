//! A file whose head and tail are written by two writers, like the two processes of a snapshot, but
//! in one process.

use std::fs;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use writer::{Deliver, DumpFile, GzipLevel, TailWriter, Target, WriteError, Written};

const END: [u8; 9] = [0x2C, 0, 0, 0, 0, 0, 0, 0, 0];

fn target(directory: &Path, gzip: Option<u8>) -> Target {
    Target {
        gzip: gzip.and_then(GzipLevel::new),
        ..Target::new(directory.join("a.hprof"))
    }
}

fn content(path: &Path, gzip: Option<u8>) -> Vec<u8> {
    let file = fs::read(path).unwrap();
    if gzip.is_none() {
        return file;
    }
    let mut bytes = Vec::new();
    MultiGzDecoder::new(&file[..])
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

fn part_bytes(directory: &Path) -> u64 {
    fs::metadata(directory.join("a.hprof.part")).unwrap().len()
}

#[test]
fn head_and_tail_make_one_file() {
    for gzip in [None, Some(1), Some(6)] {
        let directory = tempfile::tempdir().unwrap();
        let dump = DumpFile::create(&target(directory.path(), gzip)).unwrap();
        let head: Vec<u8> = (0_u32..300_000).flat_map(u32::to_be_bytes).collect();
        dump.head(head.clone()).unwrap();
        dump.flush().unwrap();
        let head_bytes = part_bytes(directory.path());
        let tail = dump.tail().unwrap();
        assert_eq!(tail.gzip().map(GzipLevel::get), gzip);
        assert!(tail.as_raw_fd() > 2);

        let writer = TailWriter::start(tail, 2, writer::start_worker).unwrap();
        let objects: Vec<u8> = (0_u32..600_000).flat_map(u32::to_le_bytes).collect();
        let mut sender = writer.sender();
        for segment in objects.chunks(700_001) {
            sender.deliver(segment.to_vec()).unwrap();
        }
        let tail_bytes = writer.finish().unwrap();
        assert_eq!(part_bytes(directory.path()), head_bytes + tail_bytes);
        assert_eq!(sender.deliver(vec![1]), Err(WriteError::Closed));

        let written = dump.finish_with_tail(tail_bytes).unwrap();
        let path = directory.path().join("a.hprof");
        assert!(content(&path, gzip) == [&head[..], &objects, &END].concat());
        let bytes = head_bytes + tail_bytes;
        assert_eq!(written, Written { path, bytes });
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_flush_leaves_nothing_behind() {
    for gzip in [None, Some(1)] {
        let directory = tempfile::tempdir().unwrap();
        let dump = DumpFile::create(&target(directory.path(), gzip)).unwrap();
        let part = directory.path().join("a.hprof.part");
        dump.flush().unwrap();
        assert_eq!(part_bytes(directory.path()), 0);
        for text in ["one ", "one two "] {
            dump.head(text[text.len() - 4..].into()).unwrap();
            dump.flush().unwrap();
            assert_eq!(content(&part, gzip), text.as_bytes());
        }
        dump.finish().unwrap();
        let path = directory.path().join("a.hprof");
        assert_eq!(content(&path, gzip), [&b"one two "[..], &END].concat());
    }
}

#[test]
fn a_tail_of_another_size_is_refused() {
    for gzip in [None, Some(1)] {
        for wrong in [-1, 1] {
            let directory = tempfile::tempdir().unwrap();
            let dump = DumpFile::create(&target(directory.path(), gzip)).unwrap();
            dump.head(b"head ".to_vec()).unwrap();
            dump.flush().unwrap();
            let writer = TailWriter::start(dump.tail().unwrap(), 1, writer::start_worker).unwrap();
            writer.sender().deliver(b"objects".to_vec()).unwrap();
            let tail_bytes = writer.finish().unwrap();
            let found_bytes = part_bytes(directory.path());
            let told = tail_bytes.checked_add_signed(wrong).unwrap();
            assert_eq!(
                dump.finish_with_tail(told),
                Err(WriteError::WrongSize {
                    path: directory.path().join("a.hprof.part"),
                    expected_bytes: found_bytes.checked_add_signed(wrong).unwrap(),
                    found_bytes,
                })
            );
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        }
    }
}

#[test]
fn a_tail_given_up_is_the_parents_to_remove() {
    let directory = tempfile::tempdir().unwrap();
    let dump = DumpFile::create(&target(directory.path(), Some(1))).unwrap();
    dump.head(b"head".to_vec()).unwrap();
    dump.flush().unwrap();
    let writer = TailWriter::start(dump.tail().unwrap(), 2, writer::start_worker).unwrap();
    let mut sender = writer.sender();
    sender.deliver(vec![1; 3 << 20]).unwrap();
    drop(writer);
    assert_eq!(sender.deliver(vec![1]), Err(WriteError::Closed));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    drop(dump);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}
