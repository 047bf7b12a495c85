//! JNI's local references of native code that has called Java, and that no Java code has called:
//! that of a thread which native code has started, or of the launcher. HotSpot's own walk reports
//! such references for the native method below a call, and here is none (jniHandles.hpp,
//! javaCalls.hpp).

use super::layouts::{AnchorLayout, LocalReferences};
use super::memory::{Address, Readable, WORD_BYTES};

/// Where a call keeps the thread, and the caller's references.
const THREAD_IN_CALL: u64 = 0;
const BLOCK_IN_CALL: u64 = 8;
/// Where that is so, the call's anchor is here.
const ANCHOR_IN_CALL: u64 = 32;
/// From the next block to the block of the outer frame of references.
const TO_OUTER_BYTES: u64 = 2 * WORD_BYTES;
/// More blocks than any thread has.
const MOST_BLOCKS: u32 = 1 << 20;
/// Set in words that are links of a list of free places.
const FREE: u64 = 1;

impl LocalReferences {
    /// `None` if this JVM does not export all that is needed, or is older than what is known.
    pub(super) fn known(anchor: &AnchorLayout, java: u32) -> Option<Self> {
        let is_known = java >= 16 && anchor.in_call_wrapper == ANCHOR_IN_CALL;
        is_known.then(|| Self::find().ok())?
    }

    /// The references of the native code that has made this call in this thread. `None` if they
    /// cannot be read.
    pub(super) fn held(
        &self,
        memory: &Readable<'_>,
        call: Address,
        thread: Address,
    ) -> Option<Vec<u64>> {
        if memory.read::<u64>(call.add(THREAD_IN_CALL))? != thread.bits() {
            return None;
        }
        let mut outer: u64 = memory.read(call.add(BLOCK_IN_CALL))?;
        let mut block = outer;
        let mut held = Vec::new();
        for _ in 0..MOST_BLOCKS {
            if block == 0 {
                return Some(held);
            }
            let at = Address::new(block);
            let length: u32 = memory.read(at.add(self.length))?;
            for number in 0..length.min(self.most) {
                let place = at.add(self.references + u64::from(number) * WORD_BYTES);
                let word: u64 = memory.read(place)?;
                if word != 0 && word & FREE == 0 {
                    held.push(word);
                }
            }
            // Only a full block has a next one that counts.
            block = match length < self.most {
                true => 0,
                false => memory.read(at.add(self.next))?,
            };
            if block == 0 {
                outer = memory.read(Address::new(outer).add(self.next + TO_OUTER_BYTES))?;
                block = outer;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tests::own_mappings;

    /// A block is a length, two references, the next block, a word, the outer block.
    const LAYOUT: LocalReferences = LocalReferences {
        references: 8,
        length: 0,
        next: 24,
        most: 2,
    };

    fn held(blocks: &mut [[u64; 6]; 4], links: [(usize, usize, usize); 3]) -> Option<Vec<u64>> {
        let start = blocks.as_ptr() as u64;
        let address = |number: usize| start + (number * size_of::<[u64; 6]>()) as u64;
        for (from, word, to) in links {
            blocks[from][word] = address(to);
        }
        let call = [7, address(0)];
        let mappings = own_mappings();
        let memory = Readable::of(&mappings);
        let at = Address::new(call.as_ptr() as u64);
        assert_eq!(LAYOUT.held(&memory, at, Address::new(8)), None);
        let found = LAYOUT.held(&memory, at, Address::new(7));
        std::hint::black_box((call, &blocks));
        found
    }

    #[test]
    fn references_of_all_blocks_and_outer_frames_are_held() {
        // The second block is not full, so what follows it does not count; the last word is free.
        let mut blocks = [
            [2, 10, 12, 0, 0, 0],
            [1, 14, 16, 0, 0, 0],
            [2, 18, 0, 0, 0, 0],
            [2, 20, 21, 0, 0, 0],
        ];
        let links = [(0, 3, 1), (1, 3, 2), (0, 5, 3)];
        assert_eq!(held(&mut blocks, links), Some(vec![10, 12, 14, 20]));
    }

    #[test]
    fn blocks_that_lead_to_themselves_have_an_end() {
        let mut blocks = [[2, 10, 12, 0, 0, 0]; 4];
        assert_eq!(held(&mut blocks, [(0, 3, 1), (1, 3, 0), (2, 3, 2)]), None);
    }
}
