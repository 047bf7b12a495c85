//! Profiles in the format of pprof (`profile.proto`): gzip around protocol buffers, whose few
//! messages are encoded here.

use std::collections::HashMap;
use std::io::{self, Write};

use flate2::write::GzEncoder;
use flate2::Compression;
use reader::{StackFrame, Stacks};

use crate::output::frame::method;
use crate::output::plain::shown;

use super::profile::{Profile, Row};

/// Frames of a stack that are kept, from the top.
const FRAMES_MAX: usize = 1024;

/// Numbers of fields, by message.
mod field {
    pub(super) const PROFILE_SAMPLE_TYPE: u64 = 1;
    pub(super) const PROFILE_SAMPLE: u64 = 2;
    pub(super) const PROFILE_LOCATION: u64 = 4;
    pub(super) const PROFILE_FUNCTION: u64 = 5;
    pub(super) const PROFILE_STRING: u64 = 6;
    pub(super) const PROFILE_DEFAULT_TYPE: u64 = 14;
    pub(super) const TYPE_NAME: u64 = 1;
    pub(super) const TYPE_UNIT: u64 = 2;
    pub(super) const SAMPLE_LOCATION: u64 = 1;
    pub(super) const SAMPLE_VALUE: u64 = 2;
    pub(super) const SAMPLE_LABEL: u64 = 3;
    pub(super) const LABEL_KEY: u64 = 1;
    pub(super) const LABEL_TEXT: u64 = 2;
    pub(super) const LOCATION_ID: u64 = 1;
    pub(super) const LOCATION_LINE: u64 = 4;
    pub(super) const LINE_FUNCTION: u64 = 1;
    pub(super) const LINE_NUMBER: u64 = 2;
    pub(super) const FUNCTION_ID: u64 = 1;
    pub(super) const FUNCTION_NAME: u64 = 2;
    pub(super) const FUNCTION_FILE: u64 = 4;
}

/// A message of protocol buffers.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while let low @ 0x80.. = number {
            let [byte, ..] = low.to_le_bytes();
            self.0.push(byte | 0x80);
            number >>= 7;
        }
        let [byte, ..] = number.to_le_bytes();
        self.0.push(byte);
    }

    /// A number, left out if it is 0.
    fn number(&mut self, field: u64, number: u64) {
        if number != 0 {
            self.varint(field << 3);
            self.varint(number);
        }
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint((field << 3) | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Numbers one after the other.
    fn packed(&mut self, field: u64, numbers: impl Iterator<Item = u64>) {
        let mut all = Self::default();
        numbers.for_each(|number| all.varint(number));
        self.bytes(field, &all.0);
    }
}

/// A profile that is written message by message, so that it takes memory for names and places
/// alone.
struct Pprof<'w> {
    to: GzEncoder<&'w mut dyn Write>,
    strings: HashMap<String, u64>,
    functions: HashMap<(u64, u64), u64>,
    locations: HashMap<(u64, u64), u64>,
    /// Numbers of locations by the addresses of frames.
    by_frame: HashMap<usize, u64>,
}

/// Writes all values of each stack.
pub(super) fn write(profile: &Profile, to: &mut dyn Write) -> io::Result<()> {
    let mut pprof = Pprof::new(to)?;
    for (name, unit) in &profile.values {
        pprof.value(name, unit)?;
    }
    if let Some(shown) = profile.first_shown {
        let shown = pprof.string(shown)?;
        pprof.put(|fields| fields.number(field::PROFILE_DEFAULT_TYPE, shown))?;
    }
    for row in &profile.rows {
        pprof.sample(&profile.stacks, row)?;
    }
    pprof.to.finish().map(drop)
}

impl<'w> Pprof<'w> {
    fn new(to: &'w mut dyn Write) -> io::Result<Self> {
        let mut pprof = Self {
            to: GzEncoder::new(to, Compression::default()),
            strings: HashMap::new(),
            functions: HashMap::new(),
            locations: HashMap::new(),
            by_frame: HashMap::new(),
        };
        // The first string is empty: 0 means none.
        pprof.string("")?;
        Ok(pprof)
    }

    /// Writes fields of the profile.
    fn put(&mut self, fields: impl FnOnce(&mut Message)) -> io::Result<()> {
        let mut profile = Message::default();
        fields(&mut profile);
        self.to.write_all(&profile.0)
    }

    fn value(&mut self, name: &str, unit: &str) -> io::Result<()> {
        let mut value = Message::default();
        value.number(field::TYPE_NAME, self.string(name)?);
        value.number(field::TYPE_UNIT, self.string(unit)?);
        self.put(|profile| profile.bytes(field::PROFILE_SAMPLE_TYPE, &value.0))
    }

    /// Writes a stack with its values, and the class of the objects as a label.
    fn sample(&mut self, stacks: &Stacks, row: &Row) -> io::Result<()> {
        let mut locations = Vec::new();
        for frame in stacks.frames(row.trace).take(FRAMES_MAX) {
            locations.push(self.location(frame)?);
        }
        if locations.is_empty() {
            let nowhere = self.function("[no stack]", "")?;
            locations.push(self.place(nowhere, 0)?);
        }
        let mut sample = Message::default();
        sample.packed(field::SAMPLE_LOCATION, locations.into_iter());
        // The format's numbers have a sign.
        let most = i64::MAX.unsigned_abs();
        let values = row.values.iter().map(|value| (*value).min(most));
        sample.packed(field::SAMPLE_VALUE, values);
        if let Some(class) = &row.class {
            let mut label = Message::default();
            label.number(field::LABEL_KEY, self.string("class")?);
            label.number(field::LABEL_TEXT, self.string(&shown(class))?);
            sample.bytes(field::SAMPLE_LABEL, &label.0);
        }
        self.put(|profile| profile.bytes(field::PROFILE_SAMPLE, &sample.0))
    }

    fn location(&mut self, frame: &StackFrame) -> io::Result<u64> {
        let address = std::ptr::from_ref(frame) as usize;
        if let Some(place) = self.by_frame.get(&address) {
            return Ok(*place);
        }
        let source = shown(frame.source.as_deref().unwrap_or_default());
        let function = self.function(&method(frame), &source)?;
        let place = self.place(function, u64::try_from(frame.line).unwrap_or(0))?;
        self.by_frame.insert(address, place);
        Ok(place)
    }

    /// The number of a function's line.
    fn place(&mut self, function: u64, line: u64) -> io::Result<u64> {
        let next = self.locations.len() as u64 + 1;
        let id = *self.locations.entry((function, line)).or_insert(next);
        if id == next {
            let mut at = Message::default();
            at.number(field::LINE_FUNCTION, function);
            at.number(field::LINE_NUMBER, line);
            let mut location = Message::default();
            location.number(field::LOCATION_ID, id);
            location.bytes(field::LOCATION_LINE, &at.0);
            self.put(|profile| profile.bytes(field::PROFILE_LOCATION, &location.0))?;
        }
        Ok(id)
    }

    fn function(&mut self, name: &str, file: &str) -> io::Result<u64> {
        let (name, file) = (self.string(name)?, self.string(file)?);
        let next = self.functions.len() as u64 + 1;
        let id = *self.functions.entry((name, file)).or_insert(next);
        if id == next {
            let mut function = Message::default();
            function.number(field::FUNCTION_ID, id);
            function.number(field::FUNCTION_NAME, name);
            function.number(field::FUNCTION_FILE, file);
            self.put(|profile| profile.bytes(field::PROFILE_FUNCTION, &function.0))?;
        }
        Ok(id)
    }

    /// The number of a text.
    fn string(&mut self, text: &str) -> io::Result<u64> {
        if let Some(number) = self.strings.get(text) {
            return Ok(*number);
        }
        let number = self.strings.len() as u64;
        self.strings.insert(text.to_owned(), number);
        self.put(|profile| profile.bytes(field::PROFILE_STRING, text.as_bytes()))?;
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_protocol_buffers() {
        let mut message = Message::default();
        message.number(1, 0);
        message.number(1, 150);
        message.packed(4, [3, 270, 86_942].into_iter());
        assert_eq!(
            message.0,
            [0x08, 0x96, 0x01, 0x22, 0x06, 0x03, 0x8E, 0x02, 0x9E, 0xA7, 0x05]
        );
        let mut longest = Message::default();
        longest.varint(u64::MAX);
        assert_eq!(longest.0.len(), 10);
    }
}
