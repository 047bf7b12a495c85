//! A dump by JVMTI's own walk, inside the pause: catalogue, stacks, walk, file.

use super::class_records::ClassRecords;
use super::class_values::StaticValue;
use super::identity::Identity;
use super::visitor::{Walk, Walked};
use crate::heap::error::{DumpError, For};
use crate::heap::facts::allocation_traces::{AllocationTraces, Profiled};
use crate::heap::facts::catalogue::Catalogue;
use crate::heap::facts::kept_objects::KeptObjects;
use crate::heap::facts::methods::Methods;
use crate::heap::facts::threads::{tag_thread, CapturedStacks, Look};
use crate::heap::facts::virtual_threads::VIRTUAL_THREAD;
use crate::heap::outcome::Outcome;
use crate::heap::request::{millis_since_epoch, Request, Way};
use crate::jvmti::env::Env;
use crate::jvmti::heap::Wanted;
use crate::jvmti::jni::Jni;
use crate::options::Options;
use std::collections::HashSet;
use std::time::{Duration, Instant};
use tables::{ObjectIndex, ObjectTable, Tables, ThreadId, TraceId};
use writer::{emit, DumpFile, Segments};

/// One dump under way, in its own local frame.
struct Dump<'f> {
    env: &'f Env,
    jni: &'f Jni<'f>,
    options: &'f Options,
    way: Way,
    tables: Tables,
    catalogue: Catalogue<'f>,
    millis_since_epoch: u64,
}

/// Makes the dump in this way, in an environment without tags.
pub(in crate::heap) fn walk_and_write(
    request: Request<'_>,
    env: &Env,
    jni: &Jni<'_>,
    file: DumpFile,
    way: Way,
) -> Result<Outcome, DumpError> {
    let (tables, mut objects) = (Tables::new(), ObjectTable::new());
    let catalogue = Catalogue::take(env, jni, &tables, &mut objects)?;
    let _kept = KeptObjects::take_tagged(env, jni)?;
    let mut dump = Dump {
        env,
        jni,
        options: request.options,
        way,
        tables,
        catalogue,
        millis_since_epoch: millis_since_epoch(),
    };
    let current = env.current_thread(jni).when("the current thread")?;
    let own_thread = tag_thread(env, jni, &current, &mut objects)?;
    let stacks = CapturedStacks::take(request.vm, env, jni, Look::ByTag, &mut objects)?;
    let allocated = dump.allocated(request.profiled, &mut objects)?;
    let (walked, pause) = dump.walk(objects, own_thread, &allocated, &file)?;
    dump.write(walked, stacks, &allocated, file, pause)
}

impl<'f> Dump<'f> {
    /// How the walk knows objects again; mirrors and virtual threads must be found by tag afterwards.
    fn identity(&self) -> Identity {
        if self.way == Way::Tags {
            return Identity::Tags;
        }
        let catalogue = &self.catalogue;
        let virtual_thread = catalogue.bootstrap_class_id(VIRTUAL_THREAD, &self.tables);
        let tagged = [Some(catalogue.class_class()), virtual_thread];
        let mirrors = tagged.into_iter().flatten();
        Identity::by_address(
            mirrors
                .filter_map(|class| catalogue.mirror(class))
                .collect(),
        )
    }

    /// Who allocated the sampled objects, which are tagged for the walk.
    fn allocated(
        &mut self,
        profiled: Profiled<'_>,
        objects: &mut ObjectTable,
    ) -> Result<AllocationTraces, DumpError> {
        let (mut allocated, held) = AllocationTraces::take(
            profiled,
            self.options,
            (self.env, self.jni),
            &mut self.catalogue,
            &self.tables,
            objects,
        )?;
        if let Some(held) = held {
            allocated.tag(&held, self.env, self.jni)?;
        }
        Ok(allocated)
    }

    /// Walks the heap; the application stands still for the time that is answered.
    fn walk(
        &self,
        objects: ObjectTable,
        own_thread: ObjectIndex,
        allocated: &AllocationTraces,
        file: &DumpFile,
    ) -> Result<(Walked, Duration), DumpError> {
        let primitive_arrays = self.options.primitive_arrays;
        let mut walk = Walk::new(
            &self.catalogue,
            &self.tables,
            self.identity(),
            objects,
            Some(own_thread),
            primitive_arrays,
            Segments::new(file.objects_sender()),
        );
        walk.set_allocated(allocated.clone());
        walk.tell_progress(self.options.verbose);
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
        allocated: &AllocationTraces,
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
        let java_frames = threads.java_frames.iter().map(Vec::as_slice);
        walked.roots.know_java_frames(java_frames);
        let objects = walked.write_rest(&self.catalogue, &self.tables)?;
        self.write_head(&walked, &threads.ids, &allocated.records, &file)?;
        let (classes, cut_arrays) = (self.tables.classes.len(), walked.cut_arrays);
        walked.finish_segments()?;
        let written = file.finish()?;
        Ok(Outcome {
            engine: match self.way {
                Way::Tags => "portable".to_owned(),
                Way::Fork | Way::Pause => "snapshot in the pause".to_owned(),
            },
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
        site_records: &[u8],
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
        file.head(site_records.to_vec())?;
        let mut segments = Segments::new(|bytes| file.head(bytes));
        classes.write(&mut segments)?;
        let roots = walked.roots.records(
            threads,
            |mirror| catalogue.class_of_mirror(mirror).is_some(),
            is_static(walked),
        );
        let threads_written = emit::live_threads(tables);
        emit::roots(&roots, &walked.objects, &threads_written, &mut segments)?;
        segments.finish()?;
        Ok(())
    }
}

/// Tells the values of static fields.
fn is_static(walked: &Walked) -> impl Fn(ObjectIndex) -> bool + use<> {
    let values = walked.class_values.values();
    let statics = values.flat_map(|values| values.statics.iter());
    let held: HashSet<ObjectIndex> = statics
        .filter_map(|&(_, value)| match value {
            StaticValue::Reference(target) => Some(target),
            StaticValue::Primitive(_) => None,
        })
        .collect();
    move |object| held.contains(&object)
}
