//! The filter of HotSpot's heap walk: the word that the walk reads at each reference to decide
//! which objects to report.
//!
//! Since JDK 16, a walk that reports all objects first gives every object back to the heap that the
//! compiler has scalar-replaced in any frame of any thread (`EscapeBarrier`, escapeBarrier.cpp),
//! while no thread runs. For thousands of deep stacks that takes seconds. A walk that reports only
//! tagged objects leaves this out, but is otherwise the same. So a dump requests that walk, and its
//! forked copy clears the filter in its own memory: there the walk goes on and reports all objects.
//!
//! HotSpot keeps the filter in a static variable of three words (`AdvancedHeapWalkContext`,
//! jvmtiTagMap.cpp): a 1 and the filter in one word, the class to report (none), and the address of
//! the callbacks. No two callers have the same callbacks, so a search for these words in the
//! variables of libjvm finds it. If there is no such place, or more than one, the dump requests the
//! other walk.

use super::memory::{Address, WORD_BYTES};
use super::vm_structs::Table;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// `JVMTI_HEAP_FILTER_UNTAGGED`.
const ONLY_TAGGED: u64 = 8;
/// The filter is the second `int` of its word. The first is a `bool`: whether this is such a walk.
const FILTER_SHIFT: u32 = 32;
const IS_WALK_MASK: u64 = 0xFF;
/// Where the filter is in its word (little-endian).
const FILTER_AT: u64 = 4;

/// Where the last search found the filter; 0 before the first.
static LAST: AtomicU64 = AtomicU64::new(0);

/// The variables of libjvm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variables(Vec<Range<u64>>);

/// The place of the filter of a walk that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkFilter(Address);

impl Variables {
    /// Asks the dynamic linker where libjvm's variables are. `None` if this is not HotSpot. Not
    /// during a pause: it takes the linker's lock.
    pub fn of_libjvm() -> Option<Self> {
        Self::of_library(Table::address()?)
    }

    /// The same for the library with this address.
    fn of_library(inside: u64) -> Option<Self> {
        let mut seen = Seen {
            inside,
            variables: Vec::new(),
        };
        // SAFETY: `visit` gets this `Seen`, which outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(visit), std::ptr::from_mut(&mut seen).cast()) };
        (!seen.variables.is_empty()).then_some(Self(seen.variables))
    }

    /// The filter of the walk with these callbacks; `None` unless there is exactly one. Call it in
    /// one of the callbacks. The first search takes about 0.2 ms, later ones less.
    pub fn filter_of(&self, callbacks: u64) -> Option<WalkFilter> {
        let last = LAST.load(Ordering::Relaxed);
        if self.has(last) && is_filter(Address::new(last), callbacks) {
            return Some(WalkFilter(Address::new(last)));
        }
        let places = self.0.iter().flat_map(|variables| {
            let last = variables.end.saturating_sub(3 * WORD_BYTES);
            let step = usize::try_from(WORD_BYTES).unwrap_or(1);
            (variables.start..=last).step_by(step).map(Address::new)
        });
        let mut places = places.filter(|&place| is_filter(place, callbacks));
        let (found, other) = (places.next()?, places.next());
        if other.is_some() {
            return None;
        }
        LAST.store(found.bits(), Ordering::Relaxed);
        Some(WalkFilter(found))
    }

    /// Whether the three words at this address are variables.
    fn has(&self, place: u64) -> bool {
        let end = place.saturating_add(3 * WORD_BYTES);
        let mut variables = self.0.iter();
        variables.any(|variables| variables.start <= place && end <= variables.end)
    }
}

impl WalkFilter {
    /// From now on the walk reports all objects.
    ///
    /// # Safety
    /// This is the forked copy of a process that was inside the walk, and its only thread.
    pub unsafe fn clear(self) {
        // SAFETY: an int of HotSpot's that `Variables` found in writable memory; the caller's
        // promise: no other thread reads it, and the application does not see it.
        unsafe { (self.0.add(FILTER_AT).bits() as *mut u32).write_volatile(0) };
    }
}

/// Whether the filter of the walk with these callbacks is here.
fn is_filter(place: Address, callbacks: u64) -> bool {
    // SAFETY: both callers pass places within libjvm's variables, which stay mapped.
    let word = |number| unsafe { place.add(number * WORD_BYTES).read::<u64>() };
    let (is_walk, filter) = (word(0) & IS_WALK_MASK, word(0) >> FILTER_SHIFT);
    word(2) == callbacks && word(1) == 0 && is_walk == 1 && filter == ONLY_TAGGED
}

/// The input and the result of `visit`.
struct Seen {
    /// An address within the library.
    inside: u64,
    variables: Vec<Range<u64>>,
}

/// Notes the writable segments of the library with this address.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, seen: *mut c_void) -> i32 {
    // SAFETY: `of_libjvm` passes a `Seen`; the linker's description is valid during the call.
    let (info, seen) = unsafe { (&*info, &mut *seen.cast::<Seen>()) };
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the library's table of segments, which stays mapped with it.
    let segments = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let loaded = segments.iter().filter(|it| it.p_type == libc::PT_LOAD);
    let place = |segment: &libc::Elf64_Phdr| {
        let start = info.dlpi_addr.wrapping_add(segment.p_vaddr);
        start..start.saturating_add(segment.p_memsz)
    };
    if !loaded.clone().any(|it| place(it).contains(&seen.inside)) {
        return 0;
    }
    let writable = loaded.filter(|it| it.p_flags & libc::PF_W != 0).map(place);
    let aligned = writable.map(|it| it.start.next_multiple_of(WORD_BYTES)..it.end);
    seen.variables.extend(aligned);
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first word of a filter that reports only tagged objects. The padding is arbitrary.
    const TAGGED: u64 = 0x8_AAAA_AA01;

    fn variables_of(words: &[u64]) -> Variables {
        let start = words.as_ptr() as u64;
        let range = start..start + size_of_val(words) as u64;
        Variables(vec![range])
    }

    #[test]
    fn the_filter_is_found_by_its_callbacks() {
        let words = [TAGGED, 0, 0x5000, 7, TAGGED, 0, 0x6000];
        let variables = variables_of(&words);
        let at = |number: usize| WalkFilter(Address::new(words[number..].as_ptr() as u64));
        assert_eq!(variables.filter_of(0x6000), Some(at(4)));
        assert_eq!(variables.filter_of(0x5000), Some(at(0)));
        assert_eq!(variables.filter_of(0x7000), None);
    }

    #[test]
    fn a_place_of_doubt_is_none() {
        // Another filter, another walk, a class, and two places.
        for words in [
            [0x4_0000_0001, 0, 0x5000],
            [0x8_0000_0000, 0, 0x5000],
            [TAGGED, 1, 0x5000],
        ] {
            assert_eq!(variables_of(&words).filter_of(0x5000), None);
        }
        let twice = [TAGGED, 0, 0x5001, TAGGED, 0, 0x5001];
        assert_eq!(variables_of(&twice).filter_of(0x5001), None);
    }

    #[test]
    fn the_filter_alone_is_cleared() {
        let words = [TAGGED, 0, 0x5002];
        let filter = variables_of(&words).filter_of(0x5002).expect("a filter");
        // SAFETY: the words are this test's own.
        unsafe { filter.clear() };
        // SAFETY: the words are this test's own.
        let word: u64 = unsafe { filter.0.read() };
        assert_eq!(word, TAGGED & 0xFFFF_FFFF);
    }

    #[test]
    fn libraries_have_variables() {
        static VARIABLE: AtomicU64 = AtomicU64::new(1);
        let inside = std::ptr::from_ref(&VARIABLE) as u64;
        let variables = Variables::of_library(inside).expect("some");
        assert!(variables.has(inside));
        assert_eq!(Variables::of_library(8), None);
    }
}
