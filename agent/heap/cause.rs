//! The cause of a dump, as its first text. No record refers to that, so readers pass over it.

use format::{mutf8, record, HEADER_1_0_2};
use std::io::Read;
use tables::{StringId, Tables};

/// The start of the text.
const START: &str = "hprof-rs: dumped because of ";
/// Bytes between the header's name and the first record: a NUL, the size of ids, the time.
const HEADER_REST: usize = 13;
/// Bytes of a record of a text before the text: tag, time, length, id.
const TEXT_HEAD: usize = 17;
/// Longest text that is searched for.
const MOST_BYTES: usize = 4096;

/// Makes it the first text of these tables, which must be empty.
pub(super) fn tell(because: Option<&str>, tables: &Tables) -> Option<StringId> {
    let text = format!("{START}{}", because?);
    Some(
        tables
            .strings
            .intern(&mutf8::from_units(text.encode_utf16())),
    )
}

/// The cause that a dump states; `None` if it states none, so that another program may have made
/// it. `bytes` are not compressed.
pub(crate) fn told(mut bytes: impl Read) -> Option<String> {
    let mut head = vec![0; HEADER_1_0_2.len() + HEADER_REST + TEXT_HEAD];
    bytes.read_exact(&mut head).ok()?;
    let text_head = head.strip_prefix(HEADER_1_0_2)?.get(HEADER_REST..)?;
    let (&tag, rest) = text_head.split_first()?;
    let length = u32::from_be_bytes(rest.get(4..8)?.try_into().ok()?);
    // The id is a part of it.
    let length = usize::try_from(length).ok()?.checked_sub(8)?;
    if tag != record::UTF8 || length > MOST_BYTES {
        return None;
    }
    let mut text = vec![0; length];
    bytes.read_exact(&mut text).ok()?;
    let text = String::from_utf8(text).ok()?;
    text.strip_prefix(START).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tables::ObjectTable;
    use writer::{emit, record};

    fn head(because: Option<&str>) -> Vec<u8> {
        let tables = Tables::default();
        tell(because, &tables);
        tables.strings.intern(b"main");
        let mut all = Vec::new();
        let mut deliver = |bytes: Vec<u8>| {
            all.extend(bytes);
            Ok(())
        };
        let (header, texts) = (record::header(7), (&tables, emit::Texts::All));
        emit::head(
            header,
            texts,
            &ObjectTable::default(),
            |_| None,
            &mut deliver,
        )
        .expect("a head");
        all
    }

    #[test]
    fn a_dump_tells_its_cause() {
        let whole = head(Some("rss>85%"));
        assert_eq!(told(&*whole).as_deref(), Some("rss>85%"));
        assert_eq!(told(&*head(None)), None);
        for end in 0..31 + TEXT_HEAD + START.len() {
            assert_eq!(told(&whole[..end]), None, "{end}");
        }
    }
}
