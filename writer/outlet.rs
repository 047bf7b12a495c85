//! Where a dump goes: into a file, down a connection, or to a process that waits for it.

use std::fmt;
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::gzip_sink::GzipSink;
use crate::stream_sink::StreamSink;
use crate::{
    start_worker, Connection, FileSink, GzipLevel, Sink, SpoolSink, Target, WriteError, Written,
};

/// Where a dump goes. Displayed as the path, or as `HOST:PORT`.
#[derive(Clone, Debug)]
pub enum Outlet {
    /// To a file.
    File(Target),
    /// To a connection, once it is complete. Until then it is kept in the system's folder for temporary files, without
    /// a name.
    Connection {
        /// The connection.
        connection: Arc<Connection>,
        /// The compression level; `None` for no compression.
        gzip: Option<GzipLevel>,
    },
    /// To the process that listens on the socket at this path, as it is made; never compressed.
    Socket(PathBuf),
}

impl Outlet {
    /// Opens the file or the connection, behind one compressing thread per processor for a compressed dump.
    ///
    /// Errors: those of [`FileSink::create`], `Lost`, `NoThread`, `NoMemory`; after an error nothing is left behind.
    pub fn open(self) -> Result<Box<dyn Sink>, WriteError> {
        let spool_path = self.spool_path();
        match self {
            Self::File(target) => {
                let gzip = target.gzip;
                compressed(FileSink::create(target)?, gzip)
            }
            Self::Connection { connection, gzip } => {
                connection.check()?;
                let send = move |mut dump: &File, path: &Path, bytes| {
                    connection.send(&mut dump, path)?;
                    let path = connection.peer().to_string().into();
                    Ok(Written { path, bytes })
                };
                compressed(SpoolSink::create(spool_path, gzip, Box::new(send))?, gzip)
            }
            Self::Socket(path) => Ok(Box::new(StreamSink::connect(&path)?)),
        }
    }

    /// The file beside which unfinished data is kept.
    pub fn spool_path(&self) -> PathBuf {
        static SPOOLS: AtomicU64 = AtomicU64::new(0);
        match self {
            Self::File(target) => target.path.clone(),
            Self::Socket(path) => path.clone(),
            Self::Connection { .. } => {
                // A unique name: process ids are not enough where containers share a folder.
                let nanos = SystemTime::now().duration_since(UNIX_EPOCH);
                let nanos = nanos.unwrap_or_default().subsec_nanos();
                let number = SPOOLS.fetch_add(1, Ordering::Relaxed);
                let process = std::process::id();
                std::env::temp_dir().join(format!("hprof-rs.{process}.{number}.{nanos}"))
            }
        }
    }
}

fn compressed(
    sink: impl Sink + 'static,
    gzip: Option<GzipLevel>,
) -> Result<Box<dyn Sink>, WriteError> {
    let Some(level) = gzip else {
        return Ok(Box::new(sink));
    };
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let sink = GzipSink::start(sink, level, threads, start_worker, true)?;
    Ok(Box::new(sink))
}

impl From<Target> for Outlet {
    fn from(target: Target) -> Self {
        Self::File(target)
    }
}

impl fmt::Display for Outlet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(target) => target.path.display().fmt(out),
            Self::Connection { connection, .. } => connection.peer().fmt(out),
            Self::Socket(path) => path.display().fmt(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::tests::connection;
    use crate::DumpFile;
    use std::io::Read;

    #[test]
    fn spools_of_a_connection_have_names_of_their_own() {
        let (connection, _peer) = connection();
        let outlet = Outlet::Connection {
            connection: Arc::new(connection),
            gzip: None,
        };
        assert_ne!(outlet.spool_path(), outlet.spool_path());
        assert!(outlet.to_string().starts_with("127.0.0.1:"));
    }

    #[test]
    fn a_file_keeps_its_spool_beside_it() {
        let outlet = Outlet::from(Target::new("/d/a.hprof"));
        assert_eq!(outlet.spool_path(), PathBuf::from("/d/a.hprof"));
        assert_eq!(outlet.to_string(), "/d/a.hprof");
    }
    #[test]
    fn a_dump_goes_down_the_connection() {
        let (connection, mut peer) = connection();
        let connection = Arc::new(connection);
        let outlet = Outlet::Connection {
            connection: Arc::clone(&connection),
            gzip: None,
        };
        let file = DumpFile::create(outlet.clone()).unwrap();
        file.head(b"head".to_vec()).unwrap();
        let written = file.finish_with_tail(0).unwrap();
        assert_eq!(
            (written.path, written.bytes),
            (outlet.to_string().into(), 4)
        );
        DumpFile::create(outlet.clone()).unwrap().abandon();
        connection.end_sending("the end");
        let mut all = Vec::new();
        peer.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"head");
        let error = DumpFile::create(outlet).unwrap_err();
        assert!(matches!(error, WriteError::Lost { reason, .. } if reason == "the end"));
    }
}
