//! HotSpot's facts about itself in a file for its user's tools (`perfMemory.hpp`): whether commands
//! can attach.

use std::io::Read;
use std::path::Path;

use crate::proc::c_library::contains;
use crate::proc::inside::{names, Inside};

/// The first bytes, in this order on every machine.
const MAGIC: &[u8] = &[0xca, 0xfe, 0xc0, 0xc0];
/// Offset of the byte that is 1 where numbers are little-endian.
const ORDER_OFFSET: usize = 4;
/// Offset of the offset of the first entry.
const FIRST_OFFSET: usize = 24;
/// Offset of the number of entries.
const COUNT_OFFSET: usize = 28;
/// The JVM's abilities, one digit each; the first is attach.
const CAPABILITIES: &[u8] = b"sun.rt.jvmCapabilities\0";
/// Longer files are not HotSpot's.
const BYTES_MAX: u64 = 4 << 20;

/// Whether the JVM with this process id in its container lets others attach; `None` if it does not
/// publish that.
///
/// `maps` is its map, where that is known: a file that the JVM has not mapped is left from another
/// one.
pub(crate) fn lets_attach(
    root: &Inside,
    own_pid: &str,
    user: u32,
    maps: Option<&[u8]>,
) -> Option<bool> {
    let is_mapped = |maps: &[u8]| {
        let mut lines = maps.split(|byte| *byte == b'\n');
        let end = format!("/{own_pid}");
        lines.any(|line| contains(line, b"/hsperfdata_") && line.ends_with(end.as_bytes()))
    };
    if maps.is_some_and(|maps| !is_mapped(maps)) {
        return None;
    }
    let folder = root.folder(Path::new("/tmp")).ok()?;
    let names = names(&folder).ok()?.into_iter();
    let mut names = names.filter(|name| name.starts_with("hsperfdata_"));
    names.find_map(|name| {
        let path = format!("/tmp/{name}/{own_pid}");
        let (file, mut data) = (root.file_of(Path::new(&path), user).ok()?, Vec::new());
        file.take(BYTES_MAX).read_to_end(&mut data).ok()?;
        attach_digit(&data)
    })
}

fn attach_digit(data: &[u8]) -> Option<bool> {
    if !data.starts_with(MAGIC) {
        return None;
    }
    let is_little = *data.get(ORDER_OFFSET)? == 1;
    let number = |offset: usize| {
        let bytes = data.get(offset..offset.checked_add(4)?)?.try_into().ok()?;
        let number = match is_little {
            true => u32::from_le_bytes(bytes),
            false => u32::from_be_bytes(bytes),
        };
        usize::try_from(number).ok()
    };
    let mut entry = number(FIRST_OFFSET)?;
    for _ in 0..number(COUNT_OFFSET)? {
        // Its length, the offset of its name, how many values it has, four bytes of kinds, the
        // offset of the values.
        let length = number(entry)?;
        let name = entry.checked_add(number(entry.checked_add(4)?)?)?;
        if data.get(name..)?.starts_with(CAPABILITIES) {
            let values = entry.checked_add(number(entry.checked_add(16)?)?)?;
            return Some(*data.get(values)? == b'1');
        }
        if length == 0 {
            return None;
        }
        entry = entry.checked_add(length)?;
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// A file with one entry more, before this one.
    fn data(name: &[u8], value: u8, is_little: bool) -> Vec<u8> {
        let number = |number: u32| match is_little {
            true => number.to_le_bytes(),
            false => number.to_be_bytes(),
        };
        let entry = |name: &[u8], value: u8| {
            let mut entry = [
                number(64),
                number(20),
                number(1),
                [b'B', 0, 0, 0],
                number(60),
            ]
            .concat();
            entry.extend(name);
            entry.resize(60, 0);
            entry.extend([value, b'1', b'1', b'1']);
            entry
        };
        let mut data = [MAGIC, &[u8::from(is_little), 2, 0, 1]].concat();
        data.resize(FIRST_OFFSET, 0);
        data.extend([number(32), number(2)].concat());
        data.extend(entry(b"java.rt.vmArgs\0", b'-'));
        data.extend(entry(name, value));
        data
    }

    #[test]
    fn the_first_digit_tells() {
        for is_little in [true, false] {
            let digit = |value| attach_digit(&data(CAPABILITIES, value, is_little));
            assert_eq!((digit(b'1'), digit(b'0')), (Some(true), Some(false)));
            assert_eq!(attach_digit(&data(b"other\0", b'1', is_little)), None);
        }
    }

    #[test]
    fn a_broken_file_tells_nothing() {
        let whole = data(CAPABILITIES, b'0', true);
        for length in 0..whole.len() - 4 {
            assert_eq!(attach_digit(whole.get(..length).unwrap()), None);
        }
        for offset in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut broken = whole.clone();
                *broken.get_mut(offset).unwrap() = value;
                // It ends, and does not panic.
                let _ = attach_digit(&broken);
            }
        }
    }
}
