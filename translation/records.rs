//! Writes the class dumps and roots of HotSpot's file with our numbers.

use crate::rows::{LiveThread, Rows};
use crate::survey::Survey;
use crate::TranslateError;
use format::BasicType;
use reader::{ClassDump, Root, RootKind};
use std::collections::HashMap;
use tables::{ObjectId, StringId};
use writer::heap_record::{ClassDump as ClassRecord, RootRecord, StaticField, Value};
use writer::{Deliver, Segments};

/// Writes all class dumps; without `values`, fields of primitive types are zeros.
pub(crate) fn write_classes<D: Deliver>(
    survey: &Survey,
    rows: &Rows,
    values: bool,
    segments: &mut Segments<D>,
) -> Result<(), TranslateError> {
    for class in &survey.classes {
        write_class(class, rows, values, segments)?;
    }
    Ok(())
}

fn write_class<D: Deliver>(
    class: &ClassDump,
    rows: &Rows,
    values: bool,
    segments: &mut Segments<D>,
) -> Result<(), TranslateError> {
    let name = |id| rows.string(id).ok_or_else(without_name);
    let mut statics = Vec::with_capacity(class.statics.len());
    for field in &class.statics {
        let value = match values || field.kind == BasicType::Object {
            true => Value::of_bits(field.kind, field.value),
            false => Value::zero(field.kind),
        };
        statics.push(StaticField {
            name: name(field.name)?,
            value,
        });
    }
    let fields = class
        .fields
        .iter()
        .map(|field| Ok((name(field.name)?, field.kind)));
    let fields: Vec<(StringId, BasicType)> = fields.collect::<Result<_, TranslateError>>()?;
    let record = ClassRecord {
        class: object(class.class)?,
        super_class: ObjectId::new(class.super_class),
        loader: ObjectId::new(class.loader),
        signers: ObjectId::new(class.signers),
        protection_domain: ObjectId::new(class.protection_domain),
        instance_size_bytes: class.instance_bytes,
        statics: &statics,
        fields: &fields,
    };
    segments.record(|out| record.encode(out))?;
    Ok(())
}

/// Writes all roots, thread by thread: the thread object before everything else that the thread
/// holds, as readers need it.
pub(crate) fn write_roots<D: Deliver>(
    survey: &Survey,
    rows: &Rows,
    segments: &mut Segments<D>,
) -> Result<(), TranslateError> {
    let threads: HashMap<u32, LiveThread> = rows.threads.iter().copied().collect();
    let mut roots: Vec<(Option<LiveThread>, &Root)> = survey
        .roots
        .iter()
        .map(|root| (thread_of(root, &threads), root))
        .collect();
    roots.sort_by_key(|(thread, root)| {
        (
            thread.is_none(),
            thread.map(|thread| thread.id),
            rank(root.kind),
        )
    });
    for (thread, root) in roots {
        let record = record(root, thread, object(root.object)?);
        segments.record(|out| record.encode(out))?;
    }
    Ok(())
}

fn thread_of(root: &Root, threads: &HashMap<u32, LiveThread>) -> Option<LiveThread> {
    threads.get(&root.thread_serial?).copied()
}

fn rank(kind: RootKind) -> u8 {
    match kind {
        RootKind::ThreadObject => 0,
        RootKind::ThreadBlock => 1,
        RootKind::JavaFrame => 2,
        RootKind::JniLocal => 3,
        RootKind::MonitorUsed => 5,
        RootKind::StickyClass => 6,
        _ => 4,
    }
}

/// The record for a root. A root of a thread that is not in the file, or of a kind that some
/// readers refuse, becomes a JNI global.
fn record(root: &Root, thread: Option<LiveThread>, object: ObjectId) -> RootRecord {
    let global = RootRecord::JniGlobal(object, root.reference.unwrap_or(0));
    let frame = |thread: LiveThread| {
        root.frame_number
            .filter(|&frame| frame < thread.depth_frames)
    };
    match (root.kind, thread) {
        (RootKind::StickyClass, _) => RootRecord::StickyClass(object),
        (RootKind::MonitorUsed, _) => RootRecord::MonitorUsed(object),
        (RootKind::ThreadObject, Some(thread)) => {
            RootRecord::ThreadObject(object, thread.id, thread.trace)
        }
        (RootKind::ThreadBlock, Some(thread)) => RootRecord::ThreadBlock(object, thread.id),
        (RootKind::JavaFrame, Some(thread)) => {
            RootRecord::JavaFrame(object, thread.id, frame(thread))
        }
        (RootKind::JniLocal, Some(thread)) => {
            RootRecord::JniLocal(object, thread.id, frame(thread))
        }
        _ => global,
    }
}

/// An id that is not null.
pub(crate) fn object(id: u64) -> Result<ObjectId, TranslateError> {
    ObjectId::new(id).ok_or_else(|| TranslateError::unreadable("an object has the id 0"))
}

fn without_name() -> TranslateError {
    TranslateError::unreadable("a field has no name")
}
