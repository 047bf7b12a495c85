//! A dump by HotSpot's own dumper, from the JVM's side: HotSpot dumps, and its file goes where the
//! dump goes.

use super::dump_name::DumpName;
use super::raw_copy::copy;
use super::watch::watched;
use crate::copied::{self, Step};
use crate::heap::cause;
use crate::heap::error::{Context, DumpError};
use crate::heap::facts::jvm_words::jvm_words;
use crate::heap::facts::memory_reserve;
use crate::heap::object_sizes;
use crate::heap::outcome::Outcome;
use crate::heap::request::Request;
use crate::heap::stop_bound::{dumper_estimate, StopBound};
use crate::order::Order;
use format::JvmFacts;
use hotspot::{stopped_by, Management};
use jvm::env::Env;
use jvm::heap_room;
use jvm::jni::Jni;
use jvm::os::owner;
use tables::Tables;
use writer::DumpFile;

/// Makes the dump.
pub(in crate::heap) fn dump_by_hotspot(
    request: Request<'_>,
    env: &Env,
    jni: &Jni<'_>,
    file: DumpFile,
) -> Result<Outcome, DumpError> {
    let (order, profiled) = (request.order, request.profiled);
    let management = Management::find(jni).map_err(DumpError::Engine)?;
    let name = DumpName::beside(request.outlet, env, jni)?;
    check(&name, order, env, jni)?;
    // Not all of the time is a pause: HotSpot since 22 joins the pieces of its file when the
    // application runs again.
    let dump = || {
        watched(
            || name.raw.bytes(),
            order.options.verbose,
            || management.dump_heap(jni, &name.string),
        )
    };
    let (dumped, pause) = memory_reserve::without(env, jni, || stopped_by(env, jni, dump));
    copied::tell(Step::Copied);
    dumped.map_err(DumpError::Dumper)?;
    let tables = Tables::default();
    cause::tell(order.because, &tables);
    // The sizes of single classes are not known here.
    let facts = JvmFacts {
        sizes: object_sizes::measure(env, jni),
        words: jvm_words(env, order.options, "hotspot", pause),
        ..JvmFacts::default()
    };
    for text in facts.texts() {
        tables.strings.intern(text.as_bytes());
    }
    let lacks = match (profiled.allocations, profiled.cpu) {
        (Some(_), Some(_)) => "; without allocation stacks and CPU samples",
        (Some(_), None) => "; without allocation stacks",
        (None, Some(_)) => "; without CPU samples",
        (None, None) => "",
    };
    let mut raw = name.raw.open(owner::check)?;
    let written = copy(&mut raw, &tables.strings, file)?;
    Ok(Outcome {
        engine: "hotspot".to_owned(),
        path: written.path,
        bytes: written.bytes,
        counts: None,
        lacks: lacks.to_owned(),
        pause,
    })
}

/// An error if the stop may be too long, or if HotSpot's file may not fit the disk; ours takes the
/// place of what was read of it.
fn check(
    name: &DumpName<'_>,
    order: &Order<'_>,
    env: &Env,
    jni: &Jni<'_>,
) -> Result<(), DumpError> {
    let loaded = env
        .loaded_classes(jni)
        .context("the list of loaded classes")?;
    let used = heap_room::used_bytes(env, jni, &loaded);
    loaded.into_iter().for_each(|class| jni.forget(class));
    StopBound(order.max_pause()).allow_dumper(used.map(dumper_estimate))?;
    let free = name.raw.free_bytes();
    match (
        used,
        free.map(|free| free.saturating_sub(order.options.min_free_bytes)),
    ) {
        (Some(needed_bytes), Some(free_bytes)) if free_bytes < needed_bytes => {
            Err(DumpError::SmallDisk {
                path: name.raw.path().to_owned(),
                needed_bytes,
                free_bytes,
            })
        }
        _ => Ok(()),
    }
}
