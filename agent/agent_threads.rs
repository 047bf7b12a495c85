//! The agent's own threads: daemons that no profile includes.

use hotspot::sampler::spare_this_thread;
use jvm::env::Env;
use jvm::jni::Jni;

/// Starts a thread with this name, which thread dumps and heap dumps show, and runs `body` on it.
/// Live phase only.
///
/// Runs Java code, the constructor of `Thread`, so do not call it on a thread that the application
/// may block. The error is the reason, as the end of a sentence.
pub(crate) fn start(
    env: &Env,
    jni: &mut Jni<'_>,
    name: &str,
    body: impl FnOnce(&mut Jni<'_>) + Send + 'static,
) -> Result<(), String> {
    let body = |jni: &mut Jni<'_>| {
        spare_this_thread();
        body(jni);
    };
    let started = jni.with_frame(|jni| env.run_agent_thread(jni, name, Box::new(body)));
    match started {
        Some(started) => started.map_err(|error| error.to_string()),
        None => Err("no memory for local references".to_owned()),
    }
}
