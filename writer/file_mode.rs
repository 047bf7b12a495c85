//! The access mode of new files.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;

/// The owner's least permissions: to read and to write.
const OWNER: u32 = 0o600;
/// The most permissions that can be granted: nobody executes a dump.
const MOST: u32 = 0o666;

/// The mode of a new file, exactly: the process's umask is not applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMode(u32);

impl FileMode {
    /// From octal digits, such as `0640`. `None` if the owner could not read and write the file, or
    /// if anybody could execute it.
    #[must_use]
    pub fn parse(octal: &str) -> Option<Self> {
        let is_octal = !octal.is_empty() && octal.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
        let mode = is_octal.then(|| u32::from_str_radix(octal, 8).ok())??;
        (mode & OWNER == OWNER && mode & !MOST == 0).then_some(Self(mode))
    }

    /// Sets the mode of an open file that belongs to this user.
    ///
    /// # Errors
    /// The file system's error; some file systems have no modes.
    pub fn give(self, file: &File) -> io::Result<()> {
        file.set_permissions(Permissions::from_mode(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_octal_and_executes_nothing() {
        for (text, mode) in [
            ("0600", 0o600),
            ("0640", 0o640),
            ("660", 0o660),
            ("0666", 0o666),
        ] {
            assert_eq!(FileMode::parse(text), Some(FileMode(mode)), "{text}");
        }
        for text in [
            "",
            "0",
            "0400",
            "0440",
            "0200",
            "0066",
            "0700",
            "0641",
            "0750",
            "1640",
            "4640",
            "0680",
            "+640",
            "0o640",
            "rw-r-----",
            "77777777777777",
        ] {
            assert_eq!(FileMode::parse(text), None, "{text}");
        }
    }
}
