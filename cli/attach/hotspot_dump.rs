//! HotSpot's own dump, for a JVM that loads no agents: by the attach command of `jmap` and `jcmd`,
//! without either.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{openat, renameat_with, statat, unlinkat, AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::attach::dump_place::DumpPlace;
use crate::attach::protocol::Jvm;
use crate::output::{plain, Failure};
use crate::proc::as_user::as_user;

/// How every gzip file begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Makes HotSpot write the dump, which stops the application meanwhile.
///
/// The file gets its name when it is whole, and replaces none.
pub(crate) fn make(
    jvm: &Jvm,
    place: &DumpPlace,
    waiting: impl FnMut() -> bool,
) -> Result<(), Failure> {
    let is_packed = place.path.extension().is_some_and(|ending| ending == "gz");
    if is_packed && !packs(jvm)? {
        let why =
            "the own dumper of this JVM does not compress; choose a name that does not end in .gz";
        return Err(Failure::writing(&place.path, why));
    }
    let part = Part::of(jvm, place).map_err(|error| Failure::writing(&place.path, error))?;
    writeln!(
        io::stderr(),
        "the JVM {} loads no agent, so HotSpot's own dumper stops the application until the dump is written: it has \
         garbage, too, and no allocation sites",
        jvm.pid
    )?;
    let level: &[u8] = if is_packed { b"1" } else { b"" };
    let path = part.path.as_os_str().as_bytes();
    let words = [b"dumpheap", path, b"-all", level];
    let text = jvm.ask(words, waiting).map_err(Failure::Input)?;
    if !text.contains("Heap dump file created") {
        let lines: Vec<&str> = text.lines().skip(1).collect();
        return Err(Failure::Input(format!(
            "HotSpot's own dumper made no dump: {}",
            plain(&lines.join("; "))
        )));
    }
    let committed = part.commit(jvm, is_packed);
    committed.map_err(|error| Failure::writing(&part.path, error))
}

/// Whether HotSpot's own dumper compresses, from 17 on.
fn packs(jvm: &Jvm) -> Result<bool, Failure> {
    let help = jvm.ask([b"jcmd", b"help GC.heap_dump", b"", b""], || true);
    Ok(help.map_err(Failure::Input)?.contains("-gz"))
}

/// The file that HotSpot writes.
struct Part {
    /// Its path inside the JVM's container.
    path: PathBuf,
    /// Its folder, held open.
    folder: OwnedFd,
    /// Its name, and the one that it gets.
    names: (OsString, OsString),
}

impl Part {
    fn of(jvm: &Jvm, place: &DumpPlace) -> io::Result<Self> {
        let nameless = || io::Error::other("does not name a file; give a file name");
        let name = place.path.file_name().ok_or_else(nameless)?;
        let mut part = name.to_owned();
        part.push(".part");
        let path = place.path.with_file_name(&part);
        let folder = place.path.parent().unwrap_or(Path::new("/"));
        let folder = jvm.root.folder(folder)?;
        if statat(&folder, &part, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            return Err(io::Error::other(
                "its .part is there already, of another dump; remove it, or choose another name",
            ));
        }
        Ok(Self {
            path,
            folder,
            names: (part, name.to_owned()),
        })
    }

    /// Gives the whole file its name.
    fn commit(&self, jvm: &Jvm, is_packed: bool) -> io::Result<()> {
        let (part, name) = &self.names;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.folder, part, flags, Mode::empty())?);
        let facts = file.metadata()?;
        if !facts.is_file() || facts.uid() != jvm.owner.0 {
            return Err(io::Error::other("it is no longer the file of the JVM"));
        }
        let mut start = [0; GZIP.len()];
        file.read_exact(&mut start)?;
        if (start == GZIP) != is_packed {
            let _ = as_user(jvm.owner, || unlinkat(&self.folder, part, AtFlags::empty()));
            return Err(io::Error::other(
                "this JVM does not compress; choose a name that does not end in .gz",
            ));
        }
        file.sync_all()?;
        as_user(jvm.owner, || self.rename(name)).map_err(|error| match error {
            Errno::EXIST => {
                io::Error::other("the name was taken meanwhile; the whole dump has this one")
            }
            error => error.into(),
        })
    }

    fn rename(&self, name: &OsString) -> rustix::io::Result<()> {
        let (part, folder) = (&self.names.0, &self.folder);
        match renameat_with(folder, part, folder, name, RenameFlags::NOREPLACE) {
            // A file system that knows no such rename.
            Err(Errno::INVAL | Errno::NOSYS) => {
                if statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                    return Err(Errno::EXIST);
                }
                rustix::fs::renameat(folder, part, folder, name)
            }
            other => other,
        }
    }
}
