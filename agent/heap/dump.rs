//! One heap dump from request to file: catalogue, stacks, walk, file, end line.

use super::catalogue::Catalogue;
use super::class_records::ClassRecords;
use super::error::{DumpError, For};
use super::methods::Methods;
use super::portable::{Walk, Walked};
use super::threads::{tag_thread, CapturedStacks};
use crate::file_name::USED_NAMES;
use crate::jvmti::capability::{GET_LINE_NUMBERS, GET_SOURCE_FILE_NAME, TAG_OBJECTS};
use crate::jvmti::env::{Env, Vm};
use crate::jvmti::heap::Wanted;
use crate::jvmti::jni::Jni;
use crate::message::say;
use crate::options::Options;
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tables::{Census, ObjectIndex, ObjectTable, Tables, ThreadId, TraceId};
use writer::{emit, DumpFile, Existing, Segments, Target};

/// Tries for a dump during which classes are unloaded.
const TRIES: u32 = 3;

/// Dumps are made one after the other. Held across JVM calls, but no other code takes it, and a thread
/// that waits for it waits in native code, where it holds up no safepoint.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// What the end line tells.
#[derive(Clone, Debug)]
struct Outcome {
    path: PathBuf,
    bytes: u64,
    objects: u64,
    classes: usize,
    cut_arrays: u64,
    pause: Duration,
}

/// Makes one dump, and says how it went on stderr. `true`: the file is there.
///
/// On any thread attached to the JVM, in the live phase. The application stands still during the walk only.
/// `census` is what the events counted; `None` if the agent does not listen.
pub(crate) fn dump(vm: Vm, jni: &mut Jni<'_>, options: &Options, census: Option<&Census>) -> bool {
    let _one = ONE_AT_A_TIME.lock();
    let started = Instant::now();
    let path = options.file.choose(&mut USED_NAMES.lock(), options.force);
    if options.verbose {
        say(&begin_line(&path, census));
    }
    let mut tries = 1;
    let result = loop {
        match try_dump(vm, jni, options, &path) {
            Err(DumpError::ClassGone) if tries < TRIES => tries += 1,
            other => break other,
        }
    };
    match result {
        Ok(outcome) => {
            say(&end_line(&outcome, started.elapsed()));
            true
        }
        Err(error) => {
            say(&format!("no dump: {error}"));
            false
        }
    }
}

fn begin_line(path: &Path, census: Option<&Census>) -> String {
    let path = path.display();
    let Some(seen) = census.map(Census::snapshot) else {
        return format!("dumping the heap to {path}");
    };
    let virtual_threads = match seen.virtual_threads_started {
        0 => String::new(),
        threads => format!(", {threads} virtual threads"),
    };
    format!(
        "dumping the heap to {path} (so far {} classes loaded, {} threads started{virtual_threads})",
        seen.classes_loaded, seen.threads_started
    )
}

fn end_line(outcome: &Outcome, total: Duration) -> String {
    let cut = match outcome.cut_arrays {
        0 => String::new(),
        arrays => format!("; {arrays} arrays are cut, as their records would pass 4 GiB"),
    };
    format!(
        "dumped {}: {} bytes, {} objects, {} classes; application paused for {} ms, total {} ms, engine portable{cut}",
        outcome.path.display(),
        outcome.bytes,
        outcome.objects,
        outcome.classes,
        outcome.pause.as_millis(),
        total.as_millis()
    )
}

/// One try, in an environment of its own, which takes all tags with it when it goes.
fn try_dump(
    vm: Vm,
    jni: &mut Jni<'_>,
    options: &Options,
    path: &Path,
) -> Result<Outcome, DumpError> {
    let env = vm.new_env().when("a JVMTI environment")?;
    let wanted = [TAG_OBJECTS, GET_SOURCE_FILE_NAME, GET_LINE_NUMBERS];
    let missing = env
        .take_capabilities(&wanted)
        .when("the capability to tag objects")?;
    if missing.contains(&TAG_OBJECTS) {
        return Err(DumpError::Missing(TAG_OBJECTS.name));
    }
    let existing = if options.force {
        Existing::Replace
    } else {
        Existing::Keep
    };
    let file = DumpFile::create(Target {
        path: path.to_owned(),
        existing,
    })?;
    jni.with_frame(|jni| walk_and_write(vm, &env, jni, options, file))
        .ok_or(DumpError::Missing("memory for local references"))?
}

/// One dump under way, in its own local frame.
struct Dump<'f> {
    env: &'f Env,
    jni: &'f Jni<'f>,
    options: &'f Options,
    tables: Tables,
    catalogue: Catalogue<'f>,
    millis_since_epoch: u64,
}

fn walk_and_write(
    vm: Vm,
    env: &Env,
    jni: &Jni<'_>,
    options: &Options,
    file: DumpFile,
) -> Result<Outcome, DumpError> {
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let millis_since_epoch = u64::try_from(since_epoch.as_millis()).unwrap_or(0);
    let tables = Tables::new();
    let mut objects = ObjectTable::new();
    let catalogue = Catalogue::take(env, jni, &tables, &mut objects)?;
    let mut dump = Dump {
        env,
        jni,
        options,
        tables,
        catalogue,
        millis_since_epoch,
    };
    let current = env.current_thread(jni).when("the current thread")?;
    let own_thread = tag_thread(env, jni, &current, &mut objects)?;
    let stacks = CapturedStacks::take(vm, env, jni, &mut objects)?;
    let (walked, pause) = dump.walk(objects, own_thread, &file)?;
    dump.write(walked, stacks, file, pause)
}

impl<'f> Dump<'f> {
    /// Walks the heap; the application stands still for the time that is answered.
    fn walk(
        &self,
        objects: ObjectTable,
        own_thread: ObjectIndex,
        file: &DumpFile,
    ) -> Result<(Walked, Duration), DumpError> {
        let segments = Segments::new(file.objects_sender());
        let primitive_arrays = self.options.primitive_arrays;
        let mut walk = Walk::new(
            &self.catalogue,
            &self.tables,
            objects,
            Some(own_thread),
            primitive_arrays,
            segments,
        );
        let wanted = Wanted {
            primitive_fields: self.options.primitive_fields,
            primitive_arrays,
        };
        let began = Instant::now();
        let answer = self.env.follow_references(&mut walk, wanted);
        let pause = began.elapsed();
        // What the walk itself complains of is the reason for the JVM's answer, so it comes first.
        let walked = walk.finish()?;
        answer.when("the walk over the heap")?;
        Ok((walked, pause))
    }

    /// Writes what the walk has left over, and all that stands before the objects in the file.
    fn write(
        &mut self,
        mut walked: Walked,
        stacks: CapturedStacks<'f>,
        file: DumpFile,
        pause: Duration,
    ) -> Result<Outcome, DumpError> {
        walked.admit_new_classes(self.env, self.jni, &mut self.catalogue, &self.tables)?;
        let mut methods = Methods::new(self.env, self.jni, self.options.line_numbers);
        let threads = stacks.fill(
            walked.roots.threads(),
            self.options.depth_frames,
            &mut methods,
            &mut self.catalogue,
            &self.tables,
            &mut walked.objects,
        )?;
        let objects = walked.write_rest(&self.catalogue, &self.tables)?;
        self.write_head(&walked, &threads.ids, &file)?;
        let (classes, cut_arrays) = (self.tables.classes.len(), walked.cut_arrays);
        walked.finish_segments()?;
        let written = file.finish()?;
        Ok(Outcome {
            path: written.path,
            bytes: written.bytes,
            objects,
            classes,
            cut_arrays,
            pause: pause + threads.pause,
        })
    }

    fn write_head(
        &self,
        walked: &Walked,
        threads: &[(ThreadId, TraceId)],
        file: &DumpFile,
    ) -> Result<(), DumpError> {
        let (tables, catalogue) = (&self.tables, &self.catalogue);
        // Strings come first in the file, so all of them must be known before it begins.
        let classes = ClassRecords::new(tables, catalogue, walked);
        classes.intern_names();
        let class_object = |class| walked.objects.id(catalogue.mirror(class)?);
        let deliver = &mut |bytes| file.head(bytes);
        emit::head(
            tables,
            &walked.objects,
            class_object,
            self.millis_since_epoch,
            deliver,
        )?;
        let mut segments = Segments::new(|bytes| file.head(bytes));
        classes.write(&mut segments)?;
        let roots = walked
            .roots
            .records(threads, |mirror| self.is_bootstrap_class(mirror));
        emit::roots(&roots, &walked.objects, tables, &mut segments)?;
        segments.finish()?;
        Ok(())
    }

    fn is_bootstrap_class(&self, mirror: ObjectIndex) -> bool {
        let row = self
            .catalogue
            .class_of_mirror(mirror)
            .and_then(|class| self.tables.classes.get(class));
        row.is_some_and(|row| row.loader.is_none())
    }
}
