//! The code of HotSpot's interpreter.

use super::layouts::InterpreterCode;
use super::memory::Address;

/// Where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interpreter {
    low: u64,
    high: u64,
}

impl Interpreter {
    /// `None` if the numbers there are none.
    pub(super) fn of(code: InterpreterCode) -> Option<Self> {
        // SAFETY: a variable with the address of the queue that contains the interpreter's code; it
        // never changes.
        let (low, size) = unsafe {
            let queue = Address::new(Address::new(code.queue).read());
            (
                queue.add(code.buffer).read::<u64>(),
                queue.add(code.limit).read::<u32>(),
            )
        };
        Some(Self {
            low,
            high: low.checked_add(u64::from(size))?,
        })
    }

    /// Whether a frame that continues at `pc` is interpreted.
    pub(super) fn contains(&self, pc: u64) -> bool {
        (self.low..self.high).contains(&pc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Interpreter {
        pub(crate) fn fake(low: u64, high: u64) -> Self {
            Self { low, high }
        }
    }
}
