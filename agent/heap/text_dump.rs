//! A heap dump as text: its records are kept until the last one is there, then text is made of
//! them.
//!
//! The first line of a text heap dump counts its objects, and classes stand last in it, first in
//! the records: so nothing can be written before all is known. Nobody waits for it but the thread
//! that asked for the dump.
//!
//! A file that `reader` finds damaged ends the dump without text.

use std::io::Read;

use format::ObjectSizes;
use reader::Budget;
use text::{transcribe, Settings, TextError, Transcribed};
use writer::{
    start_worker, DumpFile, Outlet, Sink, SpoolSink, StoredDump, TextStream, WriteError, Written,
};

/// Starts a heap dump that is written as text, for JVMs whose objects have these sizes and whose
/// local time is ahead of UTC by this many seconds: no record states either.
///
/// It takes the records of a heap dump as [`DumpFile::create`] does, and keeps them, not
/// compressed, in a file without a name beside the target, or where a connection's dumps are kept;
/// the text is made of them by the writer thread, at the end. Only then is it known whether all of
/// it fits the disk.
pub(super) fn create(
    outlet: &dyn Outlet,
    sizes: ObjectSizes,
    utc_offset_seconds: i32,
) -> Result<DumpFile, WriteError> {
    let spool_path = outlet.spool_path();
    let target = outlet.open()?;
    let hand_on = move |records: StoredDump<'_>| {
        let settings = Settings {
            sizes: Some(sizes),
            utc_offset_seconds,
            budget: Budget::for_file(records.bytes),
        };
        write(records, &settings, target)
    };
    let sink = SpoolSink::create(&spool_path, None, Box::new(hand_on))?;
    DumpFile::with_sink(Box::new(sink), start_worker)
}

/// Writes records as text.
fn write(
    records: StoredDump<'_>,
    settings: &Settings,
    mut target: Box<dyn Sink>,
) -> Result<Written, WriteError> {
    let mut out = TextStream::new(|bytes: Vec<u8>| target.write(&bytes));
    let mut open = || Ok(Box::new(records.open()?) as Box<dyn Read + '_>);
    let transcribed = transcribe(&mut open, settings, &mut out);
    // An error of the target's is the first, and what `transcribed` tells as well.
    out.finish()?;
    match fault(transcribed) {
        Some(reason) => Err(records.unreadable(reason)),
        None => target.commit(0),
    }
}

/// Why the text is not that of a whole dump; `None` if it is.
fn fault(transcribed: Result<Transcribed, TextError>) -> Option<String> {
    match transcribed {
        Err(error) => Some(error.to_string()),
        Ok(Transcribed {
            first_damage: Some(damage),
            ..
        }) => Some(format!("the records are damaged at byte {}", damage.offset)),
        Ok(transcribed) if transcribed.damaged > 0 => {
            Some("the records have an object without all its fields".to_owned())
        }
        Ok(transcribed) if !transcribed.is_ended => Some("the records end early".to_owned()),
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::path::Path;
    use writer::{Deliver, GzipLevel, Target};

    /// A global reference to object 16, in a segment.
    const ROOT: &[u8] = b"\x1C\0\0\0\0\0\0\0\x11\x01\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\x20";

    fn head() -> Vec<u8> {
        writer::record::header(0)
    }

    fn dump(path: &Path, gzip: Option<GzipLevel>) -> DumpFile {
        let target = Target {
            gzip,
            ..Target::new(path)
        };
        create(&target, ObjectSizes::default(), 3600).unwrap()
    }

    #[test]
    fn a_dump_becomes_text_plain_or_packed() {
        for gzip in [None, GzipLevel::new(1)] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("a.txt");
            let file = dump(&path, gzip);
            file.head(head()).unwrap();
            file.objects_sender().deliver(ROOT.to_vec()).unwrap();
            let written = file.finish().unwrap();
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
            assert_eq!(fs::metadata(&path).unwrap().len(), written.bytes);
            let mut text = String::new();
            let packed = File::open(&path).unwrap();
            let mut opened = reader::unpacked(packed).unwrap();
            opened.read_to_string(&mut text).unwrap();
            let heap = "HEAP DUMP BEGIN (0 objects, 0 bytes) Thu Jan  1 01:00:00 1970\n\
                        ROOT 10 (kind=<JNI global ref>, id=20, trace=1)\n\
                        HEAP DUMP END\n";
            assert!(text.ends_with(heap), "{text}");
        }
    }

    #[test]
    fn records_that_are_not_whole_are_no_text() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        for (records, reason) in [
            (vec![], "not an HPROF file"),
            (head(), "the records end early"),
            ([&head(), &ROOT[..20]].concat(), "damaged at byte 49"),
            ([&head(), ROOT, b"\x2C\0\0"].concat(), "damaged at byte"),
        ] {
            let file = dump(&path, None);
            let bytes = records.len();
            file.head(records).unwrap();
            let error = file.finish_with_tail(0).unwrap_err().to_string();
            assert!(error.contains(reason), "{bytes} bytes: {error}");
            assert!(error.contains("a.txt.spool"), "{error}");
        }
        let file = dump(&path, None);
        file.head(head()).unwrap();
        assert!(matches!(
            file.finish_with_tail(1),
            Err(WriteError::WrongSize { .. })
        ));
        dump(&path, None);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
