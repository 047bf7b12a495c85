//! Why a class or a method could not be rewritten.

use std::fmt;

/// Why a class file was not understood. Such a class is to be left to the JVM as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassError {
    /// The file ends in the middle of something.
    Truncated,
    /// It does not begin with `CAFEBABE`.
    NotAClass,
    /// A constant of a kind that is not known.
    UnknownConstant(u8),
    /// An index into the constant pool that leads nowhere, or to a constant of another kind.
    WrongIndex(u16),
    /// Bytes after the last attribute.
    BytesLeft,
    /// A name of more than 65535 bytes, or too many constants.
    TooLong,
}

impl fmt::Display for ClassError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the class file ends too early"),
            Self::NotAClass => f.write_str("no class file: the magic number is missing"),
            Self::UnknownConstant(tag) => write!(f, "constant with unknown tag {tag}"),
            Self::WrongIndex(index) => write!(f, "constant pool index {index} does not fit"),
            Self::BytesLeft => f.write_str("bytes after the end of the class"),
            Self::TooLong => f.write_str("a name or the constant pool is too long"),
        }
    }
}

impl std::error::Error for ClassError {}

/// Why a method kept its old code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The new code, or one of its tables, would pass the format's limit of 65535.
    TooBig,
    /// HotSpot compiles the method, and would not compile the new code.
    NotCompiled,
    /// A conditional jump would have to reach farther than 32767 bytes.
    FarJump,
    /// The constant pool has no room.
    PoolFull,
    /// Something in the code or its tables is not as the specification says, or newer than this crate.
    NotUnderstood,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooBig => "the new code is too big",
            Self::NotCompiled => "the JVM would not compile the new code",
            Self::FarJump => "a conditional jump is too far",
            Self::PoolFull => "the constant pool is full",
            Self::NotUnderstood => "the code is not understood",
        })
    }
}

impl From<ClassError> for Reason {
    fn from(_: ClassError) -> Self {
        Self::NotUnderstood
    }
}
