//! The errors of JVMTI functions.

use std::fmt;

/// A JVMTI error number other than 0 (`JVMTI_ERROR_NONE`).
///
/// A number, not an enum, because a newer JVM may return one that this code does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JvmtiError(pub i32);

impl JvmtiError {
    /// The class has been loaded but not yet linked, so its fields are not known.
    pub const CLASS_NOT_PREPARED: Self = Self(22);
    /// The JVM lacks the function: its table is shorter, or the entry is empty.
    pub const NOT_AVAILABLE: Self = Self(98);
    /// There is no memory for the answer.
    pub const OUT_OF_MEMORY: Self = Self(110);
    /// The JVM broke a promise of the specification (a null where a pointer must be), or a callback
    /// panicked.
    pub const INTERNAL: Self = Self(113);
    /// The thread has not started, or has ended.
    pub const THREAD_NOT_ALIVE: Self = Self(15);

    /// Turns a function's return value into a `Result`.
    pub fn check(answer: i32) -> Result<(), Self> {
        if answer == 0 {
            Ok(())
        } else {
            Err(Self(answer))
        }
    }

    /// The specification's name of this error without `JVMTI_ERROR_`, or "" if it is unknown.
    fn name(self) -> &'static str {
        match self.0 {
            10 => "INVALID_THREAD",
            15 => "THREAD_NOT_ALIVE",
            20 => "INVALID_OBJECT",
            21 => "INVALID_CLASS",
            22 => "CLASS_NOT_PREPARED",
            23 => "INVALID_METHODID",
            98 => "NOT_AVAILABLE",
            99 => "MUST_POSSESS_CAPABILITY",
            100 => "NULL_POINTER",
            101 => "ABSENT_INFORMATION",
            102 => "INVALID_EVENT_TYPE",
            103 => "ILLEGAL_ARGUMENT",
            104 => "NATIVE_METHOD",
            110 => "OUT_OF_MEMORY",
            111 => "ACCESS_DENIED",
            112 => "WRONG_PHASE",
            113 => "INTERNAL",
            115 => "UNATTACHED_THREAD",
            116 => "INVALID_ENVIRONMENT",
            _ => "",
        }
    }
}

impl std::error::Error for JvmtiError {}

impl fmt::Display for JvmtiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JVMTI error {}", self.0)?;
        if self.name().is_empty() {
            return Ok(());
        }
        write!(f, " ({})", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_it_knows_and_numbers_the_rest() {
        assert_eq!(
            JvmtiError(99).to_string(),
            "JVMTI error 99 (MUST_POSSESS_CAPABILITY)"
        );
        assert_eq!(JvmtiError(4711).to_string(), "JVMTI error 4711");
        assert_eq!(JvmtiError::check(0), Ok(()));
    }
}
