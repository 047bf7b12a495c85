//! A small valid dump for tests to break, deliberately written with plain byte pushing instead of
//! the writer.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test fails by panicking"
)]
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::io::Read;

use reader::{check, CheckOptions, Report};

pub(crate) const OBJECT: u64 = 0x1000;
pub(crate) const CLASS: u64 = 0x1008;
pub(crate) const STRING: u64 = 0x1010;
pub(crate) const OBJECT_ARRAY: u64 = 0x1018;
pub(crate) const INT_ARRAY: u64 = 0x1020;
pub(crate) const THREAD: u64 = 0x1028;
pub(crate) const BASE: u64 = 0x1030;
pub(crate) const LEAF: u64 = 0x1038;

pub(crate) const MAIN: u64 = 0x2000;
pub(crate) const WORKER: u64 = 0x2008;
pub(crate) const LEAF_OBJECT: u64 = 0x2010;
pub(crate) const BASE_OBJECT: u64 = 0x2018;
pub(crate) const ARRAY: u64 = 0x2020;
pub(crate) const FLAGS: u64 = 0x2028;
pub(crate) const NAME: u64 = 0x2030;
pub(crate) const NAME_CHARS: u64 = 0x2038;

pub(crate) const REF: u8 = 2;
pub(crate) const BOOLEAN: u8 = 4;
pub(crate) const CHAR: u8 = 5;
pub(crate) const INT: u8 = 10;
pub(crate) const LONG: u8 = 11;

/// Names of the classes in serial order, with ids and superclasses.
const CLASSES: [(u64, &str, u64); 18] = [
    (OBJECT, "java/lang/Object", 0),
    (CLASS, "java/lang/Class", OBJECT),
    (STRING, "java/lang/String", OBJECT),
    (0x1100, "java/lang/ClassLoader", OBJECT),
    (0x1108, "java/lang/ref/SoftReference", OBJECT),
    (0x1110, "java/lang/ref/WeakReference", OBJECT),
    (0x1118, "[Z", OBJECT),
    (0x1120, "[C", OBJECT),
    (0x1128, "[F", OBJECT),
    (0x1130, "[D", OBJECT),
    (0x1138, "[B", OBJECT),
    (0x1140, "[S", OBJECT),
    (INT_ARRAY, "[I", OBJECT),
    (0x1148, "[J", OBJECT),
    (OBJECT_ARRAY, "[Ljava/lang/Object;", OBJECT),
    (THREAD, "java/lang/Thread", OBJECT),
    (BASE, "app/Base", OBJECT),
    (LEAF, "app/Leaf", BASE),
];

/// The contents of a record: bytes, or sub-records.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Bytes(Vec<u8>),
    Heap(Vec<Vec<u8>>),
}

/// A record whose length may be false.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) tag: u8,
    pub(crate) time: u32,
    pub(crate) length: Option<u32>,
    pub(crate) body: Body,
}

/// A dump as a list of records.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) version: &'static str,
    pub(crate) records: Vec<Record>,
    pub(crate) tail: Vec<u8>,
    strings: Vec<&'static str>,
}

/// Big-endian bytes, one number after the other.
#[derive(Default)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Bytes {
    pub(crate) fn u1(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }
    pub(crate) fn u2(mut self, value: u16) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }
    pub(crate) fn u4(mut self, value: u32) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }
    pub(crate) fn u8(mut self, value: u64) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }
    pub(crate) fn all(mut self, values: &[u8]) -> Self {
        self.0.extend(values);
        self
    }
}

pub(crate) fn bytes() -> Bytes {
    Bytes::default()
}

pub(crate) fn record(tag: u8, body: Bytes) -> Record {
    Record {
        tag,
        time: 0,
        length: None,
        body: Body::Bytes(body.0),
    }
}

pub(crate) fn segment(sub_records: Vec<Vec<u8>>) -> Record {
    Record {
        tag: 0x1C,
        time: 0,
        length: None,
        body: Body::Heap(sub_records),
    }
}

pub(crate) fn end() -> Record {
    record(0x2C, bytes())
}

pub(crate) fn string(id: u64, text: &[u8]) -> Record {
    record(0x01, bytes().u8(id).all(text))
}

pub(crate) fn load_class(serial: u32, class: u64, name: u64) -> Record {
    record(0x02, bytes().u4(serial).u8(class).u4(1).u8(name))
}

pub(crate) fn frame(
    id: u64,
    method: u64,
    signature: u64,
    source: u64,
    class: u32,
    line: i32,
) -> Record {
    let names = bytes().u8(id).u8(method).u8(signature).u8(source);
    record(0x04, names.u4(class).all(&line.to_be_bytes()))
}

pub(crate) fn trace(serial: u32, thread: u32, frames: &[u64]) -> Record {
    let mut body = bytes().u4(serial).u4(thread).u4(frames.len() as u32);
    for frame in frames {
        body = body.u8(*frame);
    }
    record(0x05, body)
}

/// A class dump that can be changed before it is written.
#[derive(Clone, Debug)]
pub(crate) struct ClassDump {
    pub(crate) id: u64,
    pub(crate) trace: u32,
    pub(crate) super_class: u64,
    pub(crate) slots: [u64; 3],
    pub(crate) size: u32,
    pub(crate) constants: Vec<(u16, u8, Vec<u8>)>,
    pub(crate) statics: Vec<(u64, u8, Vec<u8>)>,
    pub(crate) fields: Vec<(u64, u8)>,
}

impl ClassDump {
    pub(crate) fn new(id: u64, super_class: u64) -> Self {
        Self {
            id,
            trace: 1,
            super_class,
            slots: [0; 3],
            size: 0,
            constants: vec![],
            statics: vec![],
            fields: vec![],
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut to = bytes()
            .u1(0x20)
            .u8(self.id)
            .u4(self.trace)
            .u8(self.super_class);
        for slot in self.slots {
            to = to.u8(slot);
        }
        to = to.u8(0).u8(0).u4(self.size).u2(self.constants.len() as u16);
        for (index, kind, value) in &self.constants {
            to = to.u2(*index).u1(*kind).all(value);
        }
        to = to.u2(self.statics.len() as u16);
        for (name, kind, value) in &self.statics {
            to = to.u8(*name).u1(*kind).all(value);
        }
        to = to.u2(self.fields.len() as u16);
        for (name, kind) in &self.fields {
            to = to.u8(*name).u1(*kind);
        }
        to.0
    }
}

pub(crate) fn instance(object: u64, trace: u32, class: u64, data: &[u8]) -> Vec<u8> {
    let head = bytes().u1(0x21).u8(object).u4(trace).u8(class);
    head.u4(data.len() as u32).all(data).0
}

pub(crate) fn object_array(object: u64, class: u64, elements: &[u64]) -> Vec<u8> {
    let mut to = bytes()
        .u1(0x22)
        .u8(object)
        .u4(1)
        .u4(elements.len() as u32)
        .u8(class);
    for element in elements {
        to = to.u8(*element);
    }
    to.0
}

pub(crate) fn primitive_array(object: u64, kind: u8, length: u32, data: &[u8]) -> Vec<u8> {
    bytes()
        .u1(0x23)
        .u8(object)
        .u4(1)
        .u4(length)
        .u1(kind)
        .all(data)
        .0
}

/// A root without further facts: unknown, sticky class, monitor.
pub(crate) fn root(tag: u8, object: u64) -> Vec<u8> {
    bytes().u1(tag).u8(object).0
}

pub(crate) fn thread_root(object: u64, serial: u32, trace: u32) -> Vec<u8> {
    bytes().u1(0x08).u8(object).u4(serial).u4(trace).0
}

pub(crate) fn frame_root(object: u64, serial: u32, number: u32) -> Vec<u8> {
    bytes().u1(0x03).u8(object).u4(serial).u4(number).0
}

impl Sample {
    /// The valid dump: 18 classes, 2 threads, 3 frames, 4 traces, 8 objects in two segments.
    pub(crate) fn new() -> Self {
        let mut sample = Self {
            version: "JAVA PROFILE 1.0.2",
            records: Vec::new(),
            tail: Vec::new(),
            strings: Vec::new(),
        };
        let mut head = Vec::new();
        for (at, (id, name, _)) in CLASSES.iter().enumerate() {
            head.push(load_class(at as u32 + 1, *id, sample.name(name)));
        }
        let (run, descriptor, file) = (
            sample.name("run"),
            sample.name("()V"),
            sample.name("Leaf.java"),
        );
        for (id, line) in [(1, 7), (2, -1), (3, -3)] {
            head.push(frame(id, run, descriptor, file, 18, line));
        }
        head.push(trace(1, 0, &[]));
        head.push(trace(2, 1, &[1, 2]));
        head.push(trace(3, 2, &[3]));
        head.push(trace(4, 0, &[2, 3]));
        let mut first = sample.classes();
        first.extend(roots());
        let ids = 1_u64..;
        let strings = sample.strings.iter().zip(ids);
        sample.records = strings
            .map(|(text, id)| string(id, text.as_bytes()))
            .collect();
        sample.records.extend(head);
        sample.records.push(segment(first));
        sample.records.push(segment(objects()));
        sample.records.push(end());
        sample
    }

    /// Id of a string. Adds the string if it is new.
    pub(crate) fn name(&mut self, text: &'static str) -> u64 {
        let at = self.strings.iter().position(|known| *known == text);
        at.unwrap_or_else(|| {
            self.strings.push(text);
            self.strings.len() - 1
        }) as u64
            + 1
    }

    /// The class dumps, in order.
    fn classes(&mut self) -> Vec<Vec<u8>> {
        let class = |at: usize| ClassDump::new(CLASSES[at].0, CLASSES[at].2);
        let mut dumps: Vec<ClassDump> = (0..CLASSES.len()).map(class).collect();
        dumps[2].fields = vec![(self.name("value"), REF)];
        dumps[2].size = 8;
        dumps[15].fields = vec![(self.name("name"), REF)];
        dumps[15].size = 8;
        dumps[16] = self.base();
        dumps[17] = self.leaf();
        dumps.iter().map(ClassDump::bytes).collect()
    }

    pub(crate) fn base(&mut self) -> ClassDump {
        ClassDump {
            fields: vec![(self.name("next"), REF), (self.name("flag"), BOOLEAN)],
            size: 9,
            ..ClassDump::new(BASE, OBJECT)
        }
    }

    pub(crate) fn leaf(&mut self) -> ClassDump {
        ClassDump {
            fields: vec![(self.name("v"), LONG)],
            statics: vec![
                (self.name("shared"), REF, BASE_OBJECT.to_be_bytes().to_vec()),
                (self.name("on"), BOOLEAN, vec![1]),
            ],
            size: 17,
            ..ClassDump::new(LEAF, BASE)
        }
    }

    /// Index of the `number`th record with this tag.
    pub(crate) fn at(&self, tag: u8, number: usize) -> usize {
        let mut places = (0..self.records.len()).filter(|at| self.records[*at].tag == tag);
        places.nth(number).unwrap()
    }

    /// The sub-records of the `number`th segment.
    pub(crate) fn heap(&mut self, number: usize) -> &mut Vec<Vec<u8>> {
        let at = self.at(0x1C, number);
        match &mut self.records[at].body {
            Body::Heap(sub_records) => sub_records,
            Body::Bytes(_) => panic!("a segment holds sub-records"),
        }
    }

    /// Index of a root or class dump, by first byte and object id.
    pub(crate) fn sub_record(&mut self, number: usize, tag: u8, object: u64) -> usize {
        let id = object.to_be_bytes();
        let same = |sub: &Vec<u8>| sub[0] == tag && sub[1..9] == id;
        self.heap(number).iter().position(same).unwrap()
    }

    /// Replaces the class dump with the same id.
    pub(crate) fn replace_class(&mut self, dump: &ClassDump) {
        let at = self.sub_record(0, 0x20, dump.id);
        self.heap(0)[at] = dump.bytes();
    }

    /// Replaces the object with the same id and tag.
    pub(crate) fn replace_object(&mut self, object: &[u8]) {
        let id = u64::from_be_bytes(object[1..9].try_into().unwrap());
        let at = self.sub_record(1, object[0], id);
        self.heap(1)[at] = object.to_vec();
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut to = self.version.as_bytes().to_vec();
        to.push(0);
        to.extend(8_u32.to_be_bytes());
        to.extend(1_700_000_000_000_u64.to_be_bytes());
        for record in &self.records {
            let body = match &record.body {
                Body::Bytes(body) => body.clone(),
                Body::Heap(sub_records) => sub_records.concat(),
            };
            to.push(record.tag);
            to.extend(record.time.to_be_bytes());
            to.extend(record.length.unwrap_or(body.len() as u32).to_be_bytes());
            to.extend(body);
        }
        to.extend(&self.tail);
        to
    }
}

fn roots() -> Vec<Vec<u8>> {
    vec![
        thread_root(MAIN, 1, 2),
        frame_root(LEAF_OBJECT, 1, 0),
        frame_root(ARRAY, 1, 1),
        bytes().u1(0x02).u8(FLAGS).u4(1).u4(u32::MAX).0,
        thread_root(WORKER, 2, 3),
        bytes().u1(0x02).u8(BASE_OBJECT).u4(2).u4(0).0,
        bytes().u1(0x04).u8(FLAGS).u4(2).0,
        bytes().u1(0x06).u8(FLAGS).u4(2).0,
        bytes().u1(0x01).u8(ARRAY).u8(0xDEAD).0,
        root(0x07, BASE_OBJECT),
        root(0x05, OBJECT),
    ]
}

fn objects() -> Vec<Vec<u8>> {
    let leaf = bytes().u8(42).u8(BASE_OBJECT).u1(1).0;
    vec![
        instance(MAIN, 1, THREAD, &NAME.to_be_bytes()),
        instance(WORKER, 1, THREAD, &0_u64.to_be_bytes()),
        instance(LEAF_OBJECT, 4, LEAF, &leaf),
        instance(BASE_OBJECT, 1, BASE, &bytes().u8(0).u1(0).0),
        instance(NAME, 1, STRING, &NAME_CHARS.to_be_bytes()),
        object_array(ARRAY, OBJECT_ARRAY, &[LEAF_OBJECT, 0, CLASS]),
        primitive_array(FLAGS, BOOLEAN, 3, &[0, 1, 1]),
        primitive_array(NAME_CHARS, CHAR, 4, b"\0m\0a\0i\0n"),
    ]
}

/// Checks bytes, with many faults described.
pub(crate) fn checked(dump: &[u8], lenient: bool) -> Report {
    let mut open = || Ok(Box::new(dump) as Box<dyn Read>);
    let options = CheckOptions {
        most: 100,
        strict: !lenient,
        budget: reader::Budget::default(),
    };
    check(&mut open, options).unwrap()
}
