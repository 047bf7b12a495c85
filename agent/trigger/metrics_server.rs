//! `metrics=:PORT`: tells the newest sample by HTTP, to who asks on this machine.
//!
//! One connection after the other, each for a few seconds at most. Only the thread here waits for a peer.

use crate::agent_threads;
use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::message::{say, say_if};
use parking_lot::Mutex;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Name of the thread in thread dumps and in the heap dump itself.
const THREAD_NAME: &str = "HPROF metrics";
/// How long a peer may take, from its connection to the last byte of its answer.
const LIMIT: Duration = Duration::from_secs(5);
/// Longest request.
const MOST_BYTES: usize = 8 << 10;
/// The rest after a connection that could not be taken, as when no descriptor is left.
const REST: Duration = Duration::from_secs(1);
/// The format of metrics, as OpenMetrics names it.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// The newest sample; `None` before the first.
pub(super) type Newest = Arc<Mutex<Option<Arc<str>>>>;

/// Starts to listen. `None`, with a line on stderr, if that is not possible: the application starts all the same. In
/// `VMInit`.
pub(super) fn start(
    address: SocketAddr,
    env: &Env,
    jni: &mut Jni<'_>,
    verbose: bool,
) -> Option<Newest> {
    let bound = TcpListener::bind(address).and_then(|it| Ok((it.local_addr()?, it)));
    let (address, listener) = match bound {
        Ok(bound) => bound,
        Err(error) => {
            say(&format!(
                "no metrics at {address}: {error}; choose another port, or a file"
            ));
            return None;
        }
    };
    let newest = Newest::default();
    let told = Arc::clone(&newest);
    let body = move |_: &mut Jni<'_>| listen(&listener, &told);
    if let Err(why) = agent_threads::start(env, jni, THREAD_NAME, body) {
        say(&format!(
            "no metrics at {address}: no thread can be started: {why}"
        ));
        return None;
    }
    say_if(verbose, &format!("metrics are at http://{address}/metrics"));
    Some(newest)
}

/// The agent thread's main function.
fn listen(listener: &TcpListener, newest: &Newest) {
    loop {
        match listener.accept() {
            Ok((peer, _)) => {
                // A panic in our code ends only this connection, as does a peer that is gone.
                let serve = || serve(peer, newest, LIMIT);
                let _ = catch_unwind(AssertUnwindSafe(serve));
            }
            Err(_) => sleep(REST),
        }
    }
}

/// Answers one request. An error if the peer is too slow, or gone.
fn serve(mut peer: TcpStream, newest: &Newest, limit: Duration) -> io::Result<()> {
    let until = Instant::now() + limit;
    let request = request(&mut peer, until)?;
    let newest = newest.lock().clone();
    let (status, format, body) = answer(&request, newest.as_deref());
    let has_body = !request.starts_with("HEAD ");
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {format}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    send(&mut peer, head.as_bytes(), until)?;
    if has_body {
        send(&mut peer, body.as_bytes(), until)?;
    }
    peer.shutdown(Shutdown::Write)
}

/// The first line of a request, once all its lines have come.
fn request(peer: &mut TcpStream, until: Instant) -> io::Result<String> {
    let (mut all, mut bytes) = (Vec::new(), [0; 1024]);
    while !all.windows(4).any(|end| end == b"\r\n\r\n") {
        peer.set_read_timeout(Some(left(until)?))?;
        let count = peer.read(&mut bytes)?;
        all.extend_from_slice(bytes.get(..count).unwrap_or_default());
        if count == 0 || all.len() > MOST_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    let line = all.split(|&byte| byte == b'\r').next().unwrap_or_default();
    Ok(String::from_utf8_lossy(line).into_owned())
}

/// Status, format and text of the answer to the request with this first line.
fn answer<'t>(request: &str, newest: Option<&'t str>) -> (&'static str, &'static str, &'t str) {
    let mut words = request.split(' ');
    let (method, target) = (words.next(), words.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default();
    match (method, path, newest) {
        (Some("GET" | "HEAD"), "/metrics", Some(text)) => ("200 OK", METRICS, text),
        (Some("GET" | "HEAD"), "/metrics", None) => (
            "503 Service Unavailable",
            TEXT,
            "There is no sample of the heap yet.\n",
        ),
        (Some("GET" | "HEAD"), ..) => ("404 Not Found", TEXT, "Metrics are at /metrics.\n"),
        _ => (
            "405 Method Not Allowed",
            TEXT,
            "Metrics can be read only.\n",
        ),
    }
}

fn send(peer: &mut TcpStream, mut bytes: &[u8], until: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        peer.set_write_timeout(Some(left(until)?))?;
        match peer.write(bytes)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => bytes = bytes.get(count..).unwrap_or_default(),
        }
    }
    Ok(())
}

/// The time that is left; an error if none is.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Ample; nothing waits this long unless it is stuck.
    const LONG: Duration = Duration::from_secs(60);

    /// Both ends of a connection.
    fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let peer = TcpStream::connect(address).expect("a connection");
        (listener.accept().expect("a connection").0, peer)
    }

    /// What a peer gets that sends this.
    fn told(request: &str, newest: Option<&str>) -> String {
        let (ours, mut peer) = connected();
        let newest = Newest::new(Mutex::new(newest.map(Arc::from)));
        let server = thread::spawn(move || serve(ours, &newest, LONG));
        peer.write_all(request.as_bytes()).expect("sent");
        let mut told = String::new();
        peer.read_to_string(&mut told).expect("told");
        server.join().expect("no panic").expect("answered");
        told
    }

    #[test]
    fn the_newest_sample_is_told() {
        let request = "GET /metrics?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let answer = told(request, Some("a 1\n# EOF\n"));
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains("\r\nContent-Type: application/openmetrics-text; version=1.0.0"));
        let end = "\r\nContent-Length: 10\r\nConnection: close\r\n\r\na 1\n# EOF\n";
        assert!(answer.ends_with(end), "{answer}");
        let head = told("HEAD /metrics HTTP/1.0\r\n\r\n", Some("a 1\n# EOF\n"));
        assert!(head.ends_with("\r\nContent-Length: 10\r\nConnection: close\r\n\r\n"));
    }

    #[test]
    fn nothing_else_is_told() {
        for (request, newest, status) in [
            ("GET /metrics HTTP/1.1", None, "503 "),
            ("GET / HTTP/1.1", Some("a"), "404 "),
            ("GET /metrics/ HTTP/1.1", Some("a"), "404 "),
            ("POST /metrics HTTP/1.1", Some("a"), "405 "),
            ("", Some("a"), "405 "),
        ] {
            let answer = told(&format!("{request}\r\n\r\n"), newest);
            let start = format!("HTTP/1.1 {status}");
            assert!(answer.starts_with(&start), "{request}: {answer}");
        }
    }

    #[test]
    fn a_peer_that_says_nothing_or_too_much_or_takes_nothing_is_left() {
        let newest = |text: &str| Newest::new(Mutex::new(Some(Arc::from(text))));
        let short = Duration::from_millis(100);
        let (ours, _peer) = connected();
        assert!(serve(ours, &newest("a"), short).is_err());
        let (ours, mut peer) = connected();
        let server = thread::spawn(move || serve(ours, &newest("a"), LONG));
        // It may be left before all is sent.
        let _ = peer.write_all(&[b'a'; 64 << 10]);
        assert!(server.join().expect("no panic").is_err());
        let (ours, mut peer) = connected();
        peer.write_all(b"GET /metrics HTTP/1.1\r\n\r\n")
            .expect("sent");
        assert!(serve(ours, &newest(&"a".repeat(64 << 20)), short).is_err());
    }
}
