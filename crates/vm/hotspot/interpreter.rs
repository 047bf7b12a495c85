//! The code of HotSpot's interpreter.

use super::memory::Address;
use super::vm_structs::Table;

/// Where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interpreter {
    low: u64,
    high: u64,
}

impl Interpreter {
    /// Looks up the structures; `None` if this JVM does not export them.
    pub(super) fn find(table: Table) -> Option<Self> {
        let code = table.static_address("AbstractInterpreter", "_code")?;
        let buffer = table.offset("StubQueue", "_stub_buffer")?;
        let limit = table.offset("StubQueue", "_buffer_limit")?;
        // SAFETY: a variable with the address of the queue that contains the interpreter's code; it
        // never changes.
        let (low, size) = unsafe {
            let queue = Address::new(Address::new(code).read());
            (
                queue.add(buffer).read::<u64>(),
                queue.add(limit).read::<u32>(),
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
