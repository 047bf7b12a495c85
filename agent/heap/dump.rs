//! One heap dump from request to file: catalogue, stacks, walk, file, end line.

use super::catalogue::{tag_new, Catalogue};
use super::error::{DumpError, For};
use super::methods::Methods;
use super::portable::{value_of, ClassValues, StaticValue, Walk, Walked};
use super::threads::CapturedStacks;
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
use tables::{Census, ClassId, ClassRow, ObjectIndex, ObjectTable, StaticLayout, Tables};
use writer::heap_record::{ClassDump, StaticField, Value};
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
pub(crate) fn dump(vm: Vm, jni: Jni<'_>, options: &Options, census: Option<&Census>) -> bool {
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
    match census.map(Census::snapshot) {
        None => format!("dumping the heap to {path}"),
        Some(seen) => format!(
            "dumping the heap to {path} (so far {} classes loaded, {} threads started, {} of them virtual)",
            seen.classes_loaded,
            seen.threads_started + seen.virtual_threads_started,
            seen.virtual_threads_started
        ),
    }
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

/// One try, in an environment of its own: disposing of it removes all tags.
fn try_dump(vm: Vm, jni: Jni<'_>, options: &Options, path: &Path) -> Result<Outcome, DumpError> {
    let env = vm.new_env().when("a JVMTI environment")?;
    let result = dump_in(env, jni, options, path);
    env.dispose().when("the end of a JVMTI environment")?;
    result
}

fn dump_in(env: Env, jni: Jni<'_>, options: &Options, path: &Path) -> Result<Outcome, DumpError> {
    let wanted = [TAG_OBJECTS, GET_SOURCE_FILE_NAME, GET_LINE_NUMBERS];
    let missing = env.take_capabilities(&wanted).when("the capability to tag objects")?;
    if missing.contains(&TAG_OBJECTS) {
        return Err(DumpError::Missing(TAG_OBJECTS.name));
    }
    let existing = if options.force { Existing::Replace } else { Existing::Keep };
    let file = DumpFile::create(Target { path: path.to_owned(), existing })?;
    jni.with_frame(|jni| walk_and_write(env, jni, options, file))
        .ok_or(DumpError::Missing("memory for local references"))?
}

fn walk_and_write(env: Env, jni: Jni<'_>, options: &Options, file: DumpFile) -> Result<Outcome, DumpError> {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let tables = Tables::new();
    let mut objects = ObjectTable::new();
    let mut catalogue = Catalogue::take(env, jni, &tables, &mut objects)?;
    let own_thread = own_thread(env, jni, &mut objects)?;
    let stacks = CapturedStacks::take(env, jni)?;
    let segments = Segments::new(file.objects_sender());
    let mut walk = Walk::new(&catalogue, &tables, objects, Some(own_thread), options.primitive_arrays, segments);
    let wanted =
        Wanted { primitive_fields: options.primitive_fields, primitive_arrays: options.primitive_arrays };
    let began = Instant::now();
    let answer = env.follow_references(&mut walk, wanted);
    let pause = began.elapsed();
    let mut walked = walk.finish()?;
    answer.when("the walk over the heap")?;

    walked.admit_new_classes(env, jni, &mut catalogue, &tables)?;
    let mut methods = Methods::new(env, jni, options.line_numbers);
    let threads = stacks.fill(
        walked.roots.threads(),
        options.depth_frames,
        &mut methods,
        &mut catalogue,
        &tables,
        &mut walked.objects,
    )?;
    let objects = walked.write_rest(&catalogue, &tables)?;
    let is_sticky = |mirror| is_bootstrap_class(&catalogue, &tables, mirror);
    let roots = walked.roots.records(&threads, is_sticky);
    write_head(&file, &walked, &catalogue, &tables, millis.try_into().unwrap_or(0))?;
    let mut segments = Segments::new(|bytes| file.head(bytes));
    write_classes(&mut segments, &walked, &catalogue, &tables)?;
    emit::roots(&roots, &walked.objects, &tables, &mut segments)?;
    segments.finish()?;
    let (classes, cut_arrays) = (tables.classes.len(), walked.cut_arrays);
    walked.finish_segments()?;
    let written = file.finish()?;
    Ok(Outcome { path: written.path, bytes: written.bytes, objects, classes, cut_arrays, pause })
}

/// Tags the thread that makes the dump: its local references are the agent's own.
fn own_thread(env: Env, jni: Jni<'_>, objects: &mut ObjectTable) -> Result<ObjectIndex, DumpError> {
    let thread = env.current_thread(jni).when("the current thread")?;
    let class = jni.class_of(thread).ok_or(DumpError::Missing("the class of a thread"))?;
    let tag = env.tag(class).when("the tag of a class")?;
    let known = env.tag(thread).when("the tag of a thread")?;
    match ObjectIndex::from_tag(known) {
        Some(index) => Ok(index),
        None => tag_new(env, objects, thread, ObjectIndex::from_tag(tag)),
    }
}

fn is_bootstrap_class(catalogue: &Catalogue<'_>, tables: &Tables, mirror: ObjectIndex) -> bool {
    let row = catalogue.class_of_mirror(mirror).and_then(|class| tables.classes.get(class));
    row.is_some_and(|row| row.loader.is_none())
}

fn write_head(
    file: &DumpFile,
    walked: &Walked,
    catalogue: &Catalogue<'_>,
    tables: &Tables,
    millis: u64,
) -> Result<(), DumpError> {
    for values in walked.class_values.values() {
        for &(index, _) in &values.constant_pool {
            tables.strings.intern(&constant_name(index));
        }
    }
    let class_object = |class| walked.objects.id(catalogue.mirror(class)?);
    emit::head(tables, &walked.objects, class_object, millis, &mut |bytes| file.head(bytes))?;
    Ok(())
}

/// Name of the synthetic static field that keeps a constant pool entry: readers skip HPROF's own pool entries,
/// and the object would look unreachable.
fn constant_name(index: u32) -> Vec<u8> {
    format!("<constant pool {index}>").into_bytes()
}

fn write_classes(
    segments: &mut Segments<impl writer::Deliver>,
    walked: &Walked,
    catalogue: &Catalogue<'_>,
    tables: &Tables,
) -> Result<(), DumpError> {
    let nothing = ClassValues::default();
    for class in (0..tables.classes.len()).filter_map(ClassId::from_index) {
        let (Some(row), Some(mirror)) = (tables.classes.get(class), catalogue.mirror(class)) else { continue };
        let Some(object) = walked.objects.id(mirror) else { continue };
        let values = walked.class_values.get(&mirror).unwrap_or(&nothing);
        let id = |index: Option<ObjectIndex>| index.and_then(|index| walked.objects.id(index));
        let statics = statics(class, &row, values, tables, walked)?;
        let fields: Vec<_> = row
            .own_fields()
            .iter()
            .filter(|field| !field.is_static)
            .map(|field| (field.name, field.basic_type))
            .collect();
        let record = ClassDump {
            class: object,
            super_class: id(row.super_class.and_then(|class| catalogue.mirror(class))),
            loader: id(row.loader.and_then(|loader| tables.loaders.get(loader))),
            signers: id(values.signers),
            protection_domain: id(values.protection_domain),
            instance_size_bytes: tables::InstanceLayout::of(&tables.classes, class)
                .map_or(0, |layout| layout.data_bytes()),
            statics: &statics,
            fields: &fields,
        };
        segments.record(|out| record.encode(out))?;
    }
    Ok(())
}

/// The class's static fields in the order of the class file, then one for each object of its constant pool.
fn statics(
    class: ClassId,
    row: &ClassRow,
    values: &ClassValues,
    tables: &Tables,
    walked: &Walked,
) -> Result<Vec<StaticField>, DumpError> {
    let mut found: Vec<Option<Value>> = row.own_fields().iter().map(|_| None).collect();
    let layout = StaticLayout::of(&tables.classes, class);
    for &(index, value) in &values.statics {
        let place = layout.as_ref().and_then(|layout| layout.position(index));
        let place = place.and_then(|place| found.get_mut(place)).ok_or(DumpError::Layout("a static field"))?;
        *place = Some(match value {
            StaticValue::Reference(target) => Value::Object(walked.objects.id(target)),
            StaticValue::Primitive(primitive) => value_of(primitive),
        });
    }
    let declared = row.own_fields().iter().zip(found).filter(|(field, _)| field.is_static).map(|(field, value)| {
        StaticField { name: field.name, value: value.unwrap_or_else(|| Value::zero(field.basic_type)) }
    });
    let constants = values.constant_pool.iter().map(|&(index, target)| StaticField {
        name: tables.strings.intern(&constant_name(index)),
        value: Value::Object(walked.objects.id(target)),
    });
    Ok(declared.chain(constants).collect())
}
