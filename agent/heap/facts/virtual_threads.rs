//! Handles of virtual threads, which JVMTI does not list.
//!
//! The walk has tagged them. But HotSpot needs time proportional to tags × tagged objects to return objects by
//! their tags, and no thread can reach a safepoint for a collection meanwhile. So their class's instances are
//! tagged in a separate environment, where they are the only tagged objects.

use super::catalogue::Catalogue;
use crate::heap::error::{DumpError, For};
use crate::jvmti::capability::TAG_OBJECTS;
use crate::jvmti::env::Vm;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;
use std::time::{Duration, Instant};
use tables::Tables;

/// The class of virtual threads, JDK 21 and later.
pub(in crate::heap) const VIRTUAL_THREAD: &[u8] = b"Ljava/lang/VirtualThread;";

/// All virtual threads in the heap, including ended ones, and how long the application paused.
pub(in crate::heap) fn virtual_threads<'f>(
    vm: Vm,
    jni: &Jni<'f>,
    catalogue: &Catalogue<'f>,
    tables: &Tables,
) -> Result<(Vec<Object<'f>>, Duration), DumpError> {
    let Some(class) = catalogue.bootstrap_class(VIRTUAL_THREAD, tables) else {
        return Ok((Vec::new(), Duration::ZERO));
    };
    let env = vm.new_env().when("a JVMTI environment")?;
    let missing = env
        .take_capabilities(&[TAG_OBJECTS])
        .when("the capability to tag objects")?;
    if !missing.is_empty() {
        return Err(DumpError::Missing(TAG_OBJECTS.name));
    }
    let began = Instant::now();
    let found = env.instances_of(jni, class).when("the virtual threads")?;
    Ok((found, began.elapsed()))
}
