//! A dump file seen from outside: what is on disk after each way in which it can end.

use std::fs;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use format::sub_record::PrimitiveArray;
use format::BasicType;
use writer::{Deliver, DumpFile, GzipLevel, Segments, Target, WriteError, Written};

#[test]
fn bytes_stand_in_the_order_in_which_they_were_sent() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.hprof");
    let dump = DumpFile::create(&Target::new(&path)).unwrap();
    let mut objects = dump.objects_sender();
    dump.head(b"head ".to_vec()).unwrap();
    objects.deliver(b"one ".to_vec()).unwrap();
    dump.head(b"more ".to_vec()).unwrap();
    objects.deliver(b"two ".to_vec()).unwrap();
    let written = dump.finish().unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes, b"head one more two \x2C\0\0\0\0\0\0\0\0");
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

/// Arrays of all lengths up to several times that of a segment.
fn write_arrays(dump: &DumpFile) {
    let mut segments = Segments::new(dump.objects_sender());
    let bytes: Vec<u8> = (0_u32..300_000).flat_map(u32::to_be_bytes).collect();
    for round in 1..40 {
        let header = PrimitiveArray {
            object: 8 * round,
            trace: 1,
            length: 0,
            kind: BasicType::Byte,
        };
        let length = usize::try_from(round * round * 700).unwrap();
        segments.primitive_array(&header, &bytes[..length]).unwrap();
    }
    segments.finish().unwrap();
}

#[test]
fn a_compressed_dump_holds_the_same() {
    let objects: Vec<u8> = (0_u32..2_000_000).flat_map(u32::to_be_bytes).collect();
    let files: Vec<Vec<u8>> = [None, GzipLevel::new(1), GzipLevel::new(9)]
        .into_iter()
        .map(|gzip| {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("a.hprof");
            let target = Target {
                gzip,
                ..Target::new(&path)
            };
            let dump = DumpFile::create(&target).unwrap();
            let mut sender = dump.objects_sender();
            for segment in objects.chunks(4_000_000) {
                sender.deliver(segment.to_vec()).unwrap();
                dump.head(b"head ".to_vec()).unwrap();
            }
            write_arrays(&dump);
            let written = dump.finish().unwrap();
            let file = fs::read(&path).unwrap();
            assert_eq!(written.bytes, file.len() as u64);
            file
        })
        .collect();
    for file in &files[1..] {
        assert_eq!(&file[10..33], b"HPROF BLOCKSIZE=278528\0");
        let mut bytes = Vec::new();
        MultiGzDecoder::new(&file[..])
            .read_to_end(&mut bytes)
            .unwrap();
        assert!(bytes == files[0]);
    }
}

#[test]
fn a_dump_given_up_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let target = Target::new(directory.path().join("a.hprof"));
    let dump = DumpFile::create(&target.clone()).unwrap();
    dump.head(vec![1; 100]).unwrap();
    // A sender that outlives the dump must not block it.
    let mut objects = dump.objects_sender();
    drop(dump);
    assert_eq!(objects.deliver(vec![1]), Err(WriteError::Closed));
    drop(DumpFile::create(&target).unwrap());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}
