//! Stack traces of the session: turns the JVM's frames into rows that outlive their classes.

use crate::method_facts::{MethodFacts, UNKNOWN_SOURCE};
use crate::profile::threads::Threads;
use format::ClassName;
use jvm::env::Env;
use jvm::jni::Jni;
use jvm::method::MethodId;
use jvm::object::Object;
use jvm::stack::StackFrame;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::iter::repeat;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use tables::{
    profile, ClassId, ClassRow, Frame, FrameId, Line, StringId, Tables, ThreadId, Trace, TraceId,
};

/// Most methods and frames that are cached by the JVM's ids. A class that is loaded again gets new
/// ids for the same names, so their number is unbounded; methods that occur again are looked up
/// again.
const MOST_KNOWN: usize = 1 << 17;

/// Most bytes that stacks, and the classes and frames in them, may take in a session, by an
/// estimate. What comes beyond counts for one stack, or for one class.
const MOST_BYTES: usize = 64 << 20;
/// A trace beside its frames: its row and its place in three maps, and what profiles keep for it.
const TRACE_BYTES: usize = 400;
/// A frame of a trace: its number, and the JVM's.
const TRACE_FRAME_BYTES: usize = size_of::<FrameId>() + size_of::<StackFrame>();
/// A frame or a class with its names.
const NAMES_BYTES: usize = 400;
/// The method on top of the stack that stands for those beyond the limit, and the class for such
/// classes.
const OTHER_STACKS: &[u8] = b"<other stacks>";
const OTHER_CLASSES: &[u8] = b"L<other classes>;";

/// The traces of a session, and the tables that contain them.
///
/// Here a class is identified by its name, as in text reports. Locks are held only for lookups,
/// never across a call of the JVM.
#[derive(Debug)]
pub(crate) struct StackTraces {
    depth_frames: AtomicUsize,
    line_numbers: bool,
    by_thread: bool,
    /// The threads to which traces may refer.
    pub(crate) threads: Threads,
    /// The tables: strings, classes by name, frames, traces.
    pub(crate) tables: Tables,
    known: Mutex<Known>,
    /// Most bytes of the tables, and how many there are, by an estimate.
    most_bytes: usize,
    bytes: AtomicUsize,
    /// The stack that stands for those beyond the limit.
    other: TraceId,
}

#[derive(Debug, Default)]
struct Known {
    classes: FxHashMap<StringId, ClassId>,
    methods: FxHashMap<MethodId, Option<Arc<Method>>>,
    frames: FxHashMap<StackFrame, FrameId>,
    stacks: FxHashMap<TraceId, Arc<[StackFrame]>>,
    /// Bytecode index of a constructor's `super(…)` or `this(…)` call, by class and descriptor.
    initializing_calls: FxHashMap<(ClassId, StringId), u16>,
}

/// A constructor on a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunningConstructor {
    /// Its class.
    pub(crate) class: ClassId,
    /// Whether it is executing its `super(…)` or `this(…)` call, so that the frames above it work
    /// on the same object. Also true if that is unknown.
    pub(crate) initializes: bool,
}

/// A frame of a trace with its names, which outlive its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedFrame {
    /// Signature of the class.
    pub(crate) class: Arc<[u8]>,
    /// The method's name.
    pub(crate) method: Arc<[u8]>,
    /// Its descriptor.
    pub(crate) signature: Arc<[u8]>,
    /// The source file's name.
    pub(crate) source: Arc<[u8]>,
    /// The line.
    pub(crate) line: Line,
    /// The method, to look up its class in the JVM; `None` if there is none.
    pub(crate) id: Option<MethodId>,
}

impl NamedFrame {
    /// The method, as reports name it.
    pub(crate) fn named_method(&self) -> profile::Method<'_> {
        profile::Method {
            class: ClassName::from_signature(&self.class),
            name: &self.method,
        }
    }
}

#[derive(Debug)]
struct Method {
    class: ClassId,
    facts: MethodFacts,
}

impl StackTraces {
    /// No traces yet. They will have at most `depth_frames` frames; `by_thread` gives each thread
    /// separate traces.
    pub(crate) fn new(depth_frames: usize, line_numbers: bool, by_thread: bool) -> Self {
        Self::within(MOST_BYTES, depth_frames, line_numbers, by_thread)
    }

    fn within(most_bytes: usize, depth_frames: usize, line_numbers: bool, by_thread: bool) -> Self {
        let mut traces = Self {
            depth_frames: AtomicUsize::new(depth_frames),
            line_numbers,
            by_thread,
            threads: Threads::new(by_thread),
            tables: Tables::default(),
            known: Mutex::default(),
            most_bytes: usize::MAX,
            bytes: AtomicUsize::new(0),
            other: TraceId::EMPTY,
        };
        let frame = traces.nameless_frame(OTHER_STACKS);
        traces.other = traces.tables.traces.intern(&Trace {
            thread: None,
            frames: vec![frame],
        });
        traces.class(OTHER_CLASSES);
        traces.most_bytes = most_bytes;
        traces
    }

    /// Whether the limit is reached.
    fn is_full(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) >= self.most_bytes
    }

    fn take_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The row of a trace; beyond the limit that of all other stacks.
    pub(crate) fn row(&self, trace: Trace) -> TraceId {
        if self.is_full() {
            return self.tables.traces.find(&trace).unwrap_or(self.other);
        }
        let (before, frames) = (self.tables.traces.len(), trace.frames.len());
        let row = self.tables.traces.intern(&trace);
        // Of two threads that add traces at once, both may count both: the limit is an estimate.
        if self.tables.traces.len() > before {
            self.take_bytes(TRACE_BYTES + frames * TRACE_FRAME_BYTES);
        }
        row
    }

    /// A frame of no method, with this text as the method's name.
    fn nameless_frame(&self, text: &[u8]) -> FrameId {
        let strings = &self.tables.strings;
        self.tables.frames.intern(&Frame {
            class: self.class(b"Ljava/lang/Object;"),
            method: strings.intern(text),
            signature: strings.intern(b"()V"),
            source: strings.intern(UNKNOWN_SOURCE),
            line: Line::Unknown,
        })
    }

    /// Most frames of a trace.
    pub(crate) fn depth_frames(&self) -> usize {
        self.depth_frames.load(Ordering::Relaxed)
    }

    /// Sets it for future traces.
    pub(crate) fn set_depth(&self, frames: usize) {
        self.depth_frames.store(frames, Ordering::Relaxed);
    }

    /// The thread for its separate traces; `None` if threads share traces.
    pub(crate) fn owner(&self, env: &Env, jni: &Jni<'_>, thread: &Object<'_>) -> Option<ThreadId> {
        self.by_thread
            .then(|| self.threads.number(env, jni, thread))
            .flatten()
    }

    /// The row of the class with this signature; beyond the limit that of all other classes.
    pub(crate) fn class(&self, signature: &[u8]) -> ClassId {
        if self.is_full() {
            let known = self.known_class(signature);
            let known = known.or_else(|| self.known_class(OTHER_CLASSES));
            if let Some(known) = known {
                return known;
            }
        }
        let id = self.tables.strings.intern(signature);
        let name = ClassName::from_signature(signature).to_dump();
        *self.known.lock().classes.entry(id).or_insert_with(|| {
            self.take_bytes(NAMES_BYTES);
            self.tables.classes.add(ClassRow {
                signature: id,
                name: self.tables.strings.intern(&name),
                loader: None,
                super_class: None,
                fields: None,
            })
        })
    }

    fn known_class(&self, signature: &[u8]) -> Option<ClassId> {
        let id = self.tables.strings.find(signature)?;
        self.known.lock().classes.get(&id).copied()
    }

    /// The name of a source file as frames store it.
    pub(crate) fn source(&self, name: Option<&[u8]>) -> StringId {
        self.tables.strings.intern(name.unwrap_or(UNKNOWN_SOURCE))
    }

    /// The row of an object's class; `None` if the JVM does not report it.
    pub(crate) fn class_of(
        &self,
        env: &Env,
        jni: &Jni<'_>,
        object: &Object<'_>,
    ) -> Option<ClassId> {
        let class = jni.class_of(object)?;
        let signature = env.class_signature(&class);
        jni.forget(class);
        Some(self.class(&signature.ok()?))
    }

    /// The signature of a class's row.
    pub(crate) fn signature(&self, class: ClassId) -> Arc<[u8]> {
        let row = self.tables.classes.get(class);
        let signature = row.and_then(|row| self.tables.strings.get(row.signature));
        signature.unwrap_or_default()
    }

    /// The row of the calling thread's stack, separate for `owner` if there is one. `None` if the
    /// JVM does not report the stack.
    pub(crate) fn of_thread(
        &self,
        env: &Env,
        jni: &Jni<'_>,
        owner: Option<ThreadId>,
    ) -> Option<TraceId> {
        let mut stack = Vec::new();
        let depth = self.depth_frames();
        if depth > 0 {
            env.own_stack(&mut stack, depth).ok()?;
        }
        Some(self.trace(env, jni, &stack, owner))
    }

    /// The row of a stack, the top first, separate for `thread` if there is one. Frames beyond the
    /// depth are left out.
    pub(crate) fn trace(
        &self,
        env: &Env,
        jni: &Jni<'_>,
        stack: &[StackFrame],
        thread: Option<ThreadId>,
    ) -> TraceId {
        let depth = self.depth_frames();
        let stack = stack.get(..depth).unwrap_or(stack);
        let known: Vec<Option<FrameId>> = {
            let known = self.known.lock();
            stack
                .iter()
                .map(|at| known.frames.get(at).copied())
                .collect()
        };
        if self.is_full() && known.contains(&None) {
            return self.other;
        }
        let frames = stack.iter().zip(known);
        let frames = frames.map(|(&at, known)| known.unwrap_or_else(|| self.frame(env, jni, at)));
        let frames = frames.collect();
        let trace = self.row(Trace { thread, frames });
        if trace == self.other {
            return trace;
        }
        let mut known = self.known.lock();
        known.stacks.entry(trace).or_insert_with(|| stack.into());
        trace
    }

    /// The Java frames of a trace, the top first; none for the empty trace.
    pub(crate) fn named_frames(&self, trace: TraceId) -> Vec<NamedFrame> {
        let row = self.tables.traces.get(trace);
        let frames = row.as_ref().map_or(&[][..], |row| &row.frames);
        let stack = self.known.lock().stacks.get(&trace).cloned();
        let stack = stack.unwrap_or_default();
        let ids = stack.iter().map(|at| Some(at.method)).chain(repeat(None));
        let named = frames.iter().zip(ids);
        named
            .filter_map(|(&frame, id)| self.named_frame(frame, id))
            .collect()
    }

    fn named_frame(&self, frame: FrameId, id: Option<MethodId>) -> Option<NamedFrame> {
        let strings = &self.tables.strings;
        let frame = self.tables.frames.get(frame)?;
        Some(NamedFrame {
            class: self.signature(frame.class),
            method: strings.get(frame.method)?,
            signature: strings.get(frame.signature)?,
            source: strings.get(frame.source)?,
            line: frame.line,
            id,
        })
    }

    /// The frame on top of a trace; `None` for the empty trace.
    pub(crate) fn top_frame(&self, trace: TraceId) -> Option<NamedFrame> {
        let trace = self.tables.traces.get(trace)?;
        self.named_frame(*trace.frames.first()?, None)
    }

    /// The constructor that this frame executes; `None` if it executes none.
    pub(crate) fn constructor(
        &self,
        env: &Env,
        jni: &Jni<'_>,
        at: StackFrame,
    ) -> Option<RunningConstructor> {
        let method = self.method(env, jni, at.method)?;
        let name = self.tables.strings.get(method.facts.name)?;
        if *name != *b"<init>" {
            return None;
        }
        let key = (method.class, method.facts.signature);
        let call = self.known.lock().initializing_calls.get(&key).copied();
        Some(RunningConstructor {
            class: method.class,
            initializes: call.is_none_or(|call| at.location == i64::from(call)),
        })
    }

    /// Notes where a constructor calls `super(…)` or `this(…)`.
    pub(crate) fn note_initializing_call(&self, class: ClassId, descriptor: &[u8], at: u16) {
        let key = (class, self.tables.strings.intern(descriptor));
        self.known.lock().initializing_calls.insert(key, at);
    }

    fn method(&self, env: &Env, jni: &Jni<'_>, id: MethodId) -> Option<Arc<Method>> {
        let known = self.known.lock().methods.get(&id).cloned();
        known.unwrap_or_else(|| {
            let asked = self.ask(env, jni, id).map(Arc::new);
            let mut known = self.known.lock();
            if known.methods.len() >= MOST_KNOWN {
                known.methods.clear();
            }
            known.methods.insert(id, asked.clone());
            asked
        })
    }

    fn frame(&self, env: &Env, jni: &Jni<'_>, at: StackFrame) -> FrameId {
        let row = match self.method(env, jni, at.method) {
            Some(method) => Frame {
                class: method.class,
                method: method.facts.name,
                signature: method.facts.signature,
                source: method.facts.source,
                line: method.facts.line(at.location),
            },
            None => return self.nameless_frame(b"<unknown>"),
        };
        let before = self.tables.frames.len();
        let frame = self.tables.frames.intern(&row);
        if self.tables.frames.len() > before {
            self.take_bytes(NAMES_BYTES);
        }
        let mut known = self.known.lock();
        if known.frames.len() >= MOST_KNOWN {
            known.frames.clear();
        }
        known.frames.insert(at, frame);
        frame
    }

    fn ask(&self, env: &Env, jni: &Jni<'_>, method: MethodId) -> Option<Method> {
        let strings = &self.tables.strings;
        let (class, facts) = MethodFacts::ask(env, jni, method, self.line_numbers, strings)?;
        let signature = env.class_signature(&class);
        jni.forget(class);
        Some(Method {
            class: self.class(&signature.ok()?),
            facts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_known_by_its_name() {
        let traces = StackTraces::new(4, true, false);
        let string = traces.class(b"Ljava/lang/String;");
        assert_eq!(traces.class(b"Ljava/lang/String;"), string);
        assert_ne!(traces.class(b"[Ljava/lang/String;"), string);
        let row = traces.tables.classes.get(string).unwrap();
        let name = traces.tables.strings.get(row.name).unwrap();
        assert_eq!(&*name, b"java/lang/String");
        let lambda = traces.class(b"La/B$$Lambda.0x7f12;");
        let row = traces.tables.classes.get(lambda).unwrap();
        let name = traces.tables.strings.get(row.name).unwrap();
        assert_eq!(&*name, b"a/B$$Lambda+0x7f12");
    }

    #[test]
    fn stacks_beyond_the_limit_are_one() {
        let bytes = 3 * TRACE_BYTES + 5 * NAMES_BYTES;
        let traces = StackTraces::within(bytes, 4, true, false);
        let frames: Vec<FrameId> = ["a", "b", "c"]
            .iter()
            .map(|name| traces.nameless_frame(name.as_bytes()))
            .collect();
        let row = |index: usize| {
            traces.row(Trace {
                thread: None,
                frames: vec![frames[index]; index + 1],
            })
        };
        while !traces.is_full() {
            traces.take_bytes(NAMES_BYTES);
            row(0);
        }
        let known = row(0);
        assert_ne!(known, traces.other);
        assert_eq!((row(1), row(2)), (traces.other, traces.other));
        assert_eq!(row(0), known, "what is known is told apart still");
        let others = traces.named_frames(traces.other);
        assert_eq!(*others[0].method, *OTHER_STACKS);
        let object = traces.class(b"Ljava/lang/Object;");
        assert_eq!(*traces.signature(object), *b"Ljava/lang/Object;");
        let class = traces.class(b"La/New;");
        assert_eq!(*traces.signature(class), *OTHER_CLASSES);
        assert_eq!(traces.class(b"La/Newer;"), class);
    }
}
