//! The fields that lead to a virtual thread's frames, and the methods that these frames may belong
//! to. Read before the fork.

use crate::heap::error::{Again, DumpError};
use crate::heap::facts::catalogue::Catalogue;
use crate::heap::facts::plain_facts::field_offset;
use hotspot::{ChunkEnd, ChunkFields};
use jvm::method::MethodId;
use snapshot::walk::VirtualThreadFields;
use std::collections::HashSet;
use tables::ClassId;

/// The class of virtual threads, JDK 21 and later.
const VIRTUAL_THREAD: &[u8] = b"Ljava/lang/VirtualThread;";

/// The class of chunks of their frames, JDK 19 and later.
const STACK_CHUNK: &[u8] = b"Ljdk/internal/vm/StackChunk;";

/// Looks the fields up; `None` if there are no virtual threads.
pub(super) fn virtual_thread_fields(
    catalogue: &Catalogue<'_>,
) -> Result<Option<VirtualThreadFields>, DumpError> {
    let Some(class) = catalogue.bootstrap_class(VIRTUAL_THREAD) else {
        return Ok(None);
    };
    let in_use = catalogue.env.is_initialised(class).unwrap_or(true);
    let fields = look_up(in_use, catalogue);
    if fields.is_none() && in_use {
        let why = "its virtual threads have unknown fields";
        return Err(DumpError::Engine(why.to_owned()));
    }
    Ok(fields)
}

/// Looks the fields up again when no class can be linked any more. If the first virtual thread was
/// created in between, another attempt must read the methods that its frames may belong to.
pub(super) fn the_same_fields(
    before: Option<VirtualThreadFields>,
    catalogue: &Catalogue<'_>,
) -> Result<Option<VirtualThreadFields>, DumpError> {
    let fields = virtual_thread_fields(catalogue)?;
    let in_use = |fields: Option<VirtualThreadFields>| fields.is_some_and(|fields| fields.in_use);
    if in_use(fields) == in_use(before) {
        Ok(fields)
    } else {
        Err(Again::UnknownClass.into())
    }
}

/// `None` if a class is not linked yet, or lacks one of the fields.
fn look_up(in_use: bool, catalogue: &Catalogue<'_>) -> Option<VirtualThreadFields> {
    let field = |class: &[u8], name: &[u8]| field_offset(catalogue, class, name);
    Some(VirtualThreadFields {
        class: catalogue.bootstrap_class_id(VIRTUAL_THREAD)?,
        in_use,
        continuation: field(VIRTUAL_THREAD, b"cont")?,
        tail: field(b"Ljdk/internal/vm/Continuation;", b"tail")?,
        thread_id: field(b"Ljava/lang/Thread;", b"tid")?,
        parent: field(STACK_CHUNK, b"parent")?,
    })
}

/// The class of chunks of continuations' stacks; `None` if this JDK has none. Its fields are `None`
/// if they are unknown.
pub(super) fn stack_chunk_class(
    catalogue: &Catalogue<'_>,
) -> Option<(ClassId, Option<ChunkFields>)> {
    let class = catalogue.bootstrap_class_id(STACK_CHUNK)?;
    let field = |name: &[u8]| field_offset(catalogue, STACK_CHUNK, name);
    let bottom = || field(b"bottom").map(ChunkEnd::Bottom);
    let end = field(b"argsize").map(ChunkEnd::Arguments).or_else(bottom);
    let fields = || {
        Some(ChunkFields {
            size: field(b"size")?,
            stack_pointer: field(b"sp")?,
            end: end?,
        })
    };
    Some((class, fields()))
}

/// The ids of all methods, if virtual threads are in use. HotSpot reports their frames by id, and
/// the parent could not name an id created in the child. Takes a few bytes per method, once.
pub(super) fn method_ids(
    catalogue: &Catalogue<'_>,
    virtual_threads: Option<VirtualThreadFields>,
) -> HashSet<MethodId> {
    if !virtual_threads.is_some_and(|fields| fields.in_use) {
        return HashSet::new();
    }
    let classes = catalogue.ids();
    classes
        .filter_map(|class| catalogue.handle(class))
        // A class that is not linked has no frames, and an array has no methods.
        .flat_map(|class| catalogue.env.method_ids(class).unwrap_or_default())
        .collect()
}
