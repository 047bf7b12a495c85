//! A process that behaves like a JVM until it is asked for its objects, and then sends what no JVM
//! has; or one that answers nothing.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

/// Set in the process that plays the JVM, to what it does.
const PLAYS: &str = "HPROF_TEST_PLAYS_JVM";

/// More than so small a process may send, and no harm to a machine where nobody stops it.
const SENT_BYTES: usize = 300 << 20;

/// Not a test but the other process: this program, run by a name that is HotSpot's library.
#[test]
fn the_other_process() {
    let Ok(plays) = std::env::var(PLAYS) else {
        return;
    };
    let caught = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGQUIT, caught).unwrap();
    let path = format!("/tmp/.java_pid{}", std::process::id());
    // A JVM that was killed has left its own.
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    println!("READY");
    if plays != "sends" {
        command(&mut listener.accept().unwrap().0);
        std::fs::remove_file(&path).unwrap();
        // The command looks whether it ends.
        if plays == "closes" {
            loop {
                std::thread::park();
            }
        }
        return;
    }
    let mut asked = listener.accept().unwrap().0;
    let command = command(&mut asked);
    let (_, place) = command.split_once("stop=n,").unwrap();
    let (_, place) = place.split_once(':').unwrap();
    let place = place.split([',', '\0']).next().unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut to = UnixStream::connect(place).unwrap();
    let block = vec![0; 1 << 20];
    let sent = (0..SENT_BYTES / block.len()).try_for_each(|_| to.write_all(&block));
    drop(to);
    match sent {
        Ok(()) => asked.write_all(b"0\nreturn code: 0\n").unwrap(),
        // Whoever waits for an answer gets none.
        Err(_) => drop(asked.read(&mut [0])),
    }
}

/// What is asked through this connection.
fn command(asked: &mut UnixStream) -> String {
    let mut command = Vec::new();
    while command.iter().filter(|byte| **byte == 0).count() < 5 {
        let mut room = [0; 4096];
        let count = asked.read(&mut room).unwrap();
        command.extend_from_slice(&room[..count]);
    }
    String::from_utf8(command).unwrap()
}

/// A program cannot be run while another test's new process has it open, as it was written.
static ALONE: Mutex<()> = Mutex::new(());

/// The other process. Dropping it ends it.
struct Other {
    child: Child,
    _alone: MutexGuard<'static, ()>,
    _folder: TempDir,
}

impl Other {
    fn start(plays: &str) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = TempDir::new().unwrap();
        let library = folder.path().join("libjvm.so");
        std::fs::copy(std::env::current_exe().unwrap(), &library).unwrap();
        let mut child = Command::new(&library)
            .args(["--exact", "the_other_process", "--nocapture"])
            .env(PLAYS, plays)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().ends_with("READY")));
        Self {
            child,
            _alone: alone,
            _folder: folder,
        }
    }

    fn asked(&self, subcommand: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hprof"));
        command.arg(subcommand).arg(self.child.id().to_string());
        command.arg("--agent").arg(std::env::current_exe().unwrap());
        command.output().unwrap()
    }

    /// What a command has left for this process.
    fn left(&self) -> Vec<PathBuf> {
        let part = format!(".{}.", self.child.id());
        let all = std::fs::read_dir("/tmp")
            .unwrap()
            .map(|it| it.unwrap().path());
        let name = |path: &PathBuf| path.to_string_lossy().into_owned();
        all.filter(|path| name(path).contains("hprof_") && name(path).contains(&part))
            .collect()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn no_more_is_taken_than_a_jvm_has() {
    for subcommand in ["leaks", "histo"] {
        let other = Other::start("sends");
        let output = other.asked(subcommand);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("sends is no heap of its own"), "{said}");
        assert_eq!(other.left(), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_jvm_that_does_not_answer_is_told_of_as_it_is() {
    for (plays, why) in [
        ("ends", "ended before it answered"),
        ("closes", "closed the connection without an answer"),
    ] {
        let output = Other::start(plays).asked("dump");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why) && !said.contains("Java 8"), "{said}");
    }
}
