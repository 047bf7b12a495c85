//! How many Java frames one compiled frame is: what the compiler inlined is told by the debug information of the address
//! that it returns to (pcDesc.hpp, scopeDesc.cpp, debugInfo.hpp).
//!
//! A compiled method has a list of such addresses, in order, each with the place of a scope in a stream of numbers. A scope
//! begins with the place of the scope that it was inlined into, or 0.

use super::memory::Address;
use super::place::Place;
use super::vm_structs::Table;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Deeper inlining than any compiler does.
const MOST_SCOPES: u32 = 256;
/// Scopes that are read in both encodings before one is believed.
const TRIALS: u32 = 64;

/// Where a compiled method has what.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScopesLayout {
    code: Place,
    descriptors_begin: Place,
    descriptors_end: Place,
    data_begin: Place,
    descriptor_size: u64,
    pc_offset: u64,
    scope_offset: u64,
}

impl ScopesLayout {
    /// Looks everything up; `None` if this JVM does not export it.
    pub(super) fn find(table: Table) -> Option<Self> {
        let own = |name| table.offset("nmethod", name);
        let begin = own("_scopes_pcs_offset")?;
        let (descriptors_begin, descriptors_end, data_begin) = match own("_immutable_data") {
            // From 23 on, in data that do not change: the descriptors, and the numbers behind them.
            Some(immutable) => {
                let data = Place::Behind(immutable, own("_scopes_data_offset")?);
                (Place::Behind(immutable, begin), data, data)
            }
            None => {
                let data = match table.offset("CompiledMethod", "_scopes_data_begin") {
                    Some(at) => Place::Address(at),
                    None => Place::Offset(own("_scopes_data_offset")?),
                };
                let end = Place::Offset(own("_dependencies_offset")?);
                (Place::Offset(begin), end, data)
            }
        };
        Some(Self {
            code: Place::of_code(table)?,
            descriptors_begin,
            descriptors_end,
            data_begin,
            descriptor_size: Table::size_bytes("PcDesc").filter(|&size| size > 0)?,
            pc_offset: table.offset("PcDesc", "_pc_offset")?,
            scope_offset: table.offset("PcDesc", "_scope_decode_offset")?,
        })
    }
}

#[cfg(test)]
impl ScopesLayout {
    /// Of methods without debug information.
    pub(super) fn fake() -> Self {
        let nowhere = Place::Offset(24);
        Self {
            code: Place::Offset(8),
            descriptors_begin: nowhere,
            descriptors_end: nowhere,
            data_begin: nowhere,
            descriptor_size: 16,
            pc_offset: 0,
            scope_offset: 4,
        }
    }
}

/// How numbers are written (compressedStream.hpp, unsigned5.hpp): low bytes first, in digits to the base 64, of which all
/// but the last are large. Since 20 no byte is 0. Which of the two it is, is found by trying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Encoding {
    /// What is taken from each byte.
    excluded: u32,
}

const ENCODINGS: [Encoding; 2] = [Encoding { excluded: 0 }, Encoding { excluded: 1 }];

impl Encoding {
    /// The number at an address; `None` if no number is written like this.
    ///
    /// # Safety
    /// Five bytes there are readable.
    unsafe fn number(self, at: Address) -> Option<u32> {
        const LARGE: u32 = 192;
        const BITS: u32 = 6;
        const MOST_BYTES: u32 = 5;
        let mut sum = 0_u32;
        for index in 0..MOST_BYTES {
            // SAFETY: the caller's promise.
            let byte: u8 = unsafe { at.add(u64::from(index)).read() };
            let digit = u32::from(byte).checked_sub(self.excluded)?;
            sum = sum.wrapping_add(digit << (BITS * index));
            if digit < LARGE - self.excluded {
                return Some(sum);
            }
        }
        Some(sum)
    }
}

/// Reads scopes.
#[derive(Debug)]
pub(super) struct Scopes {
    layout: ScopesLayout,
    tried: AtomicU32,
    /// By encoding: whether it ever made no sense.
    failed: [AtomicBool; ENCODINGS.len()],
}

impl Scopes {
    /// Nothing tried yet.
    pub(super) fn new(layout: ScopesLayout) -> Self {
        Self {
            layout,
            tried: AtomicU32::new(0),
            failed: Default::default(),
        }
    }

    /// How many Java frames the frame is that returns to `pc` in this method. 1, the least that there can be, when the
    /// debug information does not say.
    pub(super) fn java_frames(&self, method: Address, pc: u64) -> u32 {
        // SAFETY: the method is in use by the calling thread.
        let (scope, data) = unsafe {
            let data = self.layout.data_begin.of(method);
            (self.scope(method, pc), data)
        };
        let Some(scope) = scope.filter(|&scope| scope > 0) else {
            return 1;
        };
        // SAFETY: the place of a scope in the method's data.
        let counts = ENCODINGS.map(|encoding| unsafe { depth(encoding, data, scope) });
        self.choose(counts).unwrap_or(1)
    }

    /// The count by the encoding that always made sense, if the other did not.
    fn choose(&self, counts: [Option<u32>; ENCODINGS.len()]) -> Option<u32> {
        for (count, failed) in counts.iter().zip(&self.failed) {
            if count.is_none() {
                failed.store(true, Ordering::Relaxed);
            }
        }
        if self.tried.load(Ordering::Relaxed) < TRIALS {
            self.tried.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let failed = self.failed.each_ref();
        match failed.map(|failed| failed.load(Ordering::Relaxed)) {
            [false, true] => counts[0],
            [true, false] => counts[1],
            _ => None,
        }
    }

    /// The place of the scope of `pc`; `None` if the method does not have that address.
    ///
    /// # Safety
    /// `method` is a compiled method that a frame of the calling thread returns to.
    unsafe fn scope(&self, method: Address, pc: u64) -> Option<u32> {
        let layout = &self.layout;
        // SAFETY: descriptors from begin to end, in the order of their addresses; the caller's promise.
        unsafe {
            let code = layout.code.of(method).bits();
            let wanted = i32::try_from(pc.checked_sub(code)?).ok()?;
            let begin = layout.descriptors_begin.of(method);
            let end = layout.descriptors_end.of(method);
            let bytes = end.bits().checked_sub(begin.bits())?;
            let (mut low, mut high) = (0, bytes / layout.descriptor_size);
            while low < high {
                let middle = u64::midpoint(low, high);
                let descriptor = begin.add(middle * layout.descriptor_size);
                let found: i32 = descriptor.add(layout.pc_offset).read();
                match found.cmp(&wanted) {
                    std::cmp::Ordering::Less => low = middle + 1,
                    std::cmp::Ordering::Greater => high = middle,
                    std::cmp::Ordering::Equal => {
                        let scope: i32 = descriptor.add(layout.scope_offset).read();
                        return u32::try_from(scope).ok();
                    }
                }
            }
            None
        }
    }
}

/// How many scopes there are from this one outwards; `None` if they make no sense: a scope is written after the one that
/// it was inlined into.
///
/// # Safety
/// A scope begins at `scope` in the readable data.
unsafe fn depth(encoding: Encoding, data: Address, scope: u32) -> Option<u32> {
    let mut scope = scope;
    for count in 1..=MOST_SCOPES {
        // SAFETY: the caller's promise; outwards means further to the front.
        let outer = unsafe { encoding.number(data.add(u64::from(scope)))? };
        match outer {
            0 => return Some(count),
            outer if outer < scope => scope = outer,
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(encoding: Encoding, bytes: [u8; 5]) -> Option<u32> {
        // SAFETY: five bytes.
        unsafe { encoding.number(Address::new(bytes.as_ptr() as u64)) }
    }

    #[test]
    fn numbers_are_written_in_two_ways() {
        let [old, new] = ENCODINGS;
        assert_eq!(number(old, [0, 9, 9, 9, 9]), Some(0));
        assert_eq!(number(old, [191, 9, 9, 9, 9]), Some(191));
        assert_eq!(number(old, [192, 0, 9, 9, 9]), Some(192));
        assert_eq!(number(old, [200, 3, 9, 9, 9]), Some(200 + 3 * 64));
        assert_eq!(number(new, [1, 9, 9, 9, 9]), Some(0));
        assert_eq!(number(new, [191, 9, 9, 9, 9]), Some(190));
        assert_eq!(number(new, [192, 1, 9, 9, 9]), Some(191));
        assert_eq!(number(new, [0, 9, 9, 9, 9]), None);
    }

    #[test]
    fn scopes_are_counted_outwards() {
        // At 1 the outermost, at 4 one in it, at 8 one in that.
        let data = [0_u8, 0, 7, 7, 1, 7, 7, 7, 4, 7, 7, 7, 7];
        let depth = |scope| {
            // SAFETY: a scope of the data above.
            unsafe { super::depth(ENCODINGS[0], Address::new(data.as_ptr() as u64), scope) }
        };
        assert_eq!(depth(8), Some(3));
        assert_eq!(depth(4), Some(2));
        assert_eq!(depth(1), Some(1));
        assert_eq!(depth(2), None);
    }
}
