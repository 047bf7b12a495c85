//! Allocations: samples by class and stack, and which of them live.

use super::live_samples::{forget, part, LiveSamples, Sample};
use super::site_rows::SiteRow;
use super::stack_traces::StackTraces;
use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::{Handle, Object};
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use tables::{SiteKey, SiteTable, Tables, TraceId, Weight};

/// An object that was just allocated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation<'a, 'f> {
    /// The thread that allocates.
    pub(crate) thread: &'a Object<'f>,
    /// The object.
    pub(crate) object: &'a Object<'f>,
    /// Its class.
    pub(crate) class: &'a Object<'f>,
    /// Its size in the heap.
    pub(crate) size_bytes: u64,
}

/// What the samples of a session say.
#[derive(Debug)]
pub(crate) struct Allocations {
    interval_bytes: u32,
    traces: Arc<StackTraces>,
    sites: Mutex<SiteTable>,
    live: Mutex<LiveSamples>,
    /// Whoever takes the samples out to look behind them. Held across JVM calls, but threads of the application only try it.
    look: Mutex<()>,
}

impl Allocations {
    /// Nothing sampled yet: a sample every `interval_bytes`, its stack a row of `traces`, `most_live` remembered.
    pub(crate) fn new(interval_bytes: u32, traces: Arc<StackTraces>, most_live: usize) -> Self {
        Self {
            interval_bytes,
            traces,
            sites: Mutex::default(),
            live: Mutex::new(LiveSamples::new(most_live)),
            look: Mutex::default(),
        }
    }

    /// Bytes from sample to sample, on average.
    pub(crate) fn interval_bytes(&self) -> u32 {
        self.interval_bytes
    }

    /// How allocations are seen, in words.
    pub(crate) fn manner(&self) -> String {
        format!("sampled every {} bytes", self.interval_bytes)
    }

    /// Notes a sample. `SampledObjectAlloc`, on the thread that allocates.
    pub(crate) fn note(&self, env: &Env, jni: &Jni<'_>, allocation: &Allocation<'_, '_>) {
        let Ok(signature) = env.class_signature(allocation.class) else {
            return;
        };
        let stack = match self.traces.depth_frames() {
            0 => Vec::new(),
            depth => env
                .stack_up_to(allocation.thread, depth)
                .unwrap_or_default(),
        };
        let owner = self.traces.owner(env, jni, allocation.thread);
        let key = SiteKey {
            class: self.traces.class(&signature),
            trace: self.traces.trace(env, jni, &stack, owner),
        };
        let weight = self.weight(allocation.size_bytes);
        let Some(site) = self.sites.lock().note(key, weight) else {
            return;
        };
        let Some(doublings) = self.live.lock().wants() else {
            return;
        };
        let Some(object) = jni.weak(allocation.object) else {
            return;
        };
        let is_full = self.live.lock().keep(Sample {
            object,
            site,
            size_bytes: allocation.size_bytes,
            doublings,
        });
        if is_full {
            self.thin(jni);
        }
    }

    /// All sites, with what lives of them now. Objects that nobody has collected yet count as living.
    pub(crate) fn sites(&self, jni: &Jni<'_>) -> Vec<SiteRow> {
        let _look = self.look.lock();
        let taken = self.live.lock().take();
        let (living, gone) = part(jni, taken);
        let rows = self.sites.lock().rows().to_vec();
        let mut facts: Vec<SiteRow> = rows
            .into_iter()
            .map(|(key, allocated)| self.site(key, allocated))
            .collect();
        for sample in &living {
            if let Some(site) = facts.get_mut(sample.site.index()) {
                site.live
                    .add(self.weight(sample.size_bytes), sample.times());
            }
        }
        self.live.lock().give_back(living);
        forget(jni, gone);
        facts
    }

    /// The tables that sites are rows of.
    pub(crate) fn tables(&self) -> &Tables {
        self.traces.tables()
    }

    /// The stacks that sites name.
    pub(crate) fn traces(&self) -> &StackTraces {
        &self.traces
    }

    /// The samples, held for a dump: no handle is given back until the answer is dropped.
    pub(crate) fn hold(&self) -> LiveTraces<'_> {
        let look = self.look.lock();
        let samples = self.live.lock().take();
        let sites = self.sites.lock().rows().to_vec();
        let traces = samples
            .iter()
            .map(|sample| sites.get(sample.site.index()).map(|(key, _)| key.trace))
            .collect();
        LiveTraces {
            allocations: self,
            samples,
            traces,
            _look: look,
        }
    }

    fn site(&self, key: SiteKey, allocated: Weight) -> SiteRow {
        let tables = self.tables();
        let signature = tables.classes.get(key.class);
        let signature = signature.and_then(|row| tables.strings.get(row.signature));
        SiteRow {
            signature: signature.unwrap_or_default(),
            class: key.class,
            trace: key.trace,
            allocated,
            live: Weight::default(),
        }
    }

    fn weight(&self, size_bytes: u64) -> Weight {
        Weight::of_sample(size_bytes, u64::from(self.interval_bytes))
    }

    /// Gives back the handles of objects that were collected, and makes room.
    fn thin(&self, jni: &Jni<'_>) {
        // While somebody looks there may be more than the bound.
        let Some(_look) = self.look.try_lock() else {
            return;
        };
        let taken = self.live.lock().take();
        let (living, gone) = part(jni, taken);
        let dropped = {
            let mut live = self.live.lock();
            let (kept, dropped) = live.thin(living);
            live.give_back(kept);
            dropped
        };
        forget(jni, gone);
        forget(jni, dropped);
    }
}

/// Samples that a dump holds, with the trace of each.
#[derive(Debug)]
pub(crate) struct LiveTraces<'a> {
    allocations: &'a Allocations,
    samples: Vec<Sample>,
    traces: Vec<Option<TraceId>>,
    _look: MutexGuard<'a, ()>,
}

impl LiveTraces<'_> {
    /// The handles, each with the session's trace that allocated the object.
    pub(crate) fn handles(&self) -> impl Iterator<Item = (Handle, TraceId)> + '_ {
        let samples = self.samples.iter().zip(&self.traces);
        samples.filter_map(|(sample, trace)| Some((sample.handle(), (*trace)?)))
    }

    /// The objects that live, each with its weak handle.
    pub(crate) fn objects<'f, 's>(
        &'s self,
        jni: &'s Jni<'f>,
    ) -> impl Iterator<Item = (Handle, Object<'f>)> + 's {
        let objects = self.samples.iter();
        objects.filter_map(|sample| Some((sample.handle(), jni.upgrade(&sample.object)?)))
    }
}

impl Drop for LiveTraces<'_> {
    fn drop(&mut self) {
        let samples = std::mem::take(&mut self.samples);
        let mut live = self.allocations.live.lock();
        live.give_back(samples);
    }
}
