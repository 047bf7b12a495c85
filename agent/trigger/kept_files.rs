//! `files=`: the dumps that are kept, and what dead JVMs have left.
//!
//! Only a file is removed that has a name of the user's pattern, is the user's, and is a whole dump
//! that states its cause, as those of `on=` and `files=` do; and never the one that was
//! just written.

use super::surplus::{surplus, Kept};
use crate::heap::cause;
use crate::message::say;
use crate::order::{Order, Recipient};
use format::{record, RECORD_HEADER_BYTES};
use jvm::os::owner;
use options::file_name::FileName;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use writer::is_leftover;

/// An unfinished file that has not been written to for this long belongs to no dump: dumps end
/// after `timeout=` without progress.
const DEAD: Duration = Duration::from_secs(3600);
/// The last record of a whole dump.
const END: [u8; RECORD_HEADER_BYTES] = [record::HEAP_DUMP_END, 0, 0, 0, 0, 0, 0, 0, 0];

/// Before a dump: removes the unfinished files of JVMs that were killed.
pub(crate) fn make_room(order: &Order<'_>) {
    let Some((name, _)) = pattern(order) else {
        return;
    };
    let least = DEAD.max(Duration::from_secs(u64::from(order.options.timeout_s)) * 2);
    remove_dead(name, least);
}

/// After a dump, which is this file: removes those that are too many.
pub(crate) fn remove_surplus(order: &Order<'_>, last: &Path) {
    let Some((name, most)) = pattern(order) else {
        return;
    };
    for path in too_many(name, most, last) {
        match fs::remove_file(&path) {
            Ok(()) if order.options.verbose => say(&format!(
                "removed {}, which is older than the dumps that files= keeps",
                path.display()
            )),
            Ok(()) => {}
            Err(error) => say(&format!(
                "cannot remove {}, which is older than the dumps that files= keeps: {error}",
                path.display()
            )),
        }
    }
}

/// The pattern of the dumps of which a number is kept, and this number.
fn pattern<'o>(order: &Order<'o>) -> Option<(&'o FileName, usize)> {
    match order.recipient {
        Recipient::File(name, _) if order.because.is_some() => Some((name, order.options.kept?)),
        _ => None,
    }
}

fn remove_dead(name: &FileName, least: Duration) {
    for (path, file) in files(name) {
        let is_dead = || {
            let written = fs::symlink_metadata(&path)
                .ok()
                .filter(fs::Metadata::is_file)?;
            owner::check_user(&path, &written).ok()?;
            let silent = SystemTime::now()
                .duration_since(written.modified().ok()?)
                .ok()?;
            (silent > least).then_some(())
        };
        let is_ours = file
            .strip_suffix(".part")
            .is_some_and(|file| name.fits(file));
        if is_ours && is_dead().is_some() && is_leftover(&path) {
            // If it cannot be removed, it stays.
            let _ = fs::remove_file(&path);
        }
    }
}

/// The dumps that are too many, after one that was just written.
fn too_many(name: &FileName, most: usize, last: &Path) -> Vec<PathBuf> {
    let found = files(name).into_iter();
    let found = found.filter(|(_, file)| name.fits(file));
    let found = found.filter_map(|(path, _)| kept(path)).collect();
    // As the folder lists it.
    let last = last.file_name().unwrap_or_default();
    let last = name.folder().unwrap_or_default().join(last);
    surplus(found, most, &last, SystemTime::now())
}

/// All files in the folder of the dumps, with their names.
fn files(name: &FileName) -> Vec<(PathBuf, String)> {
    let entries = name.folder().and_then(|folder| fs::read_dir(folder).ok());
    let entries = entries.into_iter().flatten().filter_map(Result::ok);
    entries
        .filter_map(|entry| Some((entry.path(), entry.file_name().into_string().ok()?)))
        .collect()
}

/// A whole dump that states its cause.
fn kept(path: PathBuf) -> Option<Kept<PathBuf>> {
    let mut file = open(&path)?;
    let meta = file.metadata().ok().filter(fs::Metadata::is_file)?;
    // Root could remove what other users' JVMs keep.
    owner::check_user(&path, &meta).ok()?;
    let (bytes, is_packed) = reader::opened(&file).ok()?;
    cause::told(bytes)?;
    // A packed one has the mark only if its first block is whole; it got its name when all were.
    if !is_packed {
        let mut end = END;
        file.seek(SeekFrom::End(-i64::try_from(end.len()).ok()?))
            .ok()?;
        file.read_exact(&mut end).ok()?;
        (end == END).then_some(())?;
    }
    Some(Kept {
        file: path,
        written: meta.modified().ok()?,
    })
}

/// Opens a file, not through a link, and does not wait for anything.
fn open(path: &Path) -> Option<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::os::unix::fs::chown;

    /// A dump that states a cause.
    fn dump(is_whole: bool) -> Vec<u8> {
        let mut bytes = b"JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0\0".to_vec();
        let text = b"hprof-rs: dumped because of oom";
        bytes.extend([1, 0, 0, 0, 0, 0, 0, 0, 8 + 31]);
        assert_eq!(text.len(), 31);
        bytes.extend([0; 8]);
        bytes.extend(text);
        if is_whole {
            bytes.extend(END);
        }
        bytes
    }

    fn write(path: &Path, bytes: &[u8], hours_ago: u64) {
        fs::write(path, bytes).expect("written");
        let then = SystemTime::now() - Duration::from_secs(3600 * hours_ago);
        let file = File::options().write(true).open(path).expect("a file");
        file.set_modified(then).expect("a time");
    }

    #[test]
    fn only_whole_dumps_of_ours_under_our_names_are_too_many() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for (hours_ago, name) in ["a.hprof", "a.1.hprof", "a.2.hprof"]
            .into_iter()
            .enumerate()
        {
            write(&at(name), &dump(true), hours_ago as u64);
        }
        write(&at("b.hprof"), &dump(true), 9);
        write(&at("a.old.hprof"), &dump(true), 9);
        write(&at("a.3.hprof"), &dump(false), 9);
        write(&at("a.4.hprof"), b"JAVA PROFILE 1.0.2\0 of HotSpot", 9);
        std::os::unix::fs::symlink(at("b.hprof"), at("a.5.hprof")).expect("a link");
        fs::create_dir(at("a.6.hprof")).expect("a folder");
        let pattern = folder.path().join("a.hprof");
        let name = FileName::parse(pattern.to_str().expect("UTF-8")).expect("a name");
        let too_many = |files, last| too_many(&name, files, &at(last));
        assert_eq!(too_many(3, "a.hprof"), [""; 0].map(PathBuf::from));
        let older = [at("a.1.hprof"), at("a.2.hprof")];
        assert_eq!(too_many(1, "a.hprof"), older);
        // The clock was set back before the last one.
        assert_eq!(too_many(1, "a.2.hprof"), [at("a.hprof"), at("a.1.hprof")]);
    }

    #[test]
    fn files_of_other_users_are_theirs() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        write(&at("a.1.hprof"), &dump(true), 3);
        write(&at("a.hprof.part"), b"", 3);
        let is_given =
            ["a.1.hprof", "a.hprof.part"].map(|name| chown(at(name), Some(65_534), None).is_ok());
        write(&at("a.hprof"), &dump(true), 1);
        let pattern = at("a.hprof");
        let name = FileName::parse(pattern.to_str().expect("UTF-8")).expect("a name");
        // Only root can give a file away. To anybody else both are the own user's.
        let is_theirs = is_given == [true; 2];
        assert_eq!(too_many(&name, 1, &at("a.hprof")).is_empty(), is_theirs);
        remove_dead(&name, Duration::from_secs(7200));
        assert_eq!(at("a.hprof.part").exists(), is_theirs);
    }

    #[test]
    fn what_dead_processes_left_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        write(&at("a.hprof.part"), b"", 3);
        write(&at("a.7.hprof.part"), b"", 1);
        write(&at("b.hprof.part"), b"", 3);
        write(&at("a.hprof"), b"", 3);
        // Whole, but without its name.
        write(&at("a.8.hprof.part"), &dump(true), 3);
        // Still written, slowly.
        let target = writer::Target::new(at("a.9.hprof"));
        let _written = writer::DumpFile::create(&target).expect("a file");
        let part = File::options().write(true).open(at("a.9.hprof.part"));
        let then = SystemTime::now() - Duration::from_secs(3600 * 3);
        part.and_then(|it| it.set_modified(then)).expect("a time");
        let pattern = at("a.hprof");
        let name = FileName::parse(pattern.to_str().expect("UTF-8")).expect("a name");
        remove_dead(&name, Duration::from_secs(7200));
        let names: BTreeSet<_> = files(&name).into_iter().map(|(_, name)| name).collect();
        let expected = [
            "a.7.hprof.part",
            "a.8.hprof.part",
            "a.9.hprof.part",
            "a.hprof",
            "b.hprof.part",
        ]
        .map(str::to_owned);
        assert_eq!(names, BTreeSet::from(expected));
    }
}
