//! The destination of a dump: a file, a connection or a stream.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::gzip_sink::GzipSink;
use crate::{start_worker, FileSink, GzipLevel, Sink, Target, WriteError};

/// The destination of a dump. Displayed as the path, or as the name of the receiver.
pub trait Outlet: fmt::Debug + fmt::Display {
    /// The file that the dump will become; `None` if it becomes no file.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// The compression level; `None` for no compression.
    fn gzip(&self) -> Option<GzipLevel>;

    /// Opens it for the bytes of one dump, which are already compressed if they are to be. After an
    /// error nothing is left behind.
    fn sink(&self) -> Result<Box<dyn Sink>, WriteError>;

    /// Opens it; a compressed dump first passes one compressing thread per processor.
    ///
    /// Errors: those of [`Outlet::sink`], `NoThread`, `NoMemory`; after an error nothing is left
    /// behind.
    fn open(&self) -> Result<Box<dyn Sink>, WriteError> {
        let sink = self.sink()?;
        let Some(level) = self.gzip() else {
            return Ok(sink);
        };
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let sink = GzipSink::start(sink, level, threads, start_worker, true)?;
        Ok(Box::new(sink))
    }

    /// The path beside which unfinished data is stored, in a file without a name: the target file
    /// itself, or a new path in the system's folder for temporary files at each call.
    fn spool_path(&self) -> PathBuf {
        self.file().map_or_else(temporary, Path::to_owned)
    }
}

/// Another path at each call, in the system's folder for temporary files.
pub(crate) fn temporary() -> PathBuf {
    static SPOOLS: AtomicU64 = AtomicU64::new(0);
    // A unique name: process ids are not enough where containers share a folder.
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = nanos.unwrap_or_default().subsec_nanos();
    let number = SPOOLS.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    std::env::temp_dir().join(format!("hprof-rs.{process}.{number}.{nanos}"))
}

impl Outlet for Target {
    fn file(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn gzip(&self) -> Option<GzipLevel> {
        self.gzip
    }

    fn sink(&self) -> Result<Box<dyn Sink>, WriteError> {
        Ok(Box::new(FileSink::create(self.clone())?))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_spool_beside_it() {
        let target = Target::new("/d/a.hprof");
        assert_eq!(target.spool_path(), PathBuf::from("/d/a.hprof"));
        assert_eq!(target.to_string(), "/d/a.hprof");
    }
}
