//! Copies HotSpot's file behind texts of the agent's. No record refers to those, so readers pass
//! over them.

use crate::ending;
use crate::heap::error::DumpError;
use format::record::{self, Record, Utf8};
use format::{HEADER_1_0_1, HEADER_1_0_2, RECORD_HEADER_BYTES};
use std::io::{self, Read};
use tables::StringTable;
use writer::record::{encode, header};
use writer::{Deliver, DumpFile, Written};

/// Bytes that are read at a time.
const BLOCK_BYTES: usize = 1 << 20;
/// Bytes of a header: name, NUL, size of ids, time.
const HEADER_BYTES: usize = HEADER_1_0_2.len() + 13;
/// The last record of a whole dump.
const END: [u8; RECORD_HEADER_BYTES] = [record::HEAP_DUMP_END, 0, 0, 0, 0, 0, 0, 0, 0];

/// Copies `raw`. The ids of `texts` are small numbers; HotSpot's are addresses.
///
/// HotSpot 8 ends no file of a small heap, as its header tells. Such a file gets the header and the
/// end of the others, by which whole dumps are known.
pub(super) fn copy(
    raw: &mut impl Read,
    texts: &StringTable,
    file: DumpFile,
) -> Result<Written, DumpError> {
    let mut old = [0; HEADER_BYTES];
    raw.read_exact(&mut old)
        .map_err(|error| unreadable(&error))?;
    let has_end = old.starts_with(HEADER_1_0_2);
    if !has_end && !old.starts_with(HEADER_1_0_1) {
        return Err(DumpError::Unreadable("its header is not known".to_owned()));
    }
    let millis_since_epoch = old.last_chunk().copied().map_or(0, u64::from_be_bytes);
    let mut block = header(millis_since_epoch);
    let mut told = Ok(());
    texts.for_each(|id, text| {
        if told.is_ok() {
            let text = Record::Utf8(Utf8::new(id.into(), text.to_vec()));
            told = encode(&text, &mut block);
        }
    });
    told?;
    let (mut blocks, mut last) = (file.objects_sender(), Vec::new());
    while !block.is_empty() {
        let end = block.len().saturating_sub(END.len());
        last.extend_from_slice(block.get(end..).unwrap_or_default());
        last.drain(..last.len().saturating_sub(END.len()));
        file.head(block)?;
        ending::show_life();
        block = blocks.buffer(BLOCK_BYTES)?;
        let mut part = raw.by_ref().take(BLOCK_BYTES as u64);
        part.read_to_end(&mut block)
            .map_err(|error| unreadable(&error))?;
    }
    match has_end {
        false => Ok(file.finish()?),
        true if last == END => Ok(file.finish_with_tail(0)?),
        true => Err(DumpError::Unreadable("it ends early".to_owned())),
    }
}

fn unreadable(error: &io::Error) -> DumpError {
    DumpError::Unreadable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::cause;
    use std::fs;
    use tables::Tables;
    use writer::Target;

    const TIME: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

    fn raw(name: &[u8], records: &[u8]) -> Vec<u8> {
        [name, b"\0\0\0\0\x08", &TIME, records].concat()
    }

    fn copied(raw: &[u8]) -> Result<Vec<u8>, DumpError> {
        let folder = tempfile::tempdir().unwrap();
        let target = Target::new(folder.path().join("a.hprof"));
        let tables = Tables::default();
        cause::tell(Some("rss>85%"), &tables);
        let made = copy(
            &mut &*raw,
            &tables.strings,
            DumpFile::create(&target).unwrap(),
        );
        let made = made.map(|written| fs::read(written.path).unwrap());
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            usize::from(made.is_ok())
        );
        made
    }

    #[test]
    fn the_file_follows_the_cause_and_ends_once() {
        for records in [vec![], vec![7; BLOCK_BYTES - 4], vec![7; 3 * BLOCK_BYTES]] {
            let whole = [&*records, &END].concat();
            for raw in [raw(HEADER_1_0_2, &whole), raw(HEADER_1_0_1, &records)] {
                let made = copied(&raw).unwrap();
                assert!(made.starts_with(HEADER_1_0_2) && made.ends_with(&whole));
                assert_eq!(made[HEADER_BYTES - 8..HEADER_BYTES], TIME);
                assert_eq!(made[HEADER_BYTES], record::UTF8);
                assert_eq!(cause::told(&*made).as_deref(), Some("rss>85%"));
                let text = RECORD_HEADER_BYTES + 8 + "hprof-rs: dumped because of rss>85%".len();
                assert_eq!(made.len(), HEADER_BYTES + text + whole.len());
            }
        }
    }

    #[test]
    fn what_is_not_whole_is_no_dump() {
        for (raw, why) in [
            (raw(HEADER_1_0_2, &[7; 99]), "it ends early"),
            (raw(b"JAVA PROFILE 1.0.9", &END), "header"),
            (HEADER_1_0_2.to_vec(), "fill"),
        ] {
            let refused = copied(&raw).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
