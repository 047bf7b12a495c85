//! The registers in a signal's context that locate a thread, by processor.

use crate::Registers;

#[cfg(target_arch = "x86_64")]
mod processor {
    use super::Registers;

    fn index(register: libc::c_int) -> usize {
        usize::try_from(register).unwrap_or(usize::MAX)
    }

    pub(in super::super) fn read(context: &libc::mcontext_t) -> Registers {
        let register = |number| {
            let value = context.gregs.get(index(number)).copied().unwrap_or(0);
            u64::from_ne_bytes(value.to_ne_bytes())
        };
        Registers {
            pc: register(libc::REG_RIP),
            stack_pointer: register(libc::REG_RSP),
            frame_pointer: register(libc::REG_RBP),
        }
    }

    pub(in super::super) fn write(context: &mut libc::mcontext_t, there: Registers) {
        let moved = [
            (libc::REG_RIP, there.pc),
            (libc::REG_RSP, there.stack_pointer),
            (libc::REG_RBP, there.frame_pointer),
        ];
        for (number, value) in moved {
            if let Some(register) = context.gregs.get_mut(index(number)) {
                *register = i64::from_ne_bytes(value.to_ne_bytes());
            }
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod processor {
    use super::Registers;

    /// Number of the frame pointer among the general registers (AAPCS64).
    const FRAME_POINTER: usize = 29;

    pub(in super::super) fn read(context: &libc::mcontext_t) -> Registers {
        Registers {
            pc: context.pc,
            stack_pointer: context.sp,
            frame_pointer: context.regs.get(FRAME_POINTER).copied().unwrap_or(0),
        }
    }

    pub(in super::super) fn write(context: &mut libc::mcontext_t, there: Registers) {
        (context.pc, context.sp) = (there.pc, there.stack_pointer);
        if let Some(register) = context.regs.get_mut(FRAME_POINTER) {
            *register = there.frame_pointer;
        }
    }
}

pub(super) use processor::{read, write};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else_changes() {
        // SAFETY: a struct of numbers and pointers that may be null; zeros are valid.
        let mut context: libc::mcontext_t = unsafe { std::mem::zeroed() };
        let before = read(&context);
        let there = Registers {
            pc: u64::MAX - 1,
            stack_pointer: 16,
            frame_pointer: 1 << 63,
        };
        write(&mut context, there);
        assert_eq!(read(&context), there);
        write(&mut context, before);
        // SAFETY: a struct of numbers and pointers that may be null; zeros are valid.
        let zeros: libc::mcontext_t = unsafe { std::mem::zeroed() };
        assert_eq!(format!("{context:?}"), format!("{zeros:?}"));
    }
}
