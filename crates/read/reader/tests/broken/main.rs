//! One broken dump for each rule: the check must report that rule and no other.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test fails by panicking"
)]

/// One test per line: its name, the expected rules, and how the sample is broken.
macro_rules! broken {
    ($($name:ident, [$($rule:literal),*], $change:expr;)*) => {
        $(#[test] fn $name() { assert_rules($change, &[$($rule),*]); })*
    };
}

mod origins;
mod profiles;
mod stacks;

use reader::{check, CheckOptions, Report};
use sample::*;
use std::io::Read;

/// Checks bytes, with many faults described.
fn checked(dump: &[u8], lenient: bool) -> Report {
    let mut open = || Ok(Box::new(dump) as Box<dyn Read>);
    let options = CheckOptions {
        most: 100,
        strict: !lenient,
        budget: reader::Budget::default(),
    };
    check(&mut open, options).unwrap()
}

/// Breaks the sample and compares the names of the broken rules with those expected, in any order.
fn assert_rules(change: impl FnOnce(&mut Dump), expected: &[&str]) {
    let mut sample = Dump::small();
    change(&mut sample);
    let report = checked(&sample.bytes(), false);
    let mut found: Vec<_> = report.totals.iter().map(|total| total.rule.id()).collect();
    let mut expected = expected.to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected, "{:#?}", report.faults);
}

#[test]
fn the_sample_is_sound() {
    let report = checked(&Dump::small().bytes(), false);
    assert_eq!(report.totals, []);
    assert_eq!(report.objects, 26);
    assert_eq!(report.bytes, Dump::small().bytes().len() as u64);
}

#[test]
fn the_sample_is_sound_packed() {
    use std::io::{Read, Write};
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&Dump::small().bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let options = reader::CheckOptions {
        most: 1,
        strict: true,
        budget: reader::Budget::default(),
    };
    let mut open = || -> std::io::Result<Box<dyn Read>> { reader::unpacked(packed.as_slice()) };
    assert_eq!(reader::check(&mut open, options).unwrap().totals, []);
}

#[test]
fn every_rule_is_broken_once() {
    let tests = concat!(
        include_str!("main.rs"),
        include_str!("profiles.rs"),
        include_str!("stacks.rs")
    );
    for rule in reader::Rule::ALL {
        assert!(
            tests.contains(&format!("\"{}\"", rule.id())),
            "no test breaks {}",
            rule.id()
        );
    }
}

// Bytes, and the sequence of records.
broken! {
    truncated_at_two_thirds, ["truncated-file"], |dump| {
        dump.records.pop();
        let at = dump.at(0x1C, 1);
        let Body::Heap(subs) = &dump.records[at].body else { panic!() };
        let bytes = subs.concat();
        dump.records[at].length = Some(bytes.len() as u32);
        dump.records[at].body = Body::Bytes(bytes[..bytes.len() / 2].to_vec());
    };
    bytes_behind_the_end, ["trailing-bytes"], |dump| dump.tail = vec![0; 5];
    text_behind_the_end, ["trailing-bytes"], |dump| dump.tail = b"JAVA PROFILE 1.0.2 and so on".to_vec();
    unknown_record_tag, ["unknown-record"], |dump| dump.records.insert(0, record(0x3C, bytes().u4(1)));
    unknown_heap_record_tag, ["unknown-heap-record"], |dump| dump.heap(1).insert(0, vec![0xC9, 1, 2, 3]);
    record_too_short, ["record-too-short"], |dump| dump.records.insert(0, record(0x0E, bytes().u4(0)));
    record_too_long, ["record-too-long"], |dump| dump.records.insert(0, record(0x0E, bytes().u8(0)));
    trace_with_a_count_that_lies, ["record-too-short"], |dump| {
        dump.records.insert(0, record(0x05, bytes().u4(9).u4(0).u4(u32::MAX)));
    };
    object_over_the_end_of_its_segment, ["heap-record-cut"], |dump| {
        dump.heap(1).push(primitive_array(0x3000, INT, 1 << 31, &[0; 8]));
    };
    head_over_the_end_of_its_segment, ["heap-record-cut"], |dump| dump.heap(1).push(vec![0x21, 0, 0]);
    object_beyond_the_end_of_its_segment, ["heap-length-short"], |dump| {
        let at = dump.at(0x1C, 1);
        let Body::Heap(objects) = &dump.records[at].body else { return };
        dump.records[at].length = Some(objects.concat().len() as u32 - 3);
    };
    unknown_field_type, ["unknown-type"], |dump| {
        let mut base = dump.base();
        base.fields[0].1 = 3;
        dump.replace_class(&base);
    };
    primitive_array_of_references, ["unknown-type"], |dump| {
        dump.heap(1).push(primitive_array(0x3000, REF, 0, &[]));
    };
    heap_dump_with_length_zero, ["heap-length-zero", "heap-end-misplaced"], |dump| {
        to_heap_dump(dump);
        let at = dump.at(0x0C, 0);
        dump.records[at].length = Some(0);
        dump.records.push(end());
    };
    android_header, ["android-version"], |dump| dump.version = "JAVA PROFILE 1.0.3";
    android_roots, ["android-record"], |dump| {
        for tag in [0x89, 0x8A, 0x8B, 0x8C, 0x8D, 0x90] {
            dump.heap(0).push(root(tag, OBJECT));
        }
        dump.heap(0).push(bytes().u1(0x8E).u8(OBJECT).u4(1).u4(0).0);
    };
    android_objects, ["android-record"], |dump| {
        dump.heap(1).push(bytes().u1(0xC3).u8(0x3000).u4(1).u4(1 << 30).u1(INT).0);
        dump.heap(1).push(bytes().u1(0xFE).u4(1).u8(1).0);
    };
    record_with_a_time, ["record-time"], |dump| dump.records[3].time = 12;
    file_without_heap, ["stacks-alone", "thread-missing"], |dump| dump.records.retain(|record| record.tag != 0x1C && record.tag != 0x2C);
    file_with_nothing, ["no-heap", "empty-trace-missing"], |dump| dump.records.clear();
    summary_alone, ["empty-trace-missing"], |dump| {
        dump.records = vec![record(0x07, bytes().u4(1).u4(1).u8(1).u8(1))];
    };
    no_heap_end, ["no-heap-end"], |dump| { dump.records.pop(); };
    heap_end_with_a_body, ["heap-end-length"], |dump| *dump.records.last_mut().unwrap() = record(0x2C, bytes().u4(0));
    heap_end_before_the_last_segment, ["heap-end-misplaced"], |dump| {
        let end = dump.records.pop().unwrap();
        let at = dump.at(0x1C, 1);
        dump.records.insert(at, end);
    };
    heap_end_twice, ["heap-end-misplaced"], |dump| dump.records.push(end());
    empty_segment, ["empty-segment"], |dump| {
        let at = dump.at(0x1C, 1);
        dump.records.insert(at, segment(vec![]));
    };
    segment_of_2_gib, ["huge-segment", "truncated-file"], |dump| {
        dump.records.pop();
        let at = dump.at(0x1C, 1);
        dump.records[at].length = Some(1 << 31);
    };
    segments_in_version_1_0_1, ["segment-version"], |dump| dump.version = "JAVA PROFILE 1.0.1";
    segment_then_heap_dump, ["mixed-dump-kinds"], |dump| {
        let at = dump.at(0x1C, 1);
        dump.records[at].tag = 0x0C;
    };
    heap_dump_then_segment, ["mixed-dump-kinds"], |dump| {
        let at = dump.at(0x1C, 0);
        dump.records[at].tag = 0x0C;
    };
    two_dumps_in_segments, ["several-dumps"], |dump| {
        dump.records.push(segment(vec![root(0x05, CLASS), instance(0x3000, 1, OBJECT, &[])]));
        dump.records.push(end());
        // After objects of the first dump, the second one's roots are late, too.
        let Body::Heap(subs) = &mut dump.records.iter_mut().rev().nth(1).unwrap().body else { panic!() };
        subs.remove(0);
    };
    two_dumps_in_heap_dumps, ["several-dumps"], |dump| {
        to_heap_dump(dump);
        let mut second = segment(vec![instance(0x3000, 1, OBJECT, &[])]);
        second.tag = 0x0C;
        dump.records.push(second);
    };
    string_between_segments, ["record-between-segments"], |dump| {
        let at = dump.at(0x1C, 1);
        dump.records.insert(at, string(100, b"late"));
    };
    samples_before_the_end_record, ["record-between-segments"], |dump| {
        let at = dump.at(0x2C, 0);
        dump.records.insert(at, samples());
    };
    heap_summary, ["heap-summary-in-dump"], |dump| {
        dump.records.insert(0, record(0x07, bytes().u4(u32::MAX).u4(1).u8(1 << 32).u8(1)));
    };
    profile_without_heap, [], |dump| {
        dump.records.retain(|record| record.tag != 0x1C && record.tag != 0x2C);
        for (serial, object) in [(1, MAIN), (2, WORKER)] {
            dump.records.push(start_thread(serial, object, 1));
        }
        dump.records.push(samples());
    };
    // In a profile a thread may have many stacks, and some threads may be missing.
    profile_by_thread, [], |dump| {
        dump.records.retain(|record| record.tag != 0x1C && record.tag != 0x2C);
        for (serial, object) in [(1, MAIN), (2, WORKER), (9, LEAF)] {
            dump.records.push(start_thread(serial, object, 1));
        }
        let at = dump.at(0x05, 3);
        dump.records[at] = trace(4, 1, &[2, 3]);
        dump.records.push(samples());
    };
    heap_dump_in_version_1_0_1, [], |dump| {
        to_heap_dump(dump);
        dump.version = "JAVA PROFILE 1.0.1";
    };
    other_records_in_their_places, [], |dump| {
        let at = dump.at(0x1C, 0);
        dump.records.insert(at, sites(3, &[site(18, 4, [1; 4]), site(0, 1, [1; 4])]));
        dump.records.insert(at, start_thread(1, MAIN, 1));
        dump.records.insert(at, samples());
        dump.records.push(record(0x0B, bytes().u4(1)));
        dump.records.push(samples());
        dump.records.push(record(0x0E, bytes().u4(3).u2(6)));
    };
}

// Strings.
broken! {
    duplicate_string, ["duplicate-string"], |dump| dump.records.insert(1, string(1, b"again"));
    string_with_id_zero, ["string-id-zero"], |dump| dump.records.insert(0, string(0, b"zero"));
    string_in_modified_utf8, ["string-not-utf8"], |dump| dump.records.insert(0, string(100, b"a\xC0\x80"));
    string_of_32_kib, ["string-too-long"], |dump| dump.records.insert(0, string(100, &[b'x'; 32 * 1024]));
    string_below_32_kib, [], |dump| dump.records.insert(0, string(100, &[b'x'; 32 * 1024 - 1]));
    string_behind_its_use, ["string-late"], |dump| {
        let late = dump.records.remove(0);
        let at = dump.at(0x1C, 0);
        dump.records.insert(at, late);
    };
    string_nowhere, ["string-missing"], |dump| {
        let mut leaf = dump.leaf();
        leaf.fields[0].0 = 999;
        dump.replace_class(&leaf);
    };
    field_without_name, ["name-zero"], |dump| {
        let mut leaf = dump.leaf();
        leaf.fields[0].0 = 0;
        dump.replace_class(&leaf);
    };
    class_without_name, ["name-zero"], |dump| {
        let at = dump.at(0x02, 17);
        dump.records[at] = load_class(18, LEAF, 0);
    };
    frame_without_source, ["source-zero"], |dump| {
        let (run, descriptor) = (dump.name("run"), dump.name("()V"));
        let at = dump.at(0x04, 0);
        dump.records[at] = frame(1, run, descriptor, 0, 18, 1);
    };
}

// Classes.
broken! {
    class_loaded_twice, ["duplicate-load-class"], |dump| {
        let (at, name) = (dump.at(0x04, 0), dump.name("app/Leaf"));
        dump.records.insert(at, load_class(19, LEAF, name));
    };
    class_serial_twice, ["duplicate-class-serial"], |dump| {
        let (at, name) = (dump.at(0x04, 0), dump.name("app/Leaf"));
        dump.records.insert(at, load_class(18, 0x5000, name));
    };
    class_serial_left_out, ["class-serial-gap"], |dump| {
        let (at, name) = (dump.at(0x04, 0), dump.name("app/Leaf"));
        dump.records.insert(at, load_class(20, 0x5000, name));
    };
    class_loaded_behind_the_heap, ["load-class-late"], |dump| {
        let at = dump.at(0x02, 0);
        let late = dump.records.remove(at);
        dump.records.push(late);
    };
    class_loaded_behind_its_frame, ["load-class-late"], |dump| {
        let at = dump.at(0x02, 17);
        let late = dump.records.remove(at);
        let at = dump.at(0x05, 0);
        dump.records.insert(at, late);
    };
    frame_of_an_unknown_class, ["class-serial-missing"], |dump| {
        let (run, descriptor, file) = (dump.name("run"), dump.name("()V"), dump.name("Leaf.java"));
        let at = dump.at(0x04, 0);
        dump.records[at] = frame(1, run, descriptor, file, 99, 1);
    };
    class_not_loaded, ["class-not-loaded"], |dump| {
        let at = dump.place(0, 0x20, LEAF);
        dump.heap(0).insert(at, ClassDump::new(0x5000, OBJECT).bytes());
    };
    class_twice, ["duplicate-class"], |dump| {
        let at = dump.place(0, 0x20, LEAF);
        let again = dump.heap(0)[at].clone();
        dump.heap(0).insert(at, again);
    };
    instance_of_an_undumped_class, ["class-not-dumped"], |dump| {
        dump.heap(1).push(instance(0x3000, 1, 0x5000, &[]));
    };
    no_object_array_class, ["array-class-missing"], |dump| {
        let at = dump.place(0, 0x20, OBJECT_ARRAY);
        dump.heap(0).remove(at);
    };
    no_int_array_class, ["primitive-class-missing"], |dump| {
        let at = dump.place(0, 0x20, INT_ARRAY);
        dump.heap(0).remove(at);
    };
    two_int_array_classes, ["duplicate-primitive-class"], |dump| {
        let (at, name) = (dump.at(0x04, 0), dump.name("[I"));
        dump.records.insert(at, load_class(19, 0x5000, name));
        dump.heap(0).insert(0, ClassDump::new(0x5000, OBJECT).bytes());
    };
    no_soft_reference, ["core-class-missing"], |dump| {
        let at = dump.place(0, 0x20, 0x1108);
        dump.heap(0).remove(at);
    };
    core_class_with_dots, ["dotted-name"], |dump| {
        let at = dump.at(0x01, 2);
        dump.records[at] = string(3, b"java.lang.String");
    };
    super_class_missing, ["super-missing"], |dump| {
        let mut leaf = dump.leaf();
        leaf.super_class = 0x5000;
        dump.replace_class(&leaf);
    };
    no_super_class, ["super-zero"], |dump| {
        let mut base = dump.base();
        base.super_class = 0;
        dump.replace_class(&base);
    };
    supers_in_a_circle, ["super-cycle"], |dump| {
        let mut base = dump.base();
        base.super_class = LEAF;
        dump.replace_class(&base);
    };
    instance_size_with_header, ["instance-size"], |dump| {
        let mut leaf = dump.leaf();
        leaf.size += 16;
        dump.replace_class(&leaf);
    };
    size_of_object, ["instance-size"], |dump| {
        let object = ClassDump { size: 16, ..ClassDump::new(OBJECT, 0) };
        dump.replace_class(&object);
    };
    too_many_statics, ["too-many-fields"], |dump| {
        let mut leaf = dump.leaf();
        leaf.statics = vec![(1, BOOLEAN, vec![0]); 1 << 15];
        dump.replace_class(&leaf);
    };
    constant_pool, ["constant-pool"], |dump| {
        let mut leaf = dump.leaf();
        leaf.constants = vec![(1, REF, vec![0; 8]), (2, INT, vec![0; 4])];
        dump.replace_class(&leaf);
    };
    unload_of_nothing, ["unload-unknown"], |dump| dump.records.insert(0, record(0x03, bytes().u4(77)));
    unload_of_a_dumped_class, ["unloaded-dumped"], |dump| {
        let at = dump.at(0x04, 0);
        dump.records.insert(at, record(0x03, bytes().u4(18)));
    };
}

// Roots and objects.
broken! {
    root_unknown, ["root-unknown"], |dump| dump.heap(0).push(root(0xFF, ARRAY));
    root_of_null, ["root-zero"], |dump| dump.heap(0).push(root(0x05, 0));
    root_of_nothing, ["root-dangling"], |dump| dump.heap(0).push(root(0x05, 0x7000));
    root_behind_an_object, ["root-late"], |dump| dump.heap(1).push(root(0x05, CLASS));
    objects_before_classes, ["class-dump-late", "root-late"], |dump| {
        let at = dump.at(0x1C, 0);
        dump.records.swap(at, at + 1);
    };
    class_behind_a_root, ["class-dump-late"], |dump| {
        let at = dump.place(0, 0x20, LEAF);
        let late = dump.heap(0).remove(at);
        dump.heap(0).push(late);
    };
    object_with_id_zero, ["object-id-zero"], |dump| dump.heap(1).push(instance(0, 1, OBJECT, &[]));
    object_twice, ["duplicate-object"], |dump| {
        let again = dump.heap(1)[0].clone();
        dump.heap(1).push(again);
    };
    instance_of_a_class_mirror, ["class-mirror-instance"], |dump| dump.heap(1).push(instance(LEAF, 1, CLASS, &[]));
    instance_too_short, ["instance-length"], |dump| dump.replace_object(&instance(BASE_OBJECT, 1, BASE, &[0; 8]));
    instance_too_long, ["instance-length"], |dump| dump.replace_object(&instance(BASE_OBJECT, 1, BASE, &[0; 10]));
    boolean_field_of_two, ["boolean-value"], |dump| {
        dump.replace_object(&instance(BASE_OBJECT, 1, BASE, &bytes().u8(0).u1(2).0));
    };
    boolean_element_of_two, ["boolean-value"], |dump| {
        dump.replace_object(&primitive_array(FLAGS, BOOLEAN, 3, &[0, 1, 2]));
    };
    boolean_static_of_two, ["boolean-value"], |dump| {
        let mut leaf = dump.leaf();
        leaf.statics[1].2 = vec![2];
        dump.replace_class(&leaf);
    };
    unaligned_object, ["unaligned-id"], |dump| dump.heap(1).push(instance(0x3001, 1, OBJECT, &[]));
    field_to_nothing, ["field-dangling"], |dump| {
        dump.replace_object(&instance(BASE_OBJECT, 1, BASE, &bytes().u8(0x7000).u1(0).0));
    };
    element_to_nothing, ["element-dangling"], |dump| {
        dump.replace_object(&object_array(ARRAY, OBJECT_ARRAY, &[0x7000]));
    };
    static_to_nothing, ["static-dangling"], |dump| {
        let mut leaf = dump.leaf();
        leaf.statics[0].2 = 0x7000_u64.to_be_bytes().to_vec();
        dump.replace_class(&leaf);
    };
    loader_that_is_nowhere, ["class-slot-dangling"], |dump| {
        let mut leaf = dump.leaf();
        leaf.slots[0] = 0x7000;
        dump.replace_class(&leaf);
    };
}

/// Puts all sub-records in one HEAP DUMP, without an end.
fn to_heap_dump(dump: &mut Dump) {
    let mut all = std::mem::take(dump.heap(0));
    all.extend(std::mem::take(dump.heap(1)));
    dump.records
        .retain(|record| record.tag != 0x1C && record.tag != 0x2C);
    dump.records.push(segment(all));
    dump.records.last_mut().unwrap().tag = 0x0C;
}

fn insert_frame(dump: &mut Dump, id: u64, line: i32) {
    let (run, descriptor, file) = (dump.name("run"), dump.name("()V"), dump.name("Leaf.java"));
    let at = dump.at(0x05, 0);
    dump.records
        .insert(at, frame(id, run, descriptor, file, 18, line));
}

fn start_thread(serial: u32, object: u64, name: u64) -> Record {
    record(
        0x0A,
        bytes().u4(serial).u8(object).u4(1).u8(name).u8(0).u8(0),
    )
}

/// A row of ALLOC SITES: live bytes and objects, allocated bytes and objects.
fn site(class: u32, trace: u32, numbers: [u32; 4]) -> Vec<u8> {
    let mut row = bytes().u1(0).u4(class).u4(trace);
    for number in numbers {
        row = row.u4(number);
    }
    row.0
}

/// ALLOC SITES whose four totals are this number.
fn sites(total: u32, rows: &[Vec<u8>]) -> Record {
    let wide = u64::from(total);
    let totals = bytes().u2(0).u4(0).u4(total).u4(total).u8(wide).u8(wide);
    record(0x06, totals.u4(rows.len() as u32).all(&rows.concat()))
}

fn samples() -> Record {
    record(0x0D, bytes().u4(7).u4(1).u4(7).u4(4))
}
