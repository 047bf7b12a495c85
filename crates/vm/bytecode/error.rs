//! The reasons why a class or a method could not be rewritten.

use std::fmt;

/// The reason why a class file was not understood. Leave such a class unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassError {
    /// The file ends too early.
    Truncated,
    /// It does not start with `CAFEBABE`.
    NotAClass,
    /// A constant of an unknown kind.
    UnknownConstant(u8),
    /// An index that is not in the constant pool, or of a constant of another kind.
    WrongIndex(u16),
    /// There are bytes after the last attribute.
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

/// The reason why a method kept its old code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The new code, or one of its tables, would exceed the format's limit of 65535.
    TooBig,
    /// HotSpot compiles the method, but would not compile the new code.
    NotCompiled,
    /// A conditional jump would exceed 32767 bytes.
    FarJump,
    /// The constant pool is full.
    PoolFull,
    /// The code or a table violates the specification, or is newer than this crate.
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

impl std::error::Error for Reason {}

impl From<ClassError> for Reason {
    fn from(_: ClassError) -> Self {
        Self::NotUnderstood
    }
}
