//! The instructions that go into a method.

use crate::additions::{Additions, Shared};
use crate::bytes::Bytes;
use crate::error::Reason;
use crate::opcode::{
    ALOAD_0, ARRAYLENGTH, ATHROW, BIPUSH, DUP, ICONST_0, INVOKESTATIC, LDC, LDC_W, SIPUSH,
};
use crate::plan::TrackerNames;

const OBJECT: &str = "(Ljava/lang/Object;)V";
const ARRAY: &str = "(Ljava/lang/Object;I)V";
const NUMBER: &str = "(I)V";

/// What goes into one method; empty where nothing does.
#[derive(Debug, Default)]
pub(crate) struct Snippets {
    /// Before the first instruction. Jumps to that one land after it.
    pub(crate) entry: Vec<u8>,
    /// Before each return. Jumps to the return land on it.
    pub(crate) before_return: Vec<u8>,
    /// After each instruction that makes an array.
    pub(crate) after_array: Vec<u8>,
    /// After the last instruction: where exceptions that nobody catches go.
    pub(crate) handler: Vec<u8>,
    /// More room on the operand stack than the method has asked for.
    pub(crate) more_stack: u16,
}

impl Snippets {
    pub(crate) fn clear(&mut self) {
        self.entry.clear();
        self.before_return.clear();
        self.after_array.clear();
        self.handler.clear();
        self.more_stack = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entry.is_empty() && self.before_return.is_empty() && self.after_array.is_empty()
    }

    /// Reports the object under construction.
    pub(crate) fn add_object_init(
        &mut self,
        names: &TrackerNames,
        additions: &mut Additions,
    ) -> Result<(), Reason> {
        let target = tracker_method(
            names,
            additions,
            Shared::ObjectInit,
            names.object_init,
            OBJECT,
        )?;
        self.before_return.put_u1(ALOAD_0);
        call(&mut self.before_return, target);
        self.more_stack = self.more_stack.max(1);
        Ok(())
    }

    /// Reports each array that was made, with its length.
    pub(crate) fn add_arrays(
        &mut self,
        names: &TrackerNames,
        additions: &mut Additions,
    ) -> Result<(), Reason> {
        let target = tracker_method(names, additions, Shared::NewArray, names.new_array, ARRAY)?;
        self.after_array.put(&[DUP, DUP, ARRAYLENGTH]);
        call(&mut self.after_array, target);
        self.more_stack = 2;
        Ok(())
    }

    /// Reports beginning and end of the method, without its handler.
    pub(crate) fn add_calls(
        &mut self,
        names: &TrackerNames,
        additions: &mut Additions,
        number: u32,
    ) -> Result<(), Reason> {
        let enter = tracker_method(names, additions, Shared::Enter, names.enter, NUMBER)?;
        let exit = tracker_method(names, additions, Shared::Exit, names.exit, NUMBER)?;
        let constant = if number > 0x7FFF {
            additions.integer(number)?
        } else {
            0
        };
        push(&mut self.entry, number, constant);
        let exit_at = self.before_return.len();
        self.before_return.extend_from_slice(&self.entry);
        call(&mut self.entry, enter);
        call(&mut self.before_return, exit);
        let exit = self.before_return.get(exit_at..).unwrap_or(&[]);
        self.handler.extend_from_slice(exit);
        self.handler.put_u1(ATHROW);
        self.more_stack = self.more_stack.max(1);
        Ok(())
    }
}

fn tracker_method(
    names: &TrackerNames,
    additions: &mut Additions,
    which: Shared,
    name: &str,
    descriptor: &str,
) -> Result<u16, Reason> {
    let class = additions.shared(Shared::TrackerClass, |a| a.class(names.class.as_bytes()))?;
    additions.shared(which, |a| a.method(class, name, descriptor))
}

fn call(code: &mut Vec<u8>, target: u16) {
    code.put_u1(INVOKESTATIC);
    code.put_u2(target);
}

/// Pushes a number; one above 32767 is a constant of the pool.
fn push(code: &mut Vec<u8>, number: u32, constant: u16) {
    if let Ok(short) = u16::try_from(number).and_then(i16::try_from) {
        match u8::try_from(short) {
            Ok(byte @ 0..=5) => code.put_u1(ICONST_0 + byte),
            Ok(byte @ 0..=127) => code.put(&[BIPUSH, byte]),
            _ => {
                code.put_u1(SIPUSH);
                code.put(&short.to_be_bytes());
            }
        }
    } else if let Ok(byte) = u8::try_from(constant) {
        code.put(&[LDC, byte]);
    } else {
        code.put_u1(LDC_W);
        code.put_u2(constant);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_pushed_in_the_fewest_bytes() {
        let pushed = |number, constant| {
            let mut code = Vec::new();
            push(&mut code, number, constant);
            code
        };
        assert_eq!(pushed(0, 0), [ICONST_0]);
        assert_eq!(pushed(5, 0), [8]);
        assert_eq!(pushed(6, 0), [BIPUSH, 6]);
        assert_eq!(pushed(127, 0), [BIPUSH, 127]);
        assert_eq!(pushed(128, 0), [SIPUSH, 0, 128]);
        assert_eq!(pushed(32767, 0), [SIPUSH, 0x7F, 0xFF]);
        assert_eq!(pushed(32768, 255), [LDC, 255]);
        assert_eq!(pushed(32768, 256), [LDC_W, 1, 0]);
    }

    #[test]
    fn calls_push_the_number_and_rethrow() {
        let mut additions = Additions::new(1);
        let mut snippets = Snippets::default();
        let names = TrackerNames::default();
        snippets.add_calls(&names, &mut additions, 7).unwrap();
        assert_eq!(snippets.entry, [BIPUSH, 7, INVOKESTATIC, 0, 6]);
        assert_eq!(snippets.before_return, [BIPUSH, 7, INVOKESTATIC, 0, 10]);
        assert_eq!(snippets.handler, [BIPUSH, 7, INVOKESTATIC, 0, 10, ATHROW]);
    }
}
