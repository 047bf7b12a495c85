//! Constants that are added to the end of a class's constant pool.

use std::collections::HashMap;

use crate::bytes::Bytes;
use crate::constant_pool::{CLASS, FIELD_REF, INTEGER, METHOD_REF, NAME_AND_TYPE, STRING, UTF8};
use crate::error::Reason;

/// The added constants, each once: their bytes, and the total number of constants.
#[derive(Debug)]
pub(crate) struct Additions {
    bytes: Vec<u8>,
    /// The index of the next constant.
    next: u16,
    /// The index of each added constant, by its bytes.
    known: HashMap<Vec<u8>, u16>,
}

/// A state to which the additions can be rolled back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    length: usize,
    next: u16,
}

impl Additions {
    /// Additions to a pool with this count, which is one more than its highest index.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            bytes: Vec::new(),
            next: u16::try_from(count).unwrap_or(u16::MAX),
            known: HashMap::new(),
        }
    }

    /// The count to write before the constant pool.
    pub(crate) fn count(&self) -> u16 {
        self.next
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            length: self.bytes.len(),
            next: self.next,
        }
    }

    pub(crate) fn roll_back(&mut self, mark: Mark) {
        self.bytes.truncate(mark.length);
        if self.next != mark.next {
            self.next = mark.next;
            self.known.retain(|_, index| *index < mark.next);
        }
    }

    /// The index of a constant, which is added at the first request. The count before the pool has
    /// 16 bits, so 65534 is the last index.
    fn constant(&mut self, tag: u8, first: &[u8], second: &[u8]) -> Result<u16, Reason> {
        let start = self.bytes.len();
        self.bytes.put_u1(tag);
        self.bytes.put(first);
        self.bytes.put(second);
        let constant = self.bytes.get(start..).unwrap_or_default();
        if let Some(&index) = self.known.get(constant) {
            self.bytes.truncate(start);
            return Ok(index);
        }
        let index = self.next;
        self.next = index.checked_add(1).ok_or(Reason::PoolFull)?;
        self.known.insert(constant.to_vec(), index);
        Ok(index)
    }

    pub(crate) fn utf8(&mut self, text: &[u8]) -> Result<u16, Reason> {
        let length = u16::try_from(text.len()).map_err(|_| Reason::TooBig)?;
        self.constant(UTF8, &length.to_be_bytes(), text)
    }

    pub(crate) fn integer(&mut self, value: u32) -> Result<u16, Reason> {
        self.constant(INTEGER, &value.to_be_bytes(), &[])
    }

    pub(crate) fn class(&mut self, name: &[u8]) -> Result<u16, Reason> {
        let name = self.utf8(name)?;
        self.constant(CLASS, &name.to_be_bytes(), &[])
    }

    pub(crate) fn string(&mut self, text: &[u8]) -> Result<u16, Reason> {
        let text = self.utf8(text)?;
        self.constant(STRING, &text.to_be_bytes(), &[])
    }

    pub(crate) fn field(&mut self, class: u16, name: &str, kind: &str) -> Result<u16, Reason> {
        self.member(FIELD_REF, class, name, kind)
    }

    pub(crate) fn method(&mut self, class: u16, name: &str, kind: &str) -> Result<u16, Reason> {
        self.member(METHOD_REF, class, name, kind)
    }

    fn member(&mut self, tag: u8, class: u16, name: &str, kind: &str) -> Result<u16, Reason> {
        let name = self.utf8(name.as_bytes())?;
        let kind = self.utf8(kind.as_bytes())?;
        let name_and_type = self.pair(NAME_AND_TYPE, name, kind)?;
        self.pair(tag, class, name_and_type)
    }

    fn pair(&mut self, tag: u8, first: u16, second: u16) -> Result<u16, Reason> {
        self.constant(tag, &first.to_be_bytes(), &second.to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_constant_is_added_once_and_a_roll_back_forgets_it() {
        let mut additions = Additions::new(10);
        assert_eq!(additions.class(b"A"), Ok(11));
        assert_eq!((additions.class(b"A"), additions.count()), (Ok(11), 12));
        let mark = additions.mark();
        let bytes = additions.bytes().to_vec();
        assert_eq!(additions.class(b"B"), Ok(13));
        additions.roll_back(mark);
        assert_eq!((additions.bytes(), additions.count()), (&bytes[..], 12));
        assert_eq!(additions.utf8(b"C"), Ok(12));
        assert_eq!(additions.class(b"B"), Ok(14));
        assert_eq!(additions.class(b"A"), Ok(11));
    }

    #[test]
    fn the_last_index_is_65534() {
        let mut additions = Additions::new(0xFFFE);
        assert_eq!(additions.integer(1), Ok(0xFFFE));
        assert_eq!(additions.integer(1), Ok(0xFFFE));
        assert_eq!(additions.integer(2), Err(Reason::PoolFull));
        assert_eq!(additions.count(), 0xFFFF);
    }
}
