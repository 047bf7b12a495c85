//! Recognises a complete dump or report by its last bytes.

use std::fs::File;
use std::os::unix::fs::FileExt;

use format::{record, RECORD_HEADER_BYTES};

/// The last record of a whole dump.
const END: [u8; RECORD_HEADER_BYTES] = [record::HEAP_DUMP_END, 0, 0, 0, 0, 0, 0, 0, 0];
/// Its length in a gzip trailer.
const LENGTH: u32 = 9;
/// The start of a dump file.
const PLAIN: &[u8] = b"JAVA PROFILE 1.0.";
/// The end of a text: of a heap, or of the last profile.
const TEXT_END: &[u8] = b" END\n";
/// The start of a compressed file.
const PACKED: &[u8] = &[0x1F, 0x8B];

/// Whether a file is a complete heap dump of ours, compressed or not, or seems to be a complete
/// text. The last record of a compressed dump has its own gzip member, so the member's trailer
/// identifies it. The position of the file does not matter.
pub(crate) fn ends_whole(file: &File) -> bool {
    begins(file, PLAIN) && (ends(file, &END) || ends(file, TEXT_END))
        || begins(file, PACKED) && ends(file, &trailer())
}

/// The checksum of the last record, and its length.
fn trailer() -> [u8; 8] {
    let mut trailer = [0; 8];
    let (sum, length) = trailer.split_at_mut(4);
    sum.copy_from_slice(&libdeflater::crc32(&END).to_le_bytes());
    length.copy_from_slice(&LENGTH.to_le_bytes());
    trailer
}

fn begins(file: &File, with: &[u8]) -> bool {
    let mut found = vec![0; with.len()];
    file.read_exact_at(&mut found, 0).is_ok() && found == with
}

fn ends(file: &File, with: &[u8]) -> bool {
    let bytes = file.metadata().map_or(0, |meta| meta.len());
    let mut found = vec![0; with.len()];
    bytes
        .checked_sub(with.len() as u64)
        .is_some_and(|at| file.read_exact_at(&mut found, at).is_ok() && found == with)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{start_worker, Deliver, DumpFile, GzipLevel, TailWriter, Target};

    #[test]
    fn a_whole_dump_is_known_by_its_end() {
        let folder = tempfile::tempdir().unwrap();
        for gzip in [None, GzipLevel::new(1), GzipLevel::new(9)] {
            let path = folder.path().join(format!("{gzip:?}"));
            let target = Target {
                gzip,
                ..Target::new(&path)
            };
            let dump = DumpFile::create(&target).unwrap();
            dump.head(b"JAVA PROFILE 1.0.2\0".to_vec()).unwrap();
            dump.flush().unwrap();
            let tail = TailWriter::start(dump.tail().unwrap(), 1, start_worker).unwrap();
            tail.sender().deliver(vec![7; 1 << 20]).unwrap();
            tail.flush().unwrap();
            let open = File::open(folder.path().join(format!("{gzip:?}.part"))).unwrap();
            assert!(!ends_whole(&open), "{gzip:?}");
            let bytes = tail.finish().unwrap();
            assert!(ends_whole(&open), "{gzip:?}");
            dump.finish_with_tail(bytes).unwrap();
            assert!(ends_whole(&File::open(&path).unwrap()));
        }
    }
}
