//! Writes the instructions of a method at their new positions.

use crate::bytes::Bytes;
use crate::error::Reason;
use crate::layout::Layout;
use crate::opcode::{self, Kind, GOTO, GOTO_W, JSR_W};
use crate::program::{Instruction, Word};
use crate::snippet::Snippets;

/// The inputs for writing a method's instructions.
#[derive(Debug)]
pub(crate) struct Emitter<'a> {
    pub(crate) code: &'a [u8],
    pub(crate) layout: &'a Layout,
    pub(crate) snippets: &'a Snippets,
}

impl Emitter<'_> {
    /// Writes all instructions and the inserted code, without the handler.
    pub(crate) fn emit(&self, out: &mut Vec<u8>) -> Result<(), Reason> {
        out.put(&self.snippets.entry);
        // Consecutive unchanged instructions are copied in one go.
        let mut copied = 0;
        let mut targets = self.snippets.targets.iter();
        for (index, instruction) in self.layout.program.instructions().iter().enumerate() {
            if instruction.kind == Kind::Plain {
                continue;
            }
            let at = usize::from(instruction.at);
            let next = self.layout.program.at(index + 1);
            out.put(self.code.get(copied..at).unwrap_or(&[]));
            copied = next;
            let old = self.code.get(at..next).unwrap_or(&[]);
            match instruction.kind {
                Kind::Plain => {}
                Kind::Return => {
                    out.put(&self.snippets.before_return);
                    out.put(old);
                }
                Kind::Array => {
                    out.put(old);
                    self.snippets.put_array(old, targets.next(), out);
                }
                Kind::Jump | Kind::FarJump => self.emit_jump(*instruction, index, out)?,
                Kind::Switch => self.emit_switch(*instruction, index, out)?,
            }
        }
        out.put(self.code.get(copied..).unwrap_or(&[]));
        out.put(&self.snippets.handler);
        Ok(())
    }

    /// The distance from one instruction to the position for jumps to another.
    fn offset(&self, from: usize, to: usize) -> Result<i32, Reason> {
        Ok(i32::from(self.layout.start(to)?) - i32::from(self.layout.start(from)?))
    }

    fn emit_jump(&self, jump: Instruction, index: usize, out: &mut Vec<u8>) -> Result<(), Reason> {
        let target = self.layout.program.jump_target(self.code, jump)?;
        let offset = self.offset(index, target)?;
        if jump.widened {
            out.put_u1(if jump.opcode == GOTO { GOTO_W } else { JSR_W });
        } else {
            out.put_u1(jump.opcode);
        }
        if jump.widened || jump.kind == Kind::FarJump {
            out.put(&offset.to_be_bytes());
        } else {
            let offset = i16::try_from(offset).map_err(|_| Reason::FarJump)?;
            out.put(&offset.to_be_bytes());
        }
        Ok(())
    }

    fn emit_switch(
        &self,
        switch: Instruction,
        index: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Reason> {
        out.put_u1(switch.opcode);
        let old = opcode::padding(usize::from(switch.at));
        let new = opcode::padding(usize::from(self.layout.start(index)?));
        // Padding need not be zero: if its length is unchanged, so are its bytes.
        let at = usize::from(switch.at) + 1;
        match self.code.get(at..at + old) {
            Some(padding) if old == new => out.put(padding),
            _ => out.put([0; 3].get(..new).unwrap_or(&[])),
        }
        for word in self.layout.program.switch(self.code, switch) {
            let number = match word? {
                Word::Number(number) => number,
                Word::Target(target) => self.offset(index, target)?,
            };
            out.put(&number.to_be_bytes());
        }
        Ok(())
    }
}
