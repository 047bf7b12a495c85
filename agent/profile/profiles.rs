//! The profiles of a session, from their start to their end.

use super::injection::Injection;
use super::stacks::StackTraces;
use super::{Allocations, CpuSamples, CpuTimes, Monitors};
use crate::message::{listen, say};
use jvm::capability::{
    Capability, GENERATE_ALL_CLASS_HOOK_EVENTS, GENERATE_COMPILED_METHOD_LOAD_EVENTS,
    GENERATE_GARBAGE_COLLECTION_EVENTS, GENERATE_MONITOR_EVENTS,
    GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS, GET_BYTECODES, GET_CURRENT_CONTENDED_MONITOR,
    GET_LINE_NUMBERS, GET_MONITOR_INFO, GET_OWNED_MONITOR_INFO, GET_SOURCE_FILE_NAME,
    RETRANSFORM_ANY_CLASS, RETRANSFORM_CLASSES,
};
use jvm::env::{Env, Vm};
use jvm::error::JvmtiError;
use jvm::event::{
    GARBAGE_COLLECTION_FINISH, MONITOR_CONTENDED_ENTER, MONITOR_CONTENDED_ENTERED, MONITOR_WAIT,
    MONITOR_WAITED, SAMPLED_OBJECT_ALLOC,
};
use jvm::jni::Jni;
use jvm::last_hook::LastHook;
use jvm::object::Object;
use jvm::tracker::Natives;
use options::{Options, Sampling};
use std::sync::Arc;

/// Average bytes between samples of allocations that bytecode does not show.
const UNSHOWN_INTERVAL_BYTES: u32 = 512 * 1024;

/// The profiles of a session. Each exists if the options request it.
#[derive(Debug)]
pub(crate) struct Profiles {
    /// The stacks and threads to which all profiles refer.
    pub(crate) traces: Arc<StackTraces>,
    /// Allocations.
    pub(crate) allocations: Option<Allocations>,
    /// CPU samples.
    pub(crate) cpu_samples: Option<CpuSamples>,
    /// Costs of methods.
    pub(crate) cpu_times: Option<Arc<CpuTimes>>,
    /// Waits for monitors.
    pub(crate) monitors: Option<Monitors>,
    /// The calls that are inserted into classes for these.
    pub(crate) injection: Option<Injection>,
}

impl Profiles {
    /// The profiles that the options request, as far as this JVM supports them. In `Agent_OnLoad`,
    /// or at an attach.
    pub(crate) fn new(env: &Env, options: &Options) -> Result<Self, JvmtiError> {
        let samples_allocations = options.sampling.is_some()
            && env
                .take_capabilities(&[GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS])?
                .is_empty();
        let options = &as_far_as_offered(options, samples_allocations);
        let depth_frames = usize::try_from(options.trace_depth_frames()).unwrap_or(usize::MAX);
        let traces = Arc::new(StackTraces::new(
            depth_frames,
            options.line_numbers,
            options.by_thread,
        ));
        let times = options.cpu.is_some_and(|cpu| cpu.times.is_some());
        let cpu_times = times.then(|| Arc::new(CpuTimes::new(Arc::clone(&traces))));
        let mut profiles = Self {
            allocations: allocations(env, options, samples_allocations, &traces)?,
            cpu_samples: cpu_samples(env, options, &traces)?,
            monitors: monitors(env, options, &traces)?,
            traces,
            cpu_times,
            injection: None,
        };
        profiles.injection = profiles.injection(env, options)?;
        if !profiles.is_empty() {
            // Without these, stacks only lack source names and line numbers.
            env.take_capabilities(&[GET_SOURCE_FILE_NAME, GET_LINE_NUMBERS])?;
        }
        Ok(profiles)
    }

    /// Whether there is nothing to report.
    pub(crate) fn is_empty(&self) -> bool {
        self.allocations.is_none()
            && self.cpu_samples.is_none()
            && self.cpu_times.is_none()
            && self.monitors.is_none()
    }

    /// Classes and methods that could not be rewritten; `None` if there are none.
    pub(super) fn left_alone(&self) -> Option<(u64, u64)> {
        let left = self.injection.as_ref()?.left_alone();
        (left != (0, 0)).then_some(left)
    }

    /// Starts measuring. At `VMInit`, before the application runs.
    pub(crate) fn start(
        &'static self,
        vm: Vm,
        env: &'static Env,
        jni: &mut Jni<'_>,
        natives: (Natives, LastHook),
    ) {
        if let Some(allocations) = &self.allocations {
            start_allocations(allocations, env);
        }
        if let Some(cpu) = &self.cpu_samples {
            cpu.start(vm, env, jni);
        }
        if self.monitors.is_some() {
            for event in [
                MONITOR_CONTENDED_ENTER,
                MONITOR_CONTENDED_ENTERED,
                MONITOR_WAIT,
                MONITOR_WAITED,
            ] {
                listen(env, event);
            }
        }
        if let Some(allocations) = &self.allocations {
            allocations.start(env, jni);
        }
        if let Some(injection) = &self.injection {
            if let Err(error) = injection.start((vm, env), jni, natives) {
                say(&format!(
                    "classes cannot be rewritten, so allocations are not counted and methods are not timed: {error}"
                ));
            }
        }
    }

    /// Stops measuring: application threads report nothing any more. At `VMDeath`, before the last
    /// report.
    pub(crate) fn stop(&self, jni: &Jni<'_>) {
        if let Some(injection) = &self.injection {
            injection.stop(jni);
        }
    }

    /// Switches the recording of allocations on or off. Any thread. The error is the reason, as the
    /// end of a sentence.
    pub(crate) fn keep_allocations(&self, env: &Env, on: bool) -> Result<(), String> {
        let Some(allocations) = &self.allocations else {
            return Err(
                "no allocations are recorded; start the JVM with heap=sites or heap=all".to_owned(),
            );
        };
        allocations.switch(on);
        if !allocations.is_sampled {
            return Ok(());
        }
        // The event costs time even if it is ignored.
        env.notify(SAMPLED_OBJECT_ALLOC, on)
            .map_err(|error| format!("the JVM refuses: {error}"))
    }

    /// Sets the depth of future traces. Any thread. The error is the reason, as the end of a
    /// sentence.
    pub(crate) fn set_depth(&self, frames: usize) -> Result<(), String> {
        if self.cpu_times.is_some() {
            return Err(
                "with cpu=times the depth cannot change, because calls are in progress".to_owned(),
            );
        }
        self.traces.set_depth(frames);
        Ok(())
    }

    /// A thread has ended, virtual or not; on that thread.
    pub(crate) fn note_thread_end(&self, env: &Env, jni: &Jni<'_>, thread: &Object<'_>) {
        if self.is_empty() {
            return;
        }
        if let Some(allocations) = &self.allocations {
            allocations.thread_end(jni);
        }
        let ended = self.traces.threads.note_end(env, thread);
        if let (Some(thread), Some(monitors)) = (ended, &self.monitors) {
            monitors.forget(jni, thread);
        }
    }

    /// The calls to insert into classes; `None` for none.
    fn injection(&self, env: &Env, options: &Options) -> Result<Option<Injection>, JvmtiError> {
        let allocations = self.allocations.as_ref().is_some_and(Allocations::is_exact);
        let calls = self.cpu_times.as_ref().map(|_| options.classes.clone());
        if !allocations && calls.is_none() {
            return Ok(None);
        }
        let wanted = [
            GENERATE_ALL_CLASS_HOOK_EVENTS,
            RETRANSFORM_CLASSES,
            RETRANSFORM_ANY_CLASS,
            GENERATE_GARBAGE_COLLECTION_EVENTS,
            GET_BYTECODES,
        ];
        require(env, &wanted)?;
        Ok(Some(Injection::new(
            allocations,
            calls,
            Arc::clone(&self.traces),
        )))
    }
}

/// Adapts the options to a JVM without allocation samples (before JDK 11).
///
/// `heap=sites` then counts every allocation, as the JDK's own agent did. `heap=all` omits sites: a
/// user who wants a heap dump may not want an application that takes six times as long.
fn as_far_as_offered(options: &Options, samples_allocations: bool) -> Options {
    let mut options = options.clone();
    let Some(sampling) = &mut options.sampling else {
        return options;
    };
    if samples_allocations || sampling.interval_bytes == 0 {
        return options;
    }
    if !options.heap_dump {
        sampling.interval_bytes = 0;
        if options.verbose {
            say("heap=sites counts every allocation, which makes the application slower: this JVM cannot sample them, as JDK 11 and later do");
        }
        return options;
    }
    if !options.sites_by_default {
        say("heap dumps will have no allocation sites: this JVM cannot sample allocations, as JDK 11 and later do; heap=all,sampling=0 counts every one instead, which makes the application slower");
    }
    options.sampling = None;
    options
}

/// The recording of allocations; `None` if it was not requested.
fn allocations(
    env: &Env,
    options: &Options,
    samples_allocations: bool,
    traces: &Arc<StackTraces>,
) -> Result<Option<Allocations>, JvmtiError> {
    let Some(sampling) = options.sampling else {
        return Ok(None);
    };
    let traces = Arc::clone(traces);
    // If collections are not counted, facts about bytecode might be trusted for too long.
    require(env, &[GENERATE_GARBAGE_COLLECTION_EVENTS])?;
    if sampling.interval_bytes == 0 {
        let rest = Sampling {
            interval_bytes: UNSHOWN_INTERVAL_BYTES,
            ..sampling
        };
        let rest = Allocations::sampled(rest, traces);
        return Ok(Some(rest.exact(samples_allocations)));
    }
    Ok(Some(Allocations::sampled(sampling, traces)))
}

/// CPU samples and their capabilities; `None` if they were not requested.
fn cpu_samples(
    env: &Env,
    options: &Options,
    traces: &Arc<StackTraces>,
) -> Result<Option<CpuSamples>, JvmtiError> {
    let Some(interval_us) = options.cpu.and_then(|cpu| cpu.samples_us) else {
        return Ok(None);
    };
    // It makes lines exact. If it is missing, the user is told when it is needed.
    env.take_capabilities(&[GENERATE_COMPILED_METHOD_LOAD_EVENTS])?;
    Ok(Some(CpuSamples::new(interval_us, Arc::clone(traces))))
}

/// Monitors and their capability; `None` if they were not requested, or if this JVM has no such
/// events.
fn monitors(
    env: &Env,
    options: &Options,
    traces: &Arc<StackTraces>,
) -> Result<Option<Monitors>, JvmtiError> {
    if !options.monitors {
        return Ok(None);
    }
    let missing = env.take_capabilities(&[
        GENERATE_MONITOR_EVENTS,
        GET_OWNED_MONITOR_INFO,
        GET_CURRENT_CONTENDED_MONITOR,
        GET_MONITOR_INFO,
    ])?;
    if let Some(capability) = missing.first() {
        say(&format!(
            "monitor=y does nothing: this JVM does not offer {}",
            capability.name
        ));
        return Ok(None);
    }
    Ok(Some(Monitors::new(Arc::clone(traces))))
}

/// Takes capabilities that a profile cannot do without.
fn require(env: &Env, wanted: &[Capability]) -> Result<(), JvmtiError> {
    let Some(missing) = env.take_capabilities(wanted)?.first().copied() else {
        return Ok(());
    };
    say(&format!("this JVM does not offer {}", missing.name));
    Err(JvmtiError::NOT_AVAILABLE)
}

fn start_allocations(allocations: &Allocations, env: &Env) {
    listen(env, GARBAGE_COLLECTION_FINISH);
    if !allocations.is_sampled {
        return;
    }
    let interval = i32::try_from(allocations.interval_bytes()).unwrap_or(i32::MAX);
    if let Err(error) = env.sample_allocations(interval) {
        say(&format!("the sampling interval cannot be set, so allocations are sampled every 512 KiB: {error}"));
    }
    listen(env, SAMPLED_OBJECT_ALLOC);
}
