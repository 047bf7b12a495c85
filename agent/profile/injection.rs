//! Inserts calls of the tracker into class files, for exact allocation counts and for the times of
//! methods.
//!
//! The tracker is defined, and loaded classes are sent through the hook, once at `VMInit`, so that
//! the JVM can start from its class archive. Classes loaded later pass the hook anyway.
//!
//! Classes of the bootstrap loader call the tracker `java.lang.HprofTracker`, whose native methods
//! are in a package of their own: HotSpot warns on stdout about those of a named module. Other
//! classes cannot use that name: the JVM would resolve it through `loadClass` of their loader,
//! which may run rewritten code itself, or refuse the name. They call `Object.wait` with arguments
//! that no program passes (`bytecode::gate`): the JVM resolves `Object` before it defines a class
//! that extends it. A class that extends another one calls `wait` of an array class, which needs no
//! loader, unless its loader has resolved `Object`.

use super::stacks::StackTraces;
use bytecode::{names, rewrite, ClassFile, Method, Plan, Route};
use jvm::class_loader::ResolvedClasses;
use jvm::env::{Env, Vm};
use jvm::error::JvmtiError;
use jvm::event::CLASS_FILE_LOAD_HOOK;
use jvm::jni::Jni;
use jvm::last_hook::LastHook;
use jvm::object::Object;
use jvm::tracker::{Natives, Tracker};
use options::ClassPatterns;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use tables::{ClassId, Frame, Line};

/// Classes whose methods are not timed. Inside them a virtual thread switches carriers, so the
/// thread that enters one of their methods is not the one that leaves it.
///
/// The first reports when a thread runs a virtual thread instead. The second cannot be rewritten
/// after the JVM has started.
const SWITCHING: [&[u8]; 2] = [b"java/lang/VirtualThread", b"jdk/internal/vm/Continuation"];
const OBJECT: &[u8] = b"java/lang/Object";

/// HotSpot compiles no method with more bytes of code (`HugeMethodLimit`), unless
/// `-XX:-DontCompileHugeMethods` is set.
const LONGEST_COMPILED: usize = 8000;

/// What to insert, and the result.
#[derive(Debug)]
pub(crate) struct Injection {
    allocations: bool,
    calls: Option<ClassPatterns>,
    traces: Arc<StackTraces>,
    tracker: OnceLock<&'static Tracker>,
    gate: OnceLock<Gate>,
    /// Whether `Object.wait` forwards calls.
    has_gate: AtomicBool,
    /// Tells which classes a loader has resolved; the inner value is `None` if this JVM cannot.
    resolved: OnceLock<Option<ResolvedClasses>>,
    methods_left_alone: AtomicU64,
    classes_left_alone: AtomicU64,
}

/// Who rewrites `java.lang.Object`, of which `wait` is the gate.
///
/// Agents change that method, too, to call code of their own first. That may be rewritten code,
/// which reports through `wait`, and so on without end. So the gate must come before all that
/// others insert: it is inserted by an environment that the JVM asks last, which is made anew
/// whenever the class passes the hook.
#[derive(Debug)]
struct Gate {
    vm: Vm,
    hook: LastHook,
    /// The last environment. Not held across calls of the JVM.
    env: Mutex<Option<Env>>,
}

impl Gate {
    /// Lets an environment that is asked after all others see the class file that passes the hook
    /// on this thread now. HotSpot goes through a list of them, at whose end it puts new ones
    /// (jvmtiExport.cpp, jvmtiEnvBase.cpp).
    fn be_last(&self) -> Result<(), JvmtiError> {
        let last = self.hook.env(self.vm)?;
        let before = self.env.lock().replace(last);
        drop(before);
        Ok(())
    }
}

impl Injection {
    /// Inserts calls for `allocations`, and for the methods of classes that `calls` matches; `None`
    /// for no methods.
    pub(crate) fn new(
        allocations: bool,
        calls: Option<ClassPatterns>,
        traces: Arc<StackTraces>,
    ) -> Self {
        Self {
            allocations,
            calls,
            traces,
            tracker: OnceLock::new(),
            gate: OnceLock::new(),
            has_gate: AtomicBool::new(false),
            resolved: OnceLock::new(),
            methods_left_alone: AtomicU64::new(0),
            classes_left_alone: AtomicU64::new(0),
        }
    }

    /// Defines the tracker, rewrites the loaded classes, and engages the tracker. At `VMInit`.
    ///
    /// After an error no more classes are rewritten, and rewritten ones report nothing.
    pub(crate) fn start(
        &self,
        (vm, env): (Vm, &Env),
        jni: &mut Jni<'_>,
        (natives, hook): (Natives, LastHook),
    ) -> Result<(), JvmtiError> {
        let tracker = Tracker::define(jni, natives)?;
        let env_of_gate = Mutex::default();
        let _ = self.gate.set(Gate {
            vm,
            hook,
            env: env_of_gate,
        });
        env.notify(CLASS_FILE_LOAD_HOOK, true)?;
        let started = self.rewrite_and_engage(tracker, env, jni);
        if started.is_err() {
            tracker.engage(jni, false);
            env.notify(CLASS_FILE_LOAD_HOOK, false)?;
        }
        let _ = self.tracker.set(tracker);
        started
    }

    fn rewrite_and_engage(
        &self,
        tracker: &Tracker,
        env: &Env,
        jni: &mut Jni<'_>,
    ) -> Result<(), JvmtiError> {
        let done = jni.with_frame(|jni| {
            self.open_gate(tracker, env, jni)?;
            self.rewrite_loaded(env, jni)
        });
        done.unwrap_or(Err(JvmtiError::OUT_OF_MEMORY))?;
        tracker.engage(jni, true);
        if tracker.is_heard(jni) && tracker.is_heard_through_wait(jni) {
            Ok(())
        } else {
            Err(JvmtiError::NOT_AVAILABLE)
        }
    }

    /// Disengages the tracker. At `VMDeath`; calls in progress finish.
    pub(crate) fn stop(&self, jni: &Jni<'_>) {
        if let Some(tracker) = self.tracker.get() {
            tracker.engage(jni, false);
        }
    }

    /// Number of classes and methods that could not be rewritten.
    pub(crate) fn left_alone(&self) -> (u64, u64) {
        (
            self.classes_left_alone.load(Ordering::Relaxed),
            self.methods_left_alone.load(Ordering::Relaxed),
        )
    }

    /// Makes `Object.wait` forward calls, before any class relies on it.
    fn open_gate(&self, tracker: &Tracker, env: &Env, jni: &Jni<'_>) -> Result<(), JvmtiError> {
        let thread = env.current_thread(jni)?;
        let mut class = jni.class_of(&thread).ok_or(JvmtiError::INTERNAL)?;
        while let Some(above) = jni.superclass(&class) {
            class = above;
        }
        env.retransform(&[&class])?;
        if !tracker.is_heard_through_wait(jni) {
            return Err(JvmtiError::NOT_AVAILABLE);
        }
        self.has_gate.store(true, Ordering::Release);
        Ok(())
    }

    fn rewrite_loaded(&self, env: &Env, jni: &Jni<'_>) -> Result<(), JvmtiError> {
        let classes = env.loaded_classes(jni)?;
        let can = |class: &&Object<'_>| {
            env.is_modifiable(class).unwrap_or(false)
                && env
                    .class_signature(class)
                    .is_ok_and(|signature| !is_anonymous(&signature))
        };
        let classes: Vec<&Object<'_>> = classes.iter().filter(can).collect();
        self.rewrite_in_one(env, &classes);
        Ok(())
    }

    /// Rewrites the classes in one call. One class that cannot be changed (its initialiser may have
    /// failed) makes the whole call fail. Bisection finds it, because each call stops the
    /// application.
    fn rewrite_in_one(&self, env: &Env, classes: &[&Object<'_>]) {
        if env.retransform(classes).is_ok() {
            return;
        }
        if classes.len() < 2 {
            self.classes_left_alone.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let (some, others) = classes.split_at(classes.len() / 2);
        self.rewrite_in_one(env, some);
        self.rewrite_in_one(env, others);
    }

    /// `ClassFileLoadHook`: the class file with the calls inserted; `None` to keep it unchanged.
    pub(crate) fn rewrite(
        &self,
        jni: &Jni<'_>,
        bytes: &[u8],
        loader: Option<&Object<'_>>,
    ) -> Option<Vec<u8>> {
        if loader.is_some() && !self.has_gate.load(Ordering::Acquire) {
            // It is loaded already, and will pass the hook at `VMInit`.
            return None;
        }
        let Ok(class) = ClassFile::parse(bytes) else {
            self.classes_left_alone.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        if [names::TRACKER, names::NATIVES]
            .map(str::as_bytes)
            .contains(&class.name)
        {
            return None;
        }
        if class.name == OBJECT && loader.is_none() {
            let gate = self.gate.get()?;
            // If there can be no environment, the one before inserts the gate, after what others
            // insert.
            let _ = gate.be_last();
            return None;
        }
        self.rewritten(&class, bytes, self.route(jni, &class, loader))
    }

    /// The class file of `java.lang.Object`, after all others have changed it.
    pub(crate) fn rewrite_object(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let class = ClassFile::parse(bytes).ok()?;
        self.rewritten(&class, bytes, Route::Tracker)
    }

    fn rewritten(&self, class: &ClassFile<'_>, bytes: &[u8], route: Route) -> Option<Vec<u8>> {
        let is_jdks = route == Route::Tracker;
        let is_object = class.name == OBJECT && is_jdks;
        let calls = self.is_timed(class.name);
        let switches = self.calls.is_some() && SWITCHING.first() == Some(&class.name);
        let plan = Plan {
            route,
            gate: is_object,
            switches: switches && is_jdks,
            object_init: self.allocations && is_object,
            error_init: false,
            arrays: self.allocations,
            calls,
            longest_compiled: Some(LONGEST_COMPILED),
            every_method: false,
        };
        if !plan.gate && !plan.switches && !plan.arrays && !plan.calls {
            return None;
        }
        match rewrite(bytes, &plan, |method| self.number(class, method)) {
            Ok(rewritten) => {
                let left = u64::try_from(rewritten.left_alone.len()).unwrap_or(u64::MAX);
                self.methods_left_alone.fetch_add(left, Ordering::Relaxed);
                if self.allocations {
                    self.note_constructors(rewritten.bytes.as_deref().unwrap_or(bytes));
                }
                rewritten.bytes
            }
            Err(_) => {
                self.classes_left_alone.fetch_add(1, Ordering::Relaxed);
                None
            }
        }
    }

    /// How a class of this loader calls the tracker.
    fn route(&self, jni: &Jni<'_>, class: &ClassFile<'_>, loader: Option<&Object<'_>>) -> Route {
        let Some(loader) = loader else {
            return Route::Tracker;
        };
        if class.super_name == Some(OBJECT) {
            return Route::Object;
        }
        let resolved = self
            .resolved
            .get_or_init(|| ResolvedClasses::new(jni, loader));
        match resolved {
            Some(resolved) if resolved.have_object(jni, loader) => Route::Object,
            _ => Route::Arrays,
        }
    }

    fn is_timed(&self, class: &[u8]) -> bool {
        let Some(patterns) = &self.calls else {
            return false;
        };
        let switches = SWITCHING.iter().any(|&name| {
            let rest = class.strip_prefix(name);
            rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'$' | b'S')))
        });
        !switches && patterns.matches(class)
    }

    /// Notes where the constructors in a class file call `super(…)` or `this(…)`.
    fn note_constructors(&self, bytes: &[u8]) {
        let Ok(class) = ClassFile::parse(bytes) else {
            return;
        };
        let id = self.class(&class);
        for call in class.initializing_calls() {
            self.traces
                .note_initializing_call(id, call.descriptor, call.at);
        }
    }

    fn class(&self, class: &ClassFile<'_>) -> ClassId {
        let mut signature = Vec::with_capacity(class.name.len() + 2);
        signature.push(b'L');
        signature.extend_from_slice(class.name);
        signature.push(b';');
        self.traces.class(&signature)
    }

    /// The number that a method reports: its frame in the session's tables. Methods of the same
    /// name in two loaders share one.
    fn number(&self, class: &ClassFile<'_>, method: Method<'_>) -> Option<u32> {
        // It does nothing, and every new object calls it.
        if class.name == b"java/lang/Object" && method.name == b"<init>" {
            return None;
        }
        let tables = &self.traces.tables;
        let frame = Frame {
            class: self.class(class),
            method: tables.strings.intern(method.name),
            signature: tables.strings.intern(method.descriptor),
            source: self.traces.source(class.source_file()),
            line: Line::Unknown,
        };
        Some(tables.frames.intern(&frame).get())
    }
}

/// Whether a signature belongs to a class without its own name: `La/B/123;` for anonymous classes
/// up to Java 14 (`Unsafe.defineAnonymousClass`), `La/B.0x123;` for hidden ones.
///
/// The JVM of Java 8 reports anonymous classes as modifiable. But it crashes when it writes the
/// class file of one whose constants were replaced by objects, such as `LambdaForm$BMH/123`. A
/// class in the package `a.B` may also be called `123`; then its methods are not rewritten.
fn is_anonymous(signature: &[u8]) -> bool {
    let name = signature.strip_suffix(b";").unwrap_or(signature);
    let last = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    name.contains(&b'.') || !last.is_empty() && last.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_without_a_name_of_their_own_are_known_by_their_signatures() {
        let anonymous: [&[u8]; 3] = [
            b"Ljava/lang/invoke/LambdaForm$BMH/361993357;",
            b"LMain$$Lambda$1/7;",
            b"Ljava/lang/invoke/LambdaForm$MH.0x00007f0001000400;",
        ];
        assert!(anonymous.into_iter().all(is_anonymous));
        let named: [&[u8]; 4] = [b"LMain;", b"La/Main$1;", b"La/b2;", b"Lp1/x/C;"];
        assert!(!named.into_iter().any(is_anonymous));
    }
}
