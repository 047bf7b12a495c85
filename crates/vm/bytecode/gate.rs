//! The gate: makes `java.lang.Object.wait(long, int)` forward calls to the tracker
//! ([`crate::Route`]).

use crate::additions::Additions;
use crate::bytes::Bytes;
use crate::error::Reason;
use crate::names;
use crate::opcode::{ALOAD_0, GETSTATIC, IFEQ, INVOKESTATIC, LDC_W, RETURN as RETURN_NOTHING};

/// The class, name and descriptor of the method.
pub(crate) const OBJECT: &[u8] = b"java/lang/Object";
pub(crate) const WAIT: &str = "wait";
pub(crate) const WAIT_DESCRIPTOR: &str = "(JI)V";

/// A call of `wait` on exactly this string, with `0` and a number, reports that a method starts;
/// with `1`, that it ends. A program would have to find this string and lock it before it could
/// wait for it.
pub(crate) const TOKEN: &[u8] = b"hprof-rs: a method begins (0) or ends (1)";

/// A call of `wait` on any object with one of these numbers of nanoseconds is a report: a method
/// starts or ends (its number is in the milliseconds); the array is new (its dimensions are there).
/// All these numbers are negative, so a program that used one would get an
/// `IllegalArgumentException`.
pub(crate) const ENTER_SIGN: u32 = 0x9D5A_C0F0;
pub(crate) const EXIT_SIGN: u32 = ENTER_SIGN + 1;
pub(crate) const NEW_ARRAY_SIGN: u32 = ENTER_SIGN + 2;

/// Milliseconds and nanoseconds with which `wait` has no effect if the gate is in place, and throws
/// if it is not: the end of method 0, which does not exist.
pub const PROBE: (i64, i32) = (0, i32::from_be_bytes(EXIT_SIGN.to_be_bytes()));

/// Operand stack that the instructions need.
pub(crate) const STACK: u16 = 3;
/// Positions of the frames, all equal to the method's initial one: the targets of the jumps below.
pub(crate) const FRAMES: [u16; 6] = [EXIT, RETURN, SIGNS, SIGN_EXIT, NEW, ORIGINAL];

const EXIT: u16 = 23;
const RETURN: u16 = 27;
const SIGNS: u16 = 28;
const SIGN_EXIT: u16 = 61;
const NEW: u16 = 67;
const ORIGINAL: u16 = 74;

/// The instructions to insert before those of the method:
///
/// ```java
/// if (this == TOKEN) {
///     if (engaged != 0) { if ((int) millis == 0) enter(nanos); else exit(nanos); }
///     return;
/// }
/// if (nanos >> 2 == ENTER_SIGN >> 2) {
///     if (engaged != 0) {
///         if ((nanos & 2) == 0) {
///             if ((nanos & 1) == 0) enter((int) millis); else exit((int) millis);
///         } else {
///             newArray(this, (int) millis);
///         }
///     }
///     return;
/// }
/// ```
pub(crate) fn code(additions: &mut Additions) -> Result<Vec<u8>, Reason> {
    let token = additions.string(TOKEN)?;
    let sign = additions.integer(sign_without_kind())?;
    let tracker = additions.class(names::TRACKER.as_bytes())?;
    let engaged = additions.field(tracker, "engaged", "I")?;
    let natives = additions.class(names::NATIVES.as_bytes())?;
    let mut native = |name, descriptor| additions.method(natives, name, descriptor);
    let enter = native(names::ENTER, "(I)V")?;
    let exit = native(names::EXIT, "(I)V")?;
    let new_array = native(names::NEW_ARRAY, "(Ljava/lang/Object;I)V")?;
    let mut code = Code::default();
    code.plain(&[ALOAD_0]).constant(LDC_W, token);
    code.jump(IF_ACMPNE, SIGNS)?;
    code.constant(GETSTATIC, engaged).jump(IFEQ, RETURN)?;
    code.plain(&MILLIS).jump(IFNE, EXIT)?;
    code.plain(&[ILOAD_3]).end(enter);
    code.at(EXIT)?
        .plain(&[ILOAD_3])
        .constant(INVOKESTATIC, exit);
    code.at(RETURN)?.plain(&[RETURN_NOTHING]);
    code.at(SIGNS)?.plain(&[ILOAD_3, ICONST_2, ISHR]);
    code.constant(LDC_W, sign).jump(IF_ICMPNE, ORIGINAL)?;
    code.constant(GETSTATIC, engaged).jump(IFEQ, RETURN)?;
    code.plain(&[ILOAD_3, ICONST_2, IAND]).jump(IFNE, NEW)?;
    code.plain(&[ILOAD_3, ICONST_1, IAND])
        .jump(IFNE, SIGN_EXIT)?;
    code.plain(&MILLIS).end(enter);
    code.at(SIGN_EXIT)?.plain(&MILLIS).end(exit);
    code.at(NEW)?.plain(&[ALOAD_0]);
    code.plain(&MILLIS).end(new_array);
    // A separate instruction for this frame, in case the method starts with one.
    code.at(ORIGINAL)?.plain(&[NOP]);
    Ok(code.0)
}

/// The value of `nanos >> 2` for the three signs.
fn sign_without_kind() -> u32 {
    // An arithmetic shift, because the number is negative.
    (ENTER_SIGN >> 2) | 0xC000_0000
}

const NOP: u8 = 0;
const ICONST_1: u8 = 4;
const ICONST_2: u8 = 5;
const ILOAD_3: u8 = 29;
const LLOAD_1: u8 = 31;
const ISHR: u8 = 122;
const IAND: u8 = 126;
const L2I: u8 = 136;
const IFNE: u8 = 154;
const IF_ICMPNE: u8 = 160;
const IF_ACMPNE: u8 = 166;
const MILLIS: [u8; 2] = [LLOAD_1, L2I];

/// A sequence of instructions.
#[derive(Debug, Default)]
struct Code(Vec<u8>);

impl Code {
    fn plain(&mut self, instructions: &[u8]) -> &mut Self {
        self.0.put(instructions);
        self
    }

    fn constant(&mut self, opcode: u8, index: u16) -> &mut Self {
        self.0.put_u1(opcode);
        self.0.put_u2(index);
        self
    }

    /// A call, and a return from the method.
    fn end(&mut self, target: u16) {
        self.constant(INVOKESTATIC, target).plain(&[RETURN_NOTHING]);
    }

    fn jump(&mut self, opcode: u8, target: u16) -> Result<&mut Self, Reason> {
        let here = u16::try_from(self.0.len()).map_err(|_| Reason::TooBig)?;
        Ok(self.constant(opcode, target.wrapping_sub(here)))
    }

    /// Marks a jump target.
    fn at(&mut self, place: u16) -> Result<&mut Self, Reason> {
        match self.0.len() == usize::from(place) {
            true => Ok(self),
            false => Err(Reason::NotUnderstood),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_that_are_jumped_to_are_where_they_should_be() {
        let code = code(&mut Additions::new(1)).unwrap();
        assert_eq!(code.len(), usize::from(ORIGINAL) + 1);
    }

    #[test]
    fn the_signs_are_negative_and_differ_in_two_bits_alone() {
        for sign in [ENTER_SIGN, EXIT_SIGN, NEW_ARRAY_SIGN] {
            let nanos = i32::from_be_bytes(sign.to_be_bytes());
            assert!(nanos < 0);
            assert_eq!(
                (nanos >> 2).to_be_bytes(),
                sign_without_kind().to_be_bytes()
            );
        }
        assert_eq!(ENTER_SIGN & 3, 0);
    }
}
