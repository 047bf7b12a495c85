//! From start to end: options → environment → events on; and the commands that come by attach.

use crate::dump_queue::DumpQueue;
use crate::gate::Gate;
use crate::heap;
use crate::jvmti::capability::{
    GENERATE_COMPILED_METHOD_LOAD_EVENTS, GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS, GET_LINE_NUMBERS,
    GET_SOURCE_FILE_NAME, GET_THREAD_CPU_TIME, SUPPORT_VIRTUAL_THREADS,
};
use crate::jvmti::env::{Env, Vm};
use crate::jvmti::error::JvmtiError;
use crate::jvmti::event::{CLASS_PREPARE, VM_DEATH, VM_INIT};
use crate::jvmti::jni::Jni;
use crate::message::say;
use crate::options::{self, Cpu, Engine, Options, Parsed};
use crate::profile::{self, Allocations, CpuSamples, Profiles, StackTraces};
use std::sync::{Arc, OnceLock};
use tables::Census;
use writer::{Existing, Target};

/// Answer to the JVM: all is well.
const DONE: i32 = 0;
/// Answer at start-up: the JVM must not start (`JNI_ERR`).
const DO_NOT_START: i32 = -1;
/// Answer to attach: the options are wrong.
const BAD_OPTIONS: i32 = 100;
/// Answer to attach: the options are right, but the dump was not made.
const NOT_DONE: i32 = 200;

static SESSION: OnceLock<Session> = OnceLock::new();

/// One JVM's life under the agent, from `Agent_OnLoad` to its end. Never dropped: callbacks may come late.
#[derive(Debug)]
pub(crate) struct Session {
    /// The JVM.
    pub(crate) vm: Vm,
    /// The environment of the events. Dumps make environments of their own.
    pub(crate) env: Env,
    /// What the user asked for.
    pub(crate) options: Options,
    /// Whether the events are on: not in a JVM that the agent was only attached to.
    pub(crate) listens: bool,
    /// Callbacks in flight.
    pub(crate) gate: Gate,
    /// What the events counted.
    pub(crate) census: Census,
    /// What the application does between dumps.
    pub(crate) profiles: Profiles,
    /// Dumps asked for by signals.
    pub(crate) dump_queue: DumpQueue,
}

impl Session {
    /// A session whose callbacks are installed; no event is on yet.
    fn new(vm: Vm, mut options: Options) -> Result<Self, JvmtiError> {
        let env = vm.new_env()?;
        if options.virtual_threads
            && !env
                .take_capabilities(&[SUPPORT_VIRTUAL_THREADS])?
                .is_empty()
        {
            say("virtual=y does nothing: this JVM has no virtual threads");
            options.virtual_threads = false;
        }
        let profiles = profiles(&env, &options)?;
        env.install_callbacks()?;
        Ok(Self {
            vm,
            env,
            options,
            profiles,
            listens: true,
            gate: Gate::default(),
            census: Census::default(),
            dump_queue: DumpQueue::default(),
        })
    }

    /// Writes down what the options ask for: a heap dump, or a report of allocation sites. `true`: the file is there.
    ///
    /// On any thread attached to the JVM, inside the gate.
    pub(crate) fn dump(&self, jni: &mut Jni<'_>, options: &Options) -> bool {
        if options.heap_dump {
            return self.dump_heap(jni, options);
        }
        if self.profiles.is_empty() {
            say("no report: profiles are made from the start of the JVM only, by -agentpath:…=heap=sites");
            return false;
        }
        profile::report(&self.env, jni, options, &self.profiles)
    }

    fn dump_heap(&self, jni: &mut Jni<'_>, options: &Options) -> bool {
        // A command that asks for a heap alone does not take the samples away from the next report.
        let cpu = self.profiles.cpu.as_ref().filter(|_| options.cpu.is_some());
        let counts = cpu.map(|cpu| cpu.take_counts(&self.env, jni));
        let known = heap::Known {
            census: self.listens.then_some(&self.census),
            allocations: self.profiles.allocations.as_ref(),
            cpu: cpu.map(CpuSamples::traces).zip(counts.as_ref()),
        };
        let is_there = heap::dump(self.vm, jni, options, known);
        if let (Some(cpu), Some(counts)) = (cpu, counts) {
            if is_there {
                say(&format!("in it {}, {}", counts.summary(), cpu.manner()));
            } else {
                cpu.give_back(counts);
            }
        }
        is_there
    }

    /// The session; `None` before `Agent_OnLoad` or the first attach.
    pub(crate) fn get() -> Option<&'static Self> {
        SESSION.get()
    }
}

/// The profiles that the options ask for, as far as this JVM allows.
fn profiles(env: &Env, options: &Options) -> Result<Profiles, JvmtiError> {
    let depth_frames = usize::try_from(options.trace_depth_frames()).unwrap_or(usize::MAX);
    let traces = Arc::new(StackTraces::new(
        depth_frames,
        options.line_numbers,
        options.by_thread,
    ));
    let allocations = allocations(env, options, &traces)?;
    let cpu = cpu_samples(env, options, &traces)?;
    let profiles = Profiles {
        traces,
        allocations,
        cpu,
    };
    if !profiles.is_empty() {
        // Without names of sources and numbers of lines the stacks are poorer, and that is all.
        env.take_capabilities(&[GET_SOURCE_FILE_NAME, GET_LINE_NUMBERS])?;
    }
    Ok(profiles)
}

/// What samples of allocations need; `None` if none are wanted, or if this JVM has none.
fn allocations(
    env: &Env,
    options: &Options,
    traces: &Arc<StackTraces>,
) -> Result<Option<Allocations>, JvmtiError> {
    let Some(sampling) = options.sampling else {
        return Ok(None);
    };
    let missing = env.take_capabilities(&[GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS])?;
    if !missing.is_empty() {
        say("no allocation sites: this JVM does not sample allocations, which JDK 11 and later do");
        return Ok(None);
    }
    Ok(Some(Allocations::new(
        sampling.interval_bytes,
        Arc::clone(traces),
        sampling.most_live,
    )))
}

/// What samples of running threads need; `None` if none are wanted.
fn cpu_samples(
    env: &Env,
    options: &Options,
    traces: &Arc<StackTraces>,
) -> Result<Option<CpuSamples>, JvmtiError> {
    let Some(Cpu::Samples { interval_us }) = options.cpu else {
        return Ok(None);
    };
    // The first makes lines exact, the second is for samples without signals. Who misses one is told when it is used.
    env.take_capabilities(&[GENERATE_COMPILED_METHOD_LOAD_EVENTS, GET_THREAD_CPU_TIME])?;
    let is_portable = options.engine == Engine::Portable;
    Ok(Some(CpuSamples::new(
        interval_us,
        is_portable,
        Arc::clone(traces),
    )))
}

/// `Agent_OnLoad`: parses the options and listens for `VMInit` and `VMDeath`.
///
/// The answer is the JVM's: 0 to start, anything else not to.
pub(crate) fn load(vm: Vm, text: &str) -> i32 {
    let options = match options::parse(text) {
        Ok(Parsed::Options(options)) => options,
        Ok(Parsed::Help) => {
            // What the user asked for instead of a JVM, as the JDK's agent did.
            options::print_help();
            std::process::exit(0);
        }
        Err(error) => {
            say(&error.to_string());
            return DO_NOT_START;
        }
    };
    match start(vm, options) {
        Ok(()) => DONE,
        Err(error) => {
            say(&format!("the agent cannot start: {error}"));
            DO_NOT_START
        }
    }
}

fn start(vm: Vm, options: Options) -> Result<(), JvmtiError> {
    for note in &options.notes {
        say(note);
    }
    look_at_target(&options);
    let session = Session::new(vm, options)?;
    if SESSION.set(session).is_err() {
        say("the agent was loaded already: give all its options in one -agentpath");
        return Err(JvmtiError::INTERNAL);
    }
    let Some(session) = Session::get() else {
        return Err(JvmtiError::INTERNAL);
    };
    session.env.notify(VM_INIT, true)?;
    session.env.notify(VM_DEATH, true)
}

/// Says now, and not only when the data is at stake, that a dump could not be written. Leaves nothing behind.
///
/// The application starts all the same: the directory may come later, and no dump is worth a service.
fn look_at_target(options: &Options) {
    let target = Target {
        path: options.file.first(),
        existing: Existing::Replace,
        gzip: options.gzip,
    };
    if let Err(error) = target.look() {
        say(&format!("as things are, there will be no dump: {error}"));
    }
}

/// `Agent_OnAttach`: each call is a command; `heap=dump,file=…` dumps now. The answer is shown to the caller.
pub(crate) fn attach(vm: Vm, jni: &mut Jni<'_>, text: &str) -> i32 {
    let options = match options::parse(text) {
        Ok(Parsed::Options(options)) => options,
        Ok(Parsed::Help) => {
            say(&options::help());
            return DONE;
        }
        Err(error) => {
            say(&error.to_string());
            return BAD_OPTIONS;
        }
    };
    if options.cpu.is_some() {
        say("cpu=samples needs the start of the JVM: give it in -agentpath, then jcmd PID JVMTI.data_dump writes a report");
        return BAD_OPTIONS;
    }
    for note in &options.notes {
        say(note);
    }
    if options.virtual_threads {
        say("virtual=y does nothing when the agent is attached: its dumps are made at once");
    }
    if let Err(error) = listen_for_the_end(vm, &options) {
        say(&format!("the agent cannot start: {error}"));
        return NOT_DONE;
    }
    let Some(session) = Session::get() else {
        return NOT_DONE;
    };
    let Some(_inside) = session.gate.enter() else {
        say("no dump: the JVM is ending");
        return NOT_DONE;
    };
    if session.dump(jni, &options) {
        DONE
    } else {
        NOT_DONE
    }
}

/// At the first command in a JVM that was started without the agent: makes its end wait for dumps under way.
fn listen_for_the_end(vm: Vm, options: &Options) -> Result<(), JvmtiError> {
    if Session::get().is_some() {
        return Ok(());
    }
    let attached = Options {
        dump_on_exit: false,
        virtual_threads: false,
        sampling: None,
        ..options.clone()
    };
    let session = Session {
        listens: false,
        ..Session::new(vm, attached)?
    };
    // Two commands at once: one of them sets it.
    let _ = SESSION.set(session);
    Session::get().map_or(Err(JvmtiError::INTERNAL), |session| {
        session.env.notify(CLASS_PREPARE, true)?;
        session.env.notify(VM_DEATH, true)
    })
}
