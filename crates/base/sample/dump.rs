//! A heap under construction: classes, objects and roots.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

use flate2::write::GzEncoder;
use flate2::Compression;
use format::{record as tag, BasicType};

use crate::*;

/// Bytes of a segment after which an array of references starts the next one.
const PART_BYTES: usize = 300;

/// A dump as a list of records, which a test may change, and of which lengths may be false.
#[derive(Clone, Debug)]
pub struct Dump {
    /// The first words of the file.
    pub version: &'static str,
    /// The records, in order.
    pub records: Vec<Record>,
    /// Bytes that follow them.
    pub tail: Vec<u8>,
    pub(crate) time_millis: u64,
    pub(crate) strings: Vec<String>,
    id_bytes: u32,
    /// The sub-records of the last segment; `None` if the records are complete.
    pub(crate) part: Option<Vec<Vec<u8>>>,
}

impl Dump {
    /// Id of the class `java.lang.Object`.
    pub const OBJECT: u64 = 0x1000;
    /// Id of the class of arrays.
    pub const ARRAY: u64 = 0x1100;
    /// Id of the thread's class.
    pub const THREAD_CLASS: u64 = 0x1200;
    /// Id of the thread.
    pub const THREAD: u64 = 0x1300;

    /// Nothing but a header.
    pub fn empty(id_bytes: u32) -> Self {
        Self {
            version: "JAVA PROFILE 1.0.2",
            records: Vec::new(),
            tail: Vec::new(),
            time_millis: 0,
            strings: Vec::new(),
            id_bytes,
            part: Some(Vec::new()),
        }
    }

    /// A dump with three classes and a thread.
    pub fn new(id_bytes: u32) -> Self {
        let mut dump = Self::empty(id_bytes);
        for (class, name, above) in [
            (Self::OBJECT, "java/lang/Object", 0),
            (Self::ARRAY, "[Ljava/lang/Object;", Self::OBJECT),
            (Self::THREAD_CLASS, "java/lang/Thread", Self::OBJECT),
        ] {
            dump.class(class, name, above, 0, &[], &[]);
            dump.add(dump.to().root(0x05, class));
        }
        dump.instance(Self::THREAD, Self::THREAD_CLASS, &[]);
        dump.add(dump.to().root(0x08, Self::THREAD).u4(1).u4(1));
        dump
    }

    /// Adds a class with reference fields of these names, and static references.
    pub fn class(
        &mut self,
        id: u64,
        name: &str,
        above: u64,
        loader: u64,
        fields: &[&str],
        statics: &[(&str, u64)],
    ) {
        let fields: Vec<(&str, u8)> = fields.iter().map(|name| (*name, REF)).collect();
        self.class_of(id, name, (above, loader), &fields, statics);
    }

    /// Adds a class with fields of these names and types, a super class and a loader.
    pub fn class_of(
        &mut self,
        id: u64,
        name: &str,
        (above, loader): (u64, u64),
        fields: &[(&str, u8)],
        statics: &[(&str, u64)],
    ) {
        let name = self.string(name);
        let load = self.to().u4(1).id(id).u4(0).id(name);
        self.records.push(record(tag::LOAD_CLASS, load));
        let size = |kind: u8| {
            BasicType::from_code(kind)
                .unwrap()
                .size_bytes(self.id_bytes)
        };
        let class = ClassDump {
            slots: [loader, 0, 0],
            size: fields.iter().map(|(_, kind)| size(*kind)).sum(),
            statics: statics
                .iter()
                .map(|(name, value)| (self.string(name), REF, self.to().id(*value).0))
                .collect(),
            fields: fields
                .iter()
                .map(|(name, kind)| (self.string(name), *kind))
                .collect(),
            ..ClassDump::new(id, above)
        };
        self.add(class.add_to(self.to()));
    }

    /// Adds a class with static fields of these names that have numbers.
    pub fn constants(&mut self, id: u64, name: &str, constants: &[(&str, u32)]) {
        let name = self.string(name);
        let load = self.to().u4(1).id(id).u4(0).id(name);
        self.records.push(record(tag::LOAD_CLASS, load));
        let constant = |(name, value): &(&str, u32)| {
            let bytes = value.to_be_bytes().to_vec();
            (self.string(name), 10, bytes)
        };
        let class = ClassDump {
            statics: constants.iter().map(constant).collect(),
            ..ClassDump::new(id, Self::OBJECT)
        };
        self.add(class.add_to(self.to()));
    }

    /// Adds an instance with fields of any types: size in bytes and value of each.
    pub fn instance_with(&mut self, id: u64, class: u64, values: &[(u32, u64)]) {
        let bytes = |(size, value): &(u32, u64)| value.to_be_bytes()[8 - *size as usize..].to_vec();
        let data: Vec<u8> = values.iter().flat_map(bytes).collect();
        self.add(self.to().instance(id, 0, class, &data));
    }

    /// Adds an array of bytes.
    pub fn byte_array(&mut self, id: u64, bytes: &[u8]) {
        self.add(
            self.to()
                .primitive_array(id, BYTE, bytes.len() as u32, bytes),
        );
    }

    /// Adds an array of chars.
    pub fn char_array(&mut self, id: u64, text: &str) {
        let units: Vec<u16> = text.encode_utf16().collect();
        let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        self.add(
            self.to()
                .primitive_array(id, CHAR, units.len() as u32, &bytes),
        );
    }

    /// Adds an instance whose fields are all references.
    pub fn instance(&mut self, id: u64, class: u64, fields: &[u64]) {
        self.instance_of(id, class, fields, 0);
    }

    /// Adds an instance allocated at this trace.
    pub fn instance_of(&mut self, id: u64, class: u64, fields: &[u64], trace: u32) {
        let data = self.to().ids(fields).0;
        self.add(self.to().instance(id, trace, class, &data));
    }

    /// Adds an array of references.
    pub fn object_array(&mut self, id: u64, elements: &[u64]) {
        self.add(self.to().object_array(id, Self::ARRAY, elements));
        // Make parts of different sizes.
        let part = self.part.iter().flatten();
        if part.map(Vec::len).sum::<usize>() > PART_BYTES {
            self.end_part();
        }
    }

    /// Adds a root of unknown kind.
    pub fn root(&mut self, id: u64) {
        self.add(self.to().root(0xFF, id));
    }

    /// Adds a local variable of the thread.
    pub fn local(&mut self, id: u64) {
        self.add(self.to().root(0x03, id).u4(1).u4(0));
    }

    /// Adds a stack of one frame: a method, its source file and a line.
    pub fn stack(&mut self, serial: u32, (method, source, line): (&str, &str, u32)) {
        let (method, source, id) = (self.string(method), self.string(source), 0x5000);
        let frame = self.to().ids(&[id, method, 0, source]).u4(1).u4(line);
        self.records.push(record(tag::FRAME, frame));
        let trace = self.to().u4(serial).u4(0).u4(1).id(id);
        self.records.push(record(tag::TRACE, trace));
    }

    /// Adds a STRING; returns its id.
    pub fn string(&mut self, text: &str) -> u64 {
        self.strings.push(text.to_owned());
        let id = 0x10 + self.strings.len() as u64;
        let body = self.to().id(id).all(text.as_bytes());
        self.records.push(record(tag::UTF8, body));
        id
    }

    /// Adds a sub-record, the last one of its segment.
    pub fn sub_record(&mut self, bytes: &[u8]) {
        self.add(self.to().all(bytes));
        self.end_part();
    }

    /// No bytes yet; ids will be as long as this dump's.
    pub fn to(&self) -> Bytes {
        Bytes(Vec::new(), self.id_bytes)
    }

    /// Adds a sub-record.
    pub fn add(&mut self, sub_record: Bytes) {
        self.part.get_or_insert_default().push(sub_record.0);
    }

    fn end_part(&mut self) {
        let part = self.part.replace(Vec::new()).unwrap_or_default();
        self.records.push(segment(part));
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut to = bytes().all(self.version.as_bytes()).u1(0);
        to = to.u4(self.id_bytes).u8(self.time_millis);
        let last = self.part.clone().map(|part| [segment(part), end()]);
        for record in self.records.iter().chain(last.iter().flatten()) {
            let body = match &record.body {
                Body::Bytes(body) => body.clone(),
                Body::Heap(sub_records) => sub_records.concat(),
            };
            let length = record.length.unwrap_or(body.len() as u32);
            to = to.u1(record.tag).u4(record.time).u4(length).all(&body);
        }
        to.all(&self.tail).0
    }

    /// The bytes of a graph stream, with the sizes of HotSpot's usual layout.
    pub fn stream(&self) -> Vec<u8> {
        let dump = self.bytes();
        let (head, records) = dump.split_at(self.version.len() + 13);
        let to = bytes()
            .all(format::HEADER_GRAPH)
            .all(&head[self.version.len()..]);
        to.u4(12).u4(16).u4(4).u4(8).all(records).0
    }

    /// The file, ready to be read.
    pub fn file(&self, packed: bool) -> File {
        let mut bytes = self.bytes();
        if packed {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&bytes).unwrap();
            bytes = encoder.finish().unwrap();
        }
        file_of(&bytes)
    }
}

/// A file with these bytes.
pub fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file
}
