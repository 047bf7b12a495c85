//! Where a JVM writes its dump: a path inside the JVM's container, if it has one.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::attach::protocol::Jvm;
use crate::output::outcome::Failure;
use crate::proc::inside::Inside;

/// The default folder for a JVM in a container.
const ITS_TEMPORARY: &str = "/tmp";

/// A file of the JVM that does not exist yet.
#[derive(Debug)]
pub(crate) struct DumpPlace {
    /// Its absolute path inside the JVM's container.
    pub(crate) path: PathBuf,
    seen: Seen,
}

/// How a file of the JVM is seen from here.
#[derive(Debug)]
enum Seen {
    /// The same path.
    Here,
    /// Another path.
    At(PathBuf),
    /// No path: a link of the container's, with the meaning that it has here, would lead elsewhere.
    No,
}

impl DumpPlace {
    /// The user's file, or one named after the JVM: in this command's folder if the JVM sees that,
    /// otherwise in the JVM's `/tmp`.
    ///
    /// Errors: the JVM does not see the folder, or the file exists already.
    pub(crate) fn find(jvm: &Jvm, output: Option<&Path>) -> Result<Self, Failure> {
        let pid = jvm.pid;
        let file = match output {
            Some(file) => std::path::absolute(file)?,
            None => {
                let now = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
                let folder = std::env::current_dir()?;
                let sees = jvm.root.has_this(&folder);
                let folder = if sees { folder } else { ITS_TEMPORARY.into() };
                folder.join(format!("java-{pid}-{now}.hprof"))
            }
        };
        Self::new(&jvm.root, pid, file)
    }

    fn new(root: &Inside, pid: i32, path: PathBuf) -> Result<Self, Failure> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        if let Err(error) = root.folder(folder) {
            return Err(Failure::Input(format!(
                "the JVM {pid} cannot write to {}: {error}; name a file that it can write with -o",
                folder.display()
            )));
        }
        let is_here = root.has_this(folder);
        let is_there = root.has(&path) || is_here && fs::symlink_metadata(&path).is_ok();
        if is_there {
            return Err(Failure::writing(&path, "it is there already"));
        }
        Ok(Self::seen(root, pid, path))
    }

    /// A file that the JVM has written.
    pub(crate) fn of(jvm: &Jvm, path: &Path) -> Self {
        Self::seen(&jvm.root, jvm.pid, path.to_owned())
    }

    fn seen(root: &Inside, pid: i32, path: PathBuf) -> Self {
        let folder = path.parent().unwrap_or(Path::new("/"));
        let below = |path: &Path| {
            let below = path.strip_prefix("/").unwrap_or(path).to_owned();
            Path::new(&format!("/proc/{pid}/root")).join(below)
        };
        let seen = if root.has_this(folder) {
            Seen::Here
        } else if root.has_that(folder, &below(folder)) {
            Seen::At(below(&path))
        } else {
            Seen::No
        };
        Self { path, seen }
    }

    /// Its path outside, or the one inside if no path leads to it from here.
    pub(crate) fn outside(&self) -> &Path {
        match &self.seen {
            Seen::At(outside) => outside,
            Seen::Here | Seen::No => &self.path,
        }
    }

    /// Its path, or its two paths inside and outside.
    pub(crate) fn names(&self) -> String {
        let path = self.path.display();
        match &self.seen {
            Seen::Here => path.to_string(),
            Seen::At(here) => format!("{} ({path} in the container of the JVM)", here.display()),
            Seen::No => format!("{path} in the container of the JVM"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_new_and_in_a_folder_that_the_jvm_sees() {
        let folder = tempfile::tempdir().unwrap();
        let root = Inside(std::fs::File::open("/").unwrap().into());
        let place = |name: &str| DumpPlace::new(&root, 7, folder.path().join(name));
        let new = place("new").unwrap();
        assert_eq!(new.names(), folder.path().join("new").display().to_string());
        fs::write(folder.path().join("old"), b"").unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
        for (name, words) in [
            ("old", "it is there already"),
            ("link", "it is there already"),
            ("none/new", "cannot write to"),
        ] {
            let why = format!("{:?}", place(name).unwrap_err());
            assert!(why.contains(words), "{why}");
        }
    }
}
