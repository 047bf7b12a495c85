//! The crate's only error: why a dump was not written, in a sentence for the user.

use std::io;
use std::path::{Path, PathBuf};

use format::codec::TooMany;
use thiserror::Error;

/// Why a dump was not written. Cheap to clone, because all later senders get the writer thread's
/// first error.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WriteError {
    /// A number does not fit into its field of the format.
    #[error("{what} is {value}, more than the HPROF format can hold")]
    TooLarge {
        /// What the number counts, in plain words.
        what: &'static str,
        /// The number.
        value: u64,
    },
    /// An array's bytes do not match its elements: not a whole number of elements, or a wrong
    /// number.
    #[error(
        "{bytes} bytes of an array are not the elements expected, of {element_bytes} bytes each"
    )]
    BrokenArray {
        /// The bytes given, of the array or of a piece of it.
        bytes: u64,
        /// The bytes of one element.
        element_bytes: u32,
    },
    /// The system gave no memory for a buffer.
    #[error("no memory for a buffer of {bytes} bytes; leave the process more memory")]
    NoMemory {
        /// The bytes asked for.
        bytes: u64,
    },
    /// The path names no file, for example `/` or the empty path.
    #[error("{} does not name a file; give a file name", .path.display())]
    NoFileName {
        /// The path as given.
        path: PathBuf,
    },
    /// The directory does not exist, or is not a directory.
    #[error(
        "cannot write {}: there is no directory {}; create it or choose another",
        .path.display(), .directory.display()
    )]
    NoDirectory {
        /// The target.
        path: PathBuf,
        /// The directory that was looked for.
        directory: PathBuf,
    },
    /// The target exists already and must not be replaced.
    #[error(
        "{} exists and is not overwritten; remove it or choose another name",
        .path.display()
    )]
    Exists {
        /// The target.
        path: PathBuf,
    },
    /// The target, or what is in the place of its `.part` file, is a directory, a pipe or a device.
    #[error(
        "{} is not a regular file, which a dump needs; choose another name",
        .path.display()
    )]
    NotARegularFile {
        /// What was found there.
        path: PathBuf,
    },
    /// The system does not permit this process to write there.
    #[error(
        "{} may not be written by this user; choose another directory or change its rights",
        .path.display()
    )]
    NoPermission {
        /// The file that could not be created.
        path: PathBuf,
    },
    /// Another dump with this name is being written.
    #[error(
        "{} is being written by another process; wait until it ends, or choose another name",
        .path.display()
    )]
    InUse {
        /// Its `.part` file.
        path: PathBuf,
    },
    /// The place of our `.part` file is taken by a complete dump that could not be renamed.
    #[error(
        "{} is a whole dump that did not get its name; rename it, or choose another name",
        .path.display()
    )]
    WholePart {
        /// The `.part` file.
        path: PathBuf,
    },
    /// The folder does not allow renaming, so the complete dump keeps the name of its `.part` file.
    #[error(
        "{} is whole and stays there, as it cannot get the name {}: {reason}; rename it, and choose another folder \
         with file=",
        .part.display(), .path.display()
    )]
    Unnamed {
        /// The `.part` file.
        part: PathBuf,
        /// The intended name.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// A probe has shown that the folder does not allow renaming.
    #[error(
        "the folder {} does not let files be renamed: {reason}; a dump may stay there as NAME.part, whole if a message \
         names it; choose another folder with file=",
        .directory.display()
    )]
    NoRename {
        /// The folder.
        directory: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// Another process has put its own file in the place of our `.part` file.
    #[error(
        "{} was replaced while it was written; give each process a file name of its own",
        .path.display()
    )]
    Taken {
        /// The `.part` file.
        path: PathBuf,
    },
    /// The file is longer or shorter than the bytes written to it.
    #[error(
        "{} has {found_bytes} bytes, but {expected_bytes} were written; make sure that nothing else writes to it",
        .path.display()
    )]
    WrongSize {
        /// The `.part` file.
        path: PathBuf,
        /// The bytes written, including the tail.
        expected_bytes: u64,
        /// The file's length.
        found_bytes: u64,
    },
    /// The system refused an operation on a file.
    #[error(
        "cannot write {}: {reason}, while it was {action}; check the disk and try again",
        .path.display()
    )]
    Io {
        /// The file.
        path: PathBuf,
        /// The operation, as in "while it was ...".
        action: &'static str,
        /// The system's reason.
        reason: String,
    },
    /// The dump would take space that must stay free.
    #[error(
        "cannot write {}: {free_bytes} bytes are free there, and {floor_bytes} must stay free; remove files, or change \
         minfree=",
        .path.display()
    )]
    LittleRoom {
        /// The file.
        path: PathBuf,
        /// The bytes that are free.
        free_bytes: u64,
        /// The bytes that must stay free.
        floor_bytes: u64,
    },
    /// The receiver of the dump accepts no more; the sentence gives the reason.
    #[error("{0}")]
    Refused(String),
    /// The writer thread, or a compressing thread, could not be started.
    #[error("cannot start a thread that writes: {reason}; check the limit on threads")]
    NoThread {
        /// The system's reason.
        reason: String,
    },
    /// The dump was finished or abandoned before this was sent.
    #[error("the dump was finished or given up; start another")]
    Closed,
    /// The writer thread is gone and has left no reason: a bug in this crate.
    #[error("the writer thread has ended early; please report this")]
    WriterGone,
    /// A block could not be compressed, or a compressing thread is gone: a bug in this crate.
    #[error("compressing the dump has failed; please report this")]
    CompressorFailed,
}

/// The system refused an operation on a file.
pub(crate) fn failed(path: &Path, action: &'static str, error: &io::Error) -> WriteError {
    WriteError::Io {
        path: path.to_owned(),
        action,
        reason: error.to_string(),
    }
}

impl From<TooMany> for WriteError {
    fn from(TooMany { what, value }: TooMany) -> Self {
        Self::TooLarge { what, value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_names_file_reason_and_remedy() {
        let error = WriteError::Io {
            path: "/d/a.hprof.part".into(),
            action: "being written",
            reason: "No space left on device (os error 28)".into(),
        };
        assert_eq!(
            error.to_string(),
            "cannot write /d/a.hprof.part: No space left on device (os error 28), \
             while it was being written; check the disk and try again"
        );
    }

    #[test]
    fn a_wrong_size_names_both_numbers() {
        let error = WriteError::WrongSize {
            path: "/d/a.hprof.part".into(),
            expected_bytes: 10,
            found_bytes: 9,
        };
        assert_eq!(
            error.to_string(),
            "/d/a.hprof.part has 9 bytes, but 10 were written; make sure that nothing else writes to it"
        );
    }
}
