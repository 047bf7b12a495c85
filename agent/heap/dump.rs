//! One heap dump, from the request to the summary line: chooses how to make it.

use super::dumper::dump_by_hotspot;
use super::error::{estimate_text, Again, Context, DumpError};
use super::fork::{self, Attempt, Child, Ending};
use super::left::{check_mappings, MAPPINGS};
use super::object_sizes;
use super::outcome::{sent_what, Outcome};
use super::request::{Request, Way};
use super::stop_bound::StopBound;
use super::text_dump;
use super::tried::{Tried, OOP_MAP};
use crate::copied::{self, Step};
use crate::ending;
use crate::message::{counted, or_none, say, say_if, tell_client};
use crate::order::{Order, Recipient};
use format::{answer, ObjectSizes};
use jvm::capability::{GET_LINE_NUMBERS, GET_SOURCE_FILE_NAME, TAG_OBJECTS};
use jvm::env::{Env, Vm};
use jvm::jni::Jni;
use jvm::os::descriptor::{give_up_reserve, in_reserve, refill_reserve};
use jvm::os::host::{unix_millis, utc_offset_seconds};
use options::{Format, StopTheWorld};
use parking_lot::{Mutex, MutexGuard};
use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tables::Census;
use writer::{DumpFile, WriteError};

/// Attempts by snapshot. Each catches up with the classes loaded since the one before.
const SNAPSHOT_TRIES: u32 = 8;
/// Attempts that are made even if they take long together.
const LEAST_TRIES: u32 = 3;
/// Longest total pause of failed attempts.
const MOST_PAUSED: Duration = Duration::from_millis(500);
/// The same if objects were being moved.
const MOST_MOVING: Duration = Duration::from_millis(50);
/// After the first attempt that met objects being moved; after each further one longer.
const MOVING: Duration = Duration::from_millis(20);

/// The JVM has no memory for a local frame.
const NO_FRAME: DumpError = DumpError::Missing("memory for local references");

/// How long a dump waits for the previous dump's child to end and give back its copy of the heap.
const LAST_CHILD: Duration = Duration::from_secs(30);

/// Dumps are made one at a time. Holds the previous dump's child until that has ended. The lock is
/// held across JVM calls, but no other code takes it, and a thread waiting for it is in native
/// code, where it delays no safepoint.
static ONE_AT_A_TIME: Mutex<Option<Ending>> = Mutex::new(None);

thread_local! {
    /// Set while this thread makes a dump.
    static IS_DUMPING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is making a dump, so that it must not wait for one.
pub(crate) fn is_dumping_here() -> bool {
    IS_DUMPING.try_with(Cell::get).unwrap_or(false)
}

/// A dump that was made.
#[derive(Debug)]
pub(crate) struct MadeDump {
    /// The file, or the name of the peer that has received it.
    pub(crate) file: PathBuf,
    /// Whether the profiles are in it.
    pub(crate) has_profiles: bool,
}

/// Makes one dump and reports the result on stderr.
///
/// Runs on any thread attached to the JVM, in the live phase. The application pauses for a part of
/// the time only.
pub(crate) fn dump(request: Request<'_>, jni: &mut Jni<'_>) -> Option<MadeDump> {
    let _alone = Alone::begin();
    or_none("dump", || dump_alone(request, jni))
}

/// This thread makes a dump until this is dropped.
pub(super) struct Alone;

impl Alone {
    pub(super) fn begin() -> Self {
        IS_DUMPING.set(true);
        Self
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        IS_DUMPING.set(false);
        refill_reserve();
    }
}

/// Waits until no other dump is made, and until the copy of the previous one has ended. The error
/// is that it has not.
pub(super) fn take_turn() -> Result<MutexGuard<'static, Option<Ending>>, String> {
    let mut last_child = ONE_AT_A_TIME.lock();
    ending::show_life();
    let last = last_child.as_ref();
    if last.is_some_and(|last| !last.wait(LAST_CHILD)) {
        let why = "the forked copy of the previous dump has not ended yet; try again later";
        return Err(why.to_owned());
    }
    *last_child = None;
    check_mappings(MAPPINGS)?;
    copied::tell(Step::Begins);
    Ok(last_child)
}

/// Makes the dump, once no other dump is being made.
fn dump_alone(request: Request<'_>, jni: &mut Jni<'_>) -> Option<MadeDump> {
    let mut last_child = match take_turn() {
        Ok(last_child) => last_child,
        Err(why) => {
            say(&format!("no dump: {why}"));
            return None;
        }
    };
    let started = Instant::now();
    let order = request.order;
    let options = order.options;
    if options.verbose {
        say(&begin_line(request));
    }
    match choose(request, jni) {
        Ok((outcome, child)) => {
            if let Some(line) = StopBound(order.max_pause()).passed_by(outcome.pause) {
                say(&line);
            }
            let is_told = options.verbose || !outcome.lacks.is_empty();
            let line = outcome.end_line(order, started.elapsed());
            // Before the message: a client may take the last line for it.
            tell_client(&outcome.for_programs().to_string());
            say_if(is_told, &line);
            *last_child = child.and_then(Child::end_alone);
            Some(MadeDump {
                file: outcome.path,
                has_profiles: outcome.counts.is_some(),
            })
        }
        // It is there, but not under its name.
        Err(DumpError::Write(error @ WriteError::Unnamed { .. })) => {
            say(&error.to_string());
            None
        }
        Err(error) => {
            if let Some(why) = error.refusal() {
                tell_client(&answer::Outcome::Refused(why).to_string());
            }
            say(&format!("no dump: {error}"));
            None
        }
    }
}

fn begin_line(request: Request<'_>) -> String {
    let (order, outlet) = (request.order, request.outlet);
    if let Some(what) = sent_what(order) {
        return format!("sending {what} to a command that asked for it");
    }
    if let Recipient::Leaks(asked) = &order.recipient {
        return format!("running hprof {} for {outlet}", asked.question);
    }
    let Some(seen) = request.census.map(Census::snapshot) else {
        return format!("dumping the heap to {outlet}");
    };
    format!(
        "dumping the heap to {outlet} (so far {} classes loaded, {} threads started)",
        seen.classes_loaded, seen.threads_started
    )
}

/// A dump, and the child that wrote it. The child only has to end, and readers of the file do not
/// wait for that.
type Made = (Outcome, Option<Child>);

/// Makes the dump in the best possible way.
///
/// HotSpot's dumper stops the application for long. It follows a failed fork only if the heap can
/// never be forked, or if the user allows it.
fn choose(request: Request<'_>, jni: &mut Jni<'_>) -> Result<Made, DumpError> {
    let mut refusals: Vec<String> = Vec::new();
    let tried = Tried::default();
    let order = request.order;
    let may_stop = order.stop_the_world();
    let ways = Way::all(order);
    for &way in ways {
        let made = match way {
            Way::Fork => by_fork(request.vm, jni, order, &tried, |attempt| {
                let file = create_file(request, || attempt.sizes)?;
                let (outcome, child) = attempt.run(file, request.profiled)?;
                Ok((outcome, Some(child)))
            }),
            Way::HotSpot => by_hotspot(request, jni).map(|outcome| (outcome, None)),
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
                let estimate = tried.stop_estimate();
                if may_stop == StopTheWorld::Never {
                    return Err(DumpError::WouldStop { why, estimate });
                }
                StopBound(order.max_pause()).allow_dumper(estimate)?;
                announce(&why, estimate);
                refusals.push(why);
            }
            Err(DumpError::NoCopy(why)) if may_stop == StopTheWorld::Allowed && !is_last => {
                let estimate = tried.stop_estimate();
                StopBound(order.max_pause()).allow_dumper(estimate)?;
                announce(&why, estimate);
                refusals.push(why);
            }
            // The options allow no other way, so there is none to recommend.
            Err(DumpError::NoCopy(why)) if is_last => {
                return Err(DumpError::Child(format!(
                    "{why}; the application ran on; try again"
                )));
            }
            Err(DumpError::Engine(why)) if order.has_no_dump() => {
                return Err(DumpError::NoGraph(why));
            }
            Err(DumpError::Engine(why)) if order.options.leaves_out_values() => {
                return Err(DumpError::NoRedaction(why));
            }
            Err(DumpError::Engine(why)) => refusals.push(why),
            Err(error) => return Err(error),
        }
    }
    Err(DumpError::Engine(refusals.join("; ")))
}

/// Warns that the application will stop.
fn announce(why: &str, estimate: Option<Duration>) {
    let estimate = estimate_text(estimate);
    say(&format!(
        "{why}, so the dump stops the application{estimate}"
    ));
}

/// Forks. Tries again as long as another attempt may succeed.
pub(super) fn by_fork<T>(
    vm: Vm,
    jni: &mut Jni<'_>,
    order: &Order<'_>,
    tried: &Tried,
    mut make: impl FnMut(&Attempt<'_>) -> Result<T, DumpError>,
) -> Result<T, DumpError> {
    // The number of known classes at each recent attempt that met an unknown class or the first
    // virtual thread.
    let mut known = Vec::new();
    let mut copies_all = false;
    let mut tries = 0;
    let mut was_moving = false;
    let kept_image = RefCell::default();
    let began = Instant::now();
    let limit = Duration::from_secs(u64::from(order.options.timeout_s));
    while may_fork_again(tries, tried.paused.get()) && began.elapsed() < limit {
        tries += 1;
        was_moving = false;
        let env = environment(vm)?;
        let made = jni.with_frame(|jni| {
            make(&Attempt {
                env: &env,
                jni,
                order,
                millis_since_epoch: unix_millis(),
                tried,
                kept_image: &kept_image,
                copies_all,
                sizes: object_sizes::measure(&env, jni),
            })
        });
        match made.unwrap_or(Err(NO_FRAME)) {
            Ok(made) => return Ok(made),
            Err(DumpError::Damaged(_)) if tried.has_left_out.get() && !copies_all => {
                copies_all = true;
            }
            Err(DumpError::Again(Again::UnknownClass)) => {
                known.push(tried.classes.get());
                if is_no_news(&known) && std::mem::replace(&mut copies_all, true) {
                    return Err(DumpError::Damaged(
                        "there are objects of a class that is not loaded".to_owned(),
                    ));
                }
            }
            Err(DumpError::Again(Again::Stuck)) => copies_all |= tries > LEAST_TRIES,
            Err(DumpError::Again(Again::Moving)) => {
                was_moving = true;
                if tries >= LEAST_TRIES && tried.paused.get() > MOST_MOVING {
                    break;
                }
                sleep(MOVING * tries);
            }
            Err(DumpError::Again(Again::OopMaps)) => tried.no_oop_maps.set(Some(OOP_MAP)),
            Err(DumpError::Again(
                Again::Unlinked(_) | Again::LostFilter | Again::Grown | Again::Waited,
            )) => {}
            Err(error) => return Err(error),
        }
    }
    if was_moving {
        return Err(DumpError::Engine(fork::MOVING.to_owned()));
    }
    Err(DumpError::NoCopy(format!(
        "{} failed, which stopped the application for {} ms in total: the JVM was loading classes, held locks, had no processor, or its heap grew",
        counted(u64::from(tries), "fork", "forks"),
        tried.paused.get().as_millis()
    )))
}

/// Whether to fork again after `tries` attempts that paused the application for `paused` in total.
fn may_fork_again(tries: u32, paused: Duration) -> bool {
    tries < LEAST_TRIES || (tries < SNAPSHOT_TRIES && paused < MOST_PAUSED)
}

/// Whether three attempts in a row met an unknown class although no class was loaded between them.
fn is_no_news(known: &[usize]) -> bool {
    matches!(known, [.., a, b, c] if a == b && b == c)
}

/// Makes the dump by HotSpot's own dumper, in a JVMTI environment of its own.
fn by_hotspot(request: Request<'_>, jni: &mut Jni<'_>) -> Result<Outcome, DumpError> {
    let env = environment(request.vm)?;
    // HotSpot opens its file itself.
    give_up_reserve();
    // HotSpot dumps whatever a frame refers to, so the objects that are measured are in a frame of
    // their own.
    let sizes = |jni: &mut Jni<'_>| {
        jni.with_frame(|jni| object_sizes::measure(&env, jni))
            .flatten()
    };
    let file = create_file(request, || sizes(jni))?;
    jni.with_frame(|jni| dump_by_hotspot(request, &env, jni, file))
        .unwrap_or(Err(NO_FRAME))
}

/// Creates the file. It takes the same records for the binary and the text format.
fn create_file(
    request: Request<'_>,
    sizes: impl FnOnce() -> Option<ObjectSizes>,
) -> Result<DumpFile, WriteError> {
    if request.order.format == Format::Binary {
        return in_reserve(|| DumpFile::create(request.outlet));
    }
    let sizes = sizes().unwrap_or_default();
    let offset_seconds = utc_offset_seconds(unix_millis() / 1000);
    in_reserve(|| text_dump::create(request.outlet, sizes, offset_seconds))
}

/// A JVMTI environment with the capabilities that a dump needs.
fn environment(vm: Vm) -> Result<Env, DumpError> {
    let env = vm.new_env().context("a JVMTI environment")?;
    let wanted = [TAG_OBJECTS, GET_SOURCE_FILE_NAME, GET_LINE_NUMBERS];
    let missing = env
        .take_capabilities(&wanted)
        .context("the capability to tag objects")?;
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
