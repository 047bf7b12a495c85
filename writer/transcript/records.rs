//! The records of our own file, read back one by one.
//!
//! They are as we wrote them, unless a disk lies: so what does not fit is an error of input, never a panic, and no
//! length is believed before its bytes are there.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};

use format::BasicType;
use tables::ObjectId;

use format::{HEADER_1_0_2, ID_SIZE_BYTES};

/// Bytes read at once.
const BUFFER_BYTES: usize = 1 << 18;

/// A file of records, and a place in it.
#[derive(Debug)]
pub(super) struct Records<R> {
    source: BufReader<R>,
    position: u64,
    /// Where the record at hand ends.
    end: u64,
}

impl<R: Read + Seek> Records<R> {
    /// The file from its start, up to the first record.
    pub(super) fn new(source: R) -> Self {
        Self {
            source: BufReader::with_capacity(BUFFER_BYTES, source),
            position: 0,
            end: 0,
        }
    }

    /// Goes to the first record; tells the milliseconds since 1970, UTC, that the header says.
    pub(super) fn first(&mut self) -> io::Result<u64> {
        self.source.seek(SeekFrom::Start(0))?;
        self.position = 0;
        self.end = HEADER_1_0_2.len() as u64 + 1 + 4 + 8;
        let mut version = Vec::new();
        self.bytes(HEADER_1_0_2.len() as u64 + 1, &mut version)?;
        let id_bytes = self.u4()?;
        if !version.starts_with(HEADER_1_0_2) || id_bytes != ID_SIZE_BYTES {
            return Err(self.broken("are of another format"));
        }
        self.u8()
    }

    /// Goes to the next record, whatever of the last one was read, and tells its tag; `None` at the end of the file.
    pub(super) fn next(&mut self) -> io::Result<Option<u8>> {
        self.skip(self.left())?;
        if self.source.fill_buf()?.is_empty() {
            return Ok(None);
        }
        self.end = self.position.saturating_add(9);
        let tag = self.u1()?;
        self.skip(4)?;
        let length = self.u4()?;
        self.end = self.position.saturating_add(u64::from(length));
        Ok(Some(tag))
    }

    /// Bytes of the record at hand that were not read.
    pub(super) fn left(&self) -> u64 {
        self.end.saturating_sub(self.position)
    }

    pub(super) fn u1(&mut self) -> io::Result<u8> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    pub(super) fn u2(&mut self) -> io::Result<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u4(&mut self) -> io::Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u8(&mut self) -> io::Result<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// A reference; `None` is null.
    pub(super) fn reference(&mut self) -> io::Result<Option<ObjectId>> {
        self.u8().map(ObjectId::new)
    }

    /// An object that is there.
    pub(super) fn object(&mut self) -> io::Result<ObjectId> {
        let reference = self.reference()?;
        reference.ok_or_else(|| self.broken("have a null where an object must be"))
    }

    /// The number of a row, which is not 0; `new` makes the id of it.
    pub(super) fn serial<I>(&mut self, new: fn(u32) -> Option<I>) -> io::Result<I> {
        let serial = new(self.u4()?);
        serial.ok_or_else(|| self.broken("have a 0 where a serial number must be"))
    }

    /// The type of a field or of elements.
    pub(super) fn basic_type(&mut self) -> io::Result<BasicType> {
        let basic_type = BasicType::from_code(self.u1()?);
        basic_type.ok_or_else(|| self.broken("have a type that does not exist"))
    }

    /// So many bytes into `out`, whose contents are replaced.
    pub(super) fn bytes(&mut self, count: u64, out: &mut Vec<u8>) -> io::Result<()> {
        self.advance(count)?;
        out.clear();
        let read = (&mut self.source).take(count).read_to_end(out)?;
        if read as u64 == count {
            Ok(())
        } else {
            Err(self.broken("end early"))
        }
    }

    /// Passes over so many bytes.
    pub(super) fn skip(&mut self, count: u64) -> io::Result<()> {
        self.advance(count)?;
        let offset = i64::try_from(count).map_err(|_| self.broken("are too long"))?;
        self.source.seek_relative(offset)
    }

    /// An error that says what is wrong with the records, and where.
    pub(super) fn broken(&self, what: &str) -> io::Error {
        let position = self.position;
        io::Error::new(
            ErrorKind::InvalidData,
            format!("the records {what}, before byte {position}"),
        )
    }

    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        self.advance(N as u64)?;
        let mut bytes = [0; N];
        match self.source.read_exact(&mut bytes) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(self.broken("end early")),
            read => read.map(|()| bytes),
        }
    }

    fn advance(&mut self, count: u64) -> io::Result<()> {
        let position = self.position.checked_add(count);
        match position.filter(|&position| position <= self.end) {
            Some(position) => {
                self.position = position;
                Ok(())
            }
            None => Err(self.broken("have one that is too short")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Header, HeapDumpEnd, Utf8};
    use std::io::Cursor;
    use tables::StringId;

    fn file() -> Vec<u8> {
        let mut file = Vec::new();
        let millis_since_epoch = 0x0123_4567_89AB;
        Header { millis_since_epoch }.encode(&mut file).unwrap();
        let id = StringId::new(7).unwrap();
        Utf8 { id, text: b"name" }.encode(&mut file).unwrap();
        HeapDumpEnd.encode(&mut file).unwrap();
        file
    }

    #[test]
    fn records_come_one_after_the_other() {
        let mut records = Records::new(Cursor::new(file()));
        // A second time from the start, wherever it was.
        for read in [0, 8, 12] {
            assert_eq!(records.first().unwrap(), 0x0123_4567_89AB);
            assert_eq!(records.next().unwrap(), Some(1));
            let mut bytes = Vec::new();
            records.bytes(read, &mut bytes).unwrap();
            assert_eq!(bytes, b"\0\0\0\0\0\0\0\x07name"[..bytes.len()]);
            assert_eq!(records.left(), 12 - read);
            assert_eq!(records.next().unwrap(), Some(0x2C));
            assert_eq!(records.next().unwrap(), None);
        }
    }

    #[test]
    fn no_record_is_read_beyond_its_end() {
        let mut records = Records::new(Cursor::new(file()));
        records.first().unwrap();
        records.next().unwrap();
        records.skip(6).unwrap();
        let error = records.u8().unwrap_err().to_string();
        assert_eq!(
            error,
            "the records have one that is too short, before byte 46"
        );
        assert!(records.skip(7).is_err() && records.bytes(7, &mut Vec::new()).is_err());
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error() {
        let file = file();
        // Behind the header, behind the string, and behind the end there is nothing missing that one could see.
        let whole = [31, 31 + 9 + 12, file.len()];
        for length in 0..=file.len() {
            let mut records = Records::new(Cursor::new(&file[..length]));
            let mut read_all = || {
                records.first()?;
                while records.next()?.is_some() {
                    let mut bytes = Vec::new();
                    records.bytes(records.left(), &mut bytes)?;
                }
                Ok::<_, io::Error>(())
            };
            assert_eq!(read_all().is_ok(), whole.contains(&length), "{length}");
        }
    }
}
