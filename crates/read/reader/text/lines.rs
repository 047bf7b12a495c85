//! Lines of a text of any size, without their line ends.

use std::fmt;
use std::io::{BufRead, BufReader, ErrorKind, Read};

use crate::error::ReadError;

/// Most bytes kept of one line; the JDK's agent cuts them at 1,023.
const LINE_BYTES_MAX: usize = 1 << 16;

/// Returns the lines of a text one by one; a line may be put back once.
pub(super) struct Lines<'r> {
    inner: BufReader<Box<dyn Read + 'r>>,
    line: String,
    offset: u64,
    again: bool,
}

impl fmt::Debug for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}

impl<'r> Lines<'r> {
    pub(super) fn new(inner: Box<dyn Read + 'r>) -> Self {
        Self {
            inner: BufReader::new(inner),
            line: String::new(),
            offset: 0,
            again: false,
        }
    }

    /// The next line without LF or CR LF, with invalid UTF-8 replaced; `None` at the end of the
    /// text.
    pub(super) fn next_line(&mut self) -> Result<Option<&str>, ReadError> {
        if std::mem::take(&mut self.again) {
            return Ok(Some(&self.line));
        }
        let mut bytes = Vec::new();
        if self.read_piece(&mut bytes)? == 0 {
            return Ok(None);
        }
        let mut ended = bytes.ends_with(b"\n");
        while !ended {
            // The part beyond the limit is skipped.
            let mut rest = Vec::new();
            ended = self.read_piece(&mut rest)? == 0 || rest.ends_with(b"\n");
        }
        let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        self.line = String::from_utf8_lossy(text).into_owned();
        Ok(Some(&self.line))
    }

    /// Makes [`Lines::next_line`] return the last line again.
    pub(super) fn put_back(&mut self) {
        self.again = true;
    }

    /// Reads up to the end of the line, or as much of it as is kept.
    fn read_piece(&mut self, to: &mut Vec<u8>) -> Result<usize, ReadError> {
        let mut limited = (&mut self.inner).take(LINE_BYTES_MAX as u64);
        let length = match limited.read_until(b'\n', to) {
            Ok(length) => length,
            // A truncated gzip stream; treated like a file that ends here.
            Err(fault) if fault.kind() == ErrorKind::UnexpectedEof => to.len(),
            Err(source) => {
                let offset = self.offset;
                return Err(ReadError::Io { offset, source });
            }
        };
        self.offset += length as u64;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(Box::new(text));
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push(line.to_owned());
        }
        found
    }

    #[test]
    fn both_line_ends_and_a_missing_one_are_taken() {
        assert_eq!(lines(b"a\nb\r\n\n\tc\xFF"), ["a", "b", "", "\tc\u{fffd}"]);
        assert!(lines(b"").is_empty());
    }

    #[test]
    fn a_line_without_end_is_cut() {
        for length in [LINE_BYTES_MAX, LINE_BYTES_MAX + 1, 3 * LINE_BYTES_MAX] {
            let text = [&vec![b'x'; length][..], b"\nnext\n"].concat();
            let found = lines(&text);
            let lengths: Vec<usize> = found.iter().map(String::len).collect();
            assert_eq!(lengths, [LINE_BYTES_MAX, 4], "{length}");
        }
    }
}
