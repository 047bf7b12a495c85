//! Gzip members: one for each block, so that a reader can start at any of them.
//!
//! Source: RFC 1952, and the head of HotSpot's `heapDumperCompression.cpp` for the comment by which
//! readers recognise such a file, with the largest block size. A sequence of complete members is a
//! valid gzip file.

use std::panic;

use libdeflater::{crc32, CompressionLvl};

use crate::holes::is_zero;
use crate::segment::{buffer_of, BUFFER_BYTES};
use crate::WriteError;

/// Most bytes of a block before compression: a walker's buffer, which becomes a block as it is.
/// HotSpot's blocks have at most 1 MiB. Ours make the file 0.3 % larger, but readers that jump
/// between objects decompress less for each uncached object.
pub(crate) const BLOCK_BYTES: usize = BUFFER_BYTES;

/// Magic, deflate, no flags, no time, no extra flags, created on Unix.
const HEADER: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3];
/// The same with the flag for a comment.
const HEADER_WITH_COMMENT: [u8; 10] = [0x1F, 0x8B, 8, 0x10, 0, 0, 0, 0, 0, 3];
/// The comment that contains the block size for readers; ends with a NUL byte.
const COMMENT: &[u8] = b"HPROF BLOCKSIZE=278528\0";
/// The checksum and the length after the compressed bytes.
const TRAILER_BYTES: usize = 8;
/// More than libdeflate's tables take at these levels.
const TABLES_BYTES: u64 = 1 << 20;

/// How hard to compress: 1 is fast, 9 is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GzipLevel(u8);

impl GzipLevel {
    /// The level with this number, from 1 to 9; `None` for any other.
    pub fn new(level: u8) -> Option<Self> {
        (1..=9).contains(&level).then_some(Self(level))
    }

    /// The level as a number.
    pub fn get(self) -> u8 {
        self.0
    }
}

/// Creates members, one after the other, reusing its tables and its buffer. For one thread.
pub(crate) struct MemberEncoder {
    deflate: libdeflater::Compressor,
    compressed: Vec<u8>,
    /// The last block of zeros: its length, and the member.
    zeros: Option<(usize, Vec<u8>)>,
}

impl MemberEncoder {
    /// Allocates everything that it will need for itself; the error is `NoMemory`.
    pub(crate) fn new(level: GzipLevel) -> Result<Self, WriteError> {
        let level = CompressionLvl::new(i32::from(level.get())).unwrap_or_default();
        // The crate panics if there is no memory, and cannot report it in another way.
        let mut deflate =
            panic::catch_unwind(|| libdeflater::Compressor::new(level)).map_err(|_| {
                WriteError::NoMemory {
                    bytes: TABLES_BYTES,
                }
            })?;
        let most_bytes = deflate.deflate_compress_bound(BLOCK_BYTES);
        let mut compressed = buffer_of(most_bytes)?;
        compressed.resize(most_bytes, 0);
        Ok(Self {
            deflate,
            compressed,
            zeros: None,
        })
    }

    /// The member for this block of at most [`BLOCK_BYTES`]; `commented` for the first one in a
    /// file.
    ///
    /// Arrays that are created large and filled gradually leave many blocks of zeros, on which
    /// libdeflate takes as long as on others. So a block of zeros is compressed once for each
    /// length.
    pub(crate) fn encode(&mut self, block: &[u8], commented: bool) -> Result<Vec<u8>, WriteError> {
        if commented || !is_zero(block) {
            return self.compress(block, commented);
        }
        let known = self.zeros.as_ref();
        if let Some((_, member)) = known.filter(|(length, _)| *length == block.len()) {
            return copy_of(member);
        }
        let member = self.compress(block, commented)?;
        self.zeros = Some((block.len(), copy_of(&member)?));
        Ok(member)
    }

    fn compress(&mut self, block: &[u8], commented: bool) -> Result<Vec<u8>, WriteError> {
        let bytes = self
            .deflate
            .deflate_compress(block, &mut self.compressed)
            .map_err(|_| WriteError::CompressorFailed)?;
        let length = u32::try_from(block.len()).map_err(|_| WriteError::CompressorFailed)?;
        let compressed = self.compressed.get(..bytes).unwrap_or_default();
        let mut member = buffer_of(HEADER.len() + COMMENT.len() + bytes + TRAILER_BYTES)?;
        if commented {
            member.extend_from_slice(&HEADER_WITH_COMMENT);
            member.extend_from_slice(COMMENT);
        } else {
            member.extend_from_slice(&HEADER);
        }
        member.extend_from_slice(compressed);
        member.extend_from_slice(&crc32(block).to_le_bytes());
        member.extend_from_slice(&length.to_le_bytes());
        Ok(member)
    }
}

fn copy_of(member: &[u8]) -> Result<Vec<u8>, WriteError> {
    let mut copy = buffer_of(member.len())?;
    copy.extend_from_slice(member);
    Ok(copy)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use flate2::bufread::GzDecoder;
    use std::io::Read;

    /// The contents of each member of a file, and the comment of the first; panics if there is
    /// anything else.
    pub(crate) fn members(mut file: &[u8]) -> (Vec<Vec<u8>>, Option<Vec<u8>>) {
        let mut blocks = Vec::new();
        let mut comment = None;
        while !file.is_empty() {
            let mut decoder = GzDecoder::new(file);
            let mut block = Vec::new();
            decoder.read_to_end(&mut block).unwrap();
            assert!(block.len() <= BLOCK_BYTES, "a block of {}", block.len());
            let found = decoder.header().unwrap().comment().map(<[u8]>::to_vec);
            if blocks.is_empty() {
                comment = found;
            } else {
                assert_eq!(found, None, "a comment in the middle");
            }
            blocks.push(block);
            file = decoder.into_inner();
        }
        (blocks, comment)
    }

    /// Bytes that compress, but not completely.
    pub(crate) fn some_bytes(length: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0] & 0x1F
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn zeros_are_compressed_once_and_a_file_begins_with_its_comment() {
        let mut encoder = MemberEncoder::new(GzipLevel(1)).unwrap();
        let zeros = [0; 1000];
        let first = encoder.encode(&zeros, true).unwrap();
        let second = encoder.encode(&zeros, false).unwrap();
        let third = encoder.encode(&zeros, false).unwrap();
        assert!(members(&first).1.is_some() && members(&second).1.is_none());
        assert_eq!(second, third);
        // If the block were compressed again, it would become this.
        let (length, kept) = encoder.zeros.as_mut().unwrap();
        assert_eq!((*length, &*kept), (zeros.len(), &third));
        *kept = b"kept".to_vec();
        assert_eq!(encoder.encode(&zeros, false).unwrap(), b"kept");
    }

    #[test]
    fn levels_are_1_to_9() {
        let valid: Vec<u8> = (0..=255)
            .filter_map(GzipLevel::new)
            .map(GzipLevel::get)
            .collect();
        assert_eq!(valid, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn a_member_is_laid_out_as_hotspot_does() {
        let mut encoder = MemberEncoder::new(GzipLevel(1)).unwrap();
        let first = encoder.encode(b"abc", true).unwrap();
        assert_eq!(first[..4], [0x1F, 0x8B, 8, 0x10]);
        assert_eq!(&first[10..33], b"HPROF BLOCKSIZE=278528\0");
        assert_eq!(BLOCK_BYTES, 278_528);
        assert_eq!(first[first.len() - 4..], [3, 0, 0, 0]);
        let second = encoder.encode(b"abc", false).unwrap();
        assert_eq!(second[..4], [0x1F, 0x8B, 8, 0]);
        assert_eq!(second[10..], first[33..]);
    }

    #[test]
    fn every_level_gives_back_what_it_was_given() {
        let noise = (0_u32..).flat_map(|number| number.wrapping_mul(2_654_435_761).to_be_bytes());
        let noise: Vec<u8> = noise.take(BLOCK_BYTES).collect();
        for level in 1..=9 {
            let mut encoder = MemberEncoder::new(GzipLevel(level)).unwrap();
            for block in [
                &b"a"[..],
                &some_bytes(BLOCK_BYTES),
                &noise,
                &[0; BLOCK_BYTES],
                &[0; BLOCK_BYTES],
                &[0; 7],
                &[&[0; BLOCK_BYTES - 1][..], &[1]].concat(),
            ] {
                let member = encoder.encode(block, false).unwrap();
                assert_eq!(members(&member).0, [block]);
            }
        }
    }
}
