//! A dump by HotSpot's own dumper, from the JVM's side: what is known is held, HotSpot dumps, its
//! file becomes ours.

use super::dump_name::DumpName;
use super::raw_heap::RawHeap;
use super::references::References;
use super::watch::watched;
use crate::copied::{self, Step};
use crate::heap::cause;
use crate::heap::error::{DumpError, For};
use crate::heap::facts::allocation_traces::{AllocationTraces, Profiled};
use crate::heap::facts::catalogue::Catalogue;
use crate::heap::facts::jvm_words::jvm_words;
use crate::heap::facts::memory_reserve;
use crate::heap::object_sizes;
use crate::heap::outcome::Outcome;
use crate::heap::request::Request;
use crate::heap::stop_bound::{dumper_estimate, StopBound};
use crate::order::Order;
use format::JvmFacts;
use hotspot::{stopped_by, Management};
use jvm::env::Env;
use jvm::heap_room;
use jvm::jni::Jni;
use jvm::os::owner;
use options::Options;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;
use tables::{ObjectTable, Tables};
use translation::{translate, Knowledge, Known, KnownByReference, Settings, ThreadNames};
use writer::DumpFile;

/// Facts about the heap from before HotSpot dumps it.
struct Facts<'f> {
    env: &'f Env,
    jni: &'f Jni<'f>,
    tables: Tables,
    objects: ObjectTable,
    references: References<'f>,
    site_records: Vec<u8>,
}

/// Makes the dump, in an environment without tags.
pub(in crate::heap) fn dump_by_hotspot(
    request: Request<'_>,
    env: &Env,
    jni: &Jni<'_>,
    file: DumpFile,
) -> Result<Outcome, DumpError> {
    let management = Management::find(jni).map_err(DumpError::Engine)?;
    let name = DumpName::beside(request.outlet, env, jni)?;
    check(&name, request.order, env, jni)?;
    let mut facts = Facts {
        env,
        jni,
        tables: Tables::new(),
        objects: ObjectTable::new(),
        references: References::new(jni),
        site_records: Vec::new(),
    };
    cause::tell(request.order.because, &facts.tables);
    facts.hold_threads()?;
    facts.hold_own(&name)?;
    facts.hold_profiled(request.profiled, request.order.options)?;
    let (known, pause) = facts.dump(management, &name, request.order.options)?;
    facts.tell_of_jvm(request.order.options, pause);
    let raw = RawHeap::new(name.raw.open(owner::check)?)?;
    let knowledge = Knowledge {
        tables: &facts.tables,
        objects: &mut facts.objects,
        known: &known,
        site_records: &facts.site_records,
    };
    let translated = translate(&raw, knowledge, &settings(request.order.options), file)?;
    Ok(Outcome {
        engine: "hotspot".to_owned(),
        path: translated.written.path,
        bytes: translated.written.bytes,
        objects: translated.objects,
        classes: translated.classes,
        cut_arrays: translated.cut_arrays,
        unread_stacks: 0,
        pause,
    })
}

fn settings(options: &Options) -> Settings {
    let processors = || available_parallelism().map_or(1, NonZeroUsize::get);
    Settings {
        primitive_fields: options.primitive_fields,
        primitive_arrays: options.primitive_arrays,
        line_numbers: options.line_numbers,
        depth_frames: options.depth_frames,
        threads: options.threads.unwrap_or_else(processors),
    }
}

/// An error if the stop may be too long, or if HotSpot's file may not fit the disk; ours takes the
/// place of what was read of it.
fn check(
    name: &DumpName<'_>,
    order: &Order<'_>,
    env: &Env,
    jni: &Jni<'_>,
) -> Result<(), DumpError> {
    let loaded = env.loaded_classes(jni).when("the list of loaded classes")?;
    let used = heap_room::used_bytes(env, jni, &loaded);
    loaded.into_iter().for_each(|class| jni.forget(class));
    StopBound(order.max_pause()).allow_dumper(used.map(dumper_estimate))?;
    let free = name.raw.free_bytes();
    match (
        used,
        free.map(|free| free.saturating_sub(order.options.min_free_bytes)),
    ) {
        (Some(needed_bytes), Some(free_bytes)) if free_bytes < needed_bytes => {
            Err(DumpError::SmallDisk {
                path: name.raw.path().to_owned(),
                needed_bytes,
                free_bytes,
            })
        }
        _ => Ok(()),
    }
}

impl<'f> Facts<'f> {
    /// The platform threads: HotSpot's file has nothing of their names but the objects.
    fn hold_threads(&mut self) -> Result<(), DumpError> {
        let (env, jni) = (self.env, self.jni);
        let own = env.current_thread(jni).when("the current thread")?;
        self.references.hold(&own, Known::OwnThread)?;
        for thread in env.live_threads(jni).when("the list of threads")? {
            // One that has just ended has no names.
            if let Ok(names) = env.thread_names(jni, &thread) {
                let names = ThreadNames {
                    name: names.name,
                    group: names.group,
                    parent_group: names.parent_group,
                };
                self.references.hold(&thread, Known::Thread(names))?;
            }
            jni.forget(thread);
        }
        Ok(())
    }

    /// The string that HotSpot is given, the array that refers to it, and the reserve: they must
    /// not be in the dump.
    fn hold_own(&mut self, name: &DumpName<'_>) -> Result<(), DumpError> {
        for object in [Some(name.string()), name.kept_array()]
            .into_iter()
            .flatten()
        {
            self.references.hold(object, Known::Agents)?;
        }
        if let Some(value) = self.jni.value_of_string(name.string()) {
            self.references.hold(&value, Known::Agents)?;
            self.jni.forget(value);
        }
        if let Some(reserve) = memory_reserve::array(self.jni) {
            self.references.hold(&reserve, Known::Agents)?;
            self.jni.forget(reserve);
        }
        Ok(())
    }

    /// Rows for the stacks of profiles; the objects that they allocated, and the classes that they
    /// name, are held.
    fn hold_profiled(
        &mut self,
        profiled: Profiled<'_>,
        options: &Options,
    ) -> Result<(), DumpError> {
        if profiled.allocations.is_none() && profiled.cpu.is_none() {
            return Ok(());
        }
        let (env, jni) = (self.env, self.jni);
        let mut catalogue = Catalogue::take(env, jni, &self.tables, &mut self.objects)?;
        let (allocated, held) = AllocationTraces::take(
            profiled,
            options,
            (env, jni),
            &mut catalogue,
            &mut self.objects,
        )?;
        for class in catalogue.ids() {
            if let Some(mirror) = catalogue.handle(class) {
                self.references.hold(mirror, Known::Class(class))?;
            }
        }
        if let Some(held) = held {
            let traces = allocated
                .by_handle
                .iter()
                .copied()
                .collect::<std::collections::HashMap<_, _>>();
            for (handle, object) in held.objects(jni) {
                if let Some(&trace) = traces.get(&handle) {
                    self.references.hold(&object, Known::Allocated(trace))?;
                }
                jni.forget(object);
            }
        }
        self.site_records = allocated.records;
        Ok(())
    }

    /// Turns the facts about the JVM into texts of the head. The sizes of single classes are not
    /// known here.
    fn tell_of_jvm(&self, options: &Options, pause: Duration) {
        let facts = JvmFacts {
            sizes: object_sizes::measure(self.env, self.jni),
            words: jvm_words(self.env, options, "hotspot", pause),
            ..JvmFacts::default()
        };
        for text in facts.texts() {
            self.tables.strings.intern(text.as_bytes());
        }
    }

    /// Has HotSpot dump; what was known, by the references of its file, and how long the
    /// application stood still.
    fn dump(
        &mut self,
        management: Management,
        name: &DumpName<'_>,
        options: &Options,
    ) -> Result<(KnownByReference, Duration), DumpError> {
        let (jni, raw) = (self.jni, &name.raw);
        // Not all of the time is a pause: HotSpot since 22 joins the pieces of its file when the
        // application runs again.
        let (dumped, pause) = stopped_by(self.env, jni, || {
            watched(
                || raw.bytes(),
                options.verbose,
                || management.dump_heap(jni, name.string()),
            )
        });
        copied::tell(Step::Copied);
        let references = std::mem::replace(&mut self.references, References::new(jni));
        let known = references.release();
        dumped.map_err(DumpError::Dumper)?;
        Ok((known, pause))
    }
}
