//! Records, whose lengths may be false.

/// The contents of a record: bytes, or sub-records.
#[derive(Clone, Debug)]
pub enum Body {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// The sub-records of a segment.
    Heap(Vec<Vec<u8>>),
}

/// A record whose length may be false.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its tag.
    pub tag: u8,
    /// Microseconds since the header.
    pub time: u32,
    /// The length that it states; `None` for the true one.
    pub length: Option<u32>,
    /// What it contains.
    pub body: Body,
}

/// Big-endian bytes, one number after the other.
#[derive(Clone, Debug)]
pub struct Bytes(
    /// What there is so far.
    pub Vec<u8>,
    /// Bytes of an id.
    pub(crate) u32,
);

impl Bytes {
    /// One byte.
    pub fn u1(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    /// Two bytes.
    pub fn u2(mut self, value: u16) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    /// Four bytes.
    pub fn u4(mut self, value: u32) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    /// Eight bytes.
    pub fn u8(mut self, value: u64) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    /// An id.
    pub fn id(self, value: u64) -> Self {
        match self.1 {
            4 => self.u4(value as u32),
            _ => self.u8(value),
        }
    }

    /// Ids.
    pub fn ids(self, values: &[u64]) -> Self {
        values.iter().fold(self, |to, value| to.id(*value))
    }

    /// These bytes.
    pub fn all(mut self, values: &[u8]) -> Self {
        self.0.extend(values);
        self
    }
}

/// No bytes yet; ids will have 8.
pub fn bytes() -> Bytes {
    Bytes(Vec::new(), 8)
}

impl Record {
    fn new(tag: u8, body: Body) -> Self {
        Self {
            tag,
            time: 0,
            length: None,
            body,
        }
    }
}

/// A record.
pub fn record(tag: u8, body: Bytes) -> Record {
    Record::new(tag, Body::Bytes(body.0))
}

/// A HEAP DUMP SEGMENT.
pub fn segment(sub_records: Vec<Vec<u8>>) -> Record {
    Record::new(0x1C, Body::Heap(sub_records))
}

/// HEAP DUMP END.
pub fn end() -> Record {
    record(0x2C, bytes())
}

/// A STRING.
pub fn string(id: u64, text: &[u8]) -> Record {
    record(0x01, bytes().u8(id).all(text))
}

/// LOAD CLASS, with the trace 1.
pub fn load_class(serial: u32, class: u64, name: u64) -> Record {
    record(0x02, bytes().u4(serial).u8(class).u4(1).u8(name))
}

/// A STACK FRAME.
pub fn frame(id: u64, method: u64, signature: u64, source: u64, class: u32, line: i32) -> Record {
    let names = bytes().u8(id).u8(method).u8(signature).u8(source);
    record(0x04, names.u4(class).all(&line.to_be_bytes()))
}

/// A STACK TRACE.
pub fn trace(serial: u32, thread: u32, frames: &[u64]) -> Record {
    let body = bytes().u4(serial).u4(thread).u4(frames.len() as u32);
    record(0x05, body.ids(frames))
}
