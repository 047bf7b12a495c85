//! Output files: written completely or not at all, and never in place of a dump.

use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::files::input_file::InputFile;
use crate::output::outcome::Failure;
use crate::proc::inside::folder_of;
use crate::proc::leftover::{making, Leftover};

/// The start of every HPROF file, binary or text.
const MAGIC: &[u8] = b"JAVA PROFILE";

/// Permissions of a new file.
const PRIVATE: u32 = 0o600;

/// Links are followed no further than by the system (path_resolution(7)).
const LINKS_MAX: u32 = 40;

/// The user whose links everybody follows.
const ROOT: u32 = 0;

/// As [`write`], but nothing that exists is replaced or written to.
pub(crate) fn write_new<T>(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if fs::symlink_metadata(path).is_ok() {
        let why = "it exists; name another file, or remove it first";
        return Err(Failure::writing(path, why));
    }
    replace(path, None, PRIVATE, content).map_err(|failure| failure.of_target(path))
}

/// Writes the output of `content` to this path; a new file is its owner's alone, as it describes a
/// heap.
///
/// The bytes go to a temporary file beside it, which replaces the path when it is complete. A
/// symbolic link is kept, and the file it leads to is replaced. Anything but a regular file, such
/// as a pipe, is written to directly. Errors: the path leads to the input, to an HPROF file, to a
/// folder or nowhere; or the system refuses.
pub(crate) fn write<T>(
    path: &Path,
    input: &InputFile,
    content: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    put(path, input, content).map_err(|failure| failure.of_target(path))
}

fn put<T>(
    path: &Path,
    input: &InputFile,
    content: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let (place, there) = resolve(path)?;
    let Some(facts) = &there else {
        return replace(&place, None, PRIVATE, content);
    };
    if facts.is_dir() {
        return Err(Failure::writing(path, "is a directory"));
    }
    if !facts.is_file() {
        let opened = File::options().write(true).open(&place)?;
        // Another file may have the name by now, and nothing is written over that.
        if opened.metadata()?.is_file() {
            return Err(io::Error::from(ErrorKind::AlreadyExists).into());
        }
        return through(opened, content);
    }
    if input.is(facts) {
        let why = "it is the file that is read; name another";
        return Err(Failure::writing(path, why));
    }
    if is_hprof(&place)? {
        let why = "it is a heap dump or a profile, which could not be made again; name another file, or remove it first";
        return Err(Failure::writing(path, why));
    }
    // Another user's file may have been made for all to read.
    let mode = match facts.uid() == geteuid().as_raw() {
        true => facts.mode() & 0o777,
        false => PRIVATE,
    };
    replace(&place, there.as_ref(), mode, content)
}

/// The path without symbolic links, and the metadata of what exists there. Errors: a link is
/// another user's; one leads nowhere; the system refuses.
pub(crate) fn resolve(path: &Path) -> io::Result<(PathBuf, Option<Metadata>)> {
    refuse_foreign_links(path, &mut 0)?;
    match fs::canonicalize(path) {
        Ok(place) => {
            let facts = fs::metadata(&place)?;
            Ok((place, Some(facts)))
        }
        Err(fault) if fault.kind() != ErrorKind::NotFound => Err(fault),
        Err(_) if fs::symlink_metadata(path).is_ok() => {
            let why = "it is a symbolic link that leads nowhere";
            Err(io::Error::new(ErrorKind::NotFound, why))
        }
        Err(_) => Ok((path.to_owned(), None)),
    }
}

/// Whoever has a link on the path could have any file of this user's replaced through it. `links`
/// counts those that were followed.
fn refuse_foreign_links(path: &Path, links: &mut u32) -> io::Result<()> {
    let places: Vec<&Path> = path.ancestors().collect();
    for place in places.into_iter().rev() {
        let Ok(facts) = fs::symlink_metadata(place) else {
            continue;
        };
        if !facts.is_symlink() {
            continue;
        }
        *links += 1;
        if ![ROOT, geteuid().as_raw()].contains(&facts.uid()) {
            let place = place.display();
            return Err(io::Error::other(format!(
                "{place} is a symbolic link of another user"
            )));
        }
        if *links > LINKS_MAX {
            return Err(ErrorKind::InvalidInput.into());
        }
        let folder = place.parent().unwrap_or(Path::new(""));
        refuse_foreign_links(&folder.join(fs::read_link(place)?), links)?;
    }
    Ok(())
}

/// Whether the file starts like an HPROF file, compressed or not. True if it cannot be read.
fn is_hprof(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    let unpacked = reader::unpacked(File::open(path)?)?;
    match unpacked.take(MAGIC.len() as u64).read_to_end(&mut start) {
        Ok(_) => Ok(start == MAGIC),
        Err(fault) => match fault.kind() {
            // It starts like gzip but is not.
            ErrorKind::InvalidInput | ErrorKind::InvalidData => Ok(false),
            ErrorKind::UnexpectedEof => Ok(start == MAGIC),
            _ => Err(fault),
        },
    }
}

fn replace<T>(
    place: &Path,
    there: Option<&Metadata>,
    mode: u32,
    content: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let folder = folder_of(place);
    let making = making();
    let made = tempfile::Builder::new()
        .prefix(".hprof-")
        .permissions(fs::Permissions::from_mode(mode))
        .tempfile_in(folder)
        .map_err(|fault| without_folder(folder, fault))?;
    let _left = Leftover::at(making, made.path());
    let answer = through(made.as_file(), content)?;
    made.as_file().sync_all()?;
    match there {
        Some(_) => {
            made.as_file()
                .set_permissions(fs::Permissions::from_mode(mode))?;
            made.persist(place).map_err(|fault| fault.error)?
        }
        // A file created there meanwhile is kept.
        None => made.persist_noclobber(place).map_err(|fault| fault.error)?,
    };
    File::open(folder)?.sync_all()?;
    Ok(answer)
}

/// Writes all of the content.
fn through<T>(
    to: impl Write,
    content: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut to = BufWriter::new(to);
    let answer = content(&mut to)?;
    to.flush()?;
    Ok(answer)
}

/// Why nothing could be made in this folder, with advice if it is not there.
pub(crate) fn without_folder(folder: &Path, fault: io::Error) -> io::Error {
    match fault.kind() {
        ErrorKind::NotFound => io::Error::other(format!(
            "there is no folder {}; create it first",
            folder.display()
        )),
        _ => fault,
    }
}
