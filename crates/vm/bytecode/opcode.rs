//! The instructions of the JVM: their lengths, and what rewriting needs to know about them (chapter
//! 6 of the specification).

pub(crate) const ICONST_0: u8 = 3;
pub(crate) const BIPUSH: u8 = 16;
pub(crate) const SIPUSH: u8 = 17;
pub(crate) const LDC: u8 = 18;
pub(crate) const LDC_W: u8 = 19;
pub(crate) const ILOAD_0: u8 = 26;
pub(crate) const ILOAD_1: u8 = 27;
pub(crate) const ALOAD_0: u8 = 42;
pub(crate) const DUP: u8 = 89;
pub(crate) const IFEQ: u8 = 153;
pub(crate) const GOTO: u8 = 167;
pub(crate) const JSR: u8 = 168;
pub(crate) const RET: u8 = 169;
pub(crate) const TABLESWITCH: u8 = 170;
pub(crate) const LOOKUPSWITCH: u8 = 171;
pub(crate) const RETURN: u8 = 177;
pub(crate) const GETSTATIC: u8 = 178;
pub(crate) const INVOKESPECIAL: u8 = 183;
pub(crate) const INVOKESTATIC: u8 = 184;
pub(crate) const NEW: u8 = 187;
pub(crate) const NEWARRAY: u8 = 188;
pub(crate) const ANEWARRAY: u8 = 189;
pub(crate) const MULTIANEWARRAY: u8 = 197;
pub(crate) const INVOKEVIRTUAL: u8 = 182;
pub(crate) const LCONST_0: u8 = 9;
pub(crate) const LCONST_1: u8 = 10;
pub(crate) const I2L: u8 = 133;
pub(crate) const ATHROW: u8 = 191;
const IINC: u8 = 132;
const WIDE: u8 = 196;
pub(crate) const GOTO_W: u8 = 200;
pub(crate) const JSR_W: u8 = 201;

/// How the rewriter treats an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Copied unchanged.
    Plain,
    /// A jump with a 16-bit offset: conditional, `goto` or `jsr`.
    Jump,
    /// `goto_w` or `jsr_w`, a jump with a 32-bit offset.
    FarJump,
    /// `tableswitch` or `lookupswitch`.
    Switch,
    /// One of the six returns.
    Return,
    /// `newarray`, `anewarray` or `multianewarray`.
    Array,
}

pub(crate) fn kind(opcode: u8) -> Kind {
    match opcode {
        // The conditional jumps, goto and jsr; ifnull and ifnonnull.
        153..=168 | 198 | 199 => Kind::Jump,
        GOTO_W | JSR_W => Kind::FarJump,
        TABLESWITCH | LOOKUPSWITCH => Kind::Switch,
        172..=177 => Kind::Return,
        NEWARRAY | ANEWARRAY | MULTIANEWARRAY => Kind::Array,
        _ => Kind::Plain,
    }
}

/// Whether an instruction may throw. Also true of some that never do.
pub(crate) fn may_throw(opcode: u8) -> bool {
    !matches!(opcode,
        // Constants except loaded ones; loads and stores of local variables.
        0..=17 | 21..=45 | 54..=78
        // The stack, arithmetic except division, conversions, comparisons.
        | 87..=107 | 116..=152
        // Jumps, switches, returns.
        | 153..=177 | 198..=201)
}

/// Lengths of the instructions from 0 to 201; 0 if the length depends on the operands.
#[rustfmt::skip]
const LENGTHS: [u8; 202] = [
    // nop to dconst_1, bipush, sipush, ldc, ldc_w, ldc2_w
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 2, 3, 3,
    // the loads with an operand, without one, from arrays
    2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    // the stores likewise
    2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    // pop to swap
    1, 1, 1, 1, 1, 1, 1, 1, 1,
    // iadd to lxor
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    // iinc
    3,
    // i2l to dcmpg
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    // ifeq to jsr, ret, the switches
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 0, 0,
    // the returns, fields, methods
    1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 5, 5,
    // new, newarray, anewarray, arraylength, athrow, checkcast, instanceof, monitorenter,
    // monitorexit
    3, 2, 3, 1, 1, 3, 3, 1, 1,
    // wide, multianewarray, ifnull, ifnonnull, goto_w, jsr_w
    0, 4, 3, 3, 5, 5,
];

/// Padding between the opcode of a switch at this position and its first number, which is aligned
/// to 4.
pub(crate) fn padding(at: usize) -> usize {
    3 - at % 4
}

/// The length of the instruction at this position; `None` if there is no complete instruction.
pub(crate) fn length(code: &[u8], at: usize) -> Option<usize> {
    let opcode = *code.get(at)?;
    let length = match (*LENGTHS.get(usize::from(opcode))?, opcode) {
        (0, WIDE) => match code.get(at + 1)? {
            &IINC => 6,
            _ => 4,
        },
        (0, _) => switch_length(code, at, opcode)?,
        (length, _) => usize::from(length),
    };
    (at + length <= code.len()).then_some(length)
}

fn switch_length(code: &[u8], at: usize, opcode: u8) -> Option<usize> {
    let numbers = at + 1 + padding(at);
    let number = |index: usize| {
        let bytes = code.get(numbers + 4 * index..)?.first_chunk()?;
        Some(i64::from(i32::from_be_bytes(*bytes)))
    };
    let words = if opcode == TABLESWITCH {
        3 + number(2)?.checked_sub(number(1)?)? + 1
    } else {
        2 + 2 * number(1)?
    };
    let words = usize::try_from(words).ok()?;
    (words >= 2).then_some(1 + padding(at) + words.checked_mul(4)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_specification() {
        let expected = [
            (0, 1),
            (BIPUSH, 2),
            (SIPUSH, 3),
            (LDC, 2),
            (LDC_W, 3),
            (20, 3),
            (21, 2),
            (25, 2),
            (26, 1),
            (53, 1),
            (54, 2),
            (58, 2),
            (59, 1),
            (86, 1),
            (87, 1),
            (DUP, 1),
            (131, 1),
            (IINC, 3),
            (133, 1),
            (152, 1),
            (IFEQ, 3),
            (GOTO, 3),
            (JSR, 3),
            (RET, 2),
            (172, 1),
            (RETURN, 1),
            (GETSTATIC, 3),
            (INVOKESPECIAL, 3),
            (INVOKESTATIC, 3),
            (185, 5),
            (186, 5),
            (NEW, 3),
            (188, 2),
            (189, 3),
            (190, 1),
            (ATHROW, 1),
            (192, 3),
            (193, 3),
            (194, 1),
            (195, 1),
            (197, 4),
            (198, 3),
            (199, 3),
            (GOTO_W, 5),
            (JSR_W, 5),
        ];
        for (opcode, length) in expected {
            let code = [opcode, 0, 0, 0, 0, 0];
            assert_eq!(super::length(&code, 0), Some(length), "{opcode}");
            assert_eq!(
                super::length(&code[..length - 1], 0),
                None,
                "{opcode} cut off"
            );
        }
        assert_eq!(length(&[WIDE, IINC, 0, 0, 0, 0], 0), Some(6));
        assert_eq!(length(&[WIDE, 21, 0, 0], 0), Some(4));
        assert_eq!(length(&[202, 0, 0], 0), None);
    }

    #[test]
    fn switches_are_as_long_as_their_numbers_say() {
        let mut table = vec![TABLESWITCH, 0, 0, 0];
        table.extend([0_u8; 4]);
        table.extend(5_i32.to_be_bytes());
        table.extend(6_i32.to_be_bytes());
        table.extend([0; 8]);
        assert_eq!(length(&table, 0), Some(24));
        let mut lookup = vec![0, LOOKUPSWITCH, 0, 0];
        lookup.extend([0; 4]);
        lookup.extend(1_i32.to_be_bytes());
        lookup.extend([0; 8]);
        assert_eq!(length(&lookup, 1), Some(19));
        lookup[8..12].copy_from_slice(&(-1_i32).to_be_bytes());
        assert_eq!(length(&lookup, 1), None);
    }
}
