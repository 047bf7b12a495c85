//! Fail points: a dump that fails at any byte, or whose process is killed, leaves nothing that
//! looks like a dump.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use format::sub_record::HeapRecord;
use format::{Root, RootKind};
use tables::{ObjectTable, Tables};
use writer::heap_record;
use writer::{
    emit, Deliver, DumpFile, FileSink, Segments, Sink, Tail, Target, WriteError, Written,
};

/// A file on a disk with space for only this many bytes, which may fail at the very end.
struct SmallDisk {
    file: Box<FileSink>,
    room_bytes: usize,
    path: PathBuf,
}

impl SmallDisk {
    fn room_for(&mut self, bytes: &[u8]) -> (usize, Result<(), WriteError>) {
        let fits = bytes.len().min(self.room_bytes);
        self.room_bytes -= fits;
        let result = if fits < bytes.len() {
            Err(disk_full(&self.path))
        } else {
            Ok(())
        };
        (fits, result)
    }
}

fn disk_full(path: &Path) -> WriteError {
    WriteError::Io {
        path: path.to_owned(),
        action: "being written",
        reason: "disk full".into(),
    }
}

impl Sink for SmallDisk {
    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let (fits, result) = self.room_for(bytes);
        self.file.write(&bytes[..fits])?;
        result
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.file.flush()
    }

    fn tail(&self) -> Result<Tail, WriteError> {
        self.file.tail()
    }

    fn commit(self: Box<Self>, tail_bytes: u64) -> Result<Written, WriteError> {
        self.file.commit(tail_bytes)
    }
}

/// A small dump: a head, a root, some objects. Stops at the first error, as a walk does.
fn dump(dump: &DumpFile) -> Result<(), WriteError> {
    let tables = Tables::default();
    tables.strings.intern(b"main");
    let mut objects = ObjectTable::default();
    let object = objects.push_at(0x1_0000).unwrap();
    let object = objects.id(object).unwrap();
    let (header, texts) = (writer::record::header(0), (&tables, emit::Texts::All));
    emit::head(header, texts, &objects, |_| None, &mut |bytes| {
        dump.head(bytes)
    })?;
    let mut segments = Segments::new(|bytes| dump.head(bytes));
    let root = HeapRecord::Root(Root::new(RootKind::StickyClass, object.get()));
    segments.record(|out| heap_record::encode(&root, out))?;
    segments.finish()?;
    let mut sender = dump.objects_sender();
    sender.deliver(vec![0x55; 40])?;
    sender.deliver(vec![0x55; 40])
}

/// Makes the dump on a disk of this size; returns the result, and the names left in the directory.
fn dump_on(room_bytes: usize) -> (Result<Written, WriteError>, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.hprof");
    let file = Box::new(FileSink::create(Target::new(&path)).unwrap());
    let disk = SmallDisk {
        file,
        room_bytes,
        path,
    };
    let file = DumpFile::with_sink(Box::new(disk), writer::start_worker).unwrap();
    // Whichever call returned the error, `finish` returns the same one.
    let told = dump(&file);
    let end = file.finish();
    if let Err(error) = told {
        assert_eq!(end.as_ref().unwrap_err(), &error);
    }
    let left = fs::read_dir(directory.path()).unwrap();
    (
        end,
        left.map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect(),
    )
}

#[test]
fn a_disk_that_fills_at_any_byte_leaves_nothing() {
    let (end, left) = dump_on(usize::MAX);
    let whole = usize::try_from(end.unwrap().bytes).unwrap();
    assert_eq!(left, ["a.hprof"]);
    for room_bytes in 0..whole {
        let (end, left) = dump_on(room_bytes);
        assert!(
            matches!(end, Err(WriteError::Io { .. })),
            "{room_bytes} bytes: {end:?}"
        );
        assert_eq!(left, [""; 0], "{room_bytes} bytes");
    }
    assert!(dump_on(whole).0.is_ok());
}

/// The next test runs this again as a separate process and kills it; by itself it does nothing.
#[test]
fn victim() {
    let Some(path) = std::env::var_os("HPROF_VICTIM") else {
        return;
    };
    let file = DumpFile::create(&Target::new(path)).unwrap();
    dump(&file).unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn a_killed_process_leaves_no_final_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.hprof");
    let part = directory.path().join("a.hprof.part");
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["victim", "--exact"])
        .env("HPROF_VICTIM", &path)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !fs::metadata(&part).is_ok_and(|meta| meta.len() > 0) {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "the victim wrote nothing"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    let left: Vec<_> = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(left, [part]);
    // Leftovers do not block the next dump of this name.
    let file = DumpFile::create(&Target::new(&path)).unwrap();
    dump(&file).unwrap();
    file.finish().unwrap();
    assert!(path.exists());
}
