//! The frame table: positions in methods.

use crate::{ClassId, FrameId, Interner, StringId};

/// A frame's position in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Line {
    /// This line, from 1. The encoder writes 0, and numbers above 2^31 - 1, as unknown.
    Number(u32),
    /// The class file has no line table, or no line for this position.
    Unknown,
    /// The method is native.
    Native,
}

/// One position in one method, as an element of a stack trace (format text, FRAME).
///
/// Stores names and not method ids, because a method id is only valid as long as its class is
/// loaded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The class that declares the method.
    pub class: ClassId,
    /// The method's name.
    pub method: StringId,
    /// The method's descriptor, `(I)V`.
    pub signature: StringId,
    /// The source file's name; a real string even if it is unknown, because readers expect one.
    pub source: StringId,
    /// The line.
    pub line: Line,
}

/// Frames, each kept once.
pub type FrameTable = Interner<Frame, FrameId>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_part_of_the_frame() {
        let frames = FrameTable::default();
        let name = StringId::new(1).unwrap();
        let at = |line| Frame {
            class: ClassId::new(1).unwrap(),
            method: name,
            signature: name,
            source: name,
            line,
        };
        let ten = frames.intern(&at(Line::Number(10)));
        assert_eq!(frames.intern(&at(Line::Number(10))), ten);
        assert_ne!(frames.intern(&at(Line::Number(11))), ten);
        assert_ne!(
            frames.intern(&at(Line::Native)),
            frames.intern(&at(Line::Unknown))
        );
        assert_eq!(frames.len(), 4);
        assert_eq!(frames.get(ten).unwrap().line, Line::Number(10));
    }
}
