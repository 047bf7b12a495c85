//! Memory outside of the Java heap, by the Java objects that hold it: direct buffers, mapped files,
//! arenas of the foreign memory API, zip streams, and objects with a native handle.
//!
//! Views share the memory of another buffer and do not count. Objects with the same addresses count
//! once.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use foldhash::HashMap;
use rustc_hash::FxHashSet;

use crate::class_facts::References;
use crate::contents::Contents;
use crate::error::GraphError;
use crate::heap::Heap;
use crate::native_fields::NativeFields;
use crate::owners::{Owner, Owners};
use crate::search::Search;

/// What a deflater takes outside of the heap, with 15 bits of window and memory level 8, as in the
/// JDK (zconf.h: 2^17 + 2^17 bytes), and its state.
const DEFLATER_BYTES: u64 = 268 << 10;

/// What an inflater takes outside of the heap: a window of 2^15 bytes and its state.
const INFLATER_BYTES: u64 = 40 << 10;

/// The most memory that one object needs here.
const OBJECT_BYTES: u64 = 256;

/// Most cleanups of one arena that are followed.
const CLEANUPS_MAX: usize = 10_000_000;

/// The kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NativeKind {
    /// `ByteBuffer.allocateDirect`, and buffers made by native code.
    Direct,
    /// A mapped file.
    Mapped,
    /// An arena of the foreign memory API.
    Arena,
    /// A `Deflater` that was not ended. Its size is an estimate.
    Deflater,
    /// An `Inflater` that was not ended. Its size is an estimate.
    Inflater,
    /// An object with a native handle. Its size is mostly unknown, so 0.
    Handle,
}

impl NativeKind {
    /// Whether it is a direct buffer, a mapped file or an arena.
    pub fn is_buffer(self) -> bool {
        !self.is_estimate() && self != Self::Handle
    }

    /// Whether the sizes are estimates.
    pub fn is_estimate(self) -> bool {
        matches!(self, Self::Deflater | Self::Inflater)
    }
}

/// The memory of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NativeBlock {
    /// What it is.
    pub kind: NativeKind,
    /// The object that holds it.
    pub object: u32,
    /// Its first address; 0 if that is not known.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// Blocks of one kind with the same owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeGroup {
    /// What they are.
    pub kind: NativeKind,
    /// Class of the objects that hold the memory.
    pub class: u32,
    /// Number of objects.
    pub objects: u64,
    /// Sum of their bytes.
    pub bytes: u64,
    /// Who holds the objects.
    pub owner: Owner,
    /// One of the objects.
    pub example: u32,
}

/// All memory outside of the heap that objects hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NativeMemory {
    /// The blocks by address.
    pub blocks: Vec<NativeBlock>,
    /// The blocks by owner, most bytes first.
    pub groups: Vec<NativeGroup>,
}

impl NativeMemory {
    /// Finds all of it. Reads the objects that hold such memory once more. Errors: the file cannot
    /// be read.
    pub fn find(heap: &Heap<'_>) -> Result<Self, GraphError> {
        let finder = Finder::new(heap);
        let fields = finder.fields.clone();
        Self::of_blocks(heap, &fields, distinct(finder.blocks()?))
    }

    /// The memory by owner if the buffers of one have more than `least` bytes; else nothing.
    /// Errors: the file cannot be read.
    pub(crate) fn largest(heap: &Heap<'_>, least: u64) -> Result<Vec<NativeGroup>, GraphError> {
        let finder = Finder::new(heap);
        let fields = finder.fields.clone();
        let blocks = distinct(finder.blocks()?);
        let buffers = blocks.iter().filter(|block| block.kind.is_buffer());
        let bytes = buffers.fold(0_u64, |sum, it| sum.saturating_add(it.bytes));
        if bytes <= least {
            return Ok(Vec::new());
        }
        let mut groups = Self::of_blocks(heap, &fields, blocks)?.groups;
        if !groups
            .iter()
            .any(|group| group.kind.is_buffer() && group.bytes > least)
        {
            groups.clear();
        }
        Ok(groups)
    }

    fn of_blocks(
        heap: &Heap<'_>,
        fields: &NativeFields,
        mut blocks: Vec<NativeBlock>,
    ) -> Result<Self, GraphError> {
        let objects: Vec<u32> = blocks.iter().map(|block| block.object).collect();
        if objects.is_empty() {
            return Ok(Self::default());
        }
        let search = Search::until(heap, &objects, References::Strong);
        let mut owners = Owners::new(heap, &search);
        let is_image = |object: u32| fields.base(heap.class(object), &[IMAGE]).is_some();
        blocks.retain(|block| {
            // The buffer itself, a view of it, and the reader.
            let mut path = search.climb(block.object).take(3);
            block.kind != NativeKind::Direct || !path.any(is_image)
        });
        let mut sums: HashMap<(NativeKind, u32, u32), (u64, u64, u32)> = HashMap::default();
        // An arena has a block for each of its segments.
        let mut counted = FxHashSet::default();
        for block in &blocks {
            let key = (
                block.kind,
                heap.class(block.object),
                owners.of(block.object),
            );
            let sum = sums.entry(key).or_insert((0, 0, block.object));
            let is_first = counted.insert((block.kind, block.object));
            *sum = (
                sum.0 + u64::from(is_first),
                sum.1.saturating_add(block.bytes),
                sum.2,
            );
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_unstable_by_key(|(key, sum)| (Reverse((sum.1, sum.0)), *key));
        let numbers: Vec<u32> = sums.iter().map(|((_, _, owner), _)| *owner).collect();
        let owners = owners.resolve(&numbers)?;
        let group = |(((kind, class, _), (objects, bytes, example)), owner)| NativeGroup {
            kind,
            class,
            objects,
            bytes,
            owner,
            example,
        };
        Ok(Self {
            blocks,
            groups: sums.into_iter().zip(owners).map(group).collect(),
        })
    }

    /// Sum of the bytes of direct buffers, mapped files and arenas: what is no estimate.
    pub fn buffer_bytes(&self) -> u64 {
        let buffers = self.groups.iter().filter(|group| group.kind.is_buffer());
        let bytes = buffers.map(|group| group.bytes);
        bytes.fold(0, u64::saturating_add)
    }
}

/// The blocks by address, without those that lie in another.
fn distinct(mut blocks: Vec<NativeBlock>) -> Vec<NativeBlock> {
    blocks.sort_by_key(|block| (block.address, Reverse(block.bytes), block.object));
    let mut end = 0;
    blocks.retain(|block| {
        let its_end = block.address.saturating_add(block.bytes);
        let is_inside = block.address != 0 && block.bytes != 0 && its_end <= end;
        if block.address != 0 && !is_inside {
            end = end.max(its_end);
        }
        !is_inside
    });
    blocks
}

/// The names of classes whose objects have a native handle, but do not tell its size.
const HANDLES: [&str; 7] = [
    "org.rocksdb.AbstractNativeReference",
    "io.netty.handler.ssl.ReferenceCountedOpenSslContext",
    "io.netty.handler.ssl.ReferenceCountedOpenSslEngine",
    "org.conscrypt.NativeRef",
    "org.bytedeco.javacpp.Pointer",
    "ai.onnxruntime.OrtSession",
    "sun.security.pkcs11.P11Key",
];

const DIRECT_BUFFER: &str = "java.nio.DirectByteBuffer";
const DEFLATER: &str = "java.util.zip.Deflater";
const INFLATER: &str = "java.util.zip.Inflater";
const SESSION: &str = "jdk.internal.foreign.MemorySessionImpl";
const RESOURCES: &str = "jdk.internal.foreign.MemorySessionImpl$ResourceList";
const CLEANUP: &str = "jdk.internal.foreign.MemorySessionImpl$ResourceList$ResourceCleanup";
const UNMAPPER: &str = "sun.nio.ch.FileChannelImpl$Unmapper";
const JNA_MEMORY: &str = "com.sun.jna.Memory";
const JNA_POINTER: &str = "com.sun.jna.Pointer";
const BUFFER: &str = "java.nio.Buffer";
/// The JDK's own reader of its classes, which the JVM maps as a file.
const IMAGE: &str = "jdk.internal.jimage.BasicImageReader";
const MAPPED_BUFFER: &str = "java.nio.MappedByteBuffer";

/// The classes whose objects are looked for, beside [`HANDLES`].
const HOLDERS: [&str; 5] = [DIRECT_BUFFER, DEFLATER, INFLATER, SESSION, JNA_MEMORY];

/// Further classes that are known by name.
const PARTS: [&str; 7] = [
    IMAGE,
    BUFFER,
    MAPPED_BUFFER,
    RESOURCES,
    CLEANUP,
    UNMAPPER,
    JNA_POINTER,
];

/// Looks for the objects that hold memory.
struct Finder<'h, 'p> {
    heap: &'h Heap<'p>,
    fields: NativeFields<'h, 'p>,
    blocks: Vec<NativeBlock>,
}

impl<'h, 'p> Finder<'h, 'p> {
    fn new(heap: &'h Heap<'p>) -> Self {
        Self {
            heap,
            fields: NativeFields::new(heap, &[&HOLDERS[..], &HANDLES, &PARTS].concat()),
            blocks: Vec::new(),
        }
    }

    fn blocks(mut self) -> Result<Vec<NativeBlock>, GraphError> {
        let mut found = self.objects();
        if self.heap.input.is_packed() {
            let objects: u64 = found.values().map(|all| all.len() as u64).sum();
            let bytes = objects.saturating_mul(OBJECT_BYTES);
            self.heap.input.budget().allow(bytes)?;
        }
        let mut take = |name: &str| found.remove(name).unwrap_or_default();
        self.buffers(&take(DIRECT_BUFFER))?;
        self.zip_streams(&take(DEFLATER), NativeKind::Deflater, DEFLATER_BYTES)?;
        self.zip_streams(&take(INFLATER), NativeKind::Inflater, INFLATER_BYTES)?;
        self.arenas(&take(SESSION))?;
        self.jna(&take(JNA_MEMORY))?;
        for name in HANDLES {
            let handle = |object| NativeBlock {
                kind: NativeKind::Handle,
                object,
                address: 0,
                bytes: 0,
            };
            self.blocks.extend(take(name).into_iter().map(handle));
        }
        Ok(self.blocks)
    }

    /// The objects of the classes with these names, and of their subclasses.
    fn objects(&self) -> BTreeMap<&'static str, Vec<u32>> {
        let names = [&HOLDERS[..], &HANDLES].concat();
        let of_class: Vec<Option<&str>> = (0..self.heap.classes())
            .map(|class| self.fields.base(class, &names))
            .collect();
        let mut found: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        if of_class.iter().any(Option::is_some) {
            for object in 0..self.heap.objects() {
                let class = self.heap.class(object) as usize;
                if let Some(Some(name)) = of_class.get(class) {
                    found.entry(name).or_default().push(object);
                }
            }
        }
        found
    }

    fn buffers(&mut self, objects: &[u32]) -> Result<(), GraphError> {
        for (object, contents) in self.heap.contents(objects, 0)? {
            let field = |class, name| self.fields.value(&contents, class, name);
            let is_view = field(DIRECT_BUFFER, "att").is_some_and(|of| of != 0)
                || field(BUFFER, "segment").is_some_and(|of| of != 0);
            let bytes = field(BUFFER, "capacity").unwrap_or(0);
            let has_file = field(MAPPED_BUFFER, "fd").is_some_and(|fd| fd != 0);
            if is_view || bytes == 0 {
                continue;
            }
            let block = NativeBlock {
                kind: match has_file {
                    true => NativeKind::Mapped,
                    false => NativeKind::Direct,
                },
                object,
                address: field(BUFFER, "address").unwrap_or(0),
                bytes,
            };
            self.blocks.push(block);
        }
        Ok(())
    }

    fn zip_streams(
        &mut self,
        objects: &[u32],
        kind: NativeKind,
        bytes: u64,
    ) -> Result<(), GraphError> {
        let class = match kind {
            NativeKind::Deflater => DEFLATER,
            _ => INFLATER,
        };
        let contents = self.heap.contents(objects, 0)?;
        let stream = |contents: &Contents| {
            let id = self.fields.value(contents, class, "zsRef")?;
            self.heap.object(id)
        };
        let streams: Vec<(u32, u32)> = contents
            .iter()
            .filter_map(|(object, contents)| Some((*object, stream(contents)?)))
            .collect();
        let states: Vec<u32> = streams.iter().map(|(_, stream)| *stream).collect();
        let states = self.heap.contents(&states, 0)?;
        for (object, stream) in streams {
            let state = states.get(&stream);
            let address = state.and_then(|state| self.heap.named(state, "address").next());
            // One that was ended has no address.
            if address.is_some_and(|address| address != 0) {
                self.blocks.push(NativeBlock {
                    kind,
                    object,
                    address: 0,
                    bytes,
                });
            }
        }
        Ok(())
    }

    /// The memory of arenas: each has a list of what it frees at its end.
    fn arenas(&mut self, sessions: &[u32]) -> Result<(), GraphError> {
        let is_of = |object: u32, name: &'static str| {
            let class = self.heap.class(object);
            self.fields.base(class, &[name]).is_some()
        };
        let next = |object: u32, name| {
            let mut targets = self.heap.targets(object).iter().copied();
            targets.find(|target| is_of(*target, name))
        };
        let mut cleanups: Vec<(u32, u32)> = Vec::new();
        // Of a hostile file, a list may end in itself.
        let mut seen = FxHashSet::default();
        for session in sessions {
            let Some(list) = next(*session, RESOURCES) else {
                continue;
            };
            let all = std::iter::successors(next(list, CLEANUP), |at| next(*at, CLEANUP));
            let all = all.take_while(|cleanup| seen.insert(*cleanup));
            cleanups.extend(all.take(CLEANUPS_MAX).map(|cleanup| (*session, cleanup)));
        }
        let objects: Vec<u32> = cleanups.iter().map(|(_, cleanup)| *cleanup).collect();
        let contents = self.heap.contents(&objects, 0)?;
        let unmapper = |cleanup: u32| next(cleanup, UNMAPPER);
        let unmappers: Vec<u32> = objects.iter().filter_map(|it| unmapper(*it)).collect();
        let unmappers = self.heap.contents(&unmappers, 0)?;
        for (session, cleanup) in cleanups {
            let mapped = unmapper(cleanup).and_then(|it| unmappers.get(&it));
            let allocated = contents.get(&cleanup);
            let own = |name| self.heap.named(allocated?, name).next();
            let of_mapped = |name| self.fields.value(mapped?, UNMAPPER, name);
            let (kind, address, bytes) = match mapped {
                Some(_) => (NativeKind::Mapped, of_mapped("address"), of_mapped("size")),
                None => (
                    NativeKind::Arena,
                    own("val$allocationBase"),
                    own("val$allocationSize"),
                ),
            };
            if let Some(bytes) = bytes.filter(|bytes| *bytes != 0) {
                self.blocks.push(NativeBlock {
                    kind,
                    object: session,
                    address: address.unwrap_or(0),
                    bytes,
                });
            }
        }
        Ok(())
    }

    fn jna(&mut self, objects: &[u32]) -> Result<(), GraphError> {
        for (object, contents) in self.heap.contents(objects, 0)? {
            let address = self.fields.value(&contents, JNA_POINTER, "peer");
            let bytes = self.fields.value(&contents, JNA_MEMORY, "size");
            // One that was freed has no address.
            if address != Some(0) {
                self.blocks.push(NativeBlock {
                    kind: NativeKind::Handle,
                    object,
                    address: address.unwrap_or(0),
                    bytes: bytes.unwrap_or(0),
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Input, Options, OwnerStart};
    use sample::Dump;

    const INT: u8 = 10;
    const LONG: u8 = 11;
    const REFERENCE: u8 = 2;

    /// Classes as in the JDK, as far as they matter here.
    fn jdk() -> Dump {
        let mut dump = Dump::new(8);
        let mut class = |id, name, above, fields: &[(&str, u8)]| {
            dump.class_of(id, name, (above, 0), fields, &[]);
        };
        let buffer = [("capacity", INT), ("address", LONG)];
        class(0x100, "java/nio/Buffer", Dump::OBJECT, &buffer);
        let file = [("fd", REFERENCE)];
        class(0x110, "java/nio/MappedByteBuffer", 0x100, &file);
        let view = [("att", REFERENCE)];
        class(0x120, "java/nio/DirectByteBuffer", 0x110, &view);
        class(0x130, "java/nio/DirectByteBufferR", 0x120, &[]);
        let stream = [("zsRef", REFERENCE)];
        class(0x140, "java/util/zip/Deflater", Dump::OBJECT, &stream);
        let state = [("address", LONG)];
        class(
            0x150,
            "java/util/zip/Deflater$DeflaterZStreamRef",
            Dump::OBJECT,
            &state,
        );
        dump
    }

    fn buffer(dump: &mut Dump, id: u64, (att, fd): (u64, u64), (bytes, address): (u64, u64)) {
        let values = [(8, att), (8, fd), (4, bytes), (8, address)];
        dump.instance_with(id, 0x120, &values);
        dump.root(id);
    }

    fn found(dump: Dump) -> Vec<(NativeKind, u64, u64)> {
        let input = Input::new(dump.file(false), &|_| {}).unwrap();
        let heap = Heap::read(input, Options::default()).unwrap();
        let memory = NativeMemory::find(&heap).unwrap();
        let of = |group: &NativeGroup| (group.kind, group.objects, group.bytes);
        memory.groups.iter().map(of).collect()
    }

    #[test]
    fn views_and_equal_addresses_count_once() {
        let mut dump = jdk();
        buffer(&mut dump, 0x1000_0000, (0, 0), (1000, 0x7000));
        // A slice, a second buffer for a part of the same memory, and an empty one.
        buffer(
            &mut dump,
            0x1000_0100,
            (0x1000_0000, 0),
            (500, 0x7000 + 500),
        );
        buffer(&mut dump, 0x1000_0200, (0, 0), (500, 0x7000));
        buffer(&mut dump, 0x1000_0300, (0, 0), (0, 0x9000));
        buffer(
            &mut dump,
            0x1000_0400,
            (0, Dump::THREAD),
            (1 << 20, 0x10_0000),
        );
        let expected = [
            (NativeKind::Mapped, 1, 1 << 20),
            (NativeKind::Direct, 1, 1000),
        ];
        assert_eq!(found(dump), expected);
    }

    #[test]
    fn what_has_no_address_in_a_dump_counts_by_itself() {
        let mut dump = jdk();
        buffer(&mut dump, 0x1000_0000, (0, 0), (1000, 0));
        buffer(&mut dump, 0x1000_0100, (0, 0), (500, 0));
        assert_eq!(found(dump), [(NativeKind::Direct, 2, 1500)]);
    }

    #[test]
    fn an_ended_stream_holds_nothing() {
        let mut dump = jdk();
        for (deflater, stream, address) in [(0x2000, 0x2100, 0x7f00), (0x2200, 0x2300, 0)] {
            dump.instance(deflater, 0x140, &[stream]);
            dump.instance_with(stream, 0x150, &[(8, address)]);
            dump.root(deflater);
        }
        let expected = [(NativeKind::Deflater, 1, DEFLATER_BYTES)];
        assert_eq!(found(dump), expected);
    }

    #[test]
    fn an_arena_counts_once_with_all_its_segments() {
        let mut dump = jdk();
        let mut class = |id, name, fields: &[(&str, u8)]| {
            let name = format!("jdk/internal/foreign/{name}");
            dump.class_of(id, &name, (Dump::OBJECT, 0), fields, &[]);
        };
        class(0x200, "MemorySessionImpl", &[("list", REFERENCE)]);
        let list = "MemorySessionImpl$ResourceList";
        class(0x210, list, &[("first", REFERENCE)]);
        let base = ("val$allocationBase", LONG);
        let cleanup = [("next", REFERENCE), base, ("val$allocationSize", LONG)];
        class(0x220, &format!("{list}$ResourceCleanup"), &cleanup);
        for arena in [0x6000, 0x7000] {
            dump.instance(arena, 0x200, &[arena + 0x10]);
            dump.instance(arena + 0x10, 0x210, &[arena + 0x20]);
            for (at, next) in [(0x20, arena + 0x30), (0x30, 0)] {
                let address = (arena + at) << 16;
                let values = [(8, next), (8, address), (8, 1000)];
                dump.instance_with(arena + at, 0x220, &values);
            }
            dump.root(arena);
        }
        assert_eq!(found(dump), [(NativeKind::Arena, 2, 4000)]);
    }

    #[test]
    fn unreachable_buffers_have_no_owner() {
        let mut dump = jdk();
        dump.instance_with(0x2000, 0x120, &[(8, 0), (8, 0), (4, 7), (8, 0)]);
        let input = Input::new(dump.file(false), &|_| {}).unwrap();
        let heap = Heap::read(input, Options::default()).unwrap();
        let memory = NativeMemory::find(&heap).unwrap();
        assert_eq!(memory.groups[0].owner.start, OwnerStart::Nothing);
        assert_eq!(memory.buffer_bytes(), 7);
    }
}
