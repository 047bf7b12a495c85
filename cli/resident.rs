//! What the resident memory of a JVM is used for: each mapping, or each part of one, has one use.
//!
//! The JVM has told where its heap, its class metadata and its threads' stacks are; objects know
//! where their memory outside of the heap is. All else is found by the form of the mappings.

use std::collections::BTreeMap;
use std::ops::Range;

use format::{AreaKind, MemoryArea};
use graph::{NativeBlock, NativeKind};
use serde::Serialize;

use crate::smaps::Mapping;

/// Glibc's arenas begin at multiples of this (`HEAP_MAX_SIZE` in malloc/arena.c).
const ARENA_BYTES: u64 = 64 << 20;
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
    /// Number of arenas of glibc's malloc.
    pub(crate) malloc_arenas: u64,
}

impl Resident {
    /// Divides the mappings. `resident_bytes` answers for a part of a mapping; `None` if that
    /// cannot be read.
    pub(crate) fn of(
        mappings: &[Mapping],
        areas: &[MemoryArea],
        blocks: &[NativeBlock],
        resident_bytes: impl Fn(&Range<u64>) -> Option<u64>,
    ) -> Self {
        let arenas = joined_arenas(mappings, areas);
        let parts = parts(areas, blocks, &arenas);
        let heap = areas.iter().find(|area| area.kind == AreaKind::Heap);
        let forms = Forms {
            mappings,
            heap_bytes: heap.map_or(0, |heap| heap.range.end.saturating_sub(heap.range.start)),
        };
        let mut resident = Self {
            malloc_arenas: arenas.len() as u64,
            ..Self::default()
        };
        for (place, mapping) in mappings.iter().enumerate() {
            let default = forms.used_for(place);
            let is_arena = default == Use::Malloc && mapping.range.start % ARENA_BYTES == 0;
            resident.malloc_arenas += u64::from(is_arena);
            let mut left = mapping.resident_bytes;
            let mut give = |to: Use, bytes: u64| {
                let bytes = bytes.min(left);
                left -= bytes;
                *resident.bytes.entry(to).or_default() += bytes;
            };
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
                give(*used_for, bytes);
            }
            give(default, u64::MAX);
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

/// The arenas that the kernel lists as one mapping with what lies before them. What an arena has
/// not used yet is reserved, up to its end; a full one ends there.
fn joined_arenas(mappings: &[Mapping], areas: &[MemoryArea]) -> Vec<Range<u64>> {
    let pairs = mappings.iter().zip(mappings.iter().skip(1));
    let arenas = pairs.filter_map(|(used, reserve)| {
        let start = used.range.end.checked_sub(1)? / ARENA_BYTES * ARENA_BYTES;
        let is_reserve = reserve.is_reserve() && reserve.range.start == used.range.end;
        let has_rest = is_reserve && reserve.range.end == start + ARENA_BYTES;
        let is_full = used.range.end == start + ARENA_BYTES && used.bytes() < 2 * ARENA_BYTES;
        let is_arena = has_rest || is_full;
        let is_joined = used.is_anonymous() && used.is_data() && used.range.start < start;
        // A Java heap may end and grow like one.
        let is_known =
            |area: &MemoryArea| area.range.start < used.range.end && area.range.end > start;
        let is_own = is_arena && is_joined && !areas.iter().any(is_known);
        is_own.then_some(start..used.range.end)
    });
    arenas.collect()
}

/// The ranges with a known use, in address order, without overlaps: the first one counts. Metadata
/// of classes count last, because their ranges are not exact, and so do arenas, because direct
/// buffers may lie in them.
fn parts(
    areas: &[MemoryArea],
    blocks: &[NativeBlock],
    arenas: &[Range<u64>],
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
    let arenas = arenas.iter().map(|range| (range.clone(), Use::Malloc));
    without_overlaps(&mut parts);
    for (range, used_for) in metadata.into_iter().chain(arenas) {
        let mut at = range.start;
        let behind = parts.partition_point(|(part, _)| part.end <= at);
        let inside = parts.get(behind..).unwrap_or_default().iter();
        let inside = inside.map(|(part, _)| part.clone());
        let inside: Vec<_> = inside.take_while(|part| part.start < range.end).collect();
        for part in inside
            .into_iter()
            .chain(std::iter::once(range.end..range.end))
        {
            if at < part.start {
                parts.push((at..part.start, used_for));
            }
            at = at.max(part.end);
        }
        parts.sort_by_key(|(part, _)| part.start);
    }
    parts
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

    fn used_for(&self, place: usize) -> Use {
        let Some(mapping) = self.at(place) else {
            return Use::Unknown;
        };
        match mapping.name.as_str() {
            "[heap]" => return Use::Malloc,
            "[stack]" => return Use::ThreadStacks,
            name if name.starts_with("[v") => return Use::Libraries,
            name if name.contains("malloc") && mapping.is_anonymous() => return Use::Malloc,
            _ => {}
        }
        match mapping.is_anonymous() {
            true => self.anonymous(place, mapping),
            false => file(mapping),
        }
    }

    fn anonymous(&self, place: usize, mapping: &Mapping) -> Use {
        if mapping.is_executable() {
            return Use::CodeCache;
        }
        let before = self.before(place);
        let is_data = |before: &Mapping| before.is_writable() && file(before) == Use::Libraries;
        if before.is_some_and(|before| !before.is_anonymous() && is_data(before))
            && mapping.bytes() <= ZEROS_BYTES_MAX
        {
            // Variables that are zero at the start.
            return Use::Libraries;
        }
        if mapping.range.start % ARENA_BYTES == 0 && mapping.bytes() <= ARENA_BYTES {
            return Use::Malloc;
        }
        let is_guard = |before: &Mapping| before.is_reserve() && before.bytes() <= GUARD_BYTES_MAX;
        if before.is_some_and(is_guard) && mapping.bytes() <= STACK_BYTES_MAX {
            return Use::ThreadStacks;
        }
        match self.is_reserved_by_the_jvm(place) {
            true => Use::Collector,
            false => Use::Unknown,
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

    /// The MiB of each use.
    fn used(mappings: &[Mapping], areas: &[MemoryArea], blocks: &[NativeBlock]) -> Vec<(Use, u64)> {
        let all = |range: &Range<u64>| Some(range.end - range.start);
        let resident = Resident::of(mappings, areas, blocks, all);
        let bytes: u64 = mappings.iter().map(|it| it.resident_bytes).sum();
        assert_eq!(resident.total(), bytes, "each byte has one use");
        resident
            .bytes
            .into_iter()
            .map(|(it, bytes)| (it, bytes >> 20))
            .collect()
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
    fn the_form_of_anonymous_memory_tells_its_use() {
        let (page, mib) = (4096, 1 << 20);
        let text = format!(
            // An arena, a stack above its guard, a table with a reserve, and a lone piece.
            "{:x}-{:x} rw-p 0 0:0 0\nRss: 1024 kB\n\
             {:x}-{:x} ---p 0 0:0 0\n{:x}-{:x} rw-p 0 0:0 0\nRss: 2048 kB\n\
             {:x}-{:x} rw-p 0 0:0 0\nRss: 3072 kB\n{:x}-{:x} ---p 0 0:0 0\n\
             {:x}-{:x} rw-p 0 0:0 0\nRss: 4096 kB\n",
            64 * mib,
            70 * mib,
            80 * mib - page,
            80 * mib,
            80 * mib,
            82 * mib,
            200 * mib,
            203 * mib,
            203 * mib,
            210 * mib,
            300 * mib,
            304 * mib,
        );
        let mappings = Mapping::all(&text);
        assert_eq!(joined_arenas(&mappings, &[]), []);
        let expected = [
            (Use::ThreadStacks, 2),
            (Use::Collector, 3),
            (Use::Malloc, 1),
            (Use::Unknown, 4),
        ];
        assert_eq!(used(&mappings, &[], &[]), expected);
        // The card table of a heap of 2 GiB.
        let heap = [area(AreaKind::Heap, 1024, 1024 + 2048)];
        assert_eq!(used(&mappings, &heap, &[]).last(), Some(&(Use::Malloc, 1)));
    }

    #[test]
    fn an_arena_is_found_that_is_one_mapping_with_what_lies_before() {
        let mib = 1 << 20;
        let text = format!(
            "{:x}-{:x} rw-p 0 0:0 0\nRss: 8192 kB\n{:x}-{:x} ---p 0 0:0 0\n",
            127 * mib,
            135 * mib,
            135 * mib,
            192 * mib,
        );
        let mappings = Mapping::all(&text);
        assert_eq!(joined_arenas(&mappings, &[]), vec![128 * mib..135 * mib]);
        let heap = [area(AreaKind::Heap, 100, 192)];
        assert_eq!(joined_arenas(&mappings, &heap), []);
        // With a direct buffer in the arena.
        let blocks = [block(NativeKind::Direct, 130, 132)];
        let expected = [
            (Use::DirectBuffers, 2),
            (Use::Collector, 1),
            (Use::Malloc, 5),
        ];
        assert_eq!(used(&mappings, &[], &blocks), expected);
        let full = text.replace(
            &format!("{:x} rw-p", 135 * mib),
            &format!("{:x} rw-p", 192 * mib),
        );
        assert_eq!(
            joined_arenas(&Mapping::all(&full), &[]),
            vec![128 * mib..192 * mib]
        );
        let shorter = text.replace(
            &format!("{:x} ---p", 192 * mib),
            &format!("{:x} ---p", 191 * mib),
        );
        assert_eq!(joined_arenas(&Mapping::all(&shorter), &[]), []);
    }
}
