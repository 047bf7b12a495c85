//! Threads: turns captured stacks and the walk's notes into rows of threads and traces.

use super::catalogue::Catalogue;
use super::methods::Methods;
use super::roots::ThreadNote;
use super::stack_room::StackRoom;
use super::stacks::{stack_of, ReadStack};
use crate::heap::error::{Context, DumpError};
use hotspot::escape_barrier::{Barrier, LongBarrier};
use hotspot::stopped_by;
use jvm::env::Env;
use jvm::error::JvmtiError;
use jvm::java_version::java_version;
use jvm::jni::Jni;
use jvm::method::MethodId;
use jvm::object::{Handle, Object};
use jvm::stack::StackFrame;
use jvm::thread::ThreadNames;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tables::{ObjectIndex, ThreadId, ThreadRow, Trace, TraceId};

/// Frames requested for each of several threads at once. HotSpot reserves memory for that many per
/// thread.
const USUAL_DEPTH_FRAMES: i32 = 512;
/// Threads whose stacks are requested at once. The application pauses for each request, 0.2 us a
/// frame.
const THREADS_AT_A_TIME: usize = 128;

/// A thread and its stack shortly before the walk.
#[derive(Debug)]
struct Captured<'f> {
    thread: Object<'f>,
    frames: Vec<StackFrame>,
}

/// The stacks of all threads, shortly before the walk.
#[derive(Debug)]
pub(in crate::heap) struct CapturedStacks<'f> {
    env: &'f Env,
    jni: &'f Jni<'f>,
    stacks: Vec<Captured<'f>>,
    /// Longest time that the application paused for them.
    pause: Duration,
    /// The barrier that the walk must do without; `None` if it need not.
    pub(in crate::heap) long_barrier: Option<LongBarrier>,
    _room: StackRoom,
}

/// The threads' rows.
#[derive(Debug)]
pub(in crate::heap) struct ThreadRows {
    /// Thread and trace of each thread that the walk reported, in its order.
    pub(in crate::heap) ids: Vec<(ThreadId, TraceId)>,
    /// For each thread that the walk reported, the depths of its reported frames that belong to
    /// Java methods.
    pub(in crate::heap) java_frames: Vec<Vec<u32>>,
    /// Longest time that the application paused for capturing stacks and finding virtual threads.
    pub(in crate::heap) pause: Duration,
}

impl<'f> CapturedStacks<'f> {
    /// Tags all platform threads, so that the walk can tell which thread a frame belongs to, and
    /// captures their stacks. That takes one short safepoint for each group of threads, and one
    /// more request for each deep stack. `barrier` tells whether HotSpot looks at all frames before
    /// its walk over the heap. If it does, finds that this may take longer than `max_pause`, or
    /// that the application would lack the memory.
    pub(in crate::heap) fn take(
        env: &'f Env,
        jni: &'f Jni<'f>,
        catalogue: &Catalogue<'_>,
        max_pause: Option<Duration>,
        barrier: Barrier,
    ) -> Result<Self, DumpError> {
        let threads = env.live_threads(jni).context("the list of threads")?;
        for thread in &threads {
            catalogue.tagged(thread, "the tag of a thread")?;
        }
        let (stacks, pause) = capture(env, jni, threads)?;
        let frames = stacks.iter().map(|captured| captured.frames.len()).sum();
        let java = java_version(env);
        let long_barrier = match barrier {
            Barrier::IfShort => LongBarrier::of(java, frames, max_pause),
            Barrier::Never | Barrier::Always => None,
        };
        let is_left_out = barrier == Barrier::Never || long_barrier.is_some();
        let room = StackRoom::check(java, if is_left_out { 0 } else { frames })?;
        Ok(Self {
            env,
            jni,
            stacks,
            pause,
            long_barrier,
            _room: room,
        })
    }

    /// The captured threads, which were tagged before, with their handles.
    pub(in crate::heap) fn pinned(&self) -> Result<Vec<(ObjectIndex, Handle)>, DumpError> {
        let mut pinned = Vec::with_capacity(self.stacks.len());
        for captured in &self.stacks {
            let tag = self
                .env
                .tag(&captured.thread)
                .context("the tag of a thread")?;
            pinned
                .extend(ObjectIndex::from_tag(tag).map(|index| (index, captured.thread.handle())));
        }
        Ok(pinned)
    }

    /// All methods on the stacks. Their ids are valid.
    pub(in crate::heap) fn methods(&self) -> HashSet<MethodId> {
        let frames = self.stacks.iter().flat_map(|captured| &captured.frames);
        frames.map(|frame| frame.method).collect()
    }

    /// Fills `tables.threads` and `tables.traces` for the threads that the walk reported.
    ///
    /// Each comes with its stack, if the copy has read it. Other threads that were not captured,
    /// virtual ones and those started since, get the frames that the walk saw. The walk's frames
    /// correct the captured stacks. `depth_frames` cuts stacks.
    pub(in crate::heap) fn fill(
        self,
        notes: Vec<(ThreadNote, Option<ReadStack>)>,
        depth_frames: Option<u32>,
        methods: &mut Methods,
        catalogue: &mut Catalogue<'_>,
    ) -> Result<ThreadRows, DumpError> {
        let (env, jni, tables) = (self.env, self.jni, catalogue.tables);
        let (by_tag, pause) = self.by_tag()?;
        let mut ids = Vec::with_capacity(notes.len());
        let mut java_frames = Vec::with_capacity(notes.len());
        for (note, read) in notes {
            let mut depths = Vec::new();
            for (&depth, &(method, _)) in &note.frames {
                if methods.is_java(method, catalogue)? {
                    depths.push(depth);
                }
            }
            java_frames.push(depths);
            let found = by_tag.get(&note.object.tag());
            let captured = found.map_or(&[][..], |found| found.frames.as_slice());
            let mut stack = stack_of(captured, &note.frames, read);
            stack.truncate(depth_frames.map_or(usize::MAX, |depth| depth as usize));
            let mut frames = Vec::with_capacity(stack.len());
            for frame in stack {
                frames.push(methods.frame(frame, catalogue)?);
            }
            // JVMTI has no name for an ended thread, but the heap may.
            let names = found
                .and_then(|found| env.thread_names(jni, &found.thread).ok())
                .unwrap_or_else(|| ThreadNames {
                    name: note.name.clone(),
                    ..ThreadNames::default()
                });
            let row = ThreadRow {
                object: note.object,
                name: tables.strings.intern(&names.name),
                group: tables.strings.intern(&names.group),
                parent_group: tables.strings.intern(&names.parent_group),
                trace: TraceId::EMPTY,
            };
            let id = tables.threads.add(row.clone());
            let trace = tables.traces.intern(&Trace {
                thread: Some(id),
                frames,
            });
            tables.threads.replace(id, ThreadRow { trace, ..row });
            ids.push((id, trace));
        }
        Ok(ThreadRows {
            ids,
            java_frames,
            pause,
        })
    }

    /// Each thread's handle and frames by tag, and how long the application paused for it.
    fn by_tag(self) -> Result<(HashMap<i64, Captured<'f>>, Duration), DumpError> {
        let mut by_tag = HashMap::new();
        for captured in self.stacks {
            let tag = self
                .env
                .tag(&captured.thread)
                .context("the tag of a thread")?;
            by_tag.insert(tag, captured);
        }
        Ok((by_tag, self.pause))
    }
}

/// Captures the stacks of these threads. Also returns the longest time that the application paused
/// for it.
fn capture<'f>(
    env: &Env,
    jni: &Jni<'_>,
    threads: Vec<Object<'f>>,
) -> Result<(Vec<Captured<'f>>, Duration), DumpError> {
    let (stacks, pause) = stopped_by(env, jni, || cut_stacks(env, threads));
    let mut stacks = stacks?;
    for captured in &mut stacks {
        let depth_frames = i32::try_from(captured.frames.len()).unwrap_or(i32::MAX);
        let is_cut = depth_frames >= USUAL_DEPTH_FRAMES;
        // A thread that has ended since keeps the captured frames.
        if let Some(whole) = is_cut.then(|| env.stack(&captured.thread).ok()).flatten() {
            captured.frames = whole;
        }
    }
    Ok((stacks, pause))
}

/// Captures the stacks of these threads, up to the usual depth.
fn cut_stacks<'f>(env: &Env, mut threads: Vec<Object<'f>>) -> Result<Vec<Captured<'f>>, DumpError> {
    let mut stacks = Vec::with_capacity(threads.len());
    while !threads.is_empty() {
        let some = threads.split_off(threads.len().saturating_sub(THREADS_AT_A_TIME));
        let mut frames = match env.stacks_of(&some, USUAL_DEPTH_FRAMES) {
            // JVMTI returns this for a single ended thread; among several threads it has an empty
            // stack.
            Err(JvmtiError::THREAD_NOT_ALIVE) => Vec::new(),
            frames => frames.context("the stacks of threads")?,
        };
        frames.resize(some.len(), Vec::new());
        let captured = some.into_iter().zip(frames);
        stacks.extend(captured.map(|(thread, frames)| Captured { thread, frames }));
    }
    Ok(stacks)
}
