//! The threads that work on what is on a path, and the application's frames among theirs.

use graph::{Heap, Path};
use reader::{RootKind, StackFrame, Stacks};

use crate::output::folding::is_library;

/// The classes whose threads work through what they hold.
const WORKERS: [&str; 2] = ["java.lang.ref.Finalizer", "jdk.internal.ref.CleanerImpl"];

/// The first frame of the application, else the first.
pub(crate) fn own_frame<'f>(
    mut frames: impl Iterator<Item = &'f StackFrame> + Clone,
) -> Option<&'f StackFrame> {
    let own = frames.clone().find(|frame| !is_library(&frame.class));
    own.or_else(|| frames.next())
}

/// The first thread of which a frame holds an object on a path, but not the path's first; or that
/// works through what a finalizer or a cleaner on the path holds.
pub(crate) fn frame_on(heap: &Heap<'_>, stacks: &Stacks, path: &Path) -> Option<u32> {
    let is_on = |object: u32| {
        let mut steps = path.steps.iter().skip(1);
        steps.any(|step| step.object == object) && heap.class_of_object(object).is_none()
    };
    let worker = path.steps.iter().find_map(|step| {
        let class = heap.class_name(heap.class(step.object));
        WORKERS.into_iter().find(|worker| class == *worker)
    });
    let works = |thread: u32| {
        let Some(worker) = worker else { return false };
        let trace = heap.thread_trace(thread).unwrap_or_default();
        let mut frames = stacks.frames(trace);
        frames.any(|frame| *frame.class == *worker)
    };
    let mut threads = heap.threads().map(|(_, thread)| thread);
    threads.find(|thread| {
        let mut locals = heap.locals(*thread).iter();
        let holds = locals.any(|local| local.kind == RootKind::JavaFrame && is_on(local.object));
        holds || works(*thread)
    })
}

/// The objects on a path that are threads.
pub(crate) fn threads_on<'a>(heap: &'a Heap<'_>, path: &'a Path) -> impl Iterator<Item = u32> + 'a {
    let is_thread = |object: &u32| {
        let class = heap.class_name(heap.class(*object));
        class.starts_with("java.lang.") && class.ends_with("Thread")
    };
    path.steps.iter().map(|step| step.object).filter(is_thread)
}
