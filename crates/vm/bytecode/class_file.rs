//! A class file, parsed as far as rewriting needs it (4.1).

use crate::constant_pool::ConstantPool;
use crate::cursor::Cursor;
use crate::error::ClassError;

const MAGIC: u32 = 0xCAFE_BABE;

/// A class file that borrows its bytes.
#[derive(Debug)]
pub struct ClassFile<'a> {
    pub(crate) pool: ConstantPool<'a>,
    /// The major version: 52 for Java 8, one more for each later version.
    pub major_version: u16,
    /// The name of the class in modified UTF-8, such as `java/lang/Object`.
    pub name: &'a [u8],
    /// The name of the superclass; `None` for `java/lang/Object` and module descriptions.
    pub super_name: Option<&'a [u8]>,
    /// Magic number and version.
    pub(crate) head: &'a [u8],
    /// The bytes between the constant pool and the count of methods.
    pub(crate) before_methods: &'a [u8],
    pub(crate) methods: Vec<Member<'a>>,
    /// The attributes of the class, including their count.
    pub(crate) after_methods: &'a [u8],
}

/// A method as in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'a> {
    pub(crate) method: Method<'a>,
    /// Access flags, name, descriptor, count of attributes, attributes.
    pub(crate) bytes: &'a [u8],
}

/// A method of a class, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method<'a> {
    /// Its name in modified UTF-8, such as `<init>`.
    pub name: &'a [u8],
    /// Its descriptor in modified UTF-8, such as `(I)V`.
    pub descriptor: &'a [u8],
    /// Its access flags (table 4.6-A).
    pub access: u16,
}

impl<'a> ClassFile<'a> {
    /// Parses a class file.
    ///
    /// # Errors
    /// The bytes are not a complete class file.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ClassError> {
        let mut cursor = Cursor::new(bytes);
        let start = cursor;
        if cursor.u4()? != MAGIC {
            return Err(ClassError::NotAClass);
        }
        cursor.u2()?;
        let major_version = cursor.u2()?;
        let head = cursor.since(&start);
        let pool = ConstantPool::read(&mut cursor)?;
        let after_pool = cursor;
        // The access flags.
        cursor.u2()?;
        let name = cursor.u2()?;
        let super_name = cursor.u2()?;
        let interfaces = usize::from(cursor.u2()?);
        cursor.take(interfaces * 2)?;
        for _ in 0..cursor.u2()? {
            skip_member(&mut cursor)?;
        }
        let before_methods = cursor.since(&after_pool);
        let methods = read_methods(&mut cursor, &pool)?;
        let after_methods = cursor.rest();
        for _ in 0..cursor.u2()? {
            cursor.attribute()?;
        }
        if !cursor.is_done() {
            return Err(ClassError::BytesLeft);
        }
        Ok(Self {
            name: pool.class_name(name).ok_or(ClassError::WrongIndex(name))?,
            super_name: pool.class_name(super_name),
            pool,
            major_version,
            head,
            before_methods,
            methods,
            after_methods,
        })
    }

    /// The name of the source file in modified UTF-8; `None` if the class file does not contain it
    /// (4.7.10).
    #[must_use]
    pub fn source_file(&self) -> Option<&'a [u8]> {
        let body = self
            .pool
            .find(Cursor::new(self.after_methods), b"SourceFile")?;
        self.pool.utf8(Cursor::new(body).u2().ok()?)
    }

    /// The methods in file order.
    pub fn methods(&self) -> impl Iterator<Item = Method<'a>> + '_ {
        self.methods.iter().map(|member| member.method)
    }
}

fn read_methods<'a>(
    cursor: &mut Cursor<'a>,
    pool: &ConstantPool<'a>,
) -> Result<Vec<Member<'a>>, ClassError> {
    let mut methods = Vec::new();
    for _ in 0..cursor.u2()? {
        let start = *cursor;
        let (access, name, descriptor) = skip_member(cursor)?;
        let text = |index| pool.utf8(index).ok_or(ClassError::WrongIndex(index));
        methods.push(Member {
            method: Method {
                name: text(name)?,
                descriptor: text(descriptor)?,
                access,
            },
            bytes: cursor.since(&start),
        });
    }
    Ok(methods)
}

/// Skips a field or a method. Returns its access flags and the indices of name and descriptor (4.5,
/// 4.6).
fn skip_member(cursor: &mut Cursor<'_>) -> Result<(u16, u16, u16), ClassError> {
    let head = (cursor.u2()?, cursor.u2()?, cursor.u2()?);
    for _ in 0..cursor.u2()? {
        cursor.attribute()?;
    }
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracker_class;

    #[test]
    fn a_class_is_taken_apart() {
        let bytes = tracker_class().unwrap();
        let class = ClassFile::parse(&bytes).unwrap();
        assert_eq!(class.name, b"java/lang/HprofTracker");
        assert_eq!(class.super_name, Some(&b"java/lang/Object"[..]));
        assert_eq!(class.major_version, 52);
        let names: Vec<_> = class
            .methods()
            .map(|m| String::from_utf8_lossy(m.name).into_owned())
            .collect();
        assert!(names.contains(&"enter".to_owned()), "{names:?}");
    }

    #[test]
    fn whatever_is_cut_off_is_an_error() {
        let bytes = tracker_class().unwrap();
        for length in 0..bytes.len() {
            assert!(ClassFile::parse(&bytes[..length]).is_err(), "{length}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(
            ClassFile::parse(&longer).unwrap_err(),
            ClassError::BytesLeft
        );
    }
}
