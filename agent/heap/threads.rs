//! Threads: from captured stacks and the walk's notes to rows of thread and trace.

use super::catalogue::Catalogue;
use super::error::{DumpError, For};
use super::methods::Methods;
use super::roots::ThreadNote;
use super::stacks::agree;
use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;
use crate::jvmti::stack::{StackFrame, ThreadStack};
use std::collections::HashMap;
use tables::{ObjectTable, Tables, ThreadId, ThreadRow, Trace, TraceId};

/// Frames asked of all threads at once; HotSpot reserves room for as many for each thread.
const USUAL_DEPTH_FRAMES: i32 = 512;
/// Frames asked of a thread that has more.
const GREATEST_DEPTH_FRAMES: usize = 1 << 16;

/// The threads' stacks, shortly before the walk.
#[derive(Debug)]
pub(super) struct CapturedStacks<'f> {
    env: Env,
    jni: Jni<'f>,
    stacks: Vec<ThreadStack<'f>>,
}

impl<'f> CapturedStacks<'f> {
    /// Captures the stacks of all platform threads: one short safepoint, and one more step for each deep stack.
    pub(super) fn take(env: Env, jni: Jni<'f>) -> Result<Self, DumpError> {
        let mut stacks = env
            .all_stacks(jni, USUAL_DEPTH_FRAMES)
            .when("the stacks of threads")?;
        for stack in &mut stacks {
            if i32::try_from(stack.frames.len()).is_ok_and(|depth| depth >= USUAL_DEPTH_FRAMES) {
                // A thread that has ended since keeps what was captured.
                if let Ok(frames) = env.stack(stack.thread, GREATEST_DEPTH_FRAMES) {
                    stack.frames = frames;
                }
            }
        }
        Ok(Self { env, jni, stacks })
    }

    /// Fills `tables.threads` and `tables.traces` for the threads that the walk met; their ids in that order.
    ///
    /// A thread that was not captured (virtual, or started since) is found by its tag. `depth_frames` cuts stacks.
    pub(super) fn fill(
        self,
        notes: &[ThreadNote],
        depth_frames: Option<u32>,
        methods: &mut Methods<'f>,
        catalogue: &mut Catalogue<'f>,
        tables: &Tables,
        objects: &mut ObjectTable,
    ) -> Result<Vec<(ThreadId, TraceId)>, DumpError> {
        let by_tag = self.by_tag(notes)?;
        let mut ids = Vec::with_capacity(notes.len());
        for note in notes {
            let (thread, captured) = match by_tag.get(&note.object.tag()) {
                Some((thread, frames)) => (Some(*thread), frames.as_slice()),
                None => (None, &[][..]),
            };
            let mut stack = agree(captured, &note.frames);
            stack.truncate(depth_frames.map_or(usize::MAX, |depth| depth as usize));
            let mut frames = Vec::with_capacity(stack.len());
            for frame in stack {
                frames.push(methods.frame(frame, catalogue, tables, objects)?);
            }
            // A thread that is gone by now has no name to tell.
            let names = thread
                .and_then(|thread| self.env.thread_names(thread).ok())
                .unwrap_or_default();
            let row = ThreadRow {
                object: note.object,
                name: tables.strings.intern(&names.name),
                group: tables.strings.intern(&names.group),
                parent_group: tables.strings.intern(&names.parent_group),
                trace: TraceId::EMPTY,
            };
            let id = tables.threads.add(row.clone());
            let trace = tables.traces.intern(Trace {
                thread: Some(id),
                frames,
            });
            tables.threads.replace(id, ThreadRow { trace, ..row });
            ids.push((id, trace));
        }
        Ok(ids)
    }

    /// Each noted thread's handle and frames by its tag.
    fn by_tag(
        &self,
        notes: &[ThreadNote],
    ) -> Result<HashMap<i64, (Object<'f>, Vec<StackFrame>)>, DumpError> {
        let mut by_tag = HashMap::new();
        for stack in &self.stacks {
            let tag = self.env.tag(stack.thread).when("the tag of a thread")?;
            by_tag.insert(tag, (stack.thread, stack.frames.clone()));
        }
        let missing: Vec<i64> = notes
            .iter()
            .map(|note| note.object.tag())
            .filter(|tag| !by_tag.contains_key(tag))
            .collect();
        if missing.is_empty() {
            return Ok(by_tag);
        }
        for (thread, tag) in self
            .env
            .objects_with_tags(self.jni, &missing)
            .when("the threads that were met")?
        {
            // A virtual thread's stack as it is now; the walk's frames correct it. An ended thread has none.
            let frames = self
                .env
                .stack(thread, GREATEST_DEPTH_FRAMES)
                .unwrap_or_default();
            by_tag.insert(tag, (thread, frames));
        }
        Ok(by_tag)
    }
}
