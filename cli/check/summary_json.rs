//! The summary of a dump as JSON.

use reader::{KindTotal, Summary, ThreadSummary};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{json, Map, Value};

use crate::answer::sizes_by::SizesBy;
use crate::frame;
use crate::json::List;

/// Adds all of it, numbers as numbers.
pub(super) fn entries<M: SerializeMap>(summary: &Summary, map: &mut M) -> Result<(), M::Error> {
    let header = &summary.header;
    let classes = || summary.classes.iter();
    let dumped = classes()
        .filter(|class| class.dump_offset.is_some())
        .count();
    let loaded = classes().filter(|class| class.serial.is_some()).count();
    let threads = summary.threads.iter();
    map.serialize_entry("bytes", &summary.bytes)?;
    map.serialize_entry("classes", &dumped)?;
    map.serialize_entry("damaged", &summary.damaged)?;
    map.serialize_entry("heap_records", &kinds(summary.heap_records.iter()))?;
    let heaps = summary.heaps.iter().map(|(name, total)| {
        let name = summary.strings.text(*name);
        json!({ "bytes": total.bytes, "name": name, "objects": total.count })
    });
    map.serialize_entry("heaps", &List(heaps))?;
    map.serialize_entry("id_bytes", &header.id_bytes)?;
    map.serialize_entry("jvm", &summary.strings.facts().all_words())?;
    map.serialize_entry("loaded_classes", &loaded)?;
    map.serialize_entry("loaders", &summary.loaders)?;
    map.serialize_entry("object_bytes", &summary.object_bytes)?;
    map.serialize_entry("objects", &summary.objects)?;
    map.serialize_entry("records", &kinds(summary.records.iter()))?;
    let roots = summary
        .roots
        .iter()
        .map(|(kind, total)| (kind.name(), total));
    map.serialize_entry("roots", &in_words(roots))?;
    map.serialize_entry("sizes", &SizesBy::from(summary.sizes))?;
    map.serialize_entry("strings", &summary.strings.len())?;
    let threads = threads.map(|thread| ThreadInJson { summary, thread });
    map.serialize_entry("threads", &List(threads))?;
    map.serialize_entry("time_millis", &header.time_millis)?;
    map.serialize_entry("version", header.version.number())?;
    Ok(())
}

fn kinds<'k>(kinds: impl Iterator<Item = (&'k &'static str, &'k KindTotal)>) -> Value {
    in_words(kinds.map(|(name, total)| (*name, total)))
}

fn in_words<'k>(kinds: impl Iterator<Item = (&'static str, &'k KindTotal)>) -> Value {
    let entries = kinds.map(|(name, total)| {
        let value = json!({ "count": total.count, "bytes": total.bytes });
        (name.to_owned(), value)
    });
    Value::Object(entries.collect::<Map<_, _>>())
}

#[derive(Debug)]
struct ThreadInJson<'s> {
    summary: &'s Summary,
    thread: &'s ThreadSummary,
}

impl Serialize for ThreadInJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let thread = self.thread;
        let frames = self.summary.stacks.frames(thread.trace);
        let mut map = to.serialize_map(Some(4))?;
        map.serialize_entry("frames", &frame::in_json(frames))?;
        map.serialize_entry("name", &thread.name.as_deref())?;
        map.serialize_entry("object", &thread.object)?;
        map.serialize_entry("serial", &thread.serial)?;
        map.end()
    }
}
