//! The sizes of arrays, by element kind and length. The JVM is asked once for each.

use jvm::env::Env;
use jvm::object::Object;
use std::sync::atomic::{AtomicU32, Ordering};

/// Kinds of elements with different sizes: 1, 2, 4 and 8 bytes, and references.
const KINDS: usize = 5;
/// Lengths that are cached. For a longer array, asking for its size is cheap compared with creating
/// it.
const LENGTHS: usize = 1024;

/// The kind of an array's elements, as far as the array's size depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elements(u8);

impl Elements {
    /// The elements of the array class with this signature.
    pub(crate) fn of(signature: &[u8]) -> Self {
        Self(match signature.get(1) {
            Some(b'Z' | b'B') => 0,
            Some(b'C' | b'S') => 1,
            Some(b'I' | b'F') => 2,
            Some(b'J' | b'D') => 3,
            _ => 4,
        })
    }
}

/// The cached sizes; 0 if unknown.
#[derive(Debug)]
pub(crate) struct ArraySizes {
    bytes: [Box<[AtomicU32]>; KINDS],
}

impl Default for ArraySizes {
    fn default() -> Self {
        let none = |_| (0..LENGTHS).map(|_| AtomicU32::new(0)).collect();
        Self {
            bytes: std::array::from_fn(none),
        }
    }
}

impl ArraySizes {
    /// The size of an array, including header and padding; 0 if the JVM does not report it.
    pub(crate) fn bytes(
        &self,
        env: &Env,
        array: &Object<'_>,
        elements: Elements,
        length: i32,
    ) -> u64 {
        let ask = || env.object_size_bytes(array).unwrap_or(0);
        let sizes = self.bytes.get(usize::from(elements.0));
        let length = usize::try_from(length).ok();
        let Some(known) = sizes
            .zip(length)
            .and_then(|(sizes, length)| sizes.get(length))
        else {
            return ask();
        };
        match known.load(Ordering::Relaxed) {
            0 => {
                let bytes = ask();
                known.store(u32::try_from(bytes).unwrap_or(0), Ordering::Relaxed);
                bytes
            }
            bytes => u64::from(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_one_size_are_of_one_kind() {
        let of = |signature: &str| Elements::of(signature.as_bytes());
        assert_eq!(of("[Z"), of("[B"));
        assert_eq!(of("[I"), of("[F"));
        assert_eq!(of("[[I"), of("[La;"));
        let different = ["[Z", "[C", "[I", "[J", "[[J"].map(of);
        for (index, one) in different.iter().enumerate() {
            assert!(!different[index + 1..].contains(one));
        }
    }
}
