//! The `Code` attribute of a method, parsed (4.7.3).

use crate::cursor::Cursor;
use crate::error::ClassError;

/// A method's code and its tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code<'a> {
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    pub(crate) bytes: &'a [u8],
    /// The exception table, 8 bytes for each entry.
    pub(crate) handlers: &'a [u8],
    /// The number of attributes.
    pub(crate) attribute_count: u16,
    attributes: &'a [u8],
}

impl<'a> Code<'a> {
    /// Parses the body of the attribute.
    pub(crate) fn read(body: &'a [u8]) -> Result<Self, ClassError> {
        let mut cursor = Cursor::new(body);
        let max_stack = cursor.u2()?;
        let max_locals = cursor.u2()?;
        let length = cursor.u4()? as usize;
        let bytes = cursor.take(length)?;
        let handler_count = usize::from(cursor.u2()?);
        let handlers = cursor.take(handler_count * 8)?;
        let attribute_count = cursor.u2()?;
        let attributes = cursor.rest();
        for _ in 0..attribute_count {
            cursor.attribute()?;
        }
        if !cursor.is_done() {
            return Err(ClassError::BytesLeft);
        }
        Ok(Self {
            max_stack,
            max_locals,
            bytes,
            handlers,
            attribute_count,
            attributes,
        })
    }

    /// The attributes: index of the name, and body.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (u16, &'a [u8])> {
        let mut cursor = Cursor::new(self.attributes);
        std::iter::from_fn(move || cursor.attribute().ok())
    }

    /// The exception table: start, end, handler, type.
    pub(crate) fn handlers(&self) -> impl Iterator<Item = [u16; 4]> + 'a {
        let mut cursor = Cursor::new(self.handlers);
        std::iter::from_fn(move || {
            let mut number = || cursor.u2().ok();
            Some([number()?, number()?, number()?, number()?])
        })
    }
}
