//! The cost of one event between dumps: what a callback adds to the census, alone and when eight threads meet on it.

use divan::{black_box, Bencher};
use tables::Census;

fn main() {
    divan::main();
}

/// One event after the other on one census; samples are long enough for the threads to meet.
fn each(bencher: Bencher<'_, '_>, note: impl Fn(&Census) + Sync) {
    let census = Census::new();
    bencher.bench(|| note(black_box(&census)));
}

#[divan::bench(threads = [1, 8], sample_count = 48, sample_size = 1_000_000)]
fn thread_start(bencher: Bencher<'_, '_>) {
    each(bencher, Census::note_thread_start);
}

#[divan::bench(threads = [1, 8], sample_count = 48, sample_size = 1_000_000)]
fn virtual_thread_start(bencher: Bencher<'_, '_>) {
    each(bencher, Census::note_virtual_thread_start);
}

#[divan::bench(threads = [1, 8], sample_count = 48, sample_size = 1_000_000)]
fn class_load(bencher: Bencher<'_, '_>) {
    each(bencher, Census::note_class_load);
}

/// Two counters of one census: threads that count different things still share a cache line.
#[divan::bench(threads = [1, 8], sample_count = 48, sample_size = 1_000_000)]
fn class_load_and_prepare(bencher: Bencher<'_, '_>) {
    each(bencher, |census| {
        census.note_class_load();
        census.note_class_prepare();
    });
}
