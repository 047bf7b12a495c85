//! Encodes the objects of a graph stream: class, size and references in a few bytes, and the few
//! numbers that are sent.
//!
//! Addresses and references are distances, because neighbours in a heap often refer to each other.
//! The facts that all objects of a class and a trace share are defined once, at the first of them.
//!
//! The stream begins with `HPROF-RS GRAPH 2` and a NUL byte, which no reader of HPROF takes, the
//! size of ids (u4, always 8), the time (u8), and four sizes of the JVM's layout (u4 each): the
//! header of an object, what precedes the elements of an array of references, a reference, the
//! alignment. Then follow the records of an HPROF file. Values of primitive static fields are 0,
//! and one sub-record is new:
//!
//! ```text
//! GRAPH OBJECTS   u1 tag 0x40, u4 length, body
//!
//! body            alignment, object*
//! object          code << 1 | has_gap, [gap], [definition if code is 0],
//!                 reference* number* or length
//! definition      trace, u1 type, then by type
//!                   0 (no array)        class, size / 8, bytes of values, n, n offsets,
//!                                       m, m times (offset, bytes)
//!                   2 (references)      class, bytes before the elements, bytes of an element
//!                   4 to 11 (values)    bytes before the elements
//! reference       0 for null; distance / 8 << 1 | is_ahead, from the last reference, or from the
//!                 object
//! ```
//!
//! Numbers have seven bits to a byte, the lowest first. `gap` counts words from the end of the last
//! object. Definitions are numbered from 1, and each block has its own. Offsets are those in the
//! values of an INSTANCE DUMP, each as the distance from the one before. Of an array with more than
//! 2^28 references the rest is left out. No element of a primitive array is in it, so no text, and
//! of primitive fields only those of `format::sent_numbers`.

use format::BasicType;

use crate::encoder::put_u4;
use crate::WriteError;
use format::sub_record;

/// The unit of distances.
const GRAIN_BYTES: u64 = 8;

/// The facts that all objects of a class share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphClass {
    /// Objects that are not arrays.
    Instance {
        /// Id of the class object.
        class: u64,
        /// Bytes of one object in the heap, a multiple of 8.
        heap_bytes: u64,
        /// Bytes of one object's values in a dump.
        data_bytes: u32,
        /// The offsets of the references among these bytes, ascending.
        references: Vec<u32>,
        /// The offsets of the numbers that are sent, ascending, and the bytes of each.
        numbers: Vec<(u32, u32)>,
    },
    /// Arrays of references.
    References {
        /// Id of the class object.
        class: u64,
        /// Bytes before the first element.
        header_bytes: u64,
        /// Bytes of an element.
        width_bytes: u64,
    },
    /// Arrays of primitive values.
    Values {
        /// Type of the elements.
        kind: BasicType,
        /// Bytes before the first element.
        header_bytes: u64,
    },
}

impl GraphClass {
    fn define(&self, trace: u32, out: &mut Vec<u8>) {
        put(out, trace.into());
        match self {
            Self::Instance {
                class,
                heap_bytes,
                data_bytes,
                references,
                numbers,
            } => {
                out.push(0);
                put(out, *class);
                put(out, heap_bytes / GRAIN_BYTES);
                put(out, (*data_bytes).into());
                put(out, references.len() as u64);
                let mut last = 0;
                for offset in references {
                    put(out, offset.saturating_sub(last).into());
                    last = *offset;
                }
                put(out, numbers.len() as u64);
                let mut last = 0;
                for (offset, width) in numbers {
                    put(out, offset.saturating_sub(last).into());
                    put(out, (*width).into());
                    last = *offset;
                }
            }
            Self::References {
                class,
                header_bytes,
                width_bytes,
            } => {
                out.push(BasicType::Object.code());
                put(out, *class);
                put(out, *header_bytes);
                put(out, *width_bytes);
            }
            Self::Values { kind, header_bytes } => {
                out.push(kind.code());
                put(out, *header_bytes);
            }
        }
    }
}

/// Collects objects in ascending order of their addresses for one sub-record.
#[derive(Debug)]
pub struct GraphObjects {
    bytes: Vec<u8>,
    alignment_bytes: u64,
    /// The number of codes assigned so far; code 0 means that a definition follows.
    codes: u64,
    /// The end address of the last object.
    end: u64,
    /// The address from which the distance of the next reference counts.
    near: u64,
}

impl GraphObjects {
    /// An empty collection for a heap whose objects are aligned to `alignment_bytes`.
    pub fn new(alignment_bytes: u64) -> Self {
        let mut objects = Self {
            bytes: Vec::new(),
            alignment_bytes: alignment_bytes.max(GRAIN_BYTES),
            codes: 0,
            end: 0,
            near: 0,
        };
        objects.begin();
        objects
    }

    fn begin(&mut self) {
        self.bytes.push(sub_record::GRAPH_OBJECTS);
        put_u4(&mut self.bytes, 0);
        put(&mut self.bytes, self.alignment_bytes);
        (self.codes, self.end) = (0, 0);
    }

    /// Starts the next object, which must have a higher address than all before. Returns the code
    /// of its class and trace; pass it as `code` for further such objects, and 0 for the first one
    /// after [`GraphObjects::take`].
    ///
    /// Call `length` next for an array, then `reference` for each of its references, then `number`
    /// for each of its numbers.
    #[inline]
    pub fn object(&mut self, code: u64, class: &GraphClass, trace: u32, address: u64) -> u64 {
        let gap = address.wrapping_sub(self.end) / GRAIN_BYTES;
        put(&mut self.bytes, code << 1 | u64::from(gap != 0));
        if gap != 0 {
            put(&mut self.bytes, gap);
        }
        self.near = address;
        if let GraphClass::Instance { heap_bytes, .. } = class {
            self.ends(address + heap_bytes);
        }
        if code != 0 {
            return code;
        }
        class.define(trace, &mut self.bytes);
        self.codes += 1;
        self.codes
    }

    /// Adds a reference of the last object, in the order of its fields or elements; 0 is null.
    #[inline]
    pub fn reference(&mut self, target: u64) {
        if target == 0 {
            self.bytes.push(0);
            return;
        }
        // The lowest bit is the direction; 0 is null.
        let code = match target.checked_sub(self.near) {
            Some(ahead) => ahead / GRAIN_BYTES * 2 + 1,
            None => (self.near - target) / GRAIN_BYTES * 2,
        };
        put(&mut self.bytes, code);
        self.near = target;
    }

    /// Adds a number of the last object, in the order of its fields.
    #[inline]
    pub fn number(&mut self, value: u64) {
        put(&mut self.bytes, value);
    }

    /// Adds the length of the last object, an array of `heap_bytes` in the heap. For an array of
    /// references, the first [`format::GRAPH_ELEMENTS_MAX`] references follow.
    #[inline]
    pub fn length(&mut self, length: u32, heap_bytes: u64) {
        put(&mut self.bytes, length.into());
        self.ends(self.near + heap_bytes);
    }

    fn ends(&mut self, end: u64) {
        self.end = end.next_multiple_of(self.alignment_bytes);
    }

    /// Appends the sub-record with all objects added since the last call. The error is `TooLarge`,
    /// from 4 GiB on.
    pub fn take(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        const HEAD_BYTES: usize = 5;
        let body_bytes = self.bytes.len().saturating_sub(HEAD_BYTES);
        let length = u32::try_from(body_bytes).map_err(|_| WriteError::TooLarge {
            what: "the length of a part of the heap",
            value: body_bytes as u64,
        })?;
        if let Some(place) = self.bytes.get_mut(1..HEAD_BYTES) {
            place.copy_from_slice(&length.to_be_bytes());
        }
        out.extend_from_slice(&self.bytes);
        self.bytes.clear();
        self.begin();
        Ok(())
    }
}

/// Appends a number, seven bits per byte, the lowest first; all bytes but the last have the highest
/// bit set.
#[inline]
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        let [low, ..] = number.to_le_bytes();
        out.push(low | 0x80);
        number >>= 7;
    }
    let [low, ..] = number.to_le_bytes();
    out.push(low);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(class: u64) -> GraphClass {
        GraphClass::Instance {
            class,
            heap_bytes: 24,
            data_bytes: 20,
            references: vec![4, 12],
            numbers: Vec::new(),
        }
    }

    #[test]
    fn neighbours_of_one_class_take_a_byte_and_their_references() {
        let mut objects = GraphObjects::new(8);
        let (class, mut out) = (pair(0x70), Vec::new());
        let code = objects.object(0, &class, 1, 0x1000);
        objects.reference(0x1018);
        objects.reference(0);
        assert_eq!(objects.object(code, &class, 1, 0x1018), code);
        objects.reference(0x1000);
        objects.reference(0x1008);
        objects.take(&mut out).unwrap();
        let body = [
            8, // alignment
            1, 0x80, 4, // a definition follows, a gap of 0x1000
            1, 0, 0x70, 3, 20, 2, 4, 8,
            0, // trace, no array, class, size, values, two references, no numbers
            7, 0, // three words ahead, null
            2, // the same class and trace, side by side
            6, 3, // three words back, and from there one ahead
        ];
        assert_eq!(out[..5], [sub_record::GRAPH_OBJECTS, 0, 0, 0, 18]);
        assert_eq!(out[5..], body);
    }

    #[test]
    fn each_sub_record_stands_alone() {
        let mut objects = GraphObjects::new(16);
        let bytes = GraphClass::Values {
            kind: BasicType::Byte,
            header_bytes: 16,
        };
        let mut outs = [Vec::new(), Vec::new()];
        for out in &mut outs {
            let code = objects.object(0, &bytes, 1, 0x1000);
            objects.length(1, 17);
            objects.object(code, &bytes, 1, 0x1020);
            objects.length(300, 316);
            objects.take(out).unwrap();
        }
        assert_eq!(outs[0], outs[1]);
        assert_eq!(outs[0][5..], [16, 1, 0x80, 4, 1, 8, 16, 1, 2, 0xAC, 2]);
    }
}
