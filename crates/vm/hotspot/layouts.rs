//! Every structure of HotSpot's that the agent reads, by the names of vmStructs.cpp; those of ZGC
//! are in [`zgc`](super::zgc), as they have two prefixes.
//!
//! A row is a field of ours and what is looked up:
//!
//! - `offset(Type._field)`: the offset of a field. After `|` are the names of other versions; after
//!   a comma is a field of the structure that the first one embeds. `optional` may be missing.
//! - `place(Type._field)`: the same, of a field that says where a part is. It holds an address if
//!   its name ends with `_begin`, and otherwise a distance from the structure's start.
//! - `variable(Type._field)`: the address of a static field. `number`: the value of one of type
//!   int, if it is exported.
//! - `size(Type)`, `constant(NAME)`: the size of a type, the value of a constant.
//!
//! If a name is missing, so is the whole structure: the error is this name.

use super::place::Place;
use super::vm_structs::Table;

/// A name of a row.
macro_rules! name {
    ($token:tt) => {
        stringify!($token).trim_matches('"')
    };
}

/// What a row is looked up as.
macro_rules! of_kind {
    (optional) => { Option<u64> };
    (number) => { Option<u64> };
    (place) => { Place };
    (optional_place) => { Option<Place> };
    (constant) => { u32 };
    ($kind:ident) => { u64 };
}

/// The value of a row.
macro_rules! look_up {
    ($table:ident, offset, $($($type:tt.$field:tt)|+),+) => {
        [$(first(&[$((name!($type), name!($field))),+], |of, field| $table.offset(of, field))?),+]
            .iter()
            .sum()
    };
    ($table:ident, optional, $($fields:tt)+) => {
        (|| Ok::<u64, &str>(look_up!($table, offset, $($fields)+)))().ok()
    };
    ($table:ident, place, $($type:tt.$field:tt)|+) => {
        first(&[$((name!($type), name!($field))),+], |of, field| Place::find($table, of, field))?
    };
    ($table:ident, optional_place, $($fields:tt)+) => {
        (|| Ok::<Place, &str>(look_up!($table, place, $($fields)+)))().ok()
    };
    ($table:ident, variable, $($type:tt.$field:tt)|+) => {
        first(&[$((name!($type), name!($field))),+], |of, field| $table.static_address(of, field))?
    };
    ($table:ident, number, $type:tt.$field:tt) => {
        $table.static_int(name!($type), name!($field))
    };
    ($table:ident, size, $type:tt) => {
        Table::size_bytes(name!($type)).ok_or(name!($type))?
    };
    ($table:ident, constant, $name:tt) => {
        Table::constant(name!($name)).ok_or(name!($name))?
    };
}

/// The value of the first of these fields that this JVM exports.
fn first<T>(
    names: &[(&'static str, &'static str)],
    find: impl Fn(&str, &str) -> Option<T>,
) -> Result<T, &'static str> {
    let found = names.iter().find_map(|(of, field)| find(of, field));
    found.ok_or(names.first().map_or("", |(_, field)| field))
}

/// A struct of each block, and `find`, which looks all of it up.
macro_rules! layouts {
    ($($(#[$about:meta])* $layout:ident {
        $($(#[$note:meta])* $row:ident: $kind:ident($($names:tt)+),)+
    })+) => {$(
        $(#[$about])*
        #[allow(unreachable_pub)] // one is a part of a public type
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $layout {
            $($(#[$note])* pub(super) $row: of_kind!($kind),)+
        }

        impl $layout {
            /// Looks it up; the error names what this JVM does not export.
            pub(super) fn find() -> Result<Self, &'static str> {
                let table = Table::find().ok_or("gHotSpotVMStructs")?;
                Ok(Self { $($row: look_up!(table, $kind, $($names)+),)+ })
            }
        }
    )+};
}

layouts! {
    /// Methods: their class, their name, and where their bytecodes are (method.hpp,
    /// constMethod.hpp, constantPool.hpp, symbol.hpp).
    MethodLayout {
        flags: offset(Method._access_flags),
        constant_part: offset(Method._constMethod),
        constant_part_bytes: size(ConstMethod),
        code_bytes: offset(ConstMethod._code_size),
        name: offset(ConstMethod._name_index),
        signature: offset(ConstMethod._signature_index),
        pool: offset(ConstMethod._constants),
        pool_bytes: size(ConstantPool),
        class: offset(ConstantPool._pool_holder),
        text_length: offset(Symbol._length),
        text: offset(Symbol._body),
    }

    /// The cache of a constant pool.
    PoolCache {
        in_pool: offset(ConstantPool._cache),
    }
    /// Up to JDK 20: its entry of a call comes after its header.
    CacheEntries {
        header_bytes: size(ConstantPoolCache),
        bytes: size(ConstantPoolCacheEntry),
        index: offset(ConstantPoolCacheEntry._indices),
    }
    /// Its array of the calls of methods; since JDK 22.
    MethodEntries {
        in_cache: offset(ConstantPoolCache._resolved_method_entries),
        first: offset("Array<ResolvedMethodEntry>"._data | "Array<ResolvedMethodEntry>"."_data[0]"),
        bytes: size(ResolvedMethodEntry),
        index: offset(ResolvedMethodEntry._cpool_index),
    }
    /// Its array of dynamic calls; since JDK 21.
    DynamicEntries {
        in_cache: offset(ConstantPoolCache._resolved_indy_entries),
        first: offset("Array<ResolvedIndyEntry>"._data | "Array<ResolvedIndyEntry>"."_data[0]"),
        bytes: size(ResolvedIndyEntry),
        index: offset(ResolvedIndyEntry._cpool_index),
    }

    /// What the constants of a class were resolved to: in its pool up to JDK 8.
    ResolvedInPool {
        constants: offset(InstanceKlass._constants),
        references: offset(ConstantPool._resolved_references),
    }
    /// The same, since JDK 9.
    ResolvedInCache {
        constants: offset(InstanceKlass._constants),
        cache: offset(ConstantPool._cache),
        references: offset(ConstantPoolCache._resolved_references),
    }
    /// Sizes of objects, and the number of static references.
    ClassSizes {
        in_klass: optional(Klass._layout_helper),
        in_mirror: number(java_lang_Class._oop_size_offset),
        static_reference_count: number(java_lang_Class._static_oop_field_count_offset),
    }
    /// The fields of the class of stack chunks.
    ChunkClass {
        size_bytes: offset(Klass._layout_helper),
        fields: offset(InstanceKlass._fieldinfo_stream),
        bytes: offset("Array<u1>"._data),
    }

    /// Where a thread that runs native code names its last Java frame (javaFrameAnchor.hpp).
    AnchorLayout {
        in_thread: offset(JavaThread._anchor),
        in_call_wrapper: offset(JavaCallWrapper._anchor),
        stack_pointer: offset(JavaFrameAnchor._last_Java_sp),
        frame_pointer: offset(JavaFrameAnchor._last_Java_fp),
        pc: offset(JavaFrameAnchor._last_Java_pc),
    }
    /// The first of all threads, up to JDK 9 (thread.hpp).
    LinkedThreads {
        first: variable(Threads._thread_list),
        next: offset(JavaThread._next),
    }
    /// The list of all threads (threadSMR.hpp).
    ThreadArray {
        list: variable(ThreadsSMRSupport._java_thread_list),
        length: offset(ThreadsList._length),
        threads: offset(ThreadsList._threads),
    }
    /// The memory of a thread's stack.
    StackMemory {
        base: offset(JavaThread._stack_base),
        size: offset(JavaThread._stack_size),
    }
    /// The mounted virtual thread, or the thread itself; since JDK 19.
    MountedThread {
        handle: offset(JavaThread._vthread),
    }
    /// What threads hold.
    ThreadFields {
        pending_exception: optional(ThreadShadow._pending_exception),
        exception: optional(JavaThread._exception_oop),
        /// An exception that another thread has given it, up to JDK 17.
        given_exception: optional(JavaThread._pending_async_exception),
        result: optional(JavaThread._vm_result | JavaThread._vm_result_oop),
    }
    /// Since JDK 25, the result of HotSpot's own code is between these, beside pointers into other
    /// memory.
    AroundResult {
        before: offset(JavaThread._vframe_array_last),
        after: offset(JavaThread._current_pending_monitor),
    }
    /// Where a block of JNI's local references has them (jniHandles.hpp).
    LocalReferences {
        references: offset(JNIHandleBlock._handles),
        length: offset(JNIHandleBlock._top),
        next: offset(JNIHandleBlock._next),
        most: constant("JNIHandleBlock::block_size_in_oops"),
    }

    /// Code blobs and compiled methods. The handlers, to which HotSpot redirects returns into a
    /// deoptimized method, had four different names (since JDK 8, 9, 23 and 26). Up to 25 there was
    /// a second one, for calls of method handles.
    BlobLayout {
        block_header_size: size(HeapBlock),
        code: place(CodeBlob._code_begin | CodeBlob._code_offset),
        frame_complete: offset(CodeBlob._frame_complete_offset),
        name: offset(CodeBlob._name),
        frame_size_words: offset(CodeBlob._frame_size),
        deoptimization: optional_place(
            CompiledMethod._deopt_handler_begin | nmethod._deoptimize_offset
            | nmethod._deopt_handler_offset | nmethod._deopt_handler_entry_offset
        ),
        deoptimization_of_handles: optional_place(
            CompiledMethod._deopt_mh_handler_begin | nmethod._deoptimize_mh_offset
            | nmethod._deopt_mh_handler_offset
        ),
    }
    /// The code cache's only heap, up to JDK 8.
    OnlyCodeHeap {
        heap: variable(CodeCache._heap),
    }
    /// The heaps of the code cache.
    CodeHeaps {
        heaps: variable(CodeCache._heaps),
        data: offset("GrowableArray<int>"._data),
        length: offset(GrowableArrayBase._len | GenericGrowableArray._len),
    }
    /// A heap of code. Its blocks consist of segments.
    CodeHeapLayout {
        low: offset(CodeHeap._memory, VirtualSpace._low),
        high: offset(CodeHeap._memory, VirtualSpace._high),
        segment_map: offset(CodeHeap._segmap, VirtualSpace._low),
        log2_segment_size: offset(CodeHeap._log2_segment_size),
    }
    /// The interpreter's code, and the address to which code returns that native code has called.
    InterpreterCode {
        queue: variable(AbstractInterpreter._code),
        buffer: offset(StubQueue._stub_buffer),
        limit: offset(StubQueue._buffer_limit),
        call_stub_return: variable(StubRoutines._call_stub_return_address),
    }
    /// Frames by which native code calls Java (`java.lang.foreign`), where the JVM exports them:
    /// since JDK 25. The place of a frame's anchor, in bytes above the stack pointer, is what the
    /// blob's field has, and what to add.
    Upcalls {
        kind: offset(CodeBlob._kind),
        upcall: constant("CodeBlobKind::Upcall"),
        data: offset(UpcallStub._frame_data_offset),
        anchor: offset("UpcallStub::FrameData".jfa),
    }
    /// Where the original return address of a deoptimized frame is.
    OriginalPc {
        in_frame: offset(nmethod._orig_pc_offset),
    }
    /// Oop maps (oopMap.hpp).
    OopMapLayout {
        in_blob: offset(CodeBlob._oop_maps),
        set_bytes: size(ImmutableOopMapSet),
        set_count: offset(ImmutableOopMapSet._count),
        pair_bytes: size(ImmutableOopMapPair),
        pair_pc: offset(ImmutableOopMapPair._pc_offset),
        pair_map: offset(ImmutableOopMapPair._oopmap_offset),
        map_bytes: size(ImmutableOopMap),
        map_count: offset(ImmutableOopMap._count),
        bits: constant("OopMapValue::type_bits"),
        oop: constant("OopMapValue::oop_value"),
        narrow_oop: constant("OopMapValue::narrowoop_value"),
        saved: constant("OopMapValue::callee_saved_value"),
        derived: constant("OopMapValue::derived_oop_value"),
        /// HotSpot's table of the names of registers.
        register_names: variable(VMRegImpl."regName[0]"),
    }
    /// Descriptions of a place in compiled code (pcDesc.hpp), and the method itself.
    Descriptions {
        method: offset(nmethod._method | CompiledMethod._method),
        bytes: size(PcDesc),
        distance: offset(PcDesc._pc_offset),
        scope: offset(PcDesc._scope_decode_offset),
    }
    /// The parts of a compiled method's debug information up to JDK 22, in its own blob. The
    /// beginning of the scopes was a distance up to JDK 8, and an address from 9 on.
    SectionsWithin {
        metadata: place(nmethod._metadata_offset),
        descriptions: place(nmethod._scopes_pcs_offset),
        end: place(nmethod._dependencies_offset),
        scopes: place(nmethod._scopes_data_offset | CompiledMethod._scopes_data_begin),
    }
    /// The same since JDK 25, in two blocks outside of the code cache.
    SectionsOutside {
        mutable: offset(CodeBlob._mutable_data),
        /// The bytes before the metadata.
        relocations: offset(CodeBlob._relocation_size),
        immutable: offset(nmethod._immutable_data),
        descriptions: offset(nmethod._scopes_pcs_offset),
        scopes: offset(nmethod._scopes_data_offset),
    }

    /// The addresses that are reserved for the heap.
    Reserved {
        heap: variable(Universe._collectedHeap),
        start: offset(CollectedHeap._reserved, MemRegion._start),
        words: offset(CollectedHeap._reserved, MemRegion._word_size),
    }
    /// The card table.
    Cards {
        barrier_set: variable(BarrierSet._barrier_set),
        table: offset(CardTableBarrierSet._card_table),
        bytes: offset(CardTable._byte_map),
        length: offset(CardTable._byte_map_size),
    }
    /// Parts of a class that have memory of their own in metaspace.
    ClassParts {
        constants: optional(InstanceKlass._constants),
        methods: optional(InstanceKlass._methods),
    }
    /// G1's table of regions: where it is in the heap object, and its length.
    Regions {
        heap: variable(Universe._collectedHeap),
        table: offset(
            G1CollectedHeap._hrm, G1HeapRegionManager._regions | HeapRegionManager._regions
           , G1HeapRegionTable._base
        ),
        length: offset(
            G1CollectedHeap._hrm, G1HeapRegionManager._regions | HeapRegionManager._regions
           , G1HeapRegionTable._length
        ),
        bottom: offset(G1HeapRegion._bottom | HeapRegion._bottom | Space._bottom),
        end: offset(G1HeapRegion._end | HeapRegion._end | Space._end),
        /// From JDK 11 on.
        tag: optional(
            G1HeapRegion._type | HeapRegion._type, G1HeapRegionType._tag | HeapRegionType._tag
        ),
        /// Where the next object would go (not on 11). The tag or this is known.
        top: optional(G1HeapRegion._top | HeapRegion._top | G1OffsetTableContigSpace._top),
        grain_bytes: variable(G1HeapRegion.GrainBytes | HeapRegion.GrainBytes),
    }
    /// The generations of Parallel.
    ParallelGenerations {
        young: variable(ParallelScavengeHeap._young_gen),
        old: variable(ParallelScavengeHeap._old_gen),
    }
    /// Their spaces.
    ParallelSpaces {
        eden: offset(PSYoungGen._eden_space),
        from: offset(PSYoungGen._from_space),
        to: offset(PSYoungGen._to_space),
        old: offset(PSOldGen._object_space),
        bottom: offset(MutableSpace._bottom | ImmutableSpace._bottom),
        top: offset(MutableSpace._top | ImmutableSpace._top),
        end: offset(MutableSpace._end | ImmutableSpace._end),
    }
    /// The generations of Serial, from JDK 11 on.
    SerialGenerations {
        heap: variable(Universe._collectedHeap),
        young: offset(SerialHeap._young_gen | GenCollectedHeap._young_gen),
        old: offset(SerialHeap._old_gen | GenCollectedHeap._old_gen),
    }
    /// Their spaces.
    SerialSpaces {
        eden: offset(DefNewGeneration._eden_space),
        from: offset(DefNewGeneration._from_space),
        to: offset(DefNewGeneration._to_space),
        old: offset(TenuredGeneration._the_space),
        bottom: offset(ContiguousSpace._bottom | Space._bottom),
        top: offset(ContiguousSpace._top | Space._top),
        end: offset(ContiguousSpace._end | Space._end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_the_name_of_the_newest_version() {
        let names = [("nmethod", "_method"), ("CompiledMethod", "_old")];
        assert_eq!(first(&names, |of, _| (of != "nmethod").then_some(8)), Ok(8));
        assert_eq!(first(&names, |_, _| None::<u64>), Err("_method"));
        assert_eq!(MethodLayout::find(), Err("gHotSpotVMStructs"));
    }

    #[test]
    fn names_that_are_no_identifiers_are_in_quotes() {
        assert_eq!([name!(Symbol), name!("Array<u1>")], ["Symbol", "Array<u1>"]);
    }
}
