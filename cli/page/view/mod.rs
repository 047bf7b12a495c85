//! `hprof view`: the page of `hprof report`, with every object behind it.

mod answers;
mod http;
mod waiting;

use std::fs::Permissions;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::NamedTempFile;

use crate::answers::values::Shown;
use crate::files::heap_file::{GraphArguments, Loaded};
use crate::output::{plain, Failure, Verdict};
use crate::page::report;
use crate::proc::ended::Ended;
use crate::proc::leftover::{making, Leftover};
use crate::proc::process::{process_named, Process};

use answers::Answers;
use http::{Answer, Door, Request, PATIENCE};
use waiting::Waiting;

/// Time between two checks whether Ctrl-C was pressed.
const LOOK: Duration = Duration::from_millis(100);

/// Most requests that are answered one after the other. A browser makes six at once.
const REQUESTS_MAX: usize = 32;

/// Bytes of the random part of the address.
const TOKEN_BYTES: usize = 16;

/// Shows that page, and every object, in a browser of this machine
///
/// The page has the dominator tree, each object with its fields, referrers and the objects that it
/// keeps alive, the path from a root to it, and a search by class or id. The heap stays in memory
/// until Ctrl-C ends the command.
///
/// Only browsers on this machine get answers, and only at the printed address, which has a random
/// part. The page shows strings and values of arrays only with `--strings`. A running JVM sends no
/// values at all.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  hprof view heap.hprof --open\n  hprof view 4711")]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// The port on 127.0.0.1 [default: any that is free]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    port: u16,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Show strings and the values of primitive arrays
    #[arg(long)]
    strings: bool,
}

/// Reads the heap and answers until Ctrl-C.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let port = arguments.port;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = listener.map_err(|fault| {
        Failure::Input(format!(
            "cannot listen on 127.0.0.1:{port}: {fault} (--port)"
        ))
    })?;
    let door = Door {
        port: listener.local_addr()?.port(),
        token: token()?,
    };
    let pid = process_named(&arguments.graph.file);
    // Held from before the question, so that it is the same process afterwards.
    let process = pid.and_then(|pid| Process::find(pid).ok());
    // What is waste is found by a third pass over a file.
    let (loaded, verdict) = arguments.graph.load(3)?;
    let shown = Shown::of(&loaded, arguments.strings);
    let page = page(&loaded, shown, process.as_ref())?;
    loaded.file.done();
    let ended = Ended::new();
    let asked = listen(listener, door.clone());
    let address = door.address();
    let mut to = io::stdout();
    writeln!(to, "{address}\nCtrl-C ends it.")?;
    to.flush()?;
    // It stays as long as the page is served: browsers take their time.
    let _signpost = arguments.open.then(|| open(&address));
    let answers = Answers::new(&loaded, shown);
    while !ended.is_set() {
        match asked.recv_timeout(LOOK) {
            Ok((request, mut stream)) => {
                // Whoever has gone meanwhile needs no answer.
                let _ = http::send(
                    &mut stream,
                    &answer(&answers, &page, &request),
                    Instant::now() + PATIENCE,
                );
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(verdict)
}

/// The page as the browser gets it. Errors: the file cannot be read.
fn page(loaded: &Loaded, shown: Shown, process: Option<&Process>) -> Result<String, Failure> {
    let mut data = report::model(loaded, None, process)?;
    let view = match shown {
        Shown::References => json!({ "strings": false, "values": false }),
        Shown::Values { strings } => json!({ "strings": strings, "values": true }),
    };
    if let Some(data) = data.as_object_mut() {
        data.insert("view".to_owned(), view);
    }
    Ok(report::page::served(&data))
}

fn answer(answers: &Answers<'_>, page: &str, request: &Request) -> Answer {
    if request.path.is_empty() {
        return Answer {
            status: http::OK,
            kind: "text/html",
            body: page.to_owned(),
        };
    }
    let (status, body) = match answers.answer(request) {
        Some(Ok(body)) => (http::OK, body),
        Some(Err(fault)) => {
            let why = plain(&fault.to_string());
            (http::NOT_FOUND, json!({ "error": why }))
        }
        None => (http::NOT_FOUND, json!({ "error": "not found" })),
    };
    Answer {
        status,
        kind: "application/json",
        body: body.to_string(),
    }
}

/// Takes connections and reads their requests, each in a thread of its own: the heap is asked by
/// one at a time.
fn listen(listener: TcpListener, door: Door) -> Receiver<(Request, TcpStream)> {
    let (to, asked) = sync_channel(REQUESTS_MAX);
    thread::spawn(move || {
        let waiting = Arc::new(Waiting::default());
        for stream in listener.incoming() {
            let entered = stream.and_then(|stream| Ok((waiting.enter(&stream)?, stream)));
            let Ok((number, mut stream)) = entered else {
                // There may be too many open files.
                thread::sleep(LOOK);
                continue;
            };
            let (door, to, waiting) = (door.clone(), to.clone(), Arc::clone(&waiting));
            thread::spawn(move || {
                let request = door.admit(&mut stream, Instant::now() + PATIENCE);
                waiting.leave(number);
                if let Some(request) = request {
                    // With so many requests this one is left out; or the command is ending.
                    let _ = to.try_send((request, stream));
                }
            });
        }
    });
    asked
}

/// A random text that nobody can guess. Errors: the system has no random numbers.
fn token() -> Result<String, Failure> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    let count = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    if count.map_err(io::Error::from)? < bytes.len() {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// It leads to ADDRESS.
const SIGNPOST: &str = include_str!("signpost.html");

/// Has the desktop open a page that leads to this address; the page goes when what is returned is
/// dropped. Everybody on this machine sees the words of a command, so the address is none of them,
/// and only this user may read the file. Without a browser, the address is printed all the same.
/// Errors: the system refuses.
fn open(address: &str) -> io::Result<(NamedTempFile, Leftover)> {
    let making = making();
    let mut page = tempfile::Builder::new()
        .prefix("hprof-view-")
        .suffix(".html")
        .permissions(Permissions::from_mode(0o600))
        .tempfile()?;
    let left = Leftover::at(making, page.path())?;
    page.write_all(SIGNPOST.replace("ADDRESS", address).as_bytes())?;
    let _ = Command::new("xdg-open")
        .arg(page.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Ok((page, left))
}
