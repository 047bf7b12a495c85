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

    /// The type that a field descriptor's first byte names (JVM specification, 4.3.2), or `None`.
    pub fn from_descriptor(first_byte: u8) -> Option<Self> {
        Some(match first_byte {
            b'L' | b'[' => Self::Object,
            b'Z' => Self::Boolean,
            b'C' => Self::Char,
            b'F' => Self::Float,
            b'D' => Self::Double,
            b'B' => Self::Byte,
            b'S' => Self::Short,
            b'I' => Self::Int,
            b'J' => Self::Long,
            _ => return None,
        })
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
