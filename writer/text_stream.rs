//! A stream of text: collects the output of text encoders into buffers of a megabyte.

use std::io::{self, Write};

use crate::{Deliver, WriteError};

/// Bytes of a buffer that is delivered.
const BUFFER_BYTES: usize = 1 << 20;

/// Writes text to the receiver of records, in buffers of about a megabyte.
///
/// Encoders know only [`io::Error`]; the stream keeps the receiver's first error, which
/// [`TextStream::finish`] returns. Without `finish`, the rest is lost. For one thread.
#[derive(Debug)]
pub struct TextStream<D> {
    deliver: D,
    buffer: Vec<u8>,
    error: Option<WriteError>,
}

impl<D: Deliver> TextStream<D> {
    /// A stream to this receiver.
    pub fn new(deliver: D) -> Self {
        Self {
            deliver,
            buffer: Vec::new(),
            error: None,
        }
    }

    /// Delivers the rest, and returns the first error.
    pub fn finish(mut self) -> Result<(), WriteError> {
        // `result` already contains its error, if any.
        let _ = self.flush();
        self.error.map_or(Ok(()), Err)
    }
}

impl<D: Deliver> Write for TextStream<D> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.buffer);
        if self.error.is_none() && !bytes.is_empty() {
            self.error = self.deliver.deliver(bytes).err();
        }
        match &self.error {
            Some(error) => Err(io::Error::other(error.clone())),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_and_nothing_small_is_sent() {
        let mut sent: Vec<Vec<u8>> = Vec::new();
        let mut stream = TextStream::new(|bytes| {
            sent.push(bytes);
            Ok(())
        });
        for line in 0..200_000 {
            writeln!(stream, "line {line:06}").unwrap();
        }
        stream.finish().unwrap();
        let sizes: Vec<usize> = sent.iter().map(Vec::len).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 200_000 * 12);
        assert!(sizes.iter().rev().skip(1).all(|&size| size >= BUFFER_BYTES));
        assert!(sent.concat().ends_with(b"line 199999\n"));
    }

    #[test]
    fn the_first_error_is_told_at_the_end() {
        let mut calls = 0;
        let mut stream = TextStream::new(|_| {
            calls += 1;
            Err(WriteError::Closed)
        });
        writeln!(stream, "a").unwrap();
        assert!(stream.flush().is_err());
        writeln!(stream, "b").unwrap();
        assert_eq!(stream.finish(), Err(WriteError::Closed));
        assert_eq!(calls, 1);
    }

    #[test]
    fn an_empty_stream_sends_nothing() {
        let stream = TextStream::new(|_: Vec<u8>| Err(WriteError::Closed));
        assert_eq!(stream.finish(), Ok(()));
    }
}
