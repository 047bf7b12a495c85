//! Joins segments before they are written. Walkers fill small ones, which stay in the processor's
//! caches, but readers expect segments of a megabyte and more, and some are slow with many small
//! ones.

use crossbeam_channel::{Receiver, Sender};

use crate::encoder::u4;
use crate::message::Message;
use crate::WriteError;
use format::{record, RECORD_HEADER_BYTES};

/// The length field in a record's header.
const LENGTH: std::ops::Range<usize> = RECORD_HEADER_BYTES - 4..RECORD_HEADER_BYTES;
/// The least bytes that are joined, unless another message comes first.
const JOINED_BYTES: usize = 1 << 20;

/// Writes a buffer from an index on, and returns a free buffer if there is one.
type Put<'p> = &'p mut dyn FnMut(Vec<u8>, usize) -> Result<Option<Vec<u8>>, WriteError>;

/// Writes the buffers of objects. For the writer thread.
pub(crate) struct JoinedSegments<'a> {
    inbox: &'a Receiver<Message>,
    /// Where written buffers go.
    give_back: &'a Sender<Vec<u8>>,
    /// Missing bytes of a segment that arrives in pieces.
    missing_bytes: usize,
}

impl<'a> JoinedSegments<'a> {
    /// Starts without a missing piece.
    pub(crate) fn new(inbox: &'a Receiver<Message>, give_back: &'a Sender<Vec<u8>>) -> Self {
        Self {
            inbox,
            give_back,
            missing_bytes: 0,
        }
    }

    /// Writes a buffer, joined with the whole segments that follow it. It waits for them, so that
    /// one walker's file does not depend on timing. Returns the first message that is something
    /// else.
    pub(crate) fn write(
        &mut self,
        put: Put<'_>,
        buffer: Vec<u8>,
    ) -> Result<Option<Message>, WriteError> {
        if self.missing_bytes > 0 {
            self.missing_bytes = self.missing_bytes.saturating_sub(buffer.len());
            return self.put(put, buffer, 0).map(|()| None);
        }
        let Some(body_bytes) = body_bytes(&buffer) else {
            return self.put(put, buffer, 0).map(|()| None);
        };
        self.missing_bytes = (RECORD_HEADER_BYTES + body_bytes).saturating_sub(buffer.len());
        if self.missing_bytes > 0 {
            return self.put(put, buffer, 0).map(|()| None);
        }
        self.write_joined(put, buffer)
    }

    fn write_joined(
        &self,
        put: Put<'_>,
        mut first: Vec<u8>,
    ) -> Result<Option<Message>, WriteError> {
        let mut more = Vec::new();
        let mut bytes = first.len();
        let mut next = None;
        while bytes < JOINED_BYTES && next.is_none() {
            match self.inbox.recv() {
                Ok(Message::Objects(buffer)) if is_whole(&buffer) => {
                    bytes += buffer.len() - RECORD_HEADER_BYTES;
                    more.push(buffer);
                }
                Ok(other) => next = Some(other),
                Err(_) => break,
            }
        }
        let length = u4("the length of a record", bytes - RECORD_HEADER_BYTES)?;
        if let Some(field) = first.get_mut(LENGTH) {
            field.copy_from_slice(&length.to_be_bytes());
        }
        self.put(put, first, 0)?;
        for buffer in more {
            self.put(put, buffer, RECORD_HEADER_BYTES)?;
        }
        Ok(next)
    }

    /// Writes the buffer from `start` on.
    fn put(&self, put: Put<'_>, buffer: Vec<u8>, start: usize) -> Result<(), WriteError> {
        if let Some(free) = put(buffer, start)? {
            // If the channel is full, there are enough free buffers.
            let _ = self.give_back.try_send(free);
        }
        Ok(())
    }
}

fn is_whole(buffer: &[u8]) -> bool {
    body_bytes(buffer).is_some_and(|body| RECORD_HEADER_BYTES + body == buffer.len())
}

/// The body length in the header at the start of a buffer; `None` if the buffer does not start with
/// a segment's header.
fn body_bytes(buffer: &[u8]) -> Option<usize> {
    let length = buffer.get(LENGTH)?.first_chunk()?;
    let is_segment = buffer.first() == Some(&record::HEAP_DUMP_SEGMENT);
    is_segment.then_some(u32::from_be_bytes(*length) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::unbounded;

    fn segment(length: u8, body: &[u8]) -> Vec<u8> {
        [&[0x1C, 0, 0, 0, 0, 0, 0, 0, length], body].concat()
    }

    /// The result of writing these buffers.
    fn written(buffers: Vec<Vec<u8>>) -> Vec<u8> {
        let (messages, inbox) = unbounded();
        let (give_back, _written) = unbounded();
        buffers
            .into_iter()
            .for_each(|buffer| messages.send(Message::Objects(buffer)).unwrap());
        messages.send(Message::Finish).unwrap();
        let mut bytes = Vec::new();
        let mut joined = JoinedSegments::new(&inbox, &give_back);
        let mut next = inbox.recv().ok();
        while let Some(message) = next.take() {
            match message {
                Message::Objects(buffer) => {
                    let mut put = |buffer: Vec<u8>, start: usize| {
                        bytes.extend(&buffer[start..]);
                        Ok(Some(buffer))
                    };
                    let after = joined.write(&mut put, buffer).unwrap();
                    next = after.or_else(|| inbox.recv().ok());
                }
                _ => break,
            }
        }
        bytes
    }

    #[test]
    fn whole_segments_become_one() {
        let buffers = vec![segment(2, b"ab"), segment(1, b"c"), segment(3, b"def")];
        assert_eq!(written(buffers), segment(6, b"abcdef"));
    }

    #[test]
    fn a_segment_in_pieces_stays_one_of_its_own() {
        // A piece that looks like a segment is still a piece.
        let piece = segment(1, b"x");
        let buffers = vec![
            segment(1, b"a"),
            segment(13, b"bcd"),
            piece.clone(),
            segment(1, b"e"),
            segment(1, b"f"),
        ];
        let expected = [
            segment(1, b"a"),
            segment(13, &[b"bcd".as_slice(), &piece].concat()),
            segment(2, b"ef"),
        ];
        assert_eq!(written(buffers), expected.concat());
    }

    #[test]
    fn no_more_is_joined_than_a_megabyte_and_a_segment() {
        let body = vec![7; 300 << 10];
        let mut one = segment(0, &body);
        one[5..9].copy_from_slice(&(300_u32 << 10).to_be_bytes());
        let bytes = written(vec![one; 6]);
        assert_eq!(bytes[5..9], (4 * (300_u32 << 10)).to_be_bytes());
        assert_eq!(bytes.len(), 6 * body.len() + 2 * 9);
    }
}
