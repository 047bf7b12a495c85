//! One heap dump from request to end line: chooses the way.

use super::error::{estimate_text, DumpError, For};
use super::facts::allocation_traces::Profiled;
use super::fork::{Child, Ending, NoSnapshot, SnapshotDump};
use super::object_sizes;
use super::outcome::Outcome;
use super::request::{millis_since_epoch, Request, Way};
use super::tried::Tried;
use super::walk::walk_and_write;
use crate::ending;
use crate::jvmti::capability::{GET_LINE_NUMBERS, GET_SOURCE_FILE_NAME, TAG_OBJECTS};
use crate::jvmti::env::{Env, Vm};
use crate::jvmti::jni::Jni;
use crate::message::{say, say_if};
use crate::options::{Format, Options, StopTheWorld};
use crate::os::host::utc_offset_seconds;
use crate::profile::{Allocations, CpuCounts, StackTraces};
use parking_lot::Mutex;
use std::cell::Cell;
use std::time::{Duration, Instant};
use tables::Census;
use writer::{DumpFile, Outlet};

/// Tries by snapshot: each catches up with the classes that were loaded since the one before.
const SNAPSHOT_TRIES: u32 = 8;
/// Tries that are made even if they take long together.
const LEAST_TRIES: u32 = 3;
/// Time that the application may stand still for tries that fail.
const MOST_PAUSED: Duration = Duration::from_millis(500);
/// Tries for a dump during which classes are unloaded.
const TRIES: u32 = 3;

/// How long a dump waits for the last one's child, which gives its copy of the heap back.
const LAST_CHILD: Duration = Duration::from_secs(30);

/// Dumps are made one after the other; in it is the last one's child, if that has not ended. Held across JVM calls, but no other code
/// takes it, and a thread that waits for it waits in native code, where it holds up no safepoint.
static ONE_AT_A_TIME: Mutex<Option<Ending>> = Mutex::new(None);

thread_local! {
    /// Set while this thread makes a dump.
    static IS_DUMPING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread makes a dump: it must not wait for one.
pub(crate) fn is_dumping_here() -> bool {
    IS_DUMPING.try_with(Cell::get).unwrap_or(false)
}

/// What the session knows beside the heap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'s> {
    /// What the events counted; `None` if the agent does not listen.
    pub(crate) census: Option<&'s Census>,
    /// Who allocated what; `None` if allocations are not sampled.
    pub(crate) allocations: Option<&'s Allocations>,
    /// CPU samples since the last dump, and the stacks they name; `None` if they do not belong in the dump.
    pub(crate) cpu: Option<(&'s StackTraces, &'s CpuCounts)>,
}

/// Makes one dump, and says how it went on stderr. `true`: the file is there, or the peer has it.
///
/// On any thread attached to the JVM, in the live phase. The application stands still during the walk only.
pub(crate) fn dump(
    vm: Vm,
    jni: &mut Jni<'_>,
    options: &Options,
    known: Known<'_>,
    outlet: &Outlet,
) -> bool {
    IS_DUMPING.set(true);
    let is_there = dump_alone(vm, jni, options, known, outlet);
    IS_DUMPING.set(false);
    is_there
}

/// The same when no other dump is being made.
fn dump_alone(
    vm: Vm,
    jni: &mut Jni<'_>,
    options: &Options,
    known: Known<'_>,
    outlet: &Outlet,
) -> bool {
    let mut last_child = ONE_AT_A_TIME.lock();
    ending::show_life();
    if last_child
        .as_ref()
        .is_some_and(|last| !last.wait(LAST_CHILD))
    {
        say("no dump: the forked copy of the previous dump has not ended yet; try again later");
        return false;
    }
    *last_child = None;
    let started = Instant::now();
    if options.verbose {
        say(&begin_line(outlet, known.census));
    }
    let request = Request {
        vm,
        options,
        outlet,
        profiled: Profiled {
            allocations: known.allocations,
            cpu: known.cpu,
        },
    };
    match choose(request, jni) {
        Ok((outcome, child)) => {
            let is_told = options.verbose || outcome.cut_arrays > 0;
            say_if(is_told, &outcome.end_line(started.elapsed()));
            *last_child = child.and_then(Child::end_alone);
            true
        }
        Err(error) => {
            say(&format!("no dump: {error}"));
            false
        }
    }
}

fn begin_line(outlet: &Outlet, census: Option<&Census>) -> String {
    let Some(seen) = census.map(Census::snapshot) else {
        return format!("dumping the heap to {outlet}");
    };
    format!(
        "dumping the heap to {outlet} (so far {} classes loaded, {} threads started)",
        seen.classes_loaded, seen.threads_started
    )
}

/// A dump, and the child that wrote it, which has nothing more to do than to end: nobody waits for that to read the file.
type Made = (Outcome, Option<Child>);

/// Makes the dump in the best way that can serve.
///
/// A walk stops the application for long. It follows a fork that failed only if the heap can never be forked, or the user allows it.
fn choose(request: Request<'_>, jni: &mut Jni<'_>) -> Result<Made, DumpError> {
    let mut refusals: Vec<String> = Vec::new();
    let tried = Tried::default();
    let may_stop = request.options.stop_the_world;
    let ways = Way::all(request.options);
    for &way in ways {
        let made = match way {
            Way::Fork => by_fork(request, jni, &tried),
            Way::Pause | Way::Tags => by_walk(request, jni, way).map(|outcome| (outcome, None)),
        };
        let is_last = ways.last() == Some(&way);
        match made {
            Ok(made) if refusals.is_empty() => return Ok(made),
            Ok((mut outcome, child)) => {
                outcome.engine += &format!(", as {}", refusals.join("; "));
                outcome.pause += tried.paused.get();
                return Ok((outcome, child));
            }
            Err(DumpError::Engine(why)) if way == Way::Fork && !is_last => {
                let estimate = tried.walk_estimate();
                if may_stop == StopTheWorld::Never {
                    return Err(DumpError::WouldStop { why, estimate });
                }
                announce(&why, estimate);
                refusals.push(why);
            }
            Err(DumpError::NoCopy(why)) if may_stop == StopTheWorld::Always && !is_last => {
                announce(&why, tried.walk_estimate());
                refusals.push(why);
            }
            // The options leave no other way, so there is none to advise.
            Err(DumpError::NoCopy(why)) if is_last => {
                return Err(DumpError::Child(format!(
                    "{why}; the application ran on; try again"
                )));
            }
            Err(DumpError::Engine(why)) => refusals.push(why),
            Err(error) => return Err(error),
        }
    }
    Err(DumpError::Engine(refusals.join("; ")))
}

/// Says that the application will stop.
fn announce(why: &str, estimate: Option<Duration>) {
    let estimate = estimate_text(estimate);
    say(&format!(
        "{why}, so the dump stops the application{estimate}"
    ));
}

/// A dump by a forked copy, tried again while another try may do better.
fn by_fork(request: Request<'_>, jni: &mut Jni<'_>, tried: &Tried) -> Result<Made, DumpError> {
    // How many classes were known at the last tries that met an unknown one, or the first virtual thread.
    let mut known = Vec::new();
    let mut copies_all = false;
    let mut tries = 0;
    let mut was_moving = false;
    let began = Instant::now();
    let limit = Duration::from_secs(u64::from(request.options.timeout_s));
    while may_fork_again(tries, tried.paused.get()) && began.elapsed() < limit {
        tries += 1;
        was_moving = false;
        match by_snapshot(request, jni, tried, copies_all) {
            Ok((outcome, child)) => return Ok((outcome, Some(child))),
            Err(NoSnapshot::Damaged(_)) if tried.has_left_out.get() => copies_all = true,
            Err(NoSnapshot::Damaged(what)) => return Err(DumpError::Damaged(what)),
            Err(NoSnapshot::UnknownClass) => {
                known.push(tried.classes.get());
                if is_no_news(&known) && std::mem::replace(&mut copies_all, true) {
                    return Err(DumpError::Damaged(
                        "there are objects of a class that is not loaded".to_owned(),
                    ));
                }
            }
            Err(NoSnapshot::Stuck) => copies_all |= tries > LEAST_TRIES,
            Err(NoSnapshot::Moving) => was_moving = true,
            Err(NoSnapshot::Unlinked(_)) => {}
            Err(NoSnapshot::Refused(why)) => return Err(DumpError::Engine(why)),
            Err(NoSnapshot::Lost(why)) => return Err(DumpError::NoCopy(why)),
            Err(NoSnapshot::Failed(error)) => return Err(error),
        }
    }
    if was_moving {
        let why = "the collector was moving objects at each fork".to_owned();
        return Err(DumpError::Engine(why));
    }
    Err(DumpError::NoCopy(format!(
        "{tries} forks failed, which stopped the application for {} ms in total: the JVM was loading classes, or held locks",
        tried.paused.get().as_millis()
    )))
}

/// Whether there may be another fork after `tries`, which stopped the application for `paused` in all.
fn may_fork_again(tries: u32, paused: Duration) -> bool {
    tries < LEAST_TRIES || (tries < SNAPSHOT_TRIES && paused < MOST_PAUSED)
}

/// Whether three tries in a row have met a class that is unknown, though none was loaded between them.
fn is_no_news(known: &[usize]) -> bool {
    matches!(known, [.., a, b, c] if a == b && b == c)
}

/// One try by snapshot.
fn by_snapshot(
    request: Request<'_>,
    jni: &mut Jni<'_>,
    tried: &Tried,
    copies_all: bool,
) -> Result<(Outcome, Child), NoSnapshot> {
    let (vm, options, env) = (request.vm, request.options, environment(request.vm)?);
    let file = create_file(request, &env, jni)?;
    let made = jni.with_frame(|jni| {
        let now = millis_since_epoch();
        SnapshotDump::new(vm, &env, jni, options, now, tried, copies_all)
            .run(file, request.profiled)
    });
    made.ok_or(DumpError::Missing("memory for local references"))?
}

/// A dump by JVMTI's own walk, again if classes are unloaded meanwhile.
fn by_walk(request: Request<'_>, jni: &mut Jni<'_>, way: Way) -> Result<Outcome, DumpError> {
    let mut tries = 1;
    loop {
        match try_dump(request, jni, way) {
            Err(DumpError::ClassGone) if tries < TRIES => tries += 1,
            // What the addresses do not explain, tags may.
            Err(error @ (DumpError::Layout(_) | DumpError::InPieces)) if way == Way::Pause => {
                return Err(DumpError::Engine(format!("with addresses {error}")));
            }
            other => return other,
        }
    }
}

/// One try, in an environment of its own, which takes all tags with it when it goes.
fn try_dump(request: Request<'_>, jni: &mut Jni<'_>, way: Way) -> Result<Outcome, DumpError> {
    let env = environment(request.vm)?;
    let file = create_file(request, &env, jni)?;
    jni.with_frame(|jni| walk_and_write(request, &env, jni, file, way))
        .ok_or(DumpError::Missing("memory for local references"))?
}

/// The file, which takes the same records whether they become text or not.
fn create_file(request: Request<'_>, env: &Env, jni: &mut Jni<'_>) -> Result<DumpFile, DumpError> {
    let outlet = request.outlet.clone();
    if request.options.format == Format::Binary {
        return Ok(DumpFile::create(outlet)?);
    }
    let sizes = jni.with_frame(|jni| object_sizes::measure(env, jni));
    Ok(DumpFile::create_text(
        outlet,
        sizes.flatten().unwrap_or_default(),
        utc_offset_seconds(millis_since_epoch() / 1000),
    )?)
}

/// An environment with what a dump asks of the JVM.
fn environment(vm: Vm) -> Result<Env, DumpError> {
    let env = vm.new_env().when("a JVMTI environment")?;
    let wanted = [TAG_OBJECTS, GET_SOURCE_FILE_NAME, GET_LINE_NUMBERS];
    let missing = env
        .take_capabilities(&wanted)
        .when("the capability to tag objects")?;
    if missing.contains(&TAG_OBJECTS) {
        return Err(DumpError::Missing(TAG_OBJECTS.name));
    }
    Ok(env)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_end_with_the_time_that_the_application_has_lost() {
        let long = Duration::from_secs(2);
        assert!(may_fork_again(0, Duration::ZERO));
        assert!(may_fork_again(7, Duration::from_millis(499)));
        assert!(!may_fork_again(8, Duration::ZERO));
        assert!(may_fork_again(2, long));
        assert!(!may_fork_again(3, long));
    }
}
