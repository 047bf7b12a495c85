//! The cost of one row: interning names, frames and traces on 1, 2 and 8 threads.
//!
//! A hit is a known key, a miss a new one. Keys are made outside the measured time.
#![allow(
    clippy::expect_used,
    reason = "a benchmark that cannot make its input must stop"
)]

use std::sync::atomic::{AtomicU32, Ordering};

use divan::{black_box_drop, Bencher};
use tables::{ClassId, Frame, FrameId, FrameTable, Line, StringId, StringTable, Trace, TraceTable};

/// Keys in a table before hits are measured: those of a medium-sized application.
const KNOWN: u32 = 20_000;

fn main() {
    divan::main();
}

/// Numbers 0, 1, 2, … for all threads together.
#[derive(Default)]
struct Numbers(AtomicU32);

impl Numbers {
    fn next(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Measures `intern` on known keys.
fn hits<K>(bencher: Bencher<'_, '_>, key: impl Fn(u32) -> K + Sync, intern: impl Fn(K) + Sync) {
    (0..KNOWN).for_each(|number| intern(key(number)));
    let numbers = Numbers::default();
    // A prime stride, so that consecutive keys are not neighbours in memory.
    bencher
        .with_inputs(|| key(numbers.next().wrapping_mul(7919) % KNOWN))
        .bench_values(&intern);
}

/// Measures `intern` on new keys.
fn misses<K>(bencher: Bencher<'_, '_>, key: impl Fn(u32) -> K + Sync, intern: impl Fn(K) + Sync) {
    let numbers = Numbers::default();
    bencher
        .with_inputs(|| key(numbers.next()))
        .bench_values(&intern);
}

mod string {
    use super::*;

    fn name(number: u32) -> String {
        format!("Lorg/example/shop/Order{number};")
    }

    #[divan::bench(threads = [1, 2, 8], sample_size = 2000)]
    fn hit(bencher: Bencher<'_, '_>) {
        let strings = StringTable::default();
        hits(bencher, name, |name| {
            black_box_drop(strings.intern(name.as_bytes()));
        });
    }

    #[divan::bench(threads = [1, 2, 8], sample_size = 2000)]
    fn miss(bencher: Bencher<'_, '_>) {
        let strings = StringTable::default();
        misses(bencher, name, |name| {
            black_box_drop(strings.intern(name.as_bytes()));
        });
    }
}

mod frame {
    use super::*;

    fn frame(number: u32) -> Frame {
        let id = |number| StringId::new(number).expect("above 0");
        Frame {
            class: ClassId::new(1 + number / 16).expect("above 0"),
            method: id(1 + number % 1000),
            signature: id(1 + number % 100),
            source: id(1 + number / 64),
            line: Line::Number(1 + number),
        }
    }

    #[divan::bench(threads = [1, 2, 8], sample_size = 2000)]
    fn hit(bencher: Bencher<'_, '_>) {
        let frames = FrameTable::default();
        hits(bencher, frame, |frame| {
            black_box_drop(frames.intern(&frame));
        });
    }

    #[divan::bench(threads = [1, 2, 8], sample_size = 2000)]
    fn miss(bencher: Bencher<'_, '_>) {
        let frames = FrameTable::default();
        misses(bencher, frame, |frame| {
            black_box_drop(frames.intern(&frame));
        });
    }
}

mod trace {
    use super::*;

    fn trace(number: u32, depth: u32) -> Trace {
        let frame = |level| FrameId::new(1 + number + level).expect("above 0");
        Trace {
            thread: None,
            frames: (0..depth).map(frame).collect(),
        }
    }

    #[divan::bench(args = [4, 16], threads = [1, 2, 8], sample_size = 2000)]
    fn hit(bencher: Bencher<'_, '_>, depth: u32) {
        let traces = TraceTable::default();
        let key = |number| trace(number, depth);
        hits(bencher, key, |trace| black_box_drop(traces.intern(&trace)));
    }

    #[divan::bench(args = [4, 16], threads = [1, 2, 8], sample_size = 2000)]
    fn miss(bencher: Bencher<'_, '_>, depth: u32) {
        let traces = TraceTable::default();
        let key = |number| trace(number, depth);
        misses(bencher, key, |trace| black_box_drop(traces.intern(&trace)));
    }
}
