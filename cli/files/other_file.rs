//! Names a file that is no HPROF file, by its first bytes: what it is, and what to do with it.

use std::io::Read;

/// First bytes that are examined.
const START_BYTES: u64 = 4096;

/// First bytes of known files, and what they are.
const STARTS: [(&[u8], &str); 15] = [
    (
        b"\0\x12portable",
        "an IBM portable heap dump (PHD): Eclipse MAT with DTFJ reads it",
    ),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (
        b"\x28\xB5\x2F\xFD",
        "compressed by zstd: unpack it first (zstd -d)",
    ),
    (b"\xFD7zXZ\0", "compressed by xz: unpack it first (xz -d)"),
    (b"BZh", "compressed by bzip2: unpack it first (bzip2 -d)"),
    (
        b"\x04\x22\x4D\x18",
        "compressed by lz4: unpack it first (lz4 -d)",
    ),
    (b"7z\xBC\xAF\x27\x1C", "a 7z archive: unpack it first"),
    (
        b"FLR\0",
        "a recording of JFR: jfr and JDK Mission Control read it",
    ),
    (
        b"version https://git-lfs.github.com/spec/",
        "a pointer of Git LFS: git lfs pull fetches the file",
    ),
    (
        b"{\"snapshot\":",
        "a heap snapshot of Chrome or Node.js: Chrome's DevTools read it",
    ),
    (
        b"0SECTION",
        "a javacore of IBM's JVM, a text: it has no objects",
    ),
    (
        b"MDMP",
        "a minidump of Windows: jhsdb makes a heap dump of a full one",
    ),
    (b"<!DOCTYPE", HTML),
    (b"<!doctype", HTML),
    (b"<html", HTML),
];

const HTML: &str = "an HTML page, such as a server's error in place of the dump";

/// A line of texts by the JDK's tools, and what they are.
const LINES: [(&str, &str); 2] = [
    (
        "#instances",
        "a class histogram (jmap -histo), a text: it has no objects",
    ),
    (
        "Full thread dump",
        "a thread dump (jstack), a text: it has no objects",
    ),
];

/// The first bytes of a core file; the type follows at [`ELF_TYPE`].
const ELF: &[u8] = b"\x7FELF";

/// Offset of an ELF file's type, and the type of core files, in either byte order.
const ELF_TYPE: usize = 16;
const CORE: [[u8; 2]; 2] = [[4, 0], [0, 4]];

/// The kind of a file with these contents; `None` if it is unknown.
pub(crate) fn kind(contents: impl Read) -> Option<&'static str> {
    let mut start = Vec::new();
    // What could be read until a fault may still show it.
    let _ = contents.take(START_BYTES).read_to_end(&mut start);
    if start.is_empty() {
        return Some("empty: whoever should have written it has failed");
    }
    let mut starts = STARTS.iter();
    let by_start = starts.find_map(|(magic, kind)| start.starts_with(magic).then_some(*kind));
    let text = String::from_utf8_lossy(&start);
    let mut lines = LINES.iter();
    let by_line = || lines.find_map(|(part, kind)| text.contains(part).then_some(*kind));
    let known = by_start.or_else(by_line);
    known.or_else(|| elf(&start)).or_else(|| perfetto(&start))
}

fn elf(start: &[u8]) -> Option<&'static str> {
    let kind = start.strip_prefix(ELF)?.get(ELF_TYPE - ELF.len()..)?;
    let is_core = CORE.iter().any(|core| kind.starts_with(core));
    Some(match is_core {
        true => "a core file: jhsdb jmap --binaryheap --core makes a heap dump of it",
        false => "a program or a library",
    })
}

/// Perfetto's traces are protocol buffers: packets, each with the number 1 and a length.
fn perfetto(start: &[u8]) -> Option<&'static str> {
    let mut rest = start;
    for _ in 0..2 {
        let (mut length, mut shift) = (0_usize, 0);
        rest = rest.strip_prefix(&[0x0A])?;
        loop {
            let (byte, after) = rest.split_first()?;
            rest = after;
            length |= usize::from(byte & 0x7F).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        rest = rest.get(length..)?;
    }
    (rest.len() < start.len()).then_some("a trace of Perfetto: its own tools read it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_by_mistake_is_named() {
        let core = [
            &b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"[..],
            &[4, 0, 62, 0],
        ]
        .concat();
        let histogram = b" num     #instances         #bytes  class name (module)\n";
        for (start, part) in [
            (&b""[..], "empty"),
            (b"\0\x12portable", "PHD"),
            (b"PK\x03\x04\x14", "zip"),
            (b"\x28\xB5\x2F\xFD\x04", "zstd"),
            (b"\xFD7zXZ\0\0", "xz"),
            (b"BZh91AY", "bzip2"),
            (b"FLR\0\0\x02", "JFR"),
            (&core, "core file"),
            (b"<!DOCTYPE html><html>", "HTML"),
            (
                b"version https://git-lfs.github.com/spec/v1\noid",
                "Git LFS",
            ),
            (b"\x0A\x03abc\x0A\x02de\x0A\x7F", "Perfetto"),
            (b"{\"snapshot\":{\"meta\"", "Chrome"),
            (histogram, "jmap"),
        ] {
            let kind = kind(start).unwrap();
            assert!(kind.contains(part), "{part}: {kind}");
        }
        for start in [
            &b"hello"[..],
            b"\x0A\x0A",
            b"\x7FELF",
            b"JAVA PROFILE 1.0.9\0",
        ] {
            assert_eq!(kind(start), None, "{start:?}");
        }
    }
}
