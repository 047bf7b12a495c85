//! Runs all functions of the crate over arbitrary bytes; used by the property tests and by the fuzz
//! targets.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test fails by panicking"
)]
#![allow(dead_code, reason = "each user takes its own part")]

use std::collections::HashMap;
use std::io::{Read, Seek, Write};

use reader::{
    check, summarize, thread_names, thread_names_at, Budget, CheckOptions, Class, DumpReader,
    Histogram, PlainFile, Profiles, Summary,
};

/// `hprof check`, strict and lenient: both count the same faults.
pub(crate) fn try_check(bytes: &[u8]) {
    let run = |strict, most| {
        let budget = Budget::default();
        let mut open = || -> std::io::Result<Box<dyn Read + '_>> { reader::unpacked(bytes) };
        check(
            &mut open,
            CheckOptions {
                most,
                strict,
                budget,
            },
        )
        .ok()
    };
    let (strict, lenient) = (run(true, 20), run(false, 0));
    let total =
        |report: &reader::Report| report.totals.iter().map(|total| total.count).sum::<u64>();
    assert_eq!(strict.as_ref().map(total), lenient.as_ref().map(total));
    if let Some(report) = strict {
        assert!(report.faults.len() as u64 <= total(&report).min(20));
    }
}

/// A file with these bytes; this many threads read its segments, however small.
pub(crate) fn file(bytes: &[u8], threads: usize) -> PlainFile {
    let mut file = tempfile::tempfile().unwrap();
    // The bytes before the file's position do not belong to the dump.
    file.write_all(b"before").unwrap();
    file.write_all(bytes).unwrap();
    file.seek(std::io::SeekFrom::Start(6)).unwrap();
    PlainFile::new(file, |_| {}).unwrap().dealt(threads, 1)
}

/// The whole summary as text, in a fixed order.
fn spelled(summary: &Summary) -> String {
    let mut classes: Vec<&Class> = summary.classes.iter().collect();
    classes.sort_by_key(|class| class.id);
    let numbers = [
        summary.bytes,
        summary.objects,
        summary.object_bytes,
        summary.loaders,
        summary.damaged,
        summary.strings.len() as u64,
    ];
    let maps = (
        &summary.records,
        &summary.heap_records,
        &summary.roots,
        &summary.heaps,
    );
    let lists = (&summary.threads, &summary.damage, classes);
    format!(
        "{:?} {:?} {numbers:?} {maps:?} {lists:?}",
        summary.header, summary.sizes
    )
}

/// Several threads find the same as one.
pub(crate) fn try_threads(bytes: &[u8], summary: &Summary, histogram: &Histogram) {
    for threads in [1, 3] {
        let dump = || DumpReader::of_file(file(bytes, threads)).unwrap();
        let found = summarize(&mut dump()).unwrap();
        assert_eq!(spelled(&found), spelled(summary), "{threads} threads");
        let found = Histogram::read(&mut dump()).unwrap();
        assert_eq!(&found, histogram, "{threads} threads");
    }
}

/// The names of threads are the same if only the parts of a file are read that may contain them.
fn try_names(bytes: &[u8], threads: &[u64], names: &HashMap<u64, String>) {
    let dump = || DumpReader::of_file(file(bytes, 2)).unwrap();
    let summary = summarize(&mut dump()).unwrap();
    let (classes, strings) = (&summary.classes, &summary.strings);
    let found = thread_names_at(&mut dump(), &summary.places, classes, strings, threads);
    assert_eq!(&found.unwrap(), names);
}

/// The summary of `hprof check`, and `hprof histo`:
/// both count the same objects, with any number of threads.
pub(crate) fn try_info(bytes: &[u8]) {
    let mut open = || -> std::io::Result<Box<dyn Read + '_>> { reader::unpacked(bytes) };
    let Ok(mut dump) = open()
        .map_err(drop)
        .and_then(|inner| DumpReader::new(inner).map_err(drop))
    else {
        return;
    };
    let Ok(summary) = summarize(&mut dump) else {
        return;
    };
    let threads: Vec<u64> = summary.threads.iter().map(|thread| thread.object).collect();
    let names = thread_names(
        &mut open,
        &summary.classes,
        &summary.strings,
        &threads,
        Budget::default(),
    );
    let names = names.unwrap();
    assert!(names.len() <= threads.len());
    if !bytes.starts_with(&[0x1F, 0x8B]) {
        try_names(bytes, &threads, &names);
    }
    let histogram = open()
        .map(DumpReader::new)
        .map(|dump| Histogram::read(&mut dump.unwrap()).unwrap());
    for thread in &summary.threads {
        assert!(
            summary.stacks.frames(thread.trace).count()
                <= summary.stacks.depth_frames(thread.trace)
        );
    }
    let histogram = histogram.unwrap();
    if !bytes.starts_with(&[0x1F, 0x8B]) {
        try_threads(bytes, &summary, &histogram);
    }
    assert!(histogram.instances() >= summary.objects);
    assert_eq!(histogram.damaged, summary.damaged);
}

/// `hprof sites` and its profiles: no row exceeds its total, and every stack can be walked.
pub(crate) fn try_profiles(bytes: &[u8]) {
    let open = || reader::unpacked(bytes).unwrap();
    if let Ok(found) = Profiles::read(open(), Budget::default()) {
        for table in [&found.recorded, &found.dumped].into_iter().flatten() {
            for pair in table.rows.windows(2) {
                assert!(pair[0].live.bytes >= pair[1].live.bytes);
            }
            for row in &table.rows {
                assert!(row.live.bytes <= table.live.bytes);
                let frames = found.stacks.frames(row.trace).count();
                assert_eq!(frames, found.stacks.depth_frames(row.trace));
            }
        }
        assert!(found.dumped.is_none_or(|table| !table.rows.is_empty()));
        for table in [&found.samples, &found.times].into_iter().flatten() {
            assert!(table.rows.iter().all(|row| row.cost <= table.total));
        }
    }
}
