//! The speed of encoding: records through [`Segments`] to a receiver that drops them, and names
//! converted to UTF-8.
//!
//! The buffers are allocated and freed for each segment, as in a dump; nothing is written to a
//! file.
#![allow(
    clippy::expect_used,
    reason = "a benchmark that cannot make its input must stop"
)]

use divan::counter::BytesCount;
use divan::{black_box, Bencher};
use format::sub_record::{Instance, PrimitiveArray};
use format::{mutf8, sub_record, BasicType};
use writer::heap_record::encode_head;
use writer::{Deliver, Segments};

fn main() {
    divan::main();
}

fn to_nowhere() -> Segments<impl Deliver> {
    Segments::new(|bytes: Vec<u8>| {
        drop(black_box(bytes));
        Ok(())
    })
}

/// An object with this many bytes of fields.
#[divan::bench(args = [0, 16, 64], sample_size = 100_000)]
fn instance(bencher: Bencher<'_, '_>, data_bytes: u32) {
    let data = vec![0x5A; data_bytes as usize];
    let header = black_box(Instance {
        object: 0x1_0000,
        trace: 1,
        class: 0x2_0000,
        data_bytes,
    });
    let encode = |out: &mut Vec<u8>| {
        encode_head(sub_record::INSTANCE_DUMP, &black_box(header), out);
        out.extend_from_slice(black_box(&data));
        Ok(())
    };
    let mut record = Vec::new();
    encode(&mut record).expect("a small record");
    let mut segments = to_nowhere();
    bencher
        .counter(BytesCount::new(record.len()))
        .bench_local(|| segments.record(encode));
}

fn array(bencher: Bencher<'_, '_>, element_type: BasicType, bytes: usize) {
    let header = PrimitiveArray {
        object: 0x1_0000,
        trace: 1,
        length: 0,
        kind: element_type,
    };
    let elements = vec![0x5A; bytes];
    let mut segments = to_nowhere();
    bencher
        .counter(BytesCount::new(bytes))
        .bench_local(|| segments.primitive_array(&header, black_box(&elements)));
}

/// A `byte[]` of this many bytes.
#[divan::bench(args = [32, 4096], sample_size = 10_000)]
fn byte_array(bencher: Bencher<'_, '_>, bytes: usize) {
    array(bencher, BasicType::Byte, bytes);
}

/// A `long[]` of this many bytes: the byte order of each element is swapped.
#[divan::bench(args = [32, 4096], sample_size = 10_000)]
fn long_array(bencher: Bencher<'_, '_>, bytes: usize) {
    array(bencher, BasicType::Long, bytes);
}

/// Arrays larger than a segment, which are delivered in pieces.
#[divan::bench(args = [BasicType::Byte, BasicType::Long], sample_size = 1)]
fn array_of_16_mib(bencher: Bencher<'_, '_>, element_type: BasicType) {
    array(bencher, element_type, 16 << 20);
}

/// A typical name, and one with three-byte characters, a surrogate pair and a NUL.
#[divan::bench(args = ["ascii", "mixed"])]
fn to_utf8(bencher: Bencher<'_, '_>, kind: &str) {
    let name: &[u8] = match kind {
        "ascii" => b"Ljava/util/concurrent/ConcurrentHashMap$Node;",
        _ => b"Gr\xC3\xBC\xC3\x9Fe/\xE4\xB8\x96\xE7\x95\x8C/\xED\xA0\xBD\xED\xB8\x80/\xC0\x80;",
    };
    bencher
        .counter(BytesCount::new(name.len()))
        .bench(|| mutf8::to_utf8(black_box(name)).len());
}
