//! Computes the new position of each instruction.

use crate::error::Reason;
use crate::opcode::{self, Kind, GOTO, JSR};
use crate::program::{Instruction, Program};
use crate::snippet::Snippets;

/// The longest allowed code, in bytes (4.7.3).
const LONGEST: usize = 0xFFFF;
/// Longest jump with a 16-bit offset, in bytes.
const FARTHEST: usize = 0x7FFF;

/// The new positions of the instructions of a method.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// For each instruction and for the end, where it starts, including code inserted before it.
    starts: Vec<u16>,
    /// The instructions.
    pub(crate) program: Program,
    before_return: u16,
}

impl Layout {
    /// Computes the positions. Marks `goto` and `jsr` instructions that no longer reach their
    /// targets as widened in the program.
    pub(crate) fn place(&mut self, code: &[u8], snippets: &Snippets) -> Result<(), Reason> {
        self.before_return = narrow(snippets.before_return.len())?;
        loop {
            let end = self.place_once(snippets)?;
            if end + snippets.handler.len() > LONGEST {
                return Err(Reason::TooBig);
            }
            // Each round widens an instruction, or is the last one.
            if end <= FARTHEST || !self.widen(code)? {
                return Ok(());
            }
        }
    }

    fn place_once(&mut self, snippets: &Snippets) -> Result<usize, Reason> {
        let instructions = self.program.instructions();
        self.starts.clear();
        self.starts.reserve(instructions.len() + 1);
        let mut at = snippets.entry.len();
        for (index, instruction) in instructions.iter().enumerate() {
            self.starts.push(narrow(at)?);
            let old = usize::from(instruction.at);
            let length = self.program.at(index + 1) - old;
            at += match instruction.kind {
                Kind::Return => snippets.before_return.len() + length,
                Kind::Array => length + snippets.after_array.len(),
                Kind::Switch => length - opcode::padding(old) + opcode::padding(at),
                _ if instruction.widened => length + 2,
                _ => length,
            };
        }
        self.starts.push(narrow(at)?);
        Ok(at)
    }

    /// Marks jumps that no longer reach; false if all do.
    fn widen(&mut self, code: &[u8]) -> Result<bool, Reason> {
        let mut any = false;
        for index in 0..self.program.count() {
            let Some(&jump) = self.program.instructions().get(index) else {
                continue;
            };
            if jump.kind != Kind::Jump || jump.widened || self.reaches(code, jump, index)? {
                continue;
            }
            if !matches!(jump.opcode, GOTO | JSR) {
                return Err(Reason::FarJump);
            }
            if let Some(jump) = self.program.instructions_mut().get_mut(index) {
                jump.widened = true;
                any = true;
            }
        }
        Ok(any)
    }

    fn reaches(&self, code: &[u8], jump: Instruction, index: usize) -> Result<bool, Reason> {
        let target = self.start(self.program.jump_target(code, jump)?)?;
        let offset = i32::from(target) - i32::from(self.start(index)?);
        Ok(i16::try_from(offset).is_ok())
    }

    /// The position for jumps to an instruction, and for ranges of code that start or end there.
    pub(crate) fn start(&self, index: usize) -> Result<u16, Reason> {
        self.starts.get(index).copied().ok_or(Reason::NotUnderstood)
    }

    /// The new position of an old one, at which an instruction starts.
    pub(crate) fn moved(&self, at: u16) -> Result<u16, Reason> {
        self.start(self.program.index(usize::from(at))?)
    }

    /// The position of the instruction itself.
    pub(crate) fn itself(&self, index: usize) -> Result<u16, Reason> {
        let before = match self.program.instructions().get(index).map(|i| i.kind) {
            Some(Kind::Return) => self.before_return,
            _ => 0,
        };
        Ok(self.start(index)?.saturating_add(before))
    }

    /// The length of the code including this handler, in bytes.
    pub(crate) fn length(&self, snippets: &Snippets) -> usize {
        usize::from(self.end()) + snippets.handler.len()
    }

    /// The position after the last instruction, where the handler starts.
    pub(crate) fn end(&self) -> u16 {
        self.starts.last().copied().unwrap_or(0)
    }
}

/// A position or a length in the format's 16 bits.
pub(crate) fn narrow(number: usize) -> Result<u16, Reason> {
    u16::try_from(number).map_err(|_| Reason::TooBig)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opcode::RETURN;

    fn placed(code: &[u8], snippets: &Snippets) -> Result<Layout, Reason> {
        let mut layout = Layout::default();
        layout.program.read(code)?;
        layout.place(code, snippets)?;
        Ok(layout)
    }

    fn five_before_returns() -> Snippets {
        Snippets {
            before_return: vec![0; 5],
            ..Snippets::default()
        }
    }

    #[test]
    fn a_jump_lands_on_what_is_before_a_return() {
        let snippets = Snippets {
            entry: vec![0; 4],
            ..five_before_returns()
        };
        let layout = placed(&[0, RETURN, 0, RETURN], &snippets).unwrap();
        let starts: Vec<_> = (0..=4).map(|i| layout.start(i).unwrap()).collect();
        assert_eq!(starts, [4, 5, 11, 12, 18]);
        assert_eq!(layout.itself(1), Ok(10));
        assert_eq!(layout.itself(2), Ok(11));
        assert_eq!(layout.end(), 18);
    }

    /// A jump over this many bytes to a return, with another return in between.
    fn far(opcode: u8, bytes: u16) -> Vec<u8> {
        let mut code = vec![opcode];
        code.extend((bytes + 4).to_be_bytes());
        code.push(RETURN);
        code.resize(usize::from(bytes) + 4, 0);
        code.push(RETURN);
        code
    }

    #[test]
    fn a_goto_that_no_longer_reaches_is_widened() {
        let layout = placed(&far(GOTO, 32763), &five_before_returns()).unwrap();
        assert!(layout.program.instructions()[0].widened);
        assert_eq!(layout.start(1), Ok(5));
        let layout = placed(&far(GOTO, 32758), &five_before_returns()).unwrap();
        assert!(!layout.program.instructions()[0].widened);
    }

    #[test]
    fn a_conditional_jump_is_not() {
        let result = placed(&far(opcode::IFEQ, 32763), &five_before_returns());
        assert_eq!(result.unwrap_err(), Reason::FarJump);
    }

    #[test]
    fn code_may_have_65535_bytes() {
        let code = |length: usize| {
            let mut code = vec![0; length - 1];
            code.push(RETURN);
            code
        };
        assert!(placed(&code(65530), &five_before_returns()).is_ok());
        let result = placed(&code(65531), &five_before_returns());
        assert_eq!(result.unwrap_err(), Reason::TooBig);
    }
}
