//! OutOfMemoryErrors that Java code throws: the JVM reports only its own.
//!
//! The constructors of `java.lang.OutOfMemoryError` are rewritten to report the new error; those of
//! its subclasses call them. The JVM runs none for the errors of its own heap, which it makes when
//! it starts. So nothing else is slower.
//!
//! The hook is on while this one class passes it: a start takes 1 to 2 ms longer on 17 to 26. A JVM
//! that trains an AOT cache is left alone: 25 crashes when it writes a rewritten class, and 26
//! refuses. Another agent that has the class transformed again later takes the calls out.

use bytecode::{names, rewrite, ClassFile, Plan};
use hotspot::flags;
use jvm::capability::{GENERATE_ALL_CLASS_HOOK_EVENTS, RETRANSFORM_ANY_CLASS, RETRANSFORM_CLASSES};
use jvm::env::Env;
use jvm::error::JvmtiError;
use jvm::event::CLASS_FILE_LOAD_HOOK;
use jvm::jni::Jni;
use jvm::object::Object;
use jvm::tracker::{Natives, Tracker};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use thiserror::Error;

/// The class whose constructors are rewritten.
const CLASS: &[u8] = b"java/lang/OutOfMemoryError";
const SIGNATURE: &[u8] = b"Ljava/lang/OutOfMemoryError;";
/// The JDK's message when a file cannot be mapped. It then collects garbage and tries again.
const RETRIED: &str = "Map failed";
/// A second failure this soon is that of the second attempt, or of another file.
const RETRY: Duration = Duration::from_secs(60);
/// Longest message that is printed.
const MOST_LETTERS: usize = 300;

/// Why Java code may throw unheard.
#[derive(Clone, Copy, Debug, Error)]
pub(crate) enum NoJavaErrors {
    /// The JVM writes what it has loaded to a cache, and crashes or writes nothing if this class
    /// was rewritten.
    #[error(
        "this JVM records classes for a cache (AOTMode, AOTCacheOutput), and they must be as they are"
    )]
    Training,
    /// The JVM refuses to rewrite the class.
    #[error("{0}")]
    Refused(#[from] JvmtiError),
}

/// The rewriting of that class.
#[derive(Debug, Default)]
pub(crate) struct JavaErrors {
    is_rewritten: AtomicBool,
}

impl JavaErrors {
    /// The capabilities that [`start`](Self::start) needs. In `Agent_OnLoad`, or at an attach.
    pub(crate) const CAPABILITIES: [jvm::capability::Capability; 3] = [
        GENERATE_ALL_CLASS_HOOK_EVENTS,
        RETRANSFORM_CLASSES,
        RETRANSFORM_ANY_CLASS,
    ];

    /// Rewrites the class. At `VMInit`, after profiles have started; `hooks` is whether they see
    /// all class files.
    ///
    /// Otherwise the hook is on for this one class alone, so that others may come from the archive
    /// of the JVM.
    pub(crate) fn start(
        &self,
        env: &Env,
        jni: &mut Jni<'_>,
        natives: Natives,
        hooks: bool,
    ) -> Result<(), NoJavaErrors> {
        if is_training() {
            return Err(NoJavaErrors::Training);
        }
        let tracker = Tracker::define(jni, natives)?;
        env.notify(CLASS_FILE_LOAD_HOOK, true)?;
        let retransformed = jni.with_frame(|jni| {
            let classes = env.loaded_classes(jni)?;
            let is_it = |class: &&Object<'_>| {
                let signature = env.class_signature(class);
                signature.is_ok_and(|signature| signature == SIGNATURE)
            };
            let class = classes.iter().find(is_it);
            env.retransform(&[class.ok_or(JvmtiError::NOT_AVAILABLE)?])
        });
        if !hooks {
            env.notify(CLASS_FILE_LOAD_HOOK, false)?;
        }
        retransformed.unwrap_or(Err(JvmtiError::OUT_OF_MEMORY))?;
        if !self.is_rewritten.load(Ordering::Acquire) {
            return Err(JvmtiError::NOT_AVAILABLE.into());
        }
        tracker.engage(jni, true);
        match tracker.is_heard(jni) {
            true => Ok(()),
            false => Err(JvmtiError::NOT_AVAILABLE.into()),
        }
    }

    /// `ClassFileLoadHook`: the class file with the calls inserted; `None` for all other classes.
    pub(crate) fn rewrite(&self, bytes: &[u8], loader: Option<&Object<'_>>) -> Option<Vec<u8>> {
        if loader.is_some() || ClassFile::parse(bytes).ok()?.name != CLASS {
            return None;
        }
        let plan = Plan {
            error_init: true,
            ..Plan::default()
        };
        let rewritten = rewrite(bytes, &plan, |_| None).ok()?;
        let is_whole = rewritten.bytes.is_some() && rewritten.left_alone.is_empty();
        self.is_rewritten.store(is_whole, Ordering::Release);
        rewritten.bytes
    }
}

/// Whether the JVM writes the classes that it has loaded to a cache, from which later ones start.
fn is_training() -> bool {
    flags::text("AOTMode").is_some_and(|mode| mode == "record" || mode == "create")
        || flags::text("AOTCacheOutput").is_some()
}

/// A new error, as its constructor has left it.
#[derive(Debug)]
pub(crate) struct JavaError {
    /// Its class, such as `io.netty.util.internal.OutOfDirectMemoryError`.
    pub(crate) class: String,
    /// Its message.
    pub(crate) message: Option<String>,
}

impl JavaError {
    /// `None` if the JVM does not report it, or if nothing has failed for good.
    pub(crate) fn of(env: &Env, jni: &Jni<'_>, error: &Object<'_>) -> Option<Self> {
        let class = jni.class_of(error)?;
        let signature = env.class_signature(&class).ok()?;
        let name = signature.strip_prefix(b"L")?.strip_suffix(b";")?;
        if is_made_for_later(env) {
            return None;
        }
        let message = jni.message_of(error);
        if message.as_deref() == Some(RETRIED) && is_first_attempt() {
            return None;
        }
        Some(Self {
            class: String::from_utf8_lossy(name).replace('/', "."),
            message,
        })
    }

    /// The error as Java prints it, in one line.
    pub(crate) fn line(&self) -> String {
        let Some(message) = &self.message else {
            return self.class.clone();
        };
        let one_line = |letter: char| if letter.is_control() { ' ' } else { letter };
        let message: String = message.chars().take(MOST_LETTERS).map(one_line).collect();
        format!("{}: {message}", self.class)
    }
}

/// Whether the initializer of a class makes the error: a constant, which is thrown later or never.
fn is_made_for_later(env: &Env) -> bool {
    /// The tracker's methods, and the constructors of more classes than errors have above them.
    const FRAMES: usize = 16;
    let report = names::ERROR_INIT.as_bytes();
    let mut stack = Vec::new();
    if env.own_stack(&mut stack, FRAMES).is_err() {
        return false;
    }
    let names = stack
        .iter()
        .filter_map(|frame| Some(env.method_name(frame.method).ok()?.0));
    let mut names = names.skip_while(|name| name == report || name == b"<init>");
    names.next().is_some_and(|name| name == b"<clinit>")
}

/// Whether this thread has not failed to map a file a moment ago.
fn is_first_attempt() -> bool {
    thread_local! {
        static FAILED: Cell<Option<Instant>> = const { Cell::new(None) };
    }
    let now = Instant::now();
    let before = FAILED.try_with(Cell::take).ok().flatten();
    if before.is_some_and(|before| now - before < RETRY) {
        return false;
    }
    let _ = FAILED.try_with(|failed| failed.set(Some(now)));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_of_bounded_length() {
        let error = |message: Option<&str>| JavaError {
            class: "a.B".to_owned(),
            message: message.map(str::to_owned),
        };
        assert_eq!(error(None).line(), "a.B");
        assert_eq!(error(Some("no\nroom\u{1b}[2J")).line(), "a.B: no room [2J");
        let long = error(Some(&"ö".repeat(MOST_LETTERS + 1))).line();
        assert_eq!(long.chars().count(), "a.B: ".len() + MOST_LETTERS);
    }

    #[test]
    fn the_second_attempt_counts() {
        std::thread::spawn(|| {
            assert!(is_first_attempt() && !is_first_attempt());
            assert!(is_first_attempt(), "the next file");
        })
        .join()
        .expect("no panic");
        assert!(is_first_attempt(), "another thread");
    }
}
