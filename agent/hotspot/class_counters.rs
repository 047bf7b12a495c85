//! How many classes HotSpot has loaded and unloaded so far, from its performance data: what `jstat` reads (perfMemory.hpp,
//! version 2).

use super::memory::{Address, Plain};
use super::vm_structs::Table;

/// What the data begin with, the highest byte first on every processor.
const MAGIC: u32 = 0xCAFE_C0C0;
/// Of the format; the same from JDK 5 on.
const MAJOR_VERSION: u8 = 2;
/// More entries than any HotSpot has.
const MOST_ENTRIES: u32 = 10_000;
/// A counter of eight bytes.
const LONG: u8 = b'J';
/// The counters: of classes from class files, and of those from an archive; loaded, and unloaded.
const NAMES: [&[u8]; 4] = [
    b"java.cls.loadedClasses",
    b"java.cls.sharedLoadedClasses",
    b"java.cls.unloadedClasses",
    b"java.cls.sharedUnloadedClasses",
];

/// The counters of classes, hidden ones included. HotSpot counts a class that it loads before it runs it, and one that it
/// unloads before it frees what belongs to it.
#[derive(Debug)]
pub(crate) struct ClassCounters {
    loaded: [Address; 2],
    unloaded: [Address; 2],
}

impl ClassCounters {
    /// `None` if this JVM keeps no performance data (`-XX:-UsePerfData`), or others than are known.
    pub(crate) fn find() -> Option<Self> {
        let table = Table::find()?;
        if table.static_int("PerfMemory", "_initialized")? != 1 {
            return None;
        }
        let start = Address::new(table.static_address("PerfMemory", "_start")?);
        // SAFETY: a variable of HotSpot's, with the address of data that stay until the JVM ends.
        let data = unsafe { start.read::<u64>() };
        if data == 0 {
            return None;
        }
        // SAFETY: as above.
        unsafe { Self::of(Address::new(data)) }
    }

    /// # Safety
    /// There are performance data, and they stay.
    unsafe fn of(data: Address) -> Option<Self> {
        // SAFETY: the caller's promise; entries lie behind each other, each as long as it says.
        unsafe {
            if u32::from_be(at(data, 0)) != MAGIC || at::<u8>(data, 5) != MAJOR_VERSION {
                return None;
            }
            let mut found = [None; NAMES.len()];
            let mut entry = data.add(u64::from(at::<u32>(data, 24)));
            for _ in 0..at::<u32>(data, 28).min(MOST_ENTRIES) {
                let name = entry.add(u64::from(at::<u32>(entry, 4)));
                for (wanted, found) in NAMES.iter().zip(&mut found) {
                    if at::<u8>(entry, 12) == LONG && is_text(name, wanted) {
                        *found = Some(entry.add(u64::from(at::<u32>(entry, 16))));
                    }
                }
                entry = entry.add(u64::from(at::<u32>(entry, 0)));
            }
            let [loaded, shared_loaded, unloaded, shared_unloaded] = found;
            Some(Self {
                loaded: [loaded?, shared_loaded?],
                unloaded: [unloaded?, shared_unloaded?],
            })
        }
    }

    /// Classes that were loaded.
    #[inline]
    pub(crate) fn loaded(&self) -> u64 {
        sum(self.loaded)
    }

    /// Classes that were unloaded.
    #[inline]
    pub(crate) fn unloaded(&self) -> u64 {
        sum(self.unloaded)
    }
}

fn sum(counters: [Address; 2]) -> u64 {
    // SAFETY: counters, aligned to eight bytes, in data that stay until the JVM ends.
    let counts = counters.map(|counter| unsafe { counter.read::<u64>() });
    counts.into_iter().fold(0, u64::wrapping_add)
}

/// # Safety
/// As [`Address::read`], so many bytes behind `start`.
unsafe fn at<T: Plain>(start: Address, bytes: u64) -> T {
    // SAFETY: the caller's promise.
    unsafe { start.add(bytes).read() }
}

/// Whether this C string stands there.
///
/// # Safety
/// There is a C string.
unsafe fn is_text(start: Address, text: &[u8]) -> bool {
    let mut bytes = text.iter().chain(&[0]).zip(0..);
    // SAFETY: the caller's promise; nothing is read behind the first byte that differs, and the end differs from all others.
    bytes.all(|(&byte, index)| byte == unsafe { at::<u8>(start, index) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry with a counter behind its name.
    fn entry(name: &[u8], kind: u8, value: u64) -> Vec<u8> {
        let name_bytes = (name.len() + 1).next_multiple_of(8);
        let length = 24 + name_bytes + 8;
        let mut entry = Vec::new();
        for number in [length, 24, 0] {
            entry.extend(u32::try_from(number).unwrap().to_ne_bytes());
        }
        entry.extend([kind, 0, 0, 0]);
        entry.extend(u32::try_from(length - 8).unwrap().to_ne_bytes());
        entry.extend([0; 4]);
        entry.extend(name);
        entry.resize(length - 8, 0);
        entry.extend(value.to_ne_bytes());
        entry
    }

    fn data(entries: &[Vec<u8>]) -> Vec<u64> {
        let mut data = MAGIC.to_be_bytes().to_vec();
        data.extend([0, MAJOR_VERSION, 0, 1]);
        data.resize(24, 0);
        data.extend(32_u32.to_ne_bytes());
        data.extend(u32::try_from(entries.len()).unwrap().to_ne_bytes());
        data.extend(entries.concat());
        data.chunks(8)
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
            .collect()
    }

    fn counts(entries: &[Vec<u8>]) -> Option<(u64, u64)> {
        let data = data(entries);
        // SAFETY: made as the format says.
        let found = unsafe { ClassCounters::of(Address::new(data.as_ptr() as u64)) };
        found.map(|found| (found.loaded(), found.unloaded()))
    }

    #[test]
    fn the_counters_are_found_among_others() {
        let mut entries = vec![
            entry(b"java.cls.unloadedClasse", LONG, 1),
            entry(b"java.cls.unloadedClassesX", LONG, 2),
            entry(NAMES[3], LONG, 30),
            entry(NAMES[2], b'B', 4),
            entry(NAMES[2], LONG, 500),
            entry(NAMES[0], LONG, 6000),
        ];
        // One that is missing is not guessed.
        assert_eq!(counts(&entries), None);
        entries.push(entry(NAMES[1], LONG, 70_000));
        assert_eq!(counts(&entries), Some((76_000, 530)));
    }

    #[test]
    fn other_data_are_not_read() {
        let mut other = data(&[]);
        other[0] ^= 1;
        // SAFETY: as above, but for the first word.
        let found = unsafe { ClassCounters::of(Address::new(other.as_ptr() as u64)) };
        assert!(found.is_none());
    }
}
