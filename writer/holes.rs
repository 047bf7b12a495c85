//! Holes: long runs of zeros are not written, because unwritten parts of a file read as zeros.
//! Heaps are full of them: buffers and tables that are created large and filled gradually.

use std::io;

/// File systems allocate blocks of this size or less.
const BLOCK_BYTES: usize = 4096;
/// Least bytes of a hole. Each hole costs an additional write, which takes as long as some hundred
/// kilobytes, and a millisecond on a remote disk.
const LEAST_HOLE_BYTES: usize = 128 << 10;

/// Calls `put` for the pieces of `bytes` between holes, in order, each with its file offset;
/// `bytes` belongs at `offset`. A hole is a whole number of file blocks. Where the file has no data
/// yet, a hole is as good as written, unless nothing follows it. The error is that of `put`.
pub(crate) fn write_around(
    bytes: &[u8],
    offset: u64,
    mut put: impl FnMut(&[u8], u64) -> io::Result<()>,
) -> io::Result<()> {
    let (mut rest, mut at) = (bytes, offset);
    while let Some((from, to)) = first_hole(rest, at) {
        let (piece, hole) = rest.split_at(from);
        if !piece.is_empty() {
            put(piece, at)?;
        }
        at += to as u64;
        rest = hole.get(to - from..).unwrap_or_default();
    }
    if rest.is_empty() {
        return Ok(());
    }
    put(rest, at)
}

/// Start and end of the first hole.
fn first_hole(bytes: &[u8], offset: u64) -> Option<(usize, usize)> {
    let before_block = offset.next_multiple_of(BLOCK_BYTES as u64) - offset;
    let mut from = usize::try_from(before_block).ok()?;
    loop {
        let behind = bytes
            .get(from..)
            .filter(|it| it.len() >= LEAST_HOLE_BYTES)?;
        let blocks = behind.chunks_exact(BLOCK_BYTES);
        let zeros = blocks.take_while(|block| is_zero(block)).count() * BLOCK_BYTES;
        if zeros >= LEAST_HOLE_BYTES {
            return Some((from, from + zeros));
        }
        from += zeros + BLOCK_BYTES;
    }
}

/// Whether all bytes are zero.
pub(crate) fn is_zero(block: &[u8]) -> bool {
    let any = |part: &[u8]| part.iter().fold(0, |any, &byte| any | byte);
    block.chunks(64).all(|part| any(part) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOLE: usize = LEAST_HOLE_BYTES;

    /// The pieces that are written, as offsets and lengths.
    fn pieces(bytes: &[u8], offset: u64) -> Vec<(u64, usize)> {
        let mut pieces = Vec::new();
        write_around(bytes, offset, |piece, at| {
            pieces.push((at, piece.len()));
            Ok(())
        })
        .unwrap();
        pieces
    }

    #[test]
    fn long_runs_of_zeros_are_left_out() {
        let mut bytes = vec![0; 3 * HOLE];
        assert_eq!(pieces(&bytes, 0), []);
        // Only whole blocks of the file.
        assert_eq!(
            pieces(&bytes, 1),
            [(1, 4095), (3 * HOLE as u64, 1)],
            "from the second byte on"
        );
        bytes[HOLE] = 7;
        let (one, two) = (HOLE as u64, 2 * HOLE);
        assert_eq!(pieces(&bytes, 0), [(one, BLOCK_BYTES)]);
        bytes[two - 1] = 7;
        assert_eq!(pieces(&bytes, 0), [(one, HOLE)]);
    }

    #[test]
    fn short_runs_are_written() {
        let mut bytes = vec![0; 4 * HOLE];
        bytes.iter_mut().step_by(HOLE - 1).for_each(|it| *it = 1);
        assert_eq!(pieces(&bytes, 0), [(0, bytes.len())]);
        assert_eq!(pieces(&bytes[1..HOLE - 1], 0), [(0, HOLE - 2)]);
        assert_eq!(pieces(&[], 5), []);
    }

    #[test]
    fn an_error_ends_it() {
        let mut pieces = 0;
        let mut bytes = vec![1; 3 * HOLE];
        bytes[HOLE..2 * HOLE].fill(0);
        let written = write_around(&bytes, 0, |_, _| {
            pieces += 1;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(pieces, 1);
    }

    proptest! {
        #[test]
        fn what_is_written_around_reads_as_all(
            runs in prop::collection::vec((0_u8..2, 1..3 * HOLE), 0..8),
            offset in 0..2 * BLOCK_BYTES,
        ) {
            let bytes: Vec<u8> = runs.iter().flat_map(|&(byte, count)| vec![byte; count]).collect();
            let mut file = vec![0; offset + bytes.len()];
            write_around(&bytes, offset as u64, |piece, at| {
                let at = usize::try_from(at).unwrap();
                file[at..at + piece.len()].copy_from_slice(piece);
                Ok(())
            })
            .unwrap();
            prop_assert!(file[..offset].iter().all(|&byte| byte == 0));
            prop_assert!(file[offset..] == bytes);
        }
    }
}
