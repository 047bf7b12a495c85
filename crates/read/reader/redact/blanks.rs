//! Copies the bytes that a reader reads, and replaces those in some ranges.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::ops::Range;

use crate::Tee;

/// A range of the file, and the byte that replaces its contents in the copy.
type Blank = (Range<u64>, u8);

/// The copy.
pub(crate) struct Blanks<'o> {
    held: Tee,
    /// The remaining ranges, ascending.
    blanks: VecDeque<Blank>,
    /// The bytes that are copied at once; kept for its memory.
    bytes: Vec<u8>,
    out: &'o mut dyn Write,
}

impl<'o> Blanks<'o> {
    /// A copy of what is read from `from` through the returned reader.
    pub(crate) fn new<'r>(
        from: Box<dyn Read + 'r>,
        out: &'o mut dyn Write,
    ) -> (Self, Box<dyn Read + 'r>) {
        let (held, reader) = Tee::new(from);
        let blanks = Self {
            held,
            blanks: VecDeque::new(),
            bytes: Vec::new(),
            out,
        };
        (blanks, reader)
    }

    /// Replaces the bytes of a range by this byte. The range must be after all others and not
    /// copied yet.
    pub(crate) fn blank(&mut self, place: Range<u64>, byte: u8) {
        if !place.is_empty() {
            self.blanks.push_back((place, byte));
        }
    }

    /// Adds bytes to the copy that are not in the file.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    /// Copies the bytes up to this offset.
    pub(crate) fn copy_to(&mut self, offset: u64) -> io::Result<()> {
        let start = self.held.offset();
        self.bytes.clear();
        self.held.take_to(offset, &mut self.bytes);
        let end = self.held.offset();
        while let Some((place, byte)) = self.blanks.front() {
            let of = |offset: u64| usize::try_from(offset.saturating_sub(start));
            let (from, to) = (of(place.start.min(end)), of(place.end.min(end)));
            if let (Ok(from), Ok(to)) = (from, to) {
                let place = self.bytes.get_mut(from..to);
                place.unwrap_or_default().fill(*byte);
            }
            if place.end > end {
                break;
            }
            self.blanks.pop_front();
        }
        self.out.write_all(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_blank_wherever_the_pieces_end() {
        for piece in 1..20 {
            let mut out = Vec::new();
            let input: Vec<u8> = (1..20).collect();
            let (mut blanks, mut reader) = Blanks::new(Box::new(input.as_slice()), &mut out);
            for (place, byte) in [(2..5, 0), (5..6, b'*'), (9..9, 7), (10..18, 0)] {
                blanks.blank(place, byte);
            }
            let mut read = Vec::new();
            reader.read_to_end(&mut read).unwrap();
            assert_eq!(read, input);
            for end in (0..40).step_by(piece) {
                blanks.copy_to(end).unwrap();
            }
            blanks.copy_to(40).unwrap();
            let expected = [1, 2, 0, 0, 0, b'*', 7, 8, 9, 10, 0, 0, 0, 0, 0, 0, 0, 0, 19];
            assert_eq!(out, expected, "{piece}");
        }
    }
}
