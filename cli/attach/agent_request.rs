//! A request to the agent in a running JVM: loads it with options, and reads its reply.

use std::io::{self, Write};
use std::path::Path;

use format::answer::{Outcome, Refusal};

use crate::attach::answer_file::AnswerFile;
use crate::attach::library::Library;
use crate::attach::protocol::{Answer, Jvm};
use crate::output::outcome::Failure;

/// A request, ready to be sent.
#[derive(Debug)]
pub(crate) struct AgentRequest<'j> {
    jvm: &'j Jvm,
    library: Library,
    options: String,
    /// `None` if the JVM's folder for temporary files cannot be reached.
    file: Option<AnswerFile>,
}

/// What it has answered.
#[derive(Debug)]
pub(crate) struct Reply {
    pid: i32,
    pub(crate) answer: Answer,
    lines: Vec<String>,
    outcome: Option<Outcome>,
}

/// How the agent's line begins that it sends something, and what its last line has.
const BEGINS: &str = "sending ";
const DUMP_BEGINS: &str = "dumping the heap to ";
const NO_DUMP: &str = "no dump: ";
const PAUSED: &str = "; application paused for ";
const ENGINE: &str = ", engine ";

impl<'j> AgentRequest<'j> {
    /// A request with these options; `agent` is the library that the user names.
    ///
    /// Errors: there is no library for this JVM.
    pub(crate) fn new(
        jvm: &'j Jvm,
        agent: Option<&Path>,
        mut options: String,
    ) -> Result<Self, Failure> {
        let library = Library::find(jvm, agent)?;
        let file = AnswerFile::new(jvm);
        if let Some(file) = &file {
            options += &format!(",send=answer:{}", file.path());
        }
        Ok(Self {
            jvm,
            library,
            options,
            file,
        })
    }

    /// Sends it by `load`, which gets the library's path, the options, and the file of the answer.
    ///
    /// Errors: those of `load`: the JVM does not answer.
    pub(crate) fn send(
        self,
        load: impl FnOnce(&Path, &str, Option<&AnswerFile>) -> Result<Answer, String>,
    ) -> Result<Reply, Failure> {
        let answer = load(&self.library.path, &self.options, self.file.as_ref());
        let answer = answer.map_err(Failure::Input)?;
        let (lines, outcome) = self.file.map(AnswerFile::read).unwrap_or_default();
        Ok(Reply {
            pid: self.jvm.pid,
            answer,
            lines,
            outcome,
        })
    }
}

impl Reply {
    /// How many milliseconds the application paused; `None` if the agent has not reported it.
    pub(crate) fn pause_ms(&self) -> Option<u64> {
        match self.outcome? {
            Outcome::Made { pause_ms, .. } => Some(pause_ms),
            Outcome::Refused(_) => None,
        }
    }

    /// Prints the agent's messages on stderr.
    pub(crate) fn print(&self) -> io::Result<()> {
        let mut stderr = io::stderr();
        self.lines
            .iter()
            .try_for_each(|line| writeln!(stderr, "{line}"))
    }

    /// Prints on stderr that the JVM was asked and how long it paused, and what else the agent says
    /// of what it has sent.
    pub(crate) fn print_pause(&self) -> io::Result<()> {
        let mut stderr = io::stderr();
        let mut lines = self.lines.iter().filter_map(|line| self.shortened(line));
        lines.try_for_each(|line| writeln!(stderr, "{line}"))
    }

    /// A line of the agent without what a person who asked has no use for.
    fn shortened(&self, line: &str) -> Option<String> {
        if line.starts_with(BEGINS) {
            return None;
        }
        let pause = self.pause_ms().filter(|_| line.contains(PAUSED));
        let Some(pause) = pause else {
            return Some(line.to_owned());
        };
        let end = line.split_once(ENGINE).map_or("", |(_, end)| end);
        let remark = end.find(';').and_then(|from| end.get(from..));
        let (pid, remark) = (self.pid, remark.unwrap_or_default());
        Some(format!("asked JVM {pid}, paused {pause} ms{remark}"))
    }

    /// Why the agent has made nothing, as far as it says so.
    fn reason(&self) -> String {
        let is_begin = |line: &&String| line.starts_with(BEGINS) || line.starts_with(DUMP_BEGINS);
        let reasons = self.lines.iter().filter(|line| !is_begin(line));
        let reasons: Vec<&str> = reasons.map(String::as_str).collect();
        reasons.join("; ")
    }

    /// An error, with the agent's reason, if it has made no dump.
    pub(crate) fn check_dumped(&self) -> Result<(), Failure> {
        let pid = self.pid;
        let see = format!("the reason is on the stderr of the JVM {pid}");
        let why = match self.answer.returned {
            Some(0) => return Ok(()),
            Some(100 | 200) if !self.reason().is_empty() => {
                let advice = match self.outcome {
                    Some(Outcome::Refused(Refusal::WouldStop)) => " (--stop-the-world)",
                    _ => "",
                };
                self.reason() + advice
            }
            Some(100) => format!("the agent refuses these options; {see}"),
            Some(200) => format!("there is no dump; {see}"),
            Some(code) => {
                format!(
                    "the JVM {pid} could not load the agent (its answer is {code}); see its stderr"
                )
            }
            None => self.answer.not_loaded(pid),
        };
        Err(Failure::Input(why))
    }

    /// An error, with the agent's reason and another way, if it has sent no graph.
    pub(crate) fn check_sent(&self) -> Result<(), Failure> {
        let pid = self.pid;
        // What cannot be forked cannot be dumped either, unless the application may stop.
        let advice = match self.outcome {
            Some(Outcome::Refused(Refusal::NotForked)) => format!(
                "hprof dump {pid} --stop-the-world writes a file, and stops the application meanwhile"
            ),
            _ => format!("hprof dump {pid} writes a file"),
        };
        Err(Failure::Input(match self.answer.returned {
            Some(0) => return Ok(()),
            Some(_) if !self.reason().is_empty() => {
                let reason = self.reason();
                let reason = reason.strip_prefix(NO_DUMP).unwrap_or(&reason);
                format!("{reason}. {advice}")
            }
            Some(_) => {
                format!("nothing was sent; the reason is on the stderr of the JVM {pid}. {advice}")
            }
            None => self.answer.not_loaded(pid),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(returned: Option<i32>, lines: &[&str], outcome: Option<Outcome>) -> Reply {
        Reply {
            pid: 7,
            answer: Answer {
                returned,
                text: "no such file".to_owned(),
            },
            lines: lines.iter().map(|&line| line.to_owned()).collect(),
            outcome,
        }
    }

    fn why(checked: Result<(), Failure>) -> String {
        match checked {
            Err(Failure::Input(why)) => why,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn only_zero_is_a_dump() {
        assert!(reply(Some(0), &[], None).check_dumped().is_ok());
        for (returned, words) in [
            (Some(100), "options"),
            (Some(200), "no dump"),
            (None, "no such file"),
        ] {
            let why = why(reply(returned, &[], None).check_dumped());
            assert!(why.contains(words), "{why}");
        }
    }

    #[test]
    fn a_command_that_asked_says_how_long_it_paused_the_jvm() {
        let made = Some(Outcome::Made {
            pause_ms: 11,
            bytes: 9,
            objects: Some(3),
        });
        let end = "sent the graph of the heap: 9 bytes, 3 objects, 2 classes; application paused for 11 ms, total 14 ms, \
                   engine snapshot";
        let reply = reply(Some(0), &[], made);
        let shortened = |line: &str| reply.shortened(line);
        assert_eq!(
            shortened("sending the graph of the heap to a command"),
            None
        );
        assert_eq!(shortened(end).unwrap(), "asked JVM 7, paused 11 ms");
        let cut = format!("{end}; 1 stack not read");
        assert_eq!(
            shortened(&cut).unwrap(),
            "asked JVM 7, paused 11 ms; 1 stack not read"
        );
        assert_eq!(shortened("a warning").unwrap(), "a warning");
    }

    #[test]
    fn the_advice_depends_on_the_refusal_and_not_on_words() {
        let lines = ["no dump: it would stop the application"];
        let would_stop = Some(Outcome::Refused(Refusal::WouldStop));
        let not_forked = Some(Outcome::Refused(Refusal::NotForked));
        let dump = |outcome| why(reply(Some(200), &lines, outcome).check_dumped());
        assert_eq!(dump(would_stop), format!("{} (--stop-the-world)", lines[0]));
        assert_eq!(dump(None), lines[0]);
        let lines = [
            "sending the graph",
            "no dump: it would stop the application",
        ];
        let graph = |outcome| why(reply(Some(200), &lines, outcome).check_sent());
        assert!(graph(None).starts_with("it would stop the application. "));
        assert!(graph(not_forked).contains("hprof dump 7 --stop-the-world writes"));
        assert!(graph(None).ends_with(". hprof dump 7 writes a file"));
    }
}
