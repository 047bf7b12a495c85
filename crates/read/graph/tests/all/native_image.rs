//! GraalVM's native images write each class object as a class and as an instance: it is one object,
//! with the fields of both, for the graph and for the reader.

use graph::{Heap, Input, Options, References, Retained};
use reader::{summarize, DumpReader, Histogram};
use sample::{file_of, Dump};

const CLASS: u64 = 0x2000;
/// Classes of the application.
const CLASSES: u64 = 3000;
/// Their statics and companions are arrays of so many bytes.
const STATIC_BYTES: u64 = 100;
const OWN_BYTES: u64 = 200;
/// The instance of `java.lang.Class` that stands for `int`.
const INT: u64 = 0x8000;

fn class(number: u64) -> u64 {
    0x10_0000 + number * 0x1000
}

/// Three classes of [`Dump::new`], `java.lang.Class` and the others, of which all but the three
/// have an instance, too; the thread, `int`, two arrays for each other class, an array of them all.
fn dump() -> Dump {
    let mut dump = Dump::new(8);
    let fields = ["companion", "name"];
    dump.class(CLASS, "java.lang.Class", Dump::OBJECT, 0, &fields, &[]);
    let all: Vec<u64> = (0..CLASSES).map(class).collect();
    for id in &all {
        let statics = [("CACHE", id + 0x100)];
        dump.class(*id, &format!("app.{id}"), Dump::OBJECT, 0, &[], &statics);
        dump.byte_array(id + 0x100, &[1; STATIC_BYTES as usize]);
        if id % 7 == 0 {
            dump.instance(id + 0x200, Dump::OBJECT, &[]);
            dump.object_array(id + 0x300, &[id + 0x200]);
        }
    }
    dump.instance(CLASS, CLASS, &[0, 0]);
    dump.instance(INT, CLASS, &[0, 0]);
    for id in all.iter().rev() {
        dump.instance(*id, CLASS, &[id + 0x400, 0]);
        dump.byte_array(id + 0x400, &[2; OWN_BYTES as usize]);
    }
    dump.object_array(0x9000, &all);
    dump.root(0x9000);
    dump
}

#[test]
fn a_class_object_is_one_object_with_the_fields_of_both_records() {
    let dump = dump();
    let bytes = dump.bytes();
    let more = (0..CLASSES)
        .filter(|number| class(*number) % 7 == 0)
        .count() as u64;
    // A header has 12 bytes, that of an array 16; a static reference has 4, in units of 8.
    let own_bytes = (12 + 2 * 4_u64).next_multiple_of(8);
    let with_statics = own_bytes + 8;
    let array = |bytes: u64| (16 + bytes).next_multiple_of(8);
    let arrays = array(STATIC_BYTES) + array(OWN_BYTES);
    let objects = 4 + CLASSES + 2 + 2 * CLASSES + 1 + 2 * more;
    let classes_bytes = own_bytes * 2 + with_statics * CLASSES;
    let others = 16 + arrays * CLASSES + array(4 * CLASSES) + (16 + 24) * more;

    let histogram = Histogram::read(&mut DumpReader::new(Box::new(&*bytes)).unwrap()).unwrap();
    let mut rows = histogram.rows.iter();
    let row = rows.find(|row| &*row.class == "java.lang.Class").unwrap();
    assert_eq!((row.instances, row.bytes), (5 + CLASSES, classes_bytes));
    assert_eq!(histogram.instances(), objects);
    assert_eq!(histogram.bytes(), classes_bytes + others);
    let summary = summarize(&mut DumpReader::new(Box::new(&*bytes)).unwrap()).unwrap();
    assert_eq!(summary.objects, objects - 4 - CLASSES);
    assert_eq!(summary.object_bytes, others + own_bytes);

    for (packed, threads) in [(false, 1), (false, 3), (true, 1)] {
        let input = Input::new(dump.file(packed), &|_| ()).unwrap();
        let options = Options {
            threads,
            ..Options::default()
        };
        let heap = Heap::read(input, options).unwrap();
        assert_eq!(u64::from(heap.objects()), objects);
        let all = (0..heap.objects()).map(|object| heap.shallow_bytes(object));
        assert_eq!(all.sum::<u64>(), histogram.bytes());
        let retained = Retained::of(&heap, References::All).unwrap();
        let object = |id| heap.object(id).unwrap();
        for number in [0, 1, 700, 1023, 1024, CLASSES - 1] {
            let class = class(number);
            let name = |id| heap.class_name(heap.class(object(id)));
            assert_eq!(name(class), "java.lang.Class");
            assert_eq!(name(class + 0x400), "byte[]");
            assert_eq!(heap.id(object(class)), class);
            let bytes = retained.bytes(object(class));
            assert_eq!(bytes, with_statics + arrays, "{number}");
            let contents = heap.contents(&[object(class)], 0).unwrap();
            let fields = heap.fields(contents.values().next().unwrap());
            let fields = fields.iter().map(|field| (&*field.name, field.value));
            let expected = [
                ("CACHE", class + 0x100),
                ("companion", class + 0x400),
                ("name", 0),
            ];
            assert_eq!(fields.collect::<Vec<_>>(), expected);
            let [fixed, own] = [0x100, 0x400].map(|at| (object(class), object(class + at)));
            let links = heap.links([fixed, own].into_iter()).unwrap();
            let text = |(from, to)| heap.link_text(links.get(from, to).unwrap());
            assert_eq!([text(fixed), text(own)], [".CACHE (static)", ".companion"]);
        }
    }
}

#[test]
fn an_instance_of_another_class_is_an_object_of_its_own() {
    let mut dump = Dump::new(8);
    dump.class(CLASS, "java.lang.Class", Dump::OBJECT, 0, &[], &[]);
    dump.instance(CLASS, Dump::OBJECT, &[]);
    let bytes = dump.bytes();
    let histogram = Histogram::read(&mut DumpReader::new(Box::new(&*bytes)).unwrap()).unwrap();
    let heap = Heap::read(
        Input::new(file_of(&bytes), &|_| ()).unwrap(),
        Options::default(),
    );
    assert_eq!(u64::from(heap.unwrap().objects()), histogram.instances());
    assert_eq!(histogram.instances(), 6);
}
