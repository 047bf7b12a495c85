//! Where a dump goes: into a file, down a connection, or to a process that waits for it.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Connection, GzipLevel, Target};

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
    /// The file beside which unfinished data is kept.
    pub(crate) fn spool_path(&self) -> PathBuf {
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
}
