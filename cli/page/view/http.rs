//! HTTP on loopback: reads a request in bounded memory and time, refuses what is not the page's
//! own, and answers.
//!
//! A page that knows the token is the one that the command has printed. The name of the host keeps
//! out pages of others whose name was made to lead to this machine.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// Most bytes of a request: a line and the headers of a browser.
const REQUEST_BYTES_MAX: usize = 16 << 10;

/// Most headers of a request.
const HEADERS_MAX: usize = 100;

/// Time in which a request must have come, and an answer must have gone.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of a refused request that are read so that its sender sees the answer.
const DRAINED_BYTES_MAX: usize = 1 << 20;

/// Headers of each answer: nothing keeps it, frames it, guesses its type or reveals its address.
const HEADERS: &str = include_str!("headers.txt");

/// Who may ask.
#[derive(Clone, Debug)]
pub(super) struct Door {
    /// The port on loopback.
    pub(super) port: u16,
    /// The first part of each path.
    pub(super) token: String,
}

/// A request that is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// What follows the token in the path: `show`.
    pub(super) path: String,
    /// The parameters after the question mark, decoded.
    pub(super) query: Vec<(String, String)>,
}

impl Request {
    /// A parameter; `None` if it is missing.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// An answer: its status, the type of its body, and the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: Status,
    pub(super) kind: &'static str,
    pub(super) body: String,
}

/// The status of an answer, as its first line has it.
pub(super) type Status = &'static str;

pub(super) const OK: Status = "200 OK";
const BAD_REQUEST: Status = "400 Bad Request";
const FORBIDDEN: Status = "403 Forbidden";
pub(super) const NOT_FOUND: Status = "404 Not Found";
const METHOD_NOT_ALLOWED: Status = "405 Method Not Allowed";
const TOO_LARGE: Status = "431 Request Header Fields Too Large";

impl Door {
    /// The address of the page.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Reads a request; `None` if it was refused, with an answer, or never came.
    pub(super) fn admit(&self, stream: &mut TcpStream, until: Instant) -> Option<Request> {
        let refused = match read(stream, until) {
            Ok(Some(head)) => match self.judge(&head) {
                Ok(request) => return Some(request),
                Err(status) => status,
            },
            Ok(None) => TOO_LARGE,
            Err(_) => return None,
        };
        let answer = Answer {
            status: refused,
            kind: "text/plain",
            body: format!("{refused}\n"),
        };
        send(stream, &answer, until).ok()?;
        stream.shutdown(Shutdown::Write).ok()?;
        // An unread rest would make the system take the answer back.
        let (mut room, mut drained) = ([0; 4096], 0);
        while drained < DRAINED_BYTES_MAX {
            match read_some(stream, &mut room, until).ok()? {
                0 => break,
                count => drained += count,
            }
        }
        None
    }

    /// The request in a head, if it is allowed.
    fn judge(&self, head: &[u8]) -> Result<Request, Status> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(head) {
            Ok(httparse::Status::Complete(_)) => {}
            Err(httparse::Error::TooManyHeaders) => return Err(TOO_LARGE),
            Ok(httparse::Status::Partial) | Err(_) => return Err(BAD_REQUEST),
        }
        let is_host = |header: &&httparse::Header<'_>| header.name.eq_ignore_ascii_case("host");
        let mut hosts = parsed.headers.iter().filter(is_host);
        match (hosts.next(), hosts.next()) {
            (Some(host), None) if self.is_here(host.value) => {}
            _ => return Err(FORBIDDEN),
        }
        let target = parsed.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let rest = path.strip_prefix('/').and_then(|path| path.split_once('/'));
        let (token, path) = rest.ok_or(NOT_FOUND)?;
        if !is_same(token.as_bytes(), self.token.as_bytes()) {
            return Err(NOT_FOUND);
        }
        if parsed.method != Some("GET") {
            return Err(METHOD_NOT_ALLOWED);
        }
        let query = form_urlencoded::parse(query.as_bytes()).into_owned();
        Ok(Request {
            path: path.to_owned(),
            query: query.collect(),
        })
    }

    fn is_here(&self, host: &[u8]) -> bool {
        let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        let mut names = names.iter();
        names.any(|name| host.eq_ignore_ascii_case(name.as_bytes()))
    }
}

/// Whether the two are the same, in a time that does not reveal how far they are.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let pairs = one.iter().zip(other);
    let differ = pairs.fold(0, |differ, (one, other)| differ | (one ^ other));
    one.len() == other.len() && std::hint::black_box(differ) == 0
}

/// The head of a request; `None` if it is too long. Errors: it did not come in time, or its sender
/// has gone.
fn read(stream: &mut TcpStream, until: Instant) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    let mut room = [0; 4096];
    loop {
        let count = read_some(stream, &mut room, until)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(room.get(..count).unwrap_or_default());
        if head.windows(4).any(|end| end == b"\r\n\r\n") {
            return Ok(Some(head));
        }
        if head.len() > REQUEST_BYTES_MAX {
            return Ok(None);
        }
    }
}

/// Time that is left. Errors: there is none.
fn left(until: Instant) -> io::Result<Option<Duration>> {
    let left = until.saturating_duration_since(Instant::now());
    match left.is_zero() {
        true => Err(io::ErrorKind::TimedOut.into()),
        false => Ok(Some(left)),
    }
}

/// What has come, 0 at the end. Errors: nothing comes in time.
fn read_some(stream: &mut TcpStream, room: &mut [u8], until: Instant) -> io::Result<usize> {
    stream.set_read_timeout(left(until)?)?;
    stream.read(room)
}

/// Errors: not all is taken in time.
fn write_all(stream: &mut TcpStream, mut bytes: &[u8], until: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(left(until)?)?;
        let count = stream.write(bytes)?;
        bytes = bytes.get(count..).unwrap_or_default();
    }
    Ok(())
}

/// Sends an answer. Errors: the client has gone, or does not take it in time.
pub(super) fn send(stream: &mut TcpStream, answer: &Answer, until: Instant) -> io::Result<()> {
    let Answer { status, kind, body } = answer;
    let allow = match *status {
        METHOD_NOT_ALLOWED => "Allow: GET\r\n",
        _ => "",
    };
    let mut head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n{allow}",
        body.len()
    );
    for header in HEADERS.lines() {
        head.extend([header, "\r\n"]);
    }
    head.push_str("\r\n");
    write_all(stream, head.as_bytes(), until)?;
    write_all(stream, body.as_bytes(), until)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever sends a byte now and then would else be read for hours, and need not know the token.
    #[test]
    #[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    fn one_deadline_is_for_all_of_a_request() {
        let door = Door {
            port: 8080,
            token: "0123abcd".to_owned(),
        };
        for start in ["GET / HTTP/1.1\r\n\r\n", "GET / HT"] {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let mut slow = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let mut stream = listener.accept().unwrap().0;
            let trickle = std::thread::spawn(move || {
                slow.write_all(start.as_bytes()).unwrap();
                // Until it is cut off.
                while slow.write_all(b"x").is_ok() {
                    std::thread::sleep(Duration::from_millis(10));
                }
            });
            let until = Instant::now() + Duration::from_millis(200);
            assert_eq!(door.admit(&mut stream, until), None);
            drop(stream);
            trickle.join().unwrap();
        }
    }

    fn judged(head: &str) -> Result<Request, Status> {
        let door = Door {
            port: 8080,
            token: "0123abcd".to_owned(),
        };
        door.judge(head.replace('\n', "\r\n").as_bytes())
    }

    fn asked(target: &str, host: &str) -> Result<Request, Status> {
        judged(&format!("GET {target} HTTP/1.1\nHost: {host}\n\n"))
    }

    #[test]
    fn the_page_and_its_questions_are_admitted() {
        let page = asked("/0123abcd/", "127.0.0.1:8080");
        assert_eq!(page.map(|it| it.path).as_deref(), Ok(""));
        let show = asked("/0123abcd/show?id=0x1f&class=a%24b%5B%5D", "LocalHost:8080");
        let show = show.ok();
        let get = |name| show.as_ref().and_then(|it| it.get(name));
        assert_eq!(get("id"), Some("0x1f"));
        assert_eq!(get("class"), Some("a$b[]"));
        assert_eq!(get("top"), None);
    }

    #[test]
    fn other_hosts_are_not_admitted() {
        for host in [
            "evil.example:8080",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1:8080.evil.example",
            "",
        ] {
            assert_eq!(asked("/0123abcd/", host), Err(FORBIDDEN), "{host}");
        }
        let none = judged("GET /0123abcd/ HTTP/1.1\n\n");
        assert_eq!(none, Err(FORBIDDEN));
        let two = judged("GET /0123abcd/ HTTP/1.1\nHost: 127.0.0.1:8080\nHost: evil\n\n");
        assert_eq!(two, Err(FORBIDDEN));
    }

    #[test]
    fn who_does_not_know_the_token_finds_nothing() {
        for target in [
            "/",
            "/0123abcd",
            "/0123abc/",
            "/0123abcde/",
            "//0123abcd/",
            "/../0123abcd/",
            "/0123ABCD/",
            "*",
            "http://127.0.0.1:8080/0123abcd/",
        ] {
            let answer = asked(target, "127.0.0.1:8080");
            assert_eq!(answer, Err(NOT_FOUND), "{target}");
        }
    }

    #[test]
    fn only_get_is_allowed_and_nonsense_is_refused() {
        for method in ["POST", "HEAD", "OPTIONS", "DELETE"] {
            let answer = judged(&format!(
                "{method} /0123abcd/ HTTP/1.1\nHost: 127.0.0.1:8080\n\n"
            ));
            assert_eq!(answer, Err(METHOD_NOT_ALLOWED), "{method}");
        }
        for head in ["\n\n", "GET\n\n", "GET / HTTP/9\n\n", "\u{1}\u{2}\n\n"] {
            assert_eq!(judged(head), Err(BAD_REQUEST), "{head:?}");
        }
        let many = "a: b\n".repeat(HEADERS_MAX + 1);
        let many = judged(&format!("GET / HTTP/1.1\n{many}\n"));
        assert_eq!(many, Err(TOO_LARGE));
    }

    #[test]
    fn tokens_are_compared_whole() {
        assert!(is_same(b"abc", b"abc"));
        for other in [&b"abd"[..], b"ab", b"abcd", b""] {
            assert!(!is_same(b"abc", other));
        }
    }
}
