//! What HotSpot itself holds for each thread, in a forked copy: its handles (handles.hpp), and
//! objects on their way from one piece of code to another, such as an exception that is being
//! thrown.
//!
//! A thread that stops where a compiled method returns has no frame of that method any more.
//! HotSpot keeps the value that is being returned in a handle until the thread goes on
//! (safepoint.cpp). No JVM exports where a thread has its handles. The child finds the place by the
//! innermost mark of handles: the thread leads to it, and it leads back to the thread and to the
//! area of handles, to which the thread leads, too.

use super::layouts::{AroundResult, ThreadFields};
use super::memory::{Address, Readable, WORD_BYTES};
use super::thread_list::{ThreadList, ThreadObject};

/// Words of a thread in which the child searches for its handles.
const THREAD_WORDS: u64 = 256;
/// Words of a mark, in this order: the thread, its area, the area's chunk, the end of its handles,
/// the end of the chunk, bytes of all chunks, the next outer mark.
const MARK_AREA: u64 = 1;
const MARK_CHUNK: u64 = 2;
const MARK_END: u64 = 3;
const MARK_OUTER: u64 = 6;
/// Words of an area, from the first chunk on: the last one, the end of its handles, the end of the
/// last chunk.
const AREA_LAST: u64 = 1;
const AREA_END: u64 = 2;
const AREA_MOST: u64 = 3;
/// Words of an area before the first chunk, at most.
const AREA_HEAD: u64 = 4;
/// The word of a chunk with its length; the first one is the next chunk.
const CHUNK_BYTES: u64 = 1;
/// More marks, chunks and handles than any thread has.
const MOST_MARKS: usize = 1 << 16;
const MOST_CHUNKS: usize = 1 << 16;
const MOST_HANDLES: u64 = 1 << 24;

/// Where HotSpot has its threads, and where these have objects.
#[derive(Debug)]
pub struct ThreadHandles {
    list: ThreadList,
    /// The thread object, and the mounted virtual thread (since JDK 19).
    objects: [Option<ThreadObject>; 2],
    /// Fields with an object.
    fields: Vec<u64>,
    /// Fields, one of which holds an object: those between two known ones, where the JVM does not
    /// export which.
    maybe: Vec<u64>,
}

/// Where a thread has its handles: offsets in the thread of the innermost mark and of the area, in
/// the area of its first chunk, and in a chunk of its handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Places {
    mark: u64,
    area: u64,
    first: u64,
    handles: u64,
}

/// What HotSpot holds for one thread.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HeldForThread {
    /// The addresses of the mounted virtual thread, if there is one, and of the thread.
    pub threads: [u64; 2],
    /// The addresses of the objects. None is null.
    pub objects: Vec<u64>,
    /// Addresses that may be an object's.
    pub maybe: Vec<u64>,
    /// Whether this is all.
    pub is_whole: bool,
}

impl ThreadHandles {
    /// Looks up the structures; `None` if this JVM does not export them.
    pub fn find() -> Option<Self> {
        let at = ThreadFields::find().ok()?;
        let fields = [
            at.pending_exception,
            at.exception,
            at.given_exception,
            at.result,
        ];
        let between = || {
            let around = AroundResult::find().ok()?;
            let words = (around.before + WORD_BYTES..around.after).step_by(8);
            Some(words.take(8).collect())
        };
        Some(Self {
            list: ThreadList::find()?,
            objects: [ThreadObject::find(), ThreadObject::mounted()],
            fields: fields.into_iter().flatten().collect(),
            maybe: match at.result {
                Some(_) => Vec::new(),
                None => between()?,
            },
        })
    }

    /// What HotSpot holds for each thread; `None` if its list of threads cannot be read.
    pub fn held(&self, memory: &Readable<'_>) -> Option<Vec<HeldForThread>> {
        let threads = self.list.threads(memory)?;
        let places = threads
            .iter()
            .find_map(|&thread| Places::find(memory, thread));
        let held = |&thread: &Address| self.held_for(memory, thread, places);
        Some(threads.iter().map(held).collect())
    }

    fn held_for(
        &self,
        memory: &Readable<'_>,
        thread: Address,
        places: Option<Places>,
    ) -> HeldForThread {
        let words = |fields: &[u64]| -> Option<Vec<u64>> {
            let words = fields.iter().map(|&field| memory.read(thread.add(field)));
            words.filter(|word| *word != Some(0)).collect()
        };
        let handles = places.and_then(|places| places.handles(memory, thread));
        let (own, maybe) = (words(&self.fields), words(&self.maybe));
        let is_whole = handles.is_some() && own.is_some() && maybe.is_some();
        let [carrier, mounted] = self.objects.map(|field| {
            let object = field.and_then(|field| field.read(memory, thread));
            object.unwrap_or_default()
        });
        HeldForThread {
            threads: [mounted, carrier],
            objects: [own, handles].into_iter().flatten().flatten().collect(),
            maybe: maybe.unwrap_or_default(),
            is_whole,
        }
    }
}

impl Places {
    /// The place of this thread's handles, and so of every thread's; `None` if it cannot be found.
    fn find(memory: &Readable<'_>, thread: Address) -> Option<Self> {
        let mut marks = (0..THREAD_WORDS).map(|word| word * WORD_BYTES);
        marks.find_map(|mark| Self::by_mark(memory, thread, mark))
    }

    /// The same, if the innermost mark is there.
    fn by_mark(memory: &Readable<'_>, thread: Address, mark: u64) -> Option<Self> {
        let word = |at: Address, number: u64| memory.read::<u64>(at.add(number * WORD_BYTES));
        let mut outermost = Address::new(memory.read(thread.add(mark))?);
        let area = is_mark(memory, outermost, thread)?;
        let in_thread = (0..THREAD_WORDS).find(|&number| word(thread, number) == Some(area))?;
        let mut marks = 0;
        loop {
            let outer = word(outermost, MARK_OUTER)?;
            if outer == 0 {
                break;
            }
            outermost = Address::new(outer);
            marks += 1;
            if is_mark(memory, outermost, thread) != Some(area) || marks > MOST_MARKS {
                return None;
            }
        }
        // When the outermost mark was made, there were no handles.
        let (chunk, handles) = (word(outermost, MARK_CHUNK)?, word(outermost, MARK_END)?);
        let area = Address::new(area);
        let is_first = |&number: &u64| {
            let of = |more: u64| word(area, number + more);
            let end = of(AREA_END);
            of(0) == Some(chunk) && end >= of(AREA_LAST) && end <= of(AREA_MOST)
        };
        Some(Self {
            mark,
            area: in_thread * WORD_BYTES,
            first: (0..AREA_HEAD).find(is_first)? * WORD_BYTES,
            handles: handles.checked_sub(chunk).filter(|&bytes| bytes <= 64)?,
        })
    }

    /// The handles of a thread; `None` if they are not where these places say.
    fn handles(self, memory: &Readable<'_>, thread: Address) -> Option<Vec<u64>> {
        let read = |at: Address| memory.read::<u64>(at);
        let area = read(thread.add(self.area))?;
        let mark = Address::new(read(thread.add(self.mark))?);
        if is_mark(memory, mark, thread) != Some(area) {
            return None;
        }
        let in_area = |word: u64| read(Address::new(area).add(self.first + word * WORD_BYTES));
        let (mut chunk, last) = (in_area(0)?, in_area(AREA_LAST)?);
        let mut handles = Vec::new();
        for _ in 0..MOST_CHUNKS {
            let start = chunk.checked_add(self.handles)?;
            let at = Address::new(chunk);
            let end = match chunk == last {
                true => in_area(AREA_END)?,
                false => start.checked_add(read(at.add(CHUNK_BYTES * WORD_BYTES))?)?,
            };
            let count = end.checked_sub(start)? / WORD_BYTES;
            for number in 0..Some(count).filter(|&count| count < MOST_HANDLES)? {
                handles.push(read(Address::new(start).add(number * WORD_BYTES))?);
            }
            if chunk == last {
                handles.retain(|&handle| handle != 0);
                return Some(handles);
            }
            chunk = read(at)?;
        }
        None
    }
}

/// The area of a mark of this thread; `None` if it is none.
fn is_mark(memory: &Readable<'_>, mark: Address, thread: Address) -> Option<u64> {
    let is_it = memory.read::<u64>(mark)? == thread.bits();
    let area = is_it.then(|| memory.read(mark.add(MARK_AREA * WORD_BYTES)))??;
    (area != 0).then_some(area)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::LinkedThreads;
    use crate::memory::tests::{only, own_mappings, part};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;
    use snapshot::mappings::Mappings;

    const EXCEPTION: u64 = 0x7000;
    const THREAD_OBJECT: u64 = 0x7100;
    const RESULT: u64 = 0x7200;
    const HANDLES: [u64; 3] = [0x7300, 0x7308, 0x7310];

    /// Places in a scene's words: the thread, its two marks, its area, and the area's two chunks.
    const THREAD: usize = 2;
    const MARKS: [usize; 2] = [10, 18];
    const AREA: usize = 26;
    const CHUNKS: [usize; 2] = [32, 36];

    /// A thread with three handles, of which the first two fill a chunk.
    struct Scene(Box<[u64; 44]>);

    impl Scene {
        fn new() -> Self {
            let mut words = Box::new([0; 44]);
            let start = words.as_ptr() as u64;
            let of = |word: usize| start + word as u64 * WORD_BYTES;
            let [inner, outer] = MARKS;
            let [first, last] = CHUNKS;
            let mut put = |at: usize, these: &[u64]| {
                words[at..at + these.len()].copy_from_slice(these);
            };
            put(0, &[of(THREAD)]);
            let fields = [0, EXCEPTION, THREAD_OBJECT, RESULT];
            put(THREAD, &fields);
            put(THREAD + 4, &[0, of(AREA), of(inner)]);
            let at_last = [of(last), of(last + 2), of(last + 6), 0];
            put(inner, &[of(THREAD), of(AREA)]);
            put(inner + 2, &at_last);
            put(inner + 6, &[of(outer)]);
            put(outer, &[of(THREAD), of(AREA)]);
            put(outer + 2, &[of(first), of(first + 2), of(first + 4), 0, 0]);
            put(AREA, &[5, of(first), of(last), of(last + 4), of(last + 6)]);
            put(first, &[of(last), 16, HANDLES[0], HANDLES[1]]);
            put(last, &[0, 32, 0, HANDLES[2], 0x7777, 0x7777]);
            Self(words)
        }

        fn held(&self, mappings: &Mappings) -> Option<Vec<HeldForThread>> {
            let words = std::hint::black_box(&self.0);
            let handles = ThreadHandles {
                list: ThreadList::Linked(LinkedThreads {
                    first: words.as_ptr() as u64,
                    next: 0,
                }),
                objects: [Some(ThreadObject::Address(16)), None],
                fields: vec![8, 32],
                maybe: vec![24],
            };
            handles.held(&Readable::of(mappings))
        }
    }

    #[test]
    fn handles_and_fields_are_read() {
        let [first, second, third] = HANDLES;
        let expected = HeldForThread {
            threads: [0, THREAD_OBJECT],
            objects: vec![EXCEPTION, first, second, third],
            maybe: vec![RESULT],
            is_whole: true,
        };
        assert_eq!(Scene::new().held(&own_mappings()), Some(vec![expected]));
    }

    #[test]
    fn a_thread_whose_mark_leads_elsewhere_is_not_whole() {
        let [_, outer] = MARKS;
        for at in [outer, AREA + 1] {
            let mut scene = Scene::new();
            scene.0[at] += 8;
            let held = scene.held(&own_mappings()).unwrap();
            assert_eq!(held.len(), 1);
            assert!(!held[0].is_whole, "{at}");
            assert_eq!(held[0].objects, [EXCEPTION]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn hostile_words_are_read_only_where_they_are_mapped(
            changes in vec((any::<Index>(), prop_oneof![
                any::<u64>().prop_map(|word| (false, word)),
                (0..400_u64).prop_map(|bytes| (true, bytes)),
                (0..50_u64).prop_map(|word| (true, word * WORD_BYTES)),
            ]), 0..8),
        ) {
            let mut scene = Scene::new();
            let start = scene.0.as_ptr() as u64;
            for (at, (is_own, word)) in changes {
                *at.get_mut(&mut scene.0[..]) = if is_own { start + word } else { word };
            }
            // The list must end.
            scene.0[THREAD] = 0;
            let mappings = only(vec![part(&scene.0[..])]);
            for held in scene.held(&mappings).into_iter().flatten() {
                prop_assert!(held.objects.len() <= 2 + MOST_CHUNKS * 44);
            }
        }
    }
}
