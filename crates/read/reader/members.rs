//! The offsets of a gzip file's members: bytes that have been read once can be read again from any
//! of them.
//!
//! No header contains the length of a member, and the bytes of a header may also occur inside
//! another member. So the start of a member is only known after decompressing everything before it.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::bufread::GzDecoder;

/// Least uncompressed bytes between two recorded members: a file of tiny members gets no long list.
const APART_BYTES: u64 = 64 << 10;

/// Bytes read at a time.
const BUFFER_BYTES: usize = 64 << 10;

/// The starts of a gzip file's members.
#[derive(Clone, Debug, Default)]
pub struct Members {
    /// Uncompressed and compressed bytes before each member, ascending; without the first member of
    /// the file.
    begin: Vec<(u64, u64)>,
    /// The most uncompressed bytes between two of them.
    gap_bytes: u64,
}

impl Members {
    /// The last known member that starts at or before this uncompressed offset: the uncompressed
    /// and the compressed bytes before it.
    pub fn before(&self, offset: u64) -> (u64, u64) {
        let behind = self.begin.partition_point(|(plain, _)| *plain <= offset);
        let last = behind.checked_sub(1).and_then(|at| self.begin.get(at));
        last.copied().unwrap_or_default()
    }

    /// The most bytes to decompress to reach any offset of a file that has been read up to `end`.
    pub fn gap_bytes(&self, end: u64) -> u64 {
        self.gap_bytes.max(end.saturating_sub(self.last()))
    }

    fn last(&self) -> u64 {
        self.begin.last().map_or(0, |(plain, _)| *plain)
    }

    fn add(&mut self, plain: u64, packed: u64) {
        let gap = plain.saturating_sub(self.last());
        if gap >= APART_BYTES {
            self.gap_bytes = self.gap_bytes.max(gap);
            self.begin.push((plain, packed));
        }
    }
}

/// Members that another thread may still be finding.
#[derive(Clone, Debug, Default)]
pub struct FoundMembers(Arc<Mutex<Members>>);

impl FoundMembers {
    /// The members found so far.
    pub fn so_far(&self) -> Members {
        let members = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        members.clone()
    }

    fn add(&self, plain: u64, packed: u64) {
        let mut members = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        members.add(plain, packed);
    }
}

/// The rest of a compressed file, and the number of bytes consumed.
#[derive(Debug)]
struct Rest<R> {
    from: Option<BufReader<R>>,
    taken: u64,
}

impl<R: Read> Read for Rest<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(to)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for Rest<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match &mut self.from {
            Some(from) => from.fill_buf(),
            None => Ok(&[]),
        }
    }

    fn consume(&mut self, count: usize) {
        if let Some(from) = &mut self.from {
            from.consume(count);
            self.taken += count as u64;
        }
    }
}

/// Decompresses all members, and records where they start.
#[derive(Debug)]
pub(crate) struct MemberReader<R> {
    decoder: GzDecoder<Rest<R>>,
    /// Number of bytes decompressed.
    plain: u64,
    found: FoundMembers,
}

impl<R: Read> MemberReader<R> {
    pub(crate) fn new(raw: R, found: FoundMembers) -> Self {
        let from = Some(BufReader::with_capacity(BUFFER_BYTES, raw));
        Self {
            decoder: GzDecoder::new(Rest { from, taken: 0 }),
            plain: 0,
            found,
        }
    }

    /// Goes to the next member; false if there is none.
    fn next_member(&mut self) -> io::Result<bool> {
        if self.decoder.get_mut().fill_buf()?.is_empty() {
            return Ok(false);
        }
        // Keeps the decoder's tables, and drops the rest.
        let rest = self.decoder.reset(Rest {
            from: None,
            taken: 0,
        });
        self.found.add(self.plain, rest.taken);
        self.decoder.reset(rest);
        Ok(true)
    }
}

impl<R: Read> Read for MemberReader<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        loop {
            let count = self.decoder.read(to)?;
            self.plain += count as u64;
            if count > 0 || !self.next_member()? {
                return Ok(count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{read::MultiGzDecoder, write::GzEncoder, Compression};
    use std::io::Write;

    /// A file of members with these contents, and the start of each.
    fn packed(contents: &[Vec<u8>]) -> (Vec<u8>, Vec<(u64, u64)>) {
        let (mut file, mut begin, mut plain) = (Vec::new(), Vec::new(), 0);
        for content in contents {
            begin.push((plain, file.len() as u64));
            let mut to = GzEncoder::new(&mut file, Compression::fast());
            to.write_all(content).unwrap();
            to.finish().unwrap();
            plain += content.len() as u64;
        }
        (file, begin)
    }

    /// Bytes that compress a little, including some that look like a member's start.
    fn some_bytes(length: usize) -> Vec<u8> {
        let noise = (0_u32..).flat_map(|number| {
            let [a, b, ..] = number.wrapping_mul(2_654_435_761).to_be_bytes();
            [0x1F, 0x8B, 8, 0, a, b]
        });
        noise.take(length).collect()
    }

    fn read(file: &[u8]) -> (Vec<u8>, io::Result<usize>, Members) {
        let found = FoundMembers::default();
        let mut bytes = Vec::new();
        let end = MemberReader::new(file, found.clone()).read_to_end(&mut bytes);
        (bytes, end, found.so_far())
    }

    #[test]
    fn members_are_found_where_they_begin() {
        let lengths = [100_000, 0, 65_535, 1, 7, 300_000, 65_536, 70_000];
        let contents: Vec<Vec<u8>> = lengths.into_iter().map(some_bytes).collect();
        let (file, begin) = packed(&contents);
        let (bytes, end, members) = read(&file);
        assert!(end.is_ok() && bytes == contents.concat());
        // Small ones are skipped.
        let far_apart = [1, 4, 6, 7].map(|place| begin[place]);
        assert_eq!(members.begin, far_apart);
        assert_eq!(members.gap_bytes(bytes.len() as u64), 300_007);
        assert_eq!(members.gap_bytes(u64::MAX), u64::MAX - begin[7].0);
        for offset in [0, 99_999, 100_000, 200_000, u64::MAX] {
            let (plain, packed) = members.before(offset);
            let known = begin.contains(&(plain, packed)) && plain <= offset;
            assert!(known, "{offset}");
            let mut rest = Vec::new();
            let from = &file[usize::try_from(packed).unwrap()..];
            MultiGzDecoder::new(from).read_to_end(&mut rest).unwrap();
            assert!(rest == bytes[usize::try_from(plain).unwrap()..], "{offset}");
        }
    }

    #[test]
    fn broken_files_are_read_as_far_as_by_any_decoder() {
        let contents = [some_bytes(70_000), some_bytes(100)];
        let (file, _) = packed(&contents);
        let with = |more: &[u8]| [&file, more].concat();
        let mut files = vec![
            file.clone(),
            with(b"\0"),
            with(b"\x1F"),
            with(b"more"),
            with(&file),
        ];
        files.extend((0..file.len()).step_by(97).map(|end| file[..end].to_vec()));
        for at in (0..file.len()).step_by(89) {
            let mut changed = file.clone();
            changed[at] ^= 0x10;
            files.push(changed);
        }
        for file in files {
            let mut expected = Vec::new();
            let end = MultiGzDecoder::new(&*file).read_to_end(&mut expected);
            let (bytes, own_end, _) = read(&file);
            assert!(bytes == expected);
            let kind = |end: io::Result<usize>| end.map_err(|fault| fault.kind());
            assert_eq!(kind(own_end), kind(end));
        }
    }
}
