//! Files made to break a reader: no bytes cause a panic, an overflow or an endless loop.

use crate::trial::{try_check, try_info, try_profiles};
use proptest::prelude::*;
use sample::{bytes, instance, object_array, primitive_array, record, ClassDump, Dump};

/// Numbers that break sums and counts.
const ODD: [u32; 6] = [0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF0, u32::MAX];

fn try_all(dump: &[u8]) {
    try_check(dump);
    try_info(dump);
    try_profiles(dump);
}

/// A text profile with every section.
const TEXT: &str = "\
JAVA PROFILE 1.0.1, created Sat Nov 21 20:49:18 2026
--------
TRACE 300000:
\t<empty>
TRACE 300142: (thread=200001)
\tdemo.Main.<init>(Main.java:79)
\tdemo.Main.main(<Unknown Source>:Unknown line)
SITES BEGIN (ordered by live bytes) Tue Jul 24 17:50:46 2018
          percent          live          alloc'ed  stack class
 rank   self  accum     bytes objs     bytes  objs trace name
    1 25.98% 25.98%    273264 3016    273264  3016 300000 char[]
   12  0.74% 48.10%      8192  256      9984   312 300142 demo.Node
SITES END
CPU SAMPLES BEGIN (total = 35) Tue Jan  3 07:36:39 2017
rank   self  accum   count trace method
   1 45.71% 45.71%      16 300142 demo.Main.work
CPU SAMPLES END
CPU TIME (ms) BEGIN (total = 11279) Thu Nov  2 17:11:21 2017
rank   self  accum   count trace method
   1 57.82% 57.82%      30 300142 demo.Main.work
CPU TIME (ms) END
";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn arbitrary_bytes_behind_a_header(id_bytes in prop_oneof![Just(4_u8), Just(8)], body in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut dump = b"JAVA PROFILE 1.0.2\0\0\0\0".to_vec();
        dump.push(id_bytes);
        dump.extend([0; 8]);
        dump.extend(body);
        try_all(&dump);
    }

    #[test]
    fn arbitrary_text(words in prop::collection::vec((0..1000_usize, "[ -~\t\n]{0,6}"), 0..60)) {
        let known: Vec<&str> = TEXT.split_inclusive([' ', '\n']).collect();
        let mut text = TEXT.lines().next().unwrap().to_owned();
        for (place, odd) in words {
            text.push_str(known.get(place % 200).unwrap_or(&odd.as_str()));
        }
        try_profiles(text.as_bytes());
    }

    #[test]
    fn text_with_other_bytes(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        let mut text = TEXT.as_bytes().to_vec();
        for (place, value) in changes {
            let at = 19 + place.index(text.len() - 19);
            text[at] = value;
        }
        try_profiles(&text);
    }

    #[test]
    fn profiles_with_arbitrary_rows(rows in prop::collection::vec(any::<[u32; 5]>(), 0..20), totals in any::<[u32; 2]>()) {
        let mut sites = bytes().u2(0).u4(0).u4(totals[0]).u4(totals[1]).u8(0).u8(0).u4(rows.len() as u32);
        let mut samples = bytes().u4(totals[0]).u4(rows.len() as u32);
        for [class, trace, live, objects, allocated] in &rows {
            sites = sites.u1(*class as u8).u4(class % 20).u4(trace % 5).u4(*live).u4(*objects).u4(*allocated).u4(0);
            samples = samples.u4(*live).u4(trace % 5);
        }
        let mut sample = Dump::small();
        sample.records.extend([record(0x06, sites), record(0x0D, samples)]);
        try_all(&sample.bytes());
    }

    #[test]
    fn arbitrary_bytes(dump in prop::collection::vec(any::<u8>(), 0..200)) {
        try_all(&dump);
    }

    #[test]
    fn arbitrary_records(records in prop::collection::vec((tag(), prop::collection::vec(small(), 0..40)), 0..30)) {
        let mut sample = Dump::small();
        sample.records = records.into_iter().map(|(tag, body)| record(tag, bytes().all(&body))).collect();
        try_all(&sample.bytes());
    }

    #[test]
    fn a_dump_with_other_bytes(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut dump = Dump::small().bytes();
        for (place, value) in changes {
            let at = place.index(dump.len());
            dump[at] = value;
        }
        try_all(&dump);
    }

    #[test]
    fn a_dump_with_odd_numbers(changes in prop::collection::vec((any::<prop::sample::Index>(), 0..ODD.len()), 1..4)) {
        let mut dump = Dump::small().bytes();
        for (place, odd) in changes {
            let at = 31 + place.index(dump.len() - 35);
            dump[at..at + 4].copy_from_slice(&ODD[odd].to_be_bytes());
        }
        try_all(&dump);
    }
}

fn tag() -> impl Strategy<Value = u8> {
    prop_oneof![
        prop::sample::select(&[1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 0x1C, 0x2C][..]),
        any::<u8>()
    ]
}

/// Bytes that often form a number or a tag.
fn small() -> impl Strategy<Value = u8> {
    prop_oneof![3 => Just(0), 2 => 0..12_u8, 1 => 0x20..0x24_u8, 1 => any::<u8>()]
}

#[test]
fn every_prefix_of_a_dump() {
    let dump = Dump::small().bytes();
    for end in 0..dump.len() {
        try_all(&dump[..end]);
    }
}

#[test]
fn every_prefix_of_a_text() {
    for end in 0..TEXT.len() {
        try_profiles(&TEXT.as_bytes()[..end]);
    }
}

#[test]
fn numbers_beyond_all_bounds() {
    for odd in [
        "18446744073709551616",
        "9223372036854775807",
        "-2147483649",
        "-1",
        "99999999999999999999999.99%",
    ] {
        for word in ["35", "11279", "273264", "3016", "300142", "57.82%", "16"] {
            try_profiles(TEXT.replace(word, odd).as_bytes());
        }
    }
}

#[test]
fn lengths_of_4_gib_allocate_nothing() {
    for tag in [1, 5, 6, 13, 0x0C, 0x1C, 0x77] {
        let mut sample = Dump::small();
        let mut lie = record(tag, bytes().u8(0).u4(u32::MAX).u8(0).u8(0).u4(u32::MAX));
        lie.length = Some(u32::MAX);
        sample.records.insert(0, lie);
        try_all(&sample.bytes());
    }
    for array in [
        primitive_array(0x3000, 11, u32::MAX, &[]),
        object_array(0x3000, 0, &[]),
    ] {
        let mut sample = Dump::small();
        let mut array = array;
        array[13..17].copy_from_slice(&u32::MAX.to_be_bytes());
        sample.heap(1).push(array);
        try_all(&sample.bytes());
        let at = sample.at(0x1C, 1);
        sample.records[at].length = Some(u32::MAX);
        try_all(&sample.bytes());
    }
}

#[test]
fn a_long_chain_of_classes_takes_linear_time() {
    const CLASSES: u64 = 50_000;
    let mut sample = Dump::small();
    let name = sample.name("value");
    let id = |number: u64| 0x10_0000 + number * 8;
    let class = |number: u64| {
        let mut dump = ClassDump::new(id(number), if number == 0 { 0 } else { id(number - 1) });
        if number == 0 {
            dump.fields = vec![(name, 8)];
        }
        dump.size = 1;
        dump.bytes()
    };
    *sample.heap(0) = (0..CLASSES).rev().map(class).collect();
    *sample.heap(1) = (0..CLASSES)
        .map(|number| instance(0x4000_0000 + number * 8, 1, id(CLASSES - 1), &[0]))
        .collect();
    try_all(&sample.bytes());
}

/// With a fixed hash function, each lookup would compare all of these ids.
#[test]
fn ids_that_were_made_to_collide_take_linear_time() {
    // The inverse of the factor of the crate rustc-hash, which multiplies ids.
    const INVERSE: u64 = 0x7814_94a5_5daa_ed0d;
    const CLASSES: u64 = 200_000;
    let id = |number: u64| INVERSE.wrapping_mul(number + 1);
    let mut sample = Dump::small();
    *sample.heap(0) = (0..CLASSES)
        .map(|number| ClassDump::new(id(number), 0).bytes())
        .collect();
    *sample.heap(1) = (0..CLASSES)
        .map(|number| instance(0x4000_0000 + number * 8, 1, id(number), &[]))
        .collect();
    try_all(&sample.bytes());
}

/// The fuzzer's seed is the sample, so that it starts from a sound dump; `BLESS=1` rewrites it.
#[test]
fn the_fuzzers_seed_is_the_sample() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../tests/fuzz/seeds/two_threads"
    );
    let dump = Dump::small().bytes();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &dump).unwrap();
    }
    assert!(
        std::fs::read(path).unwrap() == dump,
        "run with BLESS=1 to write the seed anew"
    );
}
