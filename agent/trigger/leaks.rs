//! `do=leaks` and `do=memory`: the command reads the graph of the heap, and its answer is added to
//! a file.
//!
//! There is no analysis in the agent. The command is a process of its own, with limits of time,
//! bytes and memory.

use super::sample::Taken;
use super::written_files::LinesFile;
use crate::order::Order;
use crate::receiver::patience;
use headroom::{group_dies_as_one, MemoryLeft};
use jvm::os::command::{Command, End};
use jvm::os::descriptor::in_reserve;
use jvm::os::host::unix_millis;
use jvm::os::own_library::own_library;
use jvm::os::owner;
use options::file_name::stamp;
use options::Leaks;
use std::fs::{metadata, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use writer::{Reader, StreamOutlet, Way, WriteError};

/// Longest answer. The command lists a few suspects; each takes some kilobytes.
const MOST_BYTES: u64 = 1 << 20;
/// Time between two checks of the command's answer, and of the memory left.
const LOOK: Duration = Duration::from_millis(50);
/// How much nicer than the JVM the command is.
const MORE_NICE: i32 = 5;

/// The command. The error is that there is none, and what to do.
pub(crate) fn command_of(leaks: &Leaks) -> Result<PathBuf, String> {
    let checked = |command: PathBuf, checked: io::Result<()>| match checked {
        Ok(()) => Ok(command),
        Err(error) => Err(no_command(leaks.question, &command, &error.to_string())),
    };
    if let Some(command) = &leaks.command {
        return checked(command.clone(), check_program(command));
    }
    let library = own_library()
        .ok_or("do=: the agent does not find its own folder; name the command by hprof=FILE")?;
    let command = library.with_file_name("hprof");
    // Nobody has named it, and others may write to the folder, such as /tmp.
    let trusted = check_program(&command).and_then(|()| owner::check_program(&command, &library));
    checked(command, trusted)
}

fn check_program(path: &Path) -> io::Result<()> {
    let facts = metadata(path)?;
    if facts.is_file() && facts.permissions().mode() & 0o111 != 0 {
        return Ok(());
    }
    Err(io::Error::other("it is no program"))
}

fn no_command(question: &str, command: &Path, why: &str) -> String {
    format!(
        "do={question} needs the command hprof, which is not at {}: {why}; name it by hprof=FILE",
        command.display()
    )
}

/// Who answers.
pub(crate) fn outlet(leaks: &Leaks, order: &Order<'_>) -> Result<StreamOutlet, String> {
    let options = order.options;
    let patience = patience(options);
    let asked = Asked {
        question: leaks.question,
        command: command_of(leaks)?,
        file: LinesFile {
            path: leaks.file.first(),
            floor: options.floor(),
            // The names of threads may be secret.
            mode: 0o600,
            said: options.mode,
        },
        because: order.because.unwrap_or_default().to_owned(),
        limit: patience.silence,
    };
    Ok(StreamOutlet::new(Box::new(asked), patience, None))
}

/// The way to the command.
#[derive(Clone, Debug)]
struct Asked {
    question: &'static str,
    command: PathBuf,
    file: LinesFile,
    because: String,
    /// How long the command may run once it has got everything.
    limit: Duration,
}

impl Asked {
    fn is_json(&self) -> bool {
        self.file.path.extension().is_some_and(|it| it == "jsonl")
    }

    /// The answer as it is added to the file.
    fn text(&self, told: &str) -> String {
        let time_ms = unix_millis();
        if self.is_json() {
            let taken = Taken {
                time_ms,
                process: std::process::id(),
                cause: self.because.clone(),
                ..Taken::default()
            };
            return taken.json_line(self.question, told);
        }
        format!(
            "{} process {}, because of {}\n{}\n\n",
            stamp(time_ms / 1000),
            std::process::id(),
            self.because,
            told.trim_end()
        )
    }
}

impl Way for Asked {
    fn reach(&self) -> Result<(OwnedFd, Box<dyn Reader>), WriteError> {
        let json = self.is_json().then_some("--json");
        let arguments: Vec<&str> = [self.question, "-"].into_iter().chain(json).collect();
        let started = Command::start_file(&self.command, &arguments);
        let (input, answer, command) = started.map_err(|error| {
            let command = self.command.display();
            WriteError::Refused(format!("{command} cannot be started: {error}"))
        })?;
        command.stand_back(MORE_NICE, !group_dies_as_one());
        let answering = Answering {
            command,
            answer: File::from(answer),
            asked: self.clone(),
        };
        Ok((input, Box::new(answering)))
    }

    fn can_begin_anew(&self) -> bool {
        true
    }

    fn reader(&self) -> String {
        format!("{} {} -", self.command.display(), self.question)
    }

    fn name(&self) -> PathBuf {
        self.file.path.clone()
    }
}

/// A command that runs. Dropping it ends it.
#[derive(Debug)]
struct Answering {
    command: Command,
    answer: File,
    asked: Asked,
}

impl Reader for Answering {
    fn finish(mut self: Box<Self>) -> Result<(), WriteError> {
        let told = self
            .told()
            .map_err(|why| WriteError::Refused(format!("{} {why}", self.asked.reader())))?;
        let text = self.asked.text(&String::from_utf8_lossy(&told));
        self.asked.file.add(&text).map_err(WriteError::Refused)
    }
}

impl Answering {
    /// The command's answer, once it ends. The error is why it is no answer, as the end of a
    /// sentence.
    fn told(&mut self) -> Result<Vec<u8>, String> {
        let began = Instant::now();
        let memory = in_reserve(MemoryLeft::open)
            .map_err(|error| format!("was ended, as nobody can watch the memory: {error}"))?;
        let mut told = Vec::new();
        loop {
            let end = self.command.wait(LOOK);
            let room = MOST_BYTES.saturating_sub(told.len() as u64) + 1;
            match (&self.answer).take(room).read_to_end(&mut told) {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                    return Err(format!("cannot be read: {error}"));
                }
                _ => {}
            }
            if told.len() as u64 > MOST_BYTES {
                return Err(format!(
                    "printed more than {} MB, which is no answer",
                    MOST_BYTES >> 20
                ));
            }
            match end {
                Some(End::Code(0)) => return Ok(told),
                // The command prints its answer at its end, or nothing.
                Some(End::Unknown) if is_whole(&told, self.asked.is_json()) => return Ok(told),
                Some(end) => return Err(format!("{end}; its own message is above")),
                None => {}
            }
            if let Some(left) = memory.too_little() {
                return Err(format!(
                    "was ended, as only {} MiB of memory are left, which the application may need",
                    left >> 20
                ));
            }
            if began.elapsed() >= self.asked.limit {
                return Err(format!(
                    "was ended: it had the whole heap for {} s; give it more time with timeout=",
                    self.asked.limit.as_secs()
                ));
            }
        }
    }
}

/// Whether an answer has its end.
fn is_whole(told: &[u8], is_json: bool) -> bool {
    let Some(lines) = told.strip_suffix(b"\n") else {
        return false;
    };
    let last = lines.rsplit(|&byte| byte == b'\n').next();
    // A list or an object; only its last line is not indented.
    !is_json || matches!(last, Some(b"]" | b"}" | b"[]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use options::file_name::FileName;
    use options::Options;
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;

    fn leaks(folder: &Path, name: &str, script: &str) -> Leaks {
        let command = folder.join("hprof");
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(true).write(true).mode(0o755);
        let mut file = file.open(&command).expect("a file");
        write!(file, "#!/bin/sh\n{script}\n").expect("written");
        let file = folder.join(name);
        Leaks {
            question: "leaks",
            file: FileName::parse(file.to_str().expect("UTF-8")).expect("a name"),
            command: Some(command),
        }
    }

    /// Sends `heap` to this command; the error.
    fn sent(leaks: &Leaks, timeout_s: u32) -> Result<(), WriteError> {
        let options = Options {
            timeout_s,
            ..Options::default()
        };
        let order = Order {
            because: Some("rss>85%: much"),
            ..Order::of(&options)
        };
        let outlet = outlet(leaks, &order).expect("a command");
        let dump = writer::DumpFile::create(&outlet)?;
        dump.head(b"heap".to_vec())?;
        dump.finish_with_tail(0).map(drop)
    }

    #[test]
    fn answers_are_added_to_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let asked = leaks(folder.path(), "a.txt", "echo \"$* $(cat)\"");
        for _ in 0..2 {
            sent(&asked, 60).expect("an answer");
        }
        let text = fs::read_to_string(folder.path().join("a.txt")).expect("text");
        assert_eq!(text.matches("\nleaks - heap\n\n").count(), 2, "{text}");
        let head = format!(
            " process {}, because of rss>85%: much\n",
            std::process::id()
        );
        assert_eq!(text.matches(&head).count(), 2, "{text}");
        let script = "cat > /dev/null; echo [; echo '  \"'$*'\"'; echo ]";
        sent(&leaks(folder.path(), "a.jsonl", script), 60).expect("an answer");
        let line = fs::read_to_string(folder.path().join("a.jsonl")).expect("a line");
        let end = ",\"cause\":\"rss>85%: much\",\"leaks\":[\"leaks - --json\"]}\n";
        assert!(line.ends_with(end), "{line}");
        let memory = Leaks {
            question: "memory",
            ..leaks(folder.path(), "b.txt", "echo \"$* $(cat)\"")
        };
        sent(&memory, 60).expect("an answer");
        let text = fs::read_to_string(folder.path().join("b.txt")).expect("text");
        assert!(text.contains("\nmemory - heap\n"), "{text}");
    }

    #[test]
    fn an_answer_without_an_exit_code_is_judged_by_its_end() {
        assert!(is_whole(b"one suspect\n", false) && is_whole(b"[\n  {\n  }\n]\n", true));
        assert!(is_whole(b"[]\n", true) && is_whole(b"{\n  \"heap\": 1\n}\n", true));
        for (told, is_json) in [("", false), ("one sus", false), ("[\n  {\n  }", true)] {
            assert!(!is_whole(told.as_bytes(), is_json));
        }
    }

    #[test]
    fn what_is_no_answer_is_named_and_not_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        for (script, timeout_s, why) in [
            ("echo half; exit 2", 60, "ended with exit code 2"),
            ("exec sleep 600", 1, "had the whole heap for 1 s"),
            ("exec cat /dev/zero", 60, "printed more than 1 MB"),
        ] {
            let script = format!("cat > /dev/null; {script}");
            let asked = leaks(folder.path(), "a.txt", &script);
            let error = sent(&asked, timeout_s).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
            assert!(!folder.path().join("a.txt").exists());
        }
    }

    #[test]
    fn a_command_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let asked = leaks(folder.path(), "a.txt", "");
        assert!(command_of(&asked).is_ok());
        for other in ["no/hprof", "."] {
            let command = Some(folder.path().join(other));
            let other = Leaks {
                command,
                ..asked.clone()
            };
            let why = command_of(&other).expect_err("no command");
            assert!(why.contains("name it by hprof=FILE"), "{why}");
        }
    }
}
