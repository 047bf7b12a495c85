//! Profiles in a dump: turns the session's stacks, from allocations and CPU samples, into rows of
//! the dump's own tables.
//!
//! The forked child reads the weak handles of sampled objects itself.

use super::catalogue::Catalogue;
use super::methods::Methods;
use crate::heap::error::DumpError;
use crate::profile::{
    alloc_sites, cpu_samples_record, ranked_traces, Allocations, CpuCounts, CpuRow, LiveTraces,
    NamedFrame, SiteRow, StackTraces,
};
use format::ClassName;
use jvm::object::Handle;
use options::Options;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use tables::{ClassId, Frame, FrameId, Line, StringId, Tables, Trace, TraceId};

/// The session's measurements that go into a dump.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Profiled<'s> {
    /// The sampled allocations; `None` if allocations are not sampled.
    pub(crate) allocations: Option<&'s Allocations>,
    /// CPU samples and their stacks; `None` if there are none.
    pub(crate) cpu: Option<(&'s StackTraces, &'s CpuCounts)>,
}

/// The sampled objects of a dump and their allocation traces.
#[derive(Clone, Debug, Default)]
pub(in crate::heap) struct AllocationTraces {
    /// Each live sampled object's weak handle, and the trace that allocated it.
    pub(in crate::heap) by_handle: Vec<(Handle, TraceId)>,
    /// The records of allocation sites and CPU samples, which follow the head of the file; empty if
    /// there are none.
    pub(in crate::heap) records: Vec<u8>,
}

/// Translates the session's traces to rows of the dump.
struct Translator<'d, 'f> {
    traces: &'d StackTraces,
    methods: Methods,
    catalogue: &'d mut Catalogue<'f>,
    tables: &'f Tables,
    known: HashMap<TraceId, TraceId>,
    /// The dump's classes by signature, the first of several with the same one. Filled at the first
    /// use.
    by_signature: Option<HashMap<StringId, ClassId>>,
}

impl AllocationTraces {
    /// Takes the sites, and the traces of live objects. Call it before the dump, and keep the
    /// handles until the pause has begun.
    ///
    /// Empty if nothing is sampled.
    pub(in crate::heap) fn take<'a, 'f>(
        profiled: Profiled<'a>,
        options: &Options,
        catalogue: &mut Catalogue<'f>,
    ) -> Result<(Self, Option<LiveTraces<'a>>), DumpError> {
        // All profiles use stacks of the same session.
        let by_allocations = profiled.allocations.map(|it| &*it.traces);
        let Some(traces) = by_allocations.or(profiled.cpu.map(|(traces, _)| traces)) else {
            return Ok((Self::default(), None));
        };
        let mut translator = Translator {
            traces,
            methods: Methods::new(options.line_numbers),
            tables: catalogue.tables,
            catalogue,
            known: HashMap::new(),
            by_signature: None,
        };
        let (mut taken, mut held) = (Self::default(), None);
        if let Some(allocations) = profiled.allocations {
            let sites = allocations.sites(translator.catalogue.jni);
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
}

impl Translator<'_, '_> {
    /// The dump's row for one of the session's traces.
    fn trace(&mut self, trace: TraceId) -> Result<TraceId, DumpError> {
        if let Some(&known) = self.known.get(&trace) {
            return Ok(known);
        }
        let mut frames: Vec<FrameId> = Vec::new();
        for frame in self.traces.named_frames(trace) {
            frames.push(self.frame(&frame)?);
        }
        // Thread serial 0, because readers take a trace with a thread's number for that thread's
        // own stack.
        let row = self.tables.traces.intern(&Trace {
            thread: None,
            frames,
        });
        self.known.insert(trace, row);
        Ok(row)
    }

    /// The dump's row for a frame. The session recorded the names at sampling time; by now the
    /// class may be unloaded, or replaced.
    fn frame(&mut self, frame: &NamedFrame) -> Result<FrameId, DumpError> {
        let class = match frame.id {
            Some(id) => self.methods.class(id, self.catalogue)?,
            None => None,
        };
        let strings = &self.tables.strings;
        let class = class.or_else(|| self.class(strings.intern(&frame.class)));
        // A class that is not in the dump becomes part of the method's name.
        let method = match class {
            Some(_) => strings.intern(&frame.method),
            None => strings.intern(&whole_name(frame)),
        };
        Ok(self.tables.frames.intern(&Frame {
            class: class.unwrap_or(self.catalogue.object_class),
            method,
            signature: strings.intern(&frame.signature),
            source: strings.intern(&frame.source),
            line: match self.methods.line_numbers {
                true => frame.line,
                false => Line::Unknown,
            },
        }))
    }

    /// The dump's class with this signature.
    fn class(&mut self, signature: StringId) -> Option<ClassId> {
        let classes = &self.tables.classes;
        let by_signature = self.by_signature.get_or_insert_with(|| {
            let mut by_signature = HashMap::new();
            classes.for_each(|id, row| {
                by_signature.entry(row.signature).or_insert(id);
            });
            by_signature
        });
        by_signature.get(&signature).copied()
    }

    /// The record of CPU samples. Stacks of different threads that are equal in the dump share one
    /// row.
    fn cpu_record(&mut self, counts: &CpuCounts, cutoff: f64) -> Result<Vec<u8>, DumpError> {
        let mut by_trace: BTreeMap<TraceId, u64> = BTreeMap::new();
        for (&trace, &samples) in &counts.by_trace {
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

    /// The record of all sites with loaded classes. Its totals include all other sites.
    fn records(&mut self, sites: Vec<SiteRow>, cutoff: f64) -> Result<Vec<u8>, DumpError> {
        let (mut loaded, mut others) = (Vec::new(), Vec::new());
        for mut site in sites {
            match self.class(self.tables.strings.intern(&site.signature)) {
                Some(class) => {
                    site.class = class;
                    loaded.push(site);
                }
                None => others.push(site),
            }
        }
        for trace in ranked_traces(&loaded, cutoff) {
            self.trace(trace)?;
        }
        // Sites that are equal in the dump share one row: those of different threads, and those of
        // unloaded classes. Traces below the cutoff are not in the file, nor are their sites.
        let mut merged = BTreeMap::<_, SiteRow>::new();
        for mut site in loaded {
            let Some(&trace) = self.known.get(&site.trace) else {
                others.push(site);
                continue;
            };
            site.trace = trace;
            match merged.entry((site.class, trace)) {
                Entry::Vacant(vacant) => drop(vacant.insert(site)),
                Entry::Occupied(mut row) => row.get_mut().add(&site),
            }
        }
        let rows: Vec<SiteRow> = merged.into_values().collect();
        Ok(alloc_sites(&rows, &others, cutoff)?)
    }
}

/// `com.acme.Order.total`.
fn whole_name(frame: &NamedFrame) -> Vec<u8> {
    let class = ClassName::from_signature(&frame.class).to_string();
    [class.as_bytes(), b".", &frame.method].concat()
}
