//! A session from start to end: parses options, creates the environment, switches events on.

use crate::dump_queue::{DumpQueue, Request, MOST_WAITING};
use crate::gate::{Gate, Inside};
use crate::heap;
use crate::inherited;
use crate::java_errors::JavaErrors;
use crate::message::{counted, or_none, say, say_if, tell_of_panics};
use crate::net::{Commanded, Net};
use crate::order::{Order, Recipient};
use crate::profile::{self, Part, Profiles};
use crate::receiver;
use crate::thrown::Thrower;
use crate::trigger::{kept_files, leaks, sample_once, Triggers};
use jvm::capability::{
    GENERATE_RESOURCE_EXHAUSTION_HEAP_EVENTS, GENERATE_RESOURCE_EXHAUSTION_THREADS_EVENTS,
};
use jvm::env::{Env, Vm};
use jvm::error::JvmtiError;
use jvm::event::{CLASS_PREPARE, RESOURCE_EXHAUSTED, VM_DEATH, VM_INIT};
use jvm::jni::Jni;
use jvm::os::process_end::exit_now;
use jvm::os::seccomp;
use options::file_name::USED_NAMES;
use options::{self, Destination, Does, Format, OnOutOfMemory, Options, Parsed, Product};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::OnceLock;
use tables::profile::SiteOrder;
use tables::Census;
use writer::{Outlet, Target};

/// Answer to the JVM: success.
const DONE: i32 = 0;
/// Answer at startup: the JVM must not start (`JNI_ERR`).
const DO_NOT_START: i32 = -1;
/// Exit status after an OutOfMemoryError, as with `-XX:+ExitOnOutOfMemoryError`.
const OUT_OF_MEMORY_STATUS: i32 = 3;

static SESSION: OnceLock<Session> = OnceLock::new();

/// One JVM's life under the agent, from `Agent_OnLoad` to its end. Never dropped, because callbacks
/// may come late.
#[derive(Debug)]
pub(crate) struct Session {
    /// The JVM.
    pub(crate) vm: Vm,
    /// The environment for events. Each dump creates its own.
    pub(crate) env: Env,
    /// The user's options.
    pub(crate) options: Options,
    /// Whether events are on. Not in a JVM to which the agent was only attached.
    pub(crate) listens: bool,
    /// Callbacks in progress.
    pub(crate) gate: Gate,
    /// The event counts.
    pub(crate) census: Census,
    /// The measurements between dumps.
    pub(crate) profiles: Profiles,
    /// Dumps requested by signals and OutOfMemoryErrors.
    pub(crate) dump_queue: DumpQueue,
    /// What Java code throws at errors.
    pub(crate) java_errors: JavaErrors,
    /// What causes dumps by itself.
    pub(crate) triggers: Option<Triggers>,
    /// The connection of `net=`; `None` without the option, or if the connection failed.
    pub(crate) net: Option<Net>,
}

impl Session {
    /// A session whose callbacks are installed; no event is on yet.
    fn new(vm: Vm, mut options: Options) -> Result<Self, JvmtiError> {
        let env = vm.new_env()?;
        if options.oom != OnOutOfMemory::Nothing {
            let wanted = [
                GENERATE_RESOURCE_EXHAUSTION_HEAP_EVENTS,
                GENERATE_RESOURCE_EXHAUSTION_THREADS_EVENTS,
            ];
            if !env.take_capabilities(&wanted)?.is_empty() {
                say("oom= does nothing: this JVM does not report OutOfMemoryErrors");
                options.oom = OnOutOfMemory::Nothing;
            }
            // If one is missing, the start fails, and tells it.
            env.take_capabilities(&JavaErrors::CAPABILITIES)?;
        }
        let profiles = Profiles::new(&env, &options)?;
        env.install_callbacks::<Self>()?;
        let triggers = Triggers::of(&env, &options);
        Ok(Self {
            triggers,
            vm,
            env,
            options,
            profiles,
            listens: true,
            gate: Gate::default(),
            census: Census::default(),
            dump_queue: DumpQueue::default(),
            java_errors: JavaErrors::default(),
            net: None,
        })
    }

    /// Writes what the options request: a heap dump or a report. Returns `true` if the file exists.
    ///
    /// On any thread attached to the JVM, inside the gate.
    pub(crate) fn dump(&self, jni: &mut Jni<'_>, order: &Order<'_>) -> bool {
        let options = order.options;
        if options.heap_dump {
            let is_there = self.heap_dump(jni, order);
            // The dump contains the sites. The other profiles have no place in a text heap dump.
            let has_more =
                order.format == Format::Text && (options.cpu.is_some() || options.monitors);
            // The name was the dump's.
            let beside = Order {
                is_exact: false,
                ..order.clone()
            };
            return is_there & (!has_more || self.report(jni, &beside, Part::All));
        }
        let is_of_sites_alone = options.cpu.is_none() && !options.monitors;
        let has_no_sites = options.sampling.is_some() && self.profiles.allocations.is_none();
        if self.profiles.is_empty() || is_of_sites_alone && has_no_sites {
            say("no report: profiles are made from the start of the JVM only, by -agentpath:…=heap=sites");
            return false;
        }
        self.report(jni, order, Part::All)
    }

    /// Dumps the heap, whether or not the options request it. Otherwise like [`Session::dump`].
    pub(crate) fn heap_dump(&self, jni: &mut Jni<'_>, order: &Order<'_>) -> bool {
        let Some(outlet) = self.outlet(order) else {
            return false;
        };
        let has_no_samples = order.format == Format::Text || order.has_no_dump();
        // A command that only requests a heap dump leaves the samples for the next report.
        let cpu = self.profiles.cpu_samples.as_ref();
        let cpu = cpu.filter(|_| order.options.cpu.is_some() && !has_no_samples);
        let counts = cpu.map(|cpu| cpu.take_counts(&self.env, jni));
        let request = heap::Request {
            vm: self.vm,
            order,
            outlet: &*outlet,
            census: self.listens.then_some(&self.census),
            profiled: heap::Profiled {
                allocations: self.profiles.allocations.as_ref(),
                cpu: cpu.map(|it| &*it.traces).zip(counts.as_ref()),
            },
        };
        kept_files::make_room(order);
        let made = heap::dump(request, jni);
        if let Some(made) = &made {
            kept_files::remove_surplus(order, &made.file);
        } else if let Some(file) = outlet.file() {
            USED_NAMES.lock().give_back(file);
        }
        let has_profiles = made.as_ref().is_some_and(|made| made.has_profiles);
        if let (Some(cpu), Some(counts)) = (cpu, counts) {
            if !has_profiles {
                cpu.give_back(counts);
            } else if order.options.verbose {
                say(&format!(
                    "the dump contains {}, {}",
                    counts.summary(),
                    cpu.manner()
                ));
            }
        }
        made.is_some()
    }

    /// Makes the dump for a request. On the dump queue's thread.
    pub(crate) fn serve(&self, jni: &mut Jni<'_>, request: &Request) {
        match request {
            Request::Signal { turned_away: 0 } => {}
            Request::Signal { turned_away } => say(&format!(
                "dropped {} for dumps: {MOST_WAITING} were already waiting",
                counted(u64::from(*turned_away), "request", "requests")
            )),
            Request::Error(thrown) => say_if(self.options.verbose, &thrown.line),
            Request::Cause(why) => say_if(self.options.verbose, why),
            Request::Last => {}
        }
        let error = match request {
            Request::Error(thrown) => thrown.cause(&self.options.redaction),
            _ => String::new(),
        };
        let order = match request {
            Request::Signal { .. } => Order::because(&self.options, "signal"),
            Request::Error(_) => Order::because(&self.options, &error),
            Request::Cause(why) => Order::because(&self.options, why),
            Request::Last => Order::at_end(&self.options),
        };
        // If our code panics, the threads that wait for the dump must still be released.
        let made = catch_unwind(AssertUnwindSafe(|| match request {
            Request::Cause(_) => self.make(jni, &order),
            _ => self.dump(jni, &order),
        }));
        if let Some(triggers) = &self.triggers {
            let is_caused = matches!(request, Request::Cause(_));
            triggers.note_dump(is_caused, made.unwrap_or(false));
        }
        if matches!(request, Request::Error(thrown) if thrown.by == Thrower::Jvm) {
            if self.options.oom == OnOutOfMemory::DumpAndExit {
                exit_now(OUT_OF_MEMORY_STATUS);
            }
            // HotSpot prints a line on stdout for each such event as long as an agent listens.
            let _ = self.env.notify(RESOURCE_EXHAUSTED, false);
        }
    }

    /// Makes the product of `do=`. Otherwise like [`Session::dump`].
    pub(crate) fn make(&self, jni: &mut Jni<'_>, order: &Order<'_>) -> bool {
        match &order.options.does {
            Does::Dump => self.dump(jni, order),
            Does::Histo(_) => sample_once(self.vm, jni, order),
            Does::Sites(name) => {
                if self.profiles.allocations.is_none() {
                    say("no report: this JVM records no allocation sites; see its first messages");
                    return false;
                }
                let report = Order {
                    recipient: Recipient::File(name, None),
                    format: Format::Text,
                    ..order.clone()
                };
                self.report(jni, &report, Part::Sites(SiteOrder::LiveBytes))
            }
            Does::Leaks(asked) => {
                let graph = Order {
                    product: Product::Graph,
                    recipient: Recipient::Leaks(asked),
                    format: Format::Binary,
                    ..order.clone()
                };
                self.heap_dump(jni, &graph)
            }
        }
    }

    /// Reports the profiles; there must be some. Otherwise like [`Session::dump`].
    pub(crate) fn report(&self, jni: &mut Jni<'_>, order: &Order<'_>, part: Part) -> bool {
        let outlet = self.outlet(order);
        let reported = or_none("report", || {
            let profiles = &self.profiles;
            Some(profile::report(
                &self.env, jni, order, profiles, part, &*outlet?,
            ))
        });
        reported.unwrap_or(false)
    }

    /// Whether there is a destination. Not if the connection failed at startup, which was reported
    /// then.
    pub(crate) fn has_outlet(&self) -> bool {
        let destination = &self.options.destination;
        self.net.is_some() || matches!(destination, Destination::File(_) | Destination::Command(_))
    }

    /// The way to the place of a dump or report; `None`, with a line on stderr, if there is no
    /// connection.
    fn outlet(&self, order: &Order<'_>) -> Option<Box<dyn Outlet>> {
        let options = order.options;
        match (&order.recipient, &self.net) {
            (Recipient::File(name, gzip), _) => {
                let chosen = name.choose(&mut USED_NAMES.lock(), order.naming());
                if let Some(taken) = chosen.taken.filter(|_| options.verbose) {
                    say(&format!(
                        "{} is there already and stays, so this goes to a free name beside it",
                        taken.display()
                    ));
                }
                Some(Box::new(Target {
                    gzip: *gzip,
                    ..options.target(chosen.path, chosen.existing)
                }))
            }
            (Recipient::Pipe(path), _) => Some(Box::new(receiver::fifo(path.clone(), options))),
            (Recipient::Command(pattern), _) => {
                let command = pattern.filled_in(&mut USED_NAMES.lock());
                Some(Box::new(receiver::command(command, options)))
            }
            (Recipient::Socket(socket), _) if order.has_no_dump() => {
                Some(Box::new(receiver::graph_socket(socket, options)))
            }
            (Recipient::Leaks(asked), _) => match leaks::outlet(asked, order) {
                Ok(outlet) => Some(Box::new(outlet)),
                Err(why) => {
                    say(&why);
                    None
                }
            },
            (Recipient::Socket(socket), _) => Some(Box::new(receiver::socket(socket, options))),
            (Recipient::Net(_), Some(net)) => Some(Box::new(net.outlet(options.gzip))),
            (Recipient::Net(peer), None) => {
                say(&format!(
                    "nothing is sent: there is no connection to {peer}"
                ));
                None
            }
        }
    }

    /// The session; `None` before `Agent_OnLoad` or the first attach.
    pub(crate) fn get() -> Option<&'static Self> {
        SESSION.get()
    }
}

impl Commanded for Session {
    fn env(&self) -> &Env {
        &self.env
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn profiles(&self) -> &Profiles {
        &self.profiles
    }

    fn enter(&self) -> Option<Inside<'_>> {
        self.gate.enter()
    }

    fn heap_dump(&self, jni: &mut Jni<'_>) -> bool {
        self.heap_dump(jni, &Order::of(&self.options))
    }

    fn report(&self, jni: &mut Jni<'_>, cutoff: Option<f32>, part: Part) -> bool {
        let all = Order::of(&self.options);
        let order = Order {
            cutoff: cutoff.map_or(all.cutoff, f64::from),
            ..all
        };
        self.report(jni, &order, part)
    }
}

/// `Agent_OnLoad`: parses the options and listens for `VMInit` and `VMDeath`.
///
/// Returns 0 to start the JVM, anything else to prevent that.
pub(crate) fn load(vm: Vm, text: &str) -> i32 {
    tell_of_panics();
    if inherited::stays_out(vm, text) {
        return DONE;
    }
    let options = match options::parse(text) {
        Ok(Parsed::Options(options)) => *options,
        Ok(Parsed::Help) => {
            // The user asked for the help and not for a JVM; the JDK's agent exits here, too.
            options::print_help();
            std::process::exit(0);
        }
        Err(error) => {
            say(&error.to_string());
            return DO_NOT_START;
        }
    };
    if matches!(options.destination, Destination::Socket(..)) {
        say("send= is for an agent that is attached: use file= or net=");
        return DO_NOT_START;
    }
    if options.does != Does::Dump && options.on.is_none() {
        say("do= is what a condition causes: add one, as in on=every=1m; only an attached agent needs none");
        return DO_NOT_START;
    }
    if let Does::Leaks(asked) = &options.does {
        if let Err(why) = leaks::command_of(asked) {
            say(&why);
            return DO_NOT_START;
        }
    }
    match start(vm, options) {
        Ok(()) => DONE,
        Err(error) => {
            say(&format!("the agent cannot start: {error}"));
            DO_NOT_START
        }
    }
}

fn start(vm: Vm, options: Options) -> Result<(), JvmtiError> {
    if !seccomp::may_call(&[libc::SYS_flock]) {
        writer::do_without_locks();
    }
    USED_NAMES.lock().begin();
    for note in &options.notes {
        say(note);
    }
    receiver::look_at_target(&options);
    let net = Net::connect(&options);
    let session = Session {
        net,
        ..Session::new(vm, options)?
    };
    if SESSION.set(session).is_err() {
        say("the agent is already loaded; give all its options in one -agentpath");
        return Err(JvmtiError::INTERNAL);
    }
    let Some(session) = Session::get() else {
        return Err(JvmtiError::INTERNAL);
    };
    session.env.notify(VM_INIT, true)?;
    session.env.notify(VM_DEATH, true)
}

/// At the first command in a JVM started without the agent: makes the JVM's end wait for running
/// dumps.
pub(crate) fn listen_for_the_end(vm: Vm, options: &Options) -> Result<(), JvmtiError> {
    if Session::get().is_some() {
        return Ok(());
    }
    USED_NAMES.lock().begin();
    let attached = Options {
        dump_on_exit: false,
        oom: OnOutOfMemory::Nothing,
        sampling: None,
        cpu: None,
        monitors: false,
        on: None,
        does: Does::Dump,
        ..options.clone()
    };
    let session = Session {
        listens: false,
        ..Session::new(vm, attached)?
    };
    // If two commands arrive at once, one of them sets it.
    let _ = SESSION.set(session);
    Session::get().map_or(Err(JvmtiError::INTERNAL), |session| {
        session.env.notify(CLASS_PREPARE, true)?;
        session.env.notify(VM_DEATH, true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_gate::CLASS_GATE;
    use jvm::env::invented_vm;
    use jvm::listener::Listener;
    use std::sync::mpsc::channel;
    use std::thread;

    #[test]
    fn a_thread_that_has_linked_a_class_waits_at_the_gate() {
        let Ok(Parsed::Options(options)) = options::parse("heap=dump") else {
            panic!("no options");
        };
        let session = Session::new(invented_vm::vm(), *options).unwrap();
        let closed = CLASS_GATE.close();
        thread::scope(|scope| {
            let (tell, told) = channel();
            let session = &session;
            scope.spawn(move || {
                session.class_prepare(&invented_vm::object());
                tell.send(()).unwrap();
            });
            while !CLASS_GATE.holds_one() {
                assert!(told.try_recv().is_err(), "nobody asked the gate");
                thread::yield_now();
            }
            drop(closed);
            told.recv().unwrap();
        });
    }
}
