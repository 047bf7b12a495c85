//! Thread names read from the heap, for threads whose names JVMTI cannot report: virtual threads,
//! and threads that have just started.

use crate::classes::Shape;
use crate::memory::Memory;
use crate::Snapshot;
use format::{mutf8, BasicType};

/// Longest name that is read, in bytes.
const MOST_BYTES: usize = 4096;

/// Offsets of the fields that lead to a thread's name. Found before the fork.
#[derive(Clone, Copy, Debug)]
pub struct NameFields {
    /// `Thread.name`.
    name: u64,
    /// `String.value`.
    value: u64,
    /// `String.coder`, JDK 9 and later.
    coder: Option<u64>,
}

impl NameFields {
    /// Looks the fields up; `None` if this JDK has other fields. `offset(descriptor, name)` returns
    /// the offset of an instance field of a class of the bootstrap loader.
    pub fn of(offset: impl Fn(&[u8], &[u8]) -> Option<u64>) -> Option<Self> {
        Some(Self {
            name: offset(b"Ljava/lang/Thread;", b"name")?,
            value: offset(b"Ljava/lang/String;", b"value")?,
            coder: offset(b"Ljava/lang/String;", b"coder"),
        })
    }

    /// The thread's name in modified UTF-8; empty if it has no name or is not a thread.
    pub fn read(self, snapshot: &Snapshot<impl Memory>, thread: u64) -> Vec<u8> {
        self.units(snapshot, thread)
            .map(mutf8::from_units)
            .unwrap_or_default()
    }

    fn units(self, snapshot: &Snapshot<impl Memory>, thread: u64) -> Option<Vec<u16>> {
        let (memory, layout) = (snapshot.memory, &snapshot.layout);
        let load = |object: u64, offset: u64| {
            let target = layout.oops.load(memory, object + offset);
            snapshot.marks.covers(target).then_some(target)
        };
        let array = load(load(thread, self.name)?, self.value)?;
        let class = snapshot.classes.get(layout.class_word(memory, array))?;
        let Shape::PrimitiveArray(element_type) = class.shape else {
            return None;
        };
        let length = layout.length(memory, array) as usize;
        let start = array + layout.arrays.elements(element_type);
        let bytes = length * element_type.size_bytes(8) as usize;
        let bytes = memory.bytes(start, bytes.min(MOST_BYTES));
        // One byte per character if the coder says so (JDK 9 and later), else two.
        let is_wide = match (element_type, self.coder) {
            (BasicType::Byte, Some(coder)) => {
                let text = layout.oops.load(memory, thread + self.name);
                memory.u8(text + coder) != 0
            }
            _ => element_type == BasicType::Char,
        };
        if !is_wide {
            return Some(bytes.iter().map(|&byte| u16::from(byte)).collect());
        }
        let pairs = bytes.chunks_exact(2);
        Some(
            pairs
                .filter_map(|pair| pair.try_into().ok().map(u16::from_ne_bytes))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::BufferMemory;

    /// Start of the heap.
    const START: u64 = 0x1000;

    /// The name of a thread that refers to a string, which refers to an array of this class and
    /// length.
    fn name(class: u64, length: u64, text: u64, coder: Option<u64>) -> Vec<u8> {
        let (string, array) = (START + 32, START + 64);
        // Mark, class, then fields; an array has its length before its elements.
        let words = [
            [1, 1, string, 0],
            [1, 1, array, coder.unwrap_or(0)],
            [1, class, length, text],
        ];
        let heap: Vec<u8> = words
            .as_flattened()
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        let shapes = vec![
            Shape::Unknown,
            Shape::PrimitiveArray(BasicType::Byte),
            Shape::PrimitiveArray(BasicType::Char),
        ];
        let memory = BufferMemory::new(START, &heap);
        let snapshot = Snapshot::invented(memory, START..START + heap.len() as u64, shapes);
        let fields = NameFields::of(|class, name| match (class, name) {
            (b"Ljava/lang/Thread;", b"name") | (b"Ljava/lang/String;", b"value") => Some(16),
            (b"Ljava/lang/String;", b"coder") => coder.map(|_| 24),
            _ => None,
        });
        fields.expect("the fields are there").read(&snapshot, START)
    }

    #[test]
    fn names_are_read_in_each_form_of_strings() {
        let latin = u64::from_ne_bytes(*b"main\xE9   ");
        assert_eq!(name(2, 5, latin, Some(0)), b"main\xC3\xA9");
        let mut wide = [0; 8];
        for (pair, unit) in wide.chunks_exact_mut(2).zip("a\u{4e16}b".encode_utf16()) {
            pair.copy_from_slice(&unit.to_ne_bytes());
        }
        let wide = u64::from_ne_bytes(wide);
        let text = "a\u{4e16}b".as_bytes();
        assert_eq!(name(2, 6, wide, Some(1)), text, "since JDK 9");
        assert_eq!(name(3, 3, wide, None), text, "JDK 8");
    }

    #[test]
    fn what_is_no_string_is_no_name() {
        assert_eq!(name(9, 1, 7, Some(0)), b"", "a class that is not known");
        assert!(NameFields::of(|_, name| (name == b"value").then_some(16)).is_none());
    }
}
