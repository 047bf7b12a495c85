//! Allocations: samples by class and stack, and which of them live.

mod exact;
pub(crate) mod live_objects;
mod sampled;

pub(crate) use exact::New;

use crate::profile::stacks::StackTraces;
use exact::exact_allocations::{ExactAllocations, NewObject};
use exact::thread_tally::ThreadTally;
use hotspot::WeakSlots;
use jvm::env::Env;
use jvm::jni::Jni;
use jvm::listener::Allocation;
use jvm::object::{Handle, Object};
use jvm::stack::StackFrame;
use live_objects::{forget, forget_gone, LiveObject};
use options::Sampling;
use parking_lot::{Mutex, MutexGuard};
use rustc_hash::FxHashMap;
use sampled::live_samples::{weight, LiveSamples, Sample};
use sampled::sample_budget::{SampleBudget, Taken};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;
use tables::{SiteIndex, SiteKey, SiteTable, TraceId, Weight};
use writer::site_rows::SiteRow;

/// Places of allocations that are remembered as shown by bytecode or not.
const MOST_SHOWN: usize = 1 << 16;

/// The results of a session's samples.
#[derive(Debug)]
pub(crate) struct Allocations {
    budget: SampleBudget,
    /// The stacks that sites name.
    pub(crate) traces: Arc<StackTraces>,
    sites: Arc<Mutex<SiteTable>>,
    /// Collections that have ended, since the number last began anew.
    collections: AtomicU32,
    /// Every allocation that bytecode shows; `None` if all are sampled.
    exact: Option<Arc<ExactAllocations>>,
    /// Whether there are samples, of all allocations or of those that bytecode does not show.
    pub(crate) is_sampled: bool,
    /// Whether allocations are noted just now.
    is_on: AtomicBool,
    /// Whether bytecode shows the allocation at the top of a stack.
    shown: Mutex<FxHashMap<StackFrame, bool>>,
    live: Mutex<LiveSamples>,
    slots: Arc<WeakSlots>,
    /// Serialises readers of the samples. Held across JVM calls, but threads of the application
    /// only try it.
    look: Mutex<()>,
}

impl Allocations {
    /// Nothing sampled yet: as `sampling` says, each stack a row of `traces`.
    pub(crate) fn sampled(sampling: Sampling, traces: Arc<StackTraces>) -> Self {
        Self {
            budget: SampleBudget::new(sampling.most_cost_basis_points, sampling.interval_bytes),
            traces,
            sites: Arc::default(),
            collections: AtomicU32::new(0),
            exact: None,
            is_sampled: true,
            is_on: AtomicBool::new(true),
            shown: Mutex::default(),
            slots: Arc::default(),
            live: Mutex::new(LiveSamples::new(sampling.most_live)),
            look: Mutex::default(),
        }
    }

    /// Nothing allocated yet: all that bytecode shows will be counted, and the rest sampled if this
    /// JVM samples.
    pub(crate) fn exact(self, rest_is_sampled: bool) -> Self {
        let exact = ExactAllocations::new(
            Arc::clone(&self.traces),
            Arc::clone(&self.sites),
            Arc::clone(&self.slots),
        );
        Self {
            exact: Some(Arc::new(exact)),
            is_sampled: rest_is_sampled,
            // What stands beside exact numbers should be as good as it can.
            budget: SampleBudget::new(0, self.interval_bytes()),
            ..self
        }
    }

    /// Bytes from sample to sample, on average, where none are left out.
    pub(crate) fn interval_bytes(&self) -> u32 {
        self.budget.interval.least_bytes
    }

    /// How allocations are seen, in words.
    pub(crate) fn manner(&self) -> String {
        if self.is_exact() {
            let rest = match self.is_sampled {
                true => "",
                false => "; clones, reflection and native code are not seen on this JVM",
            };
            return format!("every allocation by bytecode{rest}");
        }
        let sampled = format!("sampled every {} bytes", self.interval_bytes());
        match self.budget.left_out_percent() {
            0 => sampled,
            percent => format!("{sampled}, {percent} % of the samples skipped to save time"),
        }
    }

    /// Whether every allocation that bytecode shows is counted.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact.is_some()
    }

    /// Notes allocations from now on, or does not.
    pub(crate) fn switch(&self, on: bool) {
        self.budget.note_switch();
        self.is_on.store(on, Ordering::Relaxed);
    }

    /// Begins anew: nothing was allocated, and nothing that was lives. Sites keep their place.
    pub(crate) fn clear(&self, jni: &Jni<'_>) {
        let _look = self.look.lock();
        let gone = self.live.lock().take();
        if let Some(exact) = &self.exact {
            exact.flush();
            for (tally, samples) in exact.take() {
                tally.give_back(Vec::new());
                forget(jni, samples);
            }
        }
        self.sites.lock().clear_weights();
        forget(jni, gone);
    }

    /// Counts a new object: rewritten code made it, on this thread.
    pub(crate) fn note_new(&self, env: &Env, jni: &Jni<'_>, object: &Object<'_>, new: New) {
        if !self.is_on.load(Ordering::Relaxed) {
            return;
        }
        if let Some(exact) = &self.exact {
            exact.note(NewObject {
                env,
                jni,
                object,
                new,
            });
        }
    }

    /// `VMInit`, before anything is counted.
    pub(crate) fn start(&self, env: &Env, jni: &Jni<'_>) {
        if let Ok(thread) = env.current_thread(jni) {
            self.slots.look(jni, &thread);
            jni.forget(thread);
        }
    }

    /// `GarbageCollectionFinish`: calls nothing, takes no lock.
    pub(crate) fn note_collection(&self) {
        self.collections.fetch_add(1, Ordering::Relaxed);
        if let Some(exact) = &self.exact {
            exact.note_collection();
        }
    }

    /// `ThreadStart`, on that thread.
    pub(crate) fn thread_start(&self) {
        self.budget.thread_start();
    }

    /// `ThreadEnd`, on that thread.
    pub(crate) fn thread_end(&self, jni: &Jni<'_>) {
        if let Some(exact) = &self.exact {
            exact.thread_end(jni);
        }
    }

    /// Whether bytecode shows this allocation, so that it was counted, or will be when its
    /// constructor runs.
    fn is_shown(&self, env: &Env, thread: &Object<'_>) -> bool {
        let Ok(Some(&top)) = env.stack_up_to(thread, 1).as_deref().map(<[_]>::first) else {
            return false;
        };
        if let Some(&known) = self.shown.lock().get(&top) {
            return known;
        }
        let code = env.bytecodes(top.method).unwrap_or_default();
        let is_shown = usize::try_from(top.location).is_ok_and(|at| reports_at(&code, at));
        let mut shown = self.shown.lock();
        if shown.len() >= MOST_SHOWN {
            shown.clear();
        }
        shown.insert(top, is_shown);
        is_shown
    }

    /// Notes a sample. `SampledObjectAlloc`, on the thread that allocates.
    pub(crate) fn note(&self, env: &Env, jni: &Jni<'_>, allocation: &Allocation<'_, '_>) {
        if !self.is_on.load(Ordering::Relaxed) {
            return;
        }
        if self.exact.is_some() && self.is_shown(env, allocation.thread) {
            return;
        }
        if let Some(taken) = self
            .budget
            .take(|bytes| env.sample_allocations(bytes).is_ok())
        {
            self.note_taken(env, jni, allocation, taken);
            self.budget.pay(taken);
        }
    }

    fn note_taken(&self, env: &Env, jni: &Jni<'_>, allocation: &Allocation<'_, '_>, taken: Taken) {
        let Some(site) = self.sampled_site(env, jni, allocation) else {
            return;
        };
        let Taken {
            doublings,
            interval_bytes,
            ..
        } = taken;
        let weight = weight(allocation.size_bytes, interval_bytes, doublings);
        self.sites.lock().add(site, weight);
        let Some(doublings) = self.live.lock().wants(doublings) else {
            return;
        };
        let Some(object) = jni.weak(allocation.object) else {
            return;
        };
        let sample = Sample {
            live: LiveObject::new(object, site, allocation.size_bytes),
            doublings,
            interval_bytes,
        };
        let collections = self.collections.load(Ordering::Relaxed);
        if self.live.lock().keep(sample, collections) {
            self.thin(jni);
        }
    }

    /// The site of an object, on the thread that allocates it; `None` if the JVM does not report
    /// its class, or there are 2^32 sites.
    fn sampled_site(
        &self,
        env: &Env,
        jni: &Jni<'_>,
        allocation: &Allocation<'_, '_>,
    ) -> Option<SiteIndex> {
        let owner = self.traces.owner(env, jni, allocation.thread);
        let trace = self.traces.of_thread(env, jni, owner);
        let key = SiteKey {
            class: self
                .traces
                .class(&env.class_signature(allocation.class).ok()?),
            trace: trace.unwrap_or(TraceId::EMPTY),
        };
        self.sites.lock().find(key)
    }

    /// All sites, with what lives of them now. Objects that nobody has collected yet count as
    /// living.
    pub(crate) fn sites(&self, jni: &Jni<'_>) -> Vec<SiteRow> {
        let _look = self.look.lock();
        // First what lives, then what was allocated: nothing that lives may be missing there.
        let exact = self.exact.as_ref().map(|exact| exact.take());
        if let Some(exact) = &self.exact {
            exact.flush();
        }
        let mut living: Vec<Weight> = Vec::new();
        let mut samples = self.live.lock().take();
        forget_gone(jni, &self.slots, &mut samples);
        for sample in &samples {
            weigh(sample.live.site, sample.weight(), &mut living);
        }
        self.live.lock().give_back(samples);
        for (tally, mut objects) in exact.unwrap_or_default() {
            forget_gone(jni, &self.slots, &mut objects);
            for object in &objects {
                weigh(object.site, object.weight(), &mut living);
            }
            tally.give_back(objects);
        }
        let rows = self.sites.lock().rows().to_vec();
        let mut rows: Vec<SiteRow> = rows
            .into_iter()
            .map(|(key, allocated)| self.site(key, allocated))
            .collect();
        for (row, living) in rows.iter_mut().zip(living) {
            // Where few samples are remembered, chance may have more of a site's live than were
            // allocated; the sums are right.
            row.live = living;
        }
        // Those that have allocated nothing since all was cleared.
        rows.retain(|row| row.allocated.objects > 0.0 || row.live.objects > 0.0);
        rows
    }

    /// The samples, held for a dump: no handle is given back until the answer is dropped.
    pub(crate) fn hold(&self) -> LiveTraces<'_> {
        let look = self.look.lock();
        let sampled = self.live.lock().take();
        let exact = self.exact.as_ref().map(|exact| exact.take());
        let sites = self.sites.lock().rows().to_vec();
        LiveTraces {
            allocations: self,
            sampled,
            exact: exact.unwrap_or_default(),
            traces: sites.iter().map(|(key, _)| key.trace).collect(),
            _look: look,
        }
    }

    fn site(&self, key: SiteKey, allocated: Weight) -> SiteRow {
        SiteRow {
            signature: self.traces.signature(key.class),
            class: key.class,
            trace: key.trace,
            allocated,
            live: Weight::default(),
        }
    }

    /// Gives back the handles of objects that were collected, and makes room.
    fn thin(&self, jni: &Jni<'_>) {
        // While the samples are read there may be more than the bound.
        let Some(_look) = self.look.try_lock() else {
            return;
        };
        let mut living = self.live.lock().take();
        let were = living.len();
        forget_gone(jni, &self.slots, &mut living);
        let dropped = {
            let mut live = self.live.lock();
            let (kept, dropped) = live.thin(living, were);
            live.give_back(kept);
            dropped
        };
        forget(jni, dropped);
    }
}

/// Samples that a dump holds, with the trace of each.
#[derive(Debug)]
pub(crate) struct LiveTraces<'a> {
    allocations: &'a Allocations,
    sampled: Vec<Sample>,
    exact: Vec<(Arc<ThreadTally>, Vec<LiveObject>)>,
    /// By site.
    traces: Vec<TraceId>,
    _look: MutexGuard<'a, ()>,
}

impl LiveTraces<'_> {
    /// The handles, each with the session's trace that allocated the object.
    pub(crate) fn handles(&self) -> impl Iterator<Item = (Handle, TraceId)> + '_ {
        let exact = self.exact.iter().flat_map(|(_, objects)| objects);
        let live = self.sampled.iter().map(|sample| &sample.live).chain(exact);
        live.filter_map(|live| {
            let trace = self.traces.get(live.site.index());
            Some((live.object.handle(), *trace?))
        })
    }
}

impl Drop for LiveTraces<'_> {
    fn drop(&mut self) {
        let sampled = std::mem::take(&mut self.sampled);
        self.allocations.live.lock().give_back(sampled);
        for (tally, samples) in std::mem::take(&mut self.exact) {
            tally.give_back(samples);
        }
    }
}

/// Adds to the weights by site.
fn weigh(site: SiteIndex, weight: Weight, weights: &mut Vec<Weight>) {
    let index = site.index();
    if weights.len() <= index {
        weights.resize(index + 1, Weight::default());
    }
    if let Some(sum) = weights.get_mut(index) {
        sum.add(weight, 1.0);
    }
}

/// Whether rewritten code reports the object that the instruction at `at` allocates: an object by
/// its constructor, an array by the call that follows (JVM specification, chapter 6).
fn reports_at(code: &[u8], at: usize) -> bool {
    const NEW: u8 = 187;
    const NEWARRAY: u8 = 188;
    const ANEWARRAY: u8 = 189;
    const MULTIANEWARRAY: u8 = 197;
    let (length, dimensions) = match code.get(at) {
        Some(&NEW) => return true,
        Some(&NEWARRAY) => (2, Some(&1)),
        Some(&ANEWARRAY) => (3, Some(&1)),
        Some(&MULTIANEWARRAY) => (4, code.get(at + 3)),
        _ => return false,
    };
    // dup, sipush, then a call of the tracker or, behind i2l and a constant, of Object.wait.
    match code.get(at + length..) {
        Some([89, 17, 0, reported, 184 | 133, ..]) => Some(reported) == dimensions,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_reported_by_the_call_behind_them() {
        let code = [
            187, 0, 1, 188, 10, 89, 17, 0, 1, 184, 0, 9, 189, 0, 1, 83, 197, 0,
        ];
        let reported: Vec<usize> = (0..20).filter(|&at| reports_at(&code, at)).collect();
        assert_eq!(reported, [0, 3]);
        let nest = |behind: &[u8]| reports_at(&[&[197, 0, 1, 2][..], behind].concat(), 0);
        assert!(nest(&[89, 17, 0, 2, 184, 0, 9]));
        assert!(nest(&[89, 17, 0, 2, 133, 18, 8]));
        assert!(!nest(&[89, 17, 0, 3, 184, 0, 9]));
        assert!(!nest(&[76, 42]));
    }
}
