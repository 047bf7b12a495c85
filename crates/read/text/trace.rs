//! Traces in text: a stack of calls with its number.

use std::io::{self, Write};

use format::name::Phrase;
use tables::profile::Method;
use tables::{Line, ThreadId};

/// Writes a stack of calls, innermost first: the number that other parts refer to, the thread if
/// traces of different threads are distinct (`thread=y`; gprof2dot fails on it), a line for each
/// call.
pub fn trace<'a>(
    serial: u32,
    thread: Option<ThreadId>,
    frames: impl Iterator<Item = Frame<'a>>,
    out: &mut impl Write,
) -> io::Result<()> {
    write!(out, "TRACE {serial}:")?;
    if let Some(thread) = thread {
        write!(out, " (thread={})", thread.get())?;
    }
    writeln!(out)?;
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

    fn text(serial: u32, thread: Option<ThreadId>, frames: &[Frame<'_>]) -> String {
        let mut out = Vec::new();
        trace(serial, thread, frames.iter().copied(), &mut out).unwrap();
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
        assert_eq!(
            text(300_142, None, &frames),
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
    fn an_empty_trace_of_a_thread_says_so() {
        let text = text(1, ThreadId::new(200_001), &[]);
        assert_eq!(text, "TRACE 1: (thread=200001)\n\t<empty>\n");
    }
}
