//! The code of a method as a list of instructions.

use std::ops::Range;

use crate::error::Reason;
use crate::opcode::{self, Kind, TABLESWITCH};

/// An instruction: its old position and its kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub(crate) at: u16,
    pub(crate) opcode: u8,
    pub(crate) kind: Kind,
    /// Whether a `goto` or `jsr` must become a `goto_w` or `jsr_w`.
    pub(crate) widened: bool,
}

/// The instructions of a method. The end of the code also counts as an instruction, for ranges that
/// end there.
#[derive(Debug, Default)]
pub(crate) struct Program {
    instructions: Vec<Instruction>,
    /// For each position in the code, the instruction that starts there.
    index_at: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Program {
    /// Parses the instructions of a method's code, replacing those of an earlier method.
    pub(crate) fn read(&mut self, code: &[u8]) -> Result<(), Reason> {
        self.instructions.clear();
        self.index_at.clear();
        self.index_at.resize(code.len() + 1, NONE);
        let mut at = 0;
        while let Some(opcode) = code.get(at).copied() {
            self.number(at)?;
            let length = opcode::length(code, at).ok_or(Reason::NotUnderstood)?;
            self.instructions.push(Instruction {
                at: u16::try_from(at).map_err(|_| Reason::NotUnderstood)?,
                opcode,
                kind: opcode::kind(opcode),
                widened: false,
            });
            at += length;
        }
        self.number(at)
    }

    fn number(&mut self, at: usize) -> Result<(), Reason> {
        let index = u32::try_from(self.instructions.len()).map_err(|_| Reason::NotUnderstood)?;
        let place = self.index_at.get_mut(at).ok_or(Reason::NotUnderstood)?;
        *place = index;
        Ok(())
    }

    pub(crate) fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    pub(crate) fn instructions_mut(&mut self) -> &mut [Instruction] {
        &mut self.instructions
    }

    /// The instructions with these indices.
    pub(crate) fn run(&self, run: &Range<usize>) -> &[Instruction] {
        self.instructions.get(run.clone()).unwrap_or(&[])
    }

    /// The number of instructions, which is also the index of the end.
    pub(crate) fn count(&self) -> usize {
        self.instructions.len()
    }

    /// The old position of an instruction or the end.
    pub(crate) fn at(&self, index: usize) -> usize {
        self.instructions
            .get(index)
            .map_or(self.end(), |i| usize::from(i.at))
    }

    /// The length of the code.
    pub(crate) fn end(&self) -> usize {
        self.index_at.len().saturating_sub(1)
    }

    /// The instruction that starts at a position, or the end.
    pub(crate) fn index(&self, at: usize) -> Result<usize, Reason> {
        match self.index_at.get(at) {
            Some(index) if *index != NONE => Ok(*index as usize),
            _ => Err(Reason::NotUnderstood),
        }
    }

    /// The instruction that contains a position, or the end.
    pub(crate) fn index_around(&self, at: usize) -> Result<usize, Reason> {
        let before = self.index_at.get(..=at).ok_or(Reason::NotUnderstood)?;
        let begun = before.iter().rev().find(|index| **index != NONE);
        begun.map_or(Err(Reason::NotUnderstood), |index| Ok(*index as usize))
    }

    /// The instruction at this distance in bytes from another one.
    fn index_from(&self, at: usize, offset: i64) -> Result<usize, Reason> {
        let at = i64::try_from(at).map_err(|_| Reason::NotUnderstood)?;
        let target = usize::try_from(at + offset).map_err(|_| Reason::NotUnderstood)?;
        self.index(target)
    }

    /// The target of a jump.
    pub(crate) fn jump_target(&self, code: &[u8], jump: Instruction) -> Result<usize, Reason> {
        let at = usize::from(jump.at);
        let operand = code.get(at + 1..).unwrap_or(&[]);
        let offset = if jump.kind == Kind::FarJump {
            operand
                .first_chunk()
                .map(|b| i64::from(i32::from_be_bytes(*b)))
        } else {
            operand
                .first_chunk()
                .map(|b| i64::from(i16::from_be_bytes(*b)))
        };
        self.index_from(at, offset.ok_or(Reason::NotUnderstood)?)
    }

    /// Reads a switch, number by number.
    pub(crate) fn switch<'a>(&'a self, code: &'a [u8], switch: Instruction) -> SwitchWords<'a> {
        let at = usize::from(switch.at);
        let start = at + 1 + opcode::padding(at);
        let length = opcode::length(code, at).unwrap_or(0);
        SwitchWords {
            program: self,
            words: code.get(start..at + length).unwrap_or(&[]),
            index: 0,
            instruction: switch,
        }
    }

    /// Calls `visit` with each target of an instruction: none, one, or those of a switch.
    pub(crate) fn each_target(
        &self,
        code: &[u8],
        instruction: Instruction,
        mut visit: impl FnMut(usize),
    ) -> Result<(), Reason> {
        match instruction.kind {
            Kind::Jump | Kind::FarJump => visit(self.jump_target(code, instruction)?),
            Kind::Switch => {
                for word in self.switch(code, instruction) {
                    if let Word::Target(target) = word? {
                        visit(target);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// A number inside a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A bound, a count or a value.
    Number(i32),
    /// The index of the target instruction.
    Target(usize),
}

/// The numbers of a switch, starting with the default.
#[derive(Debug)]
pub(crate) struct SwitchWords<'a> {
    program: &'a Program,
    words: &'a [u8],
    index: usize,
    instruction: Instruction,
}

impl SwitchWords<'_> {
    /// Whether the number with this index is an offset.
    fn is_target(&self) -> bool {
        if self.instruction.opcode == TABLESWITCH {
            // default, low, high, offsets
            !matches!(self.index, 1 | 2)
        } else {
            // default, count, then alternately values and offsets
            self.index == 0 || (self.index > 2 && self.index % 2 == 1)
        }
    }
}

impl Iterator for SwitchWords<'_> {
    type Item = Result<Word, Reason>;

    fn next(&mut self) -> Option<Self::Item> {
        let (word, rest) = self.words.split_first_chunk()?;
        let number = i32::from_be_bytes(*word);
        let word = if self.is_target() {
            self.program
                .index_from(usize::from(self.instruction.at), i64::from(number))
                .map(Word::Target)
        } else {
            Ok(Word::Number(number))
        };
        self.words = rest;
        self.index += 1;
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opcode::{GOTO, LOOKUPSWITCH, RETURN};

    #[test]
    fn places_become_instructions() {
        // 0: nop, 1: goto 5, 4: nop, 5: return
        let code = [0, GOTO, 0, 4, 0, RETURN];
        let mut program = Program::default();
        program.read(&code).unwrap();
        assert_eq!((program.count(), program.end()), (4, 6));
        assert_eq!(program.index(5), Ok(3));
        assert_eq!(program.index(6), Ok(4));
        assert_eq!(program.index(2), Err(Reason::NotUnderstood));
        assert_eq!(program.index_around(2), Ok(1));
        let jump = program.instructions()[1];
        assert_eq!(program.jump_target(&code, jump), Ok(3));
    }

    #[test]
    fn a_switch_tells_targets_from_numbers() {
        let mut code = vec![LOOKUPSWITCH, 0, 0, 0];
        for word in [20, 1, -7, 21_i32] {
            code.extend(word.to_be_bytes());
        }
        code.extend([0, RETURN]);
        let mut program = Program::default();
        program.read(&code).unwrap();
        let words: Result<Vec<_>, _> = program.switch(&code, program.instructions()[0]).collect();
        let expected = [
            Word::Target(1),
            Word::Number(1),
            Word::Number(-7),
            Word::Target(2),
        ];
        assert_eq!(words.unwrap(), expected);
    }

    #[test]
    fn code_that_ends_inside_an_instruction_is_not_understood() {
        let mut program = Program::default();
        assert_eq!(program.read(&[0, GOTO, 0]), Err(Reason::NotUnderstood));
    }
}
