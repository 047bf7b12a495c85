//! A heap under construction: classes, objects and roots.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

use flate2::write::GzEncoder;
use flate2::Compression;
use format::{heap, record, BasicType};

/// A dump under construction.
#[derive(Clone, Debug)]
pub struct Dump {
    id_bytes: u32,
    records: Vec<u8>,
    heap: Vec<u8>,
    strings: u64,
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

    /// A dump with three classes and a thread.
    pub fn new(id_bytes: u32) -> Self {
        let mut dump = Self {
            id_bytes,
            records: Vec::new(),
            heap: Vec::new(),
            strings: 0,
        };
        dump.class(Self::OBJECT, "java/lang/Object", 0, 0, &[], &[]);
        dump.class(
            Self::ARRAY,
            "[Ljava/lang/Object;",
            Self::OBJECT,
            0,
            &[],
            &[],
        );
        dump.class(
            Self::THREAD_CLASS,
            "java/lang/Thread",
            Self::OBJECT,
            0,
            &[],
            &[],
        );
        for class in [Self::OBJECT, Self::ARRAY, Self::THREAD_CLASS] {
            dump.heap.push(heap::ROOT_STICKY_CLASS);
            dump.id(class);
        }
        dump.instance(Self::THREAD, Self::THREAD_CLASS, &[]);
        dump.heap.push(heap::ROOT_THREAD_OBJ);
        dump.id(Self::THREAD);
        dump.heap.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 1]);
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
        let fields: Vec<(&str, u8)> = fields.iter().map(|name| (*name, 2)).collect();
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
        let mut body = vec![0, 0, 0, 1];
        self.put(&mut body, id);
        body.extend_from_slice(&[0, 0, 0, 0]);
        self.put(&mut body, name);
        self.record(record::LOAD_CLASS, &body);
        self.heap.push(heap::CLASS_DUMP);
        self.id(id);
        self.heap.extend_from_slice(&[0, 0, 0, 0]);
        for id in [above, loader, 0, 0, 0, 0] {
            self.id(id);
        }
        let size = |kind: u8| {
            BasicType::from_code(kind)
                .unwrap()
                .size_bytes(self.id_bytes)
        };
        let instance_bytes: u32 = fields.iter().map(|(_, kind)| size(*kind)).sum();
        self.heap.extend_from_slice(&instance_bytes.to_be_bytes());
        self.heap.extend_from_slice(&[0, 0]);
        self.heap
            .extend_from_slice(&(statics.len() as u16).to_be_bytes());
        for (name, value) in statics {
            let name = self.string(name);
            self.id(name);
            self.heap.push(2);
            self.id(*value);
        }
        self.heap
            .extend_from_slice(&(fields.len() as u16).to_be_bytes());
        for (name, kind) in fields {
            let name = self.string(name);
            self.id(name);
            self.heap.push(*kind);
        }
    }

    /// Adds an instance with fields of any types: size in bytes and value of each.
    pub fn instance_with(&mut self, id: u64, class: u64, values: &[(u32, u64)]) {
        self.heap.push(heap::INSTANCE_DUMP);
        self.id(id);
        self.heap.extend_from_slice(&[0; 4]);
        self.id(class);
        let bytes = |(size, value): &(u32, u64)| value.to_be_bytes()[8 - *size as usize..].to_vec();
        let data: Vec<u8> = values.iter().flat_map(bytes).collect();
        self.heap
            .extend_from_slice(&(data.len() as u32).to_be_bytes());
        self.heap.extend_from_slice(&data);
    }

    /// Adds an array of bytes.
    pub fn byte_array(&mut self, id: u64, bytes: &[u8]) {
        self.heap.push(heap::PRIM_ARRAY_DUMP);
        self.id(id);
        self.heap.extend_from_slice(&[0; 4]);
        self.heap
            .extend_from_slice(&(bytes.len() as u32).to_be_bytes());
        self.heap.push(BasicType::Byte.code());
        self.heap.extend_from_slice(bytes);
    }

    /// Adds an array of chars.
    pub fn char_array(&mut self, id: u64, text: &str) {
        let units: Vec<u16> = text.encode_utf16().collect();
        self.heap.push(heap::PRIM_ARRAY_DUMP);
        self.id(id);
        self.heap.extend_from_slice(&[0; 4]);
        self.heap
            .extend_from_slice(&(units.len() as u32).to_be_bytes());
        self.heap.push(BasicType::Char.code());
        units
            .iter()
            .for_each(|unit| self.heap.extend_from_slice(&unit.to_be_bytes()));
    }

    /// Adds an instance whose fields are all references.
    pub fn instance(&mut self, id: u64, class: u64, fields: &[u64]) {
        self.instance_of(id, class, fields, 0);
    }

    /// Adds an instance allocated at this trace.
    pub fn instance_of(&mut self, id: u64, class: u64, fields: &[u64], trace: u32) {
        self.heap.push(heap::INSTANCE_DUMP);
        self.id(id);
        self.heap.extend_from_slice(&trace.to_be_bytes());
        self.id(class);
        let data_bytes = fields.len() as u32 * self.id_bytes;
        self.heap.extend_from_slice(&data_bytes.to_be_bytes());
        fields.iter().for_each(|field| self.id(*field));
    }

    /// Adds an array of references.
    pub fn object_array(&mut self, id: u64, elements: &[u64]) {
        self.heap.push(heap::OBJ_ARRAY_DUMP);
        self.id(id);
        self.heap.extend_from_slice(&[0, 0, 0, 0]);
        self.heap
            .extend_from_slice(&(elements.len() as u32).to_be_bytes());
        self.id(Self::ARRAY);
        elements.iter().for_each(|element| self.id(*element));
        // Make parts of different sizes.
        if self.heap.len() > 300 {
            self.end_part();
        }
    }

    /// Adds a root of unknown kind.
    pub fn root(&mut self, id: u64) {
        self.heap.push(heap::ROOT_UNKNOWN);
        self.id(id);
    }

    /// Adds a local variable of the thread.
    pub fn local(&mut self, id: u64) {
        self.heap.push(heap::ROOT_JAVA_FRAME);
        self.id(id);
        self.heap.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 0]);
    }

    /// The bytes of the file.
    pub fn bytes(mut self) -> Vec<u8> {
        self.end_part();
        let mut bytes = b"JAVA PROFILE 1.0.2\0".to_vec();
        bytes.extend_from_slice(&self.id_bytes.to_be_bytes());
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(&self.records);
        bytes.extend_from_slice(&[record::HEAP_DUMP_END, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes
    }

    /// Adds a sub-record.
    pub fn sub_record(&mut self, bytes: &[u8]) {
        self.heap.extend_from_slice(bytes);
        self.end_part();
    }

    /// The bytes of a graph stream, with the sizes of HotSpot's usual layout.
    pub fn stream(self) -> Vec<u8> {
        let bytes = self.bytes();
        let mut stream = format::HEADER_GRAPH.to_vec();
        let header_bytes = b"JAVA PROFILE 1.0.2\0".len() + 12;
        stream.push(0);
        stream.extend_from_slice(&bytes[header_bytes - 12..header_bytes]);
        for size in [12_u32, 16, 4, 8] {
            stream.extend_from_slice(&size.to_be_bytes());
        }
        stream.extend_from_slice(&bytes[header_bytes..]);
        stream
    }

    /// The file, ready to be read.
    pub fn file(self, packed: bool) -> File {
        let mut bytes = self.bytes();
        if packed {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&bytes).unwrap();
            bytes = encoder.finish().unwrap();
        }
        file_of(&bytes)
    }

    /// Adds a stack of one frame: a method, its source file and a line.
    pub fn stack(&mut self, serial: u32, (method, source, line): (&str, &str, u32)) {
        let (method, source, id) = (self.string(method), self.string(source), 0x5000);
        let mut frame = Vec::new();
        for part in [id, method, 0, source] {
            self.put(&mut frame, part);
        }
        frame.extend_from_slice(&[0, 0, 0, 1]);
        frame.extend_from_slice(&line.to_be_bytes());
        self.record(record::FRAME, &frame);
        let mut trace = serial.to_be_bytes().to_vec();
        trace.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 1]);
        self.put(&mut trace, id);
        self.record(record::TRACE, &trace);
    }

    /// Adds a STRING; returns its id.
    pub fn string(&mut self, text: &str) -> u64 {
        self.strings += 1;
        let id = 0x10 + self.strings;
        let mut body = Vec::new();
        self.put(&mut body, id);
        body.extend_from_slice(text.as_bytes());
        self.record(record::UTF8, &body);
        id
    }

    fn record(&mut self, tag: u8, body: &[u8]) {
        self.records.push(tag);
        self.records.extend_from_slice(&[0; 4]);
        self.records
            .extend_from_slice(&(body.len() as u32).to_be_bytes());
        self.records.extend_from_slice(body);
    }

    fn end_part(&mut self) {
        let part = std::mem::take(&mut self.heap);
        self.record(record::HEAP_DUMP_SEGMENT, &part);
    }

    fn put(&self, to: &mut Vec<u8>, id: u64) {
        match self.id_bytes {
            4 => to.extend_from_slice(&(id as u32).to_be_bytes()),
            _ => to.extend_from_slice(&id.to_be_bytes()),
        }
    }

    fn id(&mut self, id: u64) {
        let mut bytes = Vec::new();
        self.put(&mut bytes, id);
        self.heap.extend_from_slice(&bytes);
    }
}

/// A file with these bytes.
pub fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file
}
