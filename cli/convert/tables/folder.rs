//! The folder of an export: complete or absent, its owner's alone, and never in the place of
//! something else.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{renameat_with, RenameFlags, CWD};
use tempfile::TempDir;

use crate::files::target::{resolve, without_folder};
use crate::proc::inside::folder_of;
use crate::proc::leftover::{making, Leftover};

use super::table_file::CREATED_BY;

/// The tables.
pub(super) const TABLES: [&str; 10] = [
    "dump",
    "object",
    "reference",
    "class",
    "field",
    "root",
    "thread",
    "frame",
    "string",
    "site",
];

/// Where tables are written before all of them are whole.
pub(super) struct Folder {
    made: TempDir,
    place: PathBuf,
    /// Whether an export is there that this one replaces.
    replaces: bool,
    _left: Leftover,
}

impl Folder {
    /// A folder beside `path`. Errors: something is there that is no export; the system refuses.
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let (place, replaces) = match resolve(path)? {
            (place, Some(_)) => {
                let is_empty = fs::read_dir(&place)?.next().is_none();
                if !is_empty && !is_export(&place)? {
                    return Err(io::Error::other(
                        "it is there already, and not with tables of hprof; name another folder",
                    ));
                }
                (place, true)
            }
            (place, None) => (place, false),
        };
        let making = making();
        let made = tempfile::Builder::new()
            .prefix(".hprof-")
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(folder_of(&place))
            .map_err(|fault| without_folder(folder_of(&place), fault))?;
        Ok(Self {
            _left: Leftover::at(making, made.path())?,
            made,
            place,
            replaces,
        })
    }

    /// Where the tables go.
    pub(super) fn path(&self) -> &Path {
        self.made.path()
    }

    /// Gives the folder its name. An older export goes.
    pub(super) fn finish(self) -> io::Result<()> {
        let from = self.made.path();
        File::open(from)?.sync_all()?;
        if self.replaces {
            renameat_with(CWD, from, CWD, &self.place, RenameFlags::EXCHANGE)?;
            // Now the older one has the temporary name.
            self.made.close()?;
        } else {
            renameat_with(CWD, from, CWD, &self.place, RenameFlags::NOREPLACE)?;
            let _ = self.made.keep();
        }
        File::open(folder_of(&self.place))?.sync_all()
    }
}

/// Whether a folder has tables of this command and nothing else.
fn is_export(folder: &Path) -> io::Result<bool> {
    let mark = CREATED_BY.split(' ').next().unwrap_or_default().as_bytes();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        let is_table = name.is_some_and(|name| TABLES.contains(&name))
            && path.extension().is_some_and(|it| it == "parquet");
        if !is_table || !entry.file_type()?.is_file() {
            return Ok(false);
        }
    }
    let dump = match fs::read(folder.join("dump.parquet")) {
        Ok(dump) => dump,
        Err(fault) if fault.kind() == ErrorKind::NotFound => return Ok(false),
        Err(fault) => return Err(fault),
    };
    // The footer names who wrote the file.
    Ok(dump.windows(mark.len()).any(|window| window == mark))
}
