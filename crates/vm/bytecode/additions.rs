//! Constants that are added to the end of a class's constant pool.

use crate::bytes::Bytes;
use crate::constant_pool::{CLASS, FIELD_REF, INTEGER, METHOD_REF, NAME_AND_TYPE, STRING, UTF8};
use crate::error::Reason;

/// A constant that several methods of a class share, so that it is added only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shared {
    TrackerClass,
    ObjectInit,
    ErrorInit,
    NewArray,
    Enter,
    Exit,
    Throwable,
    StackMapTable,
    ObjectWait,
    IntsWait,
    Token,
    EnterSign,
    ExitSign,
    NewArraySign,
}

const SHARED: usize = Shared::NewArraySign as usize + 1;

/// The added constants: their bytes, and the total number of constants.
#[derive(Debug)]
pub(crate) struct Additions {
    bytes: Vec<u8>,
    state: Mark,
}

/// A state to which the additions can be rolled back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    length: usize,
    /// The index of the next constant.
    next: u16,
    /// The indices of the shared constants; 0 if not added yet.
    shared: [u16; SHARED],
}

impl Additions {
    /// Additions to a pool with this count, which is one more than its highest index.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            bytes: Vec::new(),
            state: Mark {
                length: 0,
                next: u16::try_from(count).unwrap_or(u16::MAX),
                shared: [0; SHARED],
            },
        }
    }

    /// The count to write before the constant pool.
    pub(crate) fn count(&self) -> u16 {
        self.state.next
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            length: self.bytes.len(),
            ..self.state
        }
    }

    pub(crate) fn roll_back(&mut self, mark: Mark) {
        self.bytes.truncate(mark.length);
        self.state = mark;
    }

    /// Takes the next index. The count before the pool has 16 bits, so 65534 is the last one.
    fn index(&mut self) -> Result<u16, Reason> {
        let index = self.state.next;
        self.state.next = index.checked_add(1).ok_or(Reason::PoolFull)?;
        Ok(index)
    }

    pub(crate) fn utf8(&mut self, text: &[u8]) -> Result<u16, Reason> {
        let length = u16::try_from(text.len()).map_err(|_| Reason::TooBig)?;
        let index = self.index()?;
        self.bytes.put_u1(UTF8);
        self.bytes.put_u2(length);
        self.bytes.put(text);
        Ok(index)
    }

    pub(crate) fn integer(&mut self, value: u32) -> Result<u16, Reason> {
        let index = self.index()?;
        self.bytes.put_u1(INTEGER);
        self.bytes.put_u4(value);
        Ok(index)
    }

    pub(crate) fn class(&mut self, name: &[u8]) -> Result<u16, Reason> {
        let name = self.utf8(name)?;
        let index = self.index()?;
        self.bytes.put_u1(CLASS);
        self.bytes.put_u2(name);
        Ok(index)
    }

    pub(crate) fn string(&mut self, text: &[u8]) -> Result<u16, Reason> {
        let text = self.utf8(text)?;
        let index = self.index()?;
        self.bytes.put_u1(STRING);
        self.bytes.put_u2(text);
        Ok(index)
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
        let index = self.index()?;
        self.bytes.put_u1(tag);
        self.bytes.put_u2(first);
        self.bytes.put_u2(second);
        Ok(index)
    }

    /// The index of a shared constant, which is created at the first request.
    pub(crate) fn shared(
        &mut self,
        which: Shared,
        make: impl FnOnce(&mut Self) -> Result<u16, Reason>,
    ) -> Result<u16, Reason> {
        let known = self.state.shared.get(which as usize).copied().unwrap_or(0);
        if known != 0 {
            return Ok(known);
        }
        let index = make(self)?;
        if let Some(place) = self.state.shared.get_mut(which as usize) {
            *place = index;
        }
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roll_back_forgets_shared_constants_too() {
        let mut additions = Additions::new(10);
        let first = additions.shared(Shared::Enter, |a| a.class(b"A")).unwrap();
        assert_eq!((first, additions.count()), (11, 12));
        let mark = additions.mark();
        let bytes = additions.bytes().to_vec();
        assert_eq!(additions.shared(Shared::Exit, |a| a.class(b"B")), Ok(13));
        additions.roll_back(mark);
        assert_eq!((additions.bytes(), additions.count()), (&bytes[..], 12));
        assert_eq!(additions.shared(Shared::Exit, |a| a.utf8(b"C")), Ok(12));
        assert_eq!(additions.shared(Shared::Enter, |a| a.utf8(b"D")), Ok(11));
    }

    #[test]
    fn the_last_index_is_65534() {
        let mut additions = Additions::new(0xFFFE);
        assert_eq!(additions.integer(1), Ok(0xFFFE));
        assert_eq!(additions.integer(1), Err(Reason::PoolFull));
        assert_eq!(additions.count(), 0xFFFF);
    }
}
