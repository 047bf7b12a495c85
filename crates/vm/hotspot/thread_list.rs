//! HotSpot's list of all Java threads, and where a thread has its object (threadSMR.hpp,
//! thread.hpp).

use super::layouts::{LinkedThreads, MountedThread, ThreadArray};
use super::memory::{Address, Readable, WORD_BYTES};
use super::vm_structs::Table;

/// More threads than any JVM has.
const MOST_THREADS: u64 = 1 << 20;

/// How the list of threads is kept. Each begins with the address of a variable.
#[derive(Clone, Copy, Debug)]
pub(super) enum ThreadList {
    /// It leads to the first thread. Each thread holds the address of the next one.
    Linked(LinkedThreads),
    /// It leads to a list with an array.
    Array(ThreadArray),
}

/// The field of a thread with its object: a handle, or up to JDK 15 its address.
#[derive(Clone, Copy, Debug)]
pub(super) enum ThreadObject {
    Handle(u64),
    Address(u64),
}

impl ThreadList {
    /// `None` if this JVM does not export it.
    pub(super) fn find() -> Option<Self> {
        let array = ThreadArray::find().map(Self::Array);
        array
            .or_else(|_| LinkedThreads::find().map(Self::Linked))
            .ok()
    }

    /// All threads; `None` if the list cannot be read.
    pub(super) fn threads(self, memory: &Readable<'_>) -> Option<Vec<Address>> {
        let address = |at| memory.read(at).map(Address::new);
        match self {
            Self::Linked(at) => {
                let first =
                    Some(address(Address::new(at.first))?).filter(|thread| thread.bits() != 0);
                let threads = std::iter::successors(first, |thread| {
                    address(thread.add(at.next)).filter(|thread| thread.bits() != 0)
                });
                Some(threads.take(usize::try_from(MOST_THREADS).ok()?).collect())
            }
            Self::Array(at) => {
                let list = address(Address::new(at.list))?;
                let count: u32 = memory.read(list.add(at.length))?;
                let threads = address(list.add(at.threads))?;
                let numbers = 0..u64::from(count).min(MOST_THREADS);
                let threads = numbers.map(|number| address(threads.add(number * WORD_BYTES)));
                threads.collect()
            }
        }
    }
}

impl ThreadObject {
    /// `None` if this JVM does not export it, or has it in another way.
    pub(super) fn find() -> Option<Self> {
        let table = Table::find()?;
        let (at, kind) = table.typed_offset("JavaThread", "_threadObj")?;
        match kind.as_slice() {
            b"OopHandle" => Some(Self::Handle(at)),
            b"oop" => Some(Self::Address(at)),
            _ => None,
        }
    }

    /// The field with the mounted virtual thread (since JDK 19).
    pub(super) fn mounted() -> Option<Self> {
        let field = MountedThread::find().ok()?;
        Some(Self::Handle(field.handle))
    }

    /// The object of this field, 0 for none; `None` if it cannot be read.
    pub(super) fn read(self, memory: &Readable<'_>, thread: Address) -> Option<u64> {
        let (Self::Address(at) | Self::Handle(at)) = self;
        match (self, memory.read(thread.add(at))?) {
            (Self::Address(_), word) | (Self::Handle(_), word @ 0) => Some(word),
            (Self::Handle(_), slot) => memory.read(Address::new(slot)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tests::own_mappings;

    #[test]
    fn threads_are_in_a_list_or_in_an_array() {
        // Two threads, each with the next one's address; a list of them; variables that lead to
        // both.
        let mut words = Box::new([0_u64; 8]);
        let start = words.as_ptr() as u64;
        let of = |word: u64| start + word * WORD_BYTES;
        words[..8].copy_from_slice(&[of(1), 0, 2, of(4), of(0), of(1), of(0), of(2)]);
        let words = std::hint::black_box(words);
        let mappings = own_mappings();
        let memory = Readable::of(&mappings);
        let at = |word| words.as_ptr() as u64 + word * WORD_BYTES;
        let linked = ThreadList::Linked(LinkedThreads {
            first: at(6),
            next: 0,
        });
        let array = ThreadList::Array(ThreadArray {
            list: at(7),
            length: 0,
            threads: 8,
        });
        for list in [linked, array] {
            assert_eq!(
                list.threads(&memory),
                Some([0, 1].map(|word| Address::new(at(word))).to_vec()),
                "{list:?}"
            );
        }
        let nobody = ThreadList::Linked(LinkedThreads {
            first: at(1),
            next: 0,
        });
        assert_eq!(nobody.threads(&memory), Some(Vec::new()));
    }
}
