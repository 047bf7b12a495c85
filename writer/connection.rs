//! The connection to a peer that receives dumps. Every wait for the peer has a limit.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::{Peer, WriteError};

/// Limit of all attempts to connect together, not counting the name lookup.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// A peer that accepts less than 64 KiB in this time is abandoned.
const SEND_LIMIT: Duration = Duration::from_secs(10);

/// Bytes per second that a peer must accept on average once the JVM is shutting down.
const HURRY_BYTES: u64 = 1 << 20;
/// Time before that average is checked.
const HURRY_GRACE: Duration = Duration::from_secs(5);

/// Bytes that a peer must accept within the limit.
const PIECE_BYTES: usize = 64 << 10;
/// The most addresses of one name that are tried.
const MOST_ADDRESSES: usize = 8;
/// Longest wait of one call for the peer before the limit is checked.
const ONE_WAIT: Duration = Duration::from_secs(1);

/// An open connection. Dumps are sent one after the other, each complete. One other thread reads
/// what the peer sends.
///
/// Any thread may call any method. The first failure closes it for good.
#[derive(Debug)]
pub struct Connection {
    peer: Peer,
    stream: TcpStream,
    limit: Duration,
    /// When the JVM began to shut down; since then the peer must keep up.
    hurry: OnceLock<Instant>,
    /// Bytes that the peer has accepted.
    sent_bytes: AtomicU64,
    /// The value of `sent_bytes` when the hurry began.
    sent_before: AtomicU64,
    /// Locked while a dump is sent.
    sending: Mutex<()>,
    /// Why it is closed; `None` while it is open. Locked only briefly.
    closed: Mutex<Option<String>>,
}

impl Connection {
    /// Connects, trying all addresses of the host. Blocks for at most [`CONNECT_LIMIT`], plus the
    /// lookup.
    ///
    /// The error is a sentence with the failure of the last address.
    pub fn open(peer: Peer) -> Result<Self, String> {
        let stream = connect(&peer).map_err(|error| {
            format!("cannot connect to {peer}: {error}; start what listens there before the JVM")
        })?;
        // An option that cannot be set makes the connection slower, not unusable.
        let _ = stream.set_nodelay(true);
        let _ = stream.set_write_timeout(Some(ONE_WAIT));
        Ok(Self {
            peer,
            stream,
            limit: SEND_LIMIT,
            hurry: OnceLock::new(),
            sent_bytes: AtomicU64::new(0),
            sent_before: AtomicU64::new(0),
            sending: Mutex::default(),
            closed: Mutex::default(),
        })
    }

    /// The peer.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Returns the error `Refused` if it is closed.
    pub fn check(&self) -> Result<(), WriteError> {
        match &*lock(&self.closed) {
            None => Ok(()),
            Some(reason) => Err(self.lost(reason)),
        }
    }

    /// Reads what the peer sends, like [`Read::read`]; blocks without a limit. 0 if the peer sends
    /// no more, or the connection is closed.
    pub fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        (&self.stream).read(into)
    }

    /// Sends all of `from` and returns the number of bytes; `unreadable` makes the error if it
    /// cannot be read.
    ///
    /// Waits while another thread sends. Errors: `Refused`, which closes the connection, because
    /// the peer has half a dump; the error of `unreadable`, likewise.
    pub fn send(
        &self,
        from: &mut impl Read,
        unreadable: impl Fn(io::Error) -> WriteError,
    ) -> Result<u64, WriteError> {
        let _sending = lock(&self.sending);
        self.check()?;
        let mut piece = vec![0; PIECE_BYTES];
        let mut bytes = 0;
        let began = Instant::now();
        loop {
            let read = from.read(&mut piece).map_err(|error| {
                self.close("a dump could not be read back");
                unreadable(error)
            })?;
            let Some(piece) = piece.get(..read).filter(|piece| !piece.is_empty()) else {
                return Ok(bytes);
            };
            if let Err(reason) = self.send_piece(piece, began) {
                self.close(&reason);
                // If another thread has closed it, return that thread's reason.
                self.check()?;
            }
            bytes += piece.len() as u64;
        }
    }

    /// From now on, after [`HURRY_GRACE`], the peer must take [`HURRY_BYTES`] per second on
    /// average, because something is blocked on it. Only the first call counts.
    pub fn hurry(&self) {
        self.hurry.get_or_init(|| {
            self.sent_before
                .store(self.sent_bytes.load(Ordering::Relaxed), Ordering::Relaxed);
            Instant::now()
        });
    }

    /// Whether the peer is too slow in a hurry, measured from `began` or from the start of the
    /// hurry.
    fn is_too_slow(&self, began: Instant) -> bool {
        let Some(&hurry) = self.hurry.get() else {
            return false;
        };
        let seconds = hurry.max(began).elapsed();
        let sent = self.sent_bytes.load(Ordering::Relaxed);
        let sent = sent.saturating_sub(self.sent_before.load(Ordering::Relaxed));
        seconds > HURRY_GRACE && sent < HURRY_BYTES.saturating_mul(seconds.as_secs())
    }

    /// Closes both directions at once; senders and readers get an error. Only the first reason is
    /// kept.
    pub fn close(&self, reason: &str) {
        lock(&self.closed).get_or_insert_with(|| reason.to_owned());
        // The peer may have closed it already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Signals to the peer that nothing follows the current dump. The peer may continue to send.
    pub fn end_sending(&self, reason: &str) {
        let _sending = lock(&self.sending);
        lock(&self.closed).get_or_insert_with(|| reason.to_owned());
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// The error gives the reason, as the end of a sentence.
    fn send_piece(&self, mut piece: &[u8], dump_began: Instant) -> Result<(), String> {
        let began = Instant::now();
        while !piece.is_empty() {
            match (&self.stream).write(piece) {
                Ok(0) => return Err("the peer takes no more".to_owned()),
                Ok(sent) => {
                    self.sent_bytes.fetch_add(sent as u64, Ordering::Relaxed);
                    piece = piece.get(sent..).unwrap_or_default();
                }
                Err(error) if is_no_failure(&error) => {}
                Err(error) => return Err(error.to_string()),
            }
            if self.is_too_slow(dump_began) {
                return Err("the JVM ends, and the peer takes less than 1 MiB a second".to_owned());
            }
            if !piece.is_empty() && began.elapsed() >= self.limit {
                let seconds = self.limit.as_secs();
                return Err(format!(
                    "the peer has taken next to nothing for {seconds} s"
                ));
            }
        }
        Ok(())
    }

    fn lost(&self, reason: &str) -> WriteError {
        let peer = &self.peer;
        WriteError::Refused(format!(
            "the connection to {peer} is closed: {reason}; nothing more is sent"
        ))
    }
}

/// Whether a write only timed out.
fn is_no_failure(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

fn connect(peer: &Peer) -> io::Result<TcpStream> {
    // In the system's order of preference.
    let found = peer.host_and_port().to_socket_addrs()?;
    let addresses: Vec<SocketAddr> = found.take(MOST_ADDRESSES).collect();
    let tries = u32::try_from(addresses.len()).unwrap_or(1).max(1);
    let mut answer = Err(io::Error::other("the host has no address"));
    for address in &addresses {
        answer = TcpStream::connect_timeout(address, CONNECT_LIMIT / tries);
        if answer.is_ok() {
            break;
        }
    }
    answer
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data is consistent whenever the lock is free.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    /// A connection, and the peer's end of it.
    pub(crate) fn connection() -> (Connection, TcpStream) {
        connection_until(Duration::from_secs(30))
    }

    /// A connection with this limit.
    fn connection_until(limit: Duration) -> (Connection, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = Peer::parse(&listener.local_addr().unwrap().to_string()).unwrap();
        let opened = Connection {
            limit,
            ..Connection::open(peer).unwrap()
        };
        let _ = opened
            .stream
            .set_write_timeout(Some(Duration::from_millis(50)));
        (opened, listener.accept().unwrap().0)
    }

    fn send(connection: &Connection, bytes: &[u8]) -> Result<u64, WriteError> {
        connection.send(&mut &bytes[..], |error| panic!("{error}"))
    }

    fn reason(error: WriteError) -> String {
        match error {
            WriteError::Refused(sentence) => sentence,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn dumps_arrive_whole_and_one_after_the_other() {
        let (connection, mut peer) = connection();
        let reader = thread::spawn(move || {
            let mut all = Vec::new();
            peer.read_to_end(&mut all).map(|_| all).unwrap()
        });
        thread::scope(|scope| {
            for letter in *b"ab" {
                let connection = &connection;
                scope.spawn(move || assert_eq!(send(connection, &[letter; 1 << 20]), Ok(1 << 20)));
            }
        });
        connection.end_sending("the end");
        let all = reader.join().unwrap();
        assert_eq!(all.len(), 2 << 20);
        assert!(all
            .chunks(1 << 20)
            .all(|dump| dump.iter().all(|&byte| byte == dump[0])));
        let refusal = reason(send(&connection, b"c").unwrap_err());
        let end = "is closed: the end; nothing more is sent";
        assert!(refusal.ends_with(end), "{refusal}");
    }

    #[test]
    fn a_peer_that_takes_nothing_is_given_up() {
        let (connection, _peer) = connection_until(Duration::from_millis(500));
        let began = Instant::now();
        let error = send(&connection, &vec![0; 64 << 20]).unwrap_err();
        assert!(reason(error).contains("next to nothing"));
        assert!(began.elapsed() < Duration::from_secs(30));
        // The second call returns at once.
        assert!(reason(connection.check().unwrap_err()).contains("next to nothing"));
        assert_eq!(connection.read(&mut [0; 9]).unwrap(), 0);
    }

    #[test]
    fn a_peer_that_is_gone_is_told_of() {
        let (connection, peer) = connection();
        drop(peer);
        let error = (0..100).find_map(|_| send(&connection, &[0; 1 << 16]).err());
        let reason = reason(error.unwrap());
        assert!(reason.contains("os error"), "{reason}");
    }

    #[test]
    fn who_reads_is_told_of_the_end() {
        let (connection, mut peer) = connection();
        peer.write_all(b"word").unwrap();
        let mut word = [0; 9];
        assert_eq!(connection.read(&mut word).unwrap(), 4);
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(connection.read(&mut [0; 9]).unwrap(), 0));
            connection.close("the end");
        });
    }

    #[test]
    fn nobody_there_is_an_error_with_a_name() {
        // Bound and closed again, so nothing listens there.
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let peer = Peer::parse(&format!("127.0.0.1:{port}")).unwrap();
        let line = Connection::open(peer).unwrap_err();
        let start = format!("cannot connect to 127.0.0.1:{port}: Connection refused");
        assert!(line.starts_with(&start), "{line}");
    }
}
