//! The constants in a class file (4.4).

use crate::cursor::Cursor;
use crate::error::ClassError;

pub(crate) const UTF8: u8 = 1;
pub(crate) const INTEGER: u8 = 3;
pub(crate) const CLASS: u8 = 7;
pub(crate) const STRING: u8 = 8;
pub(crate) const FIELD_REF: u8 = 9;
pub(crate) const METHOD_REF: u8 = 10;
const INTERFACE_METHOD_REF: u8 = 11;
pub(crate) const NAME_AND_TYPE: u8 = 12;

/// The positions of all constants.
#[derive(Debug)]
pub(crate) struct ConstantPool<'a> {
    /// The bytes of the constants, without their count.
    bytes: &'a [u8],
    /// For each index, the position of its tag in `bytes`; `NOWHERE` at 0 and after a long or a
    /// double.
    at: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl<'a> ConstantPool<'a> {
    /// Parses the count and the constants, and leaves the cursor after them.
    pub(crate) fn read(cursor: &mut Cursor<'a>) -> Result<Self, ClassError> {
        let count = usize::from(cursor.u2()?);
        let start = *cursor;
        let mut at = Vec::with_capacity(count.max(1));
        at.push(NOWHERE);
        while at.len() < count {
            let position = cursor.since(&start).len();
            at.push(u32::try_from(position).map_err(|_| ClassError::TooLong)?);
            if skip_constant(cursor)? {
                at.push(NOWHERE);
            }
        }
        if at.len() > count.max(1) {
            return Err(ClassError::Truncated);
        }
        Ok(Self {
            bytes: cursor.since(&start),
            at,
        })
    }

    /// The bytes of the constants, without their count.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// One more than the highest index.
    pub(crate) fn count(&self) -> usize {
        self.at.len()
    }

    /// The bytes after the tag of a constant, if it has this tag.
    fn constant(&self, index: u16, tag: u8) -> Option<Cursor<'a>> {
        let at = *self.at.get(usize::from(index))?;
        let (found, rest) = self.bytes.get(at as usize..)?.split_first()?;
        (*found == tag).then(|| Cursor::new(rest))
    }

    /// The bytes of a `Utf8` constant (modified UTF-8).
    pub(crate) fn utf8(&self, index: u16) -> Option<&'a [u8]> {
        let mut constant = self.constant(index, UTF8)?;
        let length = constant.u2().ok()?;
        constant.take(usize::from(length)).ok()
    }

    /// The body of the first of some attributes that has this name; their count comes first.
    pub(crate) fn find<'b>(&self, mut attributes: Cursor<'b>, wanted: &[u8]) -> Option<&'b [u8]> {
        for _ in 0..attributes.u2().ok()? {
            let (name, body) = attributes.attribute().ok()?;
            if self.utf8(name) == Some(wanted) {
                return Some(body);
            }
        }
        None
    }

    /// The name of a `Class` constant, such as `java/lang/Object`.
    pub(crate) fn class_name(&self, index: u16) -> Option<&'a [u8]> {
        self.utf8(self.constant(index, CLASS)?.u2().ok()?)
    }

    /// Class and name of a method constant.
    pub(crate) fn method(&self, index: u16) -> Option<(&'a [u8], &'a [u8])> {
        let mut method = self
            .constant(index, METHOD_REF)
            .or_else(|| self.constant(index, INTERFACE_METHOD_REF))?;
        let class = self.class_name(method.u2().ok()?)?;
        let mut name_and_type = self.constant(method.u2().ok()?, NAME_AND_TYPE)?;
        Some((class, self.utf8(name_and_type.u2().ok()?)?))
    }
}

/// Skips a constant; true if it takes two indices (4.4.5).
fn skip_constant(cursor: &mut Cursor<'_>) -> Result<bool, ClassError> {
    let tag = cursor.u1()?;
    let length = match tag {
        UTF8 => usize::from(cursor.u2()?),
        // Integer, Float, the references, NameAndType, Dynamic, InvokeDynamic.
        3 | 4 | 9..=12 | 17 | 18 => 4,
        // Long, Double.
        5 | 6 => 8,
        // Class, String, MethodType, Module, Package.
        7 | 8 | 16 | 19 | 20 => 2,
        // MethodHandle.
        15 => 3,
        _ => return Err(ClassError::UnknownConstant(tag)),
    };
    cursor.take(length)?;
    Ok(matches!(tag, 5 | 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_takes_two_indices() {
        let bytes = [
            0, 6, 5, 0, 0, 0, 0, 0, 0, 0, 9, 1, 0, 1, b'A', 7, 0, 3, 3, 0, 0, 0, 1, 0xFF,
        ];
        let mut cursor = Cursor::new(&bytes);
        let pool = ConstantPool::read(&mut cursor).unwrap();
        assert_eq!(pool.count(), 6);
        assert_eq!(pool.utf8(3), Some(&b"A"[..]));
        assert_eq!(pool.class_name(4), Some(&b"A"[..]));
        for index in [0, 1, 2, 4, 5, 6, 0xFFFF] {
            assert_eq!(pool.utf8(index), None, "{index}");
        }
        assert_eq!(cursor.rest(), &[0xFF]);
    }

    #[test]
    fn an_unknown_constant_is_an_error() {
        let error = ConstantPool::read(&mut Cursor::new(&[0, 2, 99, 0, 0])).unwrap_err();
        assert_eq!(error, ClassError::UnknownConstant(99));
    }
}
