//! The file in which the agent answers an attach command: its messages, and where a thread of its
//! own obeys, the code.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread::sleep;

use format::answer::{is_for_programs, Outcome, ENDED_WITH, UNDER_WAY};

use crate::attach::protocol::{one_line, Answer, Jvm, LOOK};
use crate::proc::ended::{Ended, INTERRUPTED};
use crate::proc::made_file::MadeFile;

/// Most bytes read of it.
const BYTES_MAX: usize = 64 << 10;

/// Bytes of the longest last line with a code, with its ends.
const LAST_BYTES: u64 = 32;

/// A file in the JVM's folder for temporary files, to which the agent writes its messages. Dropping
/// it removes the file.
#[derive(Debug)]
pub(crate) struct AnswerFile(MadeFile);

impl AnswerFile {
    /// A new one for this JVM. `None` if it cannot be created; then the messages only go to the
    /// JVM's stderr.
    pub(crate) fn new(jvm: &Jvm) -> Option<Self> {
        let folder = jvm.root.folder(Path::new("/tmp")).ok()?;
        let name = format!(".hprof_answer.{}.{}", jvm.own_pid, std::process::id());
        MadeFile::new(&folder, &name, jvm.owner).ok()?.map(Self)
    }

    /// Its path as the JVM sees it.
    pub(crate) fn path(&self) -> String {
        format!("/tmp/{}", self.0.name)
    }

    /// The agent's final answer, if a thread of its own obeys; waits for it as long as `waiting`
    /// returns true.
    pub(crate) fn last_word(
        &self,
        jvm: &Jvm,
        first: Answer,
        mut waiting: impl FnMut() -> bool,
    ) -> Result<Answer, String> {
        let goes_on = || self.text(0).lines().any(|line| line == UNDER_WAY);
        if first.returned != Some(0) || !goes_on() {
            return Ok(first);
        }
        let (pid, ended) = (jvm.pid, Ended::new());
        loop {
            // Before the file is read: it has all that a JVM wrote that has ended.
            let has_ended = jvm.process.has_ended();
            if let Some(code) = self.code() {
                return Ok(Answer {
                    returned: Some(code),
                    ..first
                });
            }
            if ended.is_set() {
                return Err(INTERRUPTED.to_owned());
            }
            if has_ended {
                return Err(format!("the JVM {pid} has ended before it had sent all"));
            }
            if !waiting() {
                return Err(format!(
                    "the command cannot receive what the JVM {pid} sends"
                ));
            }
            sleep(LOOK);
        }
    }

    /// The agent's answer; `None` as long as it goes on.
    fn code(&self) -> Option<i32> {
        let bytes = self.0.file.metadata().ok()?.len();
        code(&self.text(bytes.saturating_sub(LAST_BYTES)))
    }

    /// The agent's messages, one line each, without its name and safe to print on a terminal, and
    /// what became of the dump, if the agent has written that.
    pub(crate) fn read(self) -> (Vec<String>, Option<Outcome>) {
        let text = self.text(0);
        (messages(&text), text.lines().rev().find_map(Outcome::parse))
    }

    /// The text from this byte on.
    fn text(&self, from: u64) -> String {
        let mut bytes = vec![0; BYTES_MAX];
        let mut count = 0;
        while let Some(room) = bytes.get_mut(count..) {
            // If reading fails, what was read until then is still useful.
            match self.0.file.read_at(room, from + count as u64) {
                Ok(0) | Err(_) => break,
                Ok(more) => count += more,
            }
        }
        bytes.truncate(count);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The code in the last line, which must be whole.
fn code(text: &str) -> Option<i32> {
    let last = text.strip_suffix('\n')?.lines().last()?;
    last.strip_prefix(ENDED_WITH)?.parse().ok()
}

fn messages(text: &str) -> Vec<String> {
    let lines = text.lines();
    let lines = lines.filter(|line| !is_for_programs(line));
    let lines = lines.map(|line| one_line(line.strip_prefix("hprof-rs: ").unwrap_or(line)));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_the_last_line_when_it_is_whole() {
        for (text, expected) in [
            ("hprof-rs: sent\n= ended with 0\n", Some(0)),
            ("= ended with 200\n", Some(200)),
            ("= ended with 20", None),
            ("= ended with 0\nhprof-rs: more\n", None),
            ("hprof-rs: = ended with 0\n", None),
            ("", None),
        ] {
            assert_eq!(code(text), expected, "{text}");
        }
    }

    #[test]
    fn only_messages_are_told() {
        let text =
            "hprof-rs: a note\n= under way\nhprof-rs: sent\n= made pause_ms=1\n= ended with 0\n";
        assert_eq!(messages(text), ["a note", "sent"]);
    }
}
