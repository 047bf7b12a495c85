//! The connection as a place where dumps and reports go.
//!
//! A dump is kept in an unlinked file until it is committed; then the writer thread sends it, so no
//! pause waits for the peer.

use crate::{Connection, GzipLevel, Outlet, Sink, SpoolSink, StoredDump, WriteError, Written};
use std::fmt;
use std::sync::Arc;

/// Stores each dump in the system's folder for temporary files, without a name, and sends it once
/// it is complete. Displayed as `HOST:PORT`.
#[derive(Clone, Debug)]
pub struct ConnectionOutlet {
    connection: Arc<Connection>,
    gzip: Option<GzipLevel>,
}

impl ConnectionOutlet {
    /// An outlet for this connection; `gzip` is the compression level.
    pub fn new(connection: Arc<Connection>, gzip: Option<GzipLevel>) -> Self {
        Self { connection, gzip }
    }
}

impl Outlet for ConnectionOutlet {
    fn gzip(&self) -> Option<GzipLevel> {
        self.gzip
    }

    /// The error is `Refused` if the connection is already closed.
    fn sink(&self) -> Result<Box<dyn Sink>, WriteError> {
        self.connection.check()?;
        let connection = Arc::clone(&self.connection);
        let send = move |dump: StoredDump<'_>| {
            let mut from = dump.open().map_err(|error| dump.unreadable(error))?;
            let bytes = connection.send(&mut from, |error| dump.unreadable(error))?;
            let path = connection.peer().to_string().into();
            Ok(Written { path, bytes })
        };
        let sink = SpoolSink::create(&self.spool_path(), self.gzip, Box::new(send))?;
        Ok(Box::new(sink))
    }
}

impl fmt::Display for ConnectionOutlet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.connection.peer().fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::tests::connection;
    use crate::DumpFile;
    use std::io::Read;

    #[test]
    fn complete_dumps_alone_go_down_the_connection() {
        let (connection, mut peer) = connection();
        let connection = Arc::new(connection);
        let outlet = ConnectionOutlet::new(Arc::clone(&connection), None);
        assert!(outlet.to_string().starts_with("127.0.0.1:"));
        assert_ne!(outlet.spool_path(), outlet.spool_path());
        let file = DumpFile::create(&outlet).unwrap();
        file.head(b"head".to_vec()).unwrap();
        let written = file.finish_with_tail(0).unwrap();
        let path = outlet.to_string().into();
        assert_eq!(written, Written { path, bytes: 4 });
        drop(DumpFile::create(&outlet).unwrap());
        connection.end_sending("the end");
        let mut all = Vec::new();
        peer.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"head");
        let error = DumpFile::create(&outlet).unwrap_err().to_string();
        assert!(
            error.ends_with("is closed: the end; nothing more is sent"),
            "{error}"
        );
    }
}
