//! Traces in text: a stack of calls with its number.

use std::io::{self, Write};

use format::name::Phrase;
use tables::profile::Method;
use tables::{Line, ThreadId, TraceId};

/// The JVM's phase when a stack was taken, if the program was not running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Loading agents.
    OnLoad,
    /// Before Java code can run.
    Primordial,
    /// Before the program starts.
    Start,
    /// After its end.
    Dead,
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Self::OnLoad => "onload",
            Self::Primordial => "primordial",
            Self::Start => "start",
            Self::Dead => "dead",
        }
    }
}

/// A stack of calls.
#[derive(Clone, Copy, Debug)]
pub struct Trace<'a> {
    /// The number that other parts refer to.
    pub serial: TraceId,
    /// The thread, if traces of different threads are distinct (`thread=y`). gprof2dot fails on it.
    pub thread: Option<ThreadId>,
    /// The JVM's phase; `None` while the program ran.
    pub phase: Option<Phase>,
    /// The calls, innermost first; none if nothing is known.
    pub frames: &'a [Frame<'a>],
}

impl Trace<'_> {
    /// Writes the heading and a line for each call.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "TRACE {}:", self.serial.get())?;
        if let Some(thread) = self.thread {
            write!(out, " (thread={})", thread.get())?;
        }
        if let Some(phase) = self.phase {
            write!(out, " (from {} phase of JVM)", phase.name())?;
        }
        writeln!(out)?;
        frames(self.frames.iter().copied(), out)
    }
}

/// Writes a line for each call.
pub(crate) fn frames<'a>(
    frames: impl Iterator<Item = Frame<'a>>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut frames = frames.peekable();
    if frames.peek().is_none() {
        return writeln!(out, "\t<empty>");
    }
    frames.try_for_each(|frame| frame.encode(out))
}

/// A call in a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The method that was called.
    pub method: Method<'a>,
    /// The source file; empty or `Unknown Source` if it is unknown.
    pub source: &'a [u8],
    /// The line.
    pub line: Line,
}

impl Frame<'_> {
    fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        let source: &[u8] = match self.source {
            // The second is the spelling in binary dumps.
            b"" | b"Unknown Source" => b"<Unknown Source>",
            known => known,
        };
        let (method, source) = (self.method, Phrase(source));
        match self.line {
            Line::Number(0) | Line::Unknown => writeln!(out, "\t{method}({source}:Unknown line)"),
            Line::Number(line) => writeln!(out, "\t{method}({source}:{line})"),
            Line::Native => writeln!(out, "\t{method}({source}:Native method)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::ClassName;

    fn text(trace: &Trace<'_>) -> String {
        let mut out = Vec::new();
        trace.encode(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn frame(name: &'static [u8], source: &'static [u8], line: Line) -> Frame<'static> {
        let class = ClassName::from_signature(b"Ldemo/Main;");
        let method = Method { class, name };
        Frame {
            method,
            source,
            line,
        }
    }

    #[test]
    fn every_form_of_a_frame() {
        let frames = [
            frame(b"work", b"Main.java", Line::Number(79)),
            frame(b"read0", b"Main.java", Line::Native),
            frame(b"lambda", b"", Line::Unknown),
            frame(b"hidden", b"Unknown Source", Line::Unknown),
            frame(b"it works", b"My Test.kt", Line::Number(0)),
            Frame {
                method: Method {
                    class: ClassName::UNKNOWN,
                    name: b"",
                },
                ..frame(b"", b"", Line::Unknown)
            },
        ];
        let trace = Trace {
            serial: TraceId::new(300_142).unwrap(),
            thread: None,
            phase: None,
            frames: &frames,
        };
        assert_eq!(
            text(&trace),
            "TRACE 300142:\n\
             \tdemo.Main.work(Main.java:79)\n\
             \tdemo.Main.read0(Main.java:Native method)\n\
             \tdemo.Main.lambda(<Unknown Source>:Unknown line)\n\
             \tdemo.Main.hidden(<Unknown Source>:Unknown line)\n\
             \tdemo.Main.it\\u0020works(My Test.kt:Unknown line)\n\
             \tUnknown_class.<Unknown Method>(<Unknown Source>:Unknown line)\n"
        );
    }

    #[test]
    fn the_thread_goes_before_the_phase() {
        let trace = Trace {
            serial: TraceId::EMPTY,
            thread: ThreadId::new(200_001),
            phase: Some(Phase::OnLoad),
            frames: &[],
        };
        assert_eq!(
            text(&trace),
            "TRACE 1: (thread=200001) (from onload phase of JVM)\n\t<empty>\n"
        );
    }
}
