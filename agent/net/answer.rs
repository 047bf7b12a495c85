//! Executes the socket's commands. A line on stderr reports each one that cannot be executed.

use crate::gate::Inside;
use crate::message::say;
use crate::profile::{Part, Profiles};
use jvm::env::Env;
use jvm::jni::Jni;
use options::{Format, Options};
use reader::command::{Command, Control, SitesWanted};
use tables::profile::SiteOrder;
use writer::Connection;

/// The message when no allocations are recorded.
const NO_SITES: &str = "no allocations are recorded; start the JVM with heap=sites or heap=all";
/// The message when there are no CPU samples.
const NO_SAMPLES: &str = "there are no CPU samples; start the JVM with cpu=samples";

/// What commands act on.
pub(crate) trait Commanded: Sync {
    /// The environment of the events.
    fn env(&self) -> &Env;
    /// The user's options.
    fn options(&self) -> &Options;
    /// The profiles.
    fn profiles(&self) -> &Profiles;
    /// Held while a command runs; `None` once the JVM is shutting down.
    fn enter(&self) -> Option<Inside<'_>>;
    /// Dumps the heap, whether or not the options request it. Returns `true` if the peer has
    /// received it.
    fn heap_dump(&self, jni: &mut Jni<'_>) -> bool;
    /// Reports the profiles, of which there must be some, with rows of at least this share. Returns
    /// `true` if the peer has received the report.
    fn report(&self, jni: &mut Jni<'_>, cutoff: Option<f32>, part: Part) -> bool;
}

/// Executes a command. On the listener's thread, inside the gate.
pub(super) fn answer(
    session: &dyn Commanded,
    jni: &mut Jni<'_>,
    connection: &Connection,
    command: Command,
) {
    let done = match command {
        Command::ForceGc => force_gc(session),
        Command::HeapDump => {
            session.heap_dump(jni);
            Ok(())
        }
        Command::AllocSites(wanted) => alloc_sites(session, jni, wanted),
        Command::HeapSummary => heap_summary(session, jni),
        Command::DumpTraces => dump_traces(session, jni),
        Command::Exit => {
            say(&format!(
                "the command exit ends the connection to {}, never this process",
                connection.peer()
            ));
            connection.end_sending("the peer asked for it");
            connection.close("the peer asked for it");
            Ok(())
        }
        Command::CpuSamples { cutoff } => cpu_samples(session, jni, cutoff),
        Command::Control(control) => self::control(session, jni, control),
        Command::NoMore => Ok(()),
    };
    if let Err(why) = done {
        say(&format!("the command {} is ignored: {why}", name(command)));
    }
}

fn name(command: Command) -> &'static str {
    match command {
        Command::ForceGc => "force GC",
        Command::HeapDump => "heap dump",
        Command::AllocSites(_) => "allocation sites",
        Command::HeapSummary => "heap summary",
        Command::Exit => "exit",
        Command::DumpTraces => "dump traces",
        Command::CpuSamples { .. } => "CPU samples",
        Command::Control(Control::Allocations(true)) => "allocations on",
        Command::Control(Control::Allocations(false)) => "allocations off",
        Command::Control(Control::Sampling { on: true, .. }) => "sampling on",
        Command::Control(Control::Sampling { on: false, .. }) => "sampling off",
        Command::Control(Control::ClearCpu) => "clear CPU costs",
        Command::Control(Control::ClearSites) => "clear sites",
        Command::Control(Control::Depth(_)) => "depth",
        Command::NoMore => "no more",
    }
}

fn force_gc(session: &dyn Commanded) -> Result<(), String> {
    let refused = |error| format!("the JVM refuses: {error}");
    session.env().force_garbage_collection().map_err(refused)
}

fn alloc_sites(
    session: &dyn Commanded,
    jni: &mut Jni<'_>,
    wanted: SitesWanted,
) -> Result<(), String> {
    if session.profiles().allocations.is_none() {
        return Err(NO_SITES.to_owned());
    }
    if wanted.changed_only {
        say("the agent does not record which sites have changed, so all are sent");
    }
    if wanted.force_gc {
        force_gc(session)?;
    }
    let order = if wanted.by_allocated {
        SiteOrder::AllocatedBytes
    } else {
        SiteOrder::LiveBytes
    };
    session.report(jni, Some(wanted.cutoff), Part::Sites(order));
    Ok(())
}

fn heap_summary(session: &dyn Commanded, jni: &mut Jni<'_>) -> Result<(), String> {
    if session.profiles().allocations.is_none() {
        return Err(NO_SITES.to_owned());
    }
    if session.options().format == Format::Text {
        return Err("it has no form as text; start the JVM with format=b".to_owned());
    }
    session.report(jni, None, Part::HeapSummary);
    Ok(())
}

fn dump_traces(session: &dyn Commanded, jni: &mut Jni<'_>) -> Result<(), String> {
    if session.profiles().is_empty() {
        return Err("there are no traces, as nothing is profiled".to_owned());
    }
    session.report(jni, None, Part::Traces);
    Ok(())
}

fn cpu_samples(session: &dyn Commanded, jni: &mut Jni<'_>, cutoff: f32) -> Result<(), String> {
    if session.profiles().cpu_samples.is_none() {
        return Err(NO_SAMPLES.to_owned());
    }
    session.report(jni, Some(cutoff), Part::CpuSamples);
    Ok(())
}

fn clear_cpu(session: &dyn Commanded, jni: &mut Jni<'_>) -> Result<(), String> {
    let profiles = session.profiles();
    if let Some(times) = &profiles.cpu_times {
        times.take();
        return Ok(());
    }
    let Some(samples) = &profiles.cpu_samples else {
        return Err(
            "nothing is timed or sampled; start the JVM with cpu=times or cpu=samples".to_owned(),
        );
    };
    samples.take_counts(session.env(), jni);
    Ok(())
}

fn sampling(profiles: &Profiles, on: bool, thread_object: u32) -> Result<(), String> {
    let Some(samples) = &profiles.cpu_samples else {
        return Err(NO_SAMPLES.to_owned());
    };
    if thread_object != 0 {
        return Err(format!(
            "thread {thread_object:#x} is a four-byte id, which no thread has here; 0 means all threads"
        ));
    }
    samples.switch(on);
    Ok(())
}

fn control(session: &dyn Commanded, jni: &mut Jni<'_>, control: Control) -> Result<(), String> {
    let profiles: &Profiles = session.profiles();
    match control {
        Control::Allocations(on) => profiles.keep_allocations(session.env(), on)?,
        Control::Sampling { on, thread_object } => sampling(profiles, on, thread_object)?,
        Control::ClearCpu => clear_cpu(session, jni)?,
        Control::ClearSites => match &profiles.allocations {
            Some(allocations) => allocations.clear(jni),
            None => return Err(NO_SITES.to_owned()),
        },
        Control::Depth(frames) => profiles.set_depth(usize::from(frames))?,
    }
    Ok(())
}
