//! An OutOfMemoryError that asks for a dump, whoever throws it.

use crate::java_errors::JavaError;
use format::redaction::Redaction;
use jvm::event::ResourceKind;

/// Who throws it. Each of them gets one dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thrower {
    /// The JVM, which informs the agent before.
    Jvm,
    /// Java code.
    Java,
}

/// The error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thrown {
    pub(crate) by: Thrower,
    /// The error as a line for the user.
    pub(crate) line: String,
    /// Its message. The JVM also runs the constructor of some errors that it has reported: their
    /// messages are the same.
    message: String,
}

impl Thrown {
    /// One that the JVM reports.
    pub(crate) fn by_jvm(kind: ResourceKind, message: &str) -> Self {
        let resource = match kind {
            ResourceKind::Heap => "the Java heap",
            ResourceKind::Threads => "threads",
            ResourceKind::Other => "the JVM's own memory",
        };
        Self {
            by: Thrower::Jvm,
            line: format!("OutOfMemoryError ({resource}): {message}"),
            message: message.to_owned(),
        }
    }

    /// One whose constructor has run.
    pub(crate) fn by_java(error: &JavaError) -> Self {
        Self {
            by: Thrower::Java,
            line: error.line(),
            message: error.message.clone().unwrap_or_default(),
        }
    }

    /// Whether both may be the same error.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.message == other.message
    }

    /// The reason for a dump, as the dump states it. With redaction it leaves out the message,
    /// which may be a value of the application's.
    pub(crate) fn cause(&self, redaction: &Redaction) -> String {
        let kind = self.line.split(": ").next();
        let told = kind.filter(|_| !redaction.is_nothing());
        format!("oom: {}", told.unwrap_or(&self.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::redaction::Redacted;

    #[test]
    fn an_error_has_a_line_and_is_a_cause() {
        let error = Thrown::by_jvm(ResourceKind::Threads, "unable to create native thread: x");
        assert_eq!(
            error.line,
            "OutOfMemoryError (threads): unable to create native thread: x"
        );
        let nothing = Redaction::default();
        assert_eq!(error.cause(&nothing), format!("oom: {}", error.line));
        let redaction = Redaction {
            what: Redacted::Strings,
            ..nothing
        };
        assert_eq!(error.cause(&redaction), "oom: OutOfMemoryError (threads)");
    }

    #[test]
    fn an_error_of_the_jvm_is_known_again_by_its_message() {
        let of_java = |message: Option<&str>| {
            Thrown::by_java(&JavaError {
                class: "java.lang.OutOfMemoryError".to_owned(),
                message: message.map(str::to_owned),
            })
        };
        let of_jvm = Thrown::by_jvm(ResourceKind::Threads, "no thread");
        assert!(of_java(Some("no thread")).is_like(&of_jvm));
        assert!(!of_java(Some("Direct buffer memory")).is_like(&of_jvm));
        assert!(!of_java(None).is_like(&of_jvm));
    }
}
