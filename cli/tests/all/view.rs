//! `hprof view` on its socket: who may ask, and what the answers are.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{kill_process, Pid, Signal};
use sample::Dump;
use serde_json::Value;
use tempfile::TempDir;

/// A command that serves.
struct View {
    child: Child,
    /// `127.0.0.1:PORT`.
    host: String,
    token: String,
    _folder: TempDir,
}

impl View {
    fn start(more: &[&str]) -> Self {
        Self::start_with(more, &[])
    }

    fn start_with(more: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::of(&Dump::small().bytes(), more, variables)
    }

    fn of(bytes: &[u8], more: &[&str], variables: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let dump = folder.path().join("a.hprof");
        std::fs::write(&dump, bytes).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_hprof"))
            .arg("view")
            .arg(dump)
            .args(more)
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut from = BufReader::new(child.stdout.take().unwrap());
        from.read_line(&mut line).unwrap();
        let rest = line.trim().strip_prefix("http://").unwrap();
        let (host, path) = rest.split_once('/').unwrap();
        Self {
            host: host.to_owned(),
            token: path.trim_end_matches('/').to_owned(),
            child,
            _folder: folder,
        }
    }

    /// The whole answer to these bytes.
    fn raw(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let mut writing = stream.try_clone().unwrap();
        let bytes = request.to_vec();
        // The server may stop reading.
        let sending = std::thread::spawn(move || writing.write_all(&bytes));
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let _ = sending.join().unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn asked(&self, target: &str, host: &str) -> String {
        self.raw(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
    }

    /// The status and the body of a question of the page.
    fn get(&self, question: &str) -> (String, String) {
        let answer = self.asked(&format!("/{}/{question}", self.token), &self.host);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.lines().next().unwrap().to_owned();
        (status, body.to_owned())
    }

    fn json(&self, question: &str) -> Value {
        let (status, body) = self.get(question);
        assert_eq!(status, "HTTP/1.1 200 OK", "{question}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Ends it as Ctrl-C does, and waits.
    fn end(mut self) -> Option<i32> {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // A test that has failed leaves no process behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn status(answer: &str) -> &str {
    answer.lines().next().unwrap_or_default()
}

#[test]
fn the_page_is_served_until_ctrl_c() {
    let view = View::start(&[]);
    let answer = view.asked(&format!("/{}/", view.token), &view.host);
    let (head, page) = answer.split_once("\r\n\r\n").unwrap();
    assert_eq!(status(head), "HTTP/1.1 200 OK");
    for header in [
        "Cache-Control: no-store",
        "Referrer-Policy: no-referrer",
        "X-Content-Type-Options: nosniff",
        "X-Frame-Options: DENY",
    ] {
        assert!(head.contains(header), "{head}");
    }
    assert!(page.contains("default-src 'none'") && page.contains("connect-src 'self'"));
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains(&view.token));
    assert_eq!(view.token.len(), 32);
    let another = View::start(&[]);
    assert_ne!(another.token, view.token);
    assert_eq!([view.end(), another.end()], [Some(0), Some(0)]);
}

#[test]
fn strangers_are_refused() {
    let view = View::start(&[]);
    let token = &view.token;
    for target in ["/", "/0123/", "/favicon.ico", "/../../etc/passwd"] {
        let answer = view.asked(target, &view.host);
        assert_eq!(status(&answer), "HTTP/1.1 404 Not Found", "{target}");
    }
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:1", ""] {
        let answer = view.asked(&format!("/{token}/"), host);
        assert_eq!(status(&answer), "HTTP/1.1 403 Forbidden", "{host}");
    }
    let post = format!(
        "POST /{token}/ HTTP/1.1\r\nHost: {}\r\nContent-Length: 3\r\n\r\nabc",
        view.host
    );
    let answer = view.raw(post.as_bytes());
    assert_eq!(status(&answer), "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(
        status(&view.raw(b"\x16\x03\x01\r\n\r\n")),
        "HTTP/1.1 400 Bad Request"
    );
    let huge = format!("GET /{token}/{} HTTP/1.1\r\n", "a".repeat(4 << 20));
    assert_eq!(
        status(&view.raw(huge.as_bytes())),
        "HTTP/1.1 431 Request Header Fields Too Large"
    );
    assert_eq!(view.end(), Some(0));
}

#[test]
fn who_connects_and_is_silent_keeps_nobody_waiting() {
    let view = View::start(&[]);
    let silent: Vec<TcpStream> = (0..5)
        .map(|_| TcpStream::connect(&view.host).unwrap())
        .collect();
    assert!(view.json("tree")["objects"].is_array());
    drop(silent);
    assert_eq!(view.end(), Some(0));
}

/// More than are served at once, none of which knows the token.
#[test]
fn many_who_are_silent_do_not_lock_out_the_owner() {
    let view = View::start(&[]);
    let silent: Vec<TcpStream> = (0..100)
        .map(|_| {
            let mut stream = TcpStream::connect(&view.host).unwrap();
            // Whoever is cut off has its turn no more.
            let _ = stream.write_all(b"GET /");
            stream
        })
        .collect();
    assert!(view.json("tree")["objects"].is_array());
    drop(silent);
    assert_eq!(view.end(), Some(0));
}

/// Everybody on the machine sees the words of a command.
#[test]
fn the_browser_is_not_told_the_token_by_its_words() {
    let folder = TempDir::new().unwrap();
    let (browser, told) = (folder.path().join("xdg-open"), folder.path().join("told"));
    let script = format!(
        "#!/bin/sh\n{{ echo \"$@\"; stat -c %a \"$1\"; cat \"$1\"; }} > {0}.part; mv {0}.part {0}\n",
        told.display()
    );
    std::fs::write(&browser, script).unwrap();
    std::fs::set_permissions(&browser, PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!(
        "{}:{}",
        folder.path().display(),
        std::env::var("PATH").unwrap()
    );
    let view = View::start_with(&["--open"], &[("PATH", &path)]);
    while !told.exists() {
        std::thread::yield_now();
    }
    let text = std::fs::read_to_string(&told).unwrap();
    let mut lines = text.lines();
    let words = lines.next().unwrap().to_owned();
    assert!(!words.contains(&view.token), "{words}");
    assert_eq!(lines.next(), Some("600"), "{text}");
    assert!(
        text.contains(&format!("url=http://{}/{}/", view.host, view.token)),
        "{text}"
    );
    assert!(std::path::Path::new(&words).exists());
    assert_eq!(view.end(), Some(0));
    assert!(
        !std::path::Path::new(&words).exists(),
        "it goes with the page"
    );
}

#[test]
fn questions_have_the_answers_of_the_commands() {
    let view = View::start(&[]);
    let tree = view.json("tree?top=3");
    assert_eq!(tree["objects"].as_array().unwrap().len(), 3);
    assert!(tree["left_out"].as_u64().unwrap() > 0);
    let next = view.json("tree?top=1&from=1");
    assert_eq!(next["objects"][0], tree["objects"][1]);
    let id = tree["objects"][0]["id"].as_str().unwrap();
    let object = view.json(&format!("show?id={id}"));
    assert_eq!(object["retained"], tree["objects"][0]["retained"]);
    let path = object["path"]["objects"].as_array().unwrap();
    assert_eq!(path.last().unwrap()["id"], id);
    assert!(view.json(&format!("tree?id={id}"))["objects"].is_array());
    let merged = view.json("paths?class=java.lang.Object[]");
    let last = merged["places"].as_array().unwrap().last().unwrap();
    assert_eq!(last["class"], "java.lang.Object[]");
    let class = object["class"].as_str().unwrap();
    let found = view.json(&format!("search?text={id}"));
    assert_eq!(found["object"]["class"], class);
    assert_eq!(view.end(), Some(0));
}

#[test]
fn places_with_equally_many_paths_are_cut_by_their_number() {
    let mut dump = Dump::new(8);
    dump.class(0x2100, "app/Leaked", Dump::OBJECT, 0, &[], &[]);
    for number in 0..101 {
        let (holder, object) = (0x10_0000 + number * 16, 0x80_0000 + number * 32);
        let name = format!("app/Holder{number}");
        dump.class(holder, &name, Dump::OBJECT, 0, &[], &[("KEPT", object)]);
        dump.root(holder);
        dump.instance(object, 0x2100, &[]);
    }
    let view = View::of(&dump.bytes(), &[], &[]);
    let merged = view.json("paths?class=app.Leaked");
    let places = merged["places"].as_array().unwrap();
    let depths: Vec<_> = places
        .iter()
        .map(|it| it["depth"].as_u64().unwrap())
        .collect();
    assert_eq!(depths, [0, 1].repeat(100), "each place is below its own");
    assert_eq!(
        (&merged["left_out"], &merged["paths"]),
        (&2.into(), &101.into())
    );
    assert_eq!(view.end(), Some(0));
}

#[test]
fn strings_are_searched_only_where_they_are_shown() {
    let view = View::start(&[]);
    let (status, body) = view.get("strings?text=a");
    assert_eq!(status, "HTTP/1.1 404 Not Found");
    assert!(body.contains("hprof view --strings"), "{body}");
    let open = View::start(&["--strings"]);
    let found = open.json("strings?text=MAI");
    assert_eq!(found["strings"][0]["label"], "main");
    let found = open.json("strings?text=no+such+text");
    assert_eq!(found["strings"], Value::Array(Vec::new()));
    assert_eq!([view.end(), open.end()], [Some(0), Some(0)]);
}

#[test]
fn hostile_parameters_are_not_found() {
    let view = View::start(&[]);
    for question in [
        "show",
        "show?id=",
        "show?id=0x",
        "show?id=0xffffffffffffffffffff",
        "show?id=%00%ff",
        "show?id=-1",
        "show?id=no.such.Class",
        "show?id=0x1",
        "tree?id=0x1",
        "objects?class=%3Cscript%3E",
        "no-such-question",
        "show/../show",
    ] {
        let (status, body) = view.get(question);
        assert_eq!(status, "HTTP/1.1 404 Not Found", "{question}");
        let told: Value = serde_json::from_str(&body).unwrap();
        assert!(told["error"].is_string(), "{question}: {body}");
    }
    let far = view.json("tree?from=99999999999999&top=0");
    assert_eq!(far["objects"], Value::Array(Vec::new()));
    let none = view.json("search?text=%3Cb%3E");
    assert_eq!(none["classes"], Value::Array(Vec::new()));
    assert_eq!(view.end(), Some(0));
}

#[test]
fn a_port_that_is_taken_is_said() {
    let view = View::start(&[]);
    let (_, port) = view.host.split_once(':').unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_hprof"))
        .args(["view", "/no/matter", "--port", port])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cannot listen on 127.0.0.1:"), "{said}");
    assert_eq!(view.end(), Some(0));
}
