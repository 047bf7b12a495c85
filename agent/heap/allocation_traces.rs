//! Profiles in a dump: the session's stacks, of allocations and CPU samples, as rows of the dump's own tables.

use super::catalogue::Catalogue;
use super::error::{DumpError, For};
use super::methods::Methods;
use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::Handle;
use crate::options::Options;
use crate::profile::{
    alloc_sites, cpu_samples_record, ranked_traces, Allocations, CpuCounts, CpuRow, LiveTraces,
    SiteRow, StackTraces,
};
use std::collections::{BTreeMap, HashMap};
use tables::{ClassId, FrameId, ObjectIndex, ObjectTable, StringId, Tables, Trace, TraceId};

/// The first tag of sampled objects in a walk: beyond the tags of rows.
const FIRST_TAG: i64 = 1 << 32;

/// What the session has measured and a dump tells of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Profiled<'s> {
    /// Who allocated what; `None` if allocations are not sampled.
    pub(super) allocations: Option<&'s Allocations>,
    /// CPU samples and the stacks they name; `None` if there are none.
    pub(super) cpu: Option<(&'s StackTraces, &'s CpuCounts)>,
}

/// The sampled objects of a dump and who allocated them.
#[derive(Clone, Debug, Default)]
pub(super) struct AllocationTraces {
    /// Each object that lives, by its weak handle, and the trace that allocated it.
    pub(super) by_handle: Vec<(Handle, TraceId)>,
    /// The records of allocation sites and CPU samples, which go behind the head of the file; empty if there are none.
    pub(super) records: Vec<u8>,
    /// Traces by tag, counted from [`FIRST_TAG`].
    tagged: Vec<TraceId>,
}

/// Who allocated the objects of a walk, as far as it was sampled.
#[derive(Debug, Default)]
pub(super) struct ObjectTraces(HashMap<ObjectIndex, TraceId>);

impl ObjectTraces {
    /// Notes who allocated an object.
    pub(super) fn set(&mut self, object: ObjectIndex, trace: TraceId) {
        self.0.insert(object, trace);
    }

    /// The trace that allocated an object; the empty one if it was not sampled.
    pub(super) fn of(&self, object: ObjectIndex) -> TraceId {
        self.0.get(&object).copied().unwrap_or(TraceId::EMPTY)
    }
}

/// Makes rows of the session's traces.
struct Translator<'d, 'f> {
    traces: &'d StackTraces,
    methods: Methods<'f>,
    catalogue: &'d mut Catalogue<'f>,
    tables: &'d Tables,
    objects: &'d mut ObjectTable,
    known: HashMap<TraceId, TraceId>,
}

impl AllocationTraces {
    /// The sites, and the traces of the objects that live. Before the walk; the handles must be held until it has begun.
    ///
    /// Nothing if nothing is sampled.
    pub(super) fn take<'a, 'f>(
        profiled: Profiled<'a>,
        options: &Options,
        (env, jni): (&'f Env, &'f Jni<'f>),
        catalogue: &mut Catalogue<'f>,
        tables: &Tables,
        objects: &mut ObjectTable,
    ) -> Result<(Self, Option<LiveTraces<'a>>), DumpError> {
        // All profiles name stacks of the same session.
        let by_allocations = profiled.allocations.map(Allocations::traces);
        let Some(traces) = by_allocations.or(profiled.cpu.map(|(traces, _)| traces)) else {
            return Ok((Self::default(), None));
        };
        let mut translator = Translator {
            traces,
            methods: Methods::new(env, jni, options.line_numbers),
            catalogue,
            tables,
            objects,
            known: HashMap::new(),
        };
        let (mut taken, mut held) = (Self::default(), None);
        if let Some(allocations) = profiled.allocations {
            let sites = allocations.sites(jni);
            let samples = allocations.hold();
            for (handle, trace) in samples.handles() {
                taken.by_handle.push((handle, translator.trace(trace)?));
            }
            taken.records = translator.records(sites, options.cutoff)?;
            held = Some(samples);
        }
        if let Some((_, counts)) = profiled.cpu {
            let mut record = translator.cpu_record(counts, options.cutoff)?;
            taken.records.append(&mut record);
        }
        Ok((taken, held))
    }

    /// Tags what is `held`, for a walk by JVMTI.
    pub(super) fn tag(
        &mut self,
        held: &LiveTraces<'_>,
        env: &Env,
        jni: &Jni<'_>,
    ) -> Result<(), DumpError> {
        let traces: HashMap<Handle, TraceId> = self.by_handle.iter().copied().collect();
        for (handle, object) in held.objects(jni) {
            // Mirrors, threads and loaders have the tags of their rows.
            let is_free = env.tag(&object).when("the tag of an object")? == 0;
            if let (true, Some(&trace)) = (is_free, traces.get(&handle)) {
                let number = i64::try_from(self.tagged.len()).unwrap_or(i64::MAX);
                let tag = FIRST_TAG.saturating_add(number);
                env.set_tag(&object, tag).when("a tag for an object")?;
                self.tagged.push(trace);
            }
            jni.forget(object);
        }
        Ok(())
    }

    /// The trace of an object that [`Self::tag`] has tagged.
    pub(super) fn of_tag(&self, tag: i64) -> Option<TraceId> {
        let number = usize::try_from(tag.checked_sub(FIRST_TAG)?).ok()?;
        self.tagged.get(number).copied()
    }
}

impl Translator<'_, '_> {
    /// The dump's row of a trace of the session's.
    fn trace(&mut self, trace: TraceId) -> Result<TraceId, DumpError> {
        if let Some(&known) = self.known.get(&trace) {
            return Ok(known);
        }
        let stack = self.traces.stack(trace);
        let mut frames: Vec<FrameId> = Vec::new();
        for &frame in stack.as_deref().unwrap_or_default() {
            frames.push(self.methods.frame(
                Some(frame),
                self.catalogue,
                self.tables,
                self.objects,
            )?);
        }
        // Thread serial 0: readers take a trace with a thread's number for that thread's stack.
        let row = self.tables.traces.intern(Trace {
            thread: None,
            frames,
        });
        self.known.insert(trace, row);
        Ok(row)
    }

    /// The record of CPU samples. Stacks of several threads that are one here become one row.
    fn cpu_record(&mut self, counts: &CpuCounts, cutoff: f64) -> Result<Vec<u8>, DumpError> {
        let mut by_trace: BTreeMap<TraceId, u64> = BTreeMap::new();
        for (&trace, &samples) in counts.by_trace() {
            *by_trace.entry(self.trace(trace)?).or_default() += samples;
        }
        let rows = by_trace.into_iter();
        let rows: Vec<CpuRow> = rows
            .map(|(trace, samples)| CpuRow {
                trace,
                samples,
                top: None,
            })
            .collect();
        Ok(cpu_samples_record(&rows, cutoff)?)
    }

    /// The record of all sites whose classes are loaded.
    fn records(&mut self, mut sites: Vec<SiteRow>, cutoff: f64) -> Result<Vec<u8>, DumpError> {
        let mut by_signature: HashMap<StringId, ClassId> = HashMap::new();
        self.tables.classes.for_each(|id, row| {
            by_signature.entry(row.signature).or_insert(id);
        });
        sites.retain_mut(|site| {
            let signature = self.tables.strings.intern(&site.signature);
            let class = by_signature.get(&signature);
            class.inspect(|&&class| site.class = class).is_some()
        });
        for trace in ranked_traces(&sites, cutoff) {
            self.trace(trace)?;
        }
        // Traces below the cutoff are not in the file, and neither are their sites.
        for site in &mut sites {
            let known = self.known.get(&site.trace);
            site.trace = known.copied().unwrap_or(TraceId::EMPTY);
        }
        Ok(alloc_sites(&sites, cutoff)?)
    }
}
