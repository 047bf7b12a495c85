//! An answer that is pasted into a report: its sentence as text, the rest as a block.

use std::io::{self, Write};

use crate::output::sections::{Part, Sections};

/// Most lines of the block: with what is around it, an answer has at most forty.
const LINES: usize = 33;

/// What has a meaning in Markdown, or calls a person.
const MARKS: [char; 11] = ['\\', '`', '*', '_', '<', '[', ']', '#', '@', '|', '~'];

/// Prints an answer, its sentence first if it has one, and a line about its origin.
pub(crate) fn print(to: &mut dyn Write, answer: &Sections<'_>, origin: &str) -> io::Result<()> {
    let mut text = Vec::new();
    answer.print(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let sentence = answer.entries().into_iter().find_map(|it| match it {
        ("sentence", Part::Fact(sentence)) => Some(sentence.text()),
        _ => None,
    });
    if let Some(sentence) = &sentence {
        writeln!(to, "{}\n", escaped(sentence))?;
    }
    writeln!(to, "```text")?;
    let lines = text.lines().filter(|it| Some(*it) != sentence.as_deref());
    let mut lines = lines.skip_while(|line| line.is_empty());
    for line in lines.by_ref().take(LINES) {
        writeln!(to, "{}", line.replace("```", "'''"))?;
    }
    if let left_out @ 1.. = lines.count() {
        writeln!(to, "... and {left_out} more")?;
    }
    writeln!(to, "```\n\n{}", escaped(origin))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if MARKS.contains(&letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_neither_format_nor_call() {
        let mut answer = Sections::default();
        answer.fact("sentence", "1 a.B_c$D<@x> retains *all*.");
        answer.line("1 a.B_c$D<@x> retains *all*.");
        answer.line("");
        answer.lines((0..50).map(|at| format!("line {at} ``` end")));
        let mut text = Vec::new();
        print(&mut text, &answer, "hprof 1").unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], r"1 a.B\_c$D\<\@x> retains \*all\*.");
        assert_eq!(lines[3], "line 0 ''' end");
        assert_eq!(&lines[36..], ["... and 17 more", "```", "", "hprof 1"]);
    }
}
