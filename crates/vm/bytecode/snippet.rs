//! The instructions inserted into a method.

use crate::additions::Additions;
use crate::bytes::Bytes;
use crate::constant_pool::ConstantPool;
use crate::error::Reason;
use crate::gate;
use crate::names;
use crate::opcode::{
    ALOAD_0, ANEWARRAY, ATHROW, BIPUSH, DUP, I2L, ICONST_0, INVOKESTATIC, INVOKEVIRTUAL, LCONST_0,
    LCONST_1, LDC, LDC_W, MULTIANEWARRAY, NEWARRAY, SIPUSH,
};
use crate::plan::{Plan, Route};

const OBJECT: &str = "(Ljava/lang/Object;)V";
const ARRAY: &str = "(Ljava/lang/Object;I)V";
const NUMBER: &str = "(I)V";

/// `newarray`'s operand for an int.
const INT: u8 = 10;
/// Operand stack for a call through `wait`: an object, a long, an int.
const WAIT_STACK: u16 = 4;

/// The code inserted into one method; empty if there is none.
#[derive(Debug, Default)]
pub(crate) struct Snippets {
    /// Inserted before the first instruction. Jumps to that instruction skip it.
    pub(crate) entry: Vec<u8>,
    /// Positions of the frames in the entry, each equal to the method's initial frame.
    pub(crate) entry_frames: &'static [u16],
    /// Inserted before each return. Jumps to the return run it.
    pub(crate) before_return: Vec<u8>,
    /// Inserted after each instruction that creates an array, with the dimensions that it creates
    /// at [`DIMENSIONS_AT`].
    pub(crate) after_array: Vec<u8>,
    /// For each instruction that creates an array, the method to call, if it is not the same for
    /// all.
    pub(crate) targets: Vec<u16>,
    /// Inserted after the last instruction: the handler for uncaught exceptions.
    pub(crate) handler: Vec<u8>,
    /// Operand stack needed in addition to the method's own.
    pub(crate) more_stack: u16,
    /// Operand stack that the handler needs in addition to the exception.
    pub(crate) handler_stack: u16,
}

/// Position in `after_array` of the number of dimensions.
const DIMENSIONS_AT: usize = 3;

impl Snippets {
    pub(crate) fn clear(&mut self) {
        self.entry.clear();
        self.entry_frames = &[];
        self.before_return.clear();
        self.after_array.clear();
        self.targets.clear();
        self.handler.clear();
        self.more_stack = 0;
        self.handler_stack = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        let mut all = [&self.entry, &self.before_return, &self.after_array].into_iter();
        all.all(Vec::is_empty)
    }

    /// Makes `wait(JI)V` of `java/lang/Object` forward calls. Call it before all other additions.
    pub(crate) fn add_gate(&mut self, additions: &mut Additions) -> Result<(), Reason> {
        self.entry = gate::code(additions)?;
        self.entry_frames = &gate::FRAMES;
        self.more_stack = gate::STACK;
        Ok(())
    }

    /// Reports the object under construction to this method.
    pub(crate) fn add_init(&mut self, additions: &mut Additions, name: &str) -> Result<(), Reason> {
        let target = tracker_method(additions, name, OBJECT)?;
        self.before_return.put_u1(ALOAD_0);
        call(&mut self.before_return, target);
        self.more_stack = self.more_stack.max(1);
        Ok(())
    }

    /// Reports that the virtual thread is mounted on this thread.
    pub(crate) fn add_mount(&mut self, additions: &mut Additions) -> Result<(), Reason> {
        let target = tracker_method(additions, names::MOUNT, OBJECT)?;
        self.entry.put_u1(ALOAD_0);
        call(&mut self.entry, target);
        self.more_stack = self.more_stack.max(1);
        Ok(())
    }

    /// Reports that the virtual thread is unmounted from this thread.
    pub(crate) fn add_unmount(&mut self, additions: &mut Additions) -> Result<(), Reason> {
        let target = tracker_method(additions, names::UNMOUNT, "()V")?;
        call(&mut self.entry, target);
        Ok(())
    }

    /// Reports each new array with its number of new dimensions.
    pub(crate) fn add_arrays(
        &mut self,
        plan: &Plan,
        additions: &mut Additions,
    ) -> Result<(), Reason> {
        let target = array_target(plan, additions)?;
        self.after_array.put(&[DUP, SIPUSH, 0, 1]);
        call_with_array(plan.route, &mut self.after_array, additions, target)?;
        let stack = match plan.route {
            Route::Tracker => 2,
            _ => WAIT_STACK,
        };
        self.more_stack = self.more_stack.max(stack);
        Ok(())
    }

    /// With [`Route::Arrays`], for each instruction that creates an array: calls `wait` of the
    /// array's own class, which was resolved for the instruction.
    pub(crate) fn add_target(
        &mut self,
        pool: &ConstantPool<'_>,
        instruction: &[u8],
        additions: &mut Additions,
    ) -> Result<(), Reason> {
        let name = array_class(pool, instruction).ok_or(Reason::NotUnderstood)?;
        self.targets.push(wait_of(additions, &name)?);
        Ok(())
    }

    /// Writes the code after an instruction that creates an array.
    pub(crate) fn put_array(&self, instruction: &[u8], target: Option<&u16>, out: &mut Vec<u8>) {
        let start = out.len();
        out.put(&self.after_array);
        if let [MULTIANEWARRAY, _, _, dimensions] = instruction {
            if let Some(place) = out.get_mut(start + DIMENSIONS_AT) {
                *place = *dimensions;
            }
        }
        if let Some(target) = target {
            let operand_at = out.len().saturating_sub(2);
            out.patch_u2(operand_at, *target);
        }
    }

    /// Reports the start and the end of the method, without its handler.
    pub(crate) fn add_calls(
        &mut self,
        plan: &Plan,
        additions: &mut Additions,
        number: u32,
    ) -> Result<(), Reason> {
        let [enter, exit] = call_targets(plan, additions)?;
        let constant = if number > 0x7FFF {
            additions.integer(number)?
        } else {
            0
        };
        let mut pushed = Vec::new();
        push(&mut pushed, number, constant);
        call_with_number(plan.route, &mut self.entry, &pushed, enter);
        let exit_at = self.before_return.len();
        call_with_number(plan.route, &mut self.before_return, &pushed, exit);
        let exit = self.before_return.get(exit_at..).unwrap_or(&[]);
        self.handler.extend_from_slice(exit);
        self.handler.put_u1(ATHROW);
        self.handler_stack = match plan.route {
            Route::Tracker => 1,
            _ => WAIT_STACK,
        };
        self.more_stack = self.more_stack.max(self.handler_stack);
        Ok(())
    }
}

/// The constants of a call that reports a method's start or end.
#[derive(Clone, Copy, Debug)]
struct CallTarget {
    /// The method to call.
    method: u16,
    /// [`Route::Object`]: the token. [`Route::Arrays`]: the sign.
    constant: u16,
    /// Whether it reports the end.
    is_end: bool,
}

/// The constants of the calls that report a start and an end.
fn call_targets(plan: &Plan, additions: &mut Additions) -> Result<[CallTarget; 2], Reason> {
    let (enter, exit) = match plan.route {
        Route::Tracker => {
            let enter = tracker_method(additions, names::ENTER, NUMBER)?;
            let exit = tracker_method(additions, names::EXIT, NUMBER)?;
            ((enter, 0), (exit, 0))
        }
        Route::Object => {
            let wait = wait_of(additions, gate::OBJECT)?;
            let token = additions.string(gate::TOKEN)?;
            ((wait, token), (wait, token))
        }
        Route::Arrays => {
            let wait = wait_of(additions, b"[I")?;
            let enter = additions.integer(gate::ENTER_SIGN)?;
            let exit = additions.integer(gate::EXIT_SIGN)?;
            ((wait, enter), (wait, exit))
        }
    };
    let target = |(method, constant), is_end| CallTarget {
        method,
        constant,
        is_end,
    };
    Ok([target(enter, false), target(exit, true)])
}

/// Calls with a method's number, which `pushed` pushes.
fn call_with_number(route: Route, code: &mut Vec<u8>, pushed: &[u8], target: CallTarget) {
    match route {
        Route::Tracker => {
            code.put(pushed);
            call(code, target.method);
        }
        Route::Object => {
            push_constant(code, target.constant);
            code.put_u1(if target.is_end { LCONST_1 } else { LCONST_0 });
            code.put(pushed);
            call_virtual(code, target.method);
        }
        Route::Arrays => {
            code.put(&[ICONST_0, NEWARRAY, INT]);
            code.put(pushed);
            code.put_u1(I2L);
            push_constant(code, target.constant);
            call_virtual(code, target.method);
        }
    }
}

/// Calls with the array and the int on the stack.
fn call_with_array(
    route: Route,
    code: &mut Vec<u8>,
    additions: &mut Additions,
    target: u16,
) -> Result<(), Reason> {
    if route == Route::Tracker {
        call(code, target);
        return Ok(());
    }
    let sign = additions.integer(gate::NEW_ARRAY_SIGN)?;
    code.put_u1(I2L);
    push_constant(code, sign);
    call_virtual(code, target);
    Ok(())
}

/// The method to which arrays are reported; 0 if it depends on the array.
fn array_target(plan: &Plan, additions: &mut Additions) -> Result<u16, Reason> {
    match plan.route {
        Route::Tracker => tracker_method(additions, names::NEW_ARRAY, ARRAY),
        Route::Object => wait_of(additions, gate::OBJECT),
        Route::Arrays => Ok(0),
    }
}

/// The name of the class of the array that an instruction creates.
fn array_class(pool: &ConstantPool<'_>, instruction: &[u8]) -> Option<Vec<u8>> {
    let name = |high, low| pool.class_name(u16::from_be_bytes([high, low]));
    Some(match *instruction {
        [NEWARRAY, kind] => {
            let letter = b"ZCFDBSIJ".get(usize::from(kind.checked_sub(4)?))?;
            vec![b'[', *letter]
        }
        [ANEWARRAY, high, low] => match name(high, low)? {
            array @ [b'[', ..] => [b"[", array].concat(),
            class => [b"[L", class, b";"].concat(),
        },
        [MULTIANEWARRAY, high, low, _] => name(high, low)?.to_vec(),
        _ => return None,
    })
}

fn wait_of(additions: &mut Additions, class: &[u8]) -> Result<u16, Reason> {
    let class = additions.class(class)?;
    additions.method(class, gate::WAIT, gate::WAIT_DESCRIPTOR)
}

fn tracker_method(additions: &mut Additions, name: &str, kind: &str) -> Result<u16, Reason> {
    let class = additions.class(names::TRACKER.as_bytes())?;
    additions.method(class, name, kind)
}

fn call(code: &mut Vec<u8>, target: u16) {
    code.put_u1(INVOKESTATIC);
    code.put_u2(target);
}

fn call_virtual(code: &mut Vec<u8>, target: u16) {
    code.put_u1(INVOKEVIRTUAL);
    code.put_u2(target);
}

/// Pushes a number; above 32767 it is a constant of the pool.
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
    } else {
        push_constant(code, constant);
    }
}

fn push_constant(code: &mut Vec<u8>, constant: u16) {
    if let Ok(byte) = u8::try_from(constant) {
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
        let plan = Plan::default();
        snippets.add_calls(&plan, &mut additions, 7).unwrap();
        assert_eq!(snippets.entry, [BIPUSH, 7, INVOKESTATIC, 0, 6]);
        assert_eq!(snippets.before_return, [BIPUSH, 7, INVOKESTATIC, 0, 9]);
        assert_eq!(snippets.handler, [BIPUSH, 7, INVOKESTATIC, 0, 9, ATHROW]);
    }
}
