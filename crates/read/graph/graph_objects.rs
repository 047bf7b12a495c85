//! Decodes the objects of a graph stream, which the writer's `graph_objects.rs` encodes, for the
//! same visitors as a dump's.
//!
//! Each block is independent of the others. The visitor gets an instance's references at the
//! offsets that they have in a dump, and the numbers that are sent, among values that are zero.

use std::ops::Range;

use format::{BasicType, GRAPH_ELEMENTS_MAX, UNIT_BYTES};

use reader::{ReadError, Source};

use crate::visitor::{Head, Visitor, INSTANCE_BYTES_MAX};

/// Bytes of the longest number.
const NUMBER_BYTES_MAX: usize = 10;

/// Most references passed to a visitor in one call.
const ELEMENTS_AT_ONCE: u64 = 512;

/// Most references of an instance that are accepted. The JVM's classes have some hundreds at most.
const REFERENCES_MAX: u64 = 1 << 20;

/// The common facts about objects with one class and one trace.
struct Kind {
    trace: u32,
    /// `None` while one of the objects is read.
    shape: Option<Shape>,
}

enum Shape {
    Instance {
        class: u64,
        units: u32,
        /// Offsets of the references in `data`.
        offsets: Vec<usize>,
        /// Places of the numbers in `data`.
        numbers: Vec<Range<usize>>,
        /// The field values of the last object.
        data: Vec<u8>,
    },
    Array {
        /// Id of the class; 0 for primitive values.
        class: u64,
        kind: BasicType,
        header_bytes: u64,
        width_bytes: u64,
    },
}

/// A block that is being decoded.
struct Block<'w, 'f, V> {
    window: &'w mut Source<'f>,
    visitor: &'w mut V,
    /// Offset of the block in the stream, by which its objects can be read again.
    offset: u64,
    /// Offset after it.
    end: u64,
    alignment_bytes: u64,
    kinds: Vec<Kind>,
    /// Bytes of field values that further kinds may take.
    room_bytes: usize,
    /// Address of the last object, and its end.
    address: u64,
    behind: u64,
    /// The address from which the distance of the next reference counts.
    near: u64,
}

/// A number is missing or invalid: the block is damaged.
struct Damaged;

/// The outer error is I/O.
type Decoded<T> = Result<Result<T, Damaged>, ReadError>;

/// Returns the value, or ends the function with the fault.
macro_rules! sound {
    ($decoded:expr) => {
        match $decoded {
            Ok(value) => value,
            Err(Damaged) => return Ok(Err(Damaged)),
        }
    };
}

/// Visits the objects of a block; the window is at its tag. Returns whether the block is valid.
pub(crate) fn graph_objects<V: Visitor>(
    window: &mut Source<'_>,
    visitor: &mut V,
) -> Result<bool, ReadError> {
    const HEAD_BYTES: usize = 5;
    let offset = window.offset();
    let bytes = window.look(HEAD_BYTES)?;
    let Some(length) = bytes.get(1..).and_then(|bytes| bytes.first_chunk::<4>()) else {
        return Ok(false);
    };
    let end = offset + HEAD_BYTES as u64 + u64::from(u32::from_be_bytes(*length));
    window.advance(HEAD_BYTES);
    let mut block = Block {
        window,
        visitor,
        offset,
        end,
        alignment_bytes: UNIT_BYTES,
        kinds: Vec::new(),
        room_bytes: INSTANCE_BYTES_MAX,
        address: 0,
        behind: 0,
        near: 0,
    };
    Ok(block.read()?.is_ok())
}

impl<V: Visitor> Block<'_, '_, V> {
    fn read(&mut self) -> Decoded<()> {
        self.alignment_bytes = sound!(self.number()?).clamp(UNIT_BYTES, 1 << 20);
        while self.window.offset() < self.end {
            sound!(self.object()?);
        }
        Ok(Ok(()))
    }

    #[inline]
    fn number(&mut self) -> Decoded<u64> {
        let bytes = self.window.look(NUMBER_BYTES_MAX)?;
        let (mut number, mut length) = (0, 0);
        for byte in bytes.iter().take(NUMBER_BYTES_MAX) {
            number |= u64::from(byte & 0x7F).wrapping_shl(length * 7);
            length += 1;
            if byte & 0x80 == 0 {
                self.window.advance(length as usize);
                let is_inside = self.window.offset() <= self.end;
                return Ok(if is_inside { Ok(number) } else { Err(Damaged) });
            }
        }
        Ok(Err(Damaged))
    }

    /// A number of 32 bits.
    fn count(&mut self) -> Decoded<u32> {
        Ok(sound!(self.number()?).try_into().map_err(|_| Damaged))
    }

    fn object(&mut self) -> Decoded<()> {
        let head = sound!(self.number()?);
        let gap = if head & 1 == 0 {
            0
        } else {
            sound!(self.number()?)
        };
        self.address = self.behind.wrapping_add(gap.wrapping_mul(UNIT_BYTES));
        self.near = self.address;
        let place = match usize::try_from(head >> 1) {
            Ok(0) => {
                let kind = sound!(self.definition()?);
                self.kinds.push(kind);
                self.kinds.len() - 1
            }
            Ok(code) => code - 1,
            Err(_) => return Ok(Err(Damaged)),
        };
        let Some(kind) = self.kinds.get_mut(place) else {
            return Ok(Err(Damaged));
        };
        let trace = kind.trace;
        let Some(mut shape) = kind.shape.take() else {
            return Ok(Err(Damaged));
        };
        let told = self.shaped(trace, &mut shape)?;
        if let Some(kind) = self.kinds.get_mut(place) {
            kind.shape = Some(shape);
        }
        Ok(told)
    }

    fn shaped(&mut self, trace: u32, shape: &mut Shape) -> Decoded<()> {
        let object = self.address;
        let head = |class, units| Head {
            object,
            trace,
            class,
            units,
        };
        match shape {
            Shape::Instance {
                class,
                units,
                offsets,
                numbers,
                data,
            } => {
                for offset in offsets.iter() {
                    let id = sound!(self.reference()?);
                    if let Some(place) = data.get_mut(*offset..*offset + 8) {
                        place.copy_from_slice(&id.to_be_bytes());
                    }
                }
                sound!(self.values(numbers, data)?);
                let bytes = u64::from(*units).wrapping_mul(UNIT_BYTES);
                self.ends(bytes);
                let head = head(*class, *units);
                self.visitor.instance(self.offset, head, data);
            }
            Shape::Array {
                class,
                kind,
                header_bytes,
                width_bytes,
            } => {
                let length = sound!(self.count()?);
                let units = self.array(length, *header_bytes, *width_bytes);
                let head = head(*class, units);
                self.visitor.array(self.offset, head, length, *kind);
                if *kind == BasicType::Object {
                    sound!(self.elements(length)?);
                }
            }
        }
        Ok(Ok(()))
    }

    /// Reads the numbers of an instance to their places.
    fn values(&mut self, numbers: &[Range<usize>], data: &mut [u8]) -> Decoded<()> {
        for place in numbers {
            let value = sound!(self.number()?).to_be_bytes();
            let bytes = value.get(value.len().saturating_sub(place.len())..);
            if let (Some(place), Some(bytes)) = (data.get_mut(place.clone()), bytes) {
                place.copy_from_slice(bytes);
            }
        }
        Ok(Ok(()))
    }

    /// The units of an array.
    fn array(&mut self, length: u32, header_bytes: u64, width_bytes: u64) -> u32 {
        let elements = u64::from(length).saturating_mul(width_bytes);
        self.ends(header_bytes.saturating_add(elements))
    }

    /// Ends an object of `bytes`; returns its size in units, rounded up to the alignment.
    fn ends(&mut self, bytes: u64) -> u32 {
        let rounded = bytes.checked_next_multiple_of(self.alignment_bytes);
        let rounded = rounded.unwrap_or(u64::MAX);
        self.behind = self.address.wrapping_add(rounded);
        u32::try_from(rounded / UNIT_BYTES).unwrap_or(u32::MAX)
    }

    #[inline]
    fn reference(&mut self) -> Decoded<u64> {
        let code = sound!(self.number()?);
        if code == 0 {
            return Ok(Ok(0));
        }
        let distance = (code >> 1).wrapping_mul(UNIT_BYTES);
        self.near = match code & 1 {
            0 => self.near.wrapping_sub(distance),
            _ => self.near.wrapping_add(distance),
        };
        Ok(Ok(self.near))
    }

    fn elements(&mut self, length: u32) -> Decoded<()> {
        let mut left = u64::from(length.min(GRAPH_ELEMENTS_MAX));
        let mut ids = Vec::new();
        while left > 0 {
            ids.clear();
            let here = left.min(ELEMENTS_AT_ONCE);
            for _ in 0..here {
                let id = sound!(self.reference()?);
                ids.extend_from_slice(&id.to_be_bytes());
            }
            if V::WANTS_DATA {
                self.visitor.elements(&ids);
            }
            left -= here;
        }
        Ok(Ok(()))
    }

    fn definition(&mut self) -> Decoded<Kind> {
        let trace = sound!(self.count()?);
        let code = sound!(self.number()?);
        let kind = u8::try_from(code).ok().and_then(BasicType::from_code);
        let shape = match kind {
            None if code == 0 => sound!(self.instance()?),
            None => return Ok(Err(Damaged)),
            Some(kind) => {
                let is_primitive = kind != BasicType::Object;
                Shape::Array {
                    class: if is_primitive {
                        0
                    } else {
                        sound!(self.number()?)
                    },
                    kind,
                    header_bytes: sound!(self.count()?).into(),
                    width_bytes: match is_primitive {
                        true => kind.size_bytes(8).into(),
                        false => sound!(self.count()?).into(),
                    },
                }
            }
        };
        let shape = Some(shape);
        Ok(Ok(Kind { trace, shape }))
    }

    fn instance(&mut self) -> Decoded<Shape> {
        let class = sound!(self.number()?);
        let units = sound!(self.count()?);
        let data_bytes = sound!(self.count()?) as usize;
        let count = sound!(self.number()?);
        let Some(room_bytes) = self.room_bytes.checked_sub(data_bytes) else {
            return Ok(Err(Damaged));
        };
        self.room_bytes = room_bytes;
        if count > REFERENCES_MAX {
            return Ok(Err(Damaged));
        }
        let (mut offsets, mut last) = (Vec::new(), 0_usize);
        for _ in 0..count {
            last = last.saturating_add(sound!(self.count()?) as usize);
            if last.saturating_add(8) > data_bytes {
                return Ok(Err(Damaged));
            }
            offsets.push(last);
        }
        let numbers = sound!(self.numbers(data_bytes)?);
        Ok(Ok(Shape::Instance {
            class,
            units,
            offsets,
            numbers,
            data: vec![0; data_bytes],
        }))
    }

    /// The places of the numbers among the values of an instance.
    fn numbers(&mut self, data_bytes: usize) -> Decoded<Vec<Range<usize>>> {
        let count = sound!(self.number()?);
        if count > REFERENCES_MAX {
            return Ok(Err(Damaged));
        }
        let (mut numbers, mut last) = (Vec::new(), 0_usize);
        for _ in 0..count {
            last = last.saturating_add(sound!(self.count()?) as usize);
            let width = sound!(self.count()?) as usize;
            if width > 8 || last.saturating_add(width) > data_bytes {
                return Ok(Err(Damaged));
            }
            numbers.push(last..last + width);
        }
        Ok(Ok(numbers))
    }
}
