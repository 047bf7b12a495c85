//! The type of a field or an array element, with HPROF's number for it.

/// A Java value's type as HPROF numbers it (format text, "Basic Type").
///
/// All references share one number, whatever their class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum BasicType {
    /// A reference to an object, an array or null.
    Object = 2,
    /// `boolean`, one byte, 0 or 1.
    Boolean = 4,
    /// `char`, two bytes.
    Char = 5,
    /// `float`, four bytes, IEEE 754.
    Float = 6,
    /// `double`, eight bytes, IEEE 754.
    Double = 7,
    /// `byte`, one byte.
    Byte = 8,
    /// `short`, two bytes.
    Short = 9,
    /// `int`, four bytes.
    Int = 10,
    /// `long`, eight bytes.
    Long = 11,
}

impl BasicType {
    /// The type with this HPROF number, or `None` if there is none.
    pub fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            2 => Self::Object,
            4 => Self::Boolean,
            5 => Self::Char,
            6 => Self::Float,
            7 => Self::Double,
            8 => Self::Byte,
            9 => Self::Short,
            10 => Self::Int,
            11 => Self::Long,
            _ => return None,
        })
    }

    /// The type that the first byte of a field descriptor stands for (JVM specification, 4.3.2), or
    /// `None`.
    pub fn from_descriptor(first_byte: u8) -> Option<Self> {
        if matches!(first_byte, b'L' | b'[') {
            return Some(Self::Object);
        }
        let mut primitive = (4..=11).filter_map(Self::from_code);
        primitive.find(|kind| kind.array_name().as_bytes() == [b'[', first_byte])
    }

    /// The name that the class of arrays of this type has in dumps; for references that of
    /// `java.lang.Object[]`.
    pub fn array_name(self) -> &'static str {
        match self {
            Self::Object => "[Ljava/lang/Object;",
            Self::Boolean => "[Z",
            Self::Char => "[C",
            Self::Float => "[F",
            Self::Double => "[D",
            Self::Byte => "[B",
            Self::Short => "[S",
            Self::Int => "[I",
            Self::Long => "[J",
        }
    }

    /// HPROF's number for this type.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Bytes of one value in a file whose identifiers have `id_size_bytes`.
    pub fn size_bytes(self, id_size_bytes: u32) -> u32 {
        match self {
            Self::Object => id_size_bytes,
            Self::Boolean | Self::Byte => 1,
            Self::Char | Self::Short => 2,
            Self::Float | Self::Int => 4,
            Self::Double | Self::Long => 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_letters_and_sizes_are_those_of_the_format() {
        let rows = [
            (2, b'L', 8),
            (4, b'Z', 1),
            (5, b'C', 2),
            (6, b'F', 4),
            (7, b'D', 8),
            (8, b'B', 1),
            (9, b'S', 2),
            (10, b'I', 4),
            (11, b'J', 8),
        ];
        for (code, letter, bytes) in rows {
            let basic_type = BasicType::from_code(code).expect("a type");
            assert_eq!(basic_type.code(), code);
            assert_eq!(BasicType::from_descriptor(letter), Some(basic_type));
            assert_eq!(basic_type.size_bytes(8), bytes);
            assert_eq!(basic_type.array_name().as_bytes()[..2], [b'[', letter]);
        }
        assert_eq!(BasicType::Object.size_bytes(4), 4);
        assert_eq!(BasicType::from_descriptor(b'['), Some(BasicType::Object));
        let known = |code: &u8| BasicType::from_code(*code).is_some();
        assert_eq!((0..=u8::MAX).filter(known).count(), rows.len());
        let known = |letter: &u8| BasicType::from_descriptor(*letter).is_some();
        assert_eq!((0..=u8::MAX).filter(known).count(), rows.len() + 1);
    }
}
