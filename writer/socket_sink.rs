//! A sink that sends a dump to a connection once it is complete.

use std::path::PathBuf;
use std::sync::Arc;

use crate::sink::Spool;
use crate::{Connection, GzipLevel, Sink, Tail, WriteError, Written};

/// Stores the dump in a file without a name, and sends it from there at the commit.
///
/// So neither a pause nor a forked child waits for the peer: only the thread that requested the dump does.
#[derive(Debug)]
pub(crate) struct SocketSink {
    connection: Arc<Connection>,
    /// The name that the files had for a moment.
    spool_path: PathBuf,
    dump: Spool,
    /// Opened for the first objects.
    objects: Option<Spool>,
    gzip: Option<GzipLevel>,
    bytes: u64,
}

impl SocketSink {
    /// Opens the file, under a unique name. Errors: `Lost` if the connection is already closed, and those of a file.
    pub(crate) fn create(
        connection: Arc<Connection>,
        spool_path: PathBuf,
        gzip: Option<GzipLevel>,
    ) -> Result<Self, WriteError> {
        connection.check()?;
        Ok(Self {
            connection,
            dump: Spool::create(&spool_path)?,
            spool_path,
            objects: None,
            gzip,
            bytes: 0,
        })
    }
}

impl Sink for SocketSink {
    fn write_head(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.dump.append(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn write_objects(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        Spool::append_to(&mut self.objects, &self.spool_path, bytes)
    }

    fn append_objects(&mut self) -> Result<(), WriteError> {
        if let Some(mut objects) = self.objects.take() {
            self.bytes += self.dump.append_all_of(&mut objects)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        // Nothing is buffered.
        Ok(())
    }

    fn tail(&self) -> Result<Tail, WriteError> {
        self.dump.tail(self.gzip)
    }

    fn commit(mut self: Box<Self>, tail_bytes: u64) -> Result<Written, WriteError> {
        let bytes = self.bytes.saturating_add(tail_bytes);
        let (mut dump, path) = self.dump.read_back(bytes)?;
        self.connection.send(&mut dump, path)?;
        Ok(Written {
            path: self.connection.peer().to_string().into(),
            bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::connection::tests::connection;
    use crate::{start_worker, Deliver, DumpFile, Outlet, TailWriter, WriteError};
    use std::io::Read;
    use std::sync::Arc;
    use std::thread;

    /// What the peer receives of the dump that `write` makes.
    fn sent(write: impl FnOnce(DumpFile) -> u64) -> Vec<u8> {
        let (connection, mut peer) = connection();
        let connection = Arc::new(connection);
        let reader = thread::spawn(move || {
            let mut all = Vec::new();
            peer.read_to_end(&mut all).map(|_| all).unwrap()
        });
        let outlet = Outlet::Connection {
            connection: Arc::clone(&connection),
            gzip: None,
        };
        let bytes = write(DumpFile::create(outlet).unwrap());
        connection.end_sending("the end");
        let all = reader.join().unwrap();
        assert_eq!(all.len() as u64, bytes);
        all
    }

    #[test]
    fn objects_stand_behind_the_head() {
        let all = sent(|file| {
            file.objects_sender().deliver(b"objects".to_vec()).unwrap();
            file.head(b"head ".to_vec()).unwrap();
            let written = file.finish().unwrap();
            assert!(
                written.path.starts_with("127.0.0.1:")
                    || written.path.to_string_lossy().contains(':')
            );
            written.bytes
        });
        assert_eq!(all, b"head objects\x2C\0\0\0\0\0\0\0\0");
    }

    #[test]
    fn others_may_write_the_tail() {
        let all = sent(|file| {
            file.head(b"head ".to_vec()).unwrap();
            file.flush().unwrap();
            let tail = TailWriter::start(file.tail().unwrap(), 1, start_worker).unwrap();
            tail.sender().deliver(b"tail".to_vec()).unwrap();
            let bytes = tail.finish().unwrap();
            file.finish_with_tail(bytes).unwrap().bytes
        });
        assert_eq!(all, b"head tail\x2C\0\0\0\0\0\0\0\0");
    }

    #[test]
    fn a_dump_that_is_given_up_sends_nothing() {
        let all = sent(|file| {
            file.head(b"head".to_vec()).unwrap();
            file.abandon();
            0
        });
        assert!(all.is_empty());
    }

    #[test]
    fn a_closed_connection_takes_no_dump() {
        let (connection, _peer) = connection();
        connection.close("the reason");
        let outlet = Outlet::Connection {
            connection: Arc::new(connection),
            gzip: None,
        };
        let error = DumpFile::create(outlet).unwrap_err();
        assert!(matches!(error, WriteError::Lost { reason, .. } if reason == "the reason"));
    }
}
