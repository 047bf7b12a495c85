//! What the resident memory of a JVM is used for: each mapping, or each part of one, has one use.
//!
//! The JVM has told where its heap, its class metadata and its threads' stacks are; objects know
//! where their memory outside of the heap is. All else is found by the form of the mappings.

use std::collections::BTreeMap;
use std::iter::once;
use std::ops::Range;

use format::{AreaKind, MemoryArea};
use graph::{NativeBlock, NativeKind};
use serde::Serialize;

use crate::proc::malloc_marks::{Malloc, ARENA_BYTES};
use crate::proc::smaps::Mapping;

/// The guard below a stack is not longer than this.
const GUARD_BYTES_MAX: u64 = 128 << 10;
/// No stack is longer than this, unless the JVM has told so.
const STACK_BYTES_MAX: u64 = 9 << 20;
/// Variables of a library that are zero at the start take no more than this.
const ZEROS_BYTES_MAX: u64 = 16 << 20;
/// The collectors have a table of the heap's size, divided by one of these: card table and block
/// offsets, mark bitmaps.
const TABLE_PARTS: [u64; 4] = [16, 32, 64, 512];

/// What memory is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Use {
    JavaHeap,
    DirectBuffers,
    MappedFiles,
    Arenas,
    NativeHandles,
    Metaspace,
    ClassArchive,
    CodeCache,
    ThreadStacks,
    Collector,
    Malloc,
    Libraries,
    ClassFiles,
    OtherFiles,
    Unknown,
}

impl Use {
    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::JavaHeap => "Java heap",
            Self::DirectBuffers => "direct buffers",
            Self::MappedFiles => "files mapped by Java",
            Self::Arenas => "arenas of the foreign memory API",
            Self::NativeHandles => "native memory of Java objects",
            Self::Metaspace => "metadata of classes (metaspace)",
            Self::ClassArchive => "class data archive (CDS)",
            Self::CodeCache => "compiled code (code cache)",
            Self::ThreadStacks => "stacks of threads",
            Self::Collector => "structures of the collector and the JVM",
            Self::Malloc => "malloc of the JVM and of native code",
            Self::Libraries => "programs and libraries",
            Self::ClassFiles => "class files (modules, jars)",
            Self::OtherFiles => "other files and shared memory",
            Self::Unknown => "not known",
        }
    }

    fn of_block(kind: NativeKind) -> Option<Self> {
        match kind {
            NativeKind::Direct => Some(Self::DirectBuffers),
            NativeKind::Mapped => Some(Self::MappedFiles),
            NativeKind::Arena => Some(Self::Arenas),
            NativeKind::Handle => Some(Self::NativeHandles),
            NativeKind::Deflater | NativeKind::Inflater => None,
        }
    }

    fn of_area(kind: AreaKind) -> Self {
        match kind {
            AreaKind::Heap => Self::JavaHeap,
            AreaKind::Collector => Self::Collector,
            AreaKind::Metaspace => Self::Metaspace,
            AreaKind::Stack => Self::ThreadStacks,
        }
    }
}

/// Resident bytes by use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Resident {
    /// The bytes of each use.
    pub(crate) bytes: BTreeMap<Use, u64>,
    /// How many of them are a guess, by what lies beside them.
    pub(crate) guessed: BTreeMap<Use, u64>,
    /// Number of arenas of glibc's malloc.
    pub(crate) malloc_arenas: u64,
    /// Whether the system hides what the memory contains, so that malloc's is not known.
    pub(crate) is_hidden: bool,
}

impl Resident {
    /// Divides the mappings. `malloc` is `None` if the memory cannot be read. `resident_bytes`
    /// answers for a part of a mapping; `None` if that cannot be read.
    pub(crate) fn of(
        mappings: &[Mapping],
        areas: &[MemoryArea],
        blocks: &[NativeBlock],
        malloc: Option<&Malloc>,
        resident_bytes: impl Fn(&Range<u64>) -> Option<u64>,
    ) -> Self {
        let known = malloc.cloned().unwrap_or_default();
        let parts = parts(areas, blocks, &known.ranges);
        let heap = areas.iter().find(|area| area.kind == AreaKind::Heap);
        let forms = Forms {
            mappings,
            heap_bytes: heap.map_or(0, |heap| heap.range.end.saturating_sub(heap.range.start)),
            is_hidden: malloc.is_none(),
            has_own_malloc: mappings.iter().any(is_malloc),
        };
        let mut resident = Self {
            malloc_arenas: known.arenas,
            is_hidden: malloc.is_none(),
            ..Self::default()
        };
        for (place, mapping) in mappings.iter().enumerate() {
            let (default, is_guess) = forms.used_for(place);
            let is_arena = default == Use::Malloc && mapping.range.start % ARENA_BYTES == 0;
            resident.malloc_arenas += u64::from(is_arena && forms.is_hidden);
            let mut left = mapping.resident_bytes;
            let behind = parts.partition_point(|(range, _)| range.end <= mapping.range.start);
            let inside = parts.get(behind..).unwrap_or_default().iter();
            for (range, used_for) in inside
                .take_while(|(range, _)| range.start < mapping.range.end)
                .filter(|(_, used_for)| mapping.is_anonymous() || counts(*used_for, default))
            {
                let start = range.start.max(mapping.range.start);
                let part = start..range.end.min(mapping.range.end);
                let bytes = match part == mapping.range {
                    true => mapping.resident_bytes,
                    // Without the pages, all of it is taken to be there.
                    false => resident_bytes(&part).unwrap_or(part.end - part.start),
                };
                let bytes = bytes.min(left);
                left -= bytes;
                *resident.bytes.entry(*used_for).or_default() += bytes;
            }
            *resident.bytes.entry(default).or_default() += left;
            if is_guess {
                *resident.guessed.entry(default).or_default() += left;
            }
        }
        resident.bytes.retain(|_, bytes| *bytes > 0);
        resident
    }

    /// All bytes.
    pub(crate) fn total(&self) -> u64 {
        self.bytes
            .values()
            .fold(0, |sum, it| sum.saturating_add(*it))
    }

    /// The bytes of one use.
    pub(crate) fn of_use(&self, used_for: Use) -> u64 {
        self.bytes.get(&used_for).copied().unwrap_or(0)
    }
}

/// Whether a part with this use counts in the mapping of a file that is used for `default` as a
/// whole. A mapped archive has metadata of classes, but is shared with other JVMs.
fn counts(part: Use, default: Use) -> bool {
    match default {
        Use::ClassArchive | Use::Libraries | Use::ClassFiles => part == Use::JavaHeap,
        Use::OtherFiles => [Use::JavaHeap, Use::MappedFiles].contains(&part),
        _ => true,
    }
}

/// The anonymous memory of which only its marks may tell the use.
pub(crate) fn unknown(mappings: &[Mapping], areas: &[MemoryArea]) -> Vec<Range<u64>> {
    // The ranges of metadata are not exact.
    let known = areas.iter().filter(|area| area.kind != AreaKind::Metaspace);
    let mut known: Vec<_> = known
        .map(|area| (area.range.clone(), Use::of_area(area.kind)))
        .collect();
    without_overlaps(&mut known);
    let data = mappings
        .iter()
        .filter(|it| it.is_data() && it.resident_bytes > 0);
    data.flat_map(|mapping| gaps(&mapping.range, &known))
        .collect()
}

/// The ranges with a known use, in address order, without overlaps: the first one counts. Malloc's
/// count after them, because direct buffers lie in them, and metadata of classes last, because
/// their ranges are not exact.
fn parts(
    areas: &[MemoryArea],
    blocks: &[NativeBlock],
    malloc: &[Range<u64>],
) -> Vec<(Range<u64>, Use)> {
    let areas = areas
        .iter()
        .map(|area| (area.range.clone(), Use::of_area(area.kind)));
    let blocks = blocks.iter().filter(|block| block.address != 0);
    let blocks = blocks.filter_map(|block| {
        let end = block.address.checked_add(block.bytes)?;
        Some((block.address..end, Use::of_block(block.kind)?))
    });
    let all = areas.chain(blocks);
    let all = all.filter(|(range, _)| range.start < range.end);
    let (metadata, mut parts): (Vec<_>, Vec<_>) =
        all.partition(|(_, used_for)| *used_for == Use::Metaspace);
    without_overlaps(&mut parts);
    let malloc = malloc.iter().map(|range| (range.clone(), Use::Malloc));
    for later in [malloc.collect(), metadata] {
        let gaps = later.iter().flat_map(|(range, used_for)| {
            let gaps = gaps(range, &parts).into_iter();
            gaps.map(move |gap| (gap, *used_for))
        });
        let gaps: Vec<_> = gaps.collect();
        parts.extend(gaps);
        without_overlaps(&mut parts);
    }
    parts
}

/// What of a range lies in none of the parts.
fn gaps(range: &Range<u64>, parts: &[(Range<u64>, Use)]) -> Vec<Range<u64>> {
    let (mut at, mut gaps) = (range.start, Vec::new());
    let behind = parts.partition_point(|(part, _)| part.end <= at);
    let inside = parts.get(behind..).unwrap_or_default().iter();
    let inside = inside.map(|(part, _)| part.clone());
    let inside = inside.take_while(|part| part.start < range.end);
    for part in inside.chain(once(range.end..range.end)) {
        if at < part.start {
            gaps.push(at..part.start);
        }
        at = at.max(part.end);
    }
    gaps
}

fn without_overlaps(parts: &mut Vec<(Range<u64>, Use)>) {
    parts.sort_by_key(|(range, used_for)| (range.start, *used_for));
    let mut end = 0;
    parts.retain_mut(|(range, _)| {
        range.start = range.start.max(end);
        end = end.max(range.end);
        range.start < range.end
    });
}

/// The uses of whole mappings, by their names and by their neighbours.
struct Forms<'m> {
    mappings: &'m [Mapping],
    /// Reserved bytes of the Java heap; 0 if they are not known.
    heap_bytes: u64,
    /// Whether nothing tells what malloc has.
    is_hidden: bool,
    /// Whether there is another malloc than the C library's, whose memory has no marks.
    has_own_malloc: bool,
}

impl Forms<'_> {
    fn at(&self, place: usize) -> Option<&Mapping> {
        self.mappings.get(place)
    }

    /// The mapping before this one, if there is no gap.
    fn before(&self, place: usize) -> Option<&Mapping> {
        let before = self.at(place.checked_sub(1)?)?;
        (before.range.end == self.at(place)?.range.start).then_some(before)
    }

    /// The use, and whether that is a guess.
    fn used_for(&self, place: usize) -> (Use, bool) {
        let Some(mapping) = self.at(place) else {
            return (Use::Unknown, false);
        };
        let known = match mapping.name.as_str() {
            "[heap]" => Use::Malloc,
            "[stack]" => Use::ThreadStacks,
            name if name.starts_with("[v") => Use::Libraries,
            name if name.contains("malloc") && mapping.is_anonymous() => Use::Malloc,
            _ if !mapping.is_anonymous() => file(mapping),
            _ if mapping.is_executable() => Use::CodeCache,
            _ if self.is_zeros(place, mapping) => Use::Libraries,
            _ => return self.guess(place, mapping),
        };
        (known, false)
    }

    /// Whether these are variables of a library that are zero at the start.
    fn is_zeros(&self, place: usize, mapping: &Mapping) -> bool {
        let is_data = |before: &Mapping| before.is_writable() && file(before) == Use::Libraries;
        let before = self.before(place);
        before.is_some_and(|before| !before.is_anonymous() && is_data(before))
            && mapping.bytes() <= ZEROS_BYTES_MAX
    }

    /// The use of anonymous memory by what lies beside it.
    fn guess(&self, place: usize, mapping: &Mapping) -> (Use, bool) {
        if self.is_hidden
            && mapping.range.start % ARENA_BYTES == 0
            && mapping.bytes() <= ARENA_BYTES
        {
            return (Use::Malloc, true);
        }
        let is_guard = |before: &Mapping| before.is_reserve() && before.bytes() <= GUARD_BYTES_MAX;
        if self.before(place).is_some_and(is_guard) && mapping.bytes() <= STACK_BYTES_MAX {
            return (Use::ThreadStacks, true);
        }
        if mapping.is_uncounted && self.has_own_malloc {
            return (Use::Malloc, true);
        }
        // What is hidden may be malloc's as well.
        let is_counted = !mapping.is_uncounted && !self.is_hidden;
        match is_counted && self.is_reserved_by_the_jvm(place) {
            true => (Use::Collector, true),
            false => (Use::Unknown, false),
        }
    }

    /// Whether the mapping is a part of what HotSpot has reserved at once: it has a rest that is
    /// not in use, or the size of a table of the heap.
    fn is_reserved_by_the_jvm(&self, place: usize) -> bool {
        let is_one = |at: usize| {
            let mapping = self.at(at);
            let is_guard = |one: &Mapping| one.is_reserve() && one.bytes() <= GUARD_BYTES_MAX;
            mapping.is_some_and(|one| (one.is_data() || one.is_reserve()) && !is_guard(one))
        };
        let (mut first, mut last) = (place, place);
        while self.before(first).is_some() && is_one(first - 1) {
            first -= 1;
        }
        while self.before(last + 1).is_some() && is_one(last + 1) {
            last += 1;
        }
        let run = self.mappings.get(first..=last).unwrap_or_default();
        let bytes: u64 = run.iter().map(Mapping::bytes).sum();
        let is_table = |part: &u64| self.heap_bytes > 0 && bytes == self.heap_bytes / part;
        run.iter().any(Mapping::is_reserve) || TABLE_PARTS.iter().any(is_table)
    }
}

/// Whether it is the library of another malloc: jemalloc, tcmalloc, mimalloc.
fn is_malloc(mapping: &Mapping) -> bool {
    let name = mapping.name.rsplit('/').next().unwrap_or_default();
    mapping.is_executable() && name.starts_with("lib") && name.contains("malloc")
}

/// The use of a mapped file.
fn file(mapping: &Mapping) -> Use {
    let name = mapping.name.strip_suffix(" (deleted)");
    let name = name.unwrap_or(&mapping.name);
    let short = name.rsplit('/').next().unwrap_or(name);
    let ends = |endings: &[&str]| endings.iter().any(|ending| short.ends_with(ending));
    match short {
        _ if ends(&[".jsa"]) => Use::ClassArchive,
        "modules" => Use::ClassFiles,
        _ if ends(&[".jar", ".jmod", ".war", ".zip"]) => Use::ClassFiles,
        _ if ends(&[".so", "/java", ".mo", ".cache"]) || short.contains(".so.") => Use::Libraries,
        "java" | "javac" => Use::Libraries,
        _ if mapping.is_executable() || name.starts_with("/usr/lib/") => Use::Libraries,
        _ if short.starts_with("memfd:java_heap") => Use::JavaHeap,
        _ => Use::OtherFiles,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// Mappings with all of their bytes in memory: addresses in MiB, flags, name.
    fn mapped(lines: &[(u64, u64, &str, &str)]) -> Vec<Mapping> {
        let line = |(start, end, flags, name): &(u64, u64, &str, &str)| {
            let (from, to) = (start << 20, end << 20);
            let kib = if flags.starts_with('-') {
                0
            } else {
                (to - from) >> 10
            };
            format!("{from:x}-{to:x} {flags} 0 00:00 0 {name}\nRss: {kib} kB\n")
        };
        let text: String = lines.iter().map(line).collect();
        Mapping::all(&text)
    }

    /// The MiB of each use, where malloc's memory is not known.
    fn used(mappings: &[Mapping], areas: &[MemoryArea], blocks: &[NativeBlock]) -> Vec<(Use, u64)> {
        let nothing = Malloc::default();
        in_mib(&resident(mappings, areas, blocks, Some(&nothing)))
    }

    fn resident(
        mappings: &[Mapping],
        areas: &[MemoryArea],
        blocks: &[NativeBlock],
        malloc: Option<&Malloc>,
    ) -> Resident {
        let all = |range: &Range<u64>| Some(range.end - range.start);
        let resident = Resident::of(mappings, areas, blocks, malloc, all);
        let bytes: u64 = mappings.iter().map(|it| it.resident_bytes).sum();
        assert_eq!(resident.total(), bytes, "each byte has one use");
        resident
    }

    fn in_mib(resident: &Resident) -> Vec<(Use, u64)> {
        let uses = resident.bytes.iter();
        uses.map(|(it, bytes)| (*it, bytes >> 20)).collect()
    }

    fn area(kind: AreaKind, start: u64, end: u64) -> MemoryArea {
        MemoryArea {
            kind,
            range: start << 20..end << 20,
        }
    }

    fn block(kind: NativeKind, start: u64, end: u64) -> NativeBlock {
        NativeBlock {
            kind,
            object: 0,
            address: start << 20,
            bytes: (end - start) << 20,
        }
    }

    #[test]
    fn names_of_files_tell_their_use() {
        let mappings = mapped(&[
            (1, 2, "r-xp", "/opt/jdk/bin/java"),
            (3, 4, "r-xp", "/opt/jdk/lib/server/libjvm.so"),
            (4, 5, "rw-p", "/opt/jdk/lib/server/libjvm.so"),
            (5, 8, "rw-p", ""),
            (10, 14, "rw-p", "/opt/jdk/lib/server/classes.jsa"),
            (20, 25, "r--s", "/opt/jdk/lib/modules"),
            (30, 36, "rw-s", "/tmp/data.bin (deleted)"),
            (40, 47, "rwxp", ""),
            (50, 51, "rw-p", "[heap]"),
        ]);
        let expected = [
            (Use::ClassArchive, 4),
            (Use::CodeCache, 7),
            (Use::Malloc, 1),
            (Use::Libraries, 6),
            (Use::ClassFiles, 5),
            (Use::OtherFiles, 6),
        ];
        assert_eq!(used(&mappings, &[], &[]), expected);
    }

    #[test]
    fn what_the_jvm_and_objects_have_told_comes_first() {
        let mappings = mapped(&[
            (100, 200, "rw-p", ""),
            (300, 310, "rw-s", "/tmp/data.bin"),
            (400, 404, "rw-p", "/opt/jdk/lib/server/classes.jsa"),
        ]);
        let areas = [
            area(AreaKind::Heap, 100, 130),
            area(AreaKind::Metaspace, 400, 404),
            // In one mapping with the heap and a buffer.
            area(AreaKind::Metaspace, 120, 170),
        ];
        let blocks = [
            block(NativeKind::Direct, 150, 160),
            // A part of the same memory, which counts once.
            block(NativeKind::Arena, 155, 161),
            block(NativeKind::Mapped, 300, 308),
        ];
        let expected = [
            (Use::JavaHeap, 30),
            (Use::DirectBuffers, 10),
            (Use::MappedFiles, 8),
            (Use::Arenas, 1),
            (Use::Metaspace, 29),
            (Use::ClassArchive, 4),
            (Use::OtherFiles, 2),
            (Use::Unknown, 30),
        ];
        assert_eq!(used(&mappings, &areas, &blocks), expected);
    }

    #[test]
    fn what_lies_beside_anonymous_memory_is_a_guess_of_its_use() {
        // An arena, a stack above its guard, a table with a reserve, and a lone piece.
        let mut mappings = mapped(&[
            (64, 65, "rw-p", ""),
            (80, 82, "rw-p", ""),
            (200, 203, "rw-p", ""),
            (203, 210, "---p", ""),
            (300, 304, "rw-p", ""),
        ]);
        let mut guard = mapped(&[(79, 80, "---p", "")]).remove(0);
        guard.range.start = guard.range.end - 4096;
        mappings.insert(1, guard);
        let of = |mappings: &[Mapping], malloc| resident(mappings, &[], &[], malloc);
        let nothing = Malloc::default();
        let read = of(&mappings, Some(&nothing));
        let expected = [
            (Use::ThreadStacks, 2),
            (Use::Collector, 3),
            (Use::Unknown, 5),
        ];
        assert_eq!(in_mib(&read), expected);
        assert_eq!(
            read.guessed,
            [(Use::ThreadStacks, 2 << 20), (Use::Collector, 3 << 20)].into()
        );
        // Malloc's may be anywhere if nothing can be read.
        let hidden = of(&mappings, None);
        let expected = [(Use::ThreadStacks, 2), (Use::Malloc, 1), (Use::Unknown, 7)];
        assert_eq!(in_mib(&hidden), expected);
        assert_eq!((hidden.is_hidden, hidden.malloc_arenas), (true, 1));
        // HotSpot does not map like that, and another malloc may.
        mappings[3].is_uncounted = true;
        let of_nobody = of(&mappings, Some(&nothing));
        assert_eq!(of_nobody.of_use(Use::Unknown), 8 << 20);
        mappings.extend(mapped(&[(900, 901, "r-xp", "/usr/lib/libjemalloc.so.2")]));
        let another = of(&mappings, Some(&nothing));
        assert_eq!(another.guessed.get(&Use::Malloc), Some(&(3 << 20)));
        assert_eq!(another.of_use(Use::Collector), 0);
    }

    #[test]
    fn malloc_has_what_has_its_marks() {
        // One mapping with a table of the collector, blocks and metadata of classes.
        let mappings = mapped(&[(100, 140, "rw-p", ""), (140, 200, "---p", "")]);
        let areas = [
            area(AreaKind::Collector, 100, 102),
            area(AreaKind::Metaspace, 110, 124),
        ];
        let found = unknown(&mappings, &areas);
        assert_eq!(found, vec![102 << 20..140 << 20; 1]);
        let malloc = Malloc {
            ranges: vec![104 << 20..112 << 20, 112 << 20..120 << 20],
            arenas: 2,
        };
        let blocks = [block(NativeKind::Direct, 105, 107)];
        let resident = resident(&mappings, &areas, &blocks, Some(&malloc));
        let expected = [
            (Use::DirectBuffers, 2),
            (Use::Metaspace, 4),
            (Use::Collector, 20),
            (Use::Malloc, 14),
        ];
        assert_eq!(in_mib(&resident), expected);
        assert_eq!(resident.guessed, [(Use::Collector, 18 << 20)].into());
        assert_eq!(resident.malloc_arenas, 2);
    }
}
