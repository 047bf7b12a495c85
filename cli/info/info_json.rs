//! The summary of a dump as JSON.

use reader::{KindTotal, Summary, ThreadSummary};
use serde_json::{json, Map, Value};

use crate::frame;

/// Everything that `hprof info` prints, numbers as numbers.
pub(super) fn in_json(summary: &Summary) -> Value {
    let header = &summary.header;
    let dumped = summary
        .classes
        .iter()
        .filter(|class| class.dump_offset.is_some());
    let loaded = summary
        .classes
        .iter()
        .filter(|class| class.serial.is_some());
    json!({
        "version": header.version.number(),
        "time_millis": header.time_millis,
        "id_bytes": header.id_bytes,
        "bytes": summary.bytes,
        "objects": summary.objects,
        "object_bytes": summary.object_bytes,
        "classes": dumped.count(),
        "loaded_classes": loaded.count(),
        "loaders": summary.loaders,
        "strings": summary.strings.len(),
        "records": kinds(summary.records.iter().map(|(name, total)| (*name, *total))),
        "heap_records": kinds(summary.heap_records.iter().map(|(name, total)| (*name, *total))),
        "roots": kinds(summary.roots.iter().map(|(kind, total)| (kind.name(), *total))),
        "threads": summary.threads.iter().map(thread).collect::<Vec<_>>(),
        "damaged": summary.damaged,
    })
}

fn kinds(kinds: impl Iterator<Item = (&'static str, KindTotal)>) -> Value {
    let entries = kinds.map(|(name, total)| {
        let value = json!({ "count": total.count, "bytes": total.bytes });
        (name.to_owned(), value)
    });
    Value::Object(entries.collect::<Map<_, _>>())
}

fn thread(thread: &ThreadSummary) -> Value {
    let frames = thread.frames.iter().map(frame::in_json);
    json!({
        "serial": thread.serial,
        "object": thread.object,
        "name": thread.name,
        "frames": frames.collect::<Vec<_>>(),
    })
}
