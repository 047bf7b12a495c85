//! The facts about a method: names, source, lines.

use jvm::env::Env;
use jvm::jni::Jni;
use jvm::method::{LineStart, MethodId};
use jvm::object::Object;
use tables::{Line, StringId, StringTable};

/// Source of a class compiled without one; readers expect a string.
pub(crate) const UNKNOWN_SOURCE: &[u8] = b"Unknown Source";

/// A method's names, source and lines.
#[derive(Debug)]
pub(crate) struct MethodFacts {
    /// Its name.
    pub(crate) name: StringId,
    /// Its signature, as in class files.
    pub(crate) signature: StringId,
    /// The source file of its class.
    pub(crate) source: StringId,
    is_native: bool,
    line_starts: Vec<LineStart>,
}

impl MethodFacts {
    /// The facts about a method, and its class; `None` if the class is unloaded. Without
    /// `line_numbers` every line is unknown.
    pub(crate) fn ask<'f>(
        env: &Env,
        jni: &Jni<'f>,
        method: MethodId,
        line_numbers: bool,
        strings: &StringTable,
    ) -> Option<(Object<'f>, Self)> {
        let class = env.declaring_class(jni, method).ok()?;
        let (name, signature) = env.method_name(method).ok()?;
        let source = env
            .source_file_name(&class)
            .unwrap_or_else(|_| UNKNOWN_SOURCE.to_vec());
        // An error means that the class file has no lines, or that the JVM does not report them.
        // Both count as "unknown".
        let line_starts = if line_numbers {
            env.line_starts(method).unwrap_or_default()
        } else {
            Vec::new()
        };
        let facts = Self {
            name: strings.intern(&name),
            signature: strings.intern(&signature),
            source: strings.intern(&source),
            is_native: env.is_native(method).unwrap_or(false),
            line_starts,
        };
        Some((class, facts))
    }

    /// The line of a bytecode: the last one that starts at or before it.
    pub(crate) fn line(&self, location: i64) -> Line {
        if self.is_native {
            return Line::Native;
        }
        line_of(&self.line_starts, location)
    }
}

fn line_of(line_starts: &[LineStart], location: i64) -> Line {
    let last = line_starts
        .iter()
        .filter(|start| start.location <= location)
        .max_by_key(|start| start.location);
    last.map_or(Line::Unknown, |start| Line::Number(start.line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bytecode_belongs_to_the_last_line_that_starts_before_it() {
        // A loop's condition is compiled after its body, so lines are not in bytecode order.
        let starts =
            [(0, 10), (20, 11), (5, 12)].map(|(location, line)| LineStart { location, line });
        assert_eq!(line_of(&starts, 0), Line::Number(10));
        assert_eq!(line_of(&starts, 19), Line::Number(12));
        assert_eq!(line_of(&starts, 400), Line::Number(11));
        assert_eq!(line_of(&starts, -1), Line::Unknown);
        assert_eq!(line_of(&[], 0), Line::Unknown);
    }
}
